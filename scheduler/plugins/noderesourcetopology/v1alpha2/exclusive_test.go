package v1alpha2

import (
	"testing"

	v1 "k8s.io/api/core/v1"
	st "k8s.io/kubernetes/pkg/scheduler/testing"
	"k8s.io/utils/ptr"
)

// TestExclusiveContainers: what makes a container hold something alone.
func TestExclusiveContainers(t *testing.T) {
	type list = map[v1.ResourceName]string
	topology := two()
	topology.Zones[0].Resources = []Amounts{{Name: "cpu"}, {Name: "memory"}, {Name: "example.com/gpu"}}
	topology.Zones = append(topology.Zones, Zone{Name: "socket-0", Type: "Socket", Resources: []Amounts{{Name: "example.com/nic"}}})
	for _, c := range []struct {
		name       string
		guaranteed bool
		requests   list
		role       string
		want       bool
	}{
		{name: "whole CPUs and memory", guaranteed: true, requests: list{"cpu": "2", "memory": "1Gi"}, want: true},
		{name: "memory", guaranteed: true, requests: list{"cpu": "500m", "memory": "1Gi"}, want: true},
		{name: "Burstable", requests: list{"cpu": "2", "memory": "1Gi", "hugepages-2Mi": "2Mi"}},
		{name: "a device that a zone lists", requests: list{"example.com/gpu": "1"}, want: true},
		{name: "none of it", requests: list{"example.com/gpu": "0"}},
		{name: "one that no NUMA node lists", requests: list{"example.com/nic": "1"}},
		{name: "an init container", requests: list{"example.com/gpu": "1"}, role: "init"},
		{name: "a sidecar", requests: list{"example.com/gpu": "1"}, role: "sidecar", want: true},
		{name: "nothing"},
	} {
		one := st.MakeContainer().Name("c").Resources(c.requests).Obj()
		if !c.guaranteed {
			one.Resources.Limits = nil
		}
		pod := st.MakePod().Obj()
		switch c.role {
		case "":
			pod.Spec.Containers = []v1.Container{one}
		case "sidecar":
			one.RestartPolicy = ptr.To(v1.ContainerRestartPolicyAlways)
			fallthrough
		default:
			pod.Spec.InitContainers = []v1.Container{one}
		}
		if got := len(topology.ExclusiveContainers(pod)) > 0; got != c.want {
			t.Errorf("%s: %v", c.name, got)
		}
	}
	var none *NodeResourceTopology
	gpu := st.MakePod().Containers([]v1.Container{st.MakeContainer().Resources(list{"example.com/gpu": "1"}).Obj()}).Obj()
	if len(none.ExclusiveContainers(gpu)) > 0 {
		t.Error("without a topology, no zone lists a device")
	}
}
