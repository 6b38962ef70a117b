// Problems in the editor: an underline, a mark in the gutter, and a box below the line
// with a button if the mistake can be fixed.

import { setDiagnostics, type Diagnostic } from '@codemirror/lint'
import {
  StateEffect,
  StateField,
  type EditorState,
  type Extension,
  type Range,
  type TransactionSpec,
} from '@codemirror/state'
import { Decoration, EditorView, WidgetType, type DecorationSet } from '@codemirror/view'
import type { Problem } from './model/documents'
import type { Fix } from './model/fixes'

/** A problem with its position in the text and, if known, its fix. */
interface Placed {
  from: number
  to: number
  /** The end of its line, below which the box appears. */
  below: number
  problem: Problem
  /** With positions in the text instead of columns. */
  fix: Fix | undefined
}

/** More boxes than this would hide the text; further problems are only underlined. */
const maxBoxes = 30
const show = StateEffect.define<DecorationSet>({ map: (set, change) => set.map(change) })

class ProblemBox extends WidgetType {
  constructor(
    readonly problem: Problem,
    readonly fix: Fix | undefined,
    readonly words: (key: string) => string
  ) {
    super()
  }
  override eq(other: ProblemBox): boolean {
    return (
      other.problem.message === this.problem.message &&
      other.fix?.text === this.fix?.text &&
      other.fix?.from === this.fix?.from
    )
  }
  override toDOM(view: EditorView): HTMLElement {
    // Padding instead of a margin around the box: a margin misaligns the line numbers.
    const frame = document.createElement('div')
    frame.className = 'cm-problem-frame'
    const box = document.createElement('div')
    box.className = `cm-problem ${this.problem.severity ?? 'error'}`
    const text = document.createElement('span')
    text.textContent = this.problem.message
    box.append(text)
    const { fix } = this
    if (fix && !view.state.readOnly) {
      const button = document.createElement('button')
      button.type = 'button'
      button.className = 'btn sm'
      button.textContent = this.words(fix.text)
      button.onclick = () => {
        view.dispatch({
          changes: { from: fix.from, to: fix.to, insert: fix.text },
          selection: { anchor: fix.from + fix.text.length },
        })
        view.focus()
      }
      box.append(button)
    }
    frame.append(box)
    return frame
  }
  override ignoreEvent(): boolean {
    return true
  }
}

const boxes = StateField.define<DecorationSet>({
  create: () => Decoration.none,
  update(value, transaction) {
    let next = value.map(transaction.changes)
    for (const effect of transaction.effects) if (effect.is(show)) next = effect.value
    return next
  },
  provide: (field) => EditorView.decorations.from(field),
})

export const problemBoxes: Extension = boxes

/** The transaction that shows problems. `words` labels the button that inserts its argument. */
export function showProblems(
  state: EditorState,
  problems: readonly Problem[],
  fixes: ReadonlyMap<Problem, Fix>,
  words: (key: string) => string
): TransactionSpec {
  const placed = problems.map((problem): Placed => {
    const line = state.doc.line(Math.max(1, Math.min(state.doc.lines, problem.line)))
    const indent = /^\s*(- )?/.exec(line.text)?.[0].length ?? 0
    const from = Math.min(line.to, problem.column ? line.from + problem.column - 1 : line.from + indent)
    const fix = fixes.get(problem)
    return {
      from,
      to: line.to,
      below: line.to,
      problem,
      fix: fix && { ...fix, from: line.from + fix.from, to: line.from + fix.to },
    }
  })
  placed.sort((a, b) => a.below - b.below)
  const diagnostics = placed.map(({ from, to, problem }): Diagnostic => ({
    from,
    to,
    severity: problem.severity ?? 'error',
    message: problem.message,
  }))
  const widgets = placed
    .slice(0, maxBoxes)
    .map(({ below, problem, fix }): Range<Decoration> =>
      Decoration.widget({ widget: new ProblemBox(problem, fix, words), block: true, side: 1 }).range(below)
    )
  const shown = setDiagnostics(state, diagnostics)
  const effects = Array.isArray(shown.effects)
    ? shown.effects
    : shown.effects
      ? [shown.effects as StateEffect<unknown>]
      : []
  return { effects: [...effects, show.of(Decoration.set(widgets, true))] }
}
