// Several objects in one word: the name of the only one, or how many there are.

import { useI18n } from 'vue-i18n'
import { formatCount } from '@/i18n/numbers'
import { isResource, nodeKind, podKind } from '@/kubernetes/kinds'
import type { ObjectRef } from '@/kubernetes/object'

export function useSubject(): (refs: readonly ObjectRef[]) => string {
  const { t } = useI18n()
  return (refs) => {
    const [only, ...others] = refs
    if (!only || !others.length) return only?.name ?? ''
    const key = isResource(only.kind, nodeKind)
      ? 'common.nodes'
      : isResource(only.kind, podKind)
        ? 'common.pods'
        : 'act.objects'
    return t(key, { n: formatCount(refs.length) }, refs.length)
  }
}
