import { expect, it } from 'vitest'
import { queueGauges } from './queueGauges'

it('reads the queue’s lengths, and tells nothing from 0', () => {
  expect(queueGauges('# HELP x\nscheduler_pending_pods{queue="active"} 3\nscheduler_pending_pods{queue="unschedulable"} 1.2e+03\n')).toEqual({ active: 3, backoff: 0, unschedulable: 1200, gated: 0 })
  expect(queueGauges('up 1\n')).toBeUndefined()
})
