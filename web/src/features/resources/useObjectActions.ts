// The actions on the shown object, other than editing it.

import { computed, type ComputedRef } from 'vue'
import { useI18n } from 'vue-i18n'
import { cloneOf, nextName } from '@/features/create/model/clone'
import { openCreateText } from '@/features/create/store/create'
import { toYaml } from '@/features/yaml/model/documents'
import { notify } from '@/ui/notices'
import type { ObjectRef } from './model/objectText'
import { objectActions, type ObjectAction } from './store/objectActions'
import type { ObjectVersions } from './useObjectVersions'

export interface ObjectActions {
  actions: ComputedRef<readonly ObjectAction[]>
  act(action: ObjectAction): Promise<void>
  /** Opens the create dialog with a copy of the object under the next free name. */
  clone(): void
}

export function useObjectActions(of: Readonly<ObjectRef & { taken: (name: string) => boolean }>, { object, gone, look }: Pick<ObjectVersions, 'object' | 'gone' | 'look'>): ObjectActions {
  const { t } = useI18n()
  return {
    actions: computed(() => (object.value && !gone.value ? objectActions.filter((a) => a.applies(of.kind, object.value)) : [])),
    async act(action) {
      try {
        await action.run(of.kind, of.namespace, of.name)
        notify('done', t(`resources.acted.${action.id}`, { n: of.name }))
        void look()
      } catch (reason) {
        notify('failed', t('resources.deleteFailed', { name: of.name, message: reason instanceof Error ? reason.message : String(reason) }))
      }
    },
    clone() {
      if (object.value) openCreateText(toYaml(cloneOf(object.value, nextName(of.name, of.taken))))
    },
  }
}
