// What is in the editor when a user opens the page for the first time: a scenario that needs no
// files, and a sweep of it.

export const exampleScenario = `apiVersion: kube-scheduler-simulator.sigs.k8s.io/v1alpha1
kind: Scenario
metadata: {name: a-node-fails}
let:
  web: pods.filter(p, p.labels.app == "web")
steps:
- create:
    count: 6
    template:
      apiVersion: v1
      kind: Node
      metadata:
        name: node-\${i}
        labels:
          kubernetes.io/hostname: node-\${i}
          topology.kubernetes.io/zone: zone-\${["a", "b", "c"][i % 3]}
      status:
        allocatable: {cpu: "4", memory: 16Gi, pods: "110"}
- apply:
    objects:
    - apiVersion: apps/v1
      kind: Deployment
      metadata: {name: web}
      spec:
        replicas: 12
        selector: {matchLabels: {app: web}}
        template:
          metadata: {labels: {app: web}}
          spec:
            containers:
            - name: web
              image: registry.example/web:1
              resources: {requests: {cpu: "1", memory: 1Gi}}
- wait: settled
- expect:
  - that: web.all(p, p.node != "")
    say: every web pod has a node
  - that: spread(web, "zone") <= 1
    say: web is spread over the zones
- name: A node fails
  fail: {node: node-1}
- advance: 6m
- wait: settled
- expect:
  - that: web.all(p, p.node != "")
    say: every web pod has a node again
  - that: spread(web, "zone") <= 1
    say: web stays spread
`

/** The name by which a sweep in the editor finds the scenario in the editor. */
export const scenarioFile = 'scenario.yaml'

export const exampleSweep = `apiVersion: kube-scheduler-simulator.sigs.k8s.io/v1alpha1
kind: Sweep
metadata: {name: a-node-fails-weights}
scenario: ${scenarioFile}
seed: 1..3
parameters:
- name: strategy
  plugin: NodeResourcesFit
  args: scoringStrategy.type
  values: [LeastAllocated, MostAllocated]
- name: spread
  plugin: PodTopologySpread
  weight: [off, 2, 5]
- name: fit
  plugin: NodeResourcesFit
  weight: [1, 2, 5, 10]
metrics:
- name: skew
  value: spread(web, "zone")
- name: nodes in use
  value: nodes.filter(n, n.pods > 0).size()
best:
- most: passed
- least: skew
- least: nodes in use
`
