// The tables of the Resources page: discovery, columns, filters, selection and merges.

import { expect, node, pod, refused, test } from './simulator'

test.describe.configure({ mode: 'serial' })

const definition = {
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: { name: 'queues.example.com' },
  spec: {
    group: 'example.com',
    scope: 'Namespaced',
    names: { kind: 'Queue', plural: 'queues', singular: 'queue' },
    versions: [
      {
        name: 'v1',
        served: true,
        storage: true,
        additionalPrinterColumns: [{ name: 'Weight', type: 'integer', jsonPath: '.spec.weight' }],
        schema: {
          openAPIV3Schema: {
            type: 'object',
            properties: { spec: { type: 'object', properties: { weight: { type: 'integer' } } } },
          },
        },
      },
    ],
  },
}

test('a new custom kind appears in an open page, with its own columns', async ({ page, simulator }) => {
  await page.goto(`${simulator.url}/resources/namespaces`)
  await expect(page.locator('[data-key="default"]')).toContainText('Active')
  await simulator.kube('POST', '/apis/apiextensions.k8s.io/v1/customresourcedefinitions', definition)
  await page.getByRole('link', { name: 'Queues' }).click()
  await expect(page.getByText('No Queues yet')).toBeVisible()
  await simulator.kube('POST', '/apis/example.com/v1/namespaces/default/queues', {
    apiVersion: 'example.com/v1',
    kind: 'Queue',
    metadata: { name: 'research' },
    spec: { weight: 7 },
  })
  await expect(page.getByRole('columnheader', { name: 'Weight' })).toBeVisible()
  await expect(page.locator('[data-key="default/research"]')).toContainText('7')
})

test('the API server applies the label selector, and the URL keeps the view', async ({ page, simulator, allowed }) => {
  allowed.push(refused(400))
  for (const [name, app] of [
    ['a-1', 'web'],
    ['a-2', 'web'],
    ['b-1', 'db'],
  ] as const) {
    const made = pod(name, '64')
    await simulator.kube('POST', '/api/v1/namespaces/default/pods', {
      ...made,
      metadata: { ...made.metadata, labels: { app } },
    })
  }
  await page.goto(`${simulator.url}/resources/pods`)
  const row = (name: string) => page.locator(`[data-key="default/${name}"]`)
  await expect(row('b-1')).toBeVisible()
  await page.getByPlaceholder('Label selector').fill('app in (web)')
  await expect(row('b-1')).toHaveCount(0)
  await expect(row('a-1')).toBeVisible()
  await expect(page).toHaveURL(/labels=app/)
  await page.getByRole('button', { name: 'Name', exact: true }).click()
  await page.reload()
  await expect(page.locator('[data-key]')).toHaveCount(2)
  await expect(page.locator('[data-key]').first()).toContainText('a-2')

  // An object that no longer matches leaves the table.
  await simulator.kube('PUT', '/api/v1/namespaces/default/pods/a-2', {
    ...(await simulator.kube<object>('GET', '/api/v1/namespaces/default/pods/a-2')),
    metadata: { name: 'a-2', namespace: 'default', labels: { app: 'other' } },
  })
  await expect(page.locator('[data-key]')).toHaveCount(1)
  await page.getByPlaceholder('Label selector').fill('app in (')
  await expect(page.getByRole('alert')).toContainText('rejected this label selector')
})

test('the keyboard selects and deletes rows', async ({ page, simulator }) => {
  await page.goto(`${simulator.url}/resources/pods`)
  await expect(page.locator('[data-key]')).toHaveCount(3)
  await page.getByRole('grid').focus()
  await page.keyboard.press('ArrowDown')
  await page.keyboard.press('Shift+ArrowDown')
  await expect(page.getByText('2 selected')).toBeVisible()
  await page.keyboard.press('Delete')
  const dialog = page.getByRole('dialog')
  await expect(dialog).toContainText('Pod default/a-1')
  await dialog.getByRole('button', { name: 'Delete' }).click()
  await expect(page.locator('[data-key]')).toHaveCount(1)
})

