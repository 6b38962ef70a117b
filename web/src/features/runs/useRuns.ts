// The runs of the page: what is asked for, how far it is, and what came of it.

import { useIntervalFn, useLocalStorage } from '@vueuse/core'
import { computed, ref, shallowRef, watch } from 'vue'
import { ApiError } from '@/api/http'
import { messageOf } from '@/api/message'
import { deleteRun, getRun, listRuns, startRun } from '@/api/runs'
import type { RunEntry } from '@/api/types'
import type { Problem } from '@/features/yaml/model/documents'
import { useQuery } from '@/ui/query'
import { exampleScenario, exampleSweep, scenarioFile } from './model/example'
import { firstToShow, isActive, mistakesIn } from './model/runs'

/** The progress is read this often (ms). */
const pace = 400

export function useRuns() {
  const scenario = useLocalStorage('scenario', exampleScenario)
  const sweep = useLocalStorage('sweep', exampleSweep)
  /** Which file is in the editor, and is run. A sweep runs the scenario under many values. */
  const kind = useQuery('file', 'scenario', ['scenario', 'sweep'])
  const text = computed({
    get: () => (kind.value === 'sweep' ? sweep.value : scenario.value),
    set: (now) => ((kind.value === 'sweep' ? sweep : scenario).value = now),
  })
  /** '' runs the matrix; otherwise the configuration to compare the first one with. */
  const against = useQuery('against', '', ['', 'default', 'current'])
  const id = useQuery('run')
  /** The index of the run to show, as the URL has it; '' shows the first that did not pass. */
  const chosen = useQuery('of')
  const entry = shallowRef<RunEntry>()
  const list = shallowRef<RunEntry[]>([])
  /** The mistakes in each file. */
  const mistakes = shallowRef<{ scenario: Problem[]; sweep: Problem[] }>({ scenario: [], sweep: [] })
  const problems = computed(() => mistakes.value[kind.value])
  const failure = ref('')
  const starting = ref(false)

  const fail = (error: unknown) => (failure.value = messageOf(error))

  async function read() {
    if (!id.value) return
    const asked = id.value
    try {
      const answer = await getRun(asked)
      if (id.value === asked) entry.value = answer
    } catch (error) {
      if (error instanceof ApiError && error.code === 404) id.value = ''
      else fail(error)
    }
    if (!entry.value || !isActive(entry.value)) pause()
  }
  const { pause, resume } = useIntervalFn(() => void read(), pace, { immediate: false })
  const relist = () => void listRuns().then((items) => (list.value = items), fail)

  watch(
    id,
    (now) => {
      entry.value = undefined
      if (now) void read().then(resume)
    },
    { immediate: true }
  )
  watch(() => entry.value?.state, relist, { immediate: true })

  async function run() {
    mistakes.value = { scenario: [], sweep: [] }
    failure.value = ''
    starting.value = true
    try {
      const started = await startRun(
        kind.value === 'sweep'
          ? { sweep: sweep.value, files: { [scenarioFile]: scenario.value } }
          : { scenario: scenario.value, ...(against.value ? { against: against.value } : {}) }
      )
      chosen.value = ''
      id.value = started.id
    } catch (error) {
      fail(error)
      if (!(error instanceof ApiError)) return
      mistakes.value = mistakesIn(error.problems, kind.value)
      // The mistakes of a sweep may all be in its scenario.
      if (!problems.value.length && mistakes.value.scenario.length) kind.value = 'scenario'
    } finally {
      starting.value = false
    }
  }

  /** Cancels what runs, and forgets what has ended. */
  async function remove() {
    if (!entry.value) return
    const active = isActive(entry.value)
    try {
      await deleteRun(entry.value.id)
      if (active) await read()
      else id.value = ''
    } catch (error) {
      fail(error)
    }
    relist()
  }

  const results = computed(() => entry.value?.results ?? [])
  const index = computed(() => (chosen.value === '' ? firstToShow(results.value) : Number(chosen.value)))
  const result = computed(() => results.value[index.value] ?? undefined)
  watch(scenario, () => (mistakes.value = { ...mistakes.value, scenario: [] }))
  watch(sweep, () => (mistakes.value = { ...mistakes.value, sweep: [] }))

  return {
    scenario,
    fail,
    text,
    kind,
    against,
    id,
    chosen,
    entry,
    list,
    problems,
    failure,
    starting,
    run,
    remove,
    results,
    index,
    result,
  }
}
