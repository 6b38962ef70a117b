// The batch of the create dialog: its dry run, its writes, and their problems and progress.

import { computed, shallowRef, watch } from 'vue'
import type { Problem } from '@/features/yaml/model/documents'
import type { SchemaSource } from '@/features/yaml/model/schema'
import { translated } from '@/features/yaml/problemMessages'
import { useSchemaProblems, withSchemaProblems } from '@/features/yaml/useSchemaProblems'
import { t } from '@/i18n'
import { names } from '@/i18n/names'
import { notify } from '@/ui/notices'
import { managedByOthers, type Creator, type Item } from './model/batch'
import { useBatch } from './store/batchRun'
import { copies, draft, made } from './store/create'
import { droppedFiles } from './store/files'
import type { DraftEntries } from './useDraftEntries'

export type CreateBatch = ReturnType<typeof useCreateBatch>

export interface BatchSteps {
  goTo(problem: Problem): void
  /** Called once all objects are in the cluster. */
  finished(): void
}

export function useCreateBatch(
  { parsed, count, reading, entries }: DraftEntries,
  creator: Creator,
  { goTo, finished }: BatchSteps,
  schema: SchemaSource
) {
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
      const text = doneText()
      made.value = { notice: notify('done', text, undefined, true), text, objects: objects() }
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
    const done = objects().map(({ name }) => name)
    return t(changed && !created ? 'create.changedNames' : 'create.done', { names: names(done) })
  }
  const objects = () =>
    items.value.flatMap(({ entry, state }) =>
      state.kind === 'created' || state.kind === 'changed'
        ? [{ kind: entry.kind, namespace: state.namespace, name: state.name }]
        : []
    )

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
    /** The number of objects that failed because other managers own some of their fields. */
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
