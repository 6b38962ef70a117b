// What a predicted pod asks for and a node offers, as short texts in Kubernetes' own words.

import type { Node, Pod, Taint } from '@/api/types'
import { stringify } from 'yaml'
import { taintText } from '@/features/decision/model/pluginComparison'

/** Labels that every node has, or that the page shows in another way. */
const ordinary = /^(?:(?:beta\.)?kubernetes\.io\/|topology\.kubernetes\.io\/|node\.kubernetes\.io\/|type$)/

/** The labels of a node that tell it from others: key=value. */
export function labelsOf(node: Node): string[] {
  return Object.entries(node.metadata.labels ?? {})
    .filter(([key]) => !ordinary.test(key))
    .map(([key, value]) => (value ? `${key}=${value}` : key))
}

/** The taints of a node but for the one of a cordoned node, which has its own word. */
export function taintsOf({ taints, unschedulable }: { taints: readonly Taint[]; unschedulable: boolean }): Taint[] {
  return taints.filter(({ key }) => !unschedulable || key !== 'node.kubernetes.io/unschedulable')
}

export interface PodGroup {
  /** The labels that pods are selected by, or the pod's name if it has none. */
  name: string
  count: number
}

/** The pods of a node, those with the same labels together. */
export function groupsOf(pods: readonly Pod[]): PodGroup[] {
  const counts = new Map<string, number>()
  for (const { metadata } of pods) {
    const labels = Object.entries(metadata.labels ?? {}).map(([key, value]) => `${key}=${value}`)
    const name = labels.length ? labels.join(',') : metadata.name
    counts.set(name, (counts.get(name) ?? 0) + 1)
  }
  return [...counts].map(([name, count]) => ({ name, count }))
}

/** The tolerations of a pod, as taints are written. */
export function tolerationsOf({ spec }: Pod): string[] {
  return (spec?.tolerations ?? []).map(({ key = '*', operator, value, effect }) =>
    taintText({ key, ...(operator !== 'Exists' && value ? { value } : {}), ...(effect ? { effect } : {}) })
  )
}

/** What the scheduler reads of a pod's spec, as YAML. Images and the like say nothing about the node. */
export function specText({ spec = {} }: Pod): string {
  const { containers, initContainers, ...rest } = spec as Record<string, unknown>
  const own = Object.entries(rest).filter(([key]) => !unread.has(key))
  const resources = [containers].flat().map((container) => {
    const { resources, ports } = (container ?? {}) as Record<string, unknown>
    return { ...(resources ? { resources } : {}), ...(ports ? { ports } : {}) }
  })
  return stringify(
    { spec: { ...Object.fromEntries(own), ...(initContainers ? { initContainers } : {}), containers: resources } },
    { lineWidth: 0 }
  )
}
const unread = new Set([
  'dnsPolicy',
  'restartPolicy',
  'schedulerName',
  'securityContext',
  'serviceAccount',
  'serviceAccountName',
  'terminationGracePeriodSeconds',
  'enableServiceLinks',
  'automountServiceAccountToken',
  'preemptionPolicy',
  'volumes',
])
