// Attempts of members, for tests.

import type { Pod, Summary } from '@/api/types'
import { groupLabel } from '@/kubernetes/batch'

export function member(name: string, more: { group?: string; spec?: Pod['spec']; status?: Pod['status'] } = {}): Pod {
  return {
    metadata: { namespace: 'ml', name, uid: name, labels: { [groupLabel]: more.group ?? 'pretrain' } },
    spec: more.spec ?? {},
    status: more.status ?? {},
  }
}

/** Seconds after 10:00:00. */
export const at = (seconds: number) => new Date(Date.UTC(2026, 0, 2, 10, 0, 0) + seconds * 1000).toISOString()

export function attempt(name: string, seconds: number, more: Partial<Summary> & Pick<Summary, 'outcome'>): Summary {
  return {
    pod: { namespace: 'ml', name, uid: name },
    attempt: 1,
    profile: 'default-scheduler',
    revision: 1,
    startTime: at(seconds),
    durationSeconds: 0.001,
    nodes: { total: 3, evaluated: 3, feasible: 0 },
    ...more,
  } as Summary
}

export const waiting = (name: string, seconds: number, node = 'node-a') =>
  attempt(name, seconds, {
    outcome: 'waiting',
    selectedNode: node,
    refusal: { extensionPoint: 'permit', plugin: 'Coscheduling' },
  })
export const noNode = (name: string, seconds: number) =>
  attempt(name, seconds, {
    outcome: 'unschedulable',
    refusal: { extensionPoint: 'filter', plugin: 'NodeResourcesFit', reason: 'Insufficient cpu', nodes: 3 },
  })
export const sentBack = (name: string, seconds: number) =>
  attempt(name, seconds, {
    outcome: 'unschedulable',
    selectedNode: 'node-a',
    refusal: { extensionPoint: 'permit', plugin: 'Coscheduling', reason: 'optimistic rejection in PostFilter' },
  })
export const tooFew = (name: string, seconds: number) =>
  attempt(name, seconds, {
    outcome: 'unschedulable',
    refusal: { extensionPoint: 'preFilter', plugin: 'Coscheduling', reason: 'cannot find enough sibling pods' },
  })
export const scheduled = (name: string, seconds: number, node = 'node-a') =>
  attempt(name, seconds, { outcome: 'scheduled', selectedNode: node })
