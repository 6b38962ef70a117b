// Connects the YAML editor to a component: its properties, its text and its events.

import { nextTick, onBeforeUnmount, onMounted, watch, type Ref } from 'vue'
import { t } from '@/i18n'
import { useTurns } from '@/live/answer'
import type { Problem } from './model/documents'
import { fixesOf } from './model/fixes'
import type { SchemaSource } from './model/schema'
import { linesOf } from './yamlSchema'
import { openYamlView, type CursorPlace, type YamlView } from './yamlView'

/** The properties of the component; those that may change are reactive. */
export interface YamlEditorProps {
  readonly label: string
  readonly readonly: boolean
  readonly problems: readonly Problem[]
  readonly schema?: SchemaSource
  readonly autofocus: boolean
  /** Keys whose long blocks are folded whenever the parent sets the text. */
  readonly folded: readonly string[]
  readonly numbers: boolean
}

export interface YamlEditorEvents {
  submit(): void
  cursor(place: CursorPlace): void
}

/** goTo and focus do nothing until the component is mounted. */
export type YamlEditor = Pick<YamlView, 'goTo' | 'focus'>

/**
 * Opens the editor in `host` while the component is mounted. Edits update `text`, and changes of
 * `text` update the editor.
 */
export function useYamlEditor(
  host: Ref<HTMLElement | undefined>,
  text: Ref<string>,
  props: YamlEditorProps,
  events: YamlEditorEvents
): YamlEditor {
  let view: YamlView | undefined

  const turns = useTurns()
  /** Shows the problems immediately, and adds their fixes once the schema has loaded. */
  async function show() {
    if (!view) return
    const signal = turns.next()
    const { problems, schema } = props
    view.setProblems(problems)
    if (!schema || !problems.length || props.readonly) return
    const { doc } = view
    const fixes = await fixesOf(schema, linesOf(doc), problems)
    if (fixes.size && !signal.aborted && view.doc.eq(doc)) view.setProblems(problems, fixes)
  }

  /**
   * Takes the focus from what is around the editor, which may be loaded late, but not from where
   * the user has gone since.
   */
  function takeFocus() {
    if (document.activeElement?.contains(host.value ?? null)) view?.focus()
  }

  onMounted(() => {
    view = openYamlView({
      parent: host.value as HTMLElement,
      text: text.value,
      folded: props.folded,
      label: props.label,
      readonly: props.readonly,
      schema: props.schema,
      numbers: props.numbers,
      t: (key, values) => t(key, values ?? {}),
      onText: (written) => (text.value = written),
      onCursor: events.cursor,
      onSubmit: events.submit,
    })
    void show()
    if (props.autofocus) void nextTick(takeFocus)
  })
  onBeforeUnmount(() => view?.destroy())
  watch(text, (value) => view?.setText(value, props.folded))
  watch(
    () => props.readonly,
    (readonly) => view?.setReadonly(readonly)
  )
  watch(
    () => props.label,
    (label) => view?.setLabel(label)
  )
  watch(
    () => props.schema,
    (schema) => view?.setSchema(schema)
  )
  watch([() => props.problems, () => props.schema], () => void show(), { deep: true })

  return {
    goTo: (line, column) => view?.goTo(line, column),
    focus: () => view?.focus(),
  }
}
