import { foldedRanges } from '@codemirror/language'
import { EditorView, runScopeHandlers } from '@codemirror/view'
import { flushPromises } from '@vue/test-utils'
import { afterEach, expect, it, vi } from 'vitest'
import { nextTick, reactive, ref, shallowRef, type Ref } from 'vue'
import { withSetup, type Running } from '@/ui/testing'
import type { Problem } from './model/documents'
import type { SchemaRoot, SchemaSource } from './model/schema'
import { useYamlEditor, type YamlEditor, type YamlEditorProps } from './useYamlEditor'

const pod = 'apiVersion: v1\nkind: Pod\nspec:\n  nodeNmae: n\n'
const mistyped: Problem = { line: 4, message: 'unknown field "spec.nodeNmae"' }
const schemaRoot: SchemaRoot = {
  schema: { type: 'object', properties: { spec: { type: 'object', properties: { nodeName: { type: 'string' } } } } },
  resolve: () => undefined,
}
const schemaOf = (root: SchemaSource['root']): SchemaSource => ({ root, heads: async () => [] })

type Changeable = { -readonly [K in keyof YamlEditorProps]: YamlEditorProps[K] }
let page: Running<YamlEditor>
let view: EditorView
let host: HTMLElement
let text: Ref<string>
let props: Changeable
const submit = vi.fn()
const cursor = vi.fn()

async function open(content: string, more: Partial<Changeable> = {}) {
  host = document.body.appendChild(document.createElement('div'))
  text = ref(content)
  props = reactive({
    label: 'Pod',
    readonly: false,
    problems: [],
    schema: undefined,
    autofocus: false,
    folded: [],
    numbers: false,
    ...more,
  }) as Changeable
  page = await withSetup(() => useYamlEditor(shallowRef(host), text, props, { submit, cursor }))
  view = EditorView.findFromDOM(host) as EditorView
  await flushPromises()
}
const shown = () => view.state.doc.toString()
/** Changes the text as a user who types does. */
const type = (at: number, insert: string) =>
  view.dispatch({ changes: { from: at, insert }, selection: { anchor: at + insert.length }, userEvent: 'input.type' })
const foldedLines = () => {
  const lines: string[] = []
  foldedRanges(view.state).between(
    0,
    view.state.doc.length,
    (from, to) => void lines.push(`${view.state.doc.lineAt(from).number}-${view.state.doc.lineAt(to).number}`)
  )
  return lines
}
const boxes = () => [...host.querySelectorAll('.cm-problem')].map((box) => box.querySelector('span')?.textContent)
const fixButton = () => host.querySelector<HTMLButtonElement>('.cm-problem button')

afterEach(() => {
  page.unmount()
  host.remove()
  vi.clearAllMocks()
})

it('shows the text under its label, and follows changes of both', async () => {
  await open('a: 1\n')
  expect(shown()).toBe('a: 1\n')
  expect(view.contentDOM.getAttribute('aria-label')).toBe('Pod')
  text.value = 'b: 2\n'
  props.label = 'Node'
  await nextTick()
  expect(shown()).toBe('b: 2\n')
  expect(view.contentDOM.getAttribute('aria-label')).toBe('Node')
})

it('reports what the user writes, and where the cursor is', async () => {
  await open('a: 1\nb: 2\n')
  type(9, '0')
  expect(text.value).toBe('a: 1\nb: 20\n')
  expect(cursor).toHaveBeenLastCalledWith({ line: 2, column: 6 })
  view.dispatch({ selection: { anchor: 1 } })
  expect(cursor).toHaveBeenLastCalledWith({ line: 1, column: 2 })
})

it('does not set the text again that it reported itself, which would move the cursor', async () => {
  await open('a: 1\n')
  type(4, '0')
  await nextTick()
  expect(view.state.selection.main.head).toBe(5)
})

it('can be read only, and edited again', async () => {
  await open('a: 1\n', { readonly: true })
  expect(view.state.readOnly).toBe(true)
  expect(view.contentDOM.getAttribute('contenteditable')).toBe('false')
  props.readonly = false
  await nextTick()
  expect(view.state.readOnly).toBe(false)
  expect(view.contentDOM.getAttribute('contenteditable')).toBe('true')
})

