// Decisions that are hard to come by with a real scheduler, for looking at the pages:
// extenders, facts of plugins, preemption rule by rule, a pod group, a node hint.

export function recordStories({ record, pod, cycleFor, names, ago, ok }) {
  const cpu = ['NodeResourcesFit', 'Insufficient cpu']
  const taint = ['TaintToleration', 'node(s) had untolerated taint(s)']
  const tainted = Object.fromEntries(names.filter((n) => n.endsWith('4')).map((n) => [n, taint]))

  // Extenders and facts.
  const billed = pod('web', 'node-a2', undefined, 'billed-1')
  const cycle = { ...cycleFor(billed, 1, tainted, undefined, 'x', ago(40)), revision: 3 }
  const fits = cycle.score.nodes
  const url = 'http://127.0.0.1:8888/scheduler'
  cycle.extenders = [
    { plugin: url, verb: 'filter', status: 'Success', durationSeconds: 0.0031, nodes: fits.length, request: JSON.stringify({ Pod: { metadata: { name: 'billed-1' } }, NodeNames: fits }), response: JSON.stringify({ NodeNames: fits.slice(2), FailedNodes: { [fits[0]]: 'licence budget is used up' } }), rejected: [{ node: fits[0], reason: 'licence budget is used up' }, { node: fits[1], reason: '', unresolvable: true }] },
    { plugin: 'http://127.0.0.1:9999/quota', verb: 'filter', status: 'Error', ignored: true, durationSeconds: 5, nodes: fits.length - 2, reasons: ['Post "http://127.0.0.1:9999/quota/filter": context deadline exceeded'], request: '{}' },
    { plugin: url, verb: 'prioritize', status: 'Success', durationSeconds: 0.0022, nodes: fits.length - 2, wholeNodes: true, request: '{}', response: JSON.stringify(fits.slice(2).map((Host, i) => ({ Host, Score: i % 10 }))) },
    { plugin: 'http://127.0.0.1:7000/gpu', status: 'Skip', durationSeconds: 0 },
  ]
  const keep = (list) => list.slice(2)
  cycle.score = { ...cycle.score, nodes: keep(fits), raw: keep(cycle.score.raw), normalized: keep(cycle.score.normalized), weighted: keep(cycle.score.weighted) }
  cycle.score.extenders = [{ name: url, weight: 10 }]
  cycle.score.answered = cycle.score.nodes.map((_, i) => [i === 1 ? null : i % 10])
  cycle.score.counted = cycle.score.answered.map(([a]) => [(a ?? 0) * 10])
  cycle.score.totals = cycle.score.weighted.map((w, i) => w.reduce((a, b) => a + b, 0) + cycle.score.counted[i][0])
  cycle.selectedNode = cycle.score.nodes[cycle.score.totals.indexOf(Math.max(...cycle.score.totals))]
  cycle.nodes = { ...cycle.nodes, feasible: cycle.score.nodes.length }
  cycle.facts = [
    { plugin: 'NodeResourcesFit', key: 'strategy', value: 'LeastAllocated' },
    ...cycle.score.nodes.flatMap((node, i) => [{ plugin: 'CELScore', node, key: 'expression', value: `(node.free.cpu - pod.cpu) * 10 = ${i * 7}` }]),
  ]
  cycle.hint = { node: 'node-b1', used: false }
  record(cycle)

  // Preemption: every rule has something to say, the second one decides.
  const priced = pod('pricing-0', 'node-b1', undefined, 'pricing-0')
  const victim = (name, priority, minutes) => ({ pod: { namespace: 'shop', name, uid: name }, priority, startTime: ago(minutes * 60) })
  const candidate = (node, pdbViolations, victims, reprieved) => ({ node, pdbViolations, victims, reprieved })
  const full = { ...tainted, ...Object.fromEntries(names.filter((n) => !n.endsWith('4')).map((n) => [n, cpu])) }
  const first = cycleFor(priced, 1, full, undefined, undefined, ago(33))
  first.nominatedNode = 'node-b1'
  first.message = '0/12 nodes are available: 3 node(s) had untolerated taint(s), 9 Insufficient cpu.'
  first.postFilter = [ok('DynamicResources', 'Unschedulable', 3, { reasons: ['still not schedulable'] }), ok('DefaultPreemption', 'Success', 1940, { nominatedNode: 'node-b1' })]
  first.preemption = {
    candidates: [
      candidate('node-a1', 0, [victim('web-1', 1000, 90), victim('api-1', 1000, 80), victim('api-2', 1000, 80), victim('etl-0', 100, 12)], [victim('search-0', 4000, 300)]),
      candidate('node-a3', 0, [victim('api-9', 1000, 60)], [victim('cache-2', 5000, 400), victim('web-9', 1000, 20)]),
      candidate('node-b1', 0, [victim('etl-1', 100, 10)], [victim('cache-3', 5000, 400), victim('web-7', 1000, 30), victim('web-8', 1000, 30)]),
      candidate('node-b2', 0, [victim('web-2', 1000, 40), victim('etl-2', 100, 5)], []),
      candidate('node-c1', 2, [victim('olap-0', 2000, 200), victim('olap-1', 2000, 200), victim('web-3', 1000, 9)], [victim('search-1', 4000, 300)]),
      { ...candidate('node-c3', 0, [victim('api-7', 100, 60)], []), removedBy: url },
    ],
    chosen: 'node-b1',
    rule: 'lowestHighestPriority',
    unhelpful: [{ status: 'UnschedulableAndUnresolvable', plugin: 'TaintToleration', reasons: ['node(s) had untolerated taint(s)'], nodes: ['node-a4', 'node-b4', 'node-c4'] }],
  }
  first.queue = { addedTime: ago(33.2), attempts: 1 }
  record(first)
  const second = cycleFor(priced, 2, {}, undefined, 'node-b1', ago(2))
  second.filter = { ...second.filter, nodes: ['node-b1'], states: [second.filter.states[0]], nominated: [{ node: 'node-b1', pods: [{ namespace: 'shop', name: 'pricing-0', uid: 'p' }], rejected: false }] }
  second.nodes = { total: 12, evaluated: 1, feasible: 1 }
  delete second.score
  second.selectedNode = 'node-b1'
  second.queue = { addedTime: ago(33), attempts: 2, rejectedBy: ['NodeResourcesFit'], backoffUntil: ago(32), requeuedBy: { time: ago(2.5), event: 'AssignedPodDelete', kind: 'Pod', namespace: 'batch', name: 'etl-1', plugin: 'NodeResourcesFit' } }
  record(second)

  // A pod group in its second placement.
  const members = ['gang-0', 'gang-1', 'gang-2', 'gang-3'].map((name) => pod('etl', 'node-c3', undefined, name))
  const gang = cycleFor(members[0], 1, tainted, undefined, 'x', ago(20))
  gang.podGroup = {
    namespace: 'batch',
    name: 'training',
    minCount: 4,
    topologyKey: 'topology.kubernetes.io/zone',
    members: members.map((m) => ({ namespace: m.metadata.namespace, name: m.metadata.name, uid: m.metadata.uid })),
    memberCount: 4,
    outcome: 'scheduled',
    placementCount: 3,
    placement: 2,
    chosen: 2,
    placements: [
      { name: 'zone-a', nodes: 4, tried: 3, assigned: 2, status: 'Unschedulable', plugin: 'GangScheduling', reasons: ['2 of 4 members fit'], blockedBy: [{ plugin: 'NodeResourcesFit', members: 1, reasons: ['Insufficient cpu'] }] },
      { name: 'zone-b', nodes: 4, tried: 4, assigned: 4, status: 'Success', scores: { NodeResourcesFit: 61, PlacementSpread: 20 }, total: 81 },
      { name: 'zone-c', nodes: 4, tried: 4, assigned: 4, status: 'Success', scores: { NodeResourcesFit: 77, PlacementSpread: 20 }, total: 97 },
    ],
  }
  record(gang)

  const hinted = pod('web', 'node-a2', undefined, 'hinted-1')
  const quick = cycleFor(hinted, 1, {}, undefined, 'node-a2', ago(10))
  delete quick.score
  quick.filter = { ...quick.filter, nodes: ['node-a2'], states: [quick.filter.states[0]] }
  quick.nodes = { total: 12, evaluated: 1, feasible: 1 }
  quick.hint = { node: 'node-a2', used: true }
  quick.selectedNode = 'node-a2'
  record(quick)
}
