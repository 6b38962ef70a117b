import type { ObjectRef } from '@/kubernetes/object'
import type { Verb } from './verbs'
import type { Write } from './write'

/** A change of the user in the history. */
export interface Entry {
  id: number
  /** edit: as YAML. suppose: a hypothesis that was made real. */
  verb: Verb | 'drain' | 'edit' | 'suppose'
  refs: readonly ObjectRef[]
  /** ms since the epoch. */
  at: number
  /** What undoes it; empty when nothing does. */
  undo: readonly Write[]
  state: 'done' | 'undoing' | 'undone' | 'failed'
  /** Why undoing failed: `changed` if the objects have changed since. */
  problem?: { changed: boolean; message: string }
}
