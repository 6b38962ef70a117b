// A decision as a presentation: by key, by arrows and a clicker, by link, in both languages.

import { objections } from './axe'
import { createUrgent, expect, node, pod, test } from './simulator'
import type { Page } from '@playwright/test'

test.describe.configure({ mode: 'serial' })

const present = (page: Page) => page.getByTestId('present')
const title = (page: Page) => present(page).getByRole('heading', { level: 1 })
const face = (page: Page, name: string) => present(page).locator(`[data-node="${name}"]`)

/** The titles of the steps from the current one to the last, by pressing a key for each. */
async function walk(page: Page, key: string): Promise<string[]> {
  const titles = [await title(page).innerText()]
  const next = present(page).getByRole('button', { name: 'Next step' })
  while (await next.isEnabled()) {
    const before = await present(page).getByTestId('present-said').innerText()
    await page.keyboard.press(key)
    await expect(present(page).getByTestId('present-said')).not.toHaveText(before)
    titles.push(await title(page).innerText())
  }
  return titles
}

test(
  'a key presents a decision: nodes are crossed out, scores add up, and the winner comes last',
  { tag: '@main' },
  async ({ page, simulator }) => {
    for (const name of ['tainted', 'plain-1', 'plain-2'])
      await simulator.kube('POST', '/api/v1/nodes', node(name, { taint: name === 'tainted' }))
    await simulator.ready('tainted', 'plain-1', 'plain-2')
    await simulator.kube('POST', '/api/v1/namespaces/default/pods', pod('first'))
    await page.goto(`${simulator.url}/decisions/default/first`)
    await expect(page.getByTestId('explanation')).toContainText('first runs on')
    const chosen = /runs on (\S+):/.exec(await page.getByTestId('explanation').innerText())?.[1] ?? ''

    await page.keyboard.press('p')
    await expect(title(page)).toHaveText('Where will first run?')
    await expect(page).toHaveURL(/\/decisions\/default\/first\/present\?.*attempt=1/)
    // Nothing else is on the screen, and Tab stays within.
    const covers = await page.evaluate(() =>
      [
        [20, 20],
        [20, 450],
        [700, 20],
        [1400, 880],
      ].every(([x = 0, y = 0]) => document.elementFromPoint(x, y)?.closest('[data-testid="present"]'))
    )
    expect(covers).toBe(true)
    await expect(face(page, 'tainted')).toHaveAttribute('data-state', 'in')

    while (!/TaintToleration rejects/.test(await title(page).innerText())) {
      const before = await title(page).innerText()
      await page.keyboard.press('ArrowRight')
      await expect(title(page)).not.toHaveText(before)
    }
    await expect(face(page, 'tainted')).toHaveAttribute('data-state', 'leaving')
    await expect(present(page).getByTestId('present-said')).toContainText('untolerated taint')
    await page.keyboard.press('ArrowRight')
    await expect(face(page, 'tainted')).toHaveAttribute('data-state', 'out')
    await page.keyboard.press('ArrowLeft')
    await expect(face(page, 'tainted')).toHaveAttribute('data-state', 'leaving')

    const rest = await walk(page, 'PageDown')
    expect(rest.filter((t) => t.includes(' × ')).length).toBeGreaterThan(3)
    expect(rest.at(-1)).toBe('Scheduled')
    expect(rest).toContain(`${chosen} wins`)
    await page.keyboard.press('PageUp')
    await page.keyboard.press('End')
    await expect(title(page)).toHaveText('Scheduled')
    await expect(face(page, chosen)).toHaveAttribute('data-state', 'chosen')

    // The points of the winner are the total that the decision page shows.
    const points = Number((await face(page, chosen).locator('.pts > b').innerText()).replace(',', ''))
    await page.keyboard.press('Escape')
    await expect(present(page)).toHaveCount(0)
    await expect(page).toHaveURL(/\/decisions\/default\/first\?/)
    await expect(page.getByTestId('score-table').locator(`[data-node="${chosen}"] .tot`)).toHaveText(String(points))
  }
)

test('a link opens a step, B blanks the screen, and Home goes to the start', async ({ page, simulator }) => {
  await page.goto(`${simulator.url}/decisions/default/first/present?step=4`)
  await expect(present(page)).toContainText('4 /')
  // The space bar of a clicker goes on; no button has the focus.
  await page.keyboard.press('Space')
  await expect(present(page)).toContainText('5 /')
  await page.keyboard.press('ArrowLeft')
  await expect(present(page)).toContainText('4 /')
  await expect(present(page).getByTestId('present-said')).not.toContainText(/[.”][A-Z0-9]/)
  const fourth = await title(page).innerText()
  await page.keyboard.press('b')
  await expect(title(page)).toHaveCount(0)
  await page.keyboard.press('b')
  await expect(title(page)).toHaveText(fourth)
  await page.keyboard.press('Home')
  await expect(title(page)).toHaveText('Where will first run?')
  await expect(page).not.toHaveURL(/step=/)
  // A step that does not exist is the last one.
  await page.goto(`${simulator.url}/decisions/default/first/present?step=999`)
  await expect(title(page)).toHaveText('Scheduled')
})

