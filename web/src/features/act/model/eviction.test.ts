import { describe, expect, it } from 'vitest'
import type { Node, Taint, Toleration } from '@/api/types'
import { node, pod } from '@/kubernetes/testing'
import { evictionOf, evictionsOn, timeLeft } from './eviction'

const notReady: Taint = { key: 'node.kubernetes.io/not-ready', effect: 'NoExecute', timeAdded: '2026-01-02T03:00:00Z' }
const forFiveMinutes: Toleration = {
  key: 'node.kubernetes.io/not-ready',
  operator: 'Exists',
  effect: 'NoExecute',
  tolerationSeconds: 300,
}
const tainted = (...taints: Taint[]): Node => ({ ...node('n'), spec: { taints } })
const on = (tolerations: readonly Toleration[], boundAt = '2026-01-02T02:00:00Z', name = 'p') =>
  pod(
    name,
    { nodeName: 'n', tolerations: [...tolerations] },
    { conditions: [{ type: 'PodScheduled', status: 'True', lastTransitionTime: boundAt }] }
  )
/** The minute in which the pod is deleted, with its seconds. */
const atOf = (...args: Parameters<typeof evictionOf>) => {
  const eviction = evictionOf(...args)
  return eviction && (eviction.at === undefined ? 'unknown' : new Date(eviction.at).toISOString().slice(14, 19))
}

describe('the eviction of a pod', () => {
  it('comes when the pod has tolerated the taint for long enough', () => {
    expect(atOf(on([forFiveMinutes]), tainted(notReady))).toBe('05:00')
    // A pod that was bound later is tolerated from then on.
    expect(atOf(on([forFiveMinutes], '2026-01-02T03:02:00Z'), tainted(notReady))).toBe('07:00')
    expect(atOf(on([forFiveMinutes, { operator: 'Exists', tolerationSeconds: 60 }]), tainted(notReady))).toBe('01:00')
    expect(evictionOf(on([]), tainted(notReady))).toMatchObject({ seconds: 0 })
  })
  it('does not come for a pod that tolerates the taint forever, is elsewhere, ends or has ended', () => {
    const running = on([forFiveMinutes])
    expect([
      evictionOf(on([{ operator: 'Exists' }]), tainted(notReady)),
      evictionOf(running, tainted({ ...notReady, effect: 'NoSchedule' })),
      evictionOf(running, tainted()),
      evictionOf(running, undefined),
      evictionOf(pod('p', { nodeName: 'other' }), tainted(notReady)),
      evictionOf(
        { ...running, metadata: { ...running.metadata, deletionTimestamp: '2026-01-02T03:01:00Z' } },
        tainted(notReady)
      ),
      evictionOf({ ...running, status: { phase: 'Succeeded' } }, tainted(notReady)),
    ]).toEqual(Array.from({ length: 7 }, () => undefined))
  })
  it('has no time if a user added the taint, whose time the API server does not note', () => {
    const maintenance: Taint = { key: 'maintenance', value: 'soon', effect: 'NoExecute' }
    const tolerating: Toleration = { key: 'maintenance', value: 'soon', effect: 'NoExecute', tolerationSeconds: 90 }
    expect(atOf(on([tolerating]), tainted(maintenance))).toBe('unknown')
    expect(evictionOf(on([{ ...tolerating, value: 'later' }]), tainted(maintenance))).toMatchObject({ seconds: 0 })
  })
  it('keeps to the taint that came first, unless the pod does not tolerate another one', () => {
    const unreachable: Taint = {
      key: 'node.kubernetes.io/unreachable',
      effect: 'NoExecute',
      timeAdded: '2026-01-02T03:01:00Z',
    }
    const short: Toleration = { ...forFiveMinutes, key: unreachable.key, tolerationSeconds: 30 }
    expect(evictionOf(on([forFiveMinutes, short]), tainted(unreachable, notReady))?.taint).toBe(notReady)
    expect(evictionOf(on([forFiveMinutes]), tainted(notReady, unreachable))?.taint).toBe(unreachable)
  })
})

it('finds the pods of a node that are deleted, and the first time', () => {
  const soon = on([{ ...forFiveMinutes, tolerationSeconds: 60 }], undefined, 'soon')
  const late = on([forFiveMinutes], undefined, 'late')
  const found = evictionsOn([late, on([{ operator: 'Exists' }], undefined, 'stays'), soon], tainted(notReady))
  expect([found?.pods.map((p) => p.metadata.name), new Date(found?.first ?? 0).toISOString().slice(14, 19)]).toEqual([
    ['soon', 'late'],
    '01:00',
  ])
  expect(evictionsOn([late], tainted())).toBeUndefined()
})

it.each([
  [252_000, { clock: '4:12' }],
  [3_725_000, { clock: '1:02:05' }],
  [59_001, { clock: '1:00' }],
  [7_200, { seconds: 8 }],
  [-5, { seconds: 0 }],
] as const)('counts %d ms down as people do', (left, shown) =>
  expect(timeLeft(1_000_000 + left, 1_000_000)).toEqual(shown)
)
