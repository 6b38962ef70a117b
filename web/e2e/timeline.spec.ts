// The time line: the past on the map, what changed, from a decision to what its scheduler saw,
// undo, and branches.

import type { Page } from '@playwright/test'
import { objections } from './axe'
import { faults } from './boxes'
import { expect, node, pod, refused, test, type Simulator } from './simulator'

test.describe.configure({ mode: 'serial' })
test.use({ restarts: true })

const create = (simulator: Simulator, name: string, cpu?: string) =>
  simulator.kube('POST', '/api/v1/namespaces/default/pods', pod(name, cpu))
const playhead = (page: Page) => page.getByTestId('playhead')
const card = (page: Page, name: string) => page.locator(`[data-node="${name}"]`)
/**
 * What one program does within a second is one step, so the next request waits until the last step
 * is older.
 */
async function apart(simulator: Simulator): Promise<void> {
  await expect(async () => {
    const { steps: all } = await simulator.call<{ steps: { time: string }[] }>('GET', '/api/v1/timeline')
    expect(Date.now() - Date.parse(all.at(-1)?.time ?? '')).toBeGreaterThan(1500)
  }).toPass()
}
const steps = (page: Page) => page.getByTestId('steps').getByRole('button')

test('an empty time line says what fills it', async ({ page, simulator }) => {
  await page.goto(`${simulator.url}/timeline`)
  await expect(page.getByText(/Nothing has happened yet|No steps in this part/)).toBeVisible()
})

test(
  'a step leads to the cluster as it was, which cannot be changed, and back to now',
  { tag: '@main' },
  async ({ page, simulator }) => {
    for (const name of ['n1', 'n2']) await simulator.kube('POST', '/api/v1/nodes', node(name))
    await simulator.ready('n1', 'n2')
    for (const name of ['web-1', 'web-2']) await create(simulator, name)
    await expect(async () => {
      const { items } = await simulator.kube<{ items: { spec: { nodeName?: string } }[] }>(
        'GET',
        '/api/v1/namespaces/default/pods'
      )
      expect(items.filter(({ spec }) => spec.nodeName)).toHaveLength(2)
    }).toPass()
    await apart(simulator)
    await create(simulator, 'late')

    await page.goto(`${simulator.url}/`)
    await page.getByRole('navigation', { name: 'Places' }).getByRole('link', { name: 'Past' }).click()
    await expect(steps(page).filter({ hasText: 'late' })).toBeVisible()
    await expect(page.getByTestId('past-band')).toHaveCount(0)
    await expect(page.getByTestId('connection')).toHaveText('live')

    // The step before the newest pod.
    await steps(page).nth(1).click()
    await expect(page).toHaveURL(/at=\d+/)
    const band = page.getByTestId('past-band')
    await expect(band).toContainText('The cluster as it was: 2 nodes')
    await expect(page.getByTestId('connection')).toHaveText('past')
    await expect(page.locator('main').getByRole('button', { name: 'late', exact: true })).toHaveCount(0)
    // Nothing there changes the cluster.
    await expect(page.getByRole('button', { name: 'Create', exact: true })).toHaveCount(0)
    await expect(page.getByRole('button', { name: /^Actions/ })).toHaveCount(0)
    await page.keyboard.press('c')
    await expect(page.getByRole('dialog')).toHaveCount(0)

    await page.getByTestId('back-to-now').click()
    await expect(band).toHaveCount(0)
    await expect(page.locator('main').getByRole('button', { name: 'late', exact: true })).toBeVisible()
    // The browser's history leads into the past again.
    await page.goBack()
    await expect(band).toBeVisible()
  }
)

test('the playhead moves by keyboard and by pointer', async ({ page, simulator }) => {
  await page.goto(`${simulator.url}/timeline`)
  await expect(steps(page).first()).toBeVisible()
  await playhead(page).focus()
  await page.keyboard.press('PageUp')
  await expect(page.getByTestId('past-band')).toBeVisible()
  const first = await playhead(page).getAttribute('aria-valuenow')
  await page.keyboard.press('ArrowLeft')
  await expect(playhead(page)).not.toHaveAttribute('aria-valuenow', first ?? '')
  await page.keyboard.press('Home')
  await expect(playhead(page)).toHaveAttribute('aria-valuenow', '0')
  await page.keyboard.press('End')
  await expect(page.getByTestId('past-band')).toHaveCount(0)

  const box = await page.locator('.area').boundingBox()
  if (!box) throw new Error('no tracks')
  await page.mouse.move(box.x + box.width * 0.9, box.y + 40)
  await page.mouse.down()
  await page.mouse.move(box.x + box.width * 0.5, box.y + 40, { steps: 4 })
  await page.mouse.up()
  await expect(page.getByTestId('past-band')).toBeVisible()
  const now = Number(await playhead(page).getAttribute('aria-valuenow'))
  expect(Math.abs(now - 500)).toBeLessThan(60)
  await page.keyboard.press('Escape')
  await expect(page.getByTestId('past-band')).toHaveCount(0)
})

