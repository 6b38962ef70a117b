// Stands in for the scheduler of a version of Kubernetes, as package scheduler/versions/wire defines what these programs are
// told and answer. It decides by the names of pods, so that a test knows what differs: db fits in 1.35 only, web changes its node with
// the formula, volume with a feature gate, and all others stay.

import { createInterface } from 'node:readline'

const minor = process.argv[2] ?? ''
const newer = minor !== '1.35'
const gate = 'StorageCapacityScoring'
let on = newer
const nodes = new Set()
let decisions = 0

const say = (answer) => process.stdout.write(`${JSON.stringify(answer)}\n`)
const plugins = [
  { name: 'NodeResourcesFit', weight: 1 },
  { name: 'NodeResourcesBalancedAllocation', weight: 1 },
]
const withVolumes = [...plugins, { name: 'VolumeBinding', weight: 1 }]

function started() {
  const score = newer ? withVolumes : plugins
  const args = newer
    ? { VolumeBinding: { bindTimeoutSeconds: 600, shape: [{ utilization: 0, score: 0 }] } }
    : { VolumeBinding: { bindTimeoutSeconds: 600 } }
  const filter = [
    { name: 'NodeName' },
    { name: 'NodeVolumeLimits' },
    ...(newer ? [{ name: 'NodeDeclaredFeatures' }] : []),
  ]
  return {
    version: `v${minor}.9`,
    minor,
    configuration: {},
    profiles: [
      {
        name: 'default-scheduler',
        points: [
          { name: 'queueSort', plugins: [{ name: 'PrioritySort' }] },
          { name: 'preFilter', plugins: [{ name: 'NodeVolumeLimits' }] },
          { name: 'filter', plugins: filter },
          { name: 'score', plugins: score },
          { name: 'bind', plugins: [{ name: 'DefaultBinder' }] },
        ],
        args,
      },
    ],
    gates: [{ name: gate, default: newer, on, stage: newer ? 'BETA' : 'ALPHA' }],
  }
}

function column(values) {
  const bytes = Buffer.alloc(4 * values.length)
  values.forEach((value, i) => bytes.writeInt32LE(value, 4 * i))
  return bytes.toString('base64')
}

function decide({ metadata: { name, namespace, uid } }) {
  decisions++
  const all = [...nodes].sort()
  const pod = { apiVersion: 'v1', kind: 'Pod', namespace, name, uid }
  if (name.startsWith('db') && newer) {
    const said = {
      plugin: 'NodeVolumeLimits',
      code: 'Unschedulable',
      reasons: ['disk.example CSI driver is not installed on the node'],
    }
    return {
      pod,
      nodes: all.length,
      feasible: 0,
      digest: 'none',
      status: { code: 'Unschedulable', reasons: [`0/${all.length} nodes are available: ${said.reasons}.`] },
      rejections: [{ ...said, count: all.length, nodes: all, digest: 'all' }],
    }
  }
  const last = (i) => (i === all.length - 1 ? 1 : 0)
  const rows = all.map((_, i) => [
    50 + (i === 0 ? 3 : 0),
    name.startsWith('web') && newer ? 60 + 12 * last(i) : 70,
    ...(newer ? [on && name.startsWith('volume') ? 20 * last(i) : 0] : []),
  ])
  const totals = rows.map((row) => row.reduce((sum, value) => sum + value, 0))
  const best = all.filter((_, i) => totals[i] === Math.max(...totals))
  const scored = newer ? withVolumes : plugins
  return {
    pod,
    nodes: all.length,
    feasible: all.length,
    best,
    bestCount: best.length,
    bestDigest: best.join(),
    digest: JSON.stringify(rows),
    table: { plugins: scored, columns: scored.map((_, p) => column(rows.map((row) => row[p]))) },
    scores: { plugins: scored, nodes: all, raw: rows, normalized: rows, totals },
  }
}

for await (const line of createInterface({ input: process.stdin })) {
  const request = JSON.parse(line)
  if (request.begin) {
    on = request.begin.gates?.[gate] ?? on
    say({ started: started() })
  } else if (request.set?.kind === 'Node') nodes.add(request.set.metadata.name)
  else if (request.decide) {
    await new Promise((done) => setTimeout(done, Number(process.env.STAND_IN_PACE ?? 0)))
    say({ decision: decide(request.decide.pod) })
  } else if (request.place) say({ placed: {} })
}
say({ done: { decisions } })
