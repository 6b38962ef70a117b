// Five places, each a question, with its views in a row; the clicks to the first answers.

import type { Page } from '@playwright/test'
import { objections } from './axe'
import { expect, node, pod, test } from './simulator'

test.describe.configure({ mode: 'serial' })

/** Counts the clicks of a person: what reaches the page as one. */
async function clicksOf(page: Page, go: () => Promise<void>): Promise<number> {
  const read = () => page.evaluate(() => Number(sessionStorage.getItem('clicks')))
  const before = await read()
  await go()
  return (await read()) - before
}

test('the first answers are few clicks away', { tag: '@main' }, async ({ page, simulator }) => {
  await page.addInitScript(() =>
    addEventListener(
      'click',
      ({ isTrusted }) =>
        isTrusted && sessionStorage.setItem('clicks', String(Number(sessionStorage.getItem('clicks')) + 1)),
      true
    )
  )
  await page.goto(simulator.url)
  const places = page.getByRole('navigation', { name: 'Places' })
  const scored = await clicksOf(page, async () => {
    await page.getByRole('button', { name: 'Create a sample cluster' }).click()
    await expect(page.locator('[data-pod="sample/search-1"]')).toBeVisible()
    await places.getByRole('link', { name: 'Why' }).click()
    await page
      .locator('section', { has: page.getByRole('heading', { name: 'Why here and not there?' }) })
      .getByRole('link', { name: 'Why?' })
      .click()
    await expect(page.getByTestId('score-table').getByRole('row').nth(1)).toBeVisible()
  })
  expect(scored).toBeLessThanOrEqual(3)
  await page.goto(simulator.url)
  const why = await clicksOf(page, async () => {
    await places.getByRole('link', { name: 'Why' }).click()
    await expect(page.getByTestId('pending').locator('[data-pod="sample/search-1"]')).toContainText(
      'Insufficient cpu, on 9 of 12'
    )
  })
  expect(why).toBe(1)
})

test('a place names the pods that wait, why, and how they would fit', async ({ page, simulator }) => {
  await page.goto(`${simulator.url}/why`)
  await expect(page.getByRole('heading', { name: 'Why are 3 pods pending?' })).toBeVisible()
  await expect(
    page.getByRole('navigation', { name: 'Questions of Why' }).getByRole('link', { name: 'Pending 3' })
  ).toHaveAttribute('aria-current', 'page')
  const row = page.getByTestId('pending').locator('[data-pod="sample/report-1"]')
  await expect(row).toContainText('waiting for example.com/quota')
  await row.getByRole('link', { name: 'Make it fit' }).click()
  await expect(page).toHaveURL(/\/decisions\/sample\/report-1\?panel=fit/)
  await page.goto(`${simulator.url}/what-if`)
  const fit = page.locator('section', { has: page.getByRole('heading', { name: 'What would make a pod fit?' }) })
  await expect(fit.getByRole('link', { name: 'report-1' })).toBeVisible()
  const drain = page.locator('section', { has: page.getByRole('heading', { name: 'What if a node went away?' }) })
  await drain.getByRole('combobox').fill('node-a1')
  await drain.getByRole('button', { name: 'Drain…' }).click()
  await expect(page.getByTestId('drain-dialog')).toBeVisible()
  await page.keyboard.press('Escape')
})

test('the glossary finds a term, and its lesson', async ({ page, simulator }) => {
  await page.goto(`${simulator.url}/learn/glossary#taint`)
  await expect(page.locator('[data-term="taint"]')).toBeInViewport()
  await page.getByPlaceholder('Filter terms').fill('nominated')
  await expect(page.locator('[data-term]')).toHaveCount(1)
  await page.getByRole('link', { name: 'Lesson: Preemption and priority' }).click()
  await expect(page).toHaveURL(/\/learn\/preemption/)
})

test('the palette answers in words', async ({ page, simulator }) => {
  await page.goto(`${simulator.url}/why`)
  const palette = page.getByTestId('palette')
  const ask = async (text: string) => {
    await page.keyboard.press('Control+k')
    await expect(palette.getByRole('combobox')).toBeFocused()
    await palette.getByRole('combobox').fill(text)
  }
  await ask('why is my pod pending')
  await expect(palette.getByRole('option', { name: /Why is search-1 pending\?.*Insufficient cpu/ })).toBeVisible()
  await page.keyboard.press('Escape')
  await ask('what is a taint')
  await expect(palette.getByRole('option', { name: /^Taint.*keeps pods off unless they tolerate it/ })).toBeVisible()
  await page.keyboard.press('Escape')
  await ask('drain node-c3')
  await page.keyboard.press('Enter')
  await expect(page.getByTestId('drain-dialog')).toContainText('node-c3')
})

test('the boards of batch lead to each other', { tag: '@main' }, async ({ page, simulator }) => {
  await page.goto(`${simulator.url}/batch`)
  const boards = page.getByRole('navigation', { name: 'Boards' })
  await expect(boards.getByRole('link')).toHaveCount(5)
  await boards.getByRole('link', { name: 'Quotas' }).click()
  await expect(page).toHaveURL(/\/batch\/quotas/)
  await expect(boards.getByRole('link', { name: 'Quotas' })).toHaveAttribute('aria-current', 'page')
  await expect(page.getByRole('heading', { level: 1 })).toHaveCount(1)
})

