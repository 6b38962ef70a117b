// The slider of a weight: from 0, which is off, to 10, or to a larger weight that was typed.

const usualTop = 10
/** Larger weights are accepted by Kubernetes, but say nothing more. */
const largest = 1000

/** The weight at the end of the slider. */
export const reach = (weight: number): number => Math.max(usualTop, weight)

/** The weight at a part of the slider's length. */
export const positionAt = (part: number, top: number): number => Math.round(Math.max(0, Math.min(1, part)) * top)

/** Reads a typed weight; undefined if it is none. */
export function readWeight(text: string): number | undefined {
  return /^\d+$/.test(text.trim()) ? Math.min(largest, Number(text)) : undefined
}
