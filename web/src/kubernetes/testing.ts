// Small pods, nodes and clusters for tests.

import type { Node, Pod } from '@/api/types'
import { clusterOf, type ClusterView } from './cluster'

export function pod(
  name: string,
  spec: Pod['spec'] = {},
  status: Pod['status'] = {},
  metadata: Partial<Pod['metadata']> = {}
): Pod {
  return { metadata: { namespace: 'default', name, ...metadata }, spec, status }
}

export function requests(cpu: string, memory = '1Gi'): NonNullable<Pod['spec']> {
  return { containers: [{ name: 'c', resources: { requests: { cpu, memory } } }] }
}

export function node(
  name: string,
  labels: Record<string, string> = {},
  allocatable: Record<string, string> = { cpu: '8', memory: '32Gi', pods: '110' }
): Node {
  return { metadata: { name, labels }, status: { allocatable, conditions: [{ type: 'Ready', status: 'True' }] } }
}

/** The view of two complete Maps. */
export function buildCluster(nodes: ReadonlyMap<string, Node>, pods: ReadonlyMap<string, Pod>): ClusterView {
  return clusterOf(nodes.values(), pods.values())
}
