// The object editor: completion, dry runs, existing objects, copies and files.

import { nodeYaml, podYaml, writeYaml } from './actions'
import { objections } from './axe'
import { expect, node, pod, refused, refusedQuestion, test, type Simulator } from './simulator'
import type { Page } from '@playwright/test'

test.describe.configure({ mode: 'serial' })

const dialog = (page: Page) => page.getByRole('dialog', { name: 'Create' })
const text = (page: Page) => dialog(page).getByRole('textbox', { name: 'Objects to create, as YAML' })
const submit = (page: Page) => page.getByTestId('create-submit').click()
const created = (page: Page) => expect(dialog(page)).toBeHidden()
const labels = async (simulator: Simulator, path: string) =>
  (await simulator.kube<{ metadata: { labels?: Record<string, string> } }>('GET', path)).metadata.labels

/** Server-side apply, as `kubectl apply --server-side` does it. */
async function applyAs(simulator: Simulator, manager: string, path: string, object: object): Promise<void> {
  const response = await fetch(`${simulator.url}/kubernetes${path}?fieldManager=${manager}&force=true`, {
    method: 'PATCH',
    headers: { 'Content-Type': 'application/apply-patch+yaml' },
    body: JSON.stringify(object),
  })
  expect(response.ok).toBe(true)
}

/** Drops a file on the dialog. */
async function drop(page: Page, name: string, content: string): Promise<void> {
  const data = await page.evaluateHandle(
    ([file, body]) => {
      const transfer = new DataTransfer()
      transfer.items.add(new File([body], file, { type: 'application/yaml' }))
      return transfer
    },
    [name, content] as const
  )
  const target = dialog(page).locator('.edit')
  await target.dispatchEvent('dragover', { dataTransfer: data })
  await target.dispatchEvent('drop', { dataTransfer: data })
}

// The strip asks where the pod would go while it is typed.
test.beforeEach(({ allowed }) => void allowed.push(refusedQuestion))

test('the editor completes fields and values and documents them', async ({ page, simulator }) => {
  await simulator.kube('POST', '/api/v1/nodes', node('node-1'))
  await page.goto(simulator.url)
  await writeYaml(
    page,
    'apiVersion: v1\nkind: Pod\nmetadata:\n  name: p\nspec:\n  containers:\n  - name: c\n    image: i\n' +
      '  topologySpreadConstraints:\n  - maxSkew: 1\n    '
  )
  await page.keyboard.press('ControlOrMeta+End')
  await page.keyboard.type('when')
  const options = page.getByRole('listbox').getByRole('option')
  await expect(options.first()).toContainText('whenUnsatisfiable')
  await expect(page.locator('.cm-completionInfo')).toContainText('WhenUnsatisfiable indicates how to deal with a pod')
  // Not Enter: it inserts a line break if the list has only just appeared.
  await options.first().click()
  // The editor offers the field's values immediately.
  await options.getByText('DoNotSchedule').click()
  await expect(text(page)).toContainText('whenUnsatisfiable: DoNotSchedule')
  await text(page).getByText('maxSkew').hover()
  await expect(page.locator('.cm-tooltip-hover')).toContainText(
    'MaxSkew describes the degree to which pods may be unevenly distributed'
  )
  await page.keyboard.press('Escape')
})

test('an unknown field is reported below its line, with the likely name', async ({ page, simulator, allowed }) => {
  allowed.push(refused(400))
  await page.goto(simulator.url)
  await writeYaml(page, podYaml('slip').replace('image:', 'imagee:'))
  await submit(page)
  const box = page.locator('.cm-problem').first()
  await expect(box).toContainText('unknown field "spec.containers[0].imagee"')
  await box.getByRole('button', { name: 'Change to image' }).click()
  await submit(page)
  await created(page)
  await simulator.kube('GET', '/api/v1/namespaces/default/pods/slip')
})

test('the form shows the values of the text, and edits in it change the text', async ({ page, simulator }) => {
  await page.goto(simulator.url)
  await writeYaml(page, `# kept\n${podYaml('form')}`)
  await dialog(page).getByRole('button', { name: 'Form' }).click()
  const name = dialog(page).getByRole('textbox', { name: 'metadata.name' })
  await expect(name).toHaveValue('form')
  await name.fill('filled-in')
  await name.press('Tab')
  await dialog(page).getByRole('button', { name: 'YAML', exact: true }).click()
  await expect(text(page)).toContainText('name: filled-in')
  await expect(text(page)).toContainText('# kept')
  await submit(page)
  await created(page)
  await simulator.kube('GET', '/api/v1/namespaces/default/pods/filled-in')
})

