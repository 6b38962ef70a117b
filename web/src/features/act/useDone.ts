// Says what a change did, and offers to undo it.

import { useI18n } from 'vue-i18n'
import { i18n } from '@/i18n'
import { notify } from '@/ui/notices'
import type { Entry } from './model/entry'
import { remember, undo, type Result } from './store/changes'
import { useSubject } from './useSubject'

/** The names of an entry's objects: one, or how many. */
export function useEntryNames(): (entry: Pick<Entry, 'refs'>) => string {
  const subjectOf = useSubject()
  return ({ refs }) => subjectOf(refs)
}

/** Undoes a change and says how it went; needs no component, because the message outlives its page. */
export async function undoAloud(entry: Entry, name: string): Promise<void> {
  const { t } = i18n.global
  await undo(entry)
  if (entry.state === 'undone') notify('done', t('act.undone', { name }))
  else if (entry.problem)
    notify(
      'failed',
      entry.problem.changed
        ? t('act.changedSince', { name })
        : t('act.undoFailed', { name, message: entry.problem.message })
    )
}

/** Call it with the results of a change. */
export function useDone(): (verb: Entry['verb'], results: readonly Result[]) => Entry | undefined {
  const { t } = useI18n()
  const namesOf = useEntryNames()
  return (verb, results) => {
    const entry = remember(verb, results)
    if (!entry) return undefined
    const name = namesOf(entry)
    const done = results.some((r) => r.effect)
    notify(
      done ? 'done' : 'failed',
      done ? t(`act.did.${verb}`, { name }) : t('act.lost', { name }),
      entry.undo.length ? { label: t('act.undo'), run: () => void undoAloud(entry, name) } : undefined
    )
    return entry
  }
}
