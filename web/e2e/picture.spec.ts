// The README's picture: PICTURE=docs/decision.png npx playwright test --project=special

import { expect, node, test } from './simulator'

const file = process.env.PICTURE ?? ''

const gpu = { key: 'nvidia.com/gpu', value: 'present', effect: 'NoSchedule' }
const batch = { key: 'dedicated', value: 'batch', effect: 'NoSchedule' }
const nodes: { name: string; labels?: Record<string, string>; taint?: object; pods: string }[] = [
  { name: 'node-a1', pods: 'web api api api search etl etl agent' },
  { name: 'node-a2', pods: 'web api api session session agent' },
  { name: 'node-a3', pods: 'web api session agent' },
  { name: 'node-a4', taint: gpu, pods: 'trainer agent' },
  { name: 'node-b1', labels: { disktype: 'ssd' }, pods: 'web web session etl agent' },
  { name: 'node-b2', labels: { disktype: 'ssd' }, pods: 'web api etl agent' },
  { name: 'node-b3', pods: 'api session ingress ingress agent' },
  { name: 'node-b4', taint: gpu, pods: 'trainer trainer agent' },
  { name: 'node-c1', pods: 'web search olap olap agent' },
  { name: 'node-c2', labels: { 'kubernetes.io/arch': 'arm64' }, pods: 'api api ingress agent' },
  { name: 'node-c3', labels: { disktype: 'ssd' }, pods: 'web api session ingress agent' },
  { name: 'node-c4', taint: batch, pods: 'etl etl etl agent' },
]
const sizes: Record<string, [cpu: string, memory: string]> = {
  web: ['1500m', '3Gi'],
  api: ['1', '2Gi'],
  search: ['2', '8Gi'],
  session: ['2', '6Gi'],
  etl: ['4', '8Gi'],
  ingress: ['1', '1Gi'],
  olap: ['2', '26Gi'],
  trainer: ['7', '24Gi'],
  cache: ['1', '4Gi'],
  agent: ['200m', '1Gi'],
}
const zone = 'topology.kubernetes.io/zone'
const region = 'topology.kubernetes.io/region'
const arch = 'kubernetes.io/arch'

function pod(app: string, name: string, spec: object) {
  const [cpu, memory] = sizes[app] ?? ['1', '1Gi']
  return {
    metadata: { name, namespace: 'shop', labels: { app } },
    spec: {
      containers: [{ name: app, image: `registry.k8s.io/pause:3.10`, resources: { requests: { cpu, memory } } }],
      ...spec,
    },
  }
}
const selects = (app: string) => ({ labelSelector: { matchLabels: { app } } })
const asked = {
  affinity: {
    nodeAffinity: {
      requiredDuringSchedulingIgnoredDuringExecution: {
        nodeSelectorTerms: [{ matchExpressions: [{ key: arch, operator: 'In', values: ['amd64'] }] }],
      },
      preferredDuringSchedulingIgnoredDuringExecution: [
        { weight: 80, preference: { matchExpressions: [{ key: 'disktype', operator: 'In', values: ['ssd'] }] } },
      ],
    },
    podAffinity: {
      requiredDuringSchedulingIgnoredDuringExecution: [{ ...selects('cache'), topologyKey: region }],
      preferredDuringSchedulingIgnoredDuringExecution: [
        { weight: 50, podAffinityTerm: { ...selects('api'), topologyKey: zone } },
      ],
    },
  },
  topologySpreadConstraints: [
    { ...selects('web'), maxSkew: 1, topologyKey: zone, whenUnsatisfiable: 'ScheduleAnyway' },
  ],
}

test('a picture of a decision', async ({ page, simulator }) => {
  const create = (body: object) => simulator.kube('POST', '/api/v1/namespaces/shop/pods', body)
  await simulator.kube('POST', '/api/v1/namespaces', { metadata: { name: 'shop' } })
  let count = 0
  for (const { name, labels, taint, pods } of nodes) {
    const made = node(name, {
      cpu: '16',
      labels: { [zone]: `zone-${name[5]}`, [region]: 'tokyo', [arch]: 'amd64', ...labels },
    })
    const amounts = { cpu: '16', memory: '64Gi', pods: '110' }
    await simulator.kube('POST', '/api/v1/nodes', {
      ...made,
      spec: taint ? { taints: [taint] } : {},
      status: { ...made.status, capacity: amounts, allocatable: amounts },
    })
    for (const app of pods.split(' ')) await create(pod(app, `${app}-${++count}`, { nodeName: name }))
  }
  await create(pod('web', 'web-7f9c-x2k4', asked))
  await page.goto(`${simulator.url}/decisions/shop/web-7f9c-x2k4?node=node-a1&plugin=NodeResourcesFit`)
  await expect(page.getByTestId('explanation')).toContainText('fits no node')
  await create(pod('cache', 'cache-0', { nodeName: 'node-a2' }))
  await expect(page.getByTestId('explanation')).toContainText('ahead of')
  await page.waitForLoadState('networkidle')
  await page.mouse.move(700, 890)
  await page.screenshot({ path: file })
})
