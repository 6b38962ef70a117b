// Sessions and flows: turning the schedulers on, what a session decided and why a job does not run,
// configurations edited
// live, and the gap to the optimum of a flow.

import { objections } from './axe'
import { expect, inWorkspace, refused, test, workspaceErrors, type Simulator } from './simulator'

test.describe.configure({ mode: 'serial' })
test.beforeEach(({ allowed }) => void allowed.push(...workspaceErrors))

/** The workspace of the preset with queues. */
let queues: Simulator

test(
  'a preset turns the schedulers on, and the session says why a job does not run',
  { tag: '@main' },
  async ({ page, simulator }) => {
    await page.goto(`${simulator.url}/batch/sessions`)
    await expect(page.getByTestId('turn-on')).toBeVisible()
    await page.locator('[data-preset="queues"]').click()
    queues = await inWorkspace(page, '/batch/sessions')
    await expect(page).toHaveURL(/job=default\/serve-4/)

    // The first session after the preset: preempt undoes its evictions, and reclaim takes room back.
    const records = async () =>
      (await queues.call<{ items: { number: number; evicted: number }[] }>('GET', '/api/v1/sessions?kind=session'))
        .items
    await expect.poll(async () => (await records()).some(({ evicted }) => evicted > 0), { timeout: 30_000 }).toBe(true)
    const first = (await records()).findLast(({ evicted }) => evicted > 0)
    await page.goto(`${queues.url}/batch/sessions?session=${first?.number}&job=default/serve-4`)
    await expect(page.getByTestId('sessions-sentence')).toContainText('serve-4 does not run')
    await expect(page.getByTestId('sessions-sentence')).toContainText(
      'Preempt found 2 victims and undid the evictions.'
    )
    await expect(page.getByTestId('givers')).toContainText('job etl-2 of lower priority, 8 cpu')
    await expect(page.locator('[data-queue="research"]')).toContainText('48 of 38, asks 64')
    await expect(page.locator('[data-queue="research"]')).toContainText('32 + 4 + 2')
    await expect(page.locator('[data-action="preempt"] [data-kind="discarded"]')).toContainText(
      '2 evictions are undone'
    )
    await expect(page.locator('[data-action="reclaim"] [data-kind="pipelined"]')).toContainText('proportion')
    await expect(page.locator('[data-action="reclaim"] [data-kind="skipped"]').first()).toContainText(
      'one task of a job'
    )

    // The whole session, and then the next one.
    await page.getByTestId('all-jobs').click()
    await expect(page.locator('[data-action="allocate"]')).toContainText('lint-3-0')
    await page.getByTestId('newer').click()
    await expect(page.getByTestId('record-number')).not.toHaveText(String(first?.number))
  }
)

test('a job is chosen by keyboard, and the pages have no violations', async ({ page }) => {
  await page.goto(`${queues.url}/batch/sessions`)
  const job = page.locator('[data-job="train-9"] button')
  await job.focus()
  await page.keyboard.press('Enter')
  await expect(job).toHaveAttribute('aria-pressed', 'true')
  await expect(page.getByTestId('sessions-sentence')).toContainText('train-9 does not run')
  for (const colorScheme of ['light', 'dark'] as const) {
    await page.emulateMedia({ colorScheme })
    expect(await objections(page)).toEqual([])
  }
  await page.setViewportSize({ width: 390, height: 844 })
  expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(390)
  expect(await objections(page)).toEqual([])
})

test('a what-if about a pod of a job asks the next session, and says what it leaves open', async ({ page }) => {
  await page.goto(`${queues.url}/decisions/default/train-9-0?view=asked`)
  await expect(page.getByTestId('turn')).toContainText('one session of kube-batch')
  await expect(page.getByTestId('turn')).toContainText('train-9 does not run')
  await expect(page.getByTestId('turn')).toContainText('Not judged')
  await expect(page.getByTestId('fit-panel')).toContainText('kube-batch decides about all of its pods at once')
  expect(await objections(page)).toEqual([])
  await page.getByTestId('fit-panel').getByRole('link').click()
  await expect(page).toHaveURL(/batch\/sessions\?scheduler=kube-batch/)
})

test('a configuration is edited live, and one with errors changes nothing', async ({ page, allowed }) => {
  allowed.push(refused(400), refused(422))
  await page.goto(`${queues.url}/batch/sessions?view=configuration&rules=volcano`)
  await expect(page.getByTestId('configuration-state')).toHaveText('volcano runs revision 1.')
  const editor = page.locator('.cm-content')
  await editor.click()
  await page.keyboard.press('Control+A')
  await page.keyboard.insertText('actions: "allocate"\ntiers:\n- plugins:\n  - name: gnag\n')
  await page.getByTestId('apply').click()
  await expect(page.getByTestId('refused')).toContainText('revision 1 stays in force')
  await expect(page.locator('.cm-content')).toContainText('no plugin "gnag"')

  const from = page.getByLabel('Start from')
  await from.selectOption('everything')
  // The same one can be chosen again, once the text has changed.
  await expect.poll(() => from.evaluate((select: HTMLSelectElement) => select.selectedIndex)).toBe(0)
  await page.getByTestId('apply').click()
  await expect(page.getByTestId('configuration-state')).toHaveText('volcano runs revision 2 from the next session.')
  expect(await objections(page)).toEqual([])
})

test('the gap of six pods that kube-scheduler placed one by one', async ({ page, simulator }) => {
  await page.goto(`${simulator.url}/batch/sessions?view=flow&mode=comparison`)
  await page.locator('[data-preset="gap"]').click()
  await inWorkspace(page, '/batch/sessions')
  await expect(page.getByTestId('flow-sentence')).toContainText('leaves index-1 without a node', { timeout: 60_000 })
  await expect(page.getByTestId('gap')).toContainText('2,565,374 − 6,748 = 2,558,626')
  await expect(page.getByTestId('flow-graph').locator('[data-box="slot"]')).toHaveCount(6)

  await page.getByTestId('flow-tasks').getByRole('button', { name: 'map-0' }).click()
  await expect(page.getByTestId('ways').locator('li').first()).toContainText('flow-2')
  await expect(page.getByTestId('ways')).toContainText('2,560,000')
  expect(await objections(page)).toEqual([])
})

test('the same pods in one round', async ({ page, simulator }) => {
  await page.goto(`${simulator.url}/batch/sessions?view=flow`)
  await page.locator('[data-preset="round"]').click()
  await inWorkspace(page, '/batch/sessions')
  await expect(page.getByTestId('flow-sentence')).toHaveText('The flow places 6 of 6 tasks for 6,748.', {
    timeout: 60_000,
  })
  await expect(page.getByTestId('flow-tasks').locator('tbody tr')).toHaveCount(6)
})
