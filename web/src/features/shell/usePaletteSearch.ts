// The entries that the command palette finds for a text, and the one that Enter runs.

import { computed, ref, watch, type ComputedRef, type Ref } from 'vue'
import { useI18n } from 'vue-i18n'
import { useRouter } from 'vue-router'
import type { KindInfo, Pod } from '@/api/types'
import type { NodeView } from '@/kubernetes/cluster'
import { browsableKinds, kindSlug, pluralOf } from '@/kubernetes/kinds'
import { podStatus } from '@/kubernetes/pods'
import { cluster } from '@/live/cluster'
import { kinds } from '@/live/discovery'
import { pods } from '@/live/watched'
import { search, type PaletteEntry, type PaletteGroup, type PaletteSource } from './model/palette'
import { pluginNames } from './store/plugins'
import type { PaletteAction } from './usePaletteActions'

export interface PaletteSearch {
  text: Ref<string>
  found: ComputedRef<readonly PaletteEntry[]>
  /** The found entries by group, each with its index in `found`. */
  groups: ComputedRef<readonly { group: PaletteGroup; entries: { entry: PaletteEntry; index: number }[] }[]>
  /** The index of the entry that Enter runs. */
  at: Ref<number>
  /** Moves to the next or previous entry, and around at the ends. */
  step(by: 1 | -1): void
}

export function usePaletteSearch(actions: Ref<readonly PaletteAction[]>): PaletteSearch {
  const { t } = useI18n()
  const router = useRouter()
  const text = ref('')
  const at = ref(0)
  watch(text, () => (at.value = 0))

  const pluginEntry = (plugin: string): PaletteEntry => ({ id: `plugin:${plugin}`, group: 'plugins', icon: 'chip', title: plugin, note: t('nav.scheduler'), run: () => void router.push({ name: 'scheduler', query: { plugin } }) })
  const kindEntry = (k: KindInfo): PaletteEntry => ({ id: `kind:${kindSlug(k)}`, group: 'kinds', icon: 'resources', title: pluralOf(k), detail: k.group, run: () => void router.push({ name: 'resources', params: { resource: kindSlug(k) } }) })
  function podEntry([key, pod]: [string, Pod]): PaletteEntry {
    const { namespace = '', name } = pod.metadata
    return { id: `pod:${key}`, group: 'pods', icon: 'pod', title: name, detail: namespace, note: pod.spec?.nodeName || podStatus(pod), run: () => void router.push({ name: 'decision', params: { namespace, name } }) }
  }
  function nodeEntry(view: NodeView): PaletteEntry {
    return { id: `node:${view.name}`, group: 'nodes', icon: 'cluster', title: view.name, detail: view.zone, note: t('common.pods', view.podList.length), run: () => void router.push({ name: 'resources', params: { resource: 'nodes' }, query: { select: view.name } }) }
  }
  const sources = computed((): PaletteSource<never>[] => [
    source<PaletteAction>({ group: 'actions', items: actions.value, most: text.value.trim() ? 6 : 12, always: true, text: (a) => a.title, entry: (a) => ({ ...a, group: 'actions' }) }),
    source<string>({ group: 'plugins', items: pluginNames.value, most: 4, text: (p) => p, entry: pluginEntry }),
    source<[string, Pod]>({ group: 'pods', items: pods.value.items, most: 6, text: ([key]) => key, entry: podEntry }),
    source<NodeView>({ group: 'nodes', items: cluster.value.nodes, most: 5, text: (n) => n.name, entry: nodeEntry }),
    source<KindInfo>({ group: 'kinds', items: browsableKinds(kinds.value), most: 4, text: pluralOf, entry: kindEntry }),
  ])
  const found = computed(() => search(sources.value, text.value))
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
