// What the views of the page share: the list of records, read again and again while the page is
// shown, and the record in view.

import { useIntervalFn } from '@vueuse/core'
import { computed, watch, type ComputedRef, type Ref, type ShallowRef } from 'vue'
import { listSessions } from '@/api/sessions'
import type { SessionEntry } from '@/api/types'
import { useAnswer } from '@/live/answer'
import { useQuery } from '@/ui/query'

/** The list is read this often (ms). */
const pace = 1000

export type SessionListRead = ReturnType<typeof useSessionList>

export interface Sessions<T> extends SessionListRead {
  /** The records to step through, newest first. */
  entries: ComputedRef<readonly SessionEntry[]>
  /** The number in the URL; '' follows the newest record. */
  chosen: Ref<string>
  /** The number of the record in view; 0 without one. */
  number: ComputedRef<number>
  older: ComputedRef<SessionEntry | undefined>
  newer: ComputedRef<SessionEntry | undefined>
  record: ShallowRef<T | undefined>
  recordError: ShallowRef<unknown>
}

/** The settings and the latest records of a kind. */
export function useSessionList(kind: 'session' | 'round') {
  const { value: list, error: listError, ask } = useAnswer(async (signal) => listSessions(kind, signal))
  const refresh = () => ask()
  void refresh()
  useIntervalFn(() => void refresh(), pace)
  return { list, listError, refresh }
}

/** Records of one kind; only chooses which of them there are to step through. */
export function useSessions<T>(
  kind: 'session' | 'round',
  read: (number: number, signal: AbortSignal) => Promise<T | undefined>,
  only: (entry: SessionEntry) => boolean = () => true
): Sessions<T> {
  const { list, listError, refresh } = useSessionList(kind)
  const chosen = useQuery(kind)
  const entries = computed(() => (list.value?.items ?? []).filter(only))
  const number = computed(() => Number(chosen.value) || (entries.value[0]?.number ?? 0))
  const older = computed(() => entries.value.find((one) => one.number < number.value))
  const newer = computed(() => entries.value.findLast((one) => one.number > number.value))
  const {
    value: record,
    error: recordError,
    ask: askRecord,
    clear,
  } = useAnswer(async (signal, wanted: number) => read(wanted, signal), { dropOnError: true })
  watch(number, (wanted) => (wanted ? void askRecord(wanted) : clear()), { immediate: true })
  return { list, listError, refresh, entries, chosen, number, older, newer, record, recordError }
}
