// Which kinds a person has starred: the ones that come with the application, changed by
// what was starred and unstarred since.

import { favourites as given } from '@/kubernetes/kinds'

/** Slugs of kinds. */
export interface Starred {
  added: readonly string[]
  removed: readonly string[]
}

/** Reads what was kept; whatever cannot be read counts as nothing. */
export function parseStarred(text: string | null): Starred {
  try {
    const value = JSON.parse(text ?? '{}') as Partial<Record<keyof Starred, unknown>> | null
    return { added: strings(value?.added), removed: strings(value?.removed) }
  } catch {
    return { added: [], removed: [] }
  }
}
const strings = (value: unknown): string[] => (Array.isArray(value) ? value.filter((v): v is string => typeof v === 'string') : [])

/** The given ones first, in their order, then those that were added, in the order of adding. */
export function starredSlugs({ added, removed }: Starred): string[] {
  return [...given.filter((slug) => !removed.includes(slug)), ...added.filter((slug) => !given.includes(slug))]
}

/** Differences are kept, not the list: a kind that a later version adds to the given ones is there, too. */
export function toggleStar({ added, removed }: Starred, slug: string): Starred {
  if (given.includes(slug)) return { added, removed: removed.includes(slug) ? removed.filter((s) => s !== slug) : [...removed, slug] }
  return { added: added.includes(slug) ? added.filter((s) => s !== slug) : [...added, slug], removed }
}
