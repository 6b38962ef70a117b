package inmemory

import (
	"strings"
	"testing"

	frameworkruntime "k8s.io/kubernetes/pkg/scheduler/framework/runtime"

	"kube-scheduler-simulator/scheduler/config"
	"kube-scheduler-simulator/scheduler/plugins"
	"kube-scheduler-simulator/simulator/scenario"
)

// The annotation of a virtual node publishes its devices, and changes with it.
func TestNodesPublishDevices(t *testing.T) {
	play(t, "", `
- create: {objects: [{apiVersion: resource.k8s.io/v1, kind: DeviceClass, metadata: {name: gpu}, spec: {selectors: [{cel: {expression: 'device.driver == "gpu.example.com"'}}]}}]}
- create: {objects: [{apiVersion: resource.k8s.io/v1, kind: ResourceClaimTemplate, metadata: {name: one-gpu, namespace: default}, spec: {spec: {devices: {requests: [{name: gpu, exactly: {deviceClassName: gpu}}]}}}}]}
- patch: {kind: Node, name: node-2, patch: {metadata: {annotations: {kube-scheduler-simulator.sigs.k8s.io/devices: '[{driver: gpu.example.com, count: 2}]'}}}}
- expect:
  - that: objects("ResourceSlice").size() == 1 && objects("ResourceSlice")[0].spec.devices.size() == 2
- create:
    count: 3
    template:
      apiVersion: v1
      kind: Pod
      metadata: {name: 'p-${i}'}
      spec:
        resourceClaims: [{name: gpu, resourceClaimTemplateName: one-gpu}]
        containers: [{name: main, image: main, resources: {claims: [{name: gpu}]}}]
- wait: settled
- expect:
  - that: objects("ResourceSlice").size() == 1 && objects("ResourceSlice")[0].spec.devices.size() == 2
  - that: pods.filter(p, p.node == "node-2").size() == 2 && pods.filter(p, p.node == "").size() == 1
- patch: {kind: Node, name: node-2, patch: {metadata: {annotations: {kube-scheduler-simulator.sigs.k8s.io/devices: '[{driver: gpu.example.com, count: 3}]'}}}}
- wait: settled
- expect:
  - that: objects("ResourceSlice")[0].spec.pool.generation == 2
  - that: pods.all(p, p.node == "node-2")
- delete: {kind: Node, name: node-2}
- expect:
  - that: objects("ResourceSlice").size() == 0
`)
}

// Custom resources that plugins read get their defaults, and are validated as by an API server.
func TestCustomResourcesAreAdmitted(t *testing.T) {
	const sorts = ", queueSort: {enabled: [{name: Coscheduling}], disabled: [{name: '*'}]}"
	tests := []struct{ name, plugin, more, steps, want string }{
		{"a group", "Coscheduling", sorts, `
- create: {objects: [{apiVersion: scheduling.x-k8s.io/v1alpha1, kind: PodGroup, metadata: {name: g, namespace: default}, spec: {minMember: 2}}]}
- patch: {apiVersion: scheduling.x-k8s.io/v1alpha1, kind: PodGroup, name: g, patch: {spec: {minMember: 3}}}
- expect:
  - that: object("PodGroup.scheduling.x-k8s.io", "g").spec.minMember == 3
`, ""},
		{"a text for a number", "Coscheduling", sorts, `
- create: {objects: [{apiVersion: scheduling.x-k8s.io/v1alpha1, kind: PodGroup, metadata: {name: g, namespace: default}, spec: {minMember: two}}]}
`, "spec.minMember"},
		{"an unknown field", "Coscheduling", sorts, `
- create: {objects: [{apiVersion: scheduling.x-k8s.io/v1alpha1, kind: PodGroup, metadata: {name: g, namespace: default}, spec: {minMembers: 2}}]}
`, `unknown field "spec.minMembers"`},
		{"a quota that is no quantity", "CapacityScheduling", "", `
- create: {objects: [{apiVersion: scheduling.x-k8s.io/v1alpha1, kind: ElasticQuota, metadata: {name: q, namespace: default}, spec: {min: {cpu: much}}}]}
`, "spec.min.cpu"},
		{"a topology without its zones", "NodeResourceTopologyMatch", "", `
- create: {objects: [{apiVersion: topology.node.k8s.io/v1alpha2, kind: NodeResourceTopology, metadata: {name: node-1}}]}
`, "zones: Required value"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			var registry frameworkruntime.Registry = plugins.Registry()
			text := `apiVersion: kube-scheduler-simulator.sigs.k8s.io/v1alpha1
kind: Scenario
metadata: {name: test}
matrix:
  configuration:
  - {apiVersion: kubescheduler.config.k8s.io/v1, kind: KubeSchedulerConfiguration, profiles: [{plugins: {multiPoint: {enabled: [{name: ` + test.plugin + `}]}` + test.more + `}}]}
steps:` + test.steps
			var names []string
			for name := range registry {
				names = append(names, name)
			}
			s, err := scenario.Load([]byte(text), scenario.Options{File: "test.yaml", Parse: func(document []byte) (*config.Configuration, error) {
				return config.ParseWith(document, config.Options{OutOfTree: names})
			}})
			if err != nil {
				t.Fatal(err)
			}
			r := scenario.Run(t.Context(), s, s.Matrix.Combinations()[0], scenario.RunOptions{Engine: Engine(registry)})
			if test.want == "" && r.Outcome != scenario.Passed || !strings.Contains(r.Error, test.want) {
				t.Errorf("%s %s, want %q", r.Outcome, r.Error, test.want)
			}
		})
	}
}
