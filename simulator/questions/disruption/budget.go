package disruption

import (
	"slices"

	v1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/util/intstr"
	podutil "k8s.io/kubernetes/pkg/api/v1/pod"
)

// Budget is a PodDisruptionBudget over time. Times are in seconds since the play begins.
type Budget struct {
	Namespace string `json:"namespace"`
	Name      string `json:"name"`
	// Desired is how many pods are to be healthy, of Expected.
	Desired  int `json:"desired"`
	Expected int `json:"expected"`
	// Allowed is how many evictions it allows at first, and Steps are when that changes; of one second, the last.
	Allowed int    `json:"allowed"`
	Steps   []Step `json:"steps"`
	// Waits are the evictions that it made wait, as namespace/name of their pods, and Blocks those that it never allows.
	Waits  []string `json:"waits"`
	Blocks []string `json:"blocks"`
}

// Step is how many evictions a budget allows from a time on.
type Step struct {
	At      int `json:"at"`
	Allowed int `json:"allowed"`
}

// budget is a PodDisruptionBudget while evictions are played.
type budget struct {
	*policyv1.PodDisruptionBudget
	selector labels.Selector
	// desired is how many pods are to be healthy. It does not change: evictions scale nothing.
	desired, expected int
	out               Budget
}

// newBudget takes what the disruption controller has written, and counts the pods itself where it has not written anything yet.
func newBudget(of *policyv1.PodDisruptionBudget, pods []*v1.Pod) *budget {
	b := &budget{PodDisruptionBudget: of, selector: labels.Nothing(), out: Budget{Namespace: of.Namespace, Name: of.Name, Steps: []Step{}, Waits: []string{}, Blocks: []string{}}}
	if selector, err := metav1.LabelSelectorAsSelector(of.Spec.Selector); err == nil {
		b.selector = selector
	}
	if of.Status.ObservedGeneration > 0 && of.Status.ObservedGeneration == of.Generation {
		b.desired, b.expected = int(of.Status.DesiredHealthy), int(of.Status.ExpectedPods)
	} else {
		for _, p := range pods {
			if b.protects(p) {
				b.expected++
			}
		}
		b.desired = desiredHealthy(of, b.expected)
	}
	b.out.Desired, b.out.Expected = b.desired, b.expected
	return b
}

// desiredHealthy is how many of the expected pods are to be healthy, as the disruption controller counts: percentages are rounded up.
func desiredHealthy(of *policyv1.PodDisruptionBudget, expected int) int {
	scaled := func(n *intstr.IntOrString) int {
		value, err := intstr.GetScaledValueFromIntOrPercent(n, expected, true)
		if err != nil {
			return 0
		}
		return value
	}
	switch {
	case of.Spec.MaxUnavailable != nil:
		return max(0, expected-scaled(of.Spec.MaxUnavailable))
	case of.Spec.MinAvailable != nil:
		return scaled(of.Spec.MinAvailable)
	}
	return 0
}

func (b *budget) name() string { return b.Namespace + "/" + b.PodDisruptionBudget.Name }

// protects reports whether a pod is the budget's.
func (b *budget) protects(p *v1.Pod) bool {
	return p.Namespace == b.Namespace && b.selector.Matches(labels.Set(p.Labels)) && !podutil.IsPodTerminal(p)
}

// step notes how many evictions the budget allows from a time on.
func (b *budget) step(at, allowed int) {
	steps := b.out.Steps
	switch last := len(steps) - 1; {
	case last >= 0 && steps[last].Allowed == allowed:
	case last >= 0 && steps[last].At == at:
		steps[last].Allowed = allowed
		if last > 0 && steps[last-1].Allowed == allowed {
			b.out.Steps = steps[:last]
		}
	default:
		b.out.Steps = append(steps, Step{at, allowed})
	}
}

func note(list *[]string, name string) {
	if !slices.Contains(*list, name) {
		*list = append(*list, name)
	}
}
