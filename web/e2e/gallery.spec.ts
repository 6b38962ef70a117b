// Where scenarios come from, and where they stay: the gallery, saved ones, recorded steps, and the cluster.

import { objections } from './axe'
import { typeAtTheEnd } from './scenarios'
import { expect, node, pod, test } from './simulator'

const editor = 'Scenario file'

test(
  'a card of the gallery runs as it says, is saved, and is found again after a reload',
  { tag: '@main' },
  async ({ page, simulator }) => {
    await page.goto(`${simulator.url}/scenarios`)
    const gallery = page.getByTestId('gallery')
    await expect(gallery.locator('[data-card]')).toHaveCount(5)
    expect(await objections(page)).toEqual([])
    await page.locator('[data-card="zones-stay-balanced"]').press('Enter')
    await expect(page.getByRole('textbox', { name: editor })).toContainText('zones-stay-balanced')
    await page.getByTestId('run').click()
    await expect(page.getByTestId('run-headline')).toContainText('4 of 4 expectations hold')

    await typeAtTheEnd(page, '# mine\n')
    await page.getByTestId('save-scenario').click()
    await page.getByRole('textbox', { name: 'Name' }).fill('my zones')
    await page.getByRole('textbox', { name: 'Name' }).press('Enter')
    await expect(page.getByText('Saved as my zones.')).toBeVisible()
    await page.getByTestId('to-gallery').click()

    // An unsaved draft is kept over a reload, and is not replaced without a question.
    await typeAtTheEnd(page, '# not saved\n')
    await page.reload()
    // The editor draws only what is in view.
    await page.getByRole('textbox', { name: editor }).press('Control+End')
    await expect(page.getByRole('textbox', { name: editor })).toContainText('# not saved')
    await page.locator('[data-own="my zones"]').click()
    const ask = page.getByRole('dialog', { name: 'Replace what is in the editor?' })
    expect(await objections(page)).toEqual([])
    await ask.getByRole('button', { name: 'Cancel' }).click()
    await expect(page.getByRole('textbox', { name: editor })).toContainText('# not saved')
    await page.locator('[data-own="my zones"]').click()
    await ask.getByRole('button', { name: 'Replace' }).click()
    await expect(ask).toBeHidden()
    await page.getByRole('textbox', { name: editor }).press('Control+End')
    await expect(page.getByRole('textbox', { name: editor })).toContainText('# mine')
    await expect(page.getByRole('textbox', { name: editor })).not.toContainText('# not saved')

    const own = page.getByTestId('own-scenarios')
    await own.getByRole('button', { name: 'Rename my zones' }).click()
    await page.getByRole('textbox', { name: 'Name' }).fill('zones')
    await page.getByRole('textbox', { name: 'Name' }).press('Enter')
    const [file] = await Promise.all([
      page.waitForEvent('download'),
      own.getByRole('button', { name: 'Download zones' }).click(),
    ])
    expect(file.suggestedFilename()).toBe('zones.yaml')
    await own.getByRole('button', { name: 'Delete zones' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click()
    await expect(own.locator('[data-own]')).toHaveCount(0)
  }
)

test('steps become a scenario, all of them or a part, and so does the cluster', async ({ page, simulator }) => {
  await simulator.kube('POST', '/api/v1/nodes', node('n1'))
  await simulator.ready('n1')
  await simulator.kube('POST', '/api/v1/namespaces/default/pods', pod('mine'))
  await expect(async () => {
    const { spec } = await simulator.kube<{ spec: { nodeName?: string } }>(
      'GET',
      '/api/v1/namespaces/default/pods/mine'
    )
    expect(spec.nodeName).toBe('n1')
  }).toPass()

  await page.goto(`${simulator.url}/scenarios`)
  await page.getByTestId('record-steps').click()
  const text = page.getByRole('textbox', { name: editor })
  await expect(text).toContainText('Recorded from the time line')
  await expect(text).toContainText('name: mine')
  await page.getByTestId('run').click()
  await expect(page.getByText('1 of 1 pods have a node').last()).toBeVisible()

  // It is saved nowhere, so the next one asks.
  await page.getByTestId('to-gallery').click()
  await page.getByTestId('from-cluster').click()
  await page.getByRole('dialog').getByRole('button', { name: 'Replace' }).click()
  await expect(text).toContainText('Write your steps here')

  await page.goto(`${simulator.url}/timeline`)
  await page.getByTestId('steps').getByRole('button').first().click()
  await page.getByTestId('past-band').getByTestId('record-steps').click()
  await page.getByRole('dialog').getByRole('button', { name: 'Replace' }).click()
  await expect(text).toContainText('Recorded from the time line')
  await expect(page).toHaveURL(/\/scenarios$/)
})
