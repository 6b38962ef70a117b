// Names of branches: DNS labels, as the server wants them.

import type { Branch } from '@/api/branches'

/** The longest name of a DNS label. */
const longest = 63

export function isBranchName(name: string): boolean {
  return name.length <= longest && /^[a-z0-9]([a-z0-9-]*[a-z0-9])?$/.test(name)
}

/** A name for a branch from a time of day, that no branch has: "from-10-16-20", "from-10-16-20-2". */
export function suggestName(clock: string, branches: readonly Pick<Branch, 'name'>[]): string {
  const taken = new Set(branches.map(({ name }) => name))
  const base = `from-${clock.replace(/[^0-9]+/g, '-')}`
  for (let n = 1; ; n++) {
    const name = n === 1 ? base : `${base}-${n}`
    if (!taken.has(name)) return name
  }
}
