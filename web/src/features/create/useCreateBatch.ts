// The batch of the create dialog: its dry run, its writes, and their problems and progress.

import { computed, shallowRef, watch, type ComputedRef, type ShallowRef } from 'vue'
import { useI18n } from 'vue-i18n'
import type { Problem } from '@/features/yaml/model/documents'
import type { SchemaSource } from '@/features/yaml/model/schema'
import { useProblemMessages } from '@/features/yaml/problemMessages'
import { useSchemaProblems, withSchemaProblems } from '@/features/yaml/useSchemaProblems'
import { useNames } from '@/i18n/names'
import { notify } from '@/ui/notices'
import { managedByOthers, type Creator, type Item } from './model/batch'
import { useBatch, type BatchRun } from './store/batchRun'
import { copies, draft } from './store/create'
import { droppedFiles } from './store/files'
import type { DraftEntries } from './useDraftEntries'

export interface CreateBatch extends Pick<BatchRun, 'phase' | 'items' | 'counts' | 'failure' | 'stop'> {
  /** Requests are under way. */
  busy: ComputedRef<boolean>
  /** The number of objects that are already checked or written in the current step. */
  progress: ComputedRef<number>
  problems: ComputedRef<readonly Problem[]>
  /** The problems that refer to the draft rather than to a file. */
  draftProblems: ComputedRef<readonly Problem[]>
  /** There is a report to show below the draft. */
  reported: ComputedRef<boolean>
  /** The item whose difference is shown in place of the draft. */
  shownItem: ShallowRef<Item | undefined>
  /** The number of objects of a refused batch that could still be written. */
  rest: ComputedRef<number>
  /** The number of objects that failed because other managers own some of their fields. */
  conflicts: ComputedRef<number>
  submitText: ComputedRef<string>
  /** Takes the next step: dry-runs and writes, writes what the user reviewed, or retries what failed. */
  submit(): Promise<void>
  dryRun(): Promise<void>
  /** Takes over fields of other managers. */
  force(): Promise<void>
  /** Writes the accepted objects of a refused batch. */
  proceed(): Promise<void>
}

export interface BatchSteps {
  /** Shows the position of a problem in the draft. */
  goTo(problem: Problem): void
  /** Called once all objects are in the cluster. */
  finished(): void
}

export function useCreateBatch(
  { parsed, count, reading, entries }: DraftEntries,
  creator: Creator,
  { goTo, finished }: BatchSteps,
  schema: SchemaSource
): CreateBatch {
  const { t } = useI18n()
  const names = useNames()
  const translated = useProblemMessages()
  const run = useBatch(creator)
  const { phase, items, counts } = run
  const textProblems = shallowRef<readonly Problem[]>([])
  const shownItem = shallowRef<Item>()
  const busy = computed(() => phase.value === 'checking' || phase.value === 'writing')

  const schemaProblems = useSchemaProblems(parsed, schema)
  const problems = computed(() =>
    translated([...textProblems.value, ...withSchemaProblems(run.problems.value, schemaProblems.value)])
  )
  const draftProblems = computed(() => problems.value.filter((p) => !p.file))

  function forget() {
    textProblems.value = []
    shownItem.value = undefined
    if (phase.value !== 'idle' || items.value.length) run.reset()
  }
  // Results for an earlier text are obsolete.
  watch([draft, copies, () => droppedFiles.value.length], () => !busy.value && forget())

  /** Reports problems of the text itself; nothing is sent then. */
  function readable(): boolean {
    forget()
    textProblems.value = parsed.value.problems
    if (!textProblems.value.length && !count.value) textProblems.value = [{ line: 1, message: t('create.nothing') }]
    const first = textProblems.value[0]
    if (first) goTo(first)
    return !first
  }
  async function submit() {
    if (busy.value || reading.value) return
    if (phase.value === 'review') await run.proceed()
    else if (phase.value === 'done' && items.value.length) await run.retry()
    else if (readable()) await run.start(entries())
    settle()
  }
  async function dryRun() {
    if (busy.value || reading.value || !readable()) return
    await run.start(entries(), { dry: true })
    settle()
  }

  /** After a run: finishes if everything succeeded, otherwise shows the first item that needs attention. */
  function settle() {
    const { failed, notAttempted } = counts.value
    if (phase.value === 'done' && !failed && !notAttempted) {
      notify('done', doneText())
      finished()
    } else if (phase.value === 'review') {
      shownItem.value =
        items.value.find((i) => i.state.kind === 'differs') ?? items.value.find((i) => i.state.kind === 'checked')
    } else {
      const first = draftProblems.value[0]
      if (first) goTo(first)
    }
  }
  function doneText() {
    const { created, changed, same } = counts.value
    if (!created && !changed) return t('create.allSame', same)
    const done = items.value.flatMap((i) =>
      i.state.kind === 'created' || i.state.kind === 'changed' ? [i.state.name] : []
    )
    return t(changed && !created ? 'create.changedNames' : 'create.done', { names: names(done) })
  }

  const submitText = computed(() => {
    const { checked, unchecked, differs, failed, notAttempted } = counts.value
    if (phase.value === 'writing') return t('create.working')
    if (phase.value === 'checking') return t('create.checking')
    if (phase.value === 'review')
      return differs ? t('create.apply', differs + checked + unchecked) : t('create.submitN', checked + unchecked)
    if (phase.value === 'done' && failed + notAttempted) return t('create.retryN', failed + notAttempted)
    return count.value > 1 ? t('create.submitN', count.value) : t('create.submit')
  })
  const rest = computed(() => counts.value.checked + counts.value.unchecked + counts.value.differs)
  const settled = computed(() => counts.value.created + counts.value.changed + counts.value.same + counts.value.failed)

  return {
    phase,
    items,
    counts,
    failure: run.failure,
    stop: run.stop,
    busy,
    progress: computed(() => (phase.value === 'checking' ? settled.value + rest.value : settled.value)),
    problems,
    draftProblems,
    reported: computed(
      () =>
        textProblems.value.length > 0 ||
        run.problems.value.length > 0 ||
        !!run.failure.value ||
        items.value.length > 1 ||
        (items.value.length > 0 && (phase.value === 'refused' || phase.value === 'review' || phase.value === 'done'))
    ),
    shownItem,
    rest,
    conflicts: computed(
      () => items.value.filter((i) => i.state.kind === 'failed' && managedByOthers(i.state.refusal).length > 0).length
    ),
    submitText,
    submit,
    dryRun,
    async force() {
      await run.retry({ force: true })
      settle()
    },
    async proceed() {
      await run.proceed()
      settle()
    },
  }
}
