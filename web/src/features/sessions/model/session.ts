// A session as the page shows it: bars, sentences and the look of decisions.

import type { Session, SessionDecision, SessionGiver, SessionJob, SessionQueue } from '@/api/types'
import { scaleTo, type Bar } from '@/features/batch/model/bars'
import { keyOf } from '@/kubernetes/object'
import { formatResource } from '@/kubernetes/quantity'
import type { Words } from '@/kubernetes/sessionJob'

/** A name without its namespace. */
export const shortOf = (key: string | undefined): string => (key ?? '').split('/').at(-1) ?? ''

/** The queue's colour, the same in the whole session. */
export const colourOf = (queues: readonly SessionQueue[], name: string | undefined): string => {
  const index = queues.findIndex((one) => one.name === name)
  return `var(--c${(index < 0 ? 0 : index + 1) % 10})`
}

/** Queues with jobs, which take part in the session. */
export const queuesWithJobs = ({ queues, jobs }: Session): SessionQueue[] =>
  queues.filter(({ name }) => jobs.some(({ queue }) => queue === name))

/** The resources that are worth a view: those of which the cluster has some, CPU and memory first. */
export function resourcesOf({ total }: Session): string[] {
  const rank = (name: string) => ['cpu', 'memory'].indexOf(name)
  return Object.keys(total)
    .filter((name) => (total[name] ?? 0) > 0)
    .sort((a, b) => (rank(a) < 0 ? 2 : rank(a)) - (rank(b) < 0 ? 2 : rank(b)) || a.localeCompare(b))
}

/** The job that the page tells about: the chosen one, or else the first that does not run. */
export const jobToTell = ({ jobs }: Session, chosen: string): SessionJob | undefined =>
  chosen ? jobs.find((one) => keyOf(one) === chosen) : jobs.find(({ why }) => why)

/**
 * How much of a resource a queue holds, beside what it deserves and asks for; most is the amount at
 * the bar's right end.
 */
export function queueBar(allocated: number, deserved: number | undefined, asks: number, most: number): Bar {
  const { stretch, mark } = scaleTo(most)
  const share = deserved ?? allocated
  return {
    stretches: [
      ...stretch('share', 0, share),
      ...stretch('room', share, asks),
      ...stretch('used', 0, Math.min(allocated, share)),
      ...stretch('over', share, allocated),
    ],
    marks: mark('share', deserved),
  }
}

export const mostOf = (queues: readonly SessionQueue[], resource: string): number =>
  Math.max(
    0,
    ...queues.flatMap(({ before, after, request, deserved }) =>
      [before, after, request, deserved ?? {}].map((amounts) => amounts[resource] ?? 0)
    )
  )

export const giverText = ({ queue, job, amount }: SessionGiver, resource: string, words: Words): string =>
  words(job ? 'sessions.giver.job' : 'sessions.giver.queue', {
    name: job ? shortOf(job) : queue,
    amount: `${formatResource(resource, amount)} ${resource}`,
  })

/** The look of a decision: its glyph, its tone, and the frame of its card. */
export interface Look {
  icon: string
  tone: 'pass' | 'rej' | 'warn' | ''
  frame: 'yes' | 'cut' | 'off' | 'undo' | ''
}

export function lookOf({ kind, bound }: SessionDecision): Look {
  switch (kind) {
    case 'enqueued':
      return { icon: 'arrow', tone: 'pass', frame: '' }
    case 'allocated':
      return bound ? { icon: 'check', tone: 'pass', frame: 'yes' } : { icon: 'pause', tone: 'warn', frame: '' }
    case 'committed':
      return { icon: 'check', tone: 'pass', frame: 'yes' }
    case 'pipelined':
      return { icon: 'pin', tone: 'warn', frame: '' }
    case 'kept':
      return { icon: 'clock', tone: 'warn', frame: '' }
    case 'discarded':
      return { icon: 'reset', tone: 'rej', frame: 'undo' }
    case 'skipped':
      return { icon: 'skip', tone: '', frame: 'off' }
    default:
      return { icon: 'x', tone: 'rej', frame: 'cut' }
  }
}

/** What a decision is about: a task, a job, or a queue. */
export const subjectOf = ({ task, job, queue }: SessionDecision): string => shortOf(task ?? job) || (queue ?? '')

/** What was decided and why. Texts that plugins wrote follow unchanged. */
export function decisionText(decision: SessionDecision, words: Words): string {
  const {
    reason = '',
    node = '',
    resource = '',
    have,
    want,
    count = 0,
    of = 0,
    plugin = '',
    text = '',
    victims = [],
    queue = '',
    bound,
  } = decision
  const amount = (value: number | undefined) => `${formatResource(resource, value)} ${resource}`
  const named = {
    node,
    plugin,
    text,
    queue,
    have: amount(have),
    want: amount(want),
    count,
    of,
    victims: victims.map(({ task }) => shortOf(task)).join(' '),
    n: victims.length,
  }
  const key = (): string => {
    if (reason === 'idle') return bound ? 'idleBound' : 'idleHeld'
    if (reason === 'noRoom') return resource ? 'noRoom' : 'noRoomText'
    if (reason === 'overused') return resource ? 'overused' : 'overusedPlain'
    if (reason === 'queueLimit') return resource ? 'queueLimit' : 'queueClosed'
    if (reason === 'releasing' && !node) return 'releasingNowhere'
    if (reason === 'gangPipelined')
      return decision.kind === 'kept' ? 'gangKept' : victims.length ? 'gangCommitted' : 'gangFits'
    if (reason === 'gangNotReady') return victims.length ? 'gangUndone' : 'gangNotReady'
    return reason
  }
  return words(`sessions.reason.${key()}`, named)
}

export const decisionsAbout = (decisions: readonly SessionDecision[], job: string): readonly SessionDecision[] =>
  job ? decisions.filter((one) => one.job === job || (!one.job && !one.task)) : decisions
