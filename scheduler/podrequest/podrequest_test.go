package podrequest

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/google/go-cmp/cmp"
	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	resourcehelper "k8s.io/component-helpers/resource"
	"k8s.io/kubernetes/pkg/scheduler/framework"

	"kube-scheduler-simulator/scheduler/result"
)

// The amounts of the containers add up to what Kubernetes counts for the pod, and each of the
// containers matters: with a unit less for it, the pod requests less.
func TestTheContainersMakeTheRequest(t *testing.T) {
	names := []v1.ResourceName{v1.ResourceCPU, v1.ResourceMemory, v1.ResourceEphemeralStorage, "hugepages-2Mi", "example.com/gpu"}
	for seed := range uint64(2000) {
		r := rand.New(rand.NewPCG(seed, 1))
		pod := randomPod(r, names)
		for _, name := range names {
			got := Of(pod, name)
			if want := Amount(resourcehelper.PodRequests(pod, resourcehelper.PodResourcesOptions{}), name); got.Amount != want {
				t.Fatalf("seed %d: the pod requests %d %s, Of says %+v", seed, want, name, got)
			}
			if got.PodLevel == nil && sum(got.Parts)+got.Overhead != got.Amount {
				t.Fatalf("seed %d: the parts do not add up: %+v", seed, got)
			}
			for _, part := range got.Parts {
				less := pod.DeepCopy()
				lower(less, part.Container, name)
				if after := Amount(resourcehelper.PodRequests(less, resourcehelper.PodResourcesOptions{}), name); after >= got.Amount && !tied(pod, name) {
					t.Fatalf("seed %d: with less for %s the pod still requests %d %s: %+v", seed, part.Container, after, name, got)
				}
			}
		}
		verifyScored(t, seed, pod)
	}
}

func verifyScored(t *testing.T, seed uint64, pod *v1.Pod) {
	t.Helper()
	if pod.Spec.Resources != nil {
		return // Kubernetes counts no defaults for a resource that the pod or a container requests.
	}
	info, err := framework.NewPodInfo(pod)
	if err != nil {
		t.Fatal(err)
	}
	counted := info.CalculateResource()
	for name, want := range map[v1.ResourceName]int64{v1.ResourceCPU: counted.Non0CPU, v1.ResourceMemory: counted.Non0Mem} {
		if got := Scored(pod, name); got.Amount != want || sum(got.Parts)+got.Overhead != want {
			t.Fatalf("seed %d: a score counts %d %s, Scored says %+v", seed, want, name, got)
		}
	}
}

func randomPod(r *rand.Rand, names []v1.ResourceName) *v1.Pod {
	amounts := func(most int64) v1.ResourceList {
		out := v1.ResourceList{}
		for _, name := range names {
			if r.IntN(3) > 0 {
				out[name] = *resource.NewMilliQuantity(1000*r.Int64N(most), resource.DecimalSI)
			}
		}
		return out
	}
	pod := &v1.Pod{}
	for i := range 1 + r.IntN(3) {
		pod.Spec.Containers = append(pod.Spec.Containers, v1.Container{Name: fmt.Sprint("c", i), Resources: v1.ResourceRequirements{Requests: amounts(3000)}})
	}
	for i := range r.IntN(4) {
		c := v1.Container{Name: fmt.Sprint("i", i), Resources: v1.ResourceRequirements{Requests: amounts(6000)}}
		if r.IntN(2) == 0 {
			c.RestartPolicy = new(v1.ContainerRestartPolicyAlways)
		}
		pod.Spec.InitContainers = append(pod.Spec.InitContainers, c)
	}
	if r.IntN(4) == 0 {
		pod.Spec.Resources = &v1.ResourceRequirements{Requests: amounts(20000)}
	}
	if r.IntN(4) == 0 {
		pod.Spec.Overhead = amounts(500)
	}
	return pod
}

