import { flushPromises, mount, RouterLinkStub, type VueWrapper } from '@vue/test-utils'
import { afterEach, beforeAll, describe, expect, it } from 'vitest'
import { createMemoryHistory, createRouter } from 'vue-router'
import type { Cycle, Score } from '@/api/types'
import { i18n } from '@/i18n'
import { loadDeferredMessages } from '@/i18n/deferred'
import DecisionSide from './DecisionSide.vue'
import { filterMatrix } from './model/matrix'
import { docsOf } from './model/pluginDocs'
import { scoreTable } from './model/scores'
import { sampleCycle } from './model/testing'

/** The spread of the sample, with the inputs of node-b2 and node-b3. */
function spreadCycle(): Cycle {
  const cycle = sampleCycle()
  const score = cycle.score as Score
  const hostnames = ['node-b2', 'node-b3']
  return {
    ...cycle,
    score: {
      ...score,
      plugins: score.plugins.map((p) => ({
        ...p,
        normalization: p.name === 'PodTopologySpread' ? ('spread' as const) : ('none' as const),
      })),
      facts: {
        nodes: hostnames,
        plugins: [
          {
            plugin: 'PodTopologySpread',
            spread: {
              source: 'pod',
              lowest: 0,
              highest: 4,
              constraints: [
                {
                  topologyKey: 'kubernetes.io/hostname',
                  maxSkew: 1,
                  selector: 'app=web',
                  domains: 6,
                  domain: hostnames,
                  matching: [1, 0],
                },
              ],
            },
          },
          {
            plugin: 'NodeResourcesFit',
            resources: {
              strategy: 'LeastAllocated',
              resources: [
                { name: 'cpu', weight: 1, requested: 1500, inUse: [5500, 4200], allocatable: [16_000, 16_000] },
              ],
            },
          },
        ],
      },
    },
  }
}

const router = createRouter({
  history: createMemoryHistory(),
  routes: [{ path: '/:rest(.*)*', component: { template: '<div />' } }],
})

let side: VueWrapper
async function open(cycle: Cycle, node: string, plugin: string, shown: 'filter' | 'score') {
  side = mount(DecisionSide, {
    props: {
      cycle,
      matrix: filterMatrix(cycle),
      table: scoreTable(cycle),
      attempts: [],
      cycles: new Map(),
      node,
      plugin,
      shown,
      stage: '',
    },
    global: { plugins: [i18n, router], stubs: { RouterLink: RouterLinkStub } },
    attachTo: document.body,
  })
  await flushPromises()
  await import('./CellPanel.vue')
  await flushPromises()
  return side.get('[data-testid="cell-panel"]')
}
const texts = (at: string) => side.findAll(`[data-testid="${at}"] li`).map((li) => li.text())

beforeAll(loadDeferredMessages)
afterEach(() => {
  i18n.global.locale.value = 'en'
  side.unmount()
})

