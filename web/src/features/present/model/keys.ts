// The keys of a presentation. Presenters ("clickers") send Page Down and Page Up, some send
// arrows, and a full stop to blank the screen.

export type Command = 'next' | 'previous' | 'first' | 'last' | 'blank' | 'fullScreen'

const commands: Readonly<Record<string, Command>> = {
  ArrowRight: 'next',
  PageDown: 'next',
  ' ': 'next',
  Enter: 'next',
  ArrowLeft: 'previous',
  PageUp: 'previous',
  Backspace: 'previous',
  Home: 'first',
  End: 'last',
  b: 'blank',
  B: 'blank',
  '.': 'blank',
  f: 'fullScreen',
  F: 'fullScreen',
}

/** What a key does; undefined for a key of the browser's. On a button, Space and Enter press it. */
export function commandOf(
  press: { key: string; ctrlKey: boolean; metaKey: boolean; altKey: boolean },
  onButton: boolean
): Command | undefined {
  if (press.ctrlKey || press.metaKey || press.altKey) return undefined
  if (onButton && (press.key === ' ' || press.key === 'Enter')) return undefined
  return commands[press.key]
}

/** The step that a command leads to, from 1 to `total`. */
export function stepAfter(command: Command, step: number, total: number): number {
  const target = { next: step + 1, previous: step - 1, first: 1, last: total, blank: step, fullScreen: step }[command]
  return clampStep(target, total)
}

/** A step number, such as one from a link, as a step that exists. */
export function clampStep(step: number, total: number): number {
  return Number.isFinite(step) ? Math.min(Math.max(1, Math.floor(step)), Math.max(1, total)) : 1
}
