// Nothing overlaps, nothing is cut without its whole text at hand, every target is large
// enough, and no page scrolls sideways: on every page and dialog, from a phone to a large
// screen, at 200 % zoom, in both themes and languages. One browser page visits each place
// once per language; its window changes size in place.

import type { CDPSession, Page } from '@playwright/test'
import { faults } from './boxes'
import { endSweep, runToFail } from './scenarios'
import { createUrgent, expect, node, pod, test, type Simulator } from './simulator'

interface Size {
  name: string
  width: number
  height: number
  /** Device pixels per CSS pixel; 2 for a zoom of 200 %. */
  scale: number
}
const screen = (width: number, height: number): Size => ({ name: `${width}`, width, height, scale: 1 })
/** A zoom of 200 % halves the window in CSS pixels. */
const zoomed = (width: number, height: number): Size => ({
  name: `${width} at 200 %`,
  width: width / 2,
  height: height / 2,
  scale: 2,
})
const sizes: readonly Size[] = [
  screen(390, 844),
  screen(768, 1024),
  screen(1180, 820),
  screen(1440, 900),
  screen(1920, 1080),
  screen(2560, 1440),
  zoomed(1280, 800),
  zoomed(1440, 900),
  zoomed(1920, 1080),
]

const web = 'checkout-frontend-production-7f9c6d5b4c'
const longNode = 'ip-10-0-123-45.ap-northeast-1.compute.internal'

/** Long names, three zones, and one pod of each fate. */
async function fill(simulator: Simulator): Promise<void> {
  const zones = ['ap-northeast-1a', 'ap-northeast-1c', 'ap-northeast-1d']
  const names = [
    longNode,
    'ip-10-0-123-46.ap-northeast-1.compute.internal',
    'node-b1',
    'node-b2',
    'gpu-pool-general-purpose-0001',
    'gpu-pool-general-purpose-0002',
  ]
  for (const [i, name] of names.entries()) {
    await simulator.kube(
      'POST',
      '/api/v1/nodes',
      node(name, {
        taint: i === 5,
        labels: {
          'topology.kubernetes.io/zone': zones[i % 3] ?? '',
          'node.kubernetes.io/instance-type': 'm7i.16xlarge',
        },
      })
    )
  }
  await simulator.ready(...names.slice(0, 5))
  const create = (body: object) => simulator.kube('POST', '/api/v1/namespaces/default/pods', body)
  for (let i = 0; i < 9; i++) await create(pod(`${web}-x2k${i}q`, '1500m'))
  for (let i = 0; i < 4; i++) await create(pod(`cache-${i}`, '750m'))
  await create({
    ...pod('waits-for-quota'),
    spec: {
      ...pod('waits-for-quota').spec,
      schedulingGates: [{ name: 'example.com/waits-for-the-quota-of-the-team' }],
    },
  })
  await create({
    ...pod('nobody-schedules-this-pod'),
    spec: { ...pod('x').spec, schedulerName: 'a-scheduler-that-does-not-exist' },
  })
  await create(pod('too-big-for-every-node-of-this-cluster', '64'))
  await createUrgent(simulator, 'urgent-billing-reconciliation-27', '7')
}

interface Place {
  path: string
  /** Visible once the place is drawn. */
  shown: string
  /** What to do there before measuring. */
  act?: (page: Page) => Promise<unknown>
}
const press =
  (...keys: string[]) =>
  async (page: Page) => {
    for (const key of keys) await page.keyboard.press(key)
  }
