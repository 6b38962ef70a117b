// Parts of every page: palette, shortcuts, themes, languages, the import and export menu.

import { expect, node, pod, test } from './simulator'

test.describe.configure({ mode: 'serial' })

test('the palette finds actions and objects, by keyboard alone', { tag: '@main' }, async ({ page, simulator }) => {
  await simulator.kube('POST', '/api/v1/nodes', node('node-x'))
  await simulator.kube('POST', '/api/v1/namespaces/default/pods', pod('needle'))
  await page.goto(simulator.url)
  await expect(page.locator('[data-node="node-x"]')).toContainText('needle')
  await page.keyboard.press('Control+k')
  const palette = page.getByTestId('palette')
  await expect(palette.getByRole('combobox')).toBeFocused()
  await page.keyboard.type('needle')
  await expect(palette.getByRole('option', { selected: true })).toContainText('needle')
  await page.keyboard.press('Enter')
  await expect(page).toHaveURL(/\/decisions\/default\/needle/)

  await page.keyboard.press('Control+k')
  await page.keyboard.type('#node-x')
  await expect(palette.getByRole('option')).toHaveCount(1)
  await page.keyboard.press('Enter')
  await expect(page).toHaveURL(/\/resources\/nodes\?select=node-x/)

  await page.keyboard.press('Control+k')
  await page.keyboard.type('dark theme')
  await page.keyboard.press('Enter')
  await expect(page.locator('html')).toHaveAttribute('data-theme', 'dark')
  await page.keyboard.press('Control+k')
  await page.keyboard.type('no such thing anywhere')
  await expect(palette).toContainText('Nothing matches')
  await page.keyboard.press('Escape')
  await expect(palette).toBeHidden()
})

test('every page has a shortcut, and ? lists them', async ({ page, simulator }) => {
  await page.goto(simulator.url)
  await expect(page.locator('[data-node="node-x"]')).toBeVisible()
  for (const [key, path] of [
    ['r', /\/resources/],
    ['d', /\/decisions$/],
    ['s', /\/scheduler/],
    ['w', /\/why/],
    ['a', /\/events/],
    ['c', /\/$/],
  ] as const) {
    await page.keyboard.press('g')
    await page.keyboard.press(key)
    await expect(page).toHaveURL(path)
  }
  await page.keyboard.press('?')
  await expect(page.getByRole('dialog', { name: 'Keyboard shortcuts' })).toContainText('Go to Events')
  await page.keyboard.press('Escape')
  await expect(page.getByRole('dialog')).toBeHidden()

  // Closing the dialog returns the focus to the button that opened it.
  const help = page.getByRole('button', { name: 'Keyboard shortcuts' })
  await help.focus()
  await page.keyboard.press('Enter')
  await expect(page.getByRole('dialog', { name: 'Keyboard shortcuts' })).toBeVisible()
  await page.keyboard.press('Escape')
  await expect(help).toBeFocused()
})

test('the menu offers import, export and reset if the server supports them', async ({ page, simulator }) => {
  await page.goto(simulator.url)
  const { paths } = await simulator.call<{ paths: Record<string, object> }>('GET', '/api/v1/openapi.json')
  await page.getByRole('button', { name: 'Import / export' }).click()
  for (const [name, path] of [
    ['Export the cluster', '/api/v1/export'],
    ['Import a cluster', '/api/v1/import'],
    ['Reset', '/api/v1/reset'],
  ] as const) {
    const entry = page.getByRole('menuitem', { name })
    if (paths[path]) await expect(entry).not.toHaveAttribute('aria-disabled')
    else await expect(entry).toContainText('This server does not support it.')
  }
  await page.keyboard.press('Escape')
  await expect(page.getByRole('menu')).toBeHidden()
})

for (const [language, words] of Object.entries({
  en: ['Cluster', 'Resources', 'Why', 'Decisions', 'What if', 'Scheduler', 'Past', 'Events', 'Learn', 'Glossary'],
  ja: ['クラスター', 'リソース', 'なぜ', '決定', 'もしも', 'スケジューラー', '過去', 'イベント', '学習', '用語集'],
})) {
  test(`every page opens in ${language}`, async ({ page, simulator }) => {
    await page.addInitScript((value) => localStorage.setItem('language', value), language)
    const errors: string[] = []
    page.on('pageerror', (error) => errors.push(error.message))
    await page.goto(simulator.url)
    for (const word of words) {
      const link = page.getByRole('navigation').getByRole('link', { name: word, exact: true }).first()
      await link.click()
      await expect(link).toHaveAttribute('aria-current', /page|true/)
      await expect(page.getByRole('heading', { level: 1 })).toBeVisible()
      await expect(page.locator('html')).toHaveAttribute('lang', language)
    }
    expect(errors).toEqual([])
  })
}