test('a button presents a preemption, rule by rule, in Japanese and in the dark', async ({ page, simulator }) => {
  await simulator.kube('POST', '/api/v1/namespaces/default/pods', pod('low-1', '5'))
  await simulator.kube('POST', '/api/v1/namespaces/default/pods', pod('low-2', '5'))
  for (const name of ['low-1', 'low-2'])
    await expect(async () =>
      expect(
        (await simulator.kube<{ spec: { nodeName?: string } }>('GET', `/api/v1/namespaces/default/pods/${name}`)).spec
          .nodeName
      ).toBeTruthy()
    ).toPass()
  await createUrgent(simulator, 'urgent', '6')
  await page.addInitScript(() => {
    localStorage.setItem('language', 'ja')
    localStorage.setItem('theme', 'dark')
  })
  await page.goto(`${simulator.url}/decisions/default/urgent?attempt=1`)
  await page.getByRole('link', { name: 'プレゼン' }).click()
  await expect(title(page)).toHaveText('urgent はどのノードに割り当てられる？')
  await page.keyboard.press('End')
  await expect(title(page)).toContainText('プリエンプションで空きを作る')
  await page.keyboard.press('ArrowLeft')
  await expect(title(page)).toContainText('個の Pod を追い出して空きを作る')
  await expect(present(page).getByTestId('present-candidates').locator('[data-state="chosen"]')).toHaveCount(1)
  expect(await objections(page, { within: '[data-testid="present"]' })).toEqual([])
})

test('a pod that fits nowhere crosses out every node', async ({ page, simulator }) => {
  await simulator.kube('POST', '/api/v1/namespaces/default/pods', pod('too-big', '64'))
  await page.goto(`${simulator.url}/decisions/default/too-big/present?step=99`)
  await expect(title(page)).toHaveText('No node')
  await expect(present(page)).toContainText('too-big fits no node')
  await expect(present(page).locator('[data-state="out"]')).toHaveCount(3)
})

test('every step fits the screen from a phone to a large projector, and axe has no objection', async ({
  context,
  simulator,
}, info) => {
  test.setTimeout(120_000)
  for (const { width, height } of [
    { width: 390, height: 844 },
    { width: 1280, height: 720 },
    { width: 2560, height: 1440 },
  ]) {
    const page = await context.newPage() // a window that shows the full screen cannot change its size
    await page.setViewportSize({ width, height })
    await page.goto(`${simulator.url}/decisions/default/first/present`)
    const steps = Number(/\/ (\d+)/.exec(await present(page).locator('.nth').innerText())?.[1])
    for (let step = 1; step <= steps; step++) {
      // The page keeps its box: nothing is wider or higher than the window, and no text is cut.
      const over = await present(page).evaluate((dialog) => {
        const cut = [...dialog.querySelectorAll<HTMLElement>('h1, .said p, .face > p, footer button')].filter(
          (e) => e.scrollWidth > e.clientWidth + 1
        )
        return [
          dialog.scrollWidth > window.innerWidth,
          dialog.scrollHeight > window.innerHeight,
          ...cut.map((e) => e.innerText),
        ].filter(Boolean)
      })
      expect(over, `step ${step} at ${width}`).toEqual([])
      if (width === 1280)
        expect(await objections(page, { within: '[data-testid="present"]' }), `step ${step}`).toEqual([])
      if (width !== 2560 || step % 4 === 0)
        await page.screenshot({ path: `${info.project.outputDir}/look/present-${width}-${step}.png` })
      await page.keyboard.press('ArrowRight')
    }
    await page.close()
  }
})

test('without motion for those who do not want it', async ({ page, simulator }) => {
  await page.emulateMedia({ reducedMotion: 'reduce' })
  await page.goto(`${simulator.url}/decisions/default/first/present?step=99`)
  await expect(title(page)).toHaveText('Scheduled')
  const moving = await present(page).evaluate(
    (dialog) =>
      [...dialog.querySelectorAll('*')].filter(
        (e) => getComputedStyle(e).transitionDuration !== '0s' || getComputedStyle(e).animationName !== 'none'
      ).length
  )
  expect(moving).toBe(0)
})
