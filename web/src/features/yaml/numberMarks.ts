// Marks {n} in the editor, which stands for the number of a copy.

import type { Extension } from '@codemirror/state'
import {
  Decoration,
  MatchDecorator,
  ViewPlugin,
  type DecorationSet,
  type EditorView,
  type ViewUpdate,
} from '@codemirror/view'

const marker = new MatchDecorator({ regexp: /\{n\}/g, decoration: Decoration.mark({ class: 'cm-number-mark' }) })

export const numberMarks: Extension = ViewPlugin.fromClass(
  class {
    marks: DecorationSet
    constructor(view: EditorView) {
      this.marks = marker.createDeco(view)
    }
    update(update: ViewUpdate) {
      this.marks = marker.updateDeco(update, this.marks)
    }
  },
  { decorations: (plugin) => plugin.marks }
)
