// The scheduler's configuration: presets, mistakes, completion, revisions, feature gates.

import type { Page } from '@playwright/test'
import { replaceText } from './actions'
import { expect, inWorkspace, node, pod, refused, test, type Simulator } from './simulator'

test.describe.configure({ mode: 'serial' })
test.use({ restarts: true })

const head = 'apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\n'
const editorOf = (page: Page) => page.getByRole('textbox', { name: 'KubeSchedulerConfiguration as YAML' })

async function open(page: Page, simulator: Simulator, query = '') {
  await page.goto(`${simulator.url}/scheduler${query}`)
  await expect(page.getByTestId('verdict')).toContainText('This configuration is running')
  await expect(editorOf(page)).toContainText('KubeSchedulerConfiguration')
}

// The default is written out in full: a comparison of texts showed 129 removed lines.
test('six changes of the default show as six', async ({ page, simulator }) => {
  await open(page, simulator)
  await replaceText(
    page,
    editorOf(page),
    `${head}parallelism: 8
percentageOfNodesToScore: 60
profiles:
- schedulerName: default-scheduler
  plugins:
    score:
      enabled:
      - name: ImageLocality
        weight: 7
  pluginConfig:
  - name: NodeResourcesFit
    args:
      scoringStrategy:
        type: MostAllocated
- schedulerName: batch
extenders:
- urlPrefix: http://127.0.0.1:9
  filterVerb: filter
  ignorable: true
`
  )
  await expect(page.getByTestId('verdict')).toContainText('Valid.')
  await expect(page.getByTestId('difference-count')).toHaveText('6 changes')
  await page.getByRole('tab', { name: 'Difference from running' }).click()
  const changes = page.getByTestId('configuration-difference').getByRole('listitem')
  await expect(changes).toHaveCount(6)
  await expect(changes.filter({ hasText: 'plugins.score[ImageLocality].weight' })).toContainText(/1\s+7/)
  await expect(changes.filter({ hasText: 'scoringStrategy.type' })).toContainText(/LeastAllocated\s+MostAllocated/)
  await expect(changes.filter({ hasText: 'New profile' })).toHaveCount(1)
  await expect(changes.filter({ hasText: 'extenders[http://127.0.0.1:9]' })).toHaveCount(1)
  await page.getByRole('button', { name: 'Discard' }).click()
})

test(
  'applying a preset shows its difference first, and the scheduler then uses it',
  { tag: '@main' },
  async ({ page, simulator }) => {
    for (const name of ['full', 'empty']) await simulator.kube('POST', '/api/v1/nodes', node(name))
    await simulator.kube('POST', '/api/v1/namespaces/default/pods', {
      ...pod('there', '4'),
      spec: { ...pod('there', '4').spec, nodeName: 'full' },
    })
    await open(page, simulator)
    await expect(page.getByTestId('effective-plugins')).toContainText('Changed 0')

    await page
      .getByTestId('presets')
      .getByRole('button', { name: /^Bin packing/ })
      .click()
    await expect(page.getByRole('heading', { name: 'Draft for revision 2' })).toBeVisible()
    await expect(page.getByTestId('verdict')).toContainText('Valid.')
    await expect(page.getByTestId('difference-count')).toHaveText('4 changes')
    await page.getByTestId('apply').click()
    const dialog = page.getByRole('dialog', { name: 'Apply revision 2' })
    await expect(dialog).toContainText('MostAllocated')
    await page.getByTestId('apply-confirm').click()
    await expect(dialog).toBeHidden()
    await expect(page.getByRole('heading', { name: 'Revision 2 is running' })).toBeVisible()

    const effective = page.getByTestId('effective-plugins')
    await expect(effective).toContainText('Changed 3')
    await effective.getByRole('button', { name: /^Changed/ }).click()
    await expect(effective.locator('[data-plugin]')).toHaveCount(3)
    await effective.getByRole('button', { name: 'Arguments of NodeResourcesFit' }).click()
    await expect(page.getByTestId('plugin-arguments')).toContainText('type: MostAllocated')
    await expect(page).toHaveURL(/plugins=changed.*args=NodeResourcesFit/)

    await simulator.kube('POST', '/api/v1/namespaces/default/pods', pod('packed'))
    await page.goto(`${simulator.url}/decisions/default/packed`)
    await expect(page.getByTestId('explanation')).toContainText('packed runs on full')
    await page.getByRole('complementary').getByRole('link', { name: 'rev 2' }).click()
    await expect(page.getByRole('dialog', { name: 'Revision 2' })).toContainText('running')
  }
)

