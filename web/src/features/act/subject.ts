// Several objects in one word: the name of the only one, or how many there are.

import { t } from '@/i18n'
import { isResource, nodeKind, podKind } from '@/kubernetes/kinds'
import type { ObjectRef } from '@/kubernetes/object'

export function subjectOf(refs: readonly ObjectRef[]): string {
  const [only, ...others] = refs
  if (!only || !others.length) return only?.name ?? ''
  const key = isResource(only.kind, nodeKind)
    ? 'common.nodes'
    : isResource(only.kind, podKind)
      ? 'common.pods'
      : 'act.objects'
  return t(key, refs.length)
}
