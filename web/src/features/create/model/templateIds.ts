// The names of the templates, without their manifests, which load with the dialog.

/** The templates by topic, in the order in which the dialog shows them. */
export const templateTopics = {
  objects: ['pod', 'node', 'taintedNode', 'namespace', 'priorityClass', 'disruptionBudget', 'customKind'],
  workloads: ['deployment', 'statefulSet', 'daemonSet', 'job'],
  nodes: ['toleration', 'nodeAffinity', 'failingZone'],
  neighbours: ['podAffinity', 'antiAffinity', 'spread'],
  priority: ['fullNode', 'guarded', 'elasticQuota'],
  waiting: ['gates', 'podGroup', 'coscheduling'],
  resources: ['volume', 'claims', 'device', 'numa'],
} as const
export type TemplateTopic = keyof typeof templateTopics
export type TemplateId = (typeof templateTopics)[TemplateTopic][number]
export const templateIds: readonly TemplateId[] = Object.values(templateTopics).flat()

/**
 * The most typical template of a resource. Kinds without one start from the required fields of
 * their schema.
 */
export const templateOfResource: Readonly<Record<string, TemplateId>> = {
  nodes: 'node',
  pods: 'pod',
  'deployments.apps': 'deployment',
  'statefulsets.apps': 'statefulSet',
  'daemonsets.apps': 'daemonSet',
  'jobs.batch': 'job',
  'priorityclasses.scheduling.k8s.io': 'priorityClass',
  namespaces: 'namespace',
  persistentvolumes: 'volume',
  persistentvolumeclaims: 'volume',
  'storageclasses.storage.k8s.io': 'volume',
  'poddisruptionbudgets.policy': 'disruptionBudget',
  'resourceclaims.resource.k8s.io': 'device',
  'resourceslices.resource.k8s.io': 'device',
  'deviceclasses.resource.k8s.io': 'device',
  'customresourcedefinitions.apiextensions.k8s.io': 'customKind',
}
