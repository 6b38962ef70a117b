// Says what a change did, and offers to undo it.

import { t } from '@/i18n'
import { notify } from '@/ui/notices'
import type { Entry } from './model/entry'
import { remember, undo, type Result } from './store/changes'
import { subjectOf } from './subject'

/** Undoes a change and says how it went; needs no component, because the message outlives its page. */
export async function undoAloud(entry: Entry, name: string): Promise<void> {
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
export function done(verb: Entry['verb'], results: readonly Result[]): Entry | undefined {
  const entry = remember(verb, results)
  if (!entry) return undefined
  const name = subjectOf(entry.refs)
  const some = results.some((r) => r.effect)
  notify(
    some ? 'done' : 'failed',
    some ? t(`act.did.${verb}`, { name }) : t('act.lost', { name }),
    entry.undo.length ? { label: t('act.undo'), run: () => void undoAloud(entry, name) } : undefined
  )
  return entry
}