describe('the panel of a Score cell', () => {
  it('is about the score, although the plugin also has a Filter cell', async () => {
    const panel = await open(spreadCycle(), 'node-b2', 'PodTopologySpread', 'score')
    expect(panel.text()).toContain('scored node-b2')
    expect(panel.text()).not.toContain('in Filter')
  })

  it('says in order what the plugin does, what it compared, how that was normalized and weighted, and where to read on', async () => {
    const panel = await open(spreadCycle(), 'node-b2', 'PodTopologySpread', 'score')
    expect(texts('cell-arithmetic')).toEqual([
      'kubernetes.io/hostname=node-b2: matching pods 1 × ln(domains 6 + 2) + (maxSkew 1 − 1) = 2.08',
      'Rounded: 2.08 becomes 2',
    ])
    expect(texts('cell-normalization')).toEqual([
      'Fewer is better: the lowest raw score, 0, becomes 100: 100 × (4 + 0 − 2) / 4 = 50',
      'Over all nodes: 0 → 100, 2 → 50, 4 → 0',
    ])
    expect(panel.get('[data-testid="cell-weighted"]').text()).toBe('50 × 2 = 100')
    const said = panel.text()
    const order = [
      'Counts the matching pods',
      'What it compared',
      'matching pods 1',
      'Raw 2',
      'From raw to normalized',
      'Fewer is better',
      'Normalized 50',
      '50 × 2 = 100',
      'Kubernetes documentation',
    ].map((part) => said.indexOf(part))
    expect(order).not.toContain(-1)
    expect(order).toEqual([...order].sort((a, b) => a - b))
    expect(panel.get('.docs a').attributes('href')).toBe(
      'https://kubernetes.io/docs/concepts/scheduling-eviction/topology-spread-constraints/'
    )
  })

  it('says that the inputs of a node are not kept', async () => {
    const panel = await open(spreadCycle(), 'node-c3', 'NodeResourcesFit', 'score')
    expect(panel.text()).toContain('A record keeps them for the 2 nodes with the best totals.')
    expect(side.find('[data-testid="cell-arithmetic"]').exists()).toBe(false)
  })

  it('says that a plugin did not report its inputs, and that an old record has none', async () => {
    expect((await open(spreadCycle(), 'node-b2', 'ImageLocality', 'score')).text()).toContain(
      'did not report its inputs'
    )
    side.unmount()
    expect((await open(sampleCycle(), 'node-b2', 'ImageLocality', 'score')).text()).toContain(
      'made by a version that did not keep the inputs'
    )
  })

  it('offers the other cell of the plugin', async () => {
    const panel = await open(spreadCycle(), 'node-b2', 'PodTopologySpread', 'score')
    await panel.get('[role="group"] button').trigger('click')
    expect(side.emitted('show')).toEqual([['filter']])
  })

  it('has the same numbers in Japanese', async () => {
    i18n.global.locale.value = 'ja'
    const panel = await open(spreadCycle(), 'node-b2', 'NodeResourcesFit', 'score')
    expect(panel.text()).toContain('100 × (16 − 7) / 16 = 56')
    expect(panel.text()).not.toMatch(/rounded|compared/)
  })
})

