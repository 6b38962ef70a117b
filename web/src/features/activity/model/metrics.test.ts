import { describe, expect, it } from 'vitest'
import { readQueues } from './metrics'

describe('readQueues', () => {
  const text = `# HELP scheduler_pending_pods [STABLE] Number of pending pods.
scheduler_pending_pods{queue="active"} 2
scheduler_pending_pods{queue="gated"} 1
scheduler_pending_pods{queue="unschedulable"} 30
scheduler_queue_incoming_pods_total{event="UnscheduledPodAdd",queue="active"} 33
scheduler_queue_incoming_pods_total{event="ScheduleAttemptFailure",queue="unschedulable"} 60
`
  it('reads how many pods are in each queue and what moved them there', () => {
    expect(readQueues(text)?.map((q) => `${q.queue} ${q.pods} ${q.events.map((e) => `${e.event} ${e.count}`).join()}`)).toEqual([
      'active 2 UnscheduledPodAdd 33',
      'backoff 0 ',
      'unschedulable 30 ScheduleAttemptFailure 60',
      'gated 1 ',
    ])
  })
  it('tells where members of pod groups are kept, when some are', () => {
    expect(readQueues(`${text}scheduler_pending_pods{queue="incomplete"} 2\nscheduler_pending_pods{queue="pending"} 0\n`)?.map((q) => q.queue)).toEqual(['active', 'backoff', 'unschedulable', 'gated', 'incomplete'])
  })
  it('knows when there is nothing to read', () => {
    expect(readQueues('go_goroutines 5\n')).toBeUndefined()
  })
})