test(
  'mistakes are shown at their lines, and the text is never lost',
  { tag: '@main' },
  async ({ page, simulator, allowed }) => {
    allowed.push(refused(422))
    await open(page, simulator)
    await replaceText(
      page,
      editorOf(page),
      `${head}parallelsm: 3\nprofiles:\n- plugins:\n    score:\n      enabled:\n      - name: NodeResourcesFt\n`
    )
    await expect(page.getByTestId('verdict')).toContainText('2 errors. Revision 2 keeps running.')
    await expect(page.getByTestId('apply')).toBeDisabled()
    await expect(page.getByRole('tabpanel')).toContainText('no plugin is named "NodeResourcesFt"')
    await page.getByRole('button', { name: 'Change to parallelism' }).click()
    await expect(page.getByTestId('verdict')).toContainText('1 error')
    await expect(editorOf(page)).toContainText('parallelism: 3')

    // Leaving asks for confirmation, and cancelling keeps the text.
    await page.getByRole('link', { name: 'Cluster' }).first().click()
    const leave = page.getByRole('dialog', { name: 'Leave with an unapplied draft?' })
    await leave.getByRole('button', { name: 'Cancel' }).click()
    await expect(editorOf(page)).toContainText('NodeResourcesFt')
    await page.getByRole('link', { name: 'Cluster' }).first().click()
    await leave.getByRole('button', { name: 'Leave and discard' }).click()
    await expect(page).toHaveURL(`${simulator.url}/`)
  }
)

test('completion knows the fields, the plugins and their arguments', async ({ page, simulator, allowed }) => {
  // The page checks the draft while a value is missing.
  allowed.push(refused(422))
  await open(page, simulator)
  await replaceText(
    page,
    editorOf(page),
    `${head}profiles:\n- pluginConfig:\n  - name: NodeResourcesFit\n    args:\n      scoringStrategy:\n        type: `
  )
  await page.keyboard.press('Control+Space')
  const list = page.getByRole('listbox', { name: 'Completions' })
  await expect(list).toContainText('RequestedToCapacityRatio')
  await list.getByRole('option', { name: 'MostAllocated' }).click()
  await expect(editorOf(page)).toContainText('type: MostAllocated')
  await page.getByRole('button', { name: 'Discard' }).click()
  await expect(page.getByTestId('verdict')).toContainText('This configuration is running')
})

test('a configuration that another client applies is shown with its difference, and the draft stays', async ({
  page,
  simulator,
}) => {
  await open(page, simulator)
  await replaceText(page, editorOf(page), `${head}parallelism: 7\n`)
  await expect(page.getByTestId('verdict')).toContainText('Valid.')
  await simulator.configure(`${head}percentageOfNodesToScore: 50\n`)
  const notice = page.getByTestId('overtaken')
  await expect(notice).toContainText('Revision 3 is now running')
  await expect(editorOf(page)).toContainText('parallelism: 7')
  await notice.getByRole('button', { name: 'Show the difference' }).click()
  const changes = page.getByRole('tabpanel').getByTestId('configuration-difference')
  await expect(changes.locator('[data-change="percentageOfNodesToScore"]')).toContainText('50')
  await changes.getByRole('button', { name: 'As text' }).click()
  await expect(changes.getByTestId('yaml-diff')).toContainText('parallelism: 7')
  await changes.getByRole('button', { name: /changes$/ }).click()
  await notice.getByRole('button', { name: 'Keep my draft' }).click()
  await expect(notice).toBeHidden()
  // A reload asks for confirmation; afterwards the browser restores the draft.
  page.on('dialog', (dialog) => void dialog.accept())
  await page.reload()
  await page.getByRole('tab', { name: 'YAML' }).click()
  await expect(editorOf(page)).toContainText('parallelism: 7')
  await page.getByTestId('apply').click()
  await page.getByTestId('apply-confirm').click()
  await expect(page.getByRole('heading', { name: 'Revision 4 is running' })).toBeVisible()
})

