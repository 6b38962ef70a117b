// The question of the page: what an autoscaler would do, asked again when the cluster changes, with the instance
// types of a file if the user chose one.

import { useDebounceFn } from '@vueuse/core'
import { computed, ref, shallowRef, watch, type ComputedRef, type Ref } from 'vue'
import type { Autoscale, AutoscaleAnswer, KubeObject } from '@/api/types'
import { askAutoscale } from '@/api/whatif'
import { useQuestion } from '@/features/whatif/useQuestion'
import { disruptionBudgetKind, nodeClaimKind, nodePoolKind } from '@/kubernetes/autoscaling'
import { useDiscovery, useServedKind } from '@/live/servedKinds'
import { connection } from '@/live/status'
import { nodes, pods } from '@/live/watched'
import { stateOf } from './model/answer'

/** Changes often come together, and an answer takes a second: the wait after the last one, and the longest (ms). */
const pause = 800
const longest = 5000

export interface Asked {
  answer: AutoscaleAnswer
  question: Autoscale
}

export interface TypesFile {
  name: string
  text: string
}

export type Autoscaling = ReturnType<typeof useAutoscale>

export async function askAbout(signal: AbortSignal, question: Autoscale): Promise<Asked> {
  return { answer: await askAutoscale(question, signal), question }
}

/** `allNodes`: also ask which nodes could go. */
export function useAutoscale(allNodes: Ref<boolean> | ComputedRef<boolean>) {
  useDiscovery()
  const pools = useServedKind<KubeObject>(nodePoolKind)
  const claims = useServedKind<KubeObject>(nodeClaimKind)
  const budgets = useServedKind<KubeObject>(disruptionBudgetKind)

  const types = shallowRef<TypesFile>()
  /** What each question begins with. */
  const base = computed((): Autoscale =>
    types.value ? { instanceTypes: types.value.text, instanceTypesFrom: types.value.name } : {}
  )
  const body = computed((): Autoscale => ({ ...base.value, ...(allNodes.value ? { allNodes: true } : {}) }))
  const question = useQuestion(askAbout)
  const ready = computed(
    () => [pools, claims, budgets].every(({ synced }) => synced.value) && pods.value.synced && nodes.value.synced
  )
  const empty = computed(() => ready.value && pools.items.value.size === 0)

  const state = () =>
    stateOf([
      pools.items.value.values(),
      claims.items.value.values(),
      budgets.items.value.values(),
      nodes.value.items.values(),
      pods.value.items.values(),
    ])
  let asked = ''
  const changed = ref(false)
  async function ask(): Promise<void> {
    if (!ready.value || empty.value) return question.clear()
    asked = state()
    changed.value = false
    if (await question.ask(body.value)) void lookSoon()
  }
  /** Asks again if the cluster is another one than that of the last question. */
  async function look(): Promise<void> {
    if (!ready.value || connection.value.kind !== 'live' || state() === asked) return
    // The answer that is on its way comes first: changes without end must not keep it away.
    changed.value = true
    if (!question.loading.value) await ask()
  }
  const lookSoon = useDebounceFn(look, pause, { maxWait: longest })
  watch([pools.items, claims.items, budgets.items, nodes, pods, () => connection.value.kind], () => void lookSoon())
  watch([body, ready, empty], () => void ask(), { immediate: true })

  async function take(files: Iterable<File>): Promise<void> {
    const [file] = files
    if (file) types.value = { name: file.name, text: await file.text() }
  }

  return { pools, ready, empty, question, changed, ask, types, base, take }
}
