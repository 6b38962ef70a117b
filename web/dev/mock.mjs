// A stand-in for the simulator while working on the pages: the routes that they use,
// with the cluster of the mockups (or many nodes) made up in memory. It schedules
// nothing: pods that are created stay as they are, unless they fit the first node.
//
//   node dev/mock.mjs [--nodes 1500] [--port 1212] [--empty] [--starting 3] [--warning TEXT]
//
// Serves dist/ too, so that `npm run build` can be looked at without a simulator.

import { createHash, randomUUID } from 'node:crypto'
import { existsSync, readFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { extname, join, normalize } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { handleConfiguration, schedulerState } from './mock-configuration.mjs'
import { recordStories } from './mock-cycles.mjs'

const { values: args } = parseArgs({
  options: {
    nodes: { type: 'string', default: '12' },
    port: { type: 'string', default: '1212' },
    empty: { type: 'boolean', default: false },
    starting: { type: 'string', default: '0' },
    warning: { type: 'string' },
  },
})
const readyAt = Date.now() + Number(args.starting) * 1000
const isReady = () => Date.now() >= readyAt
const dist = fileURLToPath(new URL('../dist', import.meta.url))

// ── the cluster ─────────────────────────────────────────────────────────
const kinds = {
  nodes: { group: '', version: 'v1', kind: 'Node', namespaced: false },
  pods: { group: '', version: 'v1', kind: 'Pod', namespaced: true },
  namespaces: { group: '', version: 'v1', kind: 'Namespace', namespaced: false },
  persistentvolumes: { group: '', version: 'v1', kind: 'PersistentVolume', namespaced: false },
  persistentvolumeclaims: { group: '', version: 'v1', kind: 'PersistentVolumeClaim', namespaced: true },
  configmaps: { group: '', version: 'v1', kind: 'ConfigMap', namespaced: true },
  deployments: { group: 'apps', version: 'v1', kind: 'Deployment', namespaced: true },
  jobs: { group: 'batch', version: 'v1', kind: 'Job', namespaced: true },
  storageclasses: { group: 'storage.k8s.io', version: 'v1', kind: 'StorageClass', namespaced: false },
  priorityclasses: { group: 'scheduling.k8s.io', version: 'v1', kind: 'PriorityClass', namespaced: false },
}
const store = Object.fromEntries(Object.keys(kinds).map((k) => [k, new Map()]))
let version = 1000
const key = (o) => (o.metadata.namespace ? `${o.metadata.namespace}/${o.metadata.name}` : o.metadata.name)
function put(resource, object, type) {
  object.metadata.resourceVersion = String(++version)
  object.metadata.uid ??= randomUUID()
  object.metadata.creationTimestamp ??= new Date().toISOString()
  store[resource].set(key(object), object)
  broadcast(`r:${resource}`, { type: type ?? 'ADDED', object })
}
const cycles = new Map()
function record(cycle) {
  cycle.explanation = explanationOf(cycle)
  cycles.set(`${cycle.pod.uid}/${cycle.attempt}`, cycle)
  broadcast('results', { type: 'ADDED', object: summary(cycle) })
}
/** As scheduler/explain does, without its sentence. */
function explanationOf({ filter, score, selectedNode }) {
  const rejections = new Map()
  for (const { plugin, reasons } of filter.reasons) {
    const known = rejections.get(plugin) ?? { plugin, nodes: 0, reasons: [] }
    known.nodes++
    for (const reason of reasons) {
      const counted = known.reasons.find((r) => r.reason === reason)
      if (counted) counted.nodes++
      else known.reasons.push({ reason, nodes: 1 })
    }
    rejections.set(plugin, known)
  }
  const out = { sentence: '', rejections: [...rejections.values()].sort((a, b) => b.nodes - a.nodes) }
  const own = score?.nodes.indexOf(selectedNode) ?? -1
  if (own < 0) return out
  const next = score.nodes.map((_, i) => i).filter((i) => i !== own).sort((a, b) => score.totals[b] - score.totals[a])[0]
  const parts = score.plugins.map(({ name }, p) => ({ plugin: name, difference: score.weighted[own][p] - score.weighted[next][p] })).filter((p) => p.difference)
  const tied = score.nodes.filter((n, i) => n !== selectedNode && score.totals[i] === score.totals[own])
  const total = score.totals[own] - score.totals[next]
  return { ...out, margin: { over: score.nodes[next], total, ...(total ? {} : { tied }), parts: parts.sort((a, b) => Math.abs(b.difference) - Math.abs(a.difference)) } }
}
const summary = ({ pod, attempt, profile, startTime, durationSeconds, outcome, selectedNode, nominatedNode, message, nodes }) => ({ pod, attempt, profile, startTime, durationSeconds, outcome, selectedNode, nominatedNode, message, nodes })

// ── web socket, the little that is needed ───────────────────────────────
const sockets = new Set()
function send(socket, value) {
  const body = Buffer.from(JSON.stringify(value))
  const head = body.length < 126 ? Buffer.from([0x81, body.length]) : body.length < 65536 ? Buffer.from([0x81, 126, body.length >> 8, body.length & 255]) : Buffer.alloc(10)
  if (body.length >= 65536) {
    head[0] = 0x81
    head[1] = 127
    head.writeBigUInt64BE(BigInt(body.length), 2)
  }
  socket.raw.write(Buffer.concat([head, body]))
}
function broadcast(channel, event) {
  for (const s of sockets) for (const [id, c] of s.subs) if (c === channel) send(s, { type: 'events', id, events: [event] })
}
function subscribe(socket, message) {
  const list = (items) => {
    if (!items.length) send(socket, { type: 'list', id: message.id, items: [], first: true, more: false })
    for (let i = 0; i < items.length; i += 500) send(socket, { type: 'list', id: message.id, items: items.slice(i, i + 500), first: i === 0, more: i + 500 < items.length })
  }
  if (message.topic === 'status') {
    socket.subs.set(message.id, 'status')
    return list([status()])
  }
  if (!isReady()) return send(socket, { type: 'error', id: message.id, message: 'the control plane is starting', code: 503 })
  if (message.topic === 'results') {
    socket.subs.set(message.id, 'results')
    return list([...cycles.values()].reverse().slice(0, 500).map(summary))
  }
  const resource = message.resource?.resource
  if (!store[resource]) return send(socket, { type: 'error', id: message.id, message: 'the server could not find the requested resource', code: 404 })
  socket.subs.set(message.id, `r:${resource}`)
  list([...store[resource].values()])
}
function upgrade(request, raw) {
  const accept = createHash('sha1').update(request.headers['sec-websocket-key'] + '258EAFA5-E914-47DA-95CA-C5AB0DC85B11').digest('base64')
  raw.write(`HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Accept: ${accept}\r\n\r\n`)
  const socket = { raw, subs: new Map() }
  sockets.add(socket)
  let buffer = Buffer.alloc(0)
  raw.on('data', (chunk) => {
    buffer = Buffer.concat([buffer, chunk])
    for (;;) {
      if (buffer.length < 6) return
      const op = buffer[0] & 15
      let length = buffer[1] & 127
      let at = 2
      if (length === 126) {
        length = buffer.readUInt16BE(2)
        at = 4
      }
      if (buffer.length < at + 4 + length) return
      const mask = buffer.subarray(at, at + 4)
      const body = Buffer.from(buffer.subarray(at + 4, at + 4 + length).map((b, i) => b ^ mask[i % 4]))
      buffer = buffer.subarray(at + 4 + length)
      if (op === 8) return raw.end()
      if (op !== 1) continue
      const message = JSON.parse(body.toString())
      if (message.type === 'subscribe') subscribe(socket, message)
      else socket.subs.delete(message.id)
    }
  })
  const gone = () => sockets.delete(socket)
  raw.on('close', gone)
  raw.on('error', gone)
}

// ── http ────────────────────────────────────────────────────────────────
const status = () => ({
  ready: isReady(),
  phase: isReady() ? 'running' : 'starting',
  message: '',
  warnings: args.warning ? [args.warning] : [],
  version: 'v1.37.1',
  scheduler: isReady() ? schedulerState() : { phase: 'starting', message: '', profiles: [], revision: 0 },
})
const answer = (response, code, body, type = 'application/json') => {
  response.writeHead(code, { 'Content-Type': type })
  response.end(typeof body === 'string' || Buffer.isBuffer(body) ? body : JSON.stringify(body))
}
const refuse = (response, code, reason, message, causes) => answer(response, code, { kind: 'Status', apiVersion: 'v1', status: 'Failure', message, reason, code, details: causes ? { causes } : undefined })
const types = { '.html': 'text/html', '.js': 'text/javascript', '.css': 'text/css', '.svg': 'image/svg+xml' }

async function handle(request, response) {
  const url = new URL(request.url, 'http://x')
  const path = url.pathname
  if (path === '/api/v1/status') return answer(response, 200, status())
  if (path.startsWith('/api/') || path.startsWith('/kubernetes/')) {
    if (!isReady()) return answer(response, 503, { message: 'the control plane is starting' })
  }
  if (path.startsWith('/api/v1/schedulerconfiguration') || path === '/api/v1/featuregates') {
    return handleConfiguration(request, url, (code, body, type) => answer(response, code, body, type), () => broadcast('status', { type: 'MODIFIED', object: status() }))
  }
  if (path === '/api/v1/results') {
    const want = (k, v) => !url.searchParams.get(k) || url.searchParams.get(k) === v
    const items = [...cycles.values()].reverse().filter((c) => want('namespace', c.pod.namespace) && want('name', c.pod.name) && want('uid', c.pod.uid) && want('outcome', c.outcome))
    return answer(response, 200, { items: items.slice(0, Number(url.searchParams.get('limit') || 500)).map(summary), continue: '' })
  }
  const result = /^\/api\/v1\/results\/([^/]+)(?:\/(\d+))?$/.exec(path)
  if (result) {
    if (result[2]) {
      const cycle = cycles.get(`${result[1]}/${result[2]}`)
      return cycle ? answer(response, 200, cycle) : answer(response, 404, { message: 'no such attempt' })
    }
    const items = [...cycles.values()].filter((c) => c.pod.uid === result[1]).map(summary)
    return items.length ? answer(response, 200, { items }) : answer(response, 404, { message: 'no results for this pod' })
  }
  if (path === '/kubernetes/api' || path === '/kubernetes/apis') {
    const groups = new Map()
    for (const [resource, k] of Object.entries(kinds)) {
      if ((k.group === '') !== path.endsWith('/api')) continue
      const group = groups.get(k.group) ?? { metadata: { name: k.group }, versions: [{ version: k.version, resources: [] }] }
      groups.set(k.group, group)
      group.versions[0].resources.push({ resource, responseKind: { kind: k.kind }, scope: k.namespaced ? 'Namespaced' : 'Cluster', verbs: ['create', 'delete', 'get', 'list', 'update', 'watch'] })
    }
    return answer(response, 200, { kind: 'APIGroupDiscoveryList', items: [...groups.values()] })
  }
  const object = /^\/kubernetes\/apis?(?:\/[^/]+)?\/v1(?:\/namespaces\/([^/]+))?\/([a-z]+)(?:\/([^/]+))?$/.exec(path)
  if (object && store[object[2]]) {
    const [, namespace, resource, name] = object
    const chunks = []
    for await (const chunk of request) chunks.push(chunk)
    const body = chunks.length ? JSON.parse(Buffer.concat(chunks).toString()) : undefined
    const at = namespace && kinds[resource].namespaced ? `${namespace}/${name}` : name
    const known = store[resource].get(at)
    if (request.method === 'GET') return known ? answer(response, 200, known) : refuse(response, 404, 'NotFound', `${resource} "${name}" not found`)
    if (request.method === 'DELETE') {
      if (!known) return refuse(response, 404, 'NotFound', `${resource} "${name}" not found`)
      store[resource].delete(at)
      broadcast(`r:${resource}`, { type: 'DELETED', object: known })
      return answer(response, 200, { kind: 'Status', status: 'Success' })
    }
    if (request.method === 'PUT') {
      if (body.metadata.resourceVersion !== known?.metadata.resourceVersion) return refuse(response, 409, 'Conflict', `Operation cannot be fulfilled on ${resource} "${name}": the object has been modified; please apply your changes to the latest version and try again`)
      put(resource, body, 'MODIFIED')
      return answer(response, 200, body)
    }
    body.metadata.namespace = kinds[resource].namespaced ? namespace : undefined
    if (body.metadata.generateName && !body.metadata.name) body.metadata.name = body.metadata.generateName + Math.random().toString(36).slice(2, 7)
    if (resource === 'pods' && !body.spec?.containers) return refuse(response, 422, 'Invalid', `Pod "${body.metadata.name}" is invalid: spec.containers: Required value`, [{ reason: 'FieldValueRequired', message: 'Required value', field: 'spec.containers' }])
    if (body.spec?.nonsense) return refuse(response, 400, 'BadRequest', `Pod in version "v1" cannot be handled as a Pod: strict decoding error: unknown field "spec.nonsense"`)
    if (store[resource].has(key(body))) return refuse(response, 409, 'AlreadyExists', `${resource} "${body.metadata.name}" already exists`)
    if (url.searchParams.get('dryRun') !== 'All') {
      put(resource, body)
      if (resource === 'pods') setTimeout(() => schedule(body), 50)
    }
    return answer(response, 201, body)
  }
  if (path.startsWith('/api/') || path.startsWith('/kubernetes/')) return answer(response, 404, { message: 'not found' })
  const file = normalize(join(dist, path))
  if (file.startsWith(dist) && existsSync(file) && extname(file)) return answer(response, 200, readFileSync(file), types[extname(file)] ?? 'application/octet-stream')
  const index = join(dist, 'index.html')
  return existsSync(index) ? answer(response, 200, readFileSync(index), 'text/html') : answer(response, 404, 'not built', 'text/plain')
}

// ── the story of the mockups ────────────────────────────────────────────
const filters = ['NodeName', 'NodeUnschedulable', 'TaintToleration', 'NodeAffinity', 'NodePorts', 'NodeResourcesFit', 'VolumeRestrictions', 'NodeVolumeLimits', 'VolumeBinding', 'VolumeZone', 'PodTopologySpread', 'InterPodAffinity', 'DynamicResources', 'NodeDeclaredFeatures']
const scorers = [['TaintToleration', 3], ['NodeAffinity', 2], ['NodeResourcesFit', 1], ['PodTopologySpread', 2], ['InterPodAffinity', 2], ['DynamicResources', 2], ['NodeResourcesBalancedAllocation', 1], ['ImageLocality', 1]]
const full = 'PPPPSPSSSSPSSS'
const ok = (plugin, status = 'Success', micros = 4, more = {}) => ({ plugin, status, durationSeconds: micros / 1e6, ...more })
const groupBy = (list) => list.reduce((out, r) => ({ ...out, [r[1]]: [...(out[r[1]] ?? []), r] }), {})
const cpuOf = (pod) => (pod.spec.containers ?? []).reduce((sum, c) => sum + (parseFloat(c.resources?.requests?.cpu ?? '0') / (String(c.resources?.requests?.cpu).endsWith('m') ? 1000 : 1)), 0)

function cycleFor(pod, attempt, rejections, scored, chosen, when) {
  const names = [...store.nodes.keys()].sort()
  const states = names.map((n) => (rejections[n] ? full.slice(0, filters.indexOf(rejections[n][0])) + 'R' + 'N'.repeat(filters.length - filters.indexOf(rejections[n][0]) - 1) : full))
  const feasible = names.filter((n) => !rejections[n])
  const cycle = {
    pod: { namespace: pod.metadata.namespace, name: pod.metadata.name, uid: pod.metadata.uid },
    attempt,
    profile: 'default-scheduler',
    startTime: when ?? new Date().toISOString(),
    durationSeconds: 0.007,
    outcome: chosen ? 'scheduled' : 'unschedulable',
    selectedNode: chosen,
    message: chosen ? undefined : `0/${names.length} nodes are available: ` + Object.entries(groupBy(Object.values(rejections))).map(([r, l]) => `${l.length} ${r}`).join(', ') + '. preemption: 0/' + names.length + ' nodes are available.',
    nodes: { total: names.length, evaluated: names.length, feasible: feasible.length },
    extensionPoints: [{ name: 'preFilter', durationSeconds: 96e-6 }, { name: 'filter', durationSeconds: 412e-6 }],
    preEnqueue: [ok('SchedulingGates'), ok('DefaultPreemption'), ok('DynamicResources')],
    preFilter: filters.map((f, i) => ok(f, full[i] === 'S' ? 'Skip' : 'Success', 3 + i)),
    filter: { plugins: filters, nodes: names, states, reasons: names.flatMap((n) => (rejections[n] ? [{ node: n, plugin: rejections[n][0], reasons: [rejections[n][1]] }] : [])), durationSeconds: filters.map((_, i) => (i + 1) * 5e-6) },
  }
  if (!chosen) {
    cycle.extensionPoints.push({ name: 'postFilter', durationSeconds: 210e-6 })
    cycle.postFilter = [ok('DefaultPreemption', 'Unschedulable', 210, { reasons: ['preemption: 0/12 nodes are available: No preemption victims found for incoming pod'] })]
    return cycle
  }
  if (feasible.length > 1) {
    const raw = feasible.map((n, i) => scored?.[n]?.map((s) => s[0]) ?? [0, 0, 40 + (i * 7) % 50, i % 3, (i * 50) % 300, 0, 74, i % 2 ? 43 : 0])
    const normalized = feasible.map((n, i) => scored?.[n]?.map((s) => s[1]) ?? [100, 0, 40 + (i * 7) % 50, 100 - 30 * (i % 3), Math.round(((i * 50) % 300) / 3), 0, 74, i % 2 ? 43 : 0])
    const weighted = normalized.map((row) => row.map((v, p) => v * scorers[p][1]))
    cycle.score = { plugins: scorers.map(([name, weight]) => ({ name, weight })), skipped: ['VolumeBinding'], nodes: feasible, raw, normalized, weighted, totals: weighted.map((r) => r.reduce((a, b) => a + b, 0)), durationSeconds: scorers.map(() => 2e-5) }
    const best = cycle.score.totals.indexOf(Math.max(...cycle.score.totals))
    if (!scored) cycle.selectedNode = feasible[best]
    cycle.preScore = [...scorers.map(([n]) => ok(n)), ok('VolumeBinding', 'Skip', 1)]
    cycle.extensionPoints.push({ name: 'preScore', durationSeconds: 61e-6 }, { name: 'score', durationSeconds: 238e-6 })
  }
  cycle.reserve = [ok('VolumeBinding'), ok('DynamicResources')]
  cycle.preBind = [ok('VolumeBinding', 'Skip', 2), ok('DynamicResources', 'Skip', 1)]
  cycle.bind = [ok('DefaultBinder', 'Success', 5900)]
  cycle.extensionPoints.push({ name: 'reserve', durationSeconds: 7e-6 }, { name: 'preBind', durationSeconds: 3e-6 }, { name: 'bind', durationSeconds: 5.9e-3 })
  return cycle
}

function schedule(pod) {
  const rejections = {}
  for (const node of store.nodes.values()) {
    const used = [...store.pods.values()].filter((p) => p.spec.nodeName === node.metadata.name).reduce((s, p) => s + cpuOf(p), 0)
    if (node.spec?.taints?.length) rejections[node.metadata.name] = ['TaintToleration', 'node(s) had untolerated taint(s)']
    else if (used + cpuOf(pod) > Number(node.status.allocatable.cpu)) rejections[node.metadata.name] = ['NodeResourcesFit', 'Insufficient cpu']
  }
  const fits = [...store.nodes.keys()].filter((n) => !rejections[n]).sort()
  const cycle = cycleFor(pod, 1, rejections, undefined, fits[0])
  record(cycle)
  if (cycle.selectedNode) put('pods', { ...pod, metadata: { ...pod.metadata }, spec: { ...pod.spec, nodeName: cycle.selectedNode } }, 'MODIFIED')
  else put('pods', { ...pod, metadata: { ...pod.metadata }, status: { phase: 'Pending', conditions: [{ type: 'PodScheduled', status: 'False', reason: 'Unschedulable', message: cycle.message }] } }, 'MODIFIED')
}

const ago = (seconds) => new Date(Date.now() - seconds * 1000).toISOString()
function node(name, zone, cpu, mem, { gpu, taint, labels } = {}) {
  const amounts = { cpu: String(cpu), memory: `${mem}Gi`, pods: '110', ...(gpu ? { 'nvidia.com/gpu': String(gpu) } : {}) }
  put('nodes', {
    apiVersion: 'v1',
    kind: 'Node',
    metadata: { name, creationTimestamp: ago(2400), labels: { 'kubernetes.io/hostname': name, 'topology.kubernetes.io/zone': zone, ...labels } },
    spec: taint ? { taints: [taint] } : {},
    status: { capacity: amounts, allocatable: amounts, conditions: [{ type: 'Ready', status: 'True' }] },
  })
}
const owners = { web: ['shop', 'Deployment'], api: ['shop', 'Deployment'], cache: ['shop', 'StatefulSet'], search: ['shop', 'StatefulSet'], olap: ['shop', 'StatefulSet'], ingress: ['edge', 'Deployment'], etl: ['batch', 'Job'], trainer: ['ml', 'Job'], infer: ['ml', 'Deployment'], agent: ['kube-system', 'DaemonSet'] }
const sizes = { web: [1.5, 3], api: [1, 2], cache: [2, 6], search: [2, 8], olap: [2, 26], ingress: [1, 1], etl: [4, 8], trainer: [8, 64], infer: [4, 16], agent: [0.2, 1] }
let counter = 0
function pod(short, nodeName, status, name) {
  const app = short.replace(/-\d+$/, '')
  const [namespace, kind] = owners[app] ?? ['default', 'Job']
  const [cpu, mem] = sizes[app] ?? [1, 1]
  const object = {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name: name ?? (/-\d+$/.test(short) ? short : `${short}-7f9c-${(++counter + 4000).toString(36)}`), namespace, creationTimestamp: ago(60 + ((counter * 97) % 2300)), labels: { app }, ownerReferences: [{ kind, name: app, controller: true }] },
    spec: { nodeName, schedulerName: 'default-scheduler', priority: 0, containers: [{ name: app, image: `registry.example/${namespace}/${app}:1`, resources: { requests: { cpu: String(cpu), memory: `${mem}Gi`, ...(app === 'trainer' ? { 'nvidia.com/gpu': '4' } : {}) } } }] },
    status: status ?? { phase: 'Running' },
  }
  put('pods', object)
  return object
}

