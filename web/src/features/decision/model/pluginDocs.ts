// Where Kubernetes documents what a plugin does in Filter and in Score.

const docs = 'https://kubernetes.io/docs/'
const reference = 'reference/scheduling/config/#scheduling-plugins'

/** The pages of plugins, by name; a second page is about scores. */
const pages: Record<string, readonly [filter: string, score?: string]> = {
  NodeName: ['concepts/scheduling-eviction/assign-pod-node/#nodename'],
  NodeUnschedulable: ['concepts/architecture/nodes/#manual-node-administration'],
  TaintToleration: ['concepts/scheduling-eviction/taint-and-toleration/'],
  NodeAffinity: ['concepts/scheduling-eviction/assign-pod-node/#node-affinity'],
  NodePorts: [reference],
  NodeResourcesFit: [
    'concepts/configuration/manage-resources-containers/#how-pods-with-resource-requests-are-scheduled',
    'concepts/scheduling-eviction/resource-bin-packing/',
  ],
  NodeResourcesBalancedAllocation: [reference],
  ImageLocality: [reference],
  VolumeRestrictions: ['concepts/storage/persistent-volumes/#access-modes'],
  NodeVolumeLimits: ['concepts/storage/storage-limits/'],
  VolumeBinding: ['concepts/storage/storage-classes/#volume-binding-mode', 'concepts/storage/storage-capacity/'],
  VolumeZone: ['setup/best-practices/multiple-zones/#storage-access-for-zones'],
  PodTopologySpread: ['concepts/scheduling-eviction/topology-spread-constraints/'],
  InterPodAffinity: ['concepts/scheduling-eviction/assign-pod-node/#inter-pod-affinity-and-anti-affinity'],
  DynamicResources: ['concepts/scheduling-eviction/dynamic-resource-allocation/'],
  NodeDeclaredFeatures: ['concepts/scheduling-eviction/node-declared-features/'],
}

/** undefined for a plugin that is not part of Kubernetes. */
export function docsOf(plugin: string, table: 'filter' | 'score'): string | undefined {
  const page = pages[plugin]
  return page && `${docs}${(table === 'score' ? page[1] : undefined) ?? page[0]}`
}
