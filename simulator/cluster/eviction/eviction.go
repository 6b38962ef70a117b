// Package eviction has the rules by which pods are evicted: which pods of a node kubectl drain chooses, and what the API server says about
// the eviction of a pod whose PodDisruptionBudgets are known. It reads and writes no cluster: previews ask it about states that do not exist,
// and clusters without an API server about their own.
//
// It imports none of our packages.
package eviction

import (
	v1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	podutil "k8s.io/kubernetes/pkg/api/v1/pod"
)

// TwoBudgets is why the API server never evicts a pod that two budgets select. The text is the API server's.
const TwoBudgets = "This pod has more than one PodDisruptionBudget, which the eviction subresource does not support."

// Budget is a PodDisruptionBudget at the time of an eviction.
type Budget struct {
	*policyv1.PodDisruptionBudget
	// Healthy pods are ready and stay, Desired is how many are to be healthy, and Allowed how many evictions the budget allows.
	Healthy, Desired, Allowed int
}

// Of is a budget as the disruption controller has counted it.
func Of(b *policyv1.PodDisruptionBudget) Budget {
	out := Budget{PodDisruptionBudget: b, Healthy: int(b.Status.CurrentHealthy), Desired: int(b.Status.DesiredHealthy)}
	if b.Status.ObservedGeneration >= b.Generation {
		out.Allowed = int(b.Status.DisruptionsAllowed)
	}
	return out
}

// Selects reports whether a budget has a say about the pod. An invalid selector selects no pod.
func Selects(b *policyv1.PodDisruptionBudget, pod *v1.Pod) bool {
	selector, err := metav1.LabelSelectorAsSelector(b.Spec.Selector)
	return err == nil && b.Namespace == pod.Namespace && selector.Matches(labels.Set(pod.Labels))
}

// Ignores reports whether the API server evicts a pod without a look at its budgets: no container of it runs, or it is being deleted.
func Ignores(pod *v1.Pod) bool {
	return podutil.IsPodTerminal(pod) || pod.Status.Phase == v1.PodPending || pod.DeletionTimestamp != nil
}

// Refuses says what the API server does about an eviction. of are the budgets that select the pod. Both results empty: it evicts the pod.
// Otherwise by refuses the eviction for now, or never is why the pod is not evicted at all.
func Refuses(pod *v1.Pod, ready bool, of []Budget) (by *Budget, never string) {
	switch {
	case Ignores(pod) || len(of) == 0:
		return nil, ""
	case len(of) > 1:
		return nil, TwoBudgets
	}
	b := of[0]
	if !ready {
		if policy := b.Spec.UnhealthyPodEvictionPolicy; policy != nil && *policy == policyv1.AlwaysAllow {
			return nil, ""
		}
		if b.Healthy >= b.Desired && b.Desired > 0 {
			return nil, ""
		}
	}
	if b.Allowed > 0 {
		return nil, ""
	}
	return &b, ""
}
