// Violations that axe reports, as lines that name the rule and the elements.

import { AxeBuilder } from '@axe-core/playwright'
import type { Page } from '@playwright/test'

export interface Look {
  /** Selector of the part to check; the whole page by default. */
  within?: string
  /** Rules to check; all by default. */
  rules?: string[]
}

/** The rules that are violated. Check an open dialog by itself, because the page behind it is inert. */
export async function objections(page: Page, { within, rules }: Look = {}): Promise<string[]> {
  // Legacy mode avoids opening a second page for each check; there are no frames to merge.
  // axe leaves the rule of WCAG 2.2 about the size of targets off unless it is named.
  const axe = new AxeBuilder({ page }).setLegacyMode().options({
    resultTypes: ['violations'],
    ...(rules ? { runOnly: rules } : { rules: { 'target-size': { enabled: true } } }),
  })
  if (within) axe.include(within)
  // A tooltip repeats what a cut text says, above everything.
  axe.exclude('.whole-text')
  const { violations } = await axe.analyze()
  return violations.map(
    (v) =>
      `${v.id} at ${v.nodes
        .slice(0, 3)
        .map((n) => n.target.join(' '))
        .join(' | ')}`
  )
}
