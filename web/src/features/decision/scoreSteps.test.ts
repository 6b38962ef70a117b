import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeAll, describe, expect, it } from 'vitest'
import type { Score } from '@/api/types'
import { i18n } from '@/i18n'
import { loadDeferredMessages } from '@/i18n/deferred'
import { scoreSteps, type Step } from './model/scoreSteps'

interface Cell {
  node: string
  cell: { arithmetic?: Step[]; raw?: number; normalization?: Step[]; normalized?: number }
  text: string[]
}

/** The cases that also test the Go renderer. */
const file = join(import.meta.dirname, '../../../../scheduler/explain/testdata/scores.json')
const shared = (
  JSON.parse(readFileSync(file, 'utf8')) as { name: string; score: Score; plugin: string; cells: Cell[] }[]
).flatMap(({ cells, ...of }) => cells.map((cell) => ({ ...of, ...cell })))

const say = ({ kind, values }: Step) => i18n.global.t(`score.step.${kind}`, values)
const stepsOf = ({ score, plugin, node }: (typeof shared)[number]) => {
  const steps = scoreSteps(score, plugin, node)
  if (!steps) throw new Error('not scored')
  return steps
}

beforeAll(loadDeferredMessages)
afterEach(() => {
  i18n.global.locale.value = 'en'
})

describe('the steps of a score', () => {
  it.each(shared)('are those of the server: $name, $node', (of) => {
    const { cell } = of
    const same = (steps: Step[] = []) => steps.map(({ kind, values = {} }) => ({ kind, values }))
    expect(stepsOf(of)).toEqual({
      arithmetic: same(cell.arithmetic),
      raw: cell.raw,
      normalization: same(cell.normalization),
      normalized: cell.normalized,
    })
  })

  it.each(shared)('have the server’s words in English: $name, $node', (of) => {
    const { arithmetic, normalization } = stepsOf(of)
    expect([...arithmetic, ...normalization].map(say)).toEqual(of.text)
  })

  it.each(shared)('have the same numbers in Japanese: $name, $node', (of) => {
    i18n.global.locale.value = 'ja'
    const { arithmetic, normalization } = stepsOf(of)
    for (const [i, step] of [...arithmetic, ...normalization].entries()) {
      const said = say(step)
      expect(said).not.toContain('score.step')
      expect(said).not.toContain('{')
      for (const value of Object.values(step.values)) if (of.text[i]?.includes(value)) expect(said).toContain(value)
    }
  })

  it('are unknown for a node that was not scored', () => {
    expect(scoreSteps(shared[0]?.score, 'Plugin', 'elsewhere')).toBeUndefined()
    expect(scoreSteps(undefined, 'Plugin', 'a')).toBeUndefined()
  })
})
