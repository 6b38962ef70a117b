// The entries that the command palette finds for a text, and the one that Enter runs.

import { computed, ref, shallowRef, watch, type ComputedRef, type Ref, type ShallowRef } from 'vue'
import { useI18n } from 'vue-i18n'
import { useRouter } from 'vue-router'
import type { LessonSummary } from '@/api/learn'
import type { KindInfo, Pod } from '@/api/types'
import type { NodeView } from '@/kubernetes/cluster'
import { browsableKinds, kindSlug, pluralOf } from '@/kubernetes/kinds'
import { podStatus } from '@/kubernetes/pods'
import { lessonTitles } from '@/features/learn/store/titles'
import { cluster } from '@/live/cluster'
import { kinds } from '@/live/discovery'
import { pods } from '@/live/watched'
import { aboutWords, search, type PaletteEntry, type PaletteGroup, type PaletteSource } from './model/palette'
import { pluginNames } from './store/plugins'
import { completions, entryOf, type Choice, type Command, type PaletteVerb } from './model/verbs'
import type { PaletteAction } from './usePaletteActions'
import { usePaletteAnswers } from './usePaletteAnswers'
import { usePaletteBoards } from './usePaletteBoards'

export interface PaletteSearch {
  text: Ref<string>
  /** The verb whose arguments are being completed. */
  command: ShallowRef<Command | undefined>
  /** What to enter next; '' without a verb. */
  asks: ComputedRef<string>
  /** Takes back the last argument, or the verb. */
  back(): void
  found: ComputedRef<readonly PaletteEntry[]>
  /** The found entries by group, each with its index in `found`. */
  groups: ComputedRef<readonly { group: PaletteGroup; entries: { entry: PaletteEntry; index: number }[] }[]>
  /** The index of the entry that Enter runs. */
  at: Ref<number>
  /** Moves to the next or previous entry, and around at the ends. */
  step(by: 1 | -1): void
}