// lower takes one unit from a container.
func lower(pod *v1.Pod, container string, name v1.ResourceName) {
	for _, list := range [][]v1.Container{pod.Spec.InitContainers, pod.Spec.Containers} {
		for i := range list {
			if list[i].Name == container {
				quantity := list[i].Resources.Requests[name]
				quantity.Sub(resource.MustParse("1"))
				list[i].Resources.Requests[name] = quantity
			}
		}
	}
}

// tied reports whether the pod needs the same at two times.
func tied(pod *v1.Pod, name v1.ResourceName) bool {
	most := Of(pod, name).Amount
	times := 0
	running := pod.DeepCopy()
	var sidecars []v1.Container
	for _, c := range pod.Spec.InitContainers {
		if restarts(&c) {
			sidecars = append(sidecars, c)
			continue
		}
		at := pod.DeepCopy()
		at.Spec.Containers, at.Spec.InitContainers = append([]v1.Container{c}, sidecars...), nil
		if Of(at, name).Amount == most {
			times++
		}
	}
	running.Spec.InitContainers = sidecars
	if Of(running, name).Amount == most {
		times++
	}
	return times > 1
}

// The pod of which it is asked what to lower: the app container is not among the parts.
func TestThePeakNamesTheInitContainerAndTheSidecarsBeforeIt(t *testing.T) {
	cpu := func(name, amount string) v1.Container {
		return v1.Container{Name: name, Resources: v1.ResourceRequirements{Requests: v1.ResourceList{v1.ResourceCPU: resource.MustParse(amount)}}}
	}
	proxy, late := cpu("proxy", "100m"), cpu("late", "50m")
	proxy.RestartPolicy, late.RestartPolicy = new(v1.ContainerRestartPolicyAlways), new(v1.ContainerRestartPolicyAlways)
	pod := &v1.Pod{Spec: v1.PodSpec{InitContainers: []v1.Container{proxy, cpu("migrate", "200m"), late}, Containers: []v1.Container{cpu("web", "100m")}}}
	want := result.PodRequest{Resource: "cpu", Amount: 300, Init: "migrate", Parts: []result.RequestPart{
		{Container: "migrate", Role: result.RoleInit, Amount: 200}, {Container: "proxy", Role: result.RoleSidecar, Amount: 100},
	}}
	if diff := cmp.Diff(want, Of(pod, v1.ResourceCPU)); diff != "" {
		t.Error(diff)
	}
}

func TestFragmentation(t *testing.T) {
	amounts := func(cpu, memory float64) map[string]float64 {
		return map[string]float64{"cpu": cpu, "memory": memory}
	}
	ten := []map[string]float64{}
	for range 9 {
		ten = append(ten, amounts(0.1, 1))
	}
	ten = append(ten, amounts(64, 1))
	for name, c := range map[string]struct {
		free []map[string]float64
		pods []map[string]float64
		want float64
	}{
		"one node has room":                {[]map[string]float64{amounts(3, 8), amounts(1, 8)}, []map[string]float64{amounts(2, 4)}, 0.25},
		"memory lacks":                     {[]map[string]float64{amounts(3, 2)}, []map[string]float64{amounts(2, 4)}, 1},
		"the largest of ten does not":      {[]map[string]float64{amounts(1, 8)}, ten, 0},
		"what is left of a core is enough": {[]map[string]float64{amounts(1-0.9, 8)}, []map[string]float64{amounts(0.1, 1)}, 0},
		"a node asks too much":             {[]map[string]float64{amounts(-1, 8), amounts(1, 8)}, []map[string]float64{amounts(1, 1)}, 0},
		"nothing is free":                  {[]map[string]float64{amounts(0, 8)}, []map[string]float64{amounts(1, 1)}, -1},
		"no pod asks":                      {[]map[string]float64{amounts(1, 8)}, nil, -1},
	} {
		got := -1.0
		if share := Fragmentation(c.free, c.pods); share != nil {
			got = *share
		}
		if got != c.want {
			t.Errorf("%s: %v, want %v", name, got, c.want)
		}
	}
}
