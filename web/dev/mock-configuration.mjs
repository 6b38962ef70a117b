// The configuration's routes as the pages use them: it parses YAML, knows a few mistakes
// with their lines, and keeps revisions. `fail: rollBack` anywhere in a document makes
// its apply fail after the swap.

import { LineCounter, parseDocument, isMap, isScalar, isSeq, visit } from 'yaml'

const at = (minutes) => new Date(Date.now() - minutes * 60_000).toISOString()
const head = 'apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\n'
const points = {
  preEnqueue: ['SchedulingGates', 'DynamicResources', 'DefaultPreemption'],
  queueSort: ['PrioritySort'],
  preFilter: ['NodeAffinity', 'NodePorts', 'NodeResourcesFit', 'VolumeRestrictions', 'NodeVolumeLimits', 'VolumeBinding', 'VolumeZone', 'PodTopologySpread', 'InterPodAffinity', 'DynamicResources', 'NodeDeclaredFeatures'],
  filter: ['NodeName', 'NodeUnschedulable', 'TaintToleration', 'NodeAffinity', 'NodePorts', 'NodeResourcesFit', 'VolumeRestrictions', 'NodeVolumeLimits', 'VolumeBinding', 'VolumeZone', 'PodTopologySpread', 'InterPodAffinity', 'DynamicResources', 'NodeDeclaredFeatures'],
  postFilter: ['DynamicResources', 'DefaultPreemption'],
  preScore: ['TaintToleration', 'NodeAffinity', 'NodeResourcesFit', 'VolumeBinding', 'PodTopologySpread', 'InterPodAffinity', 'NodeResourcesBalancedAllocation'],
  score: ['TaintToleration', 'NodeAffinity', 'NodeResourcesFit', 'VolumeBinding', 'PodTopologySpread', 'InterPodAffinity', 'DynamicResources', 'NodeResourcesBalancedAllocation', 'ImageLocality'],
  reserve: ['VolumeBinding', 'DynamicResources'],
  permit: [],
  preBind: ['VolumeBinding', 'DynamicResources'],
  bind: ['DefaultBinder'],
  postBind: [],
}
const weights = { TaintToleration: 3, NodeAffinity: 2, PodTopologySpread: 2, InterPodAffinity: 2, DynamicResources: 2 }
const known = new Set([...Object.values(points).flat(), 'CELFilter', 'CELScore', 'ZoneQuota'])
const defaultArguments = { NodeResourcesFit: { scoringStrategy: { type: 'LeastAllocated', resources: [{ name: 'cpu', weight: 1 }, { name: 'memory', weight: 1 }] } }, PodTopologySpread: { defaultingType: 'System' }, InterPodAffinity: { hardPodAffinityWeight: 1 }, DefaultPreemption: { minCandidateNodesPercentage: 10, minCandidateNodesAbsolute: 100 } }
const fields = new Set(['apiVersion', 'kind', 'parallelism', 'percentageOfNodesToScore', 'podInitialBackoffSeconds', 'podMaxBackoffSeconds', 'delayCacheUntilActive', 'profiles', 'extenders', 'leaderElection', 'clientConnection', 'enableProfiling', 'enableContentionProfiling'])

const revisions = [
  { number: 1, time: at(41), source: 'default', summary: 'default, at start', state: 'replaced', podsScheduled: 21, profiles: ['default-scheduler'], document: head },
  { number: 2, time: at(31), source: 'user', summary: 'DefaultPreemption disabled in postFilter', state: 'replaced', podsScheduled: 30, profiles: ['default-scheduler'], document: `${head}profiles:\n- plugins:\n    postFilter:\n      disabled:\n      - name: DefaultPreemption\n` },
  { number: 3, time: at(12), source: 'user', summary: 'extenders: 1', state: 'rolledBack', error: 'initialize profile default-scheduler: extender http://127.0.0.1:1: connection refused', podsScheduled: 0, profiles: ['default-scheduler'], document: `${head}extenders:\n- urlPrefix: http://127.0.0.1:1\n  filterVerb: filter\n` },
  { number: 4, time: at(11), source: 'user', summary: 'percentageOfNodesToScore 100', state: 'running', podsScheduled: 23, profiles: ['default-scheduler'], document: `${head}# Look at every node.\npercentageOfNodesToScore: 100\n` },
]
const running = () => revisions.findLast((r) => r.state === 'running')
let phase = 'running'
export const schedulerState = () => ({ phase, message: '', profiles: running().profiles, revision: running().number })

