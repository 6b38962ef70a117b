// Questions about what would happen: hypotheses, what makes a pod fit, how many more fit,
// and the shadow configuration. Nothing here changes the cluster.

import { bodyOf, client } from './client'
import type {
  Autoscale,
  AutoscaleAnswer,
  Deschedule,
  DescheduleAnswer,
  Drain,
  DrainAnswer,
  CapacityAnswer,
  CapacityQuestion,
  Change,
  FitAnswer,
  FitQuestion,
  Shadow,
  ShadowDraftAnswer,
  SubmitAnswers,
  WhatIfAnswer,
  WhatIfQuestion,
} from './types'

export async function askWhatIf(question: WhatIfQuestion, signal?: AbortSignal): Promise<WhatIfAnswer> {
  const { decisions, ...rest } = await bodyOf(
    client.POST('/api/v1/whatif', { body: { copies: 1, ...question }, signal })
  )
  return { ...rest, decisions: decisions.map((cycle) => ({ ...cycle, hypothetical: true })) }
}

/** What would become of the jobs of a text in YAML, in their order. */
export function askSubmit(text: string, signal?: AbortSignal): Promise<SubmitAnswers> {
  return bodyOf(client.POST('/api/v1/submit', { body: { objects: [text] }, signal }))
}

/** What an autoscaler would do about the pods that wait. */
export function askAutoscale(question: Autoscale, signal?: AbortSignal): Promise<AutoscaleAnswer> {
  return bodyOf(client.POST('/api/v1/autoscale', { body: question, signal }))
}

/** What kubectl drain would do. */
export function askDrain(question: Drain, signal?: AbortSignal): Promise<DrainAnswer> {
  return bodyOf(client.POST('/api/v1/drain', { body: question, signal }))
}

/** What the descheduler would do with a policy. */
export function askDeschedule(question: Deschedule, signal?: AbortSignal): Promise<DescheduleAnswer> {
  return bodyOf(client.POST('/api/v1/deschedule', { body: question, signal }))
}

export function askFit(question: FitQuestion, signal?: AbortSignal): Promise<FitAnswer> {
  return bodyOf(client.POST('/api/v1/whatif/fit', { body: { limit: 20, ...question }, signal }))
}

export function askCapacity(question: CapacityQuestion, signal?: AbortSignal): Promise<CapacityAnswer> {
  return bodyOf(client.POST('/api/v1/whatif/capacity', { body: { limit: 1000, ...question }, signal }))
}

/**
 * The objects that make copies of a node real, with all that comes with it, in the order of their
 * creation.
 */
export async function askCopies(change: Change, signal?: AbortSignal): Promise<readonly Change[]> {
  return (await bodyOf(client.POST('/api/v1/whatif/copies', { body: change, signal }))).changes
}

export function getShadow(signal?: AbortSignal): Promise<Shadow> {
  return bodyOf(client.GET('/api/v1/shadow', { signal }))
}

/** Replaces the shadow before it and drops its judgement. The configuration is YAML. */
export function putShadow(configuration: string): Promise<Shadow> {
  return bodyOf(client.PUT('/api/v1/shadow', { body: { configuration } }))
}

/** Succeeds if there is none. */
export async function deleteShadow(): Promise<void> {
  await client.DELETE('/api/v1/shadow')
}

/**
 * Judges a configuration once, for the pods of at most `last` decisions. It answers after about
 * `within` ms with what it has judged; asked again, it goes on from there.
 */
export function judgeDraft(
  configuration: string,
  last: number,
  within: number,
  signal?: AbortSignal
): Promise<ShadowDraftAnswer> {
  return bodyOf(client.POST('/api/v1/shadow', { body: { configuration, last, withinMilliseconds: within }, signal }))
}
