// The text that somebody is writing in place of the running configuration, and what
// becomes of it when the running one moves on meanwhile. Nothing here loses text.

export interface Running {
  revision: number
  text: string
}

export interface Draft {
  text: string
  /** What was running when the text was last the same, or was last compared. */
  base: Running
  /** A preset's name, or the number of a revision that it began as; '' when it began as the running one. */
  origin: string
}

export function isDirty(draft: Draft): boolean {
  return draft.text !== draft.base.text
}

/** A clean draft goes with the running configuration; one with changes stays as it is. */
export function follow(draft: Draft | undefined, running: Running): Draft {
  if (!draft || !isDirty(draft) || draft.text === running.text) return { text: running.text, base: running, origin: '' }
  return draft
}

/** Somebody else has applied something since the draft was begun. */
export function isOvertaken(draft: Draft, running: Running): boolean {
  return isDirty(draft) && (draft.base.revision !== running.revision || draft.base.text !== running.text)
}

/** Keeps the text and takes what runs now for its base: the person has seen it. */
export function rebase(draft: Draft, running: Running): Draft {
  return { ...draft, base: running }
}

/** A draft that begins as another document. */
export function begin(text: string, origin: string, running: Running): Draft {
  return { text, base: running, origin: text === running.text ? '' : origin }
}

/** Reads what JSON.stringify made of a draft; undefined when it is none. */
export function restore(stored: string | null): Draft | undefined {
  if (!stored) return undefined
  try {
    const value = JSON.parse(stored) as Partial<Draft> | null
    const base = value?.base
    if (typeof value?.text !== 'string' || typeof base?.text !== 'string' || typeof base.revision !== 'number') return undefined
    return { text: value.text, base: { text: base.text, revision: base.revision }, origin: typeof value.origin === 'string' ? value.origin : '' }
  } catch {
    return undefined
  }
}

/** Parts that few people come for; the editor folds them in a long text. */
export const detailKeys: readonly string[] = ['clientConnection', 'leaderElection', 'pluginConfig', 'enabled']
const longText = 100
const nothing: readonly string[] = []

/** The keys that the editor folds: those of the default written out, which is two hundred lines. */
export function foldedKeys(draft: Draft | undefined): readonly string[] {
  return draft && !draft.origin && draft.text.split('\n').length > longText ? detailKeys : nothing
}
