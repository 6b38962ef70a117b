// What follows from a change, in sentences: frozen when the dialog opens, because text that
// changes while one reads it is unreadable.

import type { KubeObject } from '@/api/types'
import { t } from '@/i18n'
import { isResource, namespaceKind, nodeKind, podKind } from '@/kubernetes/kinds'
import type { ObjectRef } from '@/kubernetes/object'
import { formatAge } from '@/kubernetes/time'
import { isWorkload } from '@/kubernetes/workloads'
import { aftermath, taintOf } from './model/failure'
import type { Verb } from './model/verbs'
import { isManaged } from './model/write'
import { podsOn } from './store/drain'

const pods = (n: number) => t('common.pods', n)

function failing(failure: 'not-ready' | 'unreachable', names: readonly string[]): string[] {
  const here = podsOn(names)
  const { evicted, staying } = aftermath(here, failure)
  return [
    t('nodeAction.tainted', { taint: taintOf(failure) }),
    ...(here.length ? [] : [t('nodeAction.noPods')]),
    ...evicted.map(({ seconds, pods: n }) =>
      seconds
        ? t('nodeAction.evictedAfter', { pods: pods(n), time: formatAge(seconds) }, n)
        : t('nodeAction.evictedAtOnce', { pods: pods(n) }, n)
    ),
    ...(staying ? [t('nodeAction.staying', { pods: pods(staying) }, staying)] : []),
    ...(evicted.length ? [t('nodeAction.replaced')] : []),
    failure === 'unreachable' ? t('nodeAction.terminating') : t('nodeAction.stopping'),
    t('nodeAction.endsWith'),
  ]
}
function deletion(refs: readonly ObjectRef[], objectOf: (of: ObjectRef) => KubeObject | undefined): string[] {
  const kind = refs[0]?.kind
  if (isResource(kind, nodeKind)) {
    const here = podsOn(refs.map((r) => r.name)).length
    return [
      here ? t('nodeAction.deleted', { pods: pods(here) }, here) : t('nodeAction.noPods'),
      t('act.follows.nodeUndo'),
    ]
  }
  if (isResource(kind, podKind)) {
    const managed = refs.filter((of) => isManaged(objectOf(of) ?? { metadata: { name: '' } })).length
    return [
      t('act.follows.podsAtOnce'),
      ...(managed ? [t('act.follows.managed')] : []),
      ...(managed < refs.length ? [t('act.follows.podUndo')] : []),
    ]
  }
  if (isResource(kind, namespaceKind)) return [t('act.follows.namespace')]
  if (kind?.resource === 'customresourcedefinitions') return [t('act.follows.definition')]
  return [...(kind && isWorkload(kind) ? [t('act.follows.workload')] : []), t('act.follows.objectUndo')]
}

/** Nothing for a verb whose effect is plain. */
export function consequencesOf(
  verb: Verb,
  refs: readonly ObjectRef[],
  objectOf: (of: ObjectRef) => KubeObject | undefined
): string[] {
  const names = refs.map((r) => r.name)
  switch (verb) {
    case 'notReady':
      return failing('not-ready', names)
    case 'unreachable':
      return failing('unreachable', names)
    case 'delete':
      return deletion(refs, objectOf)
    case 'recreate':
      return refs.some((of) => isManaged(objectOf(of) ?? { metadata: { name: '' } }))
        ? [t('act.follows.recreateManaged'), t('act.follows.notUndone')]
        : [t('act.follows.recreate'), t('act.follows.notUndone')]
    case 'ungate':
      return [t('act.follows.ungate'), t('act.follows.notUndone')]
    case 'evict':
      return [
        t('act.follows.evict'),
        ...(refs.some((of) => isManaged(objectOf(of) ?? { metadata: { name: '' } })) ? [t('act.follows.managed')] : []),
        t('act.follows.notUndone'),
      ]
    case 'restart':
      return [t('act.follows.restart'), t('act.follows.notUndone')]
    case 'scale':
      return [t('act.follows.scale')]
    case 'taint':
      return [t('act.follows.taint')]
    default:
      return []
  }
}
