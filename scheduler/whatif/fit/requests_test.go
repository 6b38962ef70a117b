package fit

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	resourcehelper "k8s.io/component-helpers/resource"
	"k8s.io/utils/ptr"

	"kube-scheduler-simulator/scheduler/podrequest"
)

// asks returns a container with requests, given in pairs of a name and a quantity. A name after
// an equals sign has a limit as high.
func asks(pairs ...string) v1.Container {
	c := v1.Container{Resources: v1.ResourceRequirements{Requests: v1.ResourceList{}}}
	for i := 0; i < len(pairs); i += 2 {
		name := pairs[i]
		if name[0] == '=' {
			name = name[1:]
			if c.Resources.Limits == nil {
				c.Resources.Limits = v1.ResourceList{}
			}
			c.Resources.Limits[v1.ResourceName(name)] = resource.MustParse(pairs[i+1])
		}
		c.Resources.Requests[v1.ResourceName(name)] = resource.MustParse(pairs[i+1])
	}
	return c
}

func sidecar(c v1.Container) v1.Container {
	c.RestartPolicy = ptr.To(v1.ContainerRestartPolicyAlways)
	return c
}

func TestLowerRequest(t *testing.T) {
	for _, test := range []struct {
		name     string
		spec     v1.PodSpec
		resource v1.ResourceName
		to       int64
		want     v1.PodSpec
	}{
		{
			name: "one container", resource: "cpu", to: 6800,
			spec: v1.PodSpec{Containers: []v1.Container{asks("cpu", "7500m", "memory", "1Gi")}},
			want: v1.PodSpec{Containers: []v1.Container{asks("cpu", "6800m", "memory", "1Gi")}},
		},
		{
			name: "containers lose the same share, and the largest gets the rest", resource: "cpu", to: 1000,
			spec: v1.PodSpec{Containers: []v1.Container{asks("cpu", "1"), asks("memory", "1Gi"), asks("cpu", "2")}},
			want: v1.PodSpec{Containers: []v1.Container{asks("cpu", "333m"), asks("memory", "1Gi"), asks("cpu", "667m")}},
		},
		{
			name: "what fits stays", resource: "cpu", to: 3000,
			spec: v1.PodSpec{Containers: []v1.Container{asks("cpu", "1"), asks("cpu", "2")}},
			want: v1.PodSpec{Containers: []v1.Container{asks("cpu", "1"), asks("cpu", "2")}},
		},
		{
			name: "an init container is cut on its own", resource: "memory", to: 1 << 30,
			spec: v1.PodSpec{InitContainers: []v1.Container{asks("memory", "3Gi")}, Containers: []v1.Container{asks("memory", "1Gi")}},
			want: v1.PodSpec{InitContainers: []v1.Container{asks("memory", "1Gi")}, Containers: []v1.Container{asks("memory", "1Gi")}},
		},
		{
			name: "a sidecar runs beside the containers and beside later init containers", resource: "cpu", to: 1000,
			spec: v1.PodSpec{InitContainers: []v1.Container{asks("cpu", "1"), sidecar(asks("cpu", "1")), asks("cpu", "1")}, Containers: []v1.Container{asks("cpu", "1")}},
			want: v1.PodSpec{InitContainers: []v1.Container{asks("cpu", "1"), sidecar(asks("cpu", "500m")), asks("cpu", "500m")}, Containers: []v1.Container{asks("cpu", "500m")}},
		},
		{
			name: "the overhead stays", resource: "cpu", to: 1000,
			spec: v1.PodSpec{Overhead: v1.ResourceList{"cpu": resource.MustParse("200m")}, Containers: []v1.Container{asks("cpu", "2")}},
			want: v1.PodSpec{Overhead: v1.ResourceList{"cpu": resource.MustParse("200m")}, Containers: []v1.Container{asks("cpu", "800m")}},
		},
		{
			name: "the pod's own request", resource: "cpu", to: 1000,
			spec: v1.PodSpec{Resources: ptr.To(asks("cpu", "4").Resources), Containers: []v1.Container{asks("cpu", "2")}},
			want: v1.PodSpec{Resources: ptr.To(asks("cpu", "1").Resources), Containers: []v1.Container{asks("cpu", "1")}},
		},
		{
			name: "a limit on an extended resource follows", resource: "example.com/gpu", to: 1,
			spec: v1.PodSpec{Containers: []v1.Container{asks("=example.com/gpu", "2")}},
			want: v1.PodSpec{Containers: []v1.Container{asks("=example.com/gpu", "1")}},
		},
		{
			name: "nothing is left of a request", resource: "example.com/gpu", to: 0,
			spec: v1.PodSpec{Containers: []v1.Container{asks("=example.com/gpu", "2")}},
			want: v1.PodSpec{Containers: []v1.Container{{Resources: v1.ResourceRequirements{Requests: v1.ResourceList{}, Limits: v1.ResourceList{}}}}},
		},
		{
			name: "a limit would become the request", resource: "cpu", to: 0,
			spec: v1.PodSpec{Containers: []v1.Container{asks("=cpu", "2")}},
			want: v1.PodSpec{Containers: []v1.Container{{Resources: v1.ResourceRequirements{
				Requests: v1.ResourceList{"cpu": resource.MustParse("0")}, Limits: v1.ResourceList{"cpu": resource.MustParse("2")},
			}}}},
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			lowerRequest(&test.spec, test.resource, test.to)
			if diff := cmp.Diff(test.want, test.spec); diff != "" {
				t.Error(diff)
			}
			requests := resourcehelper.PodRequests(&v1.Pod{Spec: test.spec}, resourcehelper.PodResourcesOptions{})
			if got := podrequest.Amount(requests, test.resource); got > test.to {
				t.Errorf("the pod still asks for %d", got)
			}
		})
	}
}
