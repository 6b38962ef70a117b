// What the server found in the draft: the results of dry runs and of a refused apply.

import { computed, onScopeDispose, shallowRef, watch } from 'vue'
import type { ConfigurationDifference, Effective, ErrorDetail } from '@/api/types'
import { t } from '@/i18n'
import { problemsOf, withoutLine } from './model/mistakes'
import { dirty, draft, running, useCheck } from './store/configuration'

export interface Refused {
  message: string
  problems: readonly ErrorDetail[]
}

export type ConfigurationCheck = ReturnType<typeof useConfigurationCheck>

export function useConfigurationCheck() {
  const { check, now: checkNow, stop } = useCheck()
  onScopeDispose(stop)

  /** Why the server refused the last apply; undefined once the draft changes. */
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
          text: t(
            'scheduler.valid',
            { profiles: found.applied.revision.profiles.join(t('common.separator')) },
            found.applied.revision.profiles.length
          ),
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
  /**
   * The effective configuration of the draft and its difference from the running one, according to
   * its last valid dry run; undefined without a draft.
   */
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
