// Branches: the whole application below /branches/NAME/, beside the trunk, which does not change.

import type { Page } from '@playwright/test'
import { objections } from './axe'
import { expect, node, pod, refused, serverAway, test, type Simulator } from './simulator'

test.describe.configure({ mode: 'serial' })
// While a branch starts, the trunk answers for it that it does not run.
test.beforeEach(({ allowed }) => {
  allowed.push(refused(503), refused(404), serverAway)
})

interface Branch {
  state: string
  message?: string
  path: string
}

const running = (simulator: Simulator, name: string) =>
  expect(async () => {
    expect(await simulator.call<Branch>('GET', `/branches/${name}/api/v1/branch`)).toMatchObject({ state: 'running' })
  }).toPass({ timeout: 60_000 })

/** The page is no wider than its window. */
const fits = (page: Page) => page.evaluate(() => document.documentElement.scrollWidth <= window.innerWidth)

test(
  'a branch is the whole application with a cluster of its own, and the way back is on every page',
  { tag: '@main' },
  async ({ page, simulator }) => {
    test.setTimeout(120_000)
    await simulator.kube('POST', '/api/v1/nodes', node('n1'))
    await simulator.ready('n1')
    const branch = await simulator.call<Branch>('POST', '/api/v1/branches', { name: 'try' })
    expect(branch.path).toBe('/branches/try/')

    // The page is there before the branch is.
    await page.goto(simulator.url + branch.path)
    const band = page.getByTestId('branch-band')
    await expect(band).toContainText('try')
    await expect(band).toContainText('My cluster does not change')
    await running(simulator, 'try')
    await expect(page.locator('[data-node="n1"]')).toBeVisible({ timeout: 30_000 })

    await simulator.call('POST', '/branches/try/kubernetes/api/v1/namespaces/default/pods', pod('only-here'))
    await expect(page.locator('[data-node="n1"]')).toContainText('only-here')
    expect(await objections(page)).toEqual([])

    // Links, addresses and the history stay below the prefix.
    await page.getByRole('navigation', { name: 'Places' }).getByRole('link', { name: 'Why' }).click()
    await page.getByRole('navigation').getByRole('link', { name: 'Decisions', exact: true }).first().click()
    await expect(page).toHaveURL(/\/branches\/try\/decisions/)
    await page
      .getByRole('row', { name: /only-here/ })
      .first()
      .click()
    await expect(page).toHaveURL(/\/branches\/try\/decisions\/default\/only-here/)
    await page.reload()
    await expect(band).toBeVisible()
    const saved = page.waitForEvent('download')
    await page.getByTestId('download-report').getByRole('button').click()
    await page.getByRole('menuitem', { name: 'With its names' }).click()
    expect((await saved).url()).toContain('/branches/try/api/v1/results/')

    await band.getByTestId('branch-leave').click()
    await expect(page).toHaveURL(`${simulator.url}/`)
    await expect(page.locator('[data-node="n1"]')).toBeVisible()
    await expect(page.locator('[data-node="n1"]')).not.toContainText('only-here')
    await expect(band).toHaveCount(0)
  }
)

test('a branch that stopped starts when it is opened, and one that was deleted is missed', async ({
  page,
  simulator,
}) => {
  test.setTimeout(120_000)
  await simulator.call('POST', '/api/v1/branches/try/stop')
  await page.goto(`${simulator.url}/branches/try/`)
  await expect(page.getByTestId('branch-notice')).toContainText('The workspace is starting')
  await expect(page.locator('[data-node="n1"]')).toContainText('only-here', { timeout: 60_000 })

  await simulator.call('DELETE', '/api/v1/branches/try')
  await expect(page.getByTestId('branch-band')).toContainText('It was deleted.')
  await page.reload()
  await expect(page.getByTestId('branch-notice')).toContainText('There is no workspace try')
  expect(await objections(page)).toEqual([])
})

test('the band fits from 390 to 2560 pixels, in both languages and both themes', async ({ page, simulator }) => {
  test.setTimeout(120_000)
  await simulator.call('POST', '/api/v1/branches', {
    name: 'a-branch-with-a-rather-long-name-of-almost-sixty-three-letters',
    objects: [],
  })
  await running(simulator, 'a-branch-with-a-rather-long-name-of-almost-sixty-three-letters')
  for (const language of ['en', 'ja']) {
    for (const theme of ['light', 'dark']) {
      await page.goto(simulator.url)
      await page.evaluate((kept) => Object.entries(kept).forEach(([key, value]) => localStorage.setItem(key, value)), {
        language,
        theme,
      })
      for (const width of [390, 768, 1440, 2560]) {
        await page.setViewportSize({ width, height: 900 })
        await page.goto(`${simulator.url}/branches/a-branch-with-a-rather-long-name-of-almost-sixty-three-letters/`)
        await expect(page.getByTestId('branch-leave')).toBeInViewport()
        await expect(page.getByTestId('branch-compare')).toBeInViewport()
        expect(await fits(page), `${width} pixels, ${language}`).toBe(true)
      }
      expect(await objections(page), `${language} ${theme}`).toEqual([])
    }
  }
})
