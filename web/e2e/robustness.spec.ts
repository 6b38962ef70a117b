// Trouble while a user is editing: the server restarts, the socket drops, the disk is
// full, a file has ten megabytes. The page reports it, loses no text and needs no reload.

import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Page } from '@playwright/test'
import { podYaml, replaceText, writeYaml } from './actions'
import { expect, node, refused, serverAway, Simulator, test } from './simulator'

// A trace takes a snapshot of the page with each key press, which is a long task itself.
test.use({ trace: 'off' })

const dialog = (page: Page) => page.getByRole('dialog', { name: 'Create' })
const submit = (page: Page) => page.getByTestId('create-submit').click()

/** Marks the page; a reload removes the mark. */
const mark = (page: Page) => page.evaluate(() => void ((window as unknown as { stayed: boolean }).stayed = true))
const stayed = (page: Page) => page.evaluate(() => (window as unknown as { stayed?: boolean }).stayed === true)

test('edits of an existing and of a new object survive a restart of the server', async ({ page, allowed }) => {
  allowed.push(serverAway, refused(503))
  test.setTimeout(120_000)
  const dir = await mkdtemp(join(tmpdir(), 'simulator-e2e-'))
  const first = await Simulator.start(['--data-dir', dir])
  let second: Simulator | undefined
  try {
    await first.kube('POST', '/api/v1/nodes', node('edited'))
    await page.goto(`${first.url}/resources/nodes?select=edited`)
    await mark(page)
    const detail = page.getByTestId('object-detail')
    await detail.getByRole('button', { name: 'Edit', exact: true }).click()
    await detail.getByText('kubernetes.io/hostname').click()
    await page.keyboard.press('End')
    await page.keyboard.type('\nmine: here')
    await writeYaml(page, podYaml('survivor'))

    await first.stop()
    await expect(page.getByTestId('connection')).toContainText('reconnecting')
    await submit(page)
    // The dialog reports the failure and keeps the text.
    await expect(dialog(page).getByRole('alert').first()).toBeVisible()
    await expect(dialog(page)).toContainText('survivor')

    second = await Simulator.start(['--data-dir', dir, '--listen', `127.0.0.1:${first.port}`])
    await expect(page.getByTestId('connection')).toContainText('live', { timeout: 20_000 })
    await submit(page)
    await expect(dialog(page)).toBeHidden()
    await second.kube('GET', '/api/v1/namespaces/default/pods/survivor')
    await expect(detail).toContainText('mine: here')
    await detail.getByRole('button', { name: 'Dry run' }).click()
    await detail.getByRole('button', { name: 'Save' }).click()
    await expect(page.getByText('Saved: edited')).toBeVisible()
    const { metadata } = await second.kube<{ metadata: { labels: object } }>('GET', '/api/v1/nodes/edited')
    expect(metadata.labels).toMatchObject({ mine: 'here' })
    expect(await stayed(page)).toBe(true)
  } finally {
    await first.stop()
    await second?.stop()
    await rm(dir, { recursive: true, force: true })
  }
})

test('the draft of a configuration survives a restart of the server', async ({ page, allowed }) => {
  allowed.push(serverAway, refused(503))
  test.setTimeout(120_000)
  const dir = await mkdtemp(join(tmpdir(), 'simulator-e2e-'))
  const first = await Simulator.start(['--data-dir', dir])
  let second: Simulator | undefined
  try {
    await page.goto(`${first.url}/scheduler`)
    await mark(page)
    await page.locator('[data-preset="everyNode"]').click()
    await expect(page.getByTestId('verdict')).toContainText('Valid')
    await first.stop()
    await expect(page.getByTestId('connection')).toContainText('reconnecting')
    await expect(page.locator('.cm-content')).toContainText('percentageOfNodesToScore: 100')
    second = await Simulator.start(['--data-dir', dir, '--listen', `127.0.0.1:${first.port}`])
    await expect(page.getByTestId('verdict')).toContainText('Valid', { timeout: 20_000 })
    await page.getByTestId('apply').click()
    await page
      .getByRole('dialog')
      .getByRole('button', { name: /^Apply/ })
      .click()
    await expect(page.getByText(/Revision \d+ is running/).first()).toBeVisible()
    expect(await stayed(page)).toBe(true)
  } finally {
    await first.stop()
    await second?.stop()
    await rm(dir, { recursive: true, force: true })
  }
})

