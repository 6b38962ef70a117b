// The parts of a name of which the first one may be cut: names of Kubernetes objects differ at their ends.

export interface NameParts {
  /** May be cut. */
  head: string
  /** Stays whole; '' for a name that is short anyway. */
  tail: string
}

const shortest = 14
const tailAtLeast = 2
const tailAtMost = 12

/**
 * The tail starts at the last separator if it is near the end: web-6d9f7c8b5 and -x2x9z. A longer
 * one would leave no room for the head.
 */
export function nameParts(name: string): NameParts {
  if (name.length <= shortest) return { head: name, tail: '' }
  let at = name.length - tailAtLeast
  while (at > name.length - tailAtMost && !/[-./_]/.test(name.charAt(at))) at--
  if (!/[-./_]/.test(name.charAt(at))) at = name.length - 6
  return { head: name.slice(0, at), tail: name.slice(at) }
}
