// Schedulers beside kube-scheduler, by the schedulerName of their pods.

export const sessionSchedulers = ['kube-batch', 'volcano'] as const
export const flowScheduler = 'poseidon'

/**
 * What the page Sessions shows about a scheduler: its sessions, or the rounds of the flow.
 * undefined for kube-scheduler’s profiles.
 */
export function boardOfScheduler(name: string): { name: 'sessions'; query: Record<string, string> } | undefined {
  if (name === flowScheduler) return { name: 'sessions', query: { view: 'flow' } }
  return (sessionSchedulers as readonly string[]).includes(name)
    ? { name: 'sessions', query: { scheduler: name } }
    : undefined
}
