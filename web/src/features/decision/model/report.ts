// Where a decision is to be had as a file that opens without a server.

import { based } from '@/api/base'
import type { Cycle } from '@/api/types'

type Named = Pick<Cycle, 'pod' | 'attempt'>

/** The address of the file; with another decision, it compares both. */
export function reportHref(
  { pod, attempt }: Named,
  { other, redacted }: { other?: Named | undefined; redacted?: boolean } = {}
): string {
  const query = new URLSearchParams({ format: 'html' })
  if (other) query.set('other', `${other.pod.uid}/${other.attempt}`)
  if (redacted) query.set('redact', 'true')
  return based(`/api/v1/results/${pod.uid}/${attempt}?${query.toString()}`)
}
