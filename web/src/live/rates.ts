// Values over time, for the charts of Activity.

/** How many seconds are kept. */
const kept = 600

/** A value per second; a second without an observation keeps the value before it. */
export class Samples {
  private readonly values = new Map<number, number>()
  private first: number | undefined

  set(second: number, value: number): void {
    this.first ??= second
    this.values.set(second, value)
    if (this.values.size > kept)
      for (const old of this.values.keys()) if (this.values.delete(old) && this.values.size <= kept) break
  }

  /** The first observed second (Unix); undefined before it. */
  get since(): number | undefined {
    return this.first
  }

  /**
   * Per second, newest last: `seconds` of them, up to but excluding `end` (Unix); undefined before
   * the first observation.
   */
  series(end: number, seconds: number): (number | undefined)[] {
    const out: (number | undefined)[] = []
    let last: number | undefined
    for (let second = end - seconds; second < end; second++) {
      last = this.values.get(second) ?? last
      out.push(this.first === undefined || second < this.first ? undefined : last)
    }
    return out
  }
}

export interface SeriesFacts {
  mean: number
  peak: number
}

export function factsOf(values: readonly (number | undefined)[]): SeriesFacts {
  const seen = values.filter((v) => v !== undefined)
  return {
    mean: seen.length ? seen.reduce((a, b) => a + b, 0) / seen.length : 0,
    peak: seen.length ? Math.max(...seen) : 0,
  }
}

/** Averages every `count` neighbours into one value, so that a line needs fewer points. */
export function condense(values: readonly (number | undefined)[], count: number): (number | undefined)[] {
  const out: (number | undefined)[] = []
  for (let i = 0; i < values.length; i += count) {
    const part = values.slice(i, i + count).filter((v) => v !== undefined)
    out.push(part.length ? part.reduce((a, b) => a + b, 0) / part.length : undefined)
  }
  return out
}
