// Small steps for tests.

import type { Step } from '@/api/timeline'

export const clock = (seconds: number) => new Date(Date.UTC(2026, 0, 1, 10, 0, seconds)).toISOString()

/** A step, `moment` seconds after ten o’clock. */
export function step(moment: number, more: Partial<Step> = {}): Step {
  return {
    moment,
    time: clock(moment),
    kind: 'change',
    verb: 'create',
    objects: [{ apiVersion: 'v1', kind: 'Pod', namespace: 'default', name: `web-${moment}` }],
    count: 1,
    by: 'web',
    ...more,
  }
}