test('two moments are compared on the map and as a list', async ({ page, simulator }) => {
  await page.goto(`${simulator.url}/timeline`)
  await steps(page).last().click()
  await expect(page.getByTestId('past-band')).toBeVisible()
  await page.getByTestId('compare-with').click()
  await expect(page).toHaveURL(/from=\d+/)
  await expect(page.getByTestId('past-band')).toContainText('→')
  const changed = page.getByTestId('what-changed')
  await expect(changed).toContainText(/late/)
  await expect(changed).toContainText('Pods')
  // The one node or the other got it.
  await expect(page.locator('.pod.add').filter({ hasText: 'late' }).first()).toBeVisible()
  await page.getByRole('button', { name: 'Swap A and B' }).click()
  await expect(page.locator('.pod.del').filter({ hasText: 'late' }).first()).toBeVisible()
})

test('a decision leads to the cluster as the scheduler saw it', async ({ page, simulator }) => {
  await apart(simulator)
  await create(simulator, 'too-big', '64')
  await page.goto(`${simulator.url}/decisions/default/too-big`)
  await page.getByTestId('seen').click()
  await expect(page.getByTestId('past-band')).toContainText('The cluster as the scheduler saw it')
  await expect(card(page, 'n1')).toContainText('NodeResourcesFit')
  await page.getByRole('link', { name: 'Open decision' }).click()
  await expect(page).toHaveURL(/\/decisions\/default\/too-big/)
})

test('Ctrl+Z names the last step and takes it back', { tag: '@main' }, async ({ page, simulator, allowed }) => {
  allowed.push(refused(404))
  await apart(simulator)
  await create(simulator, 'mistake')
  await page.goto(`${simulator.url}/timeline`)
  await expect(steps(page).filter({ hasText: 'mistake' })).toBeVisible()
  await page.keyboard.press('Control+z')
  const dialog = page.getByTestId('undo-dialog')
  await expect(dialog).toContainText('Undo “Created Pod mistake”?')
  await expect(dialog).toContainText('will be deleted')
  expect(await objections(page, { within: '[data-testid="undo-dialog"]' })).toEqual([])
  await page.keyboard.press('Escape')
  await expect(dialog).toHaveCount(0)

  await page.getByTestId('undo').click()
  await expect(page.getByTestId('undo-confirm')).toBeFocused()
  await page.keyboard.press('Enter')
  await expect(page.getByText('Undone: Created Pod mistake')).toBeVisible()
  await expect(async () =>
    expect(
      (
        await simulator.kube<{ items: { metadata: { name: string } }[] }>('GET', '/api/v1/namespaces/default/pods')
      ).items.map(({ metadata }) => metadata.name)
    ).not.toContain('mistake')
  ).toPass()
})

test('a branch continues from a moment, is compared with the trunk, and is deleted', async ({ page, simulator }) => {
  test.setTimeout(180_000)
  await page.goto(`${simulator.url}/timeline`)
  await steps(page).filter({ hasText: 'late' }).last().click()
  await page.getByTestId('branch-here').click()
  const dialog = page.getByTestId('branch-dialog')
  await dialog.getByTestId('branch-name').fill('Not a name')
  await expect(dialog).toContainText('Use lower-case letters')
  await expect(dialog.getByTestId('branch-start')).toBeDisabled()
  await dialog.getByTestId('branch-name').fill('try')
  await dialog.getByTestId('branch-start').click()
  await expect(dialog.getByTestId('branch-open')).toBeEnabled({ timeout: 120_000 })
  await page.keyboard.press('Escape')

  await page.getByTestId('show-branches').click()
  const branch = page.getByTestId('branches').locator('[data-branch="try"]')
  await expect(branch).toContainText('running')
  await branch.getByRole('button', { name: 'Compare', exact: true }).click()
  await expect(page.getByTestId('branch-comparison')).toContainText('too-big')
  await page.getByTestId('workspace-switcher').click()
  const row = page.getByTestId('workspaces').locator('[data-branch="try"]')
  await row.getByRole('button').click()
  await page.getByRole('menuitem', { name: 'Close' }).click()
  await page.getByRole('dialog').getByRole('button', { name: 'Close and delete' }).click()
  await expect(branch).toHaveCount(0)
})

