// The look of YAML in CodeMirror, shared by the editor and the difference view.

import { yaml } from '@codemirror/lang-yaml'
import { HighlightStyle, syntaxHighlighting } from '@codemirror/language'
import { EditorState, type Extension } from '@codemirror/state'
import { EditorView } from '@codemirror/view'
import { tags } from '@lezer/highlight'

const highlight = HighlightStyle.define([
  { tag: [tags.propertyName, tags.definition(tags.propertyName)], color: 'var(--y-key)' },
  { tag: [tags.string, tags.content, tags.attributeValue], color: 'var(--y-str)' },
  { tag: [tags.number, tags.bool, tags.null, tags.keyword], color: 'var(--y-num)' },
  { tag: [tags.comment, tags.lineComment], color: 'var(--y-com)', fontStyle: 'italic' },
  { tag: [tags.punctuation, tags.separator, tags.squareBracket, tags.brace, tags.meta], color: 'var(--y-punct)' },
])

const theme = EditorView.theme({
  '&': { height: '100%', fontSize: '12px', backgroundColor: 'var(--surface)', color: 'var(--text)' },
  '&.cm-focused': { outline: 'none' },
  '.cm-scroller': { fontFamily: 'var(--mono)', lineHeight: '20px', overflow: 'auto' },
  '.cm-content': { padding: '8px 0', caretColor: 'var(--accent)' },
  '.cm-gutters': { backgroundColor: 'var(--surface)', color: 'var(--text-3)', border: 'none' },
  '.cm-lineNumbers .cm-gutterElement': { fontSize: '11px', minWidth: '34px', padding: '0 8px 0 4px' },
  '.cm-activeLine, .cm-activeLineGutter': { backgroundColor: 'color-mix(in srgb, var(--hover) 70%, transparent)' },
  '.cm-foldGutter .cm-gutterElement': { color: 'var(--none)', cursor: 'pointer' },
  '.cm-cursor': { borderLeftColor: 'var(--accent)', borderLeftWidth: '1.5px' },
  '&.cm-focused > .cm-scroller > .cm-selectionLayer .cm-selectionBackground, .cm-selectionBackground': {
    backgroundColor: 'var(--accent-bg)',
  },
  '.cm-selectionMatch': { backgroundColor: 'var(--warn-bg)' },
  '.cm-panels': { backgroundColor: 'var(--bg)', color: 'var(--text)', borderColor: 'var(--line)' },
  '.cm-panel.cm-search': { padding: '6px 8px', fontFamily: 'var(--sans)', fontSize: '12px' },
  '.cm-panel.cm-search label': { fontSize: '11px', color: 'var(--text-2)' },
  '.cm-panel.cm-search input[type=checkbox]': {
    width: '12px',
    height: '12px',
    verticalAlign: '-2px',
    accentColor: 'var(--accent)',
  },
  '.cm-panel.cm-search .cm-textfield, .cm-panel.cm-search .cm-button': {
    fontSize: '12px',
    height: '24px',
    padding: '0 8px',
    fontFamily: 'var(--sans)',
  },
  '.cm-panel.cm-search [name=close]': { color: 'var(--text-2)', top: '6px', right: '8px', cursor: 'pointer' },
  '.cm-textfield, .cm-button': {
    backgroundImage: 'none',
    backgroundColor: 'var(--surface)',
    border: '1px solid var(--line-2)',
    borderRadius: '3px',
    color: 'var(--text)',
  },
  '.cm-foldPlaceholder': { backgroundColor: 'var(--inset)', border: 'none', color: 'var(--text-2)', padding: '0 6px' },
  '.cm-number-mark': { color: 'var(--accent)', backgroundColor: 'var(--accent-bg)', borderRadius: '2px' },

  '.cm-tooltip': {
    backgroundColor: 'var(--surface)',
    color: 'var(--text)',
    border: '1px solid var(--line-2)',
    borderRadius: '5px',
    boxShadow: 'var(--shadow-pop)',
    fontFamily: 'var(--sans)',
    overflow: 'hidden',
  },
  '.cm-tooltip.cm-tooltip-autocomplete': { overflow: 'visible' },
  '.cm-tooltip.cm-tooltip-autocomplete > ul': {
    fontFamily: 'var(--mono)',
    fontSize: '11.5px',
    maxHeight: '250px',
    minWidth: '220px',
    padding: '4px',
    borderRadius: '5px',
  },
  '.cm-tooltip.cm-tooltip-autocomplete > ul > li': {
    display: 'flex',
    alignItems: 'center',
    gap: '16px',
    height: '23px',
    padding: '0 7px',
    borderRadius: '3px',
    lineHeight: '23px',
  },
  '.cm-tooltip-autocomplete ul li[aria-selected]': { backgroundColor: 'var(--accent-bg)', color: 'var(--text)' },
  '.cm-completionMatchedText': { textDecoration: 'none', fontWeight: '600', color: 'var(--accent)' },
  '.cm-completionDetail': { marginLeft: 'auto', font: '400 11px/1 var(--sans)', color: 'var(--text-3)' },
  '.cm-tooltip.cm-completionInfo': { padding: '0', width: '320px', maxWidth: '60vw' },
  '.cm-doc': {
    padding: '8px 10px',
    fontSize: '11px',
    lineHeight: '15.5px',
    color: 'var(--text-2)',
    maxHeight: '260px',
    maxWidth: '420px',
    overflow: 'auto',
    whiteSpace: 'pre-line',
    overflowWrap: 'anywhere',
  },
  '.cm-doc b': { display: 'block', fontSize: '12px', color: 'var(--text)', marginBottom: '3px', whiteSpace: 'normal' },
  '.cm-doc em': { fontStyle: 'normal', fontWeight: '400', color: 'var(--text-3)', marginLeft: '5px' },
  '.cm-doc code': { display: 'block', marginTop: '5px', color: 'var(--text-3)' },

  '.cm-diagnostic': { padding: '4px 10px', fontFamily: 'var(--sans)', maxWidth: '520px', whiteSpace: 'pre-wrap' },
  '.cm-diagnostic-error': { borderLeft: '3px solid var(--rej)' },
  '.cm-problem-frame': { padding: '2px 12px 3px 8px' },
  '.cm-problem': {
    display: 'flex',
    alignItems: 'flex-start',
    gap: '10px',
    padding: '5px 8px 5px 10px',
    borderLeft: '2px solid var(--rej)',
    backgroundColor: 'var(--rej-bg)',
    color: 'var(--rej)',
    font: '400 12px/17px var(--sans)',
    whiteSpace: 'pre-wrap',
    overflowWrap: 'anywhere',
    maxWidth: 'min(720px, calc(100cqw - 84px))',
  },
  '.cm-problem.warning': { borderColor: 'var(--warn)', backgroundColor: 'var(--warn-bg)', color: 'var(--warn)' },
  '.cm-problem > span': { flex: '1 1 auto', minWidth: '0' },
  '.cm-problem button': { flex: 'none' },

  // Differences.
  '&.cm-merge-a .cm-changedLine, .cm-deletedChunk': {
    backgroundColor: 'color-mix(in srgb, var(--rej-bg) 75%, transparent)',
  },
  '&.cm-merge-b .cm-changedLine, &.cm-merge-b .cm-inlineChangedLine, .cm-insertedLine': {
    backgroundColor: 'color-mix(in srgb, var(--pass-bg) 75%, transparent)',
  },
  '&.cm-merge-a .cm-changedText, .cm-deletedChunk .cm-deletedText': {
    background: 'none',
    boxShadow: 'inset 0 -2px 0 color-mix(in srgb, var(--rej) 40%, transparent)',
  },
  '&.cm-merge-b .cm-changedText': {
    background: 'none',
    boxShadow: 'inset 0 -2px 0 color-mix(in srgb, var(--pass) 40%, transparent)',
  },
  // A line that is completely new or deleted needs no mark inside it.
  '.cm-changedLine > :is(ins, del) > .cm-changedText:only-child, .cm-deletedLine > del > .cm-deletedText:only-child': {
    boxShadow: 'none !important',
  },
  '.cm-deletedChunk': { paddingLeft: '6px', color: 'var(--text)' },
  '&.cm-merge-a .cm-changedLineGutter, .cm-deletedLineGutter': { backgroundColor: 'var(--rej)' },
  '&.cm-merge-b .cm-changedLineGutter': { backgroundColor: 'var(--pass)' },
  '.cm-changedLine[data-note]:after, .cm-inlineChangedLine[data-note]:after, .cm-deletedLine[data-note]:after': {
    content: 'attr(data-note)',
    float: 'right',
    margin: '0 10px 0 16px',
    font: '400 11px/20px var(--sans)',
    color: 'var(--text-2)',
    textDecoration: 'none',
  },
  '[data-note][data-warn]:after': { color: 'var(--warn) !important', fontWeight: '600 !important' },
  '.cm-collapsedLines': {
    background: 'var(--inset)',
    color: 'var(--text-2)',
    font: '400 11px/18px var(--sans)',
    padding: '2px 12px',
    cursor: 'pointer',
  },
  '.cm-collapsedLines:before, .cm-collapsedLines:after': { content: '"⋯"', color: 'var(--text-3)' },
})

/** The texts of CodeMirror's own panels, by its phrases. */
export function phrases(t: (key: string) => string): Extension {
  const words: Record<string, string> = {
    Find: 'find',
    Replace: 'replaceWith',
    next: 'next',
    previous: 'previous',
    all: 'all',
    'match case': 'matchCase',
    regexp: 'regexp',
    'by word': 'byWord',
    replace: 'replace',
    'replace all': 'replaceAll',
    close: 'close',
    'Go to line': 'goToLine',
    go: 'go',
    'current match': 'currentMatch',
    'on line': 'onLine',
    'replaced $ matches': 'replaced',
    'replaced match on line $': 'replacedOn',
    Completions: 'completions',
    Diagnostics: 'diagnostics',
    'No diagnostics': 'noDiagnostics',
    'Fold line': 'fold',
    'Unfold line': 'unfold',
    'folded code': 'folded',
    unfold: 'unfold',
    '$ unchanged lines': 'unchangedLines',
  }
  return EditorState.phrases.of(
    Object.fromEntries(Object.entries(words).map(([own, key]) => [own, t(`editor.panel.${key}`)]))
  )
}

/** YAML, its colours, and the design tokens. */
export const yamlLook: Extension = [yaml(), syntaxHighlighting(highlight), theme]
