// Actions of the palette that need arguments: the user completes them one after the other.

import { rank, type PaletteEntry } from './palette'

/** A value for an argument. */
export interface Choice {
  /** Unique among the choices of its step. */
  value: string
  title: string
  detail?: string | undefined
}

/** One argument. */
export interface Step {
  /** What to enter, in words. */
  ask: string
  /** The values to choose from; evaluated when the step is shown. */
  choices: () => Iterable<Choice>
  /** Reads a value that is not among the choices; undefined if the text is none. */
  read?: (text: string) => Choice | undefined
}

export interface PaletteVerb {
  id: string
  icon: string
  /** Ends with an ellipsis, because it needs arguments. */
  title: string
  /** The next argument, given those chosen so far; undefined when there is none left. */
  next: (chosen: readonly Choice[]) => Step | undefined
  run: (chosen: readonly Choice[]) => void
}

/** A verb and the arguments chosen so far. */
export interface Command {
  verb: PaletteVerb
  chosen: readonly Choice[]
}

const most = 50

/** The choices that match the text, best first; what the text itself says comes first. */
export function completions({ verb, chosen }: Command, text: string): Choice[] {
  const step = verb.next(chosen)
  if (!step) return []
  const words = text.toLowerCase().split(/\s+/).filter(Boolean)
  const found: { choice: Choice; rank: number }[] = []
  for (const choice of step.choices()) {
    const at = rank(`${choice.title} ${choice.detail ?? ''}`, words)
    if (at !== undefined) found.push({ choice, rank: at })
  }
  if (words.length) found.sort((a, b) => a.rank - b.rank)
  const own = text.trim() ? step.read?.(text.trim()) : undefined
  const rest = found.map((f) => f.choice).filter((choice) => choice.value !== own?.value)
  return [...(own ? [own] : []), ...rest].slice(0, most)
}

/** A choice as the palette's entry. */
export function entryOf({ verb }: Command, choice: Choice, run: () => void): PaletteEntry {
  return {
    id: `${verb.id} ${choice.value}`,
    group: 'arguments',
    icon: verb.icon,
    title: choice.title,
    detail: choice.detail,
    stays: true,
    run,
  }
}
