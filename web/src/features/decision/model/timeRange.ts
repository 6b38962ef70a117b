// A range of time as the URL holds it: the last minutes or hours, or from one time to another.

export interface TimeRange {
  /** A number with s, m, h or d, such as 15m; '' when the range has fixed ends. */
  last: string
  /** RFC 3339; '' for an open end. */
  since: string
  until: string
}

export const lasts = ['5m', '15m', '1h', '6h', '24h'] as const

const units: Record<string, number> = { s: 1, m: 60, h: 3600, d: 86_400 }

/** The length of a range such as 15m; undefined when it is not one. */
export function secondsOf(last: string): number | undefined {
  const [, amount, unit] = /^(\d{1,6})([smhd])$/.exec(last) ?? []
  const seconds = Number(amount) * (units[unit ?? ''] ?? 0)
  return seconds > 0 ? seconds : undefined
}

/** The ends of a range at a time in ms; an end that is open is absent. */
export function boundsOf({ last, since, until }: TimeRange, now: number): { since?: string; until?: string } {
  const seconds = secondsOf(last)
  if (seconds !== undefined) return { since: new Date(now - seconds * 1000).toISOString() }
  return { ...(since && { since }), ...(until && { until }) }
}

/** The value of a datetime-local field, which is local time without a zone. */
export function toLocalField(at: string): string {
  const time = new Date(at)
  if (!at || Number.isNaN(time.getTime())) return ''
  return new Date(time.getTime() - time.getTimezoneOffset() * 60_000).toISOString().slice(0, 19)
}

export function fromLocalField(value: string): string {
  const time = new Date(value)
  return value && !Number.isNaN(time.getTime()) ? time.toISOString() : ''
}
