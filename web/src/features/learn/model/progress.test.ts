import { describe, expect, it } from 'vitest'
import { answered, noProgress, progressFile, readProgress, readProgressFile, standingOf, withLesson } from './progress'

const wrong = { passed: false, misconceptions: ['usage-counts'] }
const right = { passed: true, misconceptions: [] }

describe('a misconception', () => {
  it('is not met, counted, and cleared by a right answer where it was named', () => {
    let progress = noProgress()
    expect(standingOf(progress, 'usage-counts')).toEqual({ kind: 'notMet' })
    progress = answered(answered(progress, 'scores/total', wrong), 'NodeResourcesFit', wrong)
    expect(standingOf(progress, 'usage-counts')).toEqual({ kind: 'counted', count: 2 })
    progress = answered(progress, 'scores/total', right)
    expect(standingOf(progress, 'usage-counts')).toEqual({ kind: 'counted', count: 2 })
    progress = answered(progress, 'NodeResourcesFit', right)
    expect(standingOf(progress, 'usage-counts')).toEqual({ kind: 'cleared' })
    expect(standingOf(answered(progress, 'NodeResourcesFit', wrong), 'usage-counts')).toEqual({
      kind: 'counted',
      count: 3,
    })
  })
  it('stays counted when a right answer names it', () => {
    expect(
      standingOf(answered(noProgress(), 'a', { passed: true, misconceptions: ['usage-counts'] }), 'usage-counts')
    ).toEqual({ kind: 'counted', count: 1 })
  })
})

describe('the file', () => {
  const progress = answered(
    withLesson(
      withLesson(noProgress(), 'scores', {
        at: 2,
        steps: 6,
        passed: ['total'],
        sandbox: '2026-01-01T10:00:00Z',
        did: ['a'],
      }),
      'filters',
      { steps: 5, at: 4, done: '2026-01-01T10:00:00Z' }
    ),
    'scores/total',
    wrong
  )

  it('comes back as it was', () => {
    expect(readProgressFile(progressFile(progress))).toEqual(progress)
  })
  it('is refused unless it says what it is', () => {
    for (const text of ['', '{', '[]', '{"lessons":{}}', '"LearningProgress"'])
      expect(readProgressFile(text)).toBeUndefined()
  })
  it('is read past what does not belong there', () => {
    const odd = {
      kind: 'LearningProgress',
      lessons: { a: { at: -3, steps: '6', passed: ['x', 1, null], done: 'soon' }, b: null },
      misconceptions: { c: { count: 1.5, open: {} } },
      exercises: { level: 9, asked: NaN, right: 2 },
    }
    expect(readProgressFile(JSON.stringify(odd))).toEqual({
      lessons: { a: { at: 0, steps: 0, passed: ['x'] } },
      misconceptions: { c: { count: 1, open: [] } },
      exercises: { level: 3, asked: 0, right: 2 },
    })
  })
  it('in the browser may be missing or damaged', () => {
    expect(readProgress('')).toEqual(noProgress())
    expect(readProgress('{"lessons":[]}')).toEqual(noProgress())
  })
})
