package admission

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	kueue "sigs.k8s.io/kueue/apis/kueue/v1beta2"
	controllerconstants "sigs.k8s.io/kueue/pkg/controller/constants"
)

// ReplacementFor is the annotation with the key of the workload whose place another one of the same job is to take: the job has
// got more pods. Kueue calls such workloads slices. The module keeps the name in the package of its controller.
const ReplacementFor = "kueue.x-k8s.io/workload-slice-replacement-for"

// NameInPods is the name by which the pods of a job name its workload: that of the first, if others have taken its place.
func NameInPods(w *kueue.Workload) string {
	if first := w.Annotations[kueue.WorkloadSliceNameAnnotation]; first != "" {
		return first
	}
	return w.Name
}

// replacedBy returns the workload that holds quota and whose place w is to take; nil for none.
func (s *State) replacedBy(w *workload) *workload {
	if !s.settings.ElasticJobs {
		return nil
	}
	namespace, name, _ := strings.Cut(w.object.Annotations[ReplacementFor], "/")
	old := s.workloads[types.NamespacedName{Namespace: namespace, Name: name}]
	if old == nil || old.place != reserved || old.queue != w.queue || old.evicted() {
		return nil
	}
	return old
}

// held is what the replaced workload holds for a pod set; nil without one.
func (a *search) held(podSet string) (assigned *kueue.PodSetAssignment, amounts map[v1.ResourceName]int64) {
	if a.old == nil {
		return nil, nil
	}
	sets := a.old.admission.PodSetAssignments
	i := slices.IndexFunc(sets, func(p kueue.PodSetAssignment) bool { return string(p.Name) == podSet })
	if i < 0 {
		return nil, nil
	}
	return &sets[i], heldBy(a.old.podSets, &sets[i], a.old.object.Status.ReclaimablePods)
}

// more are the requests of a pod set less what the replaced workload holds for it.
func (a *search) more(podSet string, requests map[v1.ResourceName]int64) map[v1.ResourceName]int64 {
	_, held := a.held(podSet)
	if held == nil {
		return requests
	}
	more := maps.Clone(requests)
	for name, amount := range held {
		if _, requested := more[name]; requested {
			more[name] -= amount
		}
	}
	return more
}

// otherHeld says that the pods of a pod set that run already have another flavor of one of the resources.
func (a *search) otherHeld(podSet string, names []v1.ResourceName, flavor string) Reason {
	assigned, _ := a.held(podSet)
	if assigned == nil {
		return Reason{}
	}
	for _, name := range names {
		if other := string(assigned.Flavors[name]); other != flavor {
			return Reason{OtherFlavorHeld{flavor, other}}
		}
	}
	return Reason{}
}

// Replaced is the decision that ends a workload whose quota another one of the same job has taken over.
func Replaced(old, by *kueue.Workload) Decision {
	of := Ref{Namespace: old.Namespace, Name: old.Name, UID: old.UID}
	message := fmt.Sprintf("Replaced to accommodate a workload (UID: %s, JobUID: %s) due to workload slice aggregation", by.UID, by.Labels[controllerconstants.JobUIDLabel])
	return Decision{Workload: of, Verb: Replace, Reason: reasonSliceReplaced, Message: message, Events: []Event{{Workload: of, Reason: reasonSliceReplaced, Message: message}}}
}
