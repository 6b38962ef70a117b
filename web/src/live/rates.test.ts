import { describe, expect, it } from 'vitest'
import { condense, factsOf, Samples } from './rates'

describe('Samples', () => {
  it('keeps a value until the next, and has none before the first', () => {
    const samples = new Samples()
    samples.set(11, 5)
    samples.set(13, 7)
    expect(samples.series(15, 5)).toEqual([undefined, 5, 5, 7, 7])
    expect(factsOf(samples.series(15, 5))).toEqual({ mean: 6, peak: 7 })
    expect(condense(samples.series(15, 5), 2)).toEqual([5, 6, 7])
  })
})