if (!args.empty) {
  for (const name of ['default', 'kube-system', 'shop', 'edge', 'batch', 'ml']) put('namespaces', { apiVersion: 'v1', kind: 'Namespace', metadata: { name } })
  const gpu = { key: 'nvidia.com/gpu', value: 'present', effect: 'NoSchedule' }
  const batch = { key: 'dedicated', value: 'batch', effect: 'NoSchedule' }
  const TT = ['TaintToleration', 'node(s) had untolerated taint(s)']
  if (Number(args.nodes) > 12) {
    const n = Number(args.nodes)
    for (let i = 0; i < n; i++) node(`node-${String(i).padStart(4, '0')}`, `zone-${'abc'[i % 3]}`, 32, 128, { taint: i % 9 === 0 ? gpu : undefined, gpu: i % 9 === 0 ? 8 : 0 })
    for (let i = 0; i < n * 2; i++) pod(['web', 'api', 'cache-' + i, 'etl-' + i, 'agent'][i % 5], `node-${String(i % n).padStart(4, '0')}`)
    const rejections = {}
    for (let i = 0; i < n; i++) if (i % 9 === 0) rejections[`node-${String(i).padStart(4, '0')}`] = TT
    const it = pod('web', undefined, { phase: 'Pending' }, 'web-7f9c-x2k4')
    const cycle = cycleFor(it, 1, rejections, undefined, 'x')
    record(cycle)
    put('pods', { ...it, spec: { ...it.spec, nodeName: cycle.selectedNode } }, 'MODIFIED')
  } else {
    const pool = (p, more) => ({ pool: p, ...more })
    const ssd = { disktype: 'ssd' }
    const list = [
      ['a1', 16, 64, { labels: pool('general') }, 'web api api api search-0 etl-0 agent'],
      ['a2', 16, 64, { labels: pool('general') }, 'web api api cache-0 cache-1 agent'],
      ['a3', 16, 64, { labels: pool('general') }, 'web api cache-2 agent'],
      ['a4', 32, 256, { labels: pool('gpu'), gpu: 8, taint: gpu }, 'trainer-0 infer infer agent'],
      ['b1', 16, 64, { labels: pool('general', ssd) }, 'web web cache-3 etl-1 agent'],
      ['b2', 16, 64, { labels: pool('general', ssd) }, 'web api etl-2 agent'],
      ['b3', 16, 64, { labels: pool('general') }, 'api cache-4 ingress ingress agent'],
      ['b4', 32, 256, { labels: pool('gpu'), gpu: 8, taint: gpu }, 'trainer-1 trainer-2 agent'],
      ['c1', 16, 64, { labels: pool('general') }, 'web search-1 olap-0 olap-1 agent'],
      ['c2', 16, 64, { labels: pool('general') }, 'api api ingress agent'],
      ['c3', 16, 64, { labels: pool('general', ssd) }, 'web api cache-5 ingress agent'],
      ['c4', 32, 128, { labels: pool('batch'), taint: batch }, 'etl-3 etl-4 etl-5 etl-6 agent'],
    ]
    for (const [n, cpu, mem, more, pods] of list) {
      node(`node-${n}`, `zone-${n[0]}`, cpu, mem, more)
      for (const p of pods.split(' ')) pod(p, `node-${n}`)
    }
    const cpu = ['NodeResourcesFit', 'Insufficient cpu']
    const rejections = { 'node-a1': cpu, 'node-a4': TT, 'node-b4': TT, 'node-c1': ['NodeResourcesFit', 'Insufficient memory'], 'node-c2': ['NodeAffinity', "node(s) didn't match Pod's node affinity/selector"], 'node-c4': TT }
    const scored = Object.fromEntries(
      [
        ['b2', [0, 100], [100, 100], [56, 56], [2, 50], [150, 25], [0, 0], [74, 74], [43, 43]],
        ['a3', [0, 100], [0, 0], [65, 65], [2, 50], [300, 100], [0, 0], [74, 74], [43, 43]],
        ['a2', [0, 100], [0, 0], [46, 46], [2, 50], [300, 100], [0, 0], [74, 74], [43, 43]],
        ['b3', [0, 100], [0, 0], [64, 64], [0, 100], [200, 50], [0, 0], [74, 74], [0, 0]],
        ['c3', [0, 100], [80, 80], [61, 61], [2, 50], [100, 0], [0, 0], [74, 74], [43, 43]],
        ['b1', [0, 100], [80, 80], [49, 49], [4, 0], [150, 25], [0, 0], [74, 74], [43, 43]],
      ].map(([n, ...s]) => [`node-${n}`, s]),
    )
    const all = (reason) => Object.fromEntries([...store.nodes.keys()].map((n) => [n, n.endsWith('4') ? TT : reason]))
    const pending = (name, cycle) => {
      const p = store.pods.get(`${cycle.pod.namespace}/${name}`)
      put('pods', { ...p, status: { phase: 'Pending', conditions: [{ type: 'PodScheduled', status: 'False', reason: 'Unschedulable', message: cycle.message }] } })
    }
    for (const p of [...store.pods.values()].slice(0, 8)) record(cycleFor(p, 1, {}, undefined, 'x', ago(900)))
    const search = pod('search-2', undefined)
    const c1 = cycleFor(search, 4, all(['VolumeBinding', 'node(s) had volume node affinity conflict']), undefined, undefined, ago(100))
    record(c1)
    pending('search-2', c1)
    const trainer = pod('trainer-3', undefined)
    const c2 = cycleFor(trainer, 2, all(['NodeResourcesFit', 'Insufficient nvidia.com/gpu']), undefined, undefined, ago(80))
    record(c2)
    pending('trainer-3', c2)
    put('pods', { apiVersion: 'v1', kind: 'Pod', metadata: { name: 'report-28814-q7m2d', namespace: 'batch', creationTimestamp: ago(51) }, spec: { schedulingGates: [{ name: 'example.com/quota' }], containers: [{ name: 'r', image: 'r' }] }, status: { phase: 'Pending', conditions: [{ type: 'PodScheduled', status: 'False', reason: 'SchedulingGated' }] } })
    const web = pod('web', 'node-b2', undefined, 'web-7f9c-x2k4')
    record(cycleFor(web, 1, all(cpu), undefined, undefined, ago(71)))
    record(cycleFor(web, 2, all(cpu), undefined, undefined, ago(26)))
    record(cycleFor(web, 3, rejections, scored, 'node-b2', ago(5)))
    recordStories({ record, pod, cycleFor, names: [...store.nodes.keys()].sort(), ago, ok })
  }
}

const server = createServer((request, response) => {
  handle(request, response).catch((error) => answer(response, 500, { message: String(error) }))
})
server.on('upgrade', upgrade)
server.listen(Number(args.port), '127.0.0.1', () => console.log(`ready: http://127.0.0.1:${server.address().port} (mock)`))
