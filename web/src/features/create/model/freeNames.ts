// Names for new objects that no object has yet.

/**
 * Finds the first number that gives a free name, and returns prefix-1, prefix-2, … A `suffix`
 * belongs to the name that has to be free, but not to the result.
 */
export type FreeName = (resource: 'nodes' | 'pods', prefix: string, suffix?: string) => string

/** A FreeName for a set of names in use, keyed like objectKey. */
export function freeNames(taken: { nodes: ReadonlySet<string>; pods: ReadonlySet<string> }): FreeName {
  return (resource, prefix, suffix = '') => {
    for (let i = 1; ; i++) {
      const name = `${prefix}-${i}`
      if (!taken[resource].has(`${resource === 'pods' ? 'default/' : ''}${name}${suffix}`)) return name
    }
  }
}
