// Presentations of cycles that the simulator recorded.

import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import type { Cycle } from '@/api/types'
import { boardAt } from './board'
import { presentation } from './steps'
import { line } from './testing'

const folder = join(import.meta.dirname, '../testdata')
const files = readdirSync(folder).filter((file) => file.endsWith('.json'))
const recorded = (name: string) => presentation(JSON.parse(readFileSync(join(folder, `${name}.json`), 'utf8')) as Cycle)
const names = files.map((file) => file.replace('.json', ''))

it.each(names)('%s: the board agrees with the record at every step', (name) => {
  const shown = recorded(name)
  const { cycle, steps } = shown
  expect([steps[0]?.content.kind, steps.at(-1)?.content.kind]).toEqual(['pod', 'end'])
  let left = cycle.filter?.nodes.length ?? 0
  for (const { content } of steps) {
    if (content.kind === 'rejects') left -= content.nodes
    if (content.kind === 'rejects' || content.kind === 'passes') expect(content.left).toBe(left)
  }
  if (cycle.filter && cycle.outcome !== 'error') expect(left).toBe(cycle.nodes.feasible)
  // At the end every point is counted, and every node is where the record says.
  const last = steps.at(-1)
  const board = last && boardAt(shown, last)
  for (const face of board?.faces ?? []) {
    const row = cycle.score?.nodes.indexOf(face.node) ?? -1
    if (row >= 0) expect(face.points).toBe(cycle.score?.totals[row])
    expect(face.state === 'chosen').toBe(face.node === cycle.selectedNode)
  }
  const counted = board?.counts.reduce((n, count) => n + count.nodes, 0) ?? 0
  if (board?.counts.length) expect(counted).toBe(cycle.nodes.total)
})

describe('the transcript', () => {
  const transcript = (name: string) => recorded(name).steps.map(({ content }) => line(content))
  it.each(names)('of %s', async (name) => {
    await expect(`${transcript(name).join('\n')}\n`).toMatchFileSnapshot(join(folder, `${name}.txt`))
  })
})
