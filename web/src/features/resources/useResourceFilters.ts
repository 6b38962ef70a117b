// The filters of the Resources page, kept in the URL.

import { computed, onScopeDispose, type ComputedRef, type Ref, type WritableComputedRef } from 'vue'
import { useI18n } from 'vue-i18n'
import { useRoute, useRouter } from 'vue-router'
import type { KindInfo } from '@/api/types'
import { sortNames } from '@/kubernetes/cluster'
import { isResource, namespaceKind, podKind } from '@/kubernetes/kinds'
import { useKind } from '@/live/watched'
import type { Option } from '@/ui/option'
import { useQuery } from '@/ui/query'

export interface ResourceFilters {
  text: WritableComputedRef<string>
  /** A label selector. */
  labels: WritableComputedRef<string>
  /** The node of pods; '' for any. */
  node: WritableComputedRef<string>
  /** The owner of pods, as Kind/name; '' for any. */
  owner: WritableComputedRef<string>
  /** '' for all namespaces. */
  namespace: WritableComputedRef<string>
  namespaceOptions: ComputedRef<Option[]>
  /** A column's id, "-id" for descending. */
  sort: WritableComputedRef<string>
  /** Whether to show the columns that kubectl shows with -o wide. */
  wide: WritableComputedRef<boolean>
  /** The user chose so: then no column is hidden for lack of room. */
  wideChosen: ComputedRef<boolean>
  /** A filter may hide objects of the kind. */
  narrowed: ComputedRef<boolean>
  clear(): void
}

export function useResourceFilters(kind: Ref<KindInfo | undefined>): ResourceFilters {
  const { t } = useI18n()
  const route = useRoute()
  const router = useRouter()
  const text = useQuery('q')
  const labels = useQuery('labels')
  const namespace = useQuery('ns')
  const node = useQuery('node')
  const owner = useQuery('owner')
  const sort = useQuery<string>('sort', 'name')
  const wideChoice = useQuery<'' | 'on' | 'off'>('wide', '', ['on', 'off'])

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
    wide: computed({
      // The node of a pod matters most here, but kubectl shows it only with -o wide.
      get: () => (wideChoice.value ? wideChoice.value === 'on' : isResource(kind.value, podKind)),
      set: (on) => (wideChoice.value = on ? 'on' : 'off'),
    }),
    wideChosen: computed(() => !!wideChoice.value),
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