test('several objects can be cloned at once', async ({ page, simulator }) => {
  for (const name of ['c-1', 'c-2']) await simulator.kube('POST', '/api/v1/namespaces/default/pods', pod(name, '64'))
  await page.goto(`${simulator.url}/resources/pods?q=c-`)
  await page.getByRole('checkbox', { name: 'Select c-1' }).check()
  await page.getByRole('checkbox', { name: 'Select c-2' }).check()
  await page.getByRole('button', { name: 'Clone' }).click()
  const text = page.getByRole('textbox', { name: 'Objects to create, as YAML' })
  await expect(text).toContainText('name: c-3')
  await expect(text).toContainText('name: c-4')
  await page.getByTestId('create-submit').click()
  await expect(page.locator('[data-key="default/c-4"]')).toBeVisible()
})

test('a node can be cordoned, and an object shows its events', async ({ page, simulator }) => {
  await simulator.kube('POST', '/api/v1/nodes', node('n1'))
  await page.goto(`${simulator.url}/resources/nodes?select=n1`)
  const detail = page.getByTestId('object-detail')
  await detail.getByRole('button', { name: 'Actions for n1' }).click()
  await page.getByRole('menuitem', { name: 'Cordon' }).click()
  await page.getByTestId('change-apply').click()
  await expect(page.locator('[data-key="n1"]')).toContainText('SchedulingDisabled')
  await page.getByRole('button', { name: 'Undo', exact: true }).click()
  await expect(page.locator('[data-key="n1"]')).not.toContainText('SchedulingDisabled')
  await page.goto(`${simulator.url}/resources/pods?select=default/b-1`)
  await detail.getByRole('tab', { name: 'Events' }).click()
  await expect(detail).toContainText('FailedScheduling')
})

test('concurrent changes to an object are merged, and a deleted object can be created again', async ({
  page,
  simulator,
  allowed,
}) => {
  allowed.push(refused(409))
  allowed.push(refused(404))
  const change = (labels: object) => simulator.kube('PATCH', '/api/v1/nodes/n1', { metadata: { labels } })
  const label = async () =>
    (await simulator.kube<{ metadata: { labels: object } }>('GET', '/api/v1/nodes/n1')).metadata.labels
  await page.goto(`${simulator.url}/resources/nodes?select=n1`)
  const detail = page.getByTestId('object-detail')
  await detail.getByRole('button', { name: 'Edit' }).click()
  await detail.getByText('kubernetes.io/hostname').click()
  await page.keyboard.press('End')
  await page.keyboard.type('\nmine: here')
  await change({ theirs: 'there' })
  await detail.getByRole('button', { name: 'Dry run' }).click()
  await expect(page.getByTestId('yaml-diff')).toContainText('theirs')
  await detail.getByRole('button', { name: 'Merge both changes' }).click()
  await detail.getByRole('button', { name: 'Dry run' }).click()
  await detail.getByRole('button', { name: 'Save' }).click()
  await expect(page.getByText('Saved: n1')).toBeVisible()
  expect(await label()).toMatchObject({ mine: 'here', theirs: 'there' })

  await detail.getByRole('button', { name: 'Edit' }).click()
  await detail.getByText('mine: here').click()
  await page.keyboard.press('End')
  await page.keyboard.type('-still')
  await simulator.kube('DELETE', '/api/v1/nodes/n1')
  await expect(detail).toContainText('deleted while you were editing')
  await detail.getByRole('button', { name: 'Create it again' }).click()
  await expect(page.getByText('Created n1')).toBeVisible()
  expect(await label()).toMatchObject({ mine: 'here-still' })
})

test('favourite kinds survive a reload', async ({ page, simulator }) => {
  await page.goto(`${simulator.url}/resources/pods`)
  const kinds = page.getByRole('navigation', { name: 'Kinds' })
  const star = kinds.getByRole('button', { name: 'Favorite ConfigMaps' })
  await expect(star).toHaveAttribute('aria-pressed', 'false')
  await star.click()
  await expect(star).toHaveAttribute('aria-pressed', 'true')
  await kinds.getByRole('button', { name: 'Favorite Jobs', exact: true }).click()
  await page.reload()
  await expect(star).toHaveAttribute('aria-pressed', 'true')
  await expect(kinds.getByRole('button', { name: 'Favorite Jobs', exact: true })).toHaveAttribute(
    'aria-pressed',
    'false'
  )
})
