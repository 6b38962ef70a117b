package simulation

import (
	appsv1 "k8s.io/api/apps/v1"
	v1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/utils/ptr"
)

func (c *control) lookAtBudgets(pod *v1.Pod) {
	for _, o := range c.objects[budgetKind] {
		if o.GetNamespace() == pod.Namespace {
			c.look(refOf(budgetKind, o))
		}
	}
}

// reconcileBudget counts the pods of a budget as the disruption controller does. The scheduler
// reads how many may be evicted.
func (c *control) reconcileBudget(o object) error {
	budget, exists := o.(*policyv1.PodDisruptionBudget)
	if !exists {
		return nil
	}
	selector, err := metav1.LabelSelectorAsSelector(budget.Spec.Selector)
	if err != nil {
		return err
	}
	status := budget.Status.DeepCopy()
	status.ObservedGeneration = budget.Generation
	status.ExpectedPods, status.CurrentHealthy = 0, 0
	owners := map[types.UID]int32{}
	for _, pod := range all[*v1.Pod](c.cluster, podKind) {
		if pod.Namespace != budget.Namespace || ended(pod) || !selector.Matches(labels.Set(pod.Labels)) {
			continue
		}
		if pod.DeletionTimestamp == nil && isReady(pod) {
			status.CurrentHealthy++
		}
		uid, scale := c.scaleOf(pod)
		owners[uid] = scale
	}
	for _, scale := range owners {
		status.ExpectedPods += scale
	}
	status.DesiredHealthy = desired(&budget.Spec, status.ExpectedPods)
	status.DisruptionsAllowed = max(0, status.CurrentHealthy-status.DesiredHealthy)
	if status.ExpectedPods == 0 {
		status.DisruptionsAllowed = 0
	}
	if s := budget.Status; s.ObservedGeneration == status.ObservedGeneration && s.ExpectedPods == status.ExpectedPods && s.CurrentHealthy == status.CurrentHealthy &&
		s.DesiredHealthy == status.DesiredHealthy && s.DisruptionsAllowed == status.DisruptionsAllowed {
		return nil
	}
	after := *budget
	after.Status = *status
	return c.put(budgetKind, &after)
}

// scaleOf returns the UID of a pod's workload, and how many pods it should have. A pod without one
// stands for itself.
func (c *control) scaleOf(pod *v1.Pod) (types.UID, int32) {
	owner := metav1.GetControllerOfNoCopy(pod)
	if owner == nil {
		return pod.UID, 1
	}
	group, err := schema.ParseGroupVersion(owner.APIVersion)
	if err != nil {
		return pod.UID, 1
	}
	switch o := c.get(group.WithKind(owner.Kind), pod.Namespace+"/"+owner.Name).(type) {
	case *appsv1.ReplicaSet:
		if up := metav1.GetControllerOfNoCopy(o); up != nil {
			if d, exists := find[*appsv1.Deployment](c.cluster, deploymentKind, o.Namespace, up.Name); exists {
				return d.UID, ptr.Deref(d.Spec.Replicas, 1)
			}
		}
		return o.UID, ptr.Deref(o.Spec.Replicas, 1)
	case *appsv1.StatefulSet:
		return o.UID, ptr.Deref(o.Spec.Replicas, 1)
	}
	return pod.UID, 1
}

func desired(spec *policyv1.PodDisruptionBudgetSpec, expected int32) int32 {
	switch {
	case spec.MaxUnavailable != nil:
		if n, err := intstr.GetScaledValueFromIntOrPercent(spec.MaxUnavailable, int(expected), true); err == nil {
			return max(0, expected-int32(n))
		}
	case spec.MinAvailable != nil:
		if n, err := intstr.GetScaledValueFromIntOrPercent(spec.MinAvailable, int(expected), true); err == nil {
			return int32(n)
		}
	}
	return 0
}
