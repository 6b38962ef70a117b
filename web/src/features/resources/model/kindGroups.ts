// The list of kinds to choose from.

import type { KindInfo } from '@/api/types'
import { kindSlug } from '@/kubernetes/kinds'

/** The kinds that match the text: starred ones in the order of `starred`, then the others. */
export function groupKinds(
  kinds: readonly KindInfo[],
  starred: readonly string[],
  text: string
): { starred: KindInfo[]; others: KindInfo[] } {
  const wanted = text.toLowerCase()
  const found = kinds.filter((kind) => `${kindSlug(kind)} ${kind.kind}`.toLowerCase().includes(wanted))
  return {
    starred: starred.flatMap((slug) => found.filter((kind) => kindSlug(kind) === slug)),
    others: found.filter((kind) => !starred.includes(kindSlug(kind))),
  }
}

/** The kind for a part of the URL, which is its slug or only its resource. */
export function kindOfSlug(kinds: readonly KindInfo[], slug: string): KindInfo | undefined {
  return kinds.find((kind) => kindSlug(kind) === slug) ?? kinds.find((kind) => kind.resource === slug)
}