test('a revision can be read, compared and applied again, and the default can be restored', async ({
  page,
  simulator,
}) => {
  await open(page, simulator)
  await page.getByRole('tab', { name: 'Applied revisions' }).click()
  await page.getByTestId('revisions').locator('[data-revision="2"]').click()
  const dialog = page.getByRole('dialog', { name: 'Revision 2' })
  await expect(dialog).toContainText('MostAllocated')
  await expect(page).toHaveURL(/revision=2/)
  await page.getByTestId('apply-again').click()
  await expect(dialog).toBeHidden()
  await expect(page.getByRole('heading', { name: 'Revision 5 is running' })).toBeVisible()
  await expect(page.getByTestId('revisions').locator('[data-revision="5"]')).toContainText('running')

  await page.getByRole('button', { name: 'Restore default' }).first().click()
  await page.getByRole('dialog').getByRole('button', { name: 'Restore default' }).click()
  await expect(page.getByRole('heading', { name: 'Revision 6 is running' })).toBeVisible()
  await page.getByRole('tab', { name: 'Plugins' }).click()
  await expect(page.getByTestId('effective-plugins')).toContainText('Changed 0')
})

test('every preset is valid as it is', async ({ page, simulator }) => {
  await open(page, simulator)
  const names = await page
    .getByTestId('presets')
    .locator('[data-preset]')
    .evaluateAll((all) => all.map((e) => (e as HTMLElement).dataset.preset))
  expect(names.length).toBeGreaterThanOrEqual(6)
  for (const name of names) {
    await page.getByTestId('presets').locator(`[data-preset="${name}"]`).click()
    await expect(page.getByTestId('verdict')).toContainText('Valid.')
  }
})

test('feature gates and the queue are shown', async ({ page, simulator }) => {
  await open(page, simulator)
  await page.getByRole('tab', { name: 'Feature gates' }).click()
  await expect(page.getByTestId('feature-gates')).toContainText('GenericWorkload')
  await page.getByPlaceholder('Find a feature gate').fill('watchlist')
  await expect(page.getByTestId('feature-gates').locator('li').first()).toContainText('WatchList')
  await page.getByRole('tab', { name: 'Applied revisions' }).click()
  await expect(page.getByTestId('queue-lengths')).toContainText('activeQ')
})

test('a link to a plugin highlights it, and the running plugins are distinguished from the draft', async ({
  page,
  simulator,
}) => {
  await page.goto(`${simulator.url}/scheduler?plugin=ImageLocality`)
  const row = page.getByTestId('effective-plugins').locator('[data-plugin="ImageLocality"]')
  await expect(row).toHaveAttribute('aria-current', 'true')
  await expect(row).toBeInViewport()
  await expect(page.getByTestId('effective-of')).toHaveCount(0)
  await page.locator('[data-preset="noPreemption"]').click()
  const note = page.getByTestId('effective-note')
  await expect(note).toContainText('1 plugin differs from running')
  const preemption = page.getByTestId('effective-plugins').locator('[data-plugin="DefaultPreemption"]')
  await expect(preemption).toContainText('off')
  await expect(preemption).toContainText('running: enabled')
  await page.getByTestId('effective-of').getByRole('button', { name: 'running', exact: true }).click()
  await expect(page).toHaveURL(/effective=running/)
  await expect(note).toContainText('These plugins are running now')
  await expect(preemption).not.toContainText('off')
})

