// What a shadow configuration would have decided, as counts and rows.

import type { PartedBy, Shadow, ShadowCounts, ShadowItem, ShadowVerdict } from '@/api/types'

/** From the same to the most different. */
export const verdicts: readonly ShadowVerdict[] = ['same', 'asGood', 'elsewhere', 'pending', 'placed']
/** The verdicts that make a difference. */
export const differing = ['elsewhere', 'pending', 'placed'] as const
export type Differing = (typeof differing)[number]

export const isDiffering = (verdict: string): verdict is Differing => (differing as readonly string[]).includes(verdict)

/** The counts of the verdicts that occur, as shares of the judged decisions. */
export function shares(counts: ShadowCounts): { verdict: ShadowVerdict; count: number; share: number }[] {
  const all = verdicts.reduce((sum, verdict) => sum + counts[verdict], 0)
  return verdicts.flatMap((verdict) =>
    counts[verdict] ? [{ verdict, count: counts[verdict], share: counts[verdict] / all }] : []
  )
}

/** The part of the decisions that the counts stand for; 1 if none was left out. */
export function sampled({ judged, skipped }: Pick<Shadow, 'judged' | 'skipped'>): number {
  return judged + skipped > 0 ? judged / (judged + skipped) : 1
}

/** The decisions to list, newest first. */
export function listed(items: readonly ShadowItem[], only: string): ShadowItem[] {
  return items.filter((item) => item.differs && (!isDiffering(only) || item.verdict === only))
}

/** How far a plugin moved the balance between the two nodes, by which scores. */
export function scoreShift({ live = [], shadow = [] }: PartedBy): { live: number; shadow: number } | undefined {
  const [a, b] = [live, shadow].map(([ofLive, ofShadow]) =>
    ofLive === undefined || ofShadow === undefined ? undefined : ofShadow - ofLive
  )
  return a === undefined || b === undefined ? undefined : { live: a, shadow: b }
}

/** The plugins that made the difference, with how often; most often first. */
export function byPlugin(
  items: readonly ShadowItem[]
): { plugin: string; extensionPoint: PartedBy['extensionPoint']; count: number }[] {
  const out = new Map<string, { plugin: string; extensionPoint: PartedBy['extensionPoint']; count: number }>()
  for (const { partedBy, differs } of items) {
    if (!partedBy || !differs) continue
    const key = `${partedBy.plugin} ${partedBy.extensionPoint}`
    const one = out.get(key) ?? { plugin: partedBy.plugin, extensionPoint: partedBy.extensionPoint, count: 0 }
    out.set(key, { ...one, count: one.count + 1 })
  }
  return [...out.values()].sort((a, b) => b.count - a.count || (a.plugin < b.plugin ? -1 : 1))
}
