// Small pods and nodes for tests.

import type { Node, Pod } from '@/api/types'

export function pod(name: string, spec: Pod['spec'] = {}, status: Pod['status'] = {}, metadata: Partial<Pod['metadata']> = {}): Pod {
  return { metadata: { namespace: 'default', name, ...metadata }, spec, status }
}

export function requests(cpu: string, memory = '1Gi'): NonNullable<Pod['spec']> {
  return { containers: [{ name: 'c', resources: { requests: { cpu, memory } } }] }
}

export function node(name: string, labels: Record<string, string> = {}, allocatable: Record<string, string> = { cpu: '8', memory: '32Gi', pods: '110' }): Node {
  return { metadata: { name, labels }, status: { allocatable, conditions: [{ type: 'Ready', status: 'True' }] } }
}