test('a draft can be saved as a preset, loaded again and deleted', async ({ page, simulator }) => {
  await open(page, simulator)
  await replaceText(page, editorOf(page), `# Two at a time.\n${head}parallelism: 2\n`)
  await expect(page.getByTestId('difference-count')).toBeVisible()
  const presets = page.getByTestId('presets')
  await page.getByTestId('save-preset').click()
  await page.getByLabel('Preset name').fill('  Slow  lane ')
  await page.keyboard.press('Enter')
  await expect(presets.locator('[data-own-preset="Slow lane"]')).toContainText('Two at a time.')
  await expect(page.getByText('from preset Slow lane')).toBeVisible()
  await page.getByRole('button', { name: 'Discard' }).click()
  await expect(editorOf(page)).not.toContainText('parallelism: 2')

  await page.reload()
  await presets.locator('[data-own-preset="Slow lane"]').click()
  await expect(editorOf(page)).toContainText('parallelism: 2')
  await expect(page.getByTestId('verdict')).toContainText('Valid.')
  await presets.getByRole('button', { name: 'Delete preset Slow lane' }).click()
  await page.getByRole('dialog').getByRole('button', { name: 'Delete', exact: true }).click()
  await expect(presets.locator('[data-own-preset]')).toHaveCount(0)
  await page.getByRole('button', { name: 'Discard' }).click()
})

test('the complete default is folded to its essentials and unfolds on a click', async ({ page, simulator }) => {
  await page.goto(`${simulator.url}/scheduler?view=default`)
  const text = page.locator('.cm-content')
  await expect(text).toContainText('pluginConfig:')
  await expect(text).not.toContainText('DefaultPreemptionArgs')
  await expect(text).not.toContainText('leaderElect: true')
  await expect(text).toContainText('schedulerName: default-scheduler')
  await text.locator('.cm-foldPlaceholder').first().click()
  await expect(text).toContainText('leaderElect: true')
})

test('names of plugins and feature gates are whole at every width', async ({ page, simulator }) => {
  for (const width of [390, 900, 1180, 1280, 1440, 2560]) {
    await page.setViewportSize({ width, height: 900 })
    for (const [query, names] of [
      ['', '[data-testid="effective-plugins"] .nm'],
      ['?view=gates', '[data-testid="feature-gates"] .nm'],
    ] as const) {
      await page.goto(`${simulator.url}/scheduler${query}`)
      await expect(page.locator(names).first()).toBeVisible()
      const cut = await page.locator(names).evaluateAll((all) => {
        // Text that is wider than its box, or a box that reaches into the next column.
        const over = (e: Element) =>
          e.scrollWidth > e.clientWidth + 1 ||
          e.getBoundingClientRect().right > (e.nextElementSibling?.getBoundingClientRect().left ?? Infinity) + 1
        return { names: all.length, cut: all.filter(over).map((e) => e.textContent) }
      })
      expect(cut.names).toBeGreaterThan(15)
      expect(cut.cut, `at ${width}`).toEqual([])
    }
  }
})