function check(text) {
  const counter = new LineCounter()
  const document = parseDocument(text, { lineCounter: counter })
  const details = document.errors.map((e) => ({ field: '', message: e.message.split('\n')[0], ...place(counter, e.pos[0]) }))
  if (details.length) return { details }
  const value = document.toJS() ?? {}
  const say = (node, field, message) => details.push({ field, message, ...(node?.range ? place(counter, node.range[0]) : {}) })
  if (value.kind !== 'KubeSchedulerConfiguration') say(document.get('kind', true), 'kind', `expected KubeSchedulerConfiguration, got ${JSON.stringify(value.kind ?? '')}`)
  if (isMap(document.contents)) for (const { key } of document.contents.items) if (!fields.has(key.value)) say(key, key.value, `unknown field "${key.value}"`)
  visit(document, {
    Pair(_, { key, value: v }) {
      if (!isScalar(key) || key.value !== 'enabled' || !isSeq(v)) return
      v.items.forEach((item, i) => {
        if (!isMap(item)) return
        const name = item.get('name', true)
        if (name && !known.has(name.value)) say(name, `profiles[0].plugins.enabled[${i}].name`, `no plugin is named ${name.value}`)
        for (const { key: k } of item.items) if (!['name', 'weight'].includes(k.value)) say(k, `profiles[0].plugins.multiPoint.enabled[${i}].${k.value}`, `unknown field "${k.value}"`)
      })
    },
  })
  return { details, value }
}
const place = (counter, offset) => {
  const { line, col } = counter.linePos(offset)
  return { line, column: col }
}
const names = (value) => (value.profiles?.length ? value.profiles.map((p) => p.schedulerName ?? 'default-scheduler') : ['default-scheduler'])
const noEffectOf = (value) => ['leaderElection', 'clientConnection'].filter((f) => f in value).map((field) => ({ field, message: 'the simulator sets this itself' }))

function effectiveProfile(profile) {
  const set = (name) => profile.plugins?.[name] ?? {}
  const multi = set('multiPoint')
  const changed = new Map([...(multi.enabled ?? [])].map((p) => [p.name, p.weight]))
  return {
    schedulerName: profile.schedulerName ?? 'default-scheduler',
    extensionPoints: Object.entries(points).map(([name, base]) => {
      const disabled = [...(multi.disabled ?? []), ...(set(name).disabled ?? [])].map((p) => p.name)
      const plugins = base.filter((p) => !disabled.includes(p) && !disabled.includes('*')).map((p) => ({ name: p, ...(name === 'score' ? { weight: changed.get(p) || weights[p] || 1 } : {}), source: changed.has(p) && name === 'score' ? 'user' : 'default', viaMultiPoint: true }))
      if (name === 'score') for (const [p, weight] of changed) if (!base.includes(p)) plugins.push({ name: p, weight: weight ?? 1, source: 'user', viaMultiPoint: true })
      return { name, plugins, disabled: base.filter((p) => !plugins.some((x) => x.name === p)) }
    }),
    plugins: [...new Set([...Object.values(points).flat(), ...changed.keys()])].map((name) => {
      const own = profile.pluginConfig?.find((c) => c.name === name)?.args
      return own ? { name, arguments: own, argumentsSource: 'user' } : defaultArguments[name] ? { name, arguments: defaultArguments[name], argumentsSource: 'default' } : { name, argumentsSource: 'none' }
    }),
  }
}
function effective(value = check(running().document).value, revision = running().number) {
  const setting = (name, fallback) => ({ name, value: value[name] ?? fallback, default: fallback, source: name in value ? 'user' : 'default' })
  return {
    revision,
    global: [setting('parallelism', 16), setting('percentageOfNodesToScore', 0), setting('podInitialBackoffSeconds', 1), setting('podMaxBackoffSeconds', 10), setting('delayCacheUntilActive', false)],
    profiles: (value.profiles ?? [{}]).map(effectiveProfile),
    extenders: (value.extenders ?? []).map((e) => ({ urlPrefix: e.urlPrefix, verbs: ['filter', 'prioritize', 'preempt', 'bind'].filter((v) => e[`${v}Verb`]), weight: e.weight ?? 0, ignorable: e.ignorable ?? false, nodeCacheCapable: e.nodeCacheCapable ?? false, managedResources: (e.managedResources ?? []).map((r) => r.name), timeoutSeconds: 5 })),
    difference: [],
    noEffect: noEffectOf(value),
  }
}
const gates = [['GenericWorkload', 'ALPHA', false, false], ['OpportunisticBatching', 'BETA', true, true], ['SchedulerAsyncPreemption', 'BETA', true, true], ['SchedulerQueueingHints', 'GA', true, true, true], ['StorageCapacityScoring', 'ALPHA', false, true], ['DynamicResourceAllocation', 'GA', true, true, true], ['NodeDeclaredFeatures', 'BETA', true, true], ['CPUManagerPolicyOptions', 'GA', true, true, true], ['WatchList', 'BETA', true, true], ['APIServingWithRoutine', 'ALPHA', false, false]]

