// What the server says of the draft: the dry runs while it is written, and the refusal of an apply.

import { computed, onScopeDispose, shallowRef, watch, type ComputedRef, type Ref, type ShallowRef } from 'vue'
import { useI18n } from 'vue-i18n'
import type { Effective, ErrorDetail } from '@/api/types'
import type { Problem } from '@/features/yaml/model/documents'
import { problemsOf, withoutLine } from './model/mistakes'
import { dirty, draft, running, useCheck, type Check } from './store/configuration'

export interface Refused {
  message: string
  problems: readonly ErrorDetail[]
}

export interface ConfigurationCheck {
  check: Ref<Check>
  /** Tries the draft now. */
  checkNow: () => Promise<Check>
  /** What the last apply was refused for; undefined once the draft changes. */
  refused: ShallowRef<Refused | undefined>
  /** Mistakes that have a line. */
  problems: ComputedRef<readonly Problem[]>
  /** Mistakes that have none. */
  elsewhere: ComputedRef<readonly ErrorDetail[]>
  verdict: ComputedRef<{ icon: string; tone: string; text: string }>
  /** What the draft would put in force, according to the last dry run without a mistake; undefined without a draft. */
  effect: ComputedRef<{ effective: Effective | undefined; state: 'valid' | 'invalid' | 'checking' } | undefined>
}

export function useConfigurationCheck(): ConfigurationCheck {
  const { t } = useI18n()
  const { check, now: checkNow, stop } = useCheck()
  onScopeDispose(stop)

  const refused = shallowRef<Refused>()
  watch(
    () => draft.value?.text,
    () => (refused.value = undefined),
  )
  const mistakes = computed<readonly ErrorDetail[]>(() => refused.value?.problems ?? (check.value.kind === 'invalid' ? check.value.problems : []))

  const verdict = computed(() => {
    const found = check.value
    const revision = running.value?.revision ?? 0
    if (refused.value) return { icon: 'x', tone: 'rej', text: refused.value.message }
    if (!dirty.value) return { icon: 'check', tone: 'pass', text: t('scheduler.thisRuns', { n: revision }) }
    switch (found.kind) {
      case 'valid':
        return { icon: 'check', tone: 'pass', text: t('scheduler.valid', { profiles: found.applied.revision.profiles.join(', ') }) }
      case 'invalid':
        return { icon: 'x', tone: 'rej', text: found.problems.length ? t('scheduler.mistakes', { n: found.problems.length, revision }, found.problems.length) : found.message }
      case 'unknown':
        return { icon: 'warn', tone: 'warn', text: t('scheduler.cannotCheck', { message: found.message }) }
      default:
        return { icon: 'clock', tone: 'text-3', text: t('scheduler.checking') }
    }
  })

  const drafted = shallowRef<Effective>()
  watch(
    [check, dirty],
    ([found, isDirty]) => {
      if (!isDirty) drafted.value = undefined
      else if (found.kind === 'valid' && found.applied.effective) drafted.value = found.applied.effective
    },
    { immediate: true },
  )
  const effect = computed(() => {
    if (!dirty.value) return undefined
    const { kind } = check.value
    return { effective: drafted.value, state: kind === 'valid' ? ('valid' as const) : kind === 'invalid' || refused.value ? ('invalid' as const) : ('checking' as const) }
  })

  return { check, checkNow, refused, problems: computed(() => problemsOf(mistakes.value)), elsewhere: computed(() => withoutLine(mistakes.value)), verdict, effect }
}
