// Kueue's configuration as the fields of a form, and back.

import type { KueueConfiguration } from '@/api/types'

export type Strategies = 'both' | 'final' | 'initial'

export interface SettingsForm {
  fair: boolean
  strategies: Strategies
  /** By what LocalQueues have used, and until half of that is forgotten. */
  usage: boolean
  halfLife: string
  elastic: boolean
  waits: boolean
  /** A duration as Kueue writes it: 30m, 1h30m. */
  timeout: string
  block: boolean
  /** Whole numbers as text; '' for Kueue's default. */
  base: string
  most: string
  limit: string
}

const strategiesOf = {
  both: ['LessThanOrEqualToFinalShare', 'LessThanInitialShare'],
  final: ['LessThanOrEqualToFinalShare'],
  initial: ['LessThanInitialShare'],
} as const satisfies Record<Strategies, readonly string[]>

const elasticJobs = 'ElasticJobsViaWorkloadSlices'

/** 30m0s → 30m: the API writes durations with all their units. */
const short = (duration: string): string => duration.replace(/(?<=[hm])0s$/, '').replace(/(?<=h)0m$/, '')

export function formOf(configuration: KueueConfiguration): SettingsForm {
  const { fairSharing, admissionFairSharing, waitForPodsReady, featureGates } = configuration
  const backoff = waitForPodsReady?.requeuingStrategy
  const text = (n: number | undefined) => (n === undefined ? '' : String(n))
  const given = fairSharing?.preemptionStrategies ?? []
  return {
    fair: !!fairSharing && fairSharing.enable !== false,
    strategies: given.length !== 1 ? 'both' : given[0] === 'LessThanInitialShare' ? 'initial' : 'final',
    usage: !!admissionFairSharing,
    halfLife: admissionFairSharing?.usageHalfLifeTime ? short(admissionFairSharing.usageHalfLifeTime) : '',
    elastic: !!featureGates?.[elasticJobs],
    waits: waitForPodsReady?.enable !== false,
    timeout: waitForPodsReady?.timeout ? short(waitForPodsReady.timeout) : '',
    block: !!waitForPodsReady?.blockAdmission,
    base: text(backoff?.backoffBaseSeconds),
    most: text(backoff?.backoffMaxSeconds),
    limit: text(backoff?.backoffLimitCount),
  }
}

/** Keeps the settings that the form does not show. */
export function configurationOf(form: SettingsForm, before: KueueConfiguration): KueueConfiguration {
  const number = (text: string) => (text.trim() === '' ? undefined : Number(text))
  const requeuingStrategy = {
    ...before.waitForPodsReady?.requeuingStrategy,
    backoffBaseSeconds: number(form.base),
    backoffMaxSeconds: number(form.most),
    backoffLimitCount: number(form.limit),
  }
  const gates = Object.fromEntries(Object.entries(before.featureGates ?? {}).filter(([gate]) => gate !== elasticJobs))
  return {
    ...before,
    admissionFairSharing: form.usage
      ? { ...before.admissionFairSharing, usageHalfLifeTime: form.halfLife.trim() || '0s' }
      : undefined,
    featureGates: form.elastic ? { ...gates, [elasticJobs]: true } : before.featureGates && gates,
    fairSharing: form.fair
      ? { ...(form.strategies === 'both' ? {} : { preemptionStrategies: [...strategiesOf[form.strategies]] }) }
      : undefined,
    waitForPodsReady: form.waits
      ? {
          ...before.waitForPodsReady,
          enable: undefined,
          timeout: form.timeout.trim() || undefined,
          blockAdmission: form.block || undefined,
          requeuingStrategy,
        }
      : { ...before.waitForPodsReady, enable: false },
  }
}
