package whatif

import (
	"slices"
	"strings"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"kube-scheduler-simulator/scheduler/result"
)

// product is known by what it writes on objects, or reads there: the prefixes of keys of labels,
// annotations and taints.
type product struct {
	name     string
	prefixes []string
}

var (
	autoscalers = []product{
		{"Cluster Autoscaler", []string{"cluster-autoscaler.kubernetes.io/", "ToBeDeletedByClusterAutoscaler", "DeletionCandidateOfClusterAutoscaler"}},
		{"Karpenter", []string{"karpenter.sh/"}},
	}
	// podControllers decide about pods that others make.
	podControllers = []product{
		{"Descheduler", []string{"descheduler.alpha.kubernetes.io/"}},
		{"Kueue", []string{"kueue.x-k8s.io/"}},
		{"Vertical Pod Autoscaler", []string{"vpaObservedContainers", "vpaUpdates"}},
	}
)

// named returns the names of the products that show in one of the objects, in order.
func named(products []product, objects ...metav1.Object) (names []string) {
	for _, p := range products {
		wrote := func(key string) bool {
			return slices.ContainsFunc(p.prefixes, func(prefix string) bool { return strings.HasPrefix(key, prefix) })
		}
		if slices.ContainsFunc(objects, func(o metav1.Object) bool {
			node, _ := o.(*v1.Node)
			return anyKey(o.GetLabels(), wrote) || anyKey(o.GetAnnotations(), wrote) ||
				node != nil && slices.ContainsFunc(node.Spec.Taints, func(t v1.Taint) bool { return wrote(t.Key) })
		}) {
			names = append(names, p.name)
		}
	}
	return names
}

func anyKey(of map[string]string, such func(key string) bool) bool {
	for key := range of {
		if such(key) {
			return true
		}
	}
	return false
}

// AddController names a controller that was not asked, once.
func (n *NotAsked) AddController(name string) {
	at, found := slices.BinarySearch(n.ControllersNotAsked, name)
	if !found {
		n.ControllersNotAsked = slices.Insert(n.ControllersNotAsked, at, name)
	}
}

// AddOwner names the kind of the controller that has made a pod, or another object. The kubelet
// makes pods of its own, which Nodes own.
func (n *NotAsked) AddOwner(o metav1.Object) {
	owner := metav1.GetControllerOfNoCopy(o)
	if owner == nil {
		return
	}
	if kind := schema.FromAPIVersionAndKind(owner.APIVersion, owner.Kind); kind != nodeKind {
		n.AddController(kind.GroupKind().String())
	}
}

// addDeleted names the controllers of pods that changes delete, which make others in their place.
func (t *Trial) addDeleted(n *NotAsked, changes []Change) {
	for _, c := range changes {
		if c.Delete == nil {
			continue
		}
		if o, _, err := t.get(*c.Delete); err == nil {
			if p, ok := o.(*v1.Pod); ok {
				n.AddOwner(p)
			}
		}
	}
}

// addPreempted is addDeleted for the pods that decisions evict.
func (t *Trial) addPreempted(n *NotAsked, decisions []*result.Cycle) {
	for _, c := range decisions {
		if c == nil || c.NominatedNode == "" || c.Preemption == nil {
			continue
		}
		for _, candidate := range c.Preemption.Candidates {
			for _, v := range candidate.Victims {
				if o, err := t.Get(podKind, v.Pod.Namespace, v.Pod.Name); err == nil && candidate.Node == c.NominatedNode {
					n.AddOwner(o.(*v1.Pod))
				}
			}
		}
	}
}
