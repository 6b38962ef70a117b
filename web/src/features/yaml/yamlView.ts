// The YAML editor in CodeMirror. It knows nothing of Vue: useYamlEditor connects it to a
// component.

import { completionKeymap } from '@codemirror/autocomplete'
import { defaultKeymap, history, historyKeymap, indentWithTab, toggleTabFocusMode } from '@codemirror/commands'
import { bracketMatching, foldEffect, foldGutter, foldKeymap, indentOnInput, indentUnit } from '@codemirror/language'
import { lintGutter, lintKeymap } from '@codemirror/lint'
import { highlightSelectionMatches, search, searchKeymap } from '@codemirror/search'
import { Compartment, EditorState, type Extension, type Text } from '@codemirror/state'
import {
  drawSelection,
  EditorView,
  highlightActiveLine,
  highlightActiveLineGutter,
  keymap,
  lineNumbers,
} from '@codemirror/view'
import type { Problem } from './model/documents'
import type { Fix } from './model/fixes'
import type { SchemaSource } from './model/schema'
import { blocksOf } from './model/yamlFold'
import { numberMarks } from './numberMarks'
import { problemBoxes, showProblems } from './yamlProblems'
import { schemaKnowledge } from './yamlSchema'
import { phrases, yamlLook } from './yamlTheme'

/** Both from 1. */
export interface CursorPlace {
  line: number
  column: number
}

export interface YamlViewOptions {
  parent: HTMLElement
  text: string
  /** Keys whose long blocks start folded. */
  folded: readonly string[]
  /** What a screen reader calls the editor. */
  label: string
  readonly: boolean
  /** Where completion and hover documentation come from; none without. */
  schema: SchemaSource | undefined
  /** Marks {n}, which stands for the number of a copy. */
  numbers: boolean
  /** Translates a message. */
  t: (key: string, values?: Record<string, string>) => string
  /** The user or setText changed the text. */
  onText(text: string): void
  onCursor(place: CursorPlace): void
  /** The user pressed Ctrl+Enter (Cmd+Enter on a Mac). */
  onSubmit(): void
}

export interface YamlView {
  readonly doc: Text
  /**
   * Replaces the text, folds the long blocks of these keys and keeps the scroll position. An equal
   * text changes nothing.
   */
  setText(text: string, folded: readonly string[]): void
  setLabel(label: string): void
  setReadonly(readonly: boolean): void
  setSchema(schema: SchemaSource | undefined): void
  /** Replaces the problems that are shown. Those with a fix get a button that applies it. */
  setProblems(problems: readonly Problem[], fixes?: ReadonlyMap<Problem, Fix>): void
  /** Puts the cursor at a line and column (both from 1), scrolls there and takes the focus. */
  goTo(line: number, column?: number): void
  focus(): void
  destroy(): void
}

/** Shorter blocks stay open. */
const longBlock = 6

export function openYamlView(options: YamlViewOptions): YamlView {
  const { t } = options
  const labelPart = new Compartment()
  const readonlyPart = new Compartment()
  const schemaPart = new Compartment()
  const schemaOf = (schema: SchemaSource | undefined) =>
    schema ? schemaKnowledge(schema, () => ({ required: t('editor.required') })) : []
  const view = new EditorView({
    parent: options.parent,
    state: EditorState.create({
      doc: options.text,
      extensions: [
        look(),
        phrases(t),
        options.numbers ? numberMarks : [],
        schemaPart.of(schemaOf(options.schema)),
        readonlyPart.of(readonlyOf(options.readonly)),
        labelPart.of(labelOf(options.label)),
        keys(options.onSubmit),
        reports(options),
      ],
    }),
  })
  fold(view, options.folded)
  return {
    get doc() {
      return view.state.doc
    },
    setText(text, folded) {
      const { doc } = view.state
      if (text.length === doc.length && text === doc.toString()) return
      const scroll = view.scrollDOM.scrollTop
      view.dispatch({ changes: { from: 0, to: doc.length, insert: text } })
      fold(view, folded)
      view.scrollDOM.scrollTop = scroll
    },
    setLabel: (label) => view.dispatch({ effects: labelPart.reconfigure(labelOf(label)) }),
    setReadonly: (readonly) => view.dispatch({ effects: readonlyPart.reconfigure(readonlyOf(readonly)) }),
    setSchema: (schema) => view.dispatch({ effects: schemaPart.reconfigure(schemaOf(schema)) }),
    setProblems: (problems, fixes = new Map()) =>
      view.dispatch(showProblems(view.state, problems, fixes, (word) => t('editor.writeInstead', { word }))),
    goTo(line, column = 1) {
      const at = view.state.doc.line(Math.max(1, Math.min(view.state.doc.lines, line)))
      const anchor = Math.min(at.to, at.from + column - 1)
      view.dispatch({ selection: { anchor }, effects: EditorView.scrollIntoView(at.from, { y: 'center' }) })
      view.focus()
    },
    focus: () => view.focus(),
    destroy: () => view.destroy(),
  }
}

function fold(view: EditorView, keys: readonly string[]): void {
  if (!keys.length) return
  const { doc } = view.state
  const blocks = blocksOf(doc.toString().split('\n'), keys, longBlock)
  if (blocks.length)
    view.dispatch({
      effects: blocks.map(({ head, last }) =>
        foldEffect.of({ from: doc.line(head + 1).to, to: doc.line(last + 1).to })
      ),
    })
}

const labelOf = (label: string): Extension => EditorView.contentAttributes.of({ 'aria-label': label, tabindex: '0' })
const readonlyOf = (readonly: boolean): Extension => [
  EditorState.readOnly.of(readonly),
  EditorView.editable.of(!readonly),
]

const look = (): Extension => [
  lineNumbers(),
  foldGutter(),
  history(),
  drawSelection(),
  indentOnInput(),
  indentUnit.of('  '),
  bracketMatching(),
  highlightActiveLine(),
  highlightActiveLineGutter(),
  highlightSelectionMatches(),
  search({ top: true }),
  lintGutter(),
  problemBoxes,
  yamlLook,
]

const keys = (submit: () => void): Extension =>
  keymap.of([
    { key: 'Mod-Enter', run: () => (submit(), true) },
    // Tab indents. Ctrl+M lets it move the focus instead, for people without a pointer.
    { key: 'Ctrl-m', run: toggleTabFocusMode },
    ...completionKeymap,
    ...defaultKeymap,
    ...searchKeymap,
    ...historyKeymap,
    ...foldKeymap,
    ...lintKeymap,
    indentWithTab,
  ])

const reports = ({ onText, onCursor }: YamlViewOptions): Extension =>
  EditorView.updateListener.of(({ state, docChanged, selectionSet }) => {
    if (docChanged) onText(state.doc.toString())
    if (!docChanged && !selectionSet) return
    const { head } = state.selection.main
    const line = state.doc.lineAt(head)
    onCursor({ line: line.number, column: head - line.from + 1 })
  })