it('folds the long blocks of the named keys whenever the parent sets the text', async () => {
  const block = (key: string, lines: number) =>
    `${key}:\n${Array.from({ length: lines }, (_, i) => `  k${i}: v\n`).join('')}`
  await open(block('long', 6) + block('short', 5), { folded: ['long', 'short'] })
  expect(foldedLines()).toEqual(['1-7'])
  text.value = block('first', 2) + block('long', 8)
  await nextTick()
  expect(foldedLines()).toEqual(['4-12'])
})

it('goes to a line and column, and no further than the text', async () => {
  await open('a: 1\nbcd: 2')
  const goTo = (line: number, column?: number) => {
    // happy-dom reports a focused editor's selection synchronously, which CodeMirror refuses during
    // an update.
    view.contentDOM.blur()
    page.value.goTo(line, column)
    expect(view.hasFocus).toBe(true)
    return view.state.selection.main.head
  }
  expect(goTo(2, 3)).toBe('a: 1\nbc'.length)
  expect(goTo(1, 99)).toBe('a: 1'.length)
  expect(goTo(99)).toBe('a: 1\n'.length)
  expect(goTo(0)).toBe(0)
})

it('takes the focus when it is asked to, and on autofocus', async () => {
  await open('a: 1')
  expect(view.hasFocus).toBe(false)
  page.value.focus()
  expect(view.hasFocus).toBe(true)
  page.unmount()
  host.remove()
  await open('a: 1', { autofocus: true })
  expect(view.hasFocus).toBe(true)
})

it('leaves the focus where the user has moved it before the editor is there', async () => {
  const elsewhere = document.body.appendChild(document.createElement('button'))
  elsewhere.focus()
  await open('a: 1', { autofocus: true })
  expect(document.activeElement).toBe(elsewhere)
  elsewhere.remove()
})

it('submits on Ctrl+Enter', async () => {
  await open('a: 1')
  expect(runScopeHandlers(view, new KeyboardEvent('keydown', { key: 'Enter', ctrlKey: true }), 'editor')).toBe(true)
  expect(submit).toHaveBeenCalledOnce()
  expect(shown()).toBe('a: 1')
})

it('marks the number of a copy only with `numbers`', async () => {
  await open('name: web-{n}', { numbers: true })
  expect(host.querySelector('.cm-number-mark')?.textContent).toBe('{n}')
  page.unmount()
  host.remove()
  await open('name: web-{n}')
  expect(host.querySelector('.cm-number-mark')).toBeNull()
})

it('shows problems below their lines until the parent removes them', async () => {
  await open(pod, { problems: [mistyped] })
  expect(boxes()).toEqual(['unknown field "spec.nodeNmae"'])
  props.problems = [{ line: 99, message: 'beyond the end' }]
  await nextTick()
  expect(boxes()).toEqual(['beyond the end'])
  props.problems = []
  await nextTick()
  expect(boxes()).toEqual([])
})

it('offers the key that the user probably meant, once the schema is known', async () => {
  await open(pod, { problems: [mistyped] })
  expect(fixButton()).toBeNull()
  props.schema = schemaOf(async () => schemaRoot)
  await flushPromises()
  expect(fixButton()?.textContent).toBe('Change to nodeName')
  fixButton()?.click()
  expect(text.value).toBe('apiVersion: v1\nkind: Pod\nspec:\n  nodeName: n\n')
})

it('offers no fix in a text that cannot be edited', async () => {
  await open(pod, { problems: [mistyped], readonly: true, schema: schemaOf(async () => schemaRoot) })
  expect(boxes()).toHaveLength(1)
  expect(fixButton()).toBeNull()
})

it('drops a fix if the text or the problems changed before the schema answered', async () => {
  const answers: ((root: SchemaRoot) => void)[] = []
  const schema = schemaOf(() => new Promise((resolve) => answers.push(resolve)))
  const answer = async () => {
    for (const resolve of answers.splice(0)) resolve(schemaRoot)
    await flushPromises()
  }
  await open(pod, { problems: [mistyped], schema })
  type(0, '# note\n')
  await answer()
  expect(fixButton()).toBeNull()

  props.problems = [{ ...mistyped, line: 5 }]
  await flushPromises()
  const other: Problem = { line: 1, message: 'another problem' }
  props.problems = [other]
  await answer()
  expect(boxes()).toEqual(['another problem'])
  expect(fixButton()).toBeNull()
})

it('removes the editor with the component', async () => {
  await open('a: 1')
  page.unmount()
  expect(host.childElementCount).toBe(0)
  page.value.goTo(1)
})
