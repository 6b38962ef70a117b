// The upgrade report: which versions can be asked, a comparison and what the page shows of it. Schedulers of other versions take ten
// minutes each to build, so stand-ins decide, beside a link to the real binary.

import { copyFileSync, existsSync, linkSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join, resolve } from 'node:path'
import { objections } from './axe'
import { faults } from './boxes'
import { binary, expect, node, refused, Simulator, test } from './simulator'

const slow = { timeout: 30_000 }
const container = { name: 'c', image: 'registry.example.com/c:1' }

/** A simulator with the stand-ins of 1.35 and 1.36, three nodes and five pods. */
async function withStandIns(): Promise<{ simulator: Simulator; remove: () => Promise<void> }> {
  const dir = mkdtempSync(join(tmpdir(), 'upgrade-'))
  const program = join(dir, 'simulator')
  try {
    linkSync(binary, program)
  } catch {
    copyFileSync(binary, program) // another disk
  }
  const standIn = resolve(import.meta.dirname, 'standInScheduler.mjs')
  for (const minor of ['1.35', '1.36']) {
    const script = `#!/bin/sh\nexec '${process.execPath}' '${standIn}' ${minor}\n`
    writeFileSync(join(dir, `scheduler-${minor}`), script, { mode: 0o755 })
  }
  const simulator = await Simulator.start([], program)
  const names = ['worker-1', 'worker-2', 'worker-3']
  for (const name of names) await simulator.kube('POST', '/api/v1/nodes', node(name, { cpu: '8' }))
  await simulator.ready(...names)
  for (const name of ['web-1', 'web-2', 'volume-1', 'db-1', 'other-1'])
    await simulator.kube('POST', '/api/v1/namespaces/default/pods', {
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: { name },
      spec: { containers: [container] },
    })
  return {
    simulator,
    remove: async () => {
      await simulator.stop()
      rmSync(dir, { recursive: true })
    },
  }
}

