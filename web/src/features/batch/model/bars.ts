// Bars that show what is used beside what one is entitled to, in percent of their width.

/**
 * share: what one is entitled to. room: what may come on top of it. over: used beyond the share.
 * lent: a part of the share that others use, or may.
 */
export type Part = 'share' | 'room' | 'used' | 'over' | 'lent' | 'asks' | 'round1' | 'round2' | 'round3'

export interface Stretch {
  kind: Part
  from: number
  width: number
}

/** share: the end of the share. most: the most that may be used. kept: the least that is not lent. */
export interface Mark {
  kind: 'share' | 'most' | 'kept'
  at: number
}

/** Later stretches lie on earlier ones. */
export interface Bar {
  stretches: readonly Stretch[]
  marks: readonly Mark[]
}

export interface Scale {
  at(amount: number): number
  /** Nothing for a stretch without a width. */
  stretch(kind: Part, from: number, to: number): Stretch[]
  /** Nothing for an amount that does not exist. */
  mark(kind: Mark['kind'], amount: number | undefined): Mark[]
}

/** Amounts from 0 to most, beyond which a bar ends. */
export function scaleTo(most: number): Scale {
  const at = (amount: number) => (most > 0 ? Math.min(100, (Math.max(0, amount) / most) * 100) : 0)
  return {
    at,
    stretch: (kind, from, to) => (at(to) > at(from) ? [{ kind, from: at(from), width: at(to) - at(from) }] : []),
    mark: (kind, amount) => (amount === undefined ? [] : [{ kind, at: at(amount) }]),
  }
}
