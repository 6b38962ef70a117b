// What axe objects to, as lines that name the rule and the elements.

import { AxeBuilder } from '@axe-core/playwright'
import type { Page } from '@playwright/test'

export interface Look {
  /** Only what is in here; the whole page by default. */
  within?: string
  /** Only these rules; all by default. */
  rules?: string[]
}

/** Rules that are violated. A dialog is looked at alone: what is behind it cannot be reached. */
export async function objections(page: Page, { within, rules }: Look = {}): Promise<string[]> {
  // Its legacy mode spares a second page for each look: there are no frames to put together.
  const axe = new AxeBuilder({ page }).setLegacyMode().options({ resultTypes: ['violations'], ...(rules ? { runOnly: rules } : {}) })
  if (within) axe.include(within)
  const { violations } = await axe.analyze()
  return violations.map((v) => `${v.id} at ${v.nodes.slice(0, 3).map((n) => n.target.join(' ')).join(' | ')}`)
}