test('dials change the text, and the text moves the dials', { tag: '@main' }, async ({ page, simulator }) => {
  await simulator.call('DELETE', '/api/v1/schedulerconfiguration')
  for (const name of ['one', 'two']) await simulator.kube('POST', '/api/v1/nodes', node(name))
  await simulator.ready('one', 'two')
  for (const name of ['a', 'b', 'c', 'd']) await simulator.kube('POST', '/api/v1/namespaces/default/pods', pod(name))
  await open(page, simulator)
  const text = editorOf(page)
  // Nothing but what differs from the default.
  await expect(text).not.toContainText('leaderElection')
  const slider = page.getByRole('slider', { name: 'Weight of NodeResourcesFit' })
  await expect(slider).toHaveAttribute('aria-valuenow', '1')
  await slider.focus()
  await page.keyboard.press('ArrowRight')
  await page.keyboard.press('ArrowRight')
  await expect(slider).toHaveAttribute('aria-valuenow', '3')
  await expect(text).toContainText('weight: 3')
  await page.keyboard.type('12')
  await page.keyboard.press('Enter')
  await expect(slider).toHaveAttribute('aria-valuenow', '12')
  await expect(page.getByTestId('verdict')).toContainText('Valid.')
  await expect(slider).toHaveAttribute('aria-valuenow', '12')
  await expect(slider).toBeFocused()
  await page.keyboard.press('0')
  await expect(slider).toHaveAttribute('aria-valuetext', 'off')
  await expect(text).toContainText('disabled:')
  await page.keyboard.press('Backspace')
  await expect(slider).toHaveAttribute('aria-valuenow', '1')
  await expect(text).not.toContainText('NodeResourcesFit')

  // By mouse, to the middle.
  const box = (await slider.boundingBox()) ?? { x: 0, y: 0, width: 0, height: 0 }
  await page.mouse.move(box.x + 5, box.y + box.height / 2)
  await page.mouse.down()
  await page.mouse.move(box.x + box.width / 2, box.y + box.height / 2, { steps: 5 })
  await page.mouse.up()
  await expect(slider).toHaveAttribute('aria-valuenow', '5')
  await expect(page.getByTestId('draft-judged')).toContainText(/NodeResourcesFit × 5: .*of \d+ would go elsewhere/)

  await replaceText(
    page,
    text,
    `# by hand\n${head}profiles:\n- plugins:\n    score:\n      enabled:\n      - {name: ImageLocality, weight: 7} # seven\n`
  )
  const image = page.getByRole('slider', { name: 'Weight of ImageLocality' })
  await expect(image).toHaveAttribute('aria-valuenow', '7')
  const filter = page.getByRole('switch', { name: 'TaintToleration in Filter' })
  await filter.click()
  await expect(filter).toHaveAttribute('aria-checked', 'false')
  await expect(text).toContainText('# by hand')
  await expect(text).toContainText('{ name: ImageLocality, weight: 7 } # seven')
  await expect(page.getByTestId('verdict')).toContainText('Valid.')
  await expect(filter).toHaveAttribute('aria-checked', 'false')
  await filter.press('ArrowRight')
  await expect(filter).not.toBeFocused()
  await page.getByRole('button', { name: 'Discard' }).click()
})

test('applying shows its consequences, and offers to create the pods again in a workspace', async ({
  page,
  simulator,
}) => {
  test.setTimeout(120_000)
  await open(page, simulator)
  await page.locator('[data-preset="binPacking"]').click()
  await expect(page.getByTestId('draft-judged')).toHaveAttribute('data-document-current', 'true')
  await page.getByTestId('apply').click()
  await expect(page.getByTestId('apply-consequence')).toContainText(/would go elsewhere/)
  await expect(page.getByRole('dialog')).toContainText('No pod moves when you apply')
  await page.getByTestId('apply-confirm').click()
  // Now it is what the others are compared with.
  await expect(page.getByTestId('draft-judged')).toContainText(/None of \d+ would go elsewhere/)
  await page.getByTestId('recreate-do').click()
  const shown = await inWorkspace(page)
  await expect(async () => {
    const { items } = await shown.kube<{ items: { spec: { nodeName?: string } }[] }>(
      'GET',
      '/api/v1/namespaces/default/pods'
    )
    expect(new Set(items.map((one) => one.spec.nodeName)).size).toBe(1)
  }).toPass({ timeout: 30_000 })
  expect(await shown.call('GET', '/api/v1/schedulerconfiguration/effective')).toMatchObject({
    profiles: [{ schedulerName: 'default-scheduler' }],
  })
  await page.getByTestId('branch-compare').click()
  await expect(page.getByTestId('branch-maps')).toBeVisible()
})
