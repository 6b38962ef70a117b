// Applies a configuration: the draft, an earlier revision, or Kubernetes' default.

import { ref, shallowRef } from 'vue'
import { applyConfiguration, applyRevision, resetConfiguration } from '@/api/configuration'
import type { Applied } from '@/api/types'
import { t } from '@/i18n'
import { formatDuration } from '@/kubernetes/time'
import { notify } from '@/ui/notices'
import { firstPlace } from './model/mistakes'
import { dirty, draft, nowRuns, refusal } from './store/configuration'
import type { ConfigurationCheck } from './useConfigurationCheck'

export type Apply = ReturnType<typeof useApply>

export interface ApplySteps {
  showEditor(): void
  goTo(line: number, column?: number): void
  /** Called after each apply, whether it succeeded or not. */
  finished(): void
}

export function useApply(
  { check, checkNow, refused }: Pick<ConfigurationCheck, 'check' | 'checkNow' | 'refused'>,
  { showEditor, goTo, finished }: ApplySteps
) {
  const confirming = ref(false)
  /** The dialog asks for confirmation of the reset to the default. */
  const resetting = ref(false)
  const busy = ref(false)
  /** The revision that the last apply made, until the user has seen what it means. */
  const applied = ref<number>()
  /** The error of the last apply, unless it is a mistake in the draft. */
  const failed = shallowRef<unknown>()

  async function run(request: () => Promise<Applied>): Promise<Applied | undefined> {
    busy.value = true
    failed.value = undefined
    try {
      const made = await request()
      notify('done', t('scheduler.applied', { n: made.revision.number, time: formatDuration(made.durationSeconds) }))
      applied.value = made.revision.number
      return made
    } catch (error) {
      failed.value = error
      return undefined
    } finally {
      busy.value = false
      finished()
    }
  }

  return {
    confirming,
    resetting,
    busy,
    failed,
    applied,
    /** Opens the dialog with the draft's changes, or shows the draft's first mistake. */
    async askToApply() {
      if (!dirty.value || busy.value) return
      failed.value = undefined
      const found = check.value.kind === 'valid' ? check.value : await checkNow()
      if (found.kind !== 'invalid') {
        confirming.value = true
        return
      }
      showEditor()
      const first = firstPlace(found.problems)
      if (first) goTo(first.line, first.column)
    },
    async apply() {
      const document = draft.value?.text ?? ''
      const done = await run(() => applyConfiguration(document))
      confirming.value = false
      if (done) return nowRuns(done.revision.number, document)
      const why = refusal(failed.value)
      if (why.kind !== 'invalid') return
      refused.value = { message: why.message, problems: why.problems }
      if (why.problems.length) failed.value = undefined
      const first = firstPlace(why.problems)
      if (first) goTo(first.line, first.column)
    },
    /** Applies a revision again; false if that failed. */
    again: async (revision: number) => !!(await run(() => applyRevision(revision))),
    async reset() {
      await run(resetConfiguration)
      resetting.value = false
    },
  }
}
