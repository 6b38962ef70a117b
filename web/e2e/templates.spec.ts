// Each template is applied to the real API server, and its situation ends as promised.

import { freeNames } from '../src/features/create/model/freeNames'
import type { Expected } from '../src/features/create/model/situations'
import { templates } from '../src/features/create/model/templates'
import { objections } from './axe'
import { expect, inWorkspace, refused, refusedQuestion, Simulator, test, workspaceErrors } from './simulator'
import type { Page } from '@playwright/test'

interface PodOf {
  metadata: { name: string; uid: string }
  spec: { nodeName?: string }
  status: { conditions?: { type: string; status: string; reason?: string }[] }
}

/** Opens the dialog, chooses a template by its card and creates it. */
async function createFrom(page: Page, url: string, id: string): Promise<void> {
  await page.goto(url)
  await page.getByRole('button', { name: 'Create', exact: true }).first().click()
  await page.getByTestId('templates').click()
  await page.locator(`[data-template="${id}"]`).click()
  await expect(page.getByTestId('look-for')).toBeVisible()
  await page.getByTestId('create-submit').click()
  const dialog = page.getByRole('dialog', { name: 'Create' })
  // A changed object would wait for a review.
  await expect(dialog, await page.getByTestId('create-report').allInnerTexts().then(String)).toBeHidden()
}

async function podsOf(simulator: Simulator, prefix: string): Promise<PodOf[]> {
  const { items } = await simulator.kube<{ items: PodOf[] }>('GET', '/api/v1/pods')
  return items.filter((pod) => pod.metadata.name.startsWith(prefix))
}

/** The plugins that rejected nodes in the newest attempts of the pods. */
async function rejecters(simulator: Simulator, pods: readonly PodOf[]): Promise<Set<string>> {
  const found = new Set<string>()
  for (const { metadata } of pods) {
    const { items } = await simulator.call<{ items: { attempt: number }[] }>('GET', `/api/v1/results/${metadata.uid}`)
    const cycle = await simulator.call<{ explanation: { rejections?: { plugin: string }[] } }>(
      'GET',
      `/api/v1/results/${metadata.uid}/${items.at(-1)?.attempt}`
    )
    for (const { plugin } of cycle.explanation.rejections ?? []) found.add(plugin)
  }
  return found
}

/** Fails until the pods are as promised; the caller repeats it. */
async function compare(
  simulator: Simulator,
  { pods: prefix, count, outcome, nodes = [], by = [], evicts = [] }: Expected
): Promise<void> {
  const pods = await podsOf(simulator, prefix)
  const bound = pods.filter((pod) => pod.spec.nodeName)
  if (outcome === 'scheduled') {
    expect(bound).toHaveLength(count)
    expect(bound.map((pod) => pod.spec.nodeName).sort()).toEqual([...nodes].sort())
    for (const name of evicts) expect(await podsOf(simulator, name)).toEqual([])
    if (!evicts.length) return
    const { items } = await simulator.call<{ items: { nominatedNode?: string }[] }>(
      'GET',
      `/api/v1/results/${bound[0]?.metadata.uid}`
    )
    expect(items.map((attempt) => attempt.nominatedNode)).toContain(nodes[0])
  } else if (outcome === 'unschedulable') {
    const pending = pods.filter((pod) =>
      pod.status.conditions?.some((c) => c.type === 'PodScheduled' && c.reason === 'Unschedulable')
    )
    expect(pending).toHaveLength(count)
    expect([...(await rejecters(simulator, pending))]).toEqual(expect.arrayContaining([...by]))
  } else {
    expect(pods).toHaveLength(count)
    const { items, held } = await simulator.call<{ items: unknown[]; held?: { plugin: string }[] }>(
      'GET',
      `/api/v1/results/${pods[0]?.metadata.uid}`
    )
    expect([items, held?.map((answer) => answer.plugin)]).toEqual([[], by])
  }
}

const free = freeNames({ nodes: new Set(), pods: new Set() })
const gated = 'podGroup'
/** Need a plugin, which the preset of the same name applies, and reject pods with these words. */
const plugged = {
  coscheduling: { plugin: 'Coscheduling', says: /^optimistic rejection in PostFilter/ },
  elasticQuota: { plugin: 'CapacityScheduling', says: /is rejected in PreFilter because/ },
  numa: { plugin: 'NodeResourceTopologyMatch', says: /^cannot align container/ },
} as const

// Situations come first: the pods of a DaemonSet would take room on their nodes.
const ordered = templates
  .filter(({ id }) => id !== gated && !(id in plugged))
  .sort((a, b) => Math.sign(b.make(free).expected.length) - Math.sign(a.make(free).expected.length))
