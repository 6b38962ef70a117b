package comparison

import (
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	utilfeature "k8s.io/apiserver/pkg/util/feature"
	resourcehelper "k8s.io/component-helpers/resource"
	"k8s.io/kubernetes/pkg/features"

	"kube-scheduler-simulator/scheduler/podrequest"
	"kube-scheduler-simulator/scheduler/result"
)

// living gives a pod what happens to pods that run: sidecars, resizes, deletion.
func living(r random, p *v1.Pod) *v1.Pod {
	if r.in(3) {
		sidecar := v1.Container{RestartPolicy: new(v1.ContainerRestartPolicyAlways), Resources: v1.ResourceRequirements{Requests: amounts(r, 3, 2)}}
		p.Spec.InitContainers = append([]v1.Container{sidecar}, p.Spec.InitContainers...)
	}
	named := func(list []v1.Container, kind string) {
		for i := range list {
			list[i].Name = fmt.Sprint(kind, i)
		}
	}
	named(p.Spec.InitContainers, "init")
	named(p.Spec.Containers, "main")
	if r.in(4) {
		p.DeletionTimestamp = &metav1.Time{Time: time.Unix(1000, 0)}
	}
	if !r.in(3) {
		return p
	}
	status := func(list []v1.Container) (out []v1.ContainerStatus) {
		for _, c := range list {
			s := v1.ContainerStatus{Name: c.Name, AllocatedResources: c.Resources.Requests}
			if r.in(2) {
				s.AllocatedResources = amounts(r, 3, 2)
			}
			if r.in(2) {
				s.Resources = &v1.ResourceRequirements{Requests: s.AllocatedResources}
			}
			out = append(out, s)
		}
		return out
	}
	p.Status.ContainerStatuses, p.Status.InitContainerStatuses = status(p.Spec.Containers), status(p.Spec.InitContainers)
	if r.in(2) {
		p.Status.Conditions = []v1.PodCondition{{Type: v1.PodResizePending, Status: v1.ConditionTrue, Reason: one(r, v1.PodReasonDeferred, v1.PodReasonInfeasible)}}
	}
	return p
}

// verifyUse holds what an amount in use is made of to the scheduler's NodeInfo, and to what
// kubectl adds up.
func verifyUse(s *subject, a answer) error {
	for i := range a.found.Resources {
		r := &a.found.Resources[i]
		want, others := expectedUse(s, a, r), 0
		if r.Use == nil {
			if r.InUse != 0 {
				return fmt.Errorf("it does not say what the %d %s in use are made of", r.InUse, r.Name)
			}
			continue
		}
		sum := r.Use.OthersAmount
		for _, h := range r.Use.Pods {
			if sum += h.Amount; h.Amount != want.amounts[h.Pod.Name] {
				return fmt.Errorf("%s holds %d %s and not %d", h.Pod.Name, want.amounts[h.Pod.Name], r.Name, h.Amount)
			}
			if q := h.Request; q != nil && q.Amount != h.Amount {
				return fmt.Errorf("%s holds %d %s, and its request is said to be %+v", h.Pod.Name, h.Amount, r.Name, q)
			}
			delete(want.amounts, h.Pod.Name)
		}
		for _, amount := range want.amounts {
			if amount != 0 {
				others++
			}
		}
		got := result.ResourceUse{Others: r.Use.Others, Terminating: r.Use.Terminating, Nominated: r.Use.Nominated, Described: r.Use.Described}
		expected := result.ResourceUse{Others: others, Terminating: want.terminating, Nominated: want.nominated, Described: want.described}
		if diff := cmp.Diff(expected, got); diff != "" || sum != r.InUse {
			return fmt.Errorf("the pods hold %d of the %d %s in use: %s", sum, r.InUse, r.Name, diff)
		}
	}
	return nil
}

type expected struct {
	amounts                           map[string]int64
	terminating, nominated, described int64
}