const dialog = 'dialog[open]'
const menu = (name: 'import' | 'export' | 'reset') => async (page: Page) => {
  await page.getByTestId('transfer').getByRole('button').click()
  await page.getByTestId('transfer').getByRole('menuitem').nth({ import: 0, export: 1, reset: 3 }[name]).click()
  await expect(page.locator(dialog)).toBeVisible()
}
/** The name of a pod that preemption has left on its node. */
async function survivor(simulator: Simulator): Promise<string> {
  const { items } = await simulator.kube<{
    items: { metadata: { name: string; deletionTimestamp?: string }; spec: { nodeName?: string } }[]
  }>('GET', '/api/v1/namespaces/default/pods')
  const found = items.find(
    ({ metadata, spec }) => metadata.name.startsWith(web) && spec.nodeName && !metadata.deletionTimestamp
  )
  if (!found) throw new Error('preemption has left no pod of the Deployment')
  return found.metadata.name
}

const placesOf = (name: string, decision = `/decisions/default/${name}`): Record<string, Place> => ({
  cluster: { path: '/', shown: `[data-node="${longNode}"]` },
  'cluster as tiles': { path: '/?view=tiles', shown: '[data-testid="tiles"]' },
  'cluster as table': { path: '/?view=table', shown: '[role="table"] [data-node]' },
  'decision on cards': { path: `/?pod=default/${name}`, shown: '[data-testid="decision-bar"]' },
  'decision on tiles': { path: `/?pod=default/${name}&view=tiles`, shown: '[data-testid="decision-bar"]' },
  'decision in the table': {
    path: `/?pod=default/too-big-for-every-node-of-this-cluster&view=table`,
    shown: '[data-testid="decision-bar"]',
  },
  decisions: { path: '/decisions', shown: '[data-key]' },
  'decisions, none found': { path: '/decisions?q=no-such-pod', shown: 'main .empty' },
  decision: { path: decision, shown: '[data-testid="filter-matrix"] [data-state]' },
  'decision, cell': {
    path: `${decision}?node=${longNode}&plugin=NodeResourcesFit`,
    shown: '[data-testid="decision-side"]',
  },
  'decision, rejected cell': {
    path: `${decision}?node=gpu-pool-general-purpose-0002&plugin=TaintToleration`,
    shown: '[data-testid="decision-side"]',
  },
  'decision, Queue': { path: `${decision}?stage=Queue`, shown: '[data-testid="decision-side"]' },
  'decision, Filter': { path: `${decision}?stage=Filter`, shown: '[data-testid="decision-side"]' },
  unschedulable: {
    path: '/decisions/default/too-big-for-every-node-of-this-cluster',
    shown: '[data-testid="filter-matrix"] [data-state]',
  },
  preemption: {
    path: '/decisions/default/urgent-billing-reconciliation-27?attempt=1',
    shown: '[data-testid="preemption"]',
  },
  'after preemption': {
    path: '/decisions/default/urgent-billing-reconciliation-27',
    shown: '[data-testid="queue-facts"]',
  },
  'two attempts': {
    path: '/decisions/default/urgent-billing-reconciliation-27?attempt=2&compare=1',
    shown: '[data-testid="filter-matrix"] [data-state]',
  },
  gated: { path: '/decisions/default/waits-for-quota', shown: 'main code' },
  'make it fit': {
    path: '/decisions/default/too-big-for-every-node-of-this-cluster',
    shown: '[data-testid="fit-panel"] [data-rank="1"]',
  },
  'a hypothesis': {
    path: '/decisions/default/too-big-for-every-node-of-this-cluster',
    shown: '[data-testid="fit-panel"] [data-rank="1"]',
    act: async (page) => {
      await page.locator('[data-rank="1"]').getByTestId('try').click()
      await expect(page.getByTestId('hypothesis-chip').first()).toBeVisible()
    },
  },
  'a hypothesis to apply': {
    path: '/decisions/default/too-big-for-every-node-of-this-cluster',
    shown: '[data-testid="fit-panel"] [data-rank="1"]',
    act: async (page) => {
      await page.getByTestId('apply-suggestion').first().click()
      await expect(page.getByTestId('apply-hypothesis-confirm')).toBeEnabled()
    },
  },
  'room for more': {
    path: `/capacity?pod=default/${name}&like=${longNode}&for=100`,
    shown: '[data-testid="nodes-needed"]',
  },
  'no room yet': { path: '/capacity', shown: 'main .empty' },
  pods: { path: '/resources/pods', shown: '[data-key]' },
  pod: { path: `/resources/pods?select=default/${name}`, shown: '[data-testid="object-detail"] .cm-line' },
  nodes: { path: '/resources/nodes', shown: '[data-key]' },
  'an empty kind': { path: '/resources/jobs', shown: 'main' },
  scheduler: { path: '/scheduler', shown: '.cm-line' },
  'scheduler, a draft': {
    path: '/scheduler',
    shown: '.cm-line',
    act: (page) => page.locator('[data-preset="twoProfiles"]').click(),
  },
  'scheduler, the difference': { path: '/scheduler?view=difference', shown: 'main' },
  'scheduler, no shadow': { path: '/scheduler?view=shadow', shown: '[data-testid="shadow-panel"]' },
  'scheduler, a draft judged': {
    path: '/scheduler',
    shown: '.cm-line',
    act: async (page) => {
      await page.locator('[data-preset="twoProfiles"]').click()
      await expect(page.getByTestId('consequences').getByRole('status').first()).toBeVisible()
    },
  },
  'scheduler, YAML': { path: '/scheduler?view=editor', shown: '.cm-line' },
  'scheduler, gates': { path: '/scheduler?view=gates', shown: '[data-testid="feature-gates"] li' },
  'scheduler, custom resources': { path: '/scheduler?view=resources', shown: '[data-testid="custom-resources"]' },
  'scheduler, revisions': { path: '/scheduler?view=revisions', shown: '[data-revision]' },
  'scheduler, arguments': { path: '/scheduler?args=NodeResourcesFit', shown: '.cm-line' },
  gangs: { path: '/batch/gangs', shown: '[data-try-preset]' },
  quotas: { path: '/batch/quotas', shown: '[data-try-preset]' },
  queues: { path: '/batch/queues', shown: '[data-testid="turn-on"]' },
  'NUMA nodes': { path: '/numa', shown: '[data-try-preset]' },
  sessions: { path: '/batch/sessions', shown: '[data-preset]' },
  flow: { path: '/batch/sessions?view=flow', shown: '[data-preset]' },
  'configuration of sessions': { path: '/batch/sessions?view=configuration', shown: '.cm-line' },
  why: { path: '/why', shown: '[data-pod]' },
  'what if': { path: '/what-if', shown: 'section' },
  glossary: { path: '/learn/glossary', shown: '[data-term]' },
  events: { path: '/events', shown: '[role="row"]' },
  replay: { path: '/replay', shown: 'main code' },
  scenarios: { path: '/scenarios', shown: '.cm-line' },
  'scenarios, a failed run': { path: '/scenarios', shown: '.cm-line', act: runToFail },
  'scenarios, the decision behind a failure': {
    path: '/scenarios',
    shown: '.cm-line',
    act: async (page) => {
      await runToFail(page)
      await page.getByTestId('open-decision').last().click()
      await expect(page.getByTestId('filter-matrix').locator('[data-state]').first()).toBeVisible()
    },
  },
  'scenarios, a comparison': {
    path: '/scenarios?against=default',
    shown: '.cm-line',
    act: async (page) => {
      await page.getByTestId('run').click()
      await expect(page.getByTestId('run-comparison')).toBeVisible()
    },
  },
  'scenarios, a sweep': {
    path: '/scenarios?file=sweep',
    shown: '.cm-line',
    act: async (page) => {
      await endSweep(page)
      await page.getByTestId('multiples').locator('.best').first().click()
      await expect(page.getByTestId('point').getByTestId('run-headline')).toBeVisible()
    },
  },
  'nothing here': { path: '/nowhere', shown: 'main' },
  palette: { path: '/', shown: `[data-node="${longNode}"]`, act: press('Control+k') },
  'palette, found': {
    path: '/',
    shown: `[data-node="${longNode}"]`,
    act: async (page) => {
      await page.keyboard.press('Control+k')
      await page.keyboard.type('node')
    },
  },
  help: { path: '/', shown: `[data-node="${longNode}"]`, act: press('?') },
  create: {
    path: '/',
    shown: `[data-node="${longNode}"]`,
    act: async (page) => {
      await page.keyboard.press('c')
      await expect(page.locator(`${dialog} .cm-line`).first()).toBeVisible()
    },
  },
  import: { path: '/', shown: `[data-node="${longNode}"]`, act: menu('import') },
  export: { path: '/', shown: `[data-node="${longNode}"]`, act: menu('export') },
  reset: { path: '/', shown: `[data-node="${longNode}"]`, act: menu('reset') },
  'the menu of a node': {
    path: '/',
    shown: `[data-node="${longNode}"]`,
    act: (page) => page.locator(`[data-node="${longNode}"]`).click({ button: 'right' }),
  },
})

