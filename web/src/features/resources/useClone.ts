// Cloning the shown object.

import { cloneOf, nextName } from '@/features/create/model/clone'
import { openCreateText } from '@/features/create/store/create'
import { toYaml } from '@/features/yaml/model/documents'
import type { ObjectRef } from '@/kubernetes/object'
import type { ObjectVersions } from './useObjectVersions'

/** `clone` opens the create dialog with a copy of the object under the next free name. */
export function useClone(
  of: Readonly<ObjectRef & { taken: (name: string) => boolean }>,
  { object }: Pick<ObjectVersions, 'object'>
): { clone(): void } {
  return {
    clone() {
      if (object.value) openCreateText(toYaml(cloneOf(object.value, nextName(of.name, of.taken))))
    },
  }
}
