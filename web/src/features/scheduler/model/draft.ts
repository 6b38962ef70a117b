// The draft of a configuration, and how it reacts when another client applies a
// configuration. No operation here loses text.

export interface Running {
  revision: number
  text: string
}

export interface Draft {
  text: string
  /** The running text when the draft last equalled it, or was last compared with it. */
  base: Running
  /**
   * The name of the preset or the number of the revision that the draft started from; '' for the
   * running one.
   */
  origin: string
}

export function isDirty(draft: Draft): boolean {
  return draft.text !== draft.base.text
}

/** An unchanged draft follows the running configuration; a changed one stays as it is. */
export function follow(draft: Draft | undefined, running: Running): Draft {
  if (!draft || !isDirty(draft) || draft.text === running.text) return { text: running.text, base: running, origin: '' }
  return draft
}

/** Another client has applied a configuration since the draft was started. */
export function isOvertaken(draft: Draft, running: Running): boolean {
  return isDirty(draft) && (draft.base.revision !== running.revision || draft.base.text !== running.text)
}

/** Keeps the text and makes the running configuration its base: the user has seen it. */
export function rebase(draft: Draft, running: Running): Draft {
  return { ...draft, base: running }
}

/** A draft that starts from another document. */
export function begin(text: string, origin: string, running: Running): Draft {
  return { text, base: running, origin: text === running.text ? '' : origin }
}

/** Parses a draft from JSON; undefined when it is invalid. */
export function restore(stored: string | null): Draft | undefined {
  if (!stored) return undefined
  try {
    const value = JSON.parse(stored) as Partial<Draft> | null
    const base = value?.base
    if (typeof value?.text !== 'string' || typeof base?.text !== 'string' || typeof base.revision !== 'number')
      return undefined
    return {
      text: value.text,
      base: { text: base.text, revision: base.revision },
      origin: typeof value.origin === 'string' ? value.origin : '',
    }
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
