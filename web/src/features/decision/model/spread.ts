// The arithmetic of a topology spread constraint, and where its minimum comes from.

import { line, type ComparisonLine } from './comparisonLine'
import type { Comparison } from './pluginComparison'

type Spread = NonNullable<Comparison['spread']>[number]

export function spreadLine(s: Spread): ComparisonLine {
  const values = {
    domain: `${s.topologyKey}=${s.domain ?? ''}`,
    matching: s.matching,
    self: s.self,
    minimum: s.minimum,
    skew: s.matching + s.self - s.minimum,
    maxSkew: s.maxSkew,
  }
  // Earlier versions did not record the selector.
  return s.nodeTaintsPolicy ? line('spreadPods', { ...values, selector: s.selector ?? '' }) : line('spread', values)
}

export function minimumLine({
  topologyKey,
  domains = 0,
  minDomains = 0,
  minimum,
  fewest = [],
  fewestCount = 0,
}: Spread): ComparisonLine {
  if (!domains) return line('minimumNone')
  if (domains < minDomains) return line('minimumFew', { n: domains, minDomains }, domains)
  if (!fewestCount) return line('minimumUnknown', { minimum })
  const listed = fewest.map(({ name }) => `${topologyKey}=${name}`).join(', ')
  const named = fewestCount > fewest.length ? line('andMore', { listed, n: fewestCount - fewest.length }) : listed
  return line(fewestCount === 1 ? 'fewestOne' : 'fewestSeveral', { domains: named, minimum })
}
