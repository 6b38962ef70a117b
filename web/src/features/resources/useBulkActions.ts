// Cloning all selected objects.

import { computed, type Ref } from 'vue'
import { getObject } from '@/api/kubernetes'
import type { KindInfo } from '@/api/types'
import { cloneOf, nextName } from '@/features/create/model/clone'
import { openCreateText } from '@/features/create/store/create'
import { toYaml } from '@/features/yaml/model/documents'
import { splitKey } from '@/kubernetes/object'
import { nodeKind, podKind } from '@/kubernetes/kinds'
import { notifyFailure } from '@/ui/notices'
import { withType } from './model/objectText'

/** The limit for cloning: a longer text would be too hard to edit. */
const cloneAtMost = 50

/** taken returns whether a key (namespace/name) is in use. */
export function useBulkActions(
  kind: Ref<KindInfo | undefined>,
  selected: Ref<ReadonlySet<string>>,
  taken: (key: string) => boolean
) {
  const canCreate = computed(
    () => !!kind.value?.verbs.includes('create') || kind.value === nodeKind || kind.value === podKind
  )

  async function clone() {
    const of = kind.value
    if (!of) return
    try {
      const found = await Promise.all(
        [...selected.value].map((key) => getObject(of, splitKey(key)?.namespace, splitKey(key)?.name ?? key))
      )
      const used = new Set<string>()
      const clones = found.map((object) => {
        const space = object.metadata.namespace ? `${object.metadata.namespace}/` : ''
        const name = nextName(object.metadata.name, (wanted) => used.has(space + wanted) || taken(space + wanted))
        used.add(space + name)
        return toYaml(cloneOf(withType(of, object), name))
      })
      openCreateText(clones.join('---\n'))
    } catch (error) {
      notifyFailure(error)
    }
  }

  return {
    canCreate,
    cloneable: computed(() => canCreate.value && selected.value.size <= cloneAtMost),
    clone,
  }
}
