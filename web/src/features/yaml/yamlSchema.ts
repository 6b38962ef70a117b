// Completion and hover documentation for CodeMirror, based on model/completion.

import {
  autocompletion,
  startCompletion,
  type Completion,
  type CompletionContext,
  type CompletionResult,
} from '@codemirror/autocomplete'
import type { EditorState, Extension, Text } from '@codemirror/state'
import { EditorView, hoverTooltip } from '@codemirror/view'
import { documentationAt, proposalsAt, reflowed, type Proposal } from './model/completion'
import type { SchemaSource } from './model/schema'
import type { Lines } from './model/yamlSpot'

/** Our own words, translated. */
export interface SchemaWords {
  required: string
}

export function linesOf(doc: Text): Lines {
  return { count: doc.lines, line: (n) => doc.line(n).text }
}

export function schemaKnowledge(source: SchemaSource, words: () => SchemaWords): Extension {
  return [
    autocompletion({
      override: [(context) => complete(source, words, context)],
      icons: false,
      activateOnTyping: true,
      maxRenderedOptions: 200,
      interactionDelay: 40,
    }),
    hoverTooltip(
      async (view, at) => {
        const line = view.state.doc.lineAt(at)
        const found = await documentationAt(source, linesOf(view.state.doc), line.number, at - line.from)
        if (!found || !(found.documentation || found.type)) return null
        return {
          pos: line.from + found.from,
          end: line.from + found.to,
          above: true,
          create: () => ({
            dom: documentation(found.name, found.type, found.required, found.documentation, found.values, words()),
          }),
        }
      },
      { hoverTime: 250 }
    ),
  ]
}

async function complete(
  source: SchemaSource,
  words: () => SchemaWords,
  context: CompletionContext
): Promise<CompletionResult | null> {
  const line = context.state.doc.lineAt(context.pos)
  const found = await proposalsAt(source, linesOf(context.state.doc), line.number, context.pos - line.from)
  if (!found || (!found.word && !context.explicit && found.items.some((i) => i.shape !== undefined))) return null
  return proposed(found.items, found.column, line.from + found.from, found.word, words)
}

/** Completions of the word that starts at `from`. */
function proposed(
  items: readonly Proposal[],
  column: number,
  from: number,
  written: string,
  words: () => SchemaWords
): CompletionResult {
  const word = written.toLowerCase()
  const at = (item: Proposal) => item.label.toLowerCase().indexOf(word)
  const fitting = items.filter((item) => at(item) >= 0)
  // Proposals that start with the word come first; otherwise their order stays.
  fitting.sort((a, b) => Number(at(a) > 0) - Number(at(b) > 0))
  return {
    from,
    options: fitting.map((item) => option(item, column, words)),
    filter: false,
    getMatch: ({ label }) => {
      const start = label.toLowerCase().indexOf(word)
      return word && start >= 0 ? [start, start + word.length] : []
    },
    // Without a delay: while CodeMirror queries again, Enter would insert a line break.
    update: (_, begin, end, { state }) => {
      const longer = state.sliceDoc(begin, end)
      return /^[\w./-]+$/.test(longer) ? proposed(items, column, begin, longer, words) : null
    },
  }
}

function option(item: Proposal, column: number, words: () => SchemaWords): Completion {
  return {
    label: item.label,
    detail: item.type,
    apply: (view, _, from, to) => insert(view, item, column, from, to),
    ...(item.shape === undefined
      ? {}
      : { info: () => documentation(item.label, item.type, item.required, item.documentation, [], words()) }),
  }
}

/** Inserts a key and what follows it: `: `, or an indented line below. */
function insert(view: EditorView, item: Proposal, column: number, from: number, to: number): void {
  const rest = restOfLine(view.state, to)
  const indent = ' '.repeat(column)
  const after =
    item.shape === undefined || /^\s*:/.test(rest)
      ? ''
      : item.shape === 'scalar'
        ? ': '
        : item.shape === 'list'
          ? `:\n${indent}- `
          : `:\n${indent}  `
  const text = item.label + after
  view.dispatch({
    changes: { from, to, insert: text },
    selection: { anchor: from + text.length },
    userEvent: 'input.complete',
    scrollIntoView: true,
  })
  // Asks for completions again: values of an enum, keys of the new mapping.
  if (after) queueMicrotask(() => startCompletion(view))
}

function restOfLine(state: EditorState, at: number): string {
  const line = state.doc.lineAt(at)
  return line.text.slice(at - line.from)
}

function documentation(
  name: string,
  type: string,
  required: boolean,
  text: string,
  values: readonly string[],
  words: SchemaWords
): HTMLElement {
  const dom = document.createElement('div')
  dom.className = 'cm-doc'
  const title = document.createElement('b')
  title.textContent = name
  const facts = document.createElement('em')
  facts.textContent = [type, required ? words.required : ''].filter(Boolean).join(' · ')
  title.append(facts)
  dom.append(title)
  if (text) dom.append(reflowed(text))
  if (values.length) {
    const list = document.createElement('code')
    list.textContent = values.join(' | ')
    dom.append(list)
  }
  return dom
}
