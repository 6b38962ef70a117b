// Fills a simulator with thousands of nodes and pods, with many concurrent requests.

import { node, pod, type Simulator } from './simulator'

const pools = ['general', 'general', 'general', 'general', 'general', 'general', 'ssd', 'ssd', 'gpu', 'batch']
const apps = ['web', 'api', 'cache', 'etl', 'agent', 'infer', 'search', 'ingress', 'olap', 'session', 'queue', 'mail']

async function inParallel(count: number, at: number, run: (i: number) => Promise<unknown>): Promise<void> {
  let next = 0
  await Promise.all(
    Array.from({ length: at }, async () => {
      for (let i = next++; i < count; i = next++) await run(i)
    })
  )
}

export const nodeName = (i: number) =>
  `${'abc'[i % 3]}-${pools[Math.floor(i / 3) % pools.length]}-${String(i).padStart(4, '0')}`

/** Creates nodes in three zones and four pools, and pods that are already assigned to them. */
export async function load(simulator: Simulator, { nodes, pods }: { nodes: number; pods: number }): Promise<void> {
  await inParallel(nodes, 24, (i) => {
    const name = nodeName(i)
    const [, pool = ''] = name.split('-')
    const tainted = pool === 'gpu' || pool === 'batch'
    return simulator.kube(
      'POST',
      '/api/v1/nodes',
      node(name, { taint: tainted, cpu: '16', labels: { 'topology.kubernetes.io/zone': `zone-${name[0]}`, pool } })
    )
  })
  await inParallel(pods, 24, (i) => {
    const app = apps[i % apps.length] ?? 'web'
    const made = pod(`${app}-${i}`, `${(i % 7) + 1}00m`)
    return simulator.kube('POST', '/api/v1/namespaces/default/pods', {
      ...made,
      metadata: { ...made.metadata, labels: { app } },
      spec: { ...made.spec, nodeName: nodeName((i * 7) % nodes) },
    })
  })
}

/**
 * Changes labels of nodes, `perSecond` times a second, until the returned function is called; that
 * resolves to the number of changes.
 */
export function churn(
  simulator: Simulator,
  { nodes, perSecond }: { nodes: number; perSecond: number }
): () => Promise<number> {
  let going = true
  let done = 0
  const began = Date.now()
  const run = async () => {
    while (going) {
      const due = Math.floor(((Date.now() - began) / 1000) * perSecond) - done
      if (due > 0) {
        const i = (done++ * 31) % nodes
        await simulator.kube('PATCH', `/api/v1/nodes/${nodeName(i)}`, { metadata: { labels: { turn: String(done) } } })
      } else {
        await new Promise((resolve) => setTimeout(resolve, 2))
      }
    }
  }
  const runs = Promise.all(Array.from({ length: 8 }, run))
  return async () => {
    going = false
    await runs
    return done
  }
}
