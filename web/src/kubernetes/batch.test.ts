import { describe, expect, it } from 'vitest'
import type { Pod } from '@/api/types'
import { boardOf, coschedulingGroupKind, groupOf, groupText, nativeGroupKind, quotaKind, topologyKind } from './batch'
import { podKind } from './kinds'

describe('groupOf', () => {
  const pod = (labels: Record<string, string>, podGroupName?: string): Pod => ({
    metadata: { name: 'p', namespace: 'ml', labels },
    spec: podGroupName ? { schedulingGroup: { podGroupName } } : {},
  })

  it('reads the label of Coscheduling and the field of Kubernetes', () => {
    expect(groupOf(pod({ 'scheduling.x-k8s.io/pod-group': 'pretrain' }))).toEqual({
      system: 'coscheduling',
      namespace: 'ml',
      name: 'pretrain',
    })
    expect(groupOf(pod({}, 'moe'))).toEqual({ system: 'native', namespace: 'ml', name: 'moe' })
    expect(groupOf(pod({ app: 'web' }))).toBeUndefined()
  })
  it('names the system in a URL only for Kubernetes’ own groups', () => {
    expect([
      groupText({ system: 'coscheduling', namespace: 'ml', name: 'pretrain' }),
      groupText({ system: 'native', namespace: 'ml', name: 'moe' }),
    ]).toEqual(['ml/pretrain', 'native/ml/moe'])
  })
})

it('knows the board of each kind, in whatever version', () => {
  expect(
    [coschedulingGroupKind, { ...nativeGroupKind, version: 'v1' }, quotaKind, topologyKind, podKind].map(boardOf)
  ).toEqual(['gangs', 'gangs', 'quotas', 'numa', undefined])
})
