// The parts of a name by what tells it from its neighbours. Names of Kubernetes objects differ at
// their ends, or at the end of the first label of a domain name.

export interface NameParts {
  /** May be cut. */
  head: string
  /** Stays whole; '' for a name that is short anyway. */
  tail: string
  /** The domain that many nodes share, which is cut first; '' for none. */
  domain: string
}

const shortest = 11
const longestNumbers = 8
const longestTail = 12

/**
 * The tail is the last number or two, or starts at the last separator if that is near the end:
 * -1488, -1-23 and -x2x9z. A longer one would leave no room for the head.
 */
export function nameParts(name: string): NameParts {
  if (name.length <= shortest) return { head: name, tail: '', domain: '' }
  const found = /\.(?:[-a-z0-9]+\.)*[a-z]{2,}$/.exec(name)?.[0] ?? ''
  const domain = found.length > 5 ? found : ''
  const own = name.slice(0, name.length - domain.length)
  const numbers = /(?:[-._]\d+){1,2}$/.exec(own)?.[0] ?? ''
  const last = /[-./_][^-./_]+$/.exec(own)?.[0] ?? ''
  const tail =
    own.length <= shortest
      ? own
      : numbers && numbers.length <= longestNumbers
        ? numbers
        : last && last.length < longestTail
          ? last
          : own.slice(-6)
  return { head: own.slice(0, own.length - tail.length), tail, domain }
}