test('the form adds, explains and removes fields of the schema, and checks quantities', async ({ page, simulator }) => {
  await page.goto(simulator.url)
  await writeYaml(page, `# kept\n${podYaml('grown')}`)
  await dialog(page).getByRole('button', { name: 'Form' }).click()
  const form = dialog(page).getByTestId('yaml-form')
  await form.getByRole('button', { name: 'Add a field to spec', exact: true }).click()
  await page.keyboard.type('tolerat')
  await expect(form.getByTestId('form-add')).toContainText("If specified, the pod's tolerations")
  await page.keyboard.press('Enter')
  await form.getByRole('button', { name: 'Add a field to spec.tolerations[0]' }).click()
  await page.keyboard.type('operator')
  await page.keyboard.press('Enter')
  // The schema lists the values of an operator.
  await form.getByRole('combobox', { name: 'spec.tolerations[0].operator' }).selectOption('Exists')
  await form.getByRole('button', { name: 'Add a field to spec', exact: true }).click()
  await page.keyboard.type('nodeName')
  await page.keyboard.press('Enter')
  await form.getByRole('button', { name: 'Remove spec.nodeName' }).click()
  const cpu = form.getByRole('textbox', { name: 'spec.containers[0].resources.requests.cpu' })
  await cpu.fill('six')
  await cpu.press('Tab')
  await expect(form).toContainText('“six” is not a quantity')
  await cpu.fill('600m')
  await cpu.press('Tab')
  expect(await objections(page, { within: '[data-testid="yaml-form"]' })).toEqual([])
  await dialog(page).getByRole('button', { name: 'YAML', exact: true }).click()
  await expect(text(page)).toContainText('# kept')
  await submit(page)
  await created(page)
  const { spec } = await simulator.kube<{
    spec: { tolerations: { operator?: string }[]; containers: { resources: { requests: { cpu: string } } }[] }
  }>('GET', '/api/v1/namespaces/default/pods/grown')
  expect([spec.tolerations[0]?.operator, spec.containers[0]?.resources.requests.cpu]).toEqual(['Exists', '600m'])
})

test('a value that is no quantity is marked at its line, before and after the server refuses it', async ({
  page,
  simulator,
  allowed,
}) => {
  allowed.push(refused(400))
  await page.goto(simulator.url)
  await writeYaml(
    page,
    podYaml('six').replace('requests: {cpu: 500m, memory: 256Mi}', 'requests:\n        memory: 256Mi\n        cpu: six')
  )
  const marked = () =>
    page
      .locator('.cm-problem')
      .evaluateAll((all) =>
        all.map(
          (box) =>
            `${box.closest('.cm-problem-frame')?.previousElementSibling?.textContent?.trim()} | ${box.textContent}`
        )
      )
  const expected = ['cpu: six | cpu: “six” is not a quantity. Write an amount such as 500m, 2 or 4Gi.']
  await expect.poll(marked).toEqual(expected)
  await submit(page)
  await expect(page.getByTestId('create-report')).toContainText('Nothing was created.')
  await expect.poll(marked).toEqual(expected)
})

test('a start for a StatefulSet is accepted as it is', async ({ page, simulator }) => {
  await page.goto(`${simulator.url}/resources/statefulsets.apps`)
  await page
    .getByRole('main')
    .getByRole('button', { name: /^Create/ })
    .first()
    .click() // an empty list has a second one
  await expect(text(page)).toContainText('kind: StatefulSet')
  await submit(page)
  await created(page)
  await expect(() => simulator.kube('GET', '/api/v1/namespaces/default/pods/store-0')).toPass()
})

test('a dry run shows what the server would store, and stores nothing', async ({ page, simulator }) => {
  await page.goto(simulator.url)
  await writeYaml(page, podYaml('dry'))
  await dialog(page).getByRole('button', { name: 'Dry run' }).click()
  await expect(page.getByTestId('create-report')).toContainText('Dry run: 1 would be created')
  await expect(page.getByTestId('yaml-diff')).toContainText('restartPolicy: Always')
  const line = (text: string) => page.getByTestId('yaml-diff').locator('.cm-changedLine', { hasText: text })
  await expect(line('restartPolicy: Always')).toHaveAttribute('data-note', 'default')
  await expect(line('priority: 0')).toHaveAttribute('data-note', 'admission')
  const { items } = await simulator.kube<{ items: { metadata: { name: string } }[] }>(
    'GET',
    '/api/v1/namespaces/default/pods'
  )
  expect(items.map((i) => i.metadata.name)).not.toContain('dry')
  await submit(page)
  await created(page)
  await simulator.kube('GET', '/api/v1/namespaces/default/pods/dry')
})

