import { describe, expect, it } from 'vitest'
import type { Pod, Toleration } from '@/api/types'
import { aftermath, failureOf, taintOf } from './failure'
import { node, pod } from '@/kubernetes/testing'

const failing = (status: string, reason: string) => ({
  ...node('n'),
  status: { conditions: [{ type: 'Ready', status, reason }] },
})

describe('a failure on demand', () => {
  it('is recognised by the reason of the Ready condition', () => {
    expect(failureOf(failing('False', 'FailureOnDemand'))).toBe('not-ready')
    expect(failureOf(failing('Unknown', 'FailureOnDemand'))).toBe('unreachable')
    expect(failureOf(failing('False', 'KubeletNotReady'))).toBeUndefined()
    expect(failureOf(node('n'))).toBeUndefined()
    expect(failureOf(undefined)).toBeUndefined()
  })
  it('has its taint', () => expect(taintOf('unreachable')).toBe('node.kubernetes.io/unreachable'))
})

const tolerating = (...tolerations: Toleration[]): Pod => pod('p', { tolerations })
const byDefault: Toleration[] = ['not-ready', 'unreachable'].map((f) => ({
  key: `node.kubernetes.io/${f}`,
  operator: 'Exists',
  effect: 'NoExecute',
  tolerationSeconds: 300,
}))

describe('the eviction of the pods', () => {
  it('happens after five minutes with the tolerations that the API server adds', () => {
    expect(aftermath([tolerating(...byDefault), tolerating(...byDefault)], 'not-ready')).toEqual({
      evicted: [{ seconds: 300, pods: 2 }],
      staying: 0,
    })
  })
  it('follows their own tolerations, the shortest of those that match', () => {
    const pods = [
      tolerating(),
      tolerating({ key: 'node.kubernetes.io/unreachable', operator: 'Exists', tolerationSeconds: 60 }, ...byDefault),
      tolerating({ operator: 'Exists' }),
      tolerating({ key: 'node.kubernetes.io/unreachable', operator: 'Exists', effect: 'NoSchedule' }),
      tolerating({ key: 'node.kubernetes.io/unreachable', operator: 'Equal', value: 'x', effect: 'NoExecute' }),
    ]
    expect(aftermath(pods, 'unreachable')).toEqual({
      evicted: [
        { seconds: 0, pods: 3 },
        { seconds: 60, pods: 1 },
      ],
      staying: 1,
    })
  })
  it('leaves out pods that have ended', () => {
    expect(aftermath([pod('done', {}, { phase: 'Succeeded' })], 'not-ready')).toEqual({ evicted: [], staying: 0 })
  })
})
