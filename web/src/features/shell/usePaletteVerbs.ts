// The verbs of the palette: what can be done to nodes, pods and workloads, and searches for decisions.

import { computed, type ComputedRef } from 'vue'
import { useI18n } from 'vue-i18n'
import { useRouter } from 'vue-router'
import { decisionsWith, nodeRef, placeOf, podRef, podsOf, refOf, yamlOf } from '@/features/act/model/links'
import { applies, formatTaint, parseLabel, parseTaint, type Input, type Verb } from '@/features/act/model/verbs'
import { ask, entries, historyOpen, undoOpen } from '@/features/act/store/asked'
import { askTitles, lessonTitles } from '@/features/learn/store/titles'
import { objectKey, splitKey, type ObjectRef } from '@/kubernetes/object'
import { canRestart, canScale, workloadOf } from '@/kubernetes/workloads'
import { cluster } from '@/live/cluster'
import { showsPast } from '@/live/shownMoment'
import { nodes, pods } from '@/live/watched'
import type { Choice, PaletteVerb, Step } from './model/verbs'
import { pluginNames } from './store/plugins'
import type { PaletteAction } from './usePaletteActions'

const key = ({ namespace, name }: ObjectRef) => (namespace ? `${namespace}/${name}` : name)

export function usePaletteVerbs(): { verbs: ComputedRef<PaletteVerb[]>; history: ComputedRef<PaletteAction[]> } {
  const { t } = useI18n()
  const router = useRouter()

  // ── arguments ─────────────────────────────────────────────────────────
  const nodeChoice = (name: string): Choice => ({
    value: name,
    title: name,
    detail: nodes.value.items.get(name)?.spec?.taints?.map(formatTaint).join(' '),
  })
  const someNode = (verb?: Verb): Step => ({
    ask: t('palette.ask.node'),
    choices: () =>
      cluster.value.nodes
        .filter(({ name, node }) => !verb || applies(verb, nodeRef(name), node))
        .map(({ name }) => nodeChoice(name)),
  })
  const somePod = (): Step => ({
    ask: t('palette.ask.pod'),
    choices: () => [...pods.value.items.keys()].map((value) => ({ value, title: value })),
  })
  const somePending = (): Step => ({
    ask: t('palette.ask.pod'),
    choices: () => cluster.value.pending.map(objectKey).map((value) => ({ value, title: value })),
  })
  const workloads = (can: (of: ObjectRef) => boolean) =>
    cluster.value.owners.flatMap((owner) => workloadOf(owner) ?? []).filter(can)
  const someWorkload = (can: (of: ObjectRef) => boolean = () => true): Step => ({
    ask: t('palette.ask.workload'),
    choices: () =>
      workloads(can).map((of) => ({
        value: `${of.kind.kind} ${key(of)}`,
        title: of.name,
        detail: `${of.kind.kind} ${of.namespace}`,
      })),
  })
  const somePlugin = (): Step => ({
    ask: t('palette.ask.plugin'),
    choices: () => pluginNames.value.map((value) => ({ value, title: value })),
  })
  const anyPlugin = (): Step => ({
    ask: t('palette.ask.plugin'),
    choices: () => [{ value: '', title: t('palette.anyPlugin') }, ...pluginNames.value.map(own)],
  })
  const someLesson = (): Step => {
    void askTitles()
    return {
      ask: t('palette.ask.lesson'),
      choices: () => lessonTitles.value.map(({ id, title, goal }) => ({ value: id, title, detail: goal })),
    }
  }
  const own = (value: string): Choice => ({ value, title: value })

  const podOf = ({ value }: Choice) => {
    const parts = splitKey(value)
    return parts ? [podRef(parts)] : []
  }
  function workloadIn({ value }: Choice): ObjectRef[] {
    const [kind = '', name = ''] = value.split(' ')
    const parts = splitKey(name)
    const of = parts && refOf({ kind, ...parts })
    return of ? [of] : []
  }

  // ── verbs ─────────────────────────────────────────────────────────────
  const steps =
    (...all: readonly ((chosen: readonly Choice[]) => Step)[]) =>
    (chosen: readonly Choice[]) =>
      all[chosen.length]?.(chosen)
  const about = (
    verb: Verb | 'drain',
    icon: string,
    refsOf: (choice: Choice) => ObjectRef[],
    first: Step,
    more: readonly ((chosen: readonly Choice[]) => Step)[] = [],
    inputOf: (chosen: readonly Choice[]) => Partial<Input> = () => ({})
  ): PaletteVerb => ({
    id: `verb:${verb}`,
    icon,
    title: t(`palette.verb.${verb}`),
    next: steps(() => first, ...more),
    run: (chosen) => ask(verb, chosen[0] ? refsOf(chosen[0]) : [], inputOf(chosen.slice(1))),
  })
  const onNode = ({ value }: Choice) => [nodeRef(value)]
  const go = (
    id: string,
    icon: string,
    step: () => Step,
    placeOf: (choice: Choice) => Parameters<typeof router.push>[0] | undefined
  ): PaletteVerb => ({
    id: `verb:${id}`,
    icon,
    title: t(`palette.verb.${id}`),
    next: steps(() => step()),
    run([choice]) {
      const place = choice && placeOf(choice)
      if (place) void router.push(place)
    },
  })

  const someTaint = ([node]: readonly Choice[]): Step => ({
    ask: t('palette.ask.taint'),
    // Taints that other nodes have are worth repeating; its own can be removed.
    choices: () => {
      const has = nodes.value.items.get(node?.value ?? '')?.spec?.taints ?? []
      const all = new Set([...nodes.value.items.values()].flatMap((n) => n.spec?.taints?.map(formatTaint) ?? []))
      return [
        ...has.map((taint) => ({
          value: `${taint.key}:${taint.effect}-`,
          title: `${taint.key}:${taint.effect}-`,
          detail: t('palette.remove'),
        })),
        ...[...all].filter((text) => !has.some((taint) => formatTaint(taint) === text)).map(own),
      ]
    },
    read: (text) => (parseTaint(text) ? own(text) : undefined),
  })
  const someLabel = ([node]: readonly Choice[]): Step => ({
    ask: t('palette.ask.label'),
    choices: () =>
      Object.keys(nodes.value.items.get(node?.value ?? '')?.metadata.labels ?? {}).map((label) => ({
        value: `${label}-`,
        title: `${label}-`,
        detail: t('palette.remove'),
      })),
    read: (text) => (parseLabel(text) ? own(text) : undefined),
  })
  const replicas = (): Step => ({
    ask: t('palette.ask.replicas'),
    choices: () => ['0', '1', '2', '3', '5', '10'].map(own),
    read: (text) => (/^\d{1,5}$/.test(text) ? own(text) : undefined),
  })
  const weight = (): Step => ({
    ask: t('palette.ask.weight'),
    choices: () => ['1', '2', '5', '10'].map(own),
    read: (text) => (/^[1-9]\d{0,2}$/.test(text) ? own(text) : undefined),
  })

  const verbs = computed((): PaletteVerb[] => [
    about('taint', 'taint', onNode, someNode(), [someTaint], ([text]) => {
      const taint = text && parseTaint(text.value)
      return taint ? ('add' in taint ? { addTaints: [taint.add] } : { removeTaints: [taint.remove] }) : {}
    }),
    about('label', 'star', onNode, someNode(), [someLabel], ([text]) => {
      const label = text && parseLabel(text.value)
      return label ? { labels: { [label.key]: label.value } } : {}
    }),
    about('cordon', 'gate', onNode, someNode('cordon')),
    about('uncordon', 'play', onNode, someNode('uncordon')),
    about('drain', 'drain', onNode, someNode()),
    about('notReady', 'warn', onNode, someNode('notReady')),
    about('unreachable', 'plug', onNode, someNode('unreachable')),
    about('recover', 'check', onNode, someNode('recover')),
    about(
      'scale',
      'sort',
      workloadIn,
      someWorkload((of) => canScale(of.kind)),
      [replicas],
      ([text]) => (text ? { replicas: Number(text.value) } : {})
    ),
    about(
      'restart',
      'reset',
      workloadIn,
      someWorkload((of) => canRestart(of.kind))
    ),
    about('recreate', 'reset', podOf, somePod()),
    about('delete', 'trash', podOf, somePod()),
    go('yaml', 'code', somePod, (choice) => podOf(choice).map(yamlOf)[0]),
    go('rejectedBy', 'decisions', somePlugin, ({ value }) => decisionsWith({ plugin: value })),
    {
      id: 'verb:rejectedOn',
      icon: 'decisions',
      title: t('palette.verb.rejectedOn'),
      next: steps(() => someNode(), anyPlugin),
      run: ([node, plugin]) =>
        void router.push(decisionsWith({ rejectedOn: node?.value ?? '', plugin: plugin?.value ?? '' })),
    },
    go('decisionsOn', 'decisions', someNode, ({ value }) => decisionsWith({ node: value })),
    go(
      'decisionsOf',
      'decisions',
      someWorkload,
      (choice) =>
        workloadIn(choice).map((of) =>
          decisionsWith({ namespace: of.namespace ?? '', owner: `${of.kind.kind}/${of.name}` })
        )[0]
    ),
    go('fit', 'flask', somePending, (choice) => podOf(choice).map(placeOf)[0]),
    go(
      'whatif',
      'flask',
      somePod,
      (choice) => podOf(choice).map((of) => ({ ...placeOf(of), query: { view: 'asked' } }))[0]
    ),
    go('room', 'flask', somePod, ({ value }) => ({ name: 'capacity', query: { pod: value } })),
    go('podsOn', 'pod', someNode, ({ value }) => podsOf(nodeRef(value))),
    go('lesson', 'learn', someLesson, ({ value }) => ({ name: 'lesson', params: { id: value } })),
    {
      id: 'verb:weight',
      icon: 'scheduler',
      title: t('palette.verb.weight'),
      next: steps(somePlugin, weight),
      run: ([plugin, value]) =>
        void router.push({
          name: 'scheduler',
          query: { view: 'difference', weight: `${plugin?.value}=${value?.value}` },
        }),
    },
  ])

  return {
    // Verbs act on the cluster as it is, which the page does not show while it shows the past.
    verbs: computed(() => (showsPast.value ? [] : verbs.value)),
    history: computed(() => [
      ...(showsPast.value
        ? []
        : [{ id: 'undo', icon: 'undo', title: t('palette.undo'), run: () => (undoOpen.value = true) }]),
      {
        id: 'branches',
        icon: 'branch',
        title: t('palette.branches'),
        run: () => void router.push({ name: 'timeline', query: { view: 'branches' } }),
      },
      ...(entries.value.length && !showsPast.value
        ? [{ id: 'history', icon: 'history', title: t('palette.history'), run: () => (historyOpen.value = true) }]
        : []),
    ]),
  }
}