function apply(text, source, answer, changed) {
  const { details, value } = check(text)
  if (details.length) return answer(422, { message: `the configuration has ${details.length} mistake${details.length > 1 ? 's' : ''}`, details })
  if (/fail: rollBack/.test(text)) return answer(422, { message: 'start the scheduler: it did not start; revision ' + running().number + ' runs on', details: [] })
  const revision = { number: revisions.length + 1, time: new Date().toISOString(), source, summary: 'a new document', state: 'running', podsScheduled: 0, profiles: names(value), document: text }
  phase = 'starting'
  changed()
  setTimeout(() => {
    running().state = 'replaced'
    revisions.push(revision)
    phase = 'running'
    changed()
    answer(200, { revision: brief(revision), noEffect: noEffectOf(value), durationSeconds: 0.412 })
  }, 400)
}
const brief = (revision) => ({ ...revision, document: undefined })

export async function handleConfiguration(request, url, answer, changed) {
  const [, rest = ''] = /\/schedulerconfiguration\/?(.*)$/.exec(url.pathname) ?? []
  const chunks = []
  for await (const chunk of request) chunks.push(chunk)
  const body = Buffer.concat(chunks).toString()
  if (url.pathname === '/api/v1/featuregates') return answer(200, { items: gates.map(([name, stage, fallback, enabled, locked = false]) => ({ name, stage, default: fallback, enabled, locked })).sort((a, b) => (a.name < b.name ? -1 : 1)) })
  if (rest === 'default') return answer(200, `${head}parallelism: 16\npercentageOfNodesToScore: 0\n`, 'application/yaml')
  if (rest === 'effective') return answer(200, effective())
  const [, number] = /^revisions\/(\d+)$/.exec(rest) ?? []
  if (rest === 'revisions') return answer(200, { items: [...revisions].reverse().map(brief) })
  if (number) {
    const revision = revisions.find((r) => r.number === Number(number))
    if (!revision) return answer(404, { message: `there is no revision ${number}`, details: [] })
    return request.method === 'POST' ? apply(revision.document, 'user', answer, changed) : answer(200, revision)
  }
  if (request.method === 'GET') return answer(200, running().document, 'application/yaml')
  if (request.method === 'DELETE') return apply(head, 'default', answer, changed)
  if (url.searchParams.get('dryRun') === 'true') {
    const { details, value } = check(body)
    if (details.length) return answer(422, { message: `the configuration has ${details.length} mistake${details.length > 1 ? 's' : ''}`, details })
    return answer(200, { revision: { number: 0, time: new Date().toISOString(), source: 'user', summary: 'a new document', state: '', podsScheduled: 0, profiles: names(value) }, noEffect: noEffectOf(value), effective: effective(value, 0), durationSeconds: 0.02 })
  }
  return apply(body, 'user', answer, changed)
}
