// The keyboard shortcuts, for the help dialog and for the shell's key handler.

import type { View } from './places'

/** g, then one of these. */
export const placeKeys: Record<string, View> = {
  c: 'cluster',
  r: 'resources',
  w: 'why',
  d: 'decisions',
  b: 'batch',
  i: 'whatIf',
  m: 'capacity',
  s: 'scheduler',
  e: 'scenarios',
  t: 'timeline',
  a: 'events',
  l: 'learn',
}

export interface Shortcut {
  /** The keys to press, one after another. `Mod` is Ctrl, on a Mac ⌘. */
  keys: readonly string[]
  /** The key below messages.keys.does. of its description. */
  does: string
  /** The view that they open. */
  view?: View
}

export type ShortcutArea =
  'everywhere' | 'map' | 'tables' | 'decision' | 'present' | 'learn' | 'editor' | 'decisions' | 'timeline'

/** A page adds its own keys to its area. */
export const shortcuts: Record<ShortcutArea, readonly Shortcut[]> = {
  everywhere: [
    { keys: ['Mod', 'K'], does: 'palette' },
    { keys: ['?'], does: 'help' },
    { keys: ['/'], does: 'filter' },
    { keys: ['C'], does: 'create' },
    ...Object.entries(placeKeys).map(([key, view]) => ({ keys: ['G', key.toUpperCase()], does: 'go' as const, view })),
    { keys: ['Mod', 'Z'], does: 'undo' },
    { keys: ['Esc'], does: 'back' },
  ],
  map: [
    { keys: ['←', '↑', '↓', '→'], does: 'moveTile' },
    { keys: ['Enter'], does: 'openNode' },
    { keys: ['Home'], does: 'chosen' },
    { keys: ['N'], does: 'nextByTotal' },
    { keys: ['1', '…', '9'], does: 'isolate' },
  ],
  tables: [
    { keys: ['↑', '↓'], does: 'moveRow' },
    { keys: ['Enter'], does: 'openRow' },
    { keys: ['Home', 'End'], does: 'endRow' },
    { keys: ['Space'], does: 'selectRow' },
    { keys: ['Shift', '↑', '↓'], does: 'selectRows' },
    { keys: ['Mod', 'A'], does: 'selectAll' },
    { keys: ['Delete'], does: 'deleteRows' },
  ],
  decision: [
    { keys: ['←', '↑', '↓', '→'], does: 'moveCell' },
    { keys: ['P'], does: 'present' },
  ],
  present: [
    { keys: ['←', '→'], does: 'moveStep' },
    { keys: ['Home', 'End'], does: 'endStep' },
    { keys: ['B'], does: 'blank' },
    { keys: ['F'], does: 'fullScreen' },
  ],
  learn: [
    { keys: ['1', '…', '9'], does: 'chooseNode' },
    { keys: ['X'], does: 'crossOut' },
    { keys: ['W'], does: 'pickWinner' },
    { keys: ['Enter'], does: 'askScheduler' },
    { keys: ['←', '→'], does: 'reveal' },
  ],
  editor: [
    { keys: ['Ctrl', 'Space'], does: 'complete' },
    { keys: ['Mod', 'Enter'], does: 'submit' },
    { keys: ['Mod', 'F'], does: 'find' },
    { keys: ['Ctrl', 'M'], does: 'leave' },
  ],
  decisions: [{ keys: ['P'], does: 'pause' }],
  timeline: [
    { keys: ['←', '→'], does: 'moveTime' },
    { keys: ['PgUp', 'PgDn'], does: 'nextStepMark' },
    { keys: ['Home', 'End'], does: 'endTime' },
  ],
}

/** What the shell does with a key that nothing else handled. */
export type ShellAction =
  { kind: 'palette' } | { kind: 'help' } | { kind: 'create' } | { kind: 'undo' } | { kind: 'go'; view: View }

export interface KeyPress {
  key: string
  ctrlKey: boolean
  metaKey: boolean
  altKey: boolean
  shiftKey: boolean
}

const patience = 1200

/** Reads keys one after another; while `typing` is true, only chords count. */
export class ShortcutReader {
  /** When g was pressed (ms). */
  private prefixAt = -Infinity

  read(press: KeyPress, { typing, now }: { typing: boolean; now: number }): ShellAction | undefined {
    const chord = press.ctrlKey || press.metaKey
    if (chord && !press.altKey && press.key.toLowerCase() === 'k') return { kind: 'palette' }
    // Where text is edited, the browser undoes typing.
    if (chord && !press.altKey && !press.shiftKey && !typing && press.key.toLowerCase() === 'z') return { kind: 'undo' }
    if (chord || press.altKey || typing) return undefined
    const view = now - this.prefixAt <= patience ? placeKeys[press.key] : undefined
    this.prefixAt = press.key === 'g' ? now : -Infinity
    if (view) return { kind: 'go', view }
    if (press.key === '?') return { kind: 'help' }
    return press.key === 'c' ? { kind: 'create' } : undefined
  }
}
