// The transport of a replay: its position on the recorded clock, and how to display it.

export interface Span {
  /** RFC 3339. */
  start: string
  end: string
}

/** The slider's resolution: fine enough for a pixel of a wide window. */
export const steps = 2000

const ms = (at: string): number => Date.parse(at)

/** The length of the recording in seconds; 0 when it holds one instant or none. */
export function lengthOf({ start, end }: Span): number {
  const length = (ms(end) - ms(start)) / 1000
  return Number.isFinite(length) && length > 0 ? length : 0
}

/** The slider position of a time, from 0 to steps. */
export function sliderAt(span: Span, at: string): number {
  const length = lengthOf(span)
  if (!length) return steps
  return Math.round(clamp((ms(at) - ms(span.start)) / 1000 / length, 0, 1) * steps)
}

/** The time at a slider position. Both ends map exactly to those of the recording, regardless of rounding. */
export function timeAt(span: Span, slider: number): string {
  if (slider <= 0) return span.start
  if (slider >= steps) return span.end
  return new Date(ms(span.start) + (slider / steps) * lengthOf(span) * 1000).toISOString()
}

/** The time `seconds` later, limited to the recording. */
export function movedBy(span: Span, at: string, seconds: number): string {
  const to = ms(at) + seconds * 1000
  if (to <= ms(span.start)) return span.start
  return to >= ms(span.end) ? span.end : new Date(to).toISOString()
}

/** The step of an arrow key in seconds: a hundredth of the recording, rounded to a round number. */
export function arrowStep(span: Span): number {
  const rounds = [1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 1800, 3600]
  const wanted = lengthOf(span) / 100
  return rounds.find((r) => r >= wanted) ?? 3600
}

/** Time since the start: "0:04", "12:07", "3:05:00". */
export function formatOffset(span: Span, at: string): string {
  const total = Math.max(0, Math.floor((ms(at) - ms(span.start)) / 1000)) || 0
  const two = (n: number) => String(n).padStart(2, '0')
  const [h, m, s] = [Math.floor(total / 3600), Math.floor(total / 60) % 60, total % 60]
  return h ? `${h}:${two(m)}:${two(s)}` : `${m}:${two(s)}`
}

/** The recorded clock in the user's time zone, with the day if the recording spans several. */
export function formatRecorded(span: Span, at: string): string {
  const date = new Date(at)
  if (Number.isNaN(date.getTime())) return '?'
  const two = (n: number) => String(n).padStart(2, '0')
  const clock = `${two(date.getHours())}:${two(date.getMinutes())}:${two(date.getSeconds())}`
  const sameDay = new Date(span.start).toDateString() === new Date(span.end).toDateString()
  return sameDay ? clock : `${two(date.getMonth() + 1)}-${two(date.getDate())} ${clock}`
}

/** 1 is real time, 0 is as fast as possible. */
export const speeds = [1, 10, 100, 0] as const

function clamp(value: number, least: number, most: number): number {
  return Number.isNaN(value) ? least : Math.min(most, Math.max(least, value))
}
