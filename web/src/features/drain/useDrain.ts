// The question of the page, which is in its address; the answer, asked again when the cluster changes; and carrying it out.

import { useDebounceFn } from '@vueuse/core'
import { computed, ref, watch } from 'vue'
import { playScenario } from '@/api/play'
import { askDrain } from '@/api/whatif'
import { enterNew } from '@/features/branch/store/branches'
import { useQuestion } from '@/features/whatif/useQuestion'
import { t } from '@/i18n'
import { connection } from '@/live/status'
import { notify } from '@/ui/notices'
import { useQuery } from '@/ui/query'
import { useAttempt } from '@/ui/useAttempt'
import { nodesOf, questionOf, scenarioOf } from './model/drain'

/** What is typed changes the question a moment later (ms). */
const pause = 400

export function useDrain() {
  const nodes = useQuery('nodes')
  const timeout = useQuery('timeout')
  const atOnce = useQuery('atOnce')
  const start = useQuery('start')
  const force = useQuery<'yes' | ''>('force')
  const emptyDir = useQuery<'yes' | ''>('emptyDir')
  /** A new workspace carries the drain out that it was made for. */
  const run = useQuery<'yes' | ''>('run')

  const form = () => ({
    nodes: nodes.value,
    timeout: timeout.value,
    atOnce: atOnce.value,
    start: start.value,
    force: force.value === 'yes',
    emptyDir: emptyDir.value === 'yes',
  })
  const asked = computed(() => questionOf(form()))
  const question = useQuestion((signal, body: Parameters<typeof askDrain>[0]) => askDrain(body, signal))
  const ask = () => void (asked.value ? question.ask(asked.value) : question.clear())
  const soon = useDebounceFn(ask, pause)
  watch(
    () => JSON.stringify(asked.value ?? null),
    (_, before) => void (before === undefined ? ask() : soon()),
    { immediate: true }
  )

  const { busy, error, attempt } = useAttempt()
  /** The node that is being drained. */
  const step = ref('')
  const carryOut = () =>
    attempt(async () => {
      if (!asked.value) return
      try {
        await playScenario(scenarioOf(asked.value), (name) => (step.value = name))
        notify('done', t('drain.carried'))
      } finally {
        step.value = ''
        ask()
      }
    })
  /** Takes the nodes of the best plan that the server finds. */
  const findDearest = (most: number) =>
    attempt(async () => {
      const how = { ...questionOf({ ...form(), nodes: 'any' }) }
      delete how.nodes
      const plan = await askDrain({ ...how, dearest: most })
      if (!plan.nodes.length) throw new Error(t('drain.dearestNone'))
      nodes.value = plan.nodes.map(({ name }) => name).join(',')
    })
  watch(
    () => run.value === 'yes' && connection.value.kind === 'live',
    (now) => {
      if (!now) return
      run.value = ''
      void carryOut()
    },
    { immediate: true }
  )
  const inWorkspace = () =>
    attempt(async () => {
      const query = new URLSearchParams({ nodes: nodes.value, run: 'yes' })
      for (const [name, of] of Object.entries({ timeout, force, emptyDir })) if (of.value) query.set(name, of.value)
      const title = t('drain.workspaceTitle', { nodes: nodesOf(nodes.value).join(t('common.separator')) })
      await enterNew({ title: title.slice(0, 100) }, `drain?${query}`)
    })

  return {
    nodes,
    timeout,
    atOnce,
    start,
    force,
    emptyDir,
    asked,
    question,
    ask,
    busy,
    error,
    step,
    carryOut,
    findDearest,
    inWorkspace,
  }
}

export type Draining = ReturnType<typeof useDrain>
