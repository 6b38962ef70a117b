// How the map arranges nodes: filtered, sorted, grouped, as cards, tiles or a table. Kept in the URL.

import { computed, type ComputedRef } from 'vue'
import { useRoute, useRouter } from 'vue-router'
import { t } from '@/i18n'
import { zoneLabel, type ClusterView } from '@/kubernetes/cluster'
import { cluster } from '@/live/cluster'
import { useQuery } from '@/ui/query'
import {
  arrangeNodes,
  countNodes,
  defaultGrouping,
  formatGrouping,
  groupingLabels,
  groupingsOf,
  keepNodes,
  parseGrouping,
  type Grouping,
  type NodeGroup,
} from './model/arrange'
import { matchesVerdict } from './model/tileFaces'
import type { ShownDecision } from './useShownDecision'

type View = 'cards' | 'tiles' | 'table'

export type NodeArrangement = ReturnType<typeof useNodeArrangement>

/** More nodes than this are shown as tiles by default. */
const tilesAbove = 150
/** More cards than this would make the page slow. */
const cardsUpTo = 300

/** `of` is the state that the nodes are of. */
export function useNodeArrangement(
  { nodes, verdictOf, filter }: Pick<ShownDecision, 'nodes' | 'verdictOf' | 'filter'>,
  of: ComputedRef<Pick<ClusterView, 'nodes' | 'labels'>> = cluster
) {
  const route = useRoute()
  const router = useRouter()
  const text = useQuery('q')
  const sort = useQuery('sort', 'name', ['name', 'cpu', 'memory', 'pods'])
  const groupQuery = useQuery<string>('group', 'auto')
  const viewQuery = useQuery('view', 'auto', ['auto', 'cards', 'tiles', 'table'])
  /** The resource that shades tiles while no decision is shown. */
  const load = useQuery('shade', 'cpu', ['cpu', 'memory', 'pods'])

  // Separate computed values: one that stays equal stops a stream of changes from recomputing what
  // depends on it.
  const nodeCount = computed(() => of.value.nodes.length)
  const labelValues = computed(() => of.value.labels)
  const labels = computed(() => groupingLabels(labelValues.value, nodeCount.value))
  const grouping = computed((): Grouping =>
    groupQuery.value === 'auto' ? defaultGrouping(labels.value, nodeCount.value) : parseGrouping(groupQuery.value)
  )
  const group = computed({
    get: () => formatGrouping(grouping.value),
    set: (value: string) => (groupQuery.value = value),
  })
  const labelName = (label: string) => (label === zoneLabel ? t('cluster.zone') : label)
  const groupingName = ([first = '', second]: Grouping) =>
    second ? t('cluster.groupBoth', { a: labelName(first), b: labelName(second) }) : labelName(first)
  const groupOptions = computed(() => {
    const all = groupingsOf(labels.value)
    // The URL may name a label that no node has any more.
    if (grouping.value.length && !all.some((g) => formatGrouping(g) === group.value)) all.push(grouping.value)
    return [
      { value: 'none', label: t('cluster.groupNone') },
      ...all.map((g) => ({ value: formatGrouping(g), label: groupingName(g) })),
    ]
  })

  const found = computed(() =>
    arrangeNodes(nodes.value, { text: text.value, sort: sort.value, grouping: grouping.value })
  )
  /** Tiles show all found nodes and dim the others. */
  const left = computed(() => {
    const [keep, by] = [filter.value, verdictOf.value]
    return by && keep.kind !== 'all' ? keepNodes(found.value, (n) => matchesVerdict(keep, by(n.name))) : found.value
  })
  const foundCount = computed(() => countNodes(found.value))
  const tooMany = computed(() => countNodes(left.value) > cardsUpTo)
  const view = computed<View>({
    get: () => {
      if (viewQuery.value === 'auto') return foundCount.value > tilesAbove ? 'tiles' : 'cards'
      return viewQuery.value === 'cards' && tooMany.value ? 'tiles' : viewQuery.value
    },
    set: (value) => (viewQuery.value = value),
  })

  return {
    text,
    sort,
    sortOptions: computed(() => [
      { value: 'name', label: t('cluster.sortName') },
      { value: 'cpu', label: t('cluster.sortCpu') },
      { value: 'memory', label: t('cluster.sortMemory') },
      { value: 'pods', label: t('cluster.sortPods') },
    ]),
    group,
    groupOptions,
    load,
    loadOptions: computed(() => [
      { value: 'cpu', label: t('cluster.cpu') },
      { value: 'memory', label: t('cluster.memory') },
      { value: 'pods', label: t('cluster.pods') },
    ]),
    view,
    viewOptions: computed(() => [
      {
        value: 'cards',
        label: t('cluster.viewCards'),
        icon: 'cluster',
        disabled: tooMany.value,
        title: tooMany.value ? t('cluster.cardsTooMany', { n: cardsUpTo }) : '',
      },
      { value: 'tiles', label: t('cluster.viewTiles'), icon: 'tiles' },
      { value: 'table', label: t('cluster.viewTable'), icon: 'menu' },
    ]),
    found,
    left,
    shownCount: computed(() => (view.value === 'tiles' ? foundCount.value : countNodes(left.value))),
    groupName: (g: NodeGroup) => g.name || t('cluster.noZone', { label: labelName(grouping.value[0] ?? '') }),
    partName: (name: string) => name || t('cluster.noZone', { label: labelName(grouping.value[1] ?? '') }),
    /** Shows a group, or a part of it, by itself; as cards if it has few enough nodes. */
    zoom(g: NodeGroup, part: string | undefined) {
      const words = [text.value]
      const [first, second] = grouping.value
      if (first && g.name) words.push(`${first}=${g.name}`)
      if (second && part) words.push(`${second}=${part}`)
      const size = part === undefined ? g.nodes.length : (g.parts.find((p) => p.name === part)?.nodes.length ?? 0)
      void router.push({
        query: { ...route.query, q: words.filter(Boolean).join(' '), view: size <= tilesAbove ? 'cards' : undefined },
      })
    },
    clearFilters() {
      void router.replace({ query: { ...route.query, q: undefined, show: undefined } })
    },
  }
}
