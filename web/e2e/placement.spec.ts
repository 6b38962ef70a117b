// An import with "Reschedule pods" answers which pods land elsewhere, why, and what the file lacks.

import { objections } from './axe'
import { faults } from './boxes'
import { expect, inWorkspace, node, pod, test, workspaceErrors } from './simulator'

/** Pods that had nodes in another cluster, and a priority class that the file does not have. */
const bound = (name: string, nodeName: string, cpu: string) => {
  const one = pod(name, cpu)
  return { ...one, spec: { ...one.spec, nodeName, priorityClassName: 'high', priority: 1000 } }
}
const production = [
  node('small', { cpu: '2' }),
  node('large'),
  bound('too-big', 'small', '4'),
  bound('stays', 'large', '3'),
  bound('lost', 'sold', '1'),
]

test(
  'an import says which pods land elsewhere, why, and what the file lacks',
  { tag: '@main' },
  async ({ page, simulator, allowed }) => {
    test.setTimeout(180_000)
    allowed.push(...workspaceErrors)
    await simulator.kube('POST', '/api/v1/nodes', node('mine'))
    await page.goto(simulator.url)
    await expect(page.locator('[data-node="mine"]')).toBeVisible()
    await page.getByTestId('transfer').getByRole('button').first().click()
    await page.getByRole('menuitem', { name: 'Import a cluster' }).click()
    const dialog = page.getByRole('dialog', { name: 'Import a cluster' })
    await dialog.getByTestId('import-files').setInputFiles({
      name: 'production.json',
      mimeType: 'application/json',
      buffer: Buffer.from(JSON.stringify({ kind: 'List', apiVersion: 'v1', items: production })),
    })
    await expect(dialog.getByRole('radio', { name: 'In a new workspace' })).toBeChecked()
    await dialog.getByTestId('reschedule').check()
    await dialog.getByTestId('import-start').click()
    const workspace = await inWorkspace(page, '/import')

    await expect(page.getByTestId('moved')).toHaveText('2 of 3 pods landed elsewhere than in the original cluster', {
      timeout: 60_000,
    })
    const causes = page.getByTestId('causes')
    await expect(causes.getByRole('button')).toHaveText([
      /^1 the original node is not here$/,
      /^1 NodeResourcesFit rejected the original node$/,
    ])
    await expect(page.getByRole('grid')).toContainText('too-big')
    await expect(page.getByRole('grid')).toContainText('lost')
    await causes.getByRole('button', { name: 'NodeResourcesFit' }).click()
    await expect(page.getByRole('grid')).not.toContainText('lost')
    await expect(page.getByRole('grid')).toContainText(
      'large was chosen: NodeResourcesFit rejected small (Insufficient cpu).'
    )

    await page.getByRole('button', { name: 'Nodes side by side' }).click()
    await expect(page.getByTestId('branch-maps').getByRole('listitem').filter({ hasText: 'large' })).toHaveCount(2)

    await page.getByRole('button', { name: 'What the file lacks' }).click()
    const lacks = page.getByTestId('lacks')
    await expect(lacks.locator('[data-lack="PriorityClass"]')).toContainText('3 Pods name high')
    await expect(lacks.locator('[data-lack="PriorityClass"]')).toContainText('kubectl get priorityclasses -o yaml')
    await expect(lacks.locator('[data-lack="Node"]')).toContainText('1 Pod names sold')
    await expect(lacks).toContainText(
      'kubectl get priorityclasses,nodes,poddisruptionbudgets,services --all-namespaces -o yaml > more.yaml'
    )

    // The answer stays, also while the workspace sleeps.
    await simulator.send('POST', `/api/v1/branches/${workspace.url.split('/').at(-1)}/stop`)
    const found: string[] = []
    for (const [theme, language] of [
      ['light', 'en'],
      ['dark', 'ja'],
    ] as const) {
      await page.evaluate(([t, l]) => (localStorage.setItem('theme', t), localStorage.setItem('language', l)), [
        theme,
        language,
      ] as const)
      for (const [width, height] of [
        [390, 844],
        [1440, 900],
      ] as const) {
        await page.setViewportSize({ width, height })
        for (const [view, shown] of [
          ['pods', 'causes'],
          ['nodes', 'branch-maps'],
          ['lacks', 'lacks'],
        ] as const) {
          await page.goto(`${workspace.url}/import?view=${view}`)
          await expect(page.getByTestId(shown)).toBeVisible({ timeout: 60_000 })
          if (process.env.SHOTS)
            await page.screenshot({ path: `${process.env.SHOTS}/${view}-${width}-${language}.png` })
          for (const line of [...(await objections(page)), ...(await faults(page))])
            found.push(`${view}, ${width}, ${theme}, ${language}: ${line}`)
        }
      }
    }
    expect(found).toEqual([])
    // Here, nothing was imported.
    await page.goto(`${simulator.url}/import`)
    await expect(page.getByText('インポートはまだありません')).toBeVisible()
  }
)
