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

/** Kubernetes' default as a document that sets nothing. Written out, it has 140 lines. */
export const nothingSet = `apiVersion: kubescheduler.config.k8s.io/v1
kind: KubeSchedulerConfiguration
profiles:
- schedulerName: default-scheduler
`

/** Parts of the default, written out, that few people come for; the editor folds them. */
export const detailKeys: readonly string[] = ['clientConnection', 'leaderElection', 'pluginConfig', 'enabled']