/** Two frames: styles and layout are done, and what observes sizes has drawn again. */
const settled = (page: Page) =>
  page.evaluate(() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done))))

async function resize(session: CDPSession, { width, height, scale }: Size): Promise<void> {
  await session.send('Emulation.setDeviceMetricsOverride', { width, height, deviceScaleFactor: scale, mobile: false })
}

// A trace of the many windows would take longer than the test.
test.use({ trace: 'off', viewport: { width: 1440, height: 900 } })

for (const language of ['en', 'ja'] as const) {
  test(`every box of every page, in ${language}`, async ({ page, simulator }) => {
    test.setTimeout(400_000)
    const { items } = await simulator.kube<{ items: object[] }>('GET', '/api/v1/nodes')
    if (!items.length) await fill(simulator)
    await expect(async () => {
      const { status } = await simulator.kube<{ status: { nominatedNodeName?: string }; spec: object }>(
        'GET',
        '/api/v1/namespaces/default/pods/urgent-billing-reconciliation-27'
      )
      expect(status).toMatchObject({ phase: 'Running' })
    }).toPass()
    const places = placesOf(await survivor(simulator))
    await page.addInitScript((value) => {
      localStorage.setItem('language', value)
      localStorage.setItem('theme', 'light')
      // Motion moves boxes while they are measured.
      document.addEventListener('DOMContentLoaded', () =>
        document.head.insertAdjacentHTML(
          'beforeend',
          '<style>*, *::before, *::after { animation: none !important; transition: none !important }</style>'
        )
      )
    }, language)
    const session = await page.context().newCDPSession(page)
    const usual = sizes.find((s) => s.name === '1440') ?? screen(1440, 900)
    const found = new Map<string, string[]>()
    const only = process.env.PLACE
    for (const [name, { path, shown, act }] of Object.entries(places)) {
      if (only && !name.includes(only)) continue
      await resize(session, usual)
      await page.goto(simulator.url + path)
      await expect(page.getByTestId('starting')).toHaveCount(0)
      await expect(page.locator(shown).first(), name).toBeVisible({ timeout: 20_000 })
      await act?.(page)
      for (const size of sizes) {
        await resize(session, size)
        // Themes differ in colours: one window suffices to see that they have the same boxes.
        for (const theme of size === usual ? ['dark', 'light'] : ['light']) {
          await page.evaluate((value) => (document.documentElement.dataset.theme = value), theme)
          await settled(page)
          for (const fault of await faults(page)) {
            const at = `${name}: ${fault}`
            const where = found.get(at) ?? []
            if (where[where.length - 1] !== size.name) found.set(at, [...where, size.name])
          }
          if (process.env.SHOTS)
            await page.screenshot({
              path: `${process.env.SHOTS}/${language}-${name.replace(/\W+/g, '-')}-${size.name.replace(/\W+/g, '-')}-${theme}.png`,
            })
        }
      }
    }
    expect([...found].map(([fault, at]) => `${fault} (${at.join(', ')})`)).toEqual([])
  })
}
