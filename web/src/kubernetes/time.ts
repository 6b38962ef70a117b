// Ages and durations in the short forms that kubectl uses.

/** "45s", "4m12s", "3h5m", "2d4h", "41d". */
export function formatAge(seconds: number): string {
  const s = Math.max(0, Math.floor(seconds))
  if (s < 120) return `${s}s`
  const m = Math.floor(s / 60)
  if (m < 10) return s % 60 ? `${m}m${s % 60}s` : `${m}m`
  if (m < 180) return `${m}m`
  const h = Math.floor(m / 60)
  if (h < 8) return m % 60 ? `${h}h${m % 60}m` : `${h}h`
  if (h < 48) return `${h}h`
  const d = Math.floor(h / 24)
  if (d < 8) return h % 24 ? `${d}d${h % 24}h` : `${d}d`
  return d < 730 ? `${d}d` : `${Math.floor(d / 365)}y`
}

/** The age at `now` (ms) of something created at `since` (RFC 3339). */
export function ageOf(since: string | undefined, now: number): string {
  const at = since ? Date.parse(since) : NaN
  return Number.isNaN(at) ? '?' : formatAge((now - at) / 1000)
}

/** "9 µs", "412 µs", "1.08 ms", "5.9 ms", "1.2 s". */
export function formatDuration(seconds: number): string {
  if (seconds <= 0) return '0 µs'
  const micro = seconds * 1e6
  if (micro < 1) return '< 1 µs'
  if (micro < 1000) return `${Math.round(micro)} µs`
  if (micro < 1e4) return `${(micro / 1000).toFixed(2)} ms`
  if (micro < 1e6) return `${(micro / 1000).toFixed(micro < 1e5 ? 1 : 0)} ms`
  return `${seconds.toFixed(seconds < 10 ? 2 : 1)} s`
}

/** The local time of day with milliseconds: "10:42:18.041". */
export function formatClock(at: string, millis = true): string {
  const date = new Date(at)
  if (Number.isNaN(date.getTime())) return '?'
  const two = (n: number) => String(n).padStart(2, '0')
  const clock = `${two(date.getHours())}:${two(date.getMinutes())}:${two(date.getSeconds())}`
  return millis ? `${clock}.${String(date.getMilliseconds()).padStart(3, '0')}` : clock
}

/**
 * Seconds from one time (RFC 3339) to another, with the fractions that Date drops; 0 when it is not
 * later.
 */
export function secondsBetween(from: string, to: string): number {
  const whole = (at: string) => Math.floor(Date.parse(at) / 1000)
  const fraction = (at: string) => Number(/\.\d+/.exec(at)?.[0] ?? 0)
  const seconds = whole(to) - whole(from) + (fraction(to) - fraction(from))
  return seconds > 0 ? seconds : 0
}

/** The local date and time, for what may be older than a day: "2026-01-02 10:42:18". */
export function formatMoment(at: string): string {
  const date = new Date(at)
  if (Number.isNaN(date.getTime())) return '?'
  const two = (n: number) => String(n).padStart(2, '0')
  return `${date.getFullYear()}-${two(date.getMonth() + 1)}-${two(date.getDate())} ${formatClock(at, false)}`
}