test('an existing object changes only after its difference is shown, and fields of other managers only on request', async ({
  page,
  simulator,
  allowed,
}) => {
  allowed.push(refused(409))
  await applyAs(simulator, 'kubectl', '/api/v1/nodes/shared', {
    ...node('shared'),
    metadata: { name: 'shared', labels: { team: 'red' } },
  })
  await page.goto(simulator.url)
  await writeYaml(page, 'apiVersion: v1\nkind: Node\nmetadata:\n  name: shared\n  labels:\n    mine: "yes"\n')
  await submit(page)
  await expect(page.getByTestId('create-report')).toContainText('1 would be changed')
  await expect(page.getByTestId('yaml-diff')).toContainText('mine')
  expect(await labels(simulator, '/api/v1/nodes/shared')).not.toHaveProperty('mine')
  await submit(page)
  await created(page)
  expect(await labels(simulator, '/api/v1/nodes/shared')).toMatchObject({ mine: 'yes', team: 'red' })

  await writeYaml(page, 'apiVersion: v1\nkind: Node\nmetadata:\n  name: shared\n  labels:\n    team: blue\n')
  await submit(page)
  const report = page.getByTestId('create-report')
  await expect(report).toContainText('conflict with "kubectl"')
  await expect(report).toContainText('line 6')
  expect(await labels(simulator, '/api/v1/nodes/shared')).toMatchObject({ team: 'red' })
  // The difference shows what a takeover changes, and who manages each field.
  await expect(report).toContainText('Some of these fields are managed by kubectl.')
  await report.getByRole('button', { name: 'Difference' }).click()
  await expect(
    page.getByTestId('yaml-diff').locator('.cm-deletedLine[data-warn]', { hasText: 'team: red' })
  ).toHaveAttribute('data-note', 'kubectl')
  await expect(page.getByTestId('yaml-diff').locator('.cm-changedLine', { hasText: 'team: blue' })).toHaveAttribute(
    'data-note',
    'you'
  )
  await dialog(page).getByRole('button', { name: 'Take over fields' }).click()
  await expect(page.getByTestId('yaml-diff')).toContainText('blue')
  await submit(page)
  await created(page)
  expect(await labels(simulator, '/api/v1/nodes/shared')).toMatchObject({ team: 'blue' })
})

test('each copy gets its own name', async ({ page, simulator }) => {
  await page.goto(simulator.url)
  await writeYaml(page, nodeYaml('copy-{n}'))
  const copies = dialog(page).getByRole('textbox', { name: 'Copies' })
  await copies.fill('3')
  await copies.press('Tab')
  await expect(dialog(page)).toContainText('copy-1 … copy-3')
  await submit(page)
  await created(page)
  expect(await labels(simulator, '/api/v1/nodes/copy-2')).toMatchObject({ 'kubernetes.io/hostname': 'copy-2' })
  await simulator.kube('GET', '/api/v1/nodes/copy-3')
})

test('a clone leaves out the fields that the server set', async ({ page, simulator }) => {
  await simulator.kube('POST', '/api/v1/namespaces/default/pods', pod('first-1'))
  await page.goto(`${simulator.url}/resources/pods?select=default/first-1`)
  await page.getByTestId('object-detail').getByRole('button', { name: 'Clone' }).click()
  await expect(text(page)).toContainText('name: first-2')
  await expect(text(page)).not.toContainText('uid')
  await expect(text(page)).not.toContainText('nodeName')
  await submit(page)
  await created(page)
  await expect(page.locator('[data-key="default/first-2"]')).toBeVisible()
})

test('the message after creating has the focus, and says where the pod went or what keeps it pending', async ({
  page,
  simulator,
}) => {
  await simulator.kube('POST', '/api/v1/nodes', node('roomy', { cpu: '16' }))
  await simulator.ready('roomy')
  await page.goto(simulator.url)
  const message = page.locator('[data-notice]').last()
  await writeYaml(page, podYaml('too-hungry').replace('cpu: 500m', 'cpu: "28.5"'))
  await page.keyboard.press('ControlOrMeta+Enter')
  await created(page)
  await expect(message).toContainText('too-hungry is pending: 12.5 CPU short.')
  await message.getByRole('button', { name: 'Make it fit' }).click()
  await expect(page.getByTestId('fit-panel')).toBeVisible()
  expect(await objections(page)).toEqual([])

  await page.goto(simulator.url)
  await writeYaml(page, podYaml('fits-there'))
  await page.keyboard.press('ControlOrMeta+Enter')
  await created(page)
  await expect(message.getByRole('button').first()).toBeFocused()
  await expect(message).toContainText(/fits-there runs on \S+\./)
  await expect(message.getByRole('button').first()).toHaveText('Why?')
  await page.keyboard.press('Enter')
  await expect(page).toHaveURL(/\/decisions\/default\/fits-there/)
})

test('small dropped files open in the editor; a large one is listed beside it, with its rejected documents', async ({
  page,
  simulator,
  allowed,
}) => {
  allowed.push(refused(422))
  await page.goto(simulator.url)
  await page.getByRole('button', { name: 'Create', exact: true }).first().click()
  await expect(text(page)).toBeVisible()
  await drop(page, 'small.yaml', `${nodeYaml('dropped-1')}---\n${nodeYaml('dropped-2')}`)
  await expect(text(page)).toContainText('dropped-2')

  const many = Array.from({ length: 400 }, (_, i) =>
    podYaml(i === 7 ? 'Not A Name' : `many-${i}`).replace(
      '  name:',
      `  annotations:\n    padding: ${'x'.repeat(1500)}\n  name:`
    )
  )
  await drop(page, 'large.yaml', many.join('---\n'))
  await expect(page.getByTestId('create-files')).toContainText('400 objects')
  await submit(page)
  const report = page.getByTestId('create-report')
  await expect(report).toContainText('401 of 402 created, 1 rejected', { timeout: 30_000 })
  await expect(report).toContainText('large.yaml line')
  await expect(report).toContainText('metadata.name')
  await expect(page.getByRole('button', { name: 'Retry 1' })).toBeVisible()
})