describe('the panel of a Filter cell', () => {
  it('computes what the node lacks', async () => {
    const resources = [{ name: 'cpu', requested: 1500, inUse: 14_700, allocatable: 16_000 }]
    const sample = sampleCycle()
    const cycle: Cycle = {
      ...sample,
      filter: {
        ...(sample.filter as NonNullable<Cycle['filter']>),
        comparisons: [{ node: 'node-a1', plugin: 'NodeResourcesFit', resources }],
      },
    }
    const panel = await open(cycle, 'node-a1', 'NodeResourcesFit', 'filter')
    expect(panel.get('[data-testid="cell-comparison"]').text()).toContain(
      'cpu: 14.7 in use + 1.5 requested = 16.2 of 16, 0.2 short'
    )
    expect(panel.get('[data-testid="cell-about"]').text()).toContain('Rejects nodes whose allocatable resources')
  })

  it('says what the plugin compared on a node that it let through', async () => {
    const sample = sampleCycle()
    const passes = {
      nodes: ['node-b3'],
      plugins: ['TaintToleration', 'NodeAffinity', 'NodeResourcesFit'],
      resources: [{ name: 'cpu', requested: 1500, inUse: [4200], allocatable: [16_000] }],
      comparisons: [
        {
          node: 'node-b3',
          plugin: 'NodeAffinity',
          terms: [{ source: 'nodeSelector', term: 0, key: 'disk', operator: 'In', values: ['ssd'], actual: 'ssd' }],
        },
      ],
    }
    const cycle: Cycle = { ...sample, filter: { ...(sample.filter as NonNullable<Cycle['filter']>), passes } }
    const said = async (node: string, plugin: string) => {
      const panel = await open(cycle, node, plugin, 'filter')
      const [text, lines] = [panel.text(), texts('cell-comparison')]
      side.unmount()
      return { text, lines }
    }
    expect((await said('node-b3', 'NodeResourcesFit')).lines).toEqual(['cpu: 4.2 in use + 1.5 requested = 5.7 of 16'])
    expect((await said('node-b3', 'NodeAffinity')).lines).toEqual(['disk In [ssd]: met by disk=ssd'])
    expect((await said('node-b3', 'TaintToleration')).text).toContain('node-b3 has no NoSchedule or NoExecute taint.')
    expect((await said('node-b3', 'PodTopologySpread')).text).toContain(
      'The recorder keeps no comparison of PodTopologySpread for a node that passed.'
    )
    expect((await said('node-c3', 'NodeAffinity')).text).toContain(
      'keeps what plugins compared for few nodes of a decision (here 1), and node-c3 is not one of them.'
    )
  })

  it('names the pods behind what is in use, and the containers behind the request', async () => {
    const sample = sampleCycle()
    const pod = (name: string) => ({ namespace: 'default', name, uid: name })
    const use = {
      pods: [
        { pod: pod('high'), amount: 3000, nominated: true },
        { pod: pod('old'), amount: 1000, terminating: true },
        { pod: pod('db'), amount: 3500, resize: { asked: 3500, granted: 2000, state: 'deferred' as const } },
        {
          pod: pod('shop'),
          amount: 300,
          request: {
            resource: 'cpu',
            amount: 300,
            init: 'migrate',
            parts: [
              { container: 'migrate', role: 'initContainer' as const, amount: 200 },
              { container: 'proxy', role: 'sidecar' as const, amount: 100 },
            ],
          },
        },
      ],
      others: 2,
      othersAmount: 500,
      nominated: 3000,
      nominatedPods: 1,
      described: 5300,
    }
    const comparisons = [
      {
        node: 'node-a1',
        plugin: 'NodeResourcesFit',
        resources: [{ name: 'cpu', requested: 2000, inUse: 8300, allocatable: 8000, use }],
      },
    ]
    const requests = [
      {
        resource: 'cpu',
        amount: 2000,
        parts: [
          { container: 'web', role: 'container' as const, amount: 1500 },
          { container: 'log', role: 'sidecar' as const, amount: 500 },
        ],
      },
    ]
    const cycle: Cycle = {
      ...sample,
      filter: { ...(sample.filter as NonNullable<Cycle['filter']>), comparisons, requests },
    }
    await open(cycle, 'node-a1', 'NodeResourcesFit', 'filter')
    expect(texts('cell-use')).toEqual([
      'The pod requests 2: web (1.5) + log (0.5)',
      'default/high: 3 (only nominated to the node)',
      'default/old: 1 (terminating)',
      'default/db: 3.5 (it asked for a resize from 2 to 3.5 that is deferred)',
      'default/shop: 0.3 (the init container migrate (0.2) while the sidecar proxy (0.1) runs)',
      '2 other pods: 0.5',
      'kubectl describe shows 5.3: it leaves out pods that are only nominated',
    ])
  })

  it.each([
    ['node-b2', 'NodePorts', 'It compared nothing: in PreFilter it returned Skip'],
    ['node-a4', 'NodeAffinity', 'It compared nothing: TaintToleration had already rejected the node.'],
    ['node-b2', 'NodeAffinity', 'The version that made this record kept no comparison for a node that passed.'],
  ])('says why there is nothing to compare on %s by %s', async (node, plugin, said) => {
    expect((await open(sampleCycle(), node, plugin, 'filter')).text()).toContain(said)
  })
})

describe('the documentation of plugins', () => {
  it('differs between Filter and Score where Kubernetes has two pages', () => {
    expect(docsOf('NodeResourcesFit', 'filter')).not.toBe(docsOf('NodeResourcesFit', 'score'))
    expect(docsOf('TaintToleration', 'filter')).toBe(docsOf('TaintToleration', 'score'))
    expect(docsOf('ZoneQuota', 'filter')).toBeUndefined()
  })
})
