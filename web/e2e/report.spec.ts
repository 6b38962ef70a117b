// A decision as one file: it opens without a server or a network, and a simulator opens it, too.

import { readFileSync, writeFileSync } from 'node:fs'
import { objections } from './axe'
import { expect, node, pod, test } from './simulator'
import type { Page } from '@playwright/test'

test.describe.configure({ mode: 'serial' })

/** Opens a file in a page of its own, and returns what it asked of any network. */
async function open(page: Page, path: string): Promise<string[]> {
  const requests: string[] = []
  page.on('request', (request) => !/^(file|data|blob):/.test(request.url()) && requests.push(request.url()))
  await page.goto(`file://${path}`)
  await expect(page.getByTestId('explanation')).toBeVisible()
  return requests
}

test('a decision is saved from its page, opens without a server, and explains its cells', { tag: '@main' }, async ({ page, simulator }, info) => {
  for (const name of ['tainted', 'plain-1', 'plain-2']) await simulator.kube('POST', '/api/v1/nodes', node(name, { taint: name === 'tainted' }))
  await simulator.ready('tainted', 'plain-1', 'plain-2')
  for (const name of ['first', 'second']) await simulator.kube('POST', '/api/v1/namespaces/default/pods', pod(name))
  await page.goto(`${simulator.url}/decisions/default/first`)
  const sentence = await page.getByTestId('explanation').innerText()
  const saved = page.waitForEvent('download')
  await page.getByTestId('download-report').getByRole('button').click()
  await page.getByRole('menuitem', { name: 'With its names' }).click()
  const path = info.outputPath('report.html')
  await (await saved).saveAs(path)

  const file = await page.context().newPage()
  const requests = await open(file, path)
  await expect(file.getByTestId('explanation')).toHaveText(sentence)
  await expect(file.getByText('The record is unchanged since its export')).toBeVisible()
  await file.locator('[data-node="tainted"]').getByRole('gridcell').nth(2).click()
  await expect(file.getByTestId('decision-side')).toContainText('Kubernetes documentation')
  await expect(file).toHaveURL(/#\/\?.*node=tainted/)
  // Names lead nowhere: there may be no cluster behind them.
  await expect(file.locator('main a[href^="/"], main a[href^="#/"]')).toHaveCount(0)
  expect(await objections(file)).toEqual([])
  await file.getByRole('button', { name: '日本語' }).click()
  await expect(file.getByText('このファイルはサーバーもネットワークも必要とせず')).toBeVisible()
  expect(requests).toEqual([])

  // The same file in a simulator.
  await page.goto(`${simulator.url}/report`)
  await page.getByTestId('report-file').setInputFiles(path)
  await expect(page.getByTestId('explanation')).toHaveText(sentence)
  await page.getByRole('button', { name: 'Close the report' }).click()
  await page.getByTestId('report-file').setInputFiles({ name: 'notes.html', mimeType: 'text/html', buffer: Buffer.from('<p>hello</p>') })
  await expect(page.getByRole('alert')).toHaveText('notes.html is not a report.')
})

test('two decisions are compared, and a changed file says so', async ({ page, simulator }, info) => {
  const { items } = (await (await fetch(`${simulator.url}/api/v1/results?namespace=default`)).json()) as { items: { pod: { uid: string; name: string }; attempt: number }[] }
  const uid = (name: string) => items.find((of) => of.pod.name === name)?.pod.uid ?? ''
  const path = info.outputPath('both.html')
  writeFileSync(path, await (await fetch(`${simulator.url}/api/v1/results/${uid('first')}/1?format=html&other=${uid('second')}/1`)).text())
  await open(page, path)
  await expect(page.getByTestId('attempt-difference')).toContainText('From A, first, attempt 1, to B, second, attempt 1')
  await page.getByRole('radio', { name: 'B · second' }).or(page.getByRole('button', { name: 'B · second' })).first().click()
  await expect(page.getByTestId('explanation')).toContainText('second')

  const changed = info.outputPath('changed.html')
  writeFileSync(changed, readFileSync(path, 'utf8').replace(/data-sha256="\w{4}/, 'data-sha256="0000'))
  await open(page, changed)
  await expect(page.getByRole('alert')).toHaveText('The record was changed since its export. Do not trust it.')
})