/** `places` open pages; `>` leaves them out. */
export function usePaletteSearch({
  actions,
  places,
  verbs,
}: {
  actions: Ref<readonly PaletteAction[]>
  places: Ref<readonly PaletteAction[]>
  verbs: Ref<readonly PaletteVerb[]>
}): PaletteSearch {
  const { t } = useI18n()
  const router = useRouter()
  const text = ref('')
  const at = ref(0)
  watch(text, () => (at.value = 0))

  // ── a verb and its arguments ────────────────────────────────────────────
  const command = shallowRef<Command>()
  function complete(next: Command | undefined) {
    command.value = next
    text.value = ''
    at.value = 0
  }
  function choose({ verb, chosen }: Command, choice: Choice) {
    const all = [...chosen, choice]
    if (verb.next(all)) complete({ verb, chosen: all })
    else verb.run(all)
  }
  const verbEntry = (verb: PaletteVerb): PaletteEntry => ({
    id: verb.id,
    group: 'actions',
    icon: verb.icon,
    title: verb.title,
    stays: true,
    run: () => complete({ verb, chosen: [] }),
  })
  const completed = (now: Command) =>
    completions(now, text.value).map((choice) => ({
      ...entryOf(now, choice, () => choose(now, choice)),
      stays: !!now.verb.next([...now.chosen, choice]),
    }))

  const pluginEntry = (plugin: string): PaletteEntry => ({
    id: `plugin:${plugin}`,
    group: 'plugins',
    icon: 'chip',
    title: plugin,
    note: t('nav.scheduler'),
    run: () => void router.push({ name: 'scheduler', query: { plugin } }),
  })
  const kindEntry = (k: KindInfo): PaletteEntry => ({
    id: `kind:${kindSlug(k)}`,
    group: 'kinds',
    icon: 'resources',
    title: pluralOf(k),
    detail: k.group,
    run: () => void router.push({ name: 'resources', params: { resource: kindSlug(k) } }),
  })
  function podEntry([key, pod]: [string, Pod]): PaletteEntry {
    const { namespace = '', name } = pod.metadata
    return {
      id: `pod:${key}`,
      group: 'pods',
      icon: 'pod',
      title: name,
      detail: namespace,
      note: pod.spec?.nodeName || podStatus(pod),
      run: () => void router.push({ name: 'decision', params: { namespace, name } }),
    }
  }
  function nodeEntry(view: NodeView): PaletteEntry {
    return {
      id: `node:${view.name}`,
      group: 'nodes',
      icon: 'cluster',
      title: view.name,
      detail: view.zone,
      note: t('common.pods', view.podList.length),
      run: () => void router.push({ name: 'resources', params: { resource: 'nodes' }, query: { select: view.name } }),
    }
  }
  const boards = usePaletteBoards()
  const onlyActions = computed(() => text.value.trimStart().startsWith('>'))
  const wanted = (all: number, some: number) => (onlyActions.value || !text.value.trim() ? all : some)
  const sources = computed((): PaletteSource<never>[] => [
    source<PaletteVerb>({
      group: 'actions',
      items: verbs.value,
      most: wanted(40, 8),
      always: onlyActions.value,
      text: (v) => v.title,
      entry: verbEntry,
    }),
    source<PaletteAction>({
      group: 'actions',
      items: actions.value,
      most: wanted(40, 6),
      always: true,
      text: (a) => a.title,
      entry: (a) => ({ ...a, group: 'actions' }),
    }),
    source<PaletteAction>({
      group: 'places',
      items: places.value,
      most: places.value.length,
      always: true,
      text: (a) => a.title,
      entry: (a) => ({ ...a, group: 'places' }),
    }),
    source<string>({ group: 'plugins', items: pluginNames.value, most: 4, text: (p) => p, entry: pluginEntry }),
    source<[string, Pod]>({ group: 'pods', items: pods.value.items, most: 6, text: ([key]) => key, entry: podEntry }),
    source<NodeView>({ group: 'nodes', items: cluster.value.nodes, most: 5, text: (n) => n.name, entry: nodeEntry }),
    source<PaletteAction>({
      group: 'boards',
      items: boards.value,
      most: 6,
      text: (b) => `${b.title} ${b.detail ?? ''}`,
      entry: (b) => ({ ...b, group: 'boards' }),
    }),
    source<LessonSummary>({
      group: 'lessons',
      items: lessonTitles.value,
      most: 3,
      text: (l) => `${l.title} ${l.goal}`,
      entry: (l) => ({
        id: `lesson:${l.id}`,
        group: 'lessons',
        icon: 'learn',
        title: l.title,
        detail: l.goal,
        run: () => void router.push({ name: 'lesson', params: { id: l.id } }),
      }),
    }),
    source<KindInfo>({ group: 'kinds', items: browsableKinds(kinds.value), most: 4, text: pluralOf, entry: kindEntry }),
  ])
  const answers = usePaletteAnswers(text, verbs, choose)
  const found = computed(() => {
    if (command.value) return completed(command.value)
    const literal = search(sources.value, text.value)
    const answered = new Set(answers.value.map(({ id }) => id))
    // A question has more words than what it is about.
    const rest = literal.length ? literal : search(sources.value, aboutWords(text.value).join(' '))
    return [...answers.value, ...rest.filter(({ id }) => !answered.has(id))]
  })
  const groups = computed(() => {
    const out: { group: PaletteGroup; entries: { entry: PaletteEntry; index: number }[] }[] = []
    found.value.forEach((entry, index) => {
      const last = out.at(-1)
      if (last?.group === entry.group) last.entries.push({ entry, index })
      else out.push({ group: entry.group, entries: [{ entry, index }] })
    })
    return out
  })

  return {
    text,
    command,
    asks: computed(() => command.value?.verb.next(command.value.chosen)?.ask ?? ''),
    back() {
      if (!command.value) return
      const { verb, chosen } = command.value
      complete(chosen.length ? { verb, chosen: chosen.slice(0, -1) } : undefined)
    },
    found,
    groups,
    at,
    step(by) {
      const last = found.value.length - 1
      if (by > 0) at.value = at.value >= last ? 0 : at.value + 1
      else at.value = at.value <= 0 ? last : at.value - 1
    },
  }
}

function source<T>(s: PaletteSource<T>): PaletteSource<never> {
  return s as PaletteSource<never>
}
