// Notes at the right of the lines of a difference, such as their author. Only changed
// lines show theirs.

import { getChunks, getOriginalDoc } from '@codemirror/merge'
import { RangeSetBuilder, type Extension } from '@codemirror/state'
import { Decoration, EditorView, ViewPlugin, type DecorationSet, type ViewUpdate } from '@codemirror/view'

export interface LineNote {
  text: string
  /** A warning: the note gets the colour of warnings. */
  warn?: boolean
}
/** By line number, from 1. */
export type LineNotes = ReadonlyMap<number, LineNote>

const attributes = (note: LineNote) => ({ 'data-note': note.text, ...(note.warn ? { 'data-warn': '' } : {}) })

/** Notes on the lines of the document itself. */
export function lineNotes(notes: LineNotes): Extension {
  return EditorView.decorations.compute(['doc'], ({ doc }): DecorationSet => {
    const builder = new RangeSetBuilder<Decoration>()
    for (const [line, note] of [...notes].sort(([a], [b]) => a - b)) {
      if (line <= doc.lines)
        builder.add(doc.line(line).from, doc.line(line).from, Decoration.line({ attributes: attributes(note) }))
    }
    return builder.finish()
  })
}

/** Notes on deleted lines of the original in a unified difference, which are not lines of its document. */
export function deletedNotes(notes: LineNotes): Extension {
  return ViewPlugin.fromClass(
    class {
      constructor(view: EditorView) {
        this.mark(view)
      }
      update(update: ViewUpdate) {
        this.mark(update.view)
      }
      mark(view: EditorView) {
        view.requestMeasure({ key: this, read: () => undefined, write: () => markDeleted(view, notes) })
      }
    }
  )
}

function markDeleted(view: EditorView, notes: LineNotes): void {
  const original = getOriginalDoc(view.state)
  const chunks = getChunks(view.state)?.chunks ?? []
  for (const element of view.contentDOM.querySelectorAll('.cm-deletedChunk')) {
    const at = view.posAtDOM(element)
    const chunk = chunks.find((c) => c.fromB === at)
    if (!chunk) continue
    const first = original.lineAt(Math.min(chunk.fromA, original.length)).number
    element.querySelectorAll('.cm-deletedLine').forEach((line, i) => {
      const note = notes.get(first + i)
      if (note) for (const [name, value] of Object.entries(attributes(note))) line.setAttribute(name, value)
    })
  }
}