test('the addresses of earlier versions lead to what took their place', async ({ page, simulator }) => {
  await page.goto(`${simulator.url}/activity?outcome=scheduled&last=1h`)
  await expect(page).toHaveURL(/\/decisions\?outcome=scheduled&last=1h/)
  await page.goto(`${simulator.url}/activity?feed=events&q=taint`)
  await expect(page).toHaveURL(/\/events\?q=taint/)
})

test('the new pages violate no rule of accessibility', async ({ page, simulator }) => {
  for (const path of ['/why', '/what-if', '/learn/glossary', '/events', '/compare']) {
    await page.goto(simulator.url + path)
    await expect(page.locator('main h2, main [role="row"], main b').first()).toBeVisible()
    for (const colorScheme of ['light', 'dark'] as const) {
      await page.emulateMedia({ colorScheme })
      expect(await objections(page), path).toEqual([])
    }
  }
  await page.keyboard.press('?')
  await expect(page.getByRole('dialog', { name: 'Keyboard shortcuts' })).toBeVisible()
  expect(await objections(page, { within: 'dialog' })).toEqual([])
})

test(
  'decisions arrive as they are made, with the rates and the queue',
  { tag: '@main' },
  async ({ page, simulator }) => {
    await page.goto(`${simulator.url}/decisions`)
    const rows = page.getByRole('grid', { name: 'Decisions' }).locator('[data-key]')
    const { counts } = await simulator.call<{ counts: { kept: number } }>('GET', '/api/v1/results?counts=true&limit=1')
    await expect(rows).toHaveCount(counts.kept)
    await simulator.kube('POST', '/api/v1/namespaces/default/pods', pod('later', '10m'))
    await expect(rows).toHaveCount(counts.kept + 1)
    await expect(rows.first()).toContainText('later')
    // Folded, the header still has the numbers.
    await expect(page.getByTestId('rates')).toContainText(/3 pending/)
    await page.getByTestId('rates').click()
    await expect(async () => {
      const widths = await page
        .locator('.chart')
        .evaluateAll((charts) =>
          charts.map((chart) =>
            Math.max(0, ...[...chart.querySelectorAll('path[stroke]')].map((p) => p.getBoundingClientRect().width))
          )
        )
      expect(widths).toHaveLength(3)
      for (const width of widths) expect(width).toBeGreaterThan(1)
    }).toPass({ timeout: 5000 })
    await expect(page.getByTestId('queues').locator('[data-lane="unschedulable"]')).toContainText(
      /unschedulable pods.*2/
    )
    await expect(page.getByTestId('queues').locator('[data-lane="waiting"]')).toContainText('Permit')
  }
)

test('a paused list counts what is new, and shows it when it goes on', async ({ page, simulator }) => {
  await page.goto(`${simulator.url}/decisions`)
  const rows = page.getByRole('grid', { name: 'Decisions' }).locator('[data-key]')
  await expect(rows.first()).toContainText('later')
  const all = await rows.count()
  await page.keyboard.press('p')
  await expect(page.getByTestId('pause')).toContainText('Resume')
  await simulator.kube('POST', '/api/v1/namespaces/default/pods', pod('meanwhile', '10m'))
  await expect(page.getByRole('button', { name: '1 new decision' })).toBeVisible()
  await expect(rows).toHaveCount(all)
  await page.getByTestId('pause').click()
  await expect(rows).toHaveCount(all + 1)
  await expect(rows.first()).toContainText('meanwhile')
})

test('the list shows where another configuration took effect', async ({ page, simulator }) => {
  await simulator.configure(
    'apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\npercentageOfNodesToScore: 70\n'
  )
  await simulator.kube('POST', '/api/v1/namespaces/default/pods', pod('with-new', '10m'))
  await page.goto(`${simulator.url}/decisions`)
  await expect(page.locator('.changed')).toHaveCount(1)
  await expect(page.locator('.changed')).toHaveAttribute('title', /percentageOfNodesToScore/)
})

test('events are filtered by words', async ({ page, simulator }) => {
  await page.goto(`${simulator.url}/events`)
  await expect(page.getByRole('grid', { name: 'Events' })).toContainText('FailedScheduling')
  await page.getByPlaceholder('Filter events').fill('pod later scheduled')
  await expect(page.getByRole('grid', { name: 'Events' }).locator('[data-key]')).toHaveCount(1)
})

test('a reset starts the counters of the queue over', async ({ page, simulator }) => {
  await simulator.kube('POST', '/api/v1/nodes', node('n1'))
  await page.goto(`${simulator.url}/decisions`)
  const queues = page.getByTestId('queues')
  if (!(await queues.isVisible())) await page.getByTestId('rates').click()
  await expect(queues).toContainText('UnscheduledPodAdd')
  const response = await simulator.send('PUT', '/api/v1/reset')
  expect(response.status).toBe(200)
  await expect(queues).not.toContainText('UnscheduledPodAdd')
  await expect(page.getByText('No decisions yet')).toBeVisible()
})
