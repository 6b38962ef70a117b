// User actions that several tests share.

import { expect, type Page } from '@playwright/test'

/** Chooses an action from the open menu of objects. */
export const choose = (page: Page, action: string): Promise<void> =>
  page.getByTestId('object-menu').locator(`[data-action="${action}"]`).click()

/** Opens the create dialog and replaces its text. */
export async function writeYaml(page: Page, yaml: string): Promise<void> {
  await page.getByRole('button', { name: 'Create', exact: true }).first().click()
  const dialog = page.getByRole('dialog', { name: 'Create' })
  const editor = dialog.getByRole('textbox', { name: 'Objects to create, as YAML' })
  await expect(editor).toBeVisible()
  await replaceText(page, editor, yaml)
}

/** Replaces the text of an editor by pasting. */
export async function replaceText(page: Page, editor: ReturnType<Page['getByRole']>, text: string): Promise<void> {
  await editor.click()
  await page.keyboard.press('ControlOrMeta+a')
  await editor.evaluate((element, value) => {
    const data = new DataTransfer()
    data.setData('text/plain', value)
    element.dispatchEvent(new ClipboardEvent('paste', { clipboardData: data, bubbles: true, cancelable: true }))
  }, text)
}

/** Creates from YAML and waits for the dialog to close, which it does once every object is created. */
export async function createYaml(page: Page, yaml: string): Promise<void> {
  await writeYaml(page, yaml)
  await page.getByTestId('create-submit').click()
  await expect(page.getByRole('dialog', { name: 'Create' })).toBeHidden()
}

export function nodeYaml(name: string, taint = false): string {
  return `apiVersion: v1
kind: Node
metadata:
  name: ${name}
  labels:
    kubernetes.io/hostname: ${name}
${taint ? 'spec:\n  taints:\n  - key: dedicated\n    value: batch\n    effect: NoSchedule\n' : ''}status:
  capacity: {cpu: "8", memory: 32Gi, pods: "110"}
  allocatable: {cpu: "8", memory: 32Gi, pods: "110"}
  conditions:
  - {type: Ready, status: "True"}
`
}

export function podYaml(name: string): string {
  return `apiVersion: v1
kind: Pod
metadata:
  name: ${name}
spec:
  containers:
  - name: c
    image: registry.k8s.io/pause:3.10
    resources:
      requests: {cpu: 500m, memory: 256Mi}
`
}