func expectedUse(s *subject, a answer, r *result.ResourceComparison) expected {
	out := expected{amounts: map[string]int64{}}
	name := v1.ResourceName(r.Name)
	for _, on := range a.node.GetPods() {
		pod, amount, kubectl := on.GetPod(), int64(1), int64(1)
		if name != v1.ResourcePods {
			amount = amountOf(on.CalculateResource().Resource, name)
			kubectl = podrequest.Amount(resourcehelper.PodRequests(pod, resourcehelper.PodResourcesOptions{
				SkipPodLevelResources: !utilfeature.DefaultFeatureGate.Enabled(features.PodLevelResources),
			}), name)
			if pod.UID == s.cluster.pod.UID && r.InUse != amountOf(a.node.GetRequested(), name) {
				amount -= min(amount, r.Requested)
			}
		}
		out.amounts[pod.Name] = amount
		if pod.DeletionTimestamp != nil {
			out.terminating += amount
		}
		if s.isNominated(a.node) && pod.Name == s.cluster.nominated.Name {
			out.nominated += amount
			continue
		}
		out.described += kubectl
	}
	return out
}

// db is case by case what a resize makes of a pod that asked for 2 CPU.
func TestAResizeIsNamed(t *testing.T) {
	cpu := func(milli int64) v1.ResourceList {
		return v1.ResourceList{v1.ResourceCPU: *resource.NewMilliQuantity(milli, resource.DecimalSI)}
	}
	for _, test := range []struct {
		name                     string
		asked, allocated, actual int64
		reason                   string
		held                     int64
		want                     *result.Resize
	}{
		{name: "none", asked: 2000, allocated: 2000, actual: 2000, held: 2000},
		{name: "deferred", asked: 3500, allocated: 2000, actual: 2000, reason: v1.PodReasonDeferred, held: 3500, want: &result.Resize{Asked: 3500, Granted: 2000, State: result.ResizeDeferred}},
		{name: "infeasible", asked: 9000, allocated: 2000, actual: 2000, reason: v1.PodReasonInfeasible, held: 2000, want: &result.Resize{Asked: 9000, Granted: 2000, State: result.ResizeInfeasible}},
		{name: "smaller", asked: 1000, allocated: 1000, actual: 2000, held: 2000, want: &result.Resize{Asked: 1000, Granted: 2000, State: result.ResizeInProgress}},
		{name: "not seen yet", asked: 3500, allocated: 2000, actual: 2000, held: 3500, want: &result.Resize{Asked: 3500, Granted: 2000, State: result.ResizeInProgress}},
	} {
		t.Run(test.name, func(t *testing.T) {
			p := pod("db", "host")
			p.Spec.Containers = []v1.Container{{Name: "c", Resources: v1.ResourceRequirements{Requests: cpu(test.asked)}}}
			// A container that has ended is no longer granted anything, which is no resize.
			p.Spec.InitContainers = []v1.Container{{Name: "i", Resources: v1.ResourceRequirements{Requests: cpu(100)}}}
			p.Status.ContainerStatuses = []v1.ContainerStatus{{Name: "c", AllocatedResources: cpu(test.allocated), Resources: &v1.ResourceRequirements{Requests: cpu(test.actual)}}}
			p.Status.InitContainerStatuses = []v1.ContainerStatus{{Name: "i"}}
			if test.reason != "" {
				p.Status.Conditions = []v1.PodCondition{{Type: v1.PodResizePending, Status: v1.ConditionTrue, Reason: test.reason}}
			}
			if got := podrequest.Amount(resourcehelper.PodRequests(p, resourcehelper.PodResourcesOptions{UseStatusResources: true}), v1.ResourceCPU); got != test.held {
				t.Fatalf("Kubernetes counts %d", got)
			}
			if diff := cmp.Diff(test.want, podrequest.ResizeOf(p, v1.ResourceCPU, test.held)); diff != "" {
				t.Error(diff)
			}
		})
	}
}