const views = {
  live: '/timeline',
  past: '/timeline?at=AT',
  difference: '/timeline?from=FROM&at=AT',
  branches: '/timeline?view=branches',
}

for (const [theme, language] of [
  ['light', 'en'],
  ['dark', 'ja'],
] as const) {
  test(`every view is accessible and fits, in the ${theme} theme, in ${language}`, async ({ page, simulator }) => {
    test.setTimeout(240_000)
    await page.addInitScript(([t, l]) => (localStorage.setItem('theme', t), localStorage.setItem('language', l)), [
      theme,
      language,
    ] as const)
    const { steps: all } = await simulator.call<{ steps: { moment: number }[] }>('GET', '/api/v1/timeline')
    const [from, at] = [String(all[0]?.moment), String(all.at(-1)?.moment)]
    const found: string[] = []
    for (const [name, path] of Object.entries(views)) {
      await page.setViewportSize({ width: 1440, height: 900 })
      await page.goto(simulator.url + path.replace('FROM', from).replace('AT', at))
      await expect(playhead(page)).toBeVisible()
      await expect(page.locator('.load')).toHaveCount(0)
      for (const line of await objections(page, {})) found.push(`${name}: ${line}`)
      for (const [width, height] of [
        [390, 844],
        [768, 1024],
        [1180, 820],
        [1440, 900],
        [2560, 1440],
      ] as const) {
        await page.setViewportSize({ width, height })
        await page.evaluate(() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done))))
        for (const line of await faults(page)) found.push(`${name}, ${width}: ${line}`)
      }
    }
    expect(found).toEqual([])
  })
}

test('a past time has the configuration of that time, also when no object has changed since, and so has a branch', async ({
  page,
  simulator,
}) => {
  test.setTimeout(120_000)
  const revisionAt = async (at: string) => {
    await page.goto(`${simulator.url}/timeline?at=${at}`)
    const band = page.getByTestId('past-band')
    await expect(band).toContainText(/revision \d+/)
    return Number(/revision (\d+)/.exec((await band.textContent()) ?? '')?.[1])
  }
  await apart(simulator)
  const before = new Date().toISOString()
  const revision = await revisionAt(before)
  await simulator.configure(
    'apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\npercentageOfNodesToScore: 70\n'
  )
  await expect.poll(() => revisionAt(new Date().toISOString())).toBe(revision + 1)
  expect(await revisionAt(before)).toBe(revision)
  // The list says so, too: the new revision comes after the playhead, and a click goes to it.
  const applied = page
    .getByTestId('steps')
    .locator('.here ~ li')
    .filter({ hasText: `revision ${revision + 1}` })
  await expect(applied).toHaveCount(1)
  await applied.getByRole('button').click()
  await expect(page.getByTestId('past-band')).toContainText(`revision ${revision + 1}`)
  await expect(page.getByTestId('steps').locator('[aria-current]')).toContainText(
    new RegExp(`revision ${revision + 1}`, 'i')
  )
  expect(await revisionAt(before)).toBe(revision)
  await page.getByTestId('branch-here').click()
  const asked: string[] = []
  page.on(
    'request',
    (request) =>
      request.url().endsWith('/api/v1/branches') && request.method() === 'POST' && asked.push(request.postData() ?? '')
  )
  await page.getByTestId('branch-start').click()
  await expect.poll(() => asked.map((body) => (JSON.parse(body) as { at: string }).at)).toEqual([before])
  await expect(page.getByTestId('branch-open')).toBeEnabled({ timeout: 60_000 })
  const { items } = await simulator.call<{ items: { path: string; from: { time: string } }[] }>(
    'GET',
    '/api/v1/branches'
  )
  const branch = items.find(({ from }) => Date.parse(from.time) === Date.parse(before))
  expect(branch).toBeDefined()
  expect(await (await simulator.send('GET', `${branch?.path}api/v1/schedulerconfiguration`)).text()).not.toContain(
    'percentageOfNodesToScore: 70'
  )
})
