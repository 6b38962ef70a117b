// The actions on all selected objects.

import { computed, type ComputedRef, type Ref } from 'vue'
import { useI18n } from 'vue-i18n'
import { getObject } from '@/api/kubernetes'
import { pool } from '@/api/pool'
import type { KindInfo } from '@/api/types'
import { cloneOf, nextName } from '@/features/create/model/clone'
import { openCreateText } from '@/features/create/store/create'
import { toYaml } from '@/features/yaml/model/documents'
import { splitKey } from '@/kubernetes/object'
import { nodeKind, podKind } from '@/kubernetes/kinds'
import { notify } from '@/ui/notices'
import { withType } from './model/objectText'
import { objectActions, type ObjectAction } from './store/objectActions'

export interface BulkActions {
  actions: ComputedRef<readonly ObjectAction[]>
  act(action: ObjectAction): Promise<void>
  canCreate: ComputedRef<boolean>
  cloneable: ComputedRef<boolean>
  /** Opens the create dialog with a copy of each object under a free name. */
  clone(): Promise<void>
}

/** The number of concurrent requests. */
const width = 6
/** The limit for cloning: a longer text would be too hard to edit. */
const cloneAtMost = 50
/** At most this many failures are reported. */
const reportAtMost = 3

const messageOf = (error: unknown) => (error instanceof Error ? error.message : String(error))

/** taken returns whether a key (namespace/name) is in use. */
export function useBulkActions(kind: Ref<KindInfo | undefined>, selected: Ref<ReadonlySet<string>>, taken: (key: string) => boolean): BulkActions {
  const { t } = useI18n()
  const canCreate = computed(() => !!kind.value?.verbs.includes('create') || kind.value === nodeKind || kind.value === podKind)

  async function act(action: ObjectAction) {
    const of = kind.value
    if (!of) return
    const keys = [...selected.value]
    const failed: string[] = []
    await pool(keys, width, async (key) => {
      const parts = of.namespaced ? splitKey(key) : undefined
      try {
        await action.run(of, parts?.namespace, parts?.name ?? key)
      } catch (error) {
        failed.push(t('resources.deleteFailed', { name: key, message: messageOf(error) }))
      }
    })
    const done = keys.length - failed.length
    if (done) notify('done', t(`resources.acted.${action.id}`, { n: done === 1 ? (keys[0] ?? '') : done }))
    for (const line of failed.slice(0, reportAtMost)) notify('failed', line)
  }

  async function clone() {
    const of = kind.value
    if (!of) return
    try {
      const found = await Promise.all([...selected.value].map((key) => getObject(of, splitKey(key)?.namespace, splitKey(key)?.name ?? key)))
      const used = new Set<string>()
      const clones = found.map((object) => {
        const space = object.metadata.namespace ? `${object.metadata.namespace}/` : ''
        const name = nextName(object.metadata.name, (wanted) => used.has(space + wanted) || taken(space + wanted))
        used.add(space + name)
        return toYaml(cloneOf(withType(of, object), name))
      })
      openCreateText(clones.join('---\n'))
    } catch (error) {
      notify('failed', messageOf(error))
    }
  }

  return {
    actions: computed(() => objectActions.filter((a) => kind.value && a.applies(kind.value, undefined))),
    act,
    canCreate,
    cloneable: computed(() => canCreate.value && selected.value.size <= cloneAtMost),
    clone,
  }
}
