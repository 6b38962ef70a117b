// One run that creates and changes objects, as the create dialog shows it.

import { computed, shallowRef } from 'vue'
import {
  asRefusal,
  check,
  itemsOf,
  perform,
  problemsOf,
  type Creator,
  type EntryState,
  type Item,
} from '../model/batch'
import type { Problem, Entry } from '@/features/yaml/model/documents'

/**
 * idle: nothing was requested yet. refused: the dry run found a refusal, and nothing was
 * written. review: the dry run passed and waits for confirmation. done: written, as far
 * as possible.
 */
export type Phase = 'idle' | 'checking' | 'refused' | 'review' | 'writing' | 'done'

export type Counts = Readonly<Record<EntryState['kind'], number>>

export type BatchRun = ReturnType<typeof useBatch>

/** More entries than this are written without a dry run, which would double the time. */
const tryLimit = 200
/** How often a run in progress is published, in ms. */
const showEvery = 100

export function useBatch(creator: Creator) {
  const phase = shallowRef<Phase>('idle')
  const items = shallowRef<readonly Item[]>([])
  const problems = shallowRef<readonly Problem[]>([])
  const failure = shallowRef<unknown>()
  let all: Item[] = []
  let abort = new AbortController()
  let force = false
  let timer: ReturnType<typeof setTimeout> | undefined

  const show = () => {
    clearTimeout(timer)
    timer = undefined
    items.value = [...all]
  }
  const progress = () => {
    timer ??= setTimeout(show, showEvery)
  }
  const width = () => (all.length > tryLimit ? 12 : 6)
  const open = () =>
    all.filter((i) => i.state.kind !== 'created' && i.state.kind !== 'changed' && i.state.kind !== 'same')

  async function guarded(step: () => Promise<void>) {
    failure.value = undefined
    try {
      await step()
    } catch (error) {
      failure.value = error
      phase.value = 'idle'
    } finally {
      problems.value = problemsOf(all)
      show()
    }
  }

  async function tryAll(dry: boolean) {
    phase.value = 'checking'
    const wanted = open()
    // The second copy of a document has the same result as the first.
    for (const item of wanted) item.state = { kind: item.entry.copy ? 'unchecked' : 'pending' }
    show()
    await check(wanted, creator, { progress, force, signal: abort.signal, width: width() })
    if (wanted.some((i) => i.state.kind === 'failed')) phase.value = 'refused'
    else if (dry || abort.signal.aborted || wanted.some((i) => i.state.kind === 'differs')) phase.value = 'review'
    else await writeAll()
  }

  async function writeAll() {
    phase.value = 'writing'
    problems.value = []
    await perform(
      open().filter((i) => i.state.kind !== 'failed'),
      creator,
      { progress, force, signal: abort.signal, width: width() }
    )
    phase.value = 'done'
  }

  function begin() {
    abort = new AbortController()
  }

  return {
    phase,
    items,
    problems,
    failure,
    counts: computed(() => {
      const counts: Record<EntryState['kind'], number> = {
        pending: 0,
        checked: 0,
        unchecked: 0,
        differs: 0,
        same: 0,
        created: 0,
        changed: 0,
        failed: 0,
        notAttempted: 0,
      }
      for (const item of items.value) counts[item.state.kind]++
      return counts
    }),
    /** Dry-runs the entries and writes them if the server accepts all; with `dry` it stops before writing. */
    start(entries: readonly Entry[], options: { dry?: boolean; force?: boolean } = {}) {
      begin()
      force = options.force ?? false
      all = itemsOf(entries)
      const first = all.filter((i) => !i.entry.copy).length
      return guarded(() => (first > tryLimit && !options.dry ? writeAll() : tryAll(options.dry ?? false)))
    },
    proceed() {
      begin()
      return guarded(writeAll)
    },
    /** Retries entries that failed or were not attempted. */
    retry(options: { force?: boolean } = {}) {
      begin()
      force = options.force ?? force
      const wanted = open()
      for (const item of wanted) item.state = { kind: 'pending' }
      return guarded(() => (wanted.length > tryLimit ? writeAll() : tryAll(false)))
    },
    stop: () => abort.abort(),
    reset() {
      abort.abort()
      all = []
      force = false
      phase.value = 'idle'
      problems.value = []
      failure.value = undefined
      show()
    },
  }
}

/** A hint for errors whose message does not say what to do. */
export function hintOf(error: unknown): 'diskFull' | 'unavailable' | undefined {
  const { message, code } = asRefusal(error)
  if (/no space left|database space exceeded|disk quota/i.test(message)) return 'diskFull'
  return code === 0 || code === 503 || code === 502 ? 'unavailable' : undefined
}
