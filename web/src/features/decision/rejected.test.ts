import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeAll, describe, expect, it } from 'vitest'
import type { Cycle } from '@/api/types'
import { i18n } from '@/i18n'
import { loadDeferredMessages } from '@/i18n/deferred'
import { lineText } from './model/comparisonLine'
import { preemptionTable } from './model/preemption'
import { comparedLines, removalLines } from './model/rejected'
import { sampleCycle } from './model/testing'

/** The cases that also test the Go renderer. */
const file = join(import.meta.dirname, '../../../../scheduler/explain/testdata/cells.json')
const shared = JSON.parse(readFileSync(file, 'utf8')) as {
  name: string
  node: string
  plugin: string
  cycle: Partial<Cycle>
  compared: string[] | null
  removal: string[] | null
  verdict?: string
}[]

const t = (key: string, values: Record<string, unknown>, count?: number) =>
  count === undefined ? i18n.global.t(key, values) : i18n.global.t(key, values, count)
const linesOf = ({ cycle, node, plugin }: (typeof shared)[number]) => [
  ...comparedLines(sampleCycle(cycle), node, plugin),
  ...removalLines(sampleCycle(cycle), node, plugin),
]
const verdictOf = ({ cycle }: (typeof shared)[number]) => {
  const table = preemptionTable(sampleCycle(cycle))
  return (
    table &&
    t(`preemption.${table.verdict.kind === 'rule' ? table.verdict.rule : table.verdict.kind}`, {
      node: cycle.preemption?.chosen ?? '',
    })
  )
}

/** The texts and numbers of the data, at any depth, but for words of our own. */
const ownWords = new Set([
  'rule',
  'role',
  'source',
  'why',
  'ineligible',
  'withoutPods',
  'nodeAffinityPolicy',
  'nodeTaintsPolicy',
  'states',
  'key',
])
function operands(value: unknown): string[] {
  // The sentences have a word of their own for pods.
  if (typeof value === 'string' || typeof value === 'number') return value === 'pods' ? [] : [String(value)]
  if (typeof value !== 'object' || value === null) return []
  return Object.entries(value).flatMap(([name, of]) => (ownWords.has(name) ? [] : operands(of)))
}

beforeAll(loadDeferredMessages)
afterEach(() => {
  i18n.global.locale.value = 'en'
})

describe('why a plugin rejected a node', () => {
  it.each(shared)('has the server’s words in English: $name', (of) => {
    expect(linesOf(of).map((line) => lineText(line, t))).toEqual([...(of.compared ?? []), ...(of.removal ?? [])])
    expect(verdictOf(of)).toEqual(of.verdict)
  })

  it.each(shared)('has the same values in Japanese: $name', (of) => {
    const lines = linesOf(of)
    const english = lines.map((line) => lineText(line, t))
    i18n.global.locale.value = 'ja'
    for (const [i, line] of lines.entries()) {
      const said = lineText(line, t)
      expect(said).not.toBe(english[i])
      expect(said).not.toContain('cellPanel')
      expect(said).not.toContain('{')
      for (const value of operands(of.cycle))
        if (new RegExp(`(?<![\\w.-])${value.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')}(?![\\w.-])`).test(english[i] ?? ''))
          expect(said).toContain(value)
    }
    const verdict = verdictOf(of)
    if (verdict) expect(verdict).not.toBe(of.verdict)
  })
})
