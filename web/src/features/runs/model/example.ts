// The scenario in the editor when a user opens the page for the first time. It needs no files.

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
