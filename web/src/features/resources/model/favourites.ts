// The kinds that the user has starred: the defaults, changed by what the user starred
// and unstarred.

import { favourites as given } from '@/kubernetes/kinds'

/** Slugs of kinds. */
export interface Starred {
  added: readonly string[]
  removed: readonly string[]
}

/** Parses the stored value; anything unreadable is ignored. */
export function parseStarred(text: string | null): Starred {
  try {
    const value = JSON.parse(text ?? '{}') as Partial<Record<keyof Starred, unknown>> | null
    return { added: strings(value?.added), removed: strings(value?.removed) }
  } catch {
    return { added: [], removed: [] }
  }
}
const strings = (value: unknown): string[] =>
  Array.isArray(value) ? value.filter((v): v is string => typeof v === 'string') : []

/** The defaults first, in their order, then added kinds in the order of adding. */
export function starredSlugs({ added, removed }: Starred): string[] {
  return [...given.filter((slug) => !removed.includes(slug)), ...added.filter((slug) => !given.includes(slug))]
}

/** Stores differences instead of the list, so that defaults of a later version appear, too. */
export function toggleStar({ added, removed }: Starred, slug: string): Starred {
  if (given.includes(slug))
    return { added, removed: removed.includes(slug) ? removed.filter((s) => s !== slug) : [...removed, slug] }
  return { added: added.includes(slug) ? added.filter((s) => s !== slug) : [...added, slug], removed }
}