for (const template of ordered) {
  const { expected } = template.make(free)
  const promise = expected.map(({ count, outcome, by = [] }) => [count, outcome, ...by].join(' ')).join(', ')
  test(
    `${template.id}: ${promise || 'accepted'}`,
    { tag: template.id === 'toleration' ? '@main' : [] },
    async ({ page, simulator, allowed }) => {
      // The server sees a new class or kind only after a moment, and the dialog tries again.
      allowed.push(refused(403), refused(404), refusedQuestion)
      await createFrom(page, simulator.url, template.id)
      for (const one of expected) await expect(() => compare(simulator, one)).toPass({ timeout: 20_000 })
    }
  )
}

test('podGroup: with its feature gate, no member is placed; without, the chooser says what is missing', async ({
  page,
  simulator,
  allowed,
}) => {
  allowed.push(refusedQuestion)
  await page.goto(simulator.url)
  await page.keyboard.press('c')
  await page.getByTestId('templates').click()
  await expect(page.locator('[data-template="podGroup"]')).toContainText('--feature-gates GenericWorkload=true')
  const own = await Simulator.start(['--feature-gates', 'GenericWorkload=true'])
  try {
    await createFrom(page, own.url, gated)
    for (const one of templates.find(({ id }) => id === gated)?.make(free).expected ?? [])
      await expect(() => compare(own, one)).toPass({ timeout: 20_000 })
  } finally {
    await page.close() // its requests would fail when the server goes
    await own.stop()
  }
})

for (const [id, { plugin, says }] of Object.entries(plugged)) {
  test(
    `${id}: its preset applies the plugin and creates the cluster; without the plugin, the chooser says so`,
    { tag: id === 'coscheduling' ? '@main' : [] },
    async ({ page, simulator, allowed }) => {
      test.setTimeout(120_000)
      allowed.push(...workspaceErrors)
      await page.goto(simulator.url)
      await page.keyboard.press('c')
      await page.getByTestId('templates').click()
      await expect(page.locator(`[data-template="${id}"]`)).toContainText(`Needs the plugin ${plugin}`)
      await page.goto(`${simulator.url}/scheduler`)
      await page.locator(`[data-try-preset="${id}"]`).click()
      const shown = await inWorkspace(page, '/decisions')
      expect(shown.url).toContain('/branches/try-')
      for (const one of templates.find((template) => template.id === id)?.make(free).expected ?? [])
        await expect(() => compare(shown, one)).toPass({ timeout: 30_000 })
      // Pods are tried again and again, for one reason or another. What is kept tells of the
      // plugin's, of which the page shows the most frequent.
      await page.goto(`${shown.url}/decisions?plugin=${plugin}`)
      await expect(page.getByRole('button', { name: says }).first()).toBeVisible()
      await page.goto(`${shown.url}/scheduler?view=resources`)
      await expect(page.getByTestId('custom-resources')).toContainText('with the plugin')
    }
  )
}

test(
  'the chooser can be searched and used by keyboard, in both languages, without objections of axe',
  { tag: '@main' },
  async ({ page, simulator }) => {
    await page.goto(simulator.url)
    await page.keyboard.press('c')
    await page.getByTestId('templates').press('Enter')
    const chooser = page.getByTestId('template-chooser')
    await expect(chooser.locator('[data-template]')).toHaveCount(templates.length)
    expect(await objections(page, { within: 'dialog[open]' })).toEqual([])
    await page.keyboard.type('preempt')
    await expect(chooser.locator('[data-template]')).not.toHaveCount(templates.length)
    await expect(chooser.locator('[data-template="fullNode"]')).toBeVisible()
    await page.keyboard.type(' nothing like it')
    await expect(chooser.getByRole('status')).toContainText('No template matches')
    // Escape clears the search, then closes the chooser, and leaves the dialog open.
    await page.keyboard.press('Escape')
    await expect(chooser.locator('[data-template]')).toHaveCount(templates.length)
    await page.keyboard.press('Escape')
    await expect(chooser).toBeHidden()
    await expect(page.getByRole('dialog', { name: 'Create' })).toBeVisible()
    await expect(page.getByTestId('templates')).toBeFocused()
    await page.keyboard.press('Enter')
    await chooser.locator('[data-template="fullNode"]').press('Enter')
    await expect(page.getByRole('textbox', { name: 'Objects to create, as YAML' })).toBeFocused()
    await page.evaluate(() => localStorage.setItem('language', 'ja'))
    await page.reload()
    await page.keyboard.press('c')
    await page.getByTestId('templates').click()
    await expect(chooser.locator('[data-template="fullNode"]')).toContainText('満杯のノードと優先度')
  }
)
