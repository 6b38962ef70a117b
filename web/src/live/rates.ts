// The number of cycles that ended in each second, and values over time, for the charts of
// Activity. The stream of results feeds it second by second.

import type { Frame } from '@/api/watch'
import type { Outcome, Summary } from '@/api/types'

const kept = 600
const keptKeys = 20_000

/** Counts per second of the last ten minutes. */
export class Rates {
  private readonly cycles = new Map<number, number>()
  private readonly bound = new Map<number, number>()
  /** Counted attempts, so that a list after a reconnect counts nothing twice; the oldest are dropped. */
  private readonly known = new Map<string, Outcome>()
  private since: number | undefined

  /** The first second (Unix) with complete counts; undefined before the first list. */
  get from(): number | undefined {
    return this.since
  }

  apply(frame: Frame<Summary>): void {
    const items = frame.type === 'list' ? frame.items : frame.events.flatMap((e) => (e.type === 'DELETED' ? [] : [e.object]))
    for (const item of items) this.count(item)
    if (frame.type === 'list' && !frame.more && this.since === undefined) this.since = this.begin()
  }

  /** Per second, newest last: `seconds` of them, up to but excluding `end` (Unix). */
  series(end: number, seconds: number): { cycles: number[]; bound: number[] } {
    const at = Array.from({ length: seconds }, (_, i) => end - seconds + i)
    return { cycles: at.map((s) => this.cycles.get(s) ?? 0), bound: at.map((s) => this.bound.get(s) ?? 0) }
  }

  private count(summary: Summary): void {
    const key = `${summary.pod.uid}/${summary.attempt}`
    const before = this.known.get(key)
    if (before === summary.outcome) return
    const second = endOf(summary)
    if (before === undefined) bump(this.cycles, second)
    // A waiting attempt is sent again when it is bound.
    if (summary.outcome === 'scheduled') bump(this.bound, second)
    this.known.set(key, summary.outcome)
    if (this.known.size > keptKeys) for (const old of this.known.keys()) if (this.known.delete(old) && this.known.size <= keptKeys) break
    if (this.cycles.size > kept + 60) this.forget(second)
  }

  private forget(newest: number): void {
    for (const counts of [this.cycles, this.bound]) for (const second of counts.keys()) if (second < newest - kept) counts.delete(second)
  }

  /** A list holds only the newest results, so its oldest second may be incomplete. */
  private begin(): number {
    const seconds = [...this.cycles.keys()]
    return seconds.length && this.known.size >= 500 ? Math.min(...seconds) + 1 : 0
  }
}

const bump = (counts: Map<number, number>, second: number) => counts.set(second, (counts.get(second) ?? 0) + 1)

/** The second (Unix) in which a cycle ended. */
export function endOf(summary: Summary): number {
  return Math.floor(Date.parse(summary.startTime) / 1000 + summary.durationSeconds)
}

/** A value per second; a second without an observation keeps the value before it. */
export class Samples {
  private readonly values = new Map<number, number>()
  private first: number | undefined

  set(second: number, value: number): void {
    this.first ??= second
    this.values.set(second, value)
    if (this.values.size > kept) for (const old of this.values.keys()) if (this.values.delete(old) && this.values.size <= kept) break
  }

  /** Like Rates.series; undefined before the first observation. */
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
  return { mean: seen.length ? seen.reduce((a, b) => a + b, 0) / seen.length : 0, peak: seen.length ? Math.max(...seen) : 0 }
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
