// The tour's way through the pages: where each step is, and how to get there.

import { computed, watch, type ComputedRef } from 'vue'
import { useRoute, useRouter, type RouteLocationRaw } from 'vue-router'
import type { Summary } from '@/api/types'
import { cluster } from '@/live/cluster'
import { external } from '@/live/operation'
import { results } from '@/live/watched'
import { decisionToRead, preemptionToRead, stepFrom, stepsFor, type TourFacts, type TourStep } from './model/steps'
import { endTour, setTour, tourStep } from './store/tour'

export interface Tour {
  /** The steps that apply now. */
  steps: ComputedRef<TourStep[]>
  /** Whether the page of the current step is open. */
  there: ComputedRef<boolean>
  canGoBack: ComputedRef<boolean>
  /** False while the step needs something first: nodes, a decision, a preemption. */
  canGoOn: ComputedRef<boolean>
  next(): void
  back(): void
  /** Opens the page of the current step. */
  show(): void
}

export function useTour(): Tour {
  const route = useRoute()
  const router = useRouter()
  const decision = computed(() => decisionToRead(results.value.items))
  const preemption = computed(() => preemptionToRead(results.value.items))
  const facts = computed((): TourFacts => ({
    hasNodes: cluster.value.nodes.length > 0,
    hasPreemption: !!preemption.value,
    mayCreate: !external.value,
  }))

  // A cluster that has nodes needs no sample.
  watch(
    () => tourStep.value === 'sample' && facts.value.hasNodes,
    (needless) => {
      if (needless) tourStep.value = 'pod'
    },
    { immediate: true }
  )
  // The preemption that the tour created has happened.
  watch(
    () => tourStep.value === 'preempt' && preemption.value,
    (found) => found && goTo('preemption')
  )

  const decisionOf = ({ pod, attempt }: Summary): RouteLocationRaw => ({
    name: 'decision',
    params: { namespace: pod.namespace, name: pod.name },
    query: { uid: pod.uid, attempt: String(attempt) },
  })
  const isAt = (of: Summary | undefined) =>
    route.name === 'decision' && route.params.namespace === of?.pod.namespace && route.params.name === of?.pod.name
  function isThere(step: TourStep): boolean {
    if (step === 'sample' || step === 'pod') return route.name === 'cluster'
    if (step === 'decision') return route.name === 'cluster' && !!route.query.pod
    if (step === 'filter' || step === 'score') return route.name === 'decision'
    return step === 'preemption' ? isAt(preemption.value) : true
  }
  function placeOf(step: TourStep): RouteLocationRaw | undefined {
    const read = decision.value
    if (step === 'sample' || step === 'pod') return { name: 'cluster' }
    if (step === 'decision')
      return read && { name: 'cluster', query: { pod: `${read.pod.namespace}/${read.pod.name}` } }
    if (step === 'filter' || step === 'score') return read && decisionOf(read)
    return step === 'preemption' ? preemption.value && decisionOf(preemption.value) : undefined
  }
  function goTo(step: TourStep) {
    setTour(step)
    const place = isThere(step) ? undefined : placeOf(step)
    if (place) void router.push(place)
  }
  const from = (by: 1 | -1) => tourStep.value && stepFrom(tourStep.value, by, facts.value)
  const needed: Partial<Record<TourStep, () => boolean>> = {
    sample: () => facts.value.hasNodes,
    pod: () => !!decision.value,
    decision: () => !!decision.value || route.name === 'decision',
    preempt: () => !!preemption.value,
  }

  return {
    steps: computed(() => stepsFor(facts.value)),
    there: computed(() => !!tourStep.value && isThere(tourStep.value)),
    canGoBack: computed(() => !!from(-1)),
    canGoOn: computed(() => !tourStep.value || (needed[tourStep.value]?.() ?? true)),
    next() {
      const step = from(1)
      if (step) goTo(step)
      else endTour()
    },
    back() {
      const step = from(-1)
      if (step) goTo(step)
    },
    show: () => tourStep.value && goTo(tourStep.value),
  }
}
