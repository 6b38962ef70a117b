// The filters of the Resources page, kept in the URL.

import { computed, onScopeDispose, type Ref } from 'vue'
import { useRoute, useRouter } from 'vue-router'
import type { KindInfo } from '@/api/types'
import { t } from '@/i18n'
import { sortNames } from '@/kubernetes/cluster'
import { isResource, namespaceKind, nodeKind, podKind } from '@/kubernetes/kinds'
import { useKind } from '@/live/watched'
import { useQuery } from '@/ui/query'

export type ResourceFilters = ReturnType<typeof useResourceFilters>

export function useResourceFilters(kind: Ref<KindInfo | undefined>) {
  const route = useRoute()
  const router = useRouter()
  const text = useQuery('q')
  const labels = useQuery('labels')
  /** '' for all namespaces. */
  const namespace = useQuery('ns')
  /** The node of pods; '' for any. */
  const node = useQuery('node')
  /** The owner of pods, as Kind/name; '' for any. */
  const owner = useQuery('owner')
  const sort = useQuery<string>('sort', 'name')
  const wideChoice = useQuery('wide', '', ['on', 'off'])
  const schedulingChoice = useQuery('scheduling', '', ['off'])

  const namespaces = useKind(namespaceKind)
  onScopeDispose(namespaces.stop)
  const namespaceOptions = computed(() => {
    const names = sortNames([...namespaces.published.value.items.keys()])
    if (namespace.value && !names.includes(namespace.value)) names.push(namespace.value)
    return [{ value: '', label: t('resources.allNamespaces') }, ...names.map((name) => ({ value: name, label: name }))]
  })

  return {
    text,
    labels,
    node,
    owner,
    namespace,
    namespaceOptions,
    sort,
    /** Whether to show the columns that kubectl shows with -o wide. */
    wide: computed({
      // The node of a pod matters most here, but kubectl shows it only with -o wide.
      get: () => (wideChoice.value ? wideChoice.value === 'on' : isResource(kind.value, podKind)),
      set: (on) => (wideChoice.value = on ? 'on' : 'off'),
    }),
    wideChosen: computed(() => !!wideChoice.value),
    /** Whether to show what the scheduler looks at, too, which only nodes have. */
    scheduling: computed({
      get: () => isResource(kind.value, nodeKind) && !schedulingChoice.value,
      set: (on) => (schedulingChoice.value = on ? '' : 'off'),
    }),
    narrowed: computed(
      () =>
        !!(
          text.value ||
          labels.value ||
          (isResource(kind.value, podKind) && (node.value || owner.value)) ||
          (kind.value?.namespaced && namespace.value)
        )
    ),
    clear() {
      void router.replace({
        params: route.params,
        query: { ...route.query, q: undefined, labels: undefined, ns: undefined, node: undefined, owner: undefined },
      })
    },
  }
}