test('after the socket drops and reconnects, the page shows the changes in between', async ({
  page,
  simulator,
  allowed,
}) => {
  allowed.push(serverAway)
  const sockets: { close(): Promise<void> }[] = []
  await page.routeWebSocket('**/api/v1/watch', (socket) => {
    sockets.push(socket)
    socket.connectToServer()
  })
  await simulator.kube('POST', '/api/v1/nodes', node('first'))
  await page.goto(simulator.url)
  await expect(page.locator('[data-node="first"]')).toBeVisible()
  await writeYaml(page, podYaml('kept'))
  await sockets[0]?.close()
  await simulator.kube('POST', '/api/v1/nodes', node('meanwhile'))
  await expect(page.locator('[data-node="meanwhile"]')).toBeVisible({ timeout: 20_000 })
  expect(sockets.length).toBeGreaterThan(1)
  await expect(dialog(page)).toContainText('kept')
})

test('a full disk is reported, and the same text is accepted once there is space', async ({
  page,
  simulator,
  allowed,
}) => {
  allowed.push(refused(507))
  let full = true
  const message = 'etcdserver: mvcc: database space exceeded'
  await page.route('**/kubernetes/api/v1/namespaces/default/pods?*', async (route) => {
    if (!full || route.request().method() !== 'POST' || route.request().url().includes('dryRun'))
      return route.fallback()
    return route.fulfill({
      status: 507,
      json: { kind: 'Status', apiVersion: 'v1', status: 'Failure', message, code: 507 },
    })
  })
  await page.goto(simulator.url)
  await writeYaml(page, podYaml('much'))
  await submit(page)
  await expect(dialog(page)).toContainText(message)
  await expect(dialog(page)).toContainText('much')
  full = false
  await submit(page)
  await expect(dialog(page)).toBeHidden()
  await simulator.kube('GET', '/api/v1/namespaces/default/pods/much')

  await page.route('**/api/v1/schedulerconfiguration', (route) =>
    route.request().method() === 'PUT'
      ? route.fulfill({ status: 507, json: { message: 'keep the revision: no space left on device' } })
      : route.fallback()
  )
  await page.goto(`${simulator.url}/scheduler`)
  await page.locator('[data-preset="everyNode"]').click()
  await page.getByTestId('apply').click()
  await page
    .getByRole('dialog')
    .getByRole('button', { name: /^Apply/ })
    .click()
  await expect(page.getByText('no space left on device').first()).toBeVisible()
  await expect(page.locator('.cm-content')).toContainText('percentageOfNodesToScore: 100')
})

test('the page stays responsive while it reads ten megabytes of YAML', async ({ page, simulator }) => {
  test.setTimeout(120_000)
  await page.addInitScript(() => {
    const tasks: number[] = ((window as unknown as { tasks: number[] }).tasks = [])
    new PerformanceObserver((list) => tasks.push(...list.getEntries().map((e) => e.duration))).observe({
      type: 'longtask',
      buffered: true,
    })
  })
  await page.goto(simulator.url)
  await mark(page)
  await writeYaml(page, podYaml('beside'))
  const data = await page.evaluateHandle((one) => {
    const documents = Array.from({ length: 5000 }, (_, i) =>
      one.replace('  name:', `  annotations: {padding: "${'x'.repeat(1900)}"}\n  name:`).replace('many', `many-${i}`)
    )
    const transfer = new DataTransfer()
    transfer.items.add(new File([documents.join('---\n')], 'ten.yaml', { type: 'application/yaml' }))
    return transfer
  }, podYaml('many'))
  await page.evaluate(() => (window as unknown as { tasks: number[] }).tasks.splice(0))
  await dialog(page).locator('.edit').dispatchEvent('drop', { dataTransfer: data })
  await expect(page.getByTestId('create-files')).toContainText('ten.yaml')
  await expect(page.getByTestId('create-files')).toContainText('5,000 objects', { timeout: 60_000 })
  const tasks = await page.evaluate(() => (window as unknown as { tasks: number[] }).tasks.map(Math.round))
  console.log(`10 MB dropped, long tasks: ${tasks.join(', ') || 'none'}`)
  expect(Math.max(0, ...tasks)).toBeLessThan(1000)
  // The earlier text is still there, and the file can be removed.
  await expect(dialog(page)).toContainText('beside')
  await page.getByTestId('create-files').getByRole('button').first().click()
  await submit(page)
  await expect(dialog(page)).toBeHidden()
  expect(await stayed(page)).toBe(true)
})

test('unsubmitted text survives a reload', async ({ page, simulator }) => {
  await page.goto(simulator.url)
  await page.getByRole('button', { name: 'Create', exact: true }).first().click()
  const editor = dialog(page).getByRole('textbox', { name: 'Objects to create, as YAML' })
  await replaceText(page, editor, podYaml('reloaded'))
  await expect(async () =>
    expect(await page.evaluate(() => sessionStorage.getItem('draft'))).toContain('reloaded')
  ).toPass()
  await page.reload()
  await page.getByRole('button', { name: 'Create', exact: true }).first().click()
  await expect(dialog(page)).toContainText('reloaded')
})
