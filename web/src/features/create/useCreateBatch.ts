// One batch of the create dialog: trying it, writing it, and what is shown of it meanwhile.

import { computed, shallowRef, watch, type ComputedRef, type ShallowRef } from 'vue'
import { useI18n } from 'vue-i18n'
import type { Problem } from '@/features/yaml/model/documents'
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
  /** How many objects are done with, of those that are checked or written. */
  progress: ComputedRef<number>
  problems: ComputedRef<readonly Problem[]>
  /** Those that have a place in the draft. */
  draftProblems: ComputedRef<readonly Problem[]>
  /** There is something to report below the draft. */
  reported: ComputedRef<boolean>
  /** The item whose difference is shown in place of the draft. */
  shownItem: ShallowRef<Item | undefined>
  /** How many objects of a refused batch could still be written. */
  rest: ComputedRef<number>
  /** How many failed because others manage fields of theirs. */
  conflicts: ComputedRef<number>
  submitText: ComputedRef<string>
  /** The next step: tries and writes, writes what was reviewed, or tries again what failed. */
  submit(): Promise<void>
  dryRun(): Promise<void>
  /** Takes fields over that others manage. */
  force(): Promise<void>
  /** Writes the objects of a refused batch that were not refused. */
  proceed(): Promise<void>
}

export interface BatchSteps {
  /** Shows a place of the draft. */
  goTo(problem: Problem): void
  /** Called once everything is in the cluster. */
  finished(): void
}

export function useCreateBatch({ parsed, count, reading, entries }: DraftEntries, creator: Creator, { goTo, finished }: BatchSteps): CreateBatch {
  const { t } = useI18n()
  const names = useNames()
  const run = useBatch(creator)
  const { phase, items, counts } = run
  const textProblems = shallowRef<readonly Problem[]>([])
  const shownItem = shallowRef<Item>()
  const busy = computed(() => phase.value === 'checking' || phase.value === 'writing')

  /** Our own sentences in the reader's language; those of the parser and the server unchanged. */
  const problems = computed(() => [...textProblems.value, ...run.problems.value].map((p) => (p.says ? { ...p, message: t(`problem.${p.says.key}`, { ...p.says }) } : p)))
  const draftProblems = computed(() => problems.value.filter((p) => !p.file))

  function forget() {
    textProblems.value = []
    shownItem.value = undefined
    if (phase.value !== 'idle' || items.value.length) run.reset()
  }
  // What was said of another text means nothing.
  watch([draft, copies, () => droppedFiles.value.length], () => !busy.value && forget())

  /** Nothing is sent while the text does not say what. */
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

  /** After a run: finishes when everything is there, else shows what needs a look. */
  function settle() {
    const { failed, notAttempted } = counts.value
    if (phase.value === 'done' && !failed && !notAttempted) {
      notify('done', doneText())
      finished()
    } else if (phase.value === 'review') {
      shownItem.value = items.value.find((i) => i.state.kind === 'differs') ?? items.value.find((i) => i.state.kind === 'checked')
    } else {
      const first = draftProblems.value[0]
      if (first) goTo(first)
    }
  }
  function doneText() {
    const { created, changed, same } = counts.value
    if (!created && !changed) return t('create.allSame', same)
    const done = items.value.flatMap((i) => (i.state.kind === 'created' || i.state.kind === 'changed' ? [i.state.name] : []))
    return t(changed && !created ? 'create.changedNames' : 'create.done', { names: names(done) })
  }

  const submitText = computed(() => {
    const { checked, unchecked, differs, failed, notAttempted } = counts.value
    if (phase.value === 'writing') return t('create.working')
    if (phase.value === 'checking') return t('create.checking')
    if (phase.value === 'review') return differs ? t('create.apply', differs + checked + unchecked) : t('create.submitN', checked + unchecked)
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
    reported: computed(() => problems.value.length > 0 || !!run.failure.value || items.value.length > 1 || (items.value.length > 0 && (phase.value === 'refused' || phase.value === 'review' || phase.value === 'done'))),
    shownItem,
    rest,
    conflicts: computed(() => items.value.filter((i) => i.state.kind === 'failed' && managedByOthers(i.state.refusal).length > 0).length),
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
