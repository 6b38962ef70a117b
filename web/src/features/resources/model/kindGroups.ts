// The kinds of a cluster as a list to choose from.

import type { KindInfo } from '@/api/types'
import { kindSlug } from '@/kubernetes/kinds'

/** The starred kinds in the order of their stars, then the others; of both those that the text finds. */
export function groupKinds(kinds: readonly KindInfo[], starred: readonly string[], text: string): { starred: KindInfo[]; others: KindInfo[] } {
  const wanted = text.toLowerCase()
  const found = kinds.filter((kind) => `${kindSlug(kind)} ${kind.kind}`.toLowerCase().includes(wanted))
  return {
    starred: starred.flatMap((slug) => found.filter((kind) => kindSlug(kind) === slug)),
    others: found.filter((kind) => !starred.includes(kindSlug(kind))),
  }
}

/** The kind of an address part: its slug, or the resource alone. */
export function kindOfSlug(kinds: readonly KindInfo[], slug: string): KindInfo | undefined {
  return kinds.find((kind) => kindSlug(kind) === slug) ?? kinds.find((kind) => kind.resource === slug)
}
