// Parts of the templates' manifests, as text, so that they can carry comments.

export const documents = (...parts: readonly string[]) => parts.join('---\n')

export interface NodeOptions {
  name: string
  labels?: Record<string, string>
  annotations?: Record<string, string>
  taint?: { key: string; value: string }
  cpu?: string
  /** How it is cut into NUMA nodes. It turns Ready when it has published its topology. */
  numa?: string
}

const map = (name: string, entries: Record<string, string>) => {
  const lines = Object.entries(entries).map(([key, value]) => `    ${key}: ${value}\n`)
  return lines.length ? `  ${name}:\n${lines.join('')}` : ''
}

export function nodeText({ name, labels = {}, annotations = {}, taint, cpu = '8', numa }: NodeOptions): string {
  const cut: Record<string, string> = numa ? { 'kube-scheduler-simulator.sigs.k8s.io/numa': `'${numa}'` } : {}
  const ready = numa ? '' : '  conditions:\n  - type: Ready\n    status: "True"\n    reason: KubeletReady\n'
  const taints = taint
    ? `spec:\n  taints:\n  - key: ${taint.key}\n    value: ${taint.value}\n    effect: NoSchedule\n`
    : ''
  return `apiVersion: v1
kind: Node
metadata:
  name: ${name}
${map('labels', { 'kubernetes.io/hostname': name, ...labels })}${map('annotations', { ...annotations, ...cut })}${taints}status:
  capacity:
    cpu: "${cpu}"
    memory: 32Gi
    pods: "110"
  allocatable:
    cpu: "${cpu}"
    memory: 32Gi
    pods: "110"
${ready}`
}

export interface PodOptions {
  name: string
  namespace?: string
  app?: string
  /** In addition to the label app. */
  labels?: Record<string, string>
  /** Lines of the spec, indented by two spaces. */
  spec?: string
  cpu?: string
  /** Lines of the container's resources, indented by six spaces. */
  resources?: string
}

export function podText({
  name,
  namespace = 'default',
  app = 'web',
  labels = {},
  spec = '',
  cpu = '500m',
  resources = '',
}: PodOptions): string {
  return `apiVersion: v1
kind: Pod
metadata:
  name: ${name}
  namespace: ${namespace}
${map('labels', { app, ...labels })}spec:
${spec}  containers:
  - name: ${app}
    image: registry.k8s.io/pause:3.10
    resources:
${resources}      requests:
        cpu: ${cpu}
        memory: 512Mi
`
}

export interface WorkloadOptions {
  kind: string
  group: string
  name: string
  /** Lines of the spec, indented by two spaces. */
  spec: string
  /** Lines of the pod's spec, indented by six spaces. */
  pod?: string
  cpu?: string
  /** Lines of the container, indented by eight spaces. */
  container?: string
}

export function workload({ kind, group, name, spec, pod = '', cpu = '500m', container = '' }: WorkloadOptions): string {
  return `apiVersion: ${group}
kind: ${kind}
metadata:
  name: ${name}
  namespace: default
spec:
${spec}  template:
    metadata:
      labels:
        app: ${name}
    spec:
${pod}      containers:
      - name: main
        image: registry.k8s.io/pause:3.10
        resources:
          requests:
            cpu: ${cpu}
            memory: 512Mi
${container}`
}

export const selecting = (name: string) => `  selector:\n    matchLabels:\n      app: ${name}\n`
