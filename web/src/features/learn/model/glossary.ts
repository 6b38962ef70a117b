// The terms of scheduling, each with its lesson and the plugin that it belongs to. Their words are in words.

export interface Term {
  id: TermId
  lesson: string
  plugin?: string
}

const all = {
  pending: { lesson: 'decides' },
  filter: { lesson: 'filters' },
  score: { lesson: 'scores' },
  feasible: { lesson: 'filters' },
  weight: { lesson: 'scores' },
  plugin: { lesson: 'decides' },
  'extension-point': { lesson: 'decides' },
  profile: { lesson: 'scores' },
  request: { lesson: 'filters', plugin: 'NodeResourcesFit' },
  allocatable: { lesson: 'filters', plugin: 'NodeResourcesFit' },
  taint: { lesson: 'taints', plugin: 'TaintToleration' },
  toleration: { lesson: 'taints', plugin: 'TaintToleration' },
  cordon: { lesson: 'taints', plugin: 'NodeUnschedulable' },
  drain: { lesson: 'taints' },
  'node-affinity': { lesson: 'affinity', plugin: 'NodeAffinity' },
  'pod-affinity': { lesson: 'affinity', plugin: 'InterPodAffinity' },
  'pod-anti-affinity': { lesson: 'affinity', plugin: 'InterPodAffinity' },
  'topology-spread': { lesson: 'spreading', plugin: 'PodTopologySpread' },
  'topology-domain': { lesson: 'spreading', plugin: 'PodTopologySpread' },
  priority: { lesson: 'preemption', plugin: 'PrioritySort' },
  preemption: { lesson: 'preemption', plugin: 'DefaultPreemption' },
  'nominated-node': { lesson: 'preemption', plugin: 'DefaultPreemption' },
  pdb: { lesson: 'preemption', plugin: 'DefaultPreemption' },
  queue: { lesson: 'queue' },
  backoff: { lesson: 'queue' },
  'queueing-hint': { lesson: 'queue' },
  'scheduling-gate': { lesson: 'queue', plugin: 'SchedulingGates' },
  extender: { lesson: 'extenders' },
  bind: { lesson: 'decides', plugin: 'DefaultBinder' },
  gang: { lesson: 'gangs' },
  quota: { lesson: 'quotas' },
  fragmentation: { lesson: 'incident' },
} as const
export type TermId = keyof typeof all
export const terms: readonly Term[] = (Object.keys(all) as TermId[]).map((id) => ({ id, ...all[id] }))
