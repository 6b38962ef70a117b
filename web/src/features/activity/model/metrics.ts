// Numbers out of the Prometheus text format: the scheduler's queues.

/** One line of a metric: its labels and its value. */
export interface Sample {
  labels: Record<string, string>
  value: number
}

/** The samples of one metric, in the order of the text. */
export function samplesOf(text: string, metric: string): Sample[] {
  const out: Sample[] = []
  for (const line of text.split('\n')) {
    if (!line.startsWith(metric)) continue
    const match = /^\{(.*)\} ([^ ]+)/.exec(line.slice(metric.length))
    if (!match) continue
    const labels: Record<string, string> = {}
    for (const [, name = '', value = ''] of (match[1] ?? '').matchAll(/(\w+)="((?:[^"\\]|\\.)*)"/g)) labels[name] = value.replace(/\\(.)/g, '$1')
    out.push({ labels, value: Number(match[2]) })
  }
  return out
}

const queues = ['active', 'backoff', 'unschedulable', 'gated'] as const
/** Where members of pod groups are kept besides; told only when some are there. */
const groupQueues = ['incomplete', 'pending'] as const
export type Queue = (typeof queues)[number] | (typeof groupQueues)[number]

export interface QueueState {
  queue: Queue
  pods: number
  /** What moved pods into it since the scheduler started, most first. */
  events: { event: string; count: number }[]
}

/** The scheduling queue as the scheduler's own metrics tell it; undefined when they do not. */
export function readQueues(text: string): QueueState[] | undefined {
  const pending = samplesOf(text, 'scheduler_pending_pods')
  if (!pending.length) return undefined
  const incoming = samplesOf(text, 'scheduler_queue_incoming_pods_total')
  const podsIn = (queue: Queue) => pending.filter((s) => s.labels.queue === queue).reduce((sum, s) => sum + s.value, 0)
  return [...queues, ...groupQueues.filter(podsIn)].map((queue) => ({
    queue,
    pods: podsIn(queue),
    events: incoming
      .filter((s) => s.labels.queue === queue && s.value > 0)
      .map((s) => ({ event: s.labels.event ?? '', count: s.value }))
      .sort((a, b) => b.count - a.count || (a.event < b.event ? -1 : 1)),
  }))
}
