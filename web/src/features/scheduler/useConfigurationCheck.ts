// What the server found in the draft: the results of dry runs and of a refused apply.

import { computed, onScopeDispose, shallowRef, watch, type ComputedRef, type Ref, type ShallowRef } from 'vue'
import { useI18n } from 'vue-i18n'
import type { ConfigurationDifference, Effective, ErrorDetail } from '@/api/types'
import type { Problem } from '@/features/yaml/model/documents'
import { problemsOf, withoutLine } from './model/mistakes'
import { dirty, draft, running, useCheck, type Check } from './store/configuration'

export interface Refused {
  message: string
  problems: readonly ErrorDetail[]
}

export interface ConfigurationCheck {
  check: Ref<Check>
  /** Dry-runs the draft now. */
  checkNow: () => Promise<Check>
  /** Why the server refused the last apply; undefined once the draft changes. */
  refused: ShallowRef<Refused | undefined>
  /** Mistakes with a line. */
  problems: ComputedRef<readonly Problem[]>
  /** Mistakes without a line. */
  elsewhere: ComputedRef<readonly ErrorDetail[]>
  verdict: ComputedRef<{ icon: string; tone: string; text: string }>
  /**
   * The effective configuration of the draft and its difference from the running one, according to
   * its last valid dry run; undefined without a draft.
   */
  effect: ComputedRef<
    | {
        effective: Effective | undefined
        difference: readonly ConfigurationDifference[]
        state: 'valid' | 'invalid' | 'checking'
      }
    | undefined
  >
}

export function useConfigurationCheck(): ConfigurationCheck {
  const { t } = useI18n()
  const { check, now: checkNow, stop } = useCheck()
  onScopeDispose(stop)

  const refused = shallowRef<Refused>()
  watch(
    () => draft.value?.text,
    () => (refused.value = undefined)
  )
  const mistakes = computed<readonly ErrorDetail[]>(
    () => refused.value?.problems ?? (check.value.kind === 'invalid' ? check.value.problems : [])
  )

  const verdict = computed(() => {
    const found = check.value
    const revision = running.value?.revision ?? 0
    if (refused.value) return { icon: 'x', tone: 'rej', text: refused.value.message }
    if (!dirty.value) return { icon: 'check', tone: 'pass', text: t('scheduler.thisRuns', { n: revision }) }
    switch (found.kind) {
      case 'valid':
        return {
          icon: 'check',
          tone: 'pass',
          text: t('scheduler.valid', { profiles: found.applied.revision.profiles.join(t('common.separator')) }),
        }
      case 'invalid':
        return {
          icon: 'x',
          tone: 'rej',
          text: found.problems.length
            ? t('scheduler.mistakes', { n: found.problems.length, revision }, found.problems.length)
            : found.message,
        }
      case 'unknown':
        return { icon: 'warn', tone: 'warn', text: t('scheduler.cannotCheck', { message: found.message }) }
      default:
        return { icon: 'clock', tone: 'text-3', text: t('scheduler.checking') }
    }
  })

  const drafted = shallowRef<{ effective: Effective; difference: readonly ConfigurationDifference[] }>()
  watch(
    [check, dirty],
    ([found, isDirty]) => {
      if (!isDirty) drafted.value = undefined
      else if (found.kind === 'valid' && found.applied.effective)
        drafted.value = { effective: found.applied.effective, difference: found.applied.difference ?? [] }
    },
    { immediate: true }
  )
  const effect = computed(() => {
    if (!dirty.value) return undefined
    const { kind } = check.value
    return {
      effective: drafted.value?.effective,
      difference: drafted.value?.difference ?? [],
      state:
        kind === 'valid'
          ? ('valid' as const)
          : kind === 'invalid' || refused.value
            ? ('invalid' as const)
            : ('checking' as const),
    }
  })

  return {
    check,
    checkNow,
    refused,
    problems: computed(() => problemsOf(mistakes.value)),
    elsewhere: computed(() => withoutLine(mistakes.value)),
    verdict,
    effect,
  }
}
