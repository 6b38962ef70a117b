// What a session says about a job.

import type { SessionJob, SessionWhy } from '@/api/types'
import { formatResource } from './quantity'

/** Returns a message in the language of the page. */
export type Words = (key: string, named: Record<string, string | number>) => string

/** Why a job does not run, as one sentence. */
export function whyText(job: Pick<SessionJob, 'name'>, why: SessionWhy, words: Words): string {
  const { code, queue, resource = '', missing = 0, needed, placed, role = '', plugin = '', reason = '' } = why
  const key = code === 'pieces' && !missing ? 'piecesFit' : code === 'tooFewPods' && role ? 'tooFewOfRole' : code
  return words(`sessions.why.${key}`, {
    job: job.name,
    queue,
    amount: `${formatResource(resource, missing)} ${resource}`,
    needed,
    placed,
    role,
    plugin,
    reason,
  })
}