test('two versions are compared, and each difference has its cause', { tag: '@main' }, async ({ page, allowed }) => {
  allowed.push(refused(422)) // the version that has not been built
  const { simulator, remove } = await withStandIns()
  try {
    await page.goto(`${simulator.url}/upgrade?from=1.34&to=1.36`)
    await expect(page.getByText('What would another version of Kubernetes decide?').first()).toBeVisible(slow)
    await expect(page.locator('[data-version="1.35"]')).toContainText('built')
    await expect(page.getByTestId('not-built')).toContainText('make scheduler-1.34')
    await expect(page.getByTestId('upgrade-ask')).toBeDisabled()
    expect(await objections(page)).toEqual([])

    await page.getByRole('combobox', { name: 'From' }).selectOption('1.35')
    await expect(page.getByTestId('not-built')).toHaveCount(0)
    await page.getByTestId('upgrade-ask').click()
    await expect(page.getByTestId('upgrade-sentence')).toHaveText(
      'From 1.35 to 1.36, 3 of 5 decisions go to another node and 1 pod fits no longer.',
      slow
    )
    const causes = page.getByTestId('upgrade-causes')
    await expect(causes.getByRole('button')).toHaveCount(3)
    // What fits no longer is shown first.
    await expect(page.getByTestId('upgrade-why')).toContainText('disk.example CSI driver is not installed')
    await page.locator('[data-class="moved"]').click()
    await expect(causes.getByRole('button')).toHaveCount(2)
    await expect(page.getByTestId('upgrade-why')).toContainText('Since 1.36 the score says what the pod does')
    await expect(page.locator('[data-side="B"]')).toContainText('chooses worker-3')
    await expect(page.getByTestId('upgrade-others')).toContainText('web-2')
    await page.getByRole('button', { name: 'Next cause' }).click()
    await expect(page.getByTestId('upgrade-why')).toContainText('StorageCapacityScoring')
    await expect(page.locator('[data-gate="StorageCapacityScoring"]')).toContainText('beta, on')
    await expect(page.getByTestId('upgrade-settings')).toContainText('NodeDeclaredFeatures')
    expect(await objections(page)).toEqual([])
    expect(await faults(page)).toEqual([])

    await page.getByRole('button', { name: 'Report' }).click()
    const saved = page.waitForEvent('download')
    await page.getByRole('menuitem', { name: 'Markdown' }).click()
    expect((await saved).suggestedFilename()).toBe('upgrade-1.35-1.36.md')

    // The report stays, and a file has one of its own.
    await page.reload()
    await expect(page.getByTestId('upgrade-sentence')).toContainText('3 of 5 decisions', slow)
    await page.getByTestId('upgrade-file').setInputFiles({
      name: 'prod.yaml',
      mimeType: 'application/yaml',
      buffer: Buffer.from(JSON.stringify(node('only', { cpu: '4' }))),
    })
    await expect(page.getByTestId('upgrade-sentence')).toContainText('there is no decision to compare', slow)
    await expect(page.getByText('prod.yaml')).toBeVisible()

    // What cannot be read is named, in a report and in place of one.
    await page.getByTestId('upgrade-file').setInputFiles({
      name: 'half.yaml',
      mimeType: 'application/yaml',
      buffer: Buffer.from(`${JSON.stringify(node('only', { cpu: '4' }))}\n---\nkind: Pod\n`),
    })
    await expect(page.getByTestId('upgrade-not-judged')).toContainText('half.yaml, document 2', slow)
    await page.getByTestId('upgrade-file').setInputFiles({
      name: 'noise.ksr',
      mimeType: 'application/octet-stream',
      buffer: Buffer.from([0, 1, 2]),
    })
    await expect(page.getByRole('alert')).toContainText('noise.ksr: it is neither text nor', slow)
    await expect(page.getByTestId('upgrade-not-judged')).toHaveCount(0)

    // One pod, asked of another version.
    await page.goto(`${simulator.url}/decisions/default/db-1?view=asked`)
    await expect(page.getByTestId('hypothetical-bar')).toContainText('Asked again at', slow)
    await page.locator('[data-suppose="configuration"]').first().click()
    const supposed = page.getByRole('dialog', { name: 'What if the scheduler were different?' })
    await supposed.getByRole('combobox', { name: 'Kubernetes' }).selectOption('1.36')
    await supposed.getByTestId('suppose-try').click()
    await expect(page.getByTestId('hypothesis-chip')).toContainText('the scheduler of Kubernetes 1.36')
    await expect(page.getByTestId('hypothetical-bar')).toContainText(
      'The scheduler of Kubernetes v1.36.9 decided. Nothing in the cluster has changed.',
      slow
    )
    await expect(page.getByRole('main')).toContainText('disk.example CSI driver is not installed on the node')
    await expect(page.getByTestId('apply-hypothesis-open')).toHaveCount(0)
    // A version that has not been built says how to build it.
    await page.locator('[data-suppose="configuration"]').first().click()
    await supposed.getByRole('combobox', { name: 'Kubernetes' }).selectOption('1.34')
    await supposed.getByTestId('suppose-try').click()
    await expect(page.getByRole('main')).toContainText('make scheduler-1.34', slow)
    await expect(page.getByText('make scheduler-1.34')).toHaveCount(1)
    await page.goto('about:blank')
  } finally {
    await remove()
  }
})

test('the versions beside the binary are asked, and the others say how to build them', async ({ page, simulator }) => {
  const built = (minor: string) => existsSync(join(dirname(binary), `scheduler-${minor}`))
  await page.goto(`${simulator.url}/upgrade?from=1.35&to=1.37`)
  await expect(page.getByTestId('upgrade-form')).toBeVisible(slow)
  if (built('1.35') && built('1.37')) {
    await page.getByTestId('upgrade-ask').click()
    await expect(page.getByTestId('upgrade-sentence')).toContainText('From 1.35 to 1.37', { timeout: 120_000 })
    return
  }
  await expect(page.getByTestId('not-built').first()).toContainText('make scheduler-1.3')
  await expect(page.getByTestId('upgrade-ask')).toBeDisabled()
})
