// The scheduling queue's lengths, out of what /metrics says.

export const queues = ['active', 'backoff', 'unschedulable', 'gated'] as const
export type QueueName = (typeof queues)[number]

/** scheduler_pending_pods by queue; undefined when the text has none. */
export function queueGauges(metrics: string): Record<QueueName, number> | undefined {
  const found = new Map<string, number>()
  for (const [, queue, value] of metrics.matchAll(/^scheduler_pending_pods\{queue="(\w+)"\} ([\d.e+]+)$/gm)) found.set(queue ?? '', Number(value))
  if (!found.size) return undefined
  return { active: found.get('active') ?? 0, backoff: found.get('backoff') ?? 0, unschedulable: found.get('unschedulable') ?? 0, gated: found.get('gated') ?? 0 }
}
