// Objects: create from YAML, edit, resolve a conflict, delete.

import { nodeYaml, podYaml, replaceText, writeYaml } from './actions'
import { expect, node, pod, refused, test } from './simulator'

test.describe.configure({ mode: 'serial' })

test('invalid YAML is reported at its line, and nothing is created', async ({ page, simulator }) => {
  await page.goto(simulator.url)
  await writeYaml(page, 'apiVersion: v1\nkind: Node\nmetadata:\n\tname: x\n')
  await page.getByTestId('create-submit').click()
  const report = page.getByTestId('create-report')
  await expect(report).toContainText('Nothing was created')
  await expect(report).toContainText('line 4')
})

test(
  'an invalid object shows the API server’s message at its field, and nothing else is created',
  { tag: '@main' },
  async ({ page, simulator, allowed }) => {
    allowed.push(refused(400))
    allowed.push(refused(422))
    await page.goto(simulator.url)
    await writeYaml(page, `${nodeYaml('never')}---\n${podYaml('bad').replace('image:', 'imagee:')}`)
    await page.getByTestId('create-submit').click()
    const report = page.getByTestId('create-report')
    await expect(report).toContainText('Nothing was created')
    await expect(report).toContainText('unknown field "spec.containers[0].imagee"')
    await expect(report).toContainText('line 20')
    await expect(report).toContainText('not attempted')
    const { items } = await simulator.kube<{ items: unknown[] }>('GET', '/api/v1/nodes')
    expect(items).toEqual([])

    // The dialog kept the draft, and a corrected document gets further.
    await page.keyboard.press('Escape')
    await page.getByRole('button', { name: 'Create', exact: true }).first().click()
    const editor = page.getByRole('textbox', { name: 'Objects to create, as YAML' })
    await expect(editor).toContainText('imagee')
    await replaceText(page, editor, `${podYaml('bad')}---\n${podYaml('Not A Name')}`)
    await page.getByTestId('create-submit').click()
    await expect(report).toContainText('metadata.name')
  }
)

test('one batch creates a namespace and an object in it', async ({ page, simulator }) => {
  await page.goto(simulator.url)
  await writeYaml(
    page,
    `${podYaml('inside').replace('name: inside', 'name: inside\n  namespace: fresh')}` +
      `---\napiVersion: v1\nkind: Namespace\nmetadata:\n  name: fresh\n`
  )
  await page.getByTestId('create-submit').click()
  await expect(page.getByRole('dialog', { name: 'Create' })).toBeHidden()
  await page.goto(`${simulator.url}/resources/pods`)
  await expect(page.locator('[data-key="fresh/inside"]')).toContainText('Pending')
})

test('an object can be edited, and a conflict is reported and resolved', async ({ page, simulator, allowed }) => {
  allowed.push(refused(409))
  await simulator.kube('POST', '/api/v1/nodes', node('edit-me', { labels: { colour: 'red' } }))
  await page.goto(`${simulator.url}/resources/nodes?select=edit-me`)
  const detail = page.getByTestId('object-detail')
  await expect(detail).toContainText('colour')
  await detail.getByRole('button', { name: 'Edit', exact: true }).click()
  const editor = detail.getByRole('textbox')
  const read = async () =>
    (
      await simulator.kube<{ metadata: { resourceVersion: string; labels: Record<string, string> } }>(
        'GET',
        '/api/v1/nodes/edit-me'
      )
    ).metadata
  const text = (version: string, colour: string) =>
    nodeYaml('edit-me').replace('  labels:\n', `  resourceVersion: "${version}"\n  labels:\n    colour: ${colour}\n`)
  await replaceText(page, editor, text((await read()).resourceVersion, 'blue'))
  await detail.getByRole('button', { name: 'Dry run' }).click()
  await detail.getByRole('button', { name: 'Save' }).click()
  await expect(page.getByText('Saved: edit-me')).toBeVisible()
  expect((await read()).labels.colour).toBe('blue')

  await detail.getByRole('button', { name: 'Edit', exact: true }).click()
  await replaceText(page, editor, text((await read()).resourceVersion, 'green'))
  await simulator.kube('PUT', '/api/v1/nodes/edit-me', { ...node('edit-me', { labels: { colour: 'other' } }) })
  await detail.getByRole('button', { name: 'Dry run' }).click()
  await expect(detail).toContainText('Another client has changed this object')
  await detail.getByRole('button', { name: 'Overwrite with mine' }).click()
  await expect(detail.getByRole('button', { name: 'Edit', exact: true })).toBeVisible()
  expect((await read()).labels.colour).toBe('green')
})

test('one object or several can be deleted', { tag: '@main' }, async ({ page, simulator, allowed }) => {
  // The panel reads the pod again after each change; by then it may be gone.
  allowed.push(refused(String.raw`404 .*/pods/d1\)$`))
  for (const name of ['d1', 'd2', 'd3'])
    await simulator.kube('POST', '/api/v1/namespaces/default/pods', pod(name, '64'))
  await page.goto(`${simulator.url}/resources/pods?q=default`)
  await page.locator('[data-key="default/d1"]').click()
  await page.getByTestId('object-detail').getByRole('button', { name: 'Delete' }).click()
  await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click()
  await expect(page.locator('[data-key="default/d1"]')).toHaveCount(0)

  await page.getByRole('checkbox', { name: 'Select d2' }).check()
  await page.getByRole('checkbox', { name: 'Select d3' }).check()
  await expect(page.getByText('2 selected')).toBeVisible()
  await page.getByRole('button', { name: 'Delete', exact: true }).click()
  await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click()
  await expect(page.locator('[data-key^="default/d"]')).toHaveCount(0)
})

test('every served kind can be listed', async ({ page, simulator }) => {
  await page.goto(`${simulator.url}/resources/namespaces`)
  await expect(page.locator('[data-key="default"]')).toBeVisible()
  await page.getByRole('link', { name: 'StorageClasses' }).click()
  await expect(page.locator('[data-key="standard"]')).toBeVisible()
  await page.getByRole('link', { name: 'RuntimeClasses' }).click()
  await expect(page.getByText('No RuntimeClasses yet')).toBeVisible()
  await page.goto(`${simulator.url}/scheduler`)
  await expect(page.getByRole('textbox', { name: /KubeSchedulerConfiguration/ })).toContainText(
    'KubeSchedulerConfiguration'
  )
})
