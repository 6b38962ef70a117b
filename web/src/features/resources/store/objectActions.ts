// Actions on an object other than edit, clone and delete. The detail panel and the
// selection bar show those that apply. To add an action, add it to the list.

import { patchObject } from '@/api/kubernetes'
import type { KindInfo, KubeObject, Node } from '@/api/types'

export interface ObjectAction {
  /** Its key below resources.actions. in the messages. */
  id: 'cordon' | 'uncordon'
  icon: string
  /** Whether the action applies; object is undefined if only the kind is known (a selection). */
  applies(kind: KindInfo, object: KubeObject | undefined): boolean
  run(kind: KindInfo, namespace: string | undefined, name: string): Promise<unknown>
}

const isNode = (kind: KindInfo) => kind.resource === 'nodes' && !kind.group
const cordoned = (object: KubeObject) => (object as Node).spec?.unschedulable === true

export const objectActions: readonly ObjectAction[] = [
  {
    id: 'cordon',
    icon: 'gate',
    applies: (kind, object) => isNode(kind) && !(object && cordoned(object)),
    run: (kind, namespace, name) => patchObject(kind, namespace, name, { spec: { unschedulable: true } }),
  },
  {
    id: 'uncordon',
    icon: 'play',
    applies: (kind, object) => isNode(kind) && !(object && !cordoned(object)),
    run: (kind, namespace, name) => patchObject(kind, namespace, name, { spec: { unschedulable: null } }),
  },
]
