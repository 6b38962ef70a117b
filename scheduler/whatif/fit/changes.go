package fit

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	v1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/strategicpatch"

	"kube-scheduler-simulator/scheduler/annotation"
	"kube-scheduler-simulator/scheduler/explain"
	"kube-scheduler-simulator/scheduler/whatif"
)

var (
	podKind  = v1.SchemeGroupVersion.WithKind("Pod")
	nodeKind = v1.SchemeGroupVersion.WithKind("Node")

	claimKind      = v1.SchemeGroupVersion.WithKind("PersistentVolumeClaim")
	attachmentKind = storagev1.SchemeGroupVersion.WithKind("VolumeAttachment")
)

// written are a suggestion's changes as one makes them.
type written struct {
	// real are for a cluster, and hypothetical for the engine, which has no controllers
	// that make pods from templates.
	real, hypothetical []whatif.Change
	// manner is nil when the pod stays, or changes in place.
	manner explain.Operands
	// evictions is how many of the changes before the last one evict pods, if the last one changes a pending pod in place; otherwise 0.
	evictions int
	// others is how many of the hypothetical changes come before those of the pod.
	others int
	// template: the template of the workload changes.
	template bool
	// siblings are the changes of other pods of the workload, which are real only.
	siblings []whatif.Change
}

// writer writes remedies as changes.
type writer struct {
	// pod is the one that is to fit, as the API server has it or would have it.
	pod *v1.Pod
	// exists: the pod is in the cluster.
	exists bool
	// workload is nil for a pod without one, and siblings are the other pods that it has made.
	workload *workload
	siblings []*v1.Pod
}

// write returns the changes for the remedies, of which those of a node are for target. Changes
// of nodes come first and those of the pod last, so that the pod is tried when all is done.
func (w *writer) write(remedies []remedy, target *v1.Node) (written, error) {
	var out written
	both := func(c ...whatif.Change) {
		out.real = append(out.real, c...)
		out.hypothetical = append(out.hypothetical, c...)
	}
	node := target
	for _, r := range remedies {
		if r.node != nil {
			if node == target {
				node = target.DeepCopy()
			}
			r.node(node)
		}
		for _, added := range r.added {
			for _, o := range added.ToCreate() {
				out.real = append(out.real, whatif.Change{Apply: o})
			}
			for _, o := range added.Objects() {
				out.hypothetical = append(out.hypothetical, whatif.Change{Apply: o})
			}
		}
	}
	if node != target {
		patch, err := patchOf(target, node, v1.Node{})
		if err != nil {
			return out, err
		}
		both(whatif.Change{Patch: &whatif.Patch{ObjectRef: whatif.ObjectRef{GVK: nodeKind, Name: target.Name}, Patch: patch}})
	}
	evictions := 0
	for _, r := range remedies {
		for _, p := range r.victims {
			both(whatif.Change{Delete: podRef(p)})
			evictions++
		}
		if r.others != nil {
			both(whatif.Change{Patch: r.others})
		}
		both(r.claims...)
	}
	out.others = len(out.hypothetical)
	err := w.writePod(remedies, &out)
	if last := len(out.real) - 1; err == nil && last >= 0 && out.real[last].Patch != nil && out.real[last].Patch.GVK == podKind {
		out.evictions = evictions
	}
	return out, err
}

// writePod adds the change of the pod. The API server lets an existing pod gain
// tolerations and lose gates, and nothing else that matters here. So for other changes the
// pod's workload changes, or a pod without one is created anew. A toleration also goes into the
// template of the workload, so that the pod's siblings and successors have it.
func (w *writer) writePod(remedies []remedy, out *written) error {
	if !slices.ContainsFunc(remedies, func(r remedy) bool { return r.pod != nil }) {
		return nil
	}
	changed := w.pod.DeepCopy()
	relax(&changed.Spec, remedies)
	// The API server adds to the selectors what the scheduler reads, and the engine does not.
	apply, hypothesis := whatif.Change{Apply: unmerged(fresh(changed))}, whatif.Change{Apply: fresh(changed)}
	if !w.exists {
		out.real, out.hypothetical = append(out.real, apply), append(out.hypothetical, hypothesis)
		return nil
	}
	if !slices.ContainsFunc(remedies, func(r remedy) bool { return r.pod != nil && !w.changesInPlace(r) }) {
		patch, err := patchOf(w.pod, changed, v1.Pod{})
		if err != nil {
			return err
		}
		change := whatif.Change{Patch: &whatif.Patch{ObjectRef: *podRef(w.pod), Patch: patch}}
		out.real, out.hypothetical = append(out.real, change), append(out.hypothetical, change)
		return w.writeSiblings(remedies, out)
	}
	if w.workload != nil && w.workload.replaces {
		relabel(hypothesis.Apply.(*v1.Pod), appsv1.DefaultDeploymentUniqueLabelKey, "new")
	}
	deletion := whatif.Change{Delete: podRef(w.pod)}
	out.hypothetical = append(out.hypothetical, deletion, hypothesis)
	if w.workload == nil {
		out.real = append(out.real, deletion, apply)
		out.manner = explain.Recreated{Pod: w.pod.Name}
		return nil
	}
	return w.writeWorkload(remedies, out)
}

// writeSiblings changes those of the pod's siblings that wait, too. It does not if pods are evicted, because the room is the pod's.
func (w *writer) writeSiblings(remedies []remedy, out *written) error {
	for _, p := range w.siblings {
		if p.Spec.NodeName != "" || p.DeletionTimestamp != nil || slices.ContainsFunc(remedies, func(r remedy) bool { return r.pod != nil && !r.lasts || r.victims != nil }) {
			continue
		}
		changed := p.DeepCopy()
		relax(&changed.Spec, remedies)
		patch, err := patchOf(p, changed, v1.Pod{})
		if err != nil {
			return err
		}
		out.siblings = append(out.siblings, whatif.Change{Patch: &whatif.Patch{ObjectRef: *podRef(p), Patch: patch}})
	}
	out.real = append(out.real, out.siblings...)
	return nil
}

// changesInPlace reports whether the existing pod changes. The template of a Job cannot, and scheduling gates
// are often not from the template.
func (w *writer) changesInPlace(r remedy) bool {
	return r.inPlace && (w.workload == nil || w.workload.immutable || !r.lasts)
}

func (w *writer) writeWorkload(remedies []remedy, out *written) error {
	ref := whatif.ObjectRef{GVK: w.workload.gvk, Namespace: w.pod.Namespace, Name: w.workload.name}
	changed := w.workload.object.DeepCopyObject()
	relax(&template(changed).Spec, remedies)
	if w.workload.immutable {
		// Only a Job is. The API server keeps the pods of a Job that is deleted.
		out.template = true
		out.real = append(out.real, whatif.Change{Delete: &ref}, whatif.Change{Delete: podRef(w.pod)})
		for _, p := range w.siblings {
			out.real = append(out.real, whatif.Change{Delete: podRef(p)})
		}
		out.real = append(out.real, whatif.Change{Apply: again(changed.(*batchv1.Job))})
		out.manner = explain.RestartedWorkload{Pod: w.pod.Name, WorkloadKind: ref.GVK.Kind, Name: ref.Name}
		return nil
	}
	patch, err := patchOf(w.workload.object, changed, changed)
	if err != nil {
		return err
	}
	out.template = true
	out.real = append(out.real, whatif.Change{Patch: &whatif.Patch{ObjectRef: ref, Patch: patch}})
	if !w.workload.replaces {
		out.real = append(out.real, whatif.Change{Delete: podRef(w.pod)})
		for _, p := range w.siblings {
			if p.Spec.NodeName == "" && p.DeletionTimestamp == nil && w.workload.forgets {
				out.real = append(out.real, whatif.Change{Delete: podRef(p)})
			}
		}
	}
	out.manner = explain.RolledOut{Pod: w.pod.Name, WorkloadKind: ref.GVK.Kind, Name: ref.Name}
	return nil
}

// relax applies what the remedies change of the pod.
func relax(spec *v1.PodSpec, remedies []remedy) {
	for _, r := range remedies {
		if r.pod != nil {
			r.pod(spec)
		}
	}
}

// patchOf returns a strategic merge patch from one object to the other.
func patchOf(from, to runtime.Object, kind any) ([]byte, error) {
	before, err := json.Marshal(from)
	if err != nil {
		return nil, fmt.Errorf("encoding %T: %w", from, err)
	}
	after, err := json.Marshal(to)
	if err != nil {
		return nil, fmt.Errorf("encoding %T: %w", to, err)
	}
	patch, err := strategicpatch.CreateTwoWayMergePatch(before, after, kind)
	if err != nil {
		return nil, fmt.Errorf("comparing two versions of %T: %w", from, err)
	}
	return patch, nil
}

func podRef(p *v1.Pod) *whatif.ObjectRef {
	return &whatif.ObjectRef{GVK: podKind, Namespace: p.Namespace, Name: p.Name}
}

// fresh returns a pod as one would create it: without what the API server, the scheduler
// and the kubelet gave it.
func fresh(p *v1.Pod) *v1.Pod {
	out := &v1.Pod{
		TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Pod"},
		ObjectMeta: metav1.ObjectMeta{
			Namespace: p.Namespace, Name: p.Name, Labels: p.Labels, Annotations: p.Annotations, OwnerReferences: p.OwnerReferences,
		},
		Spec: *p.Spec.DeepCopy(),
	}
	out.Annotations = maps.Clone(p.Annotations)
	annotation.Strip(out)
	out.Spec.NodeName = ""
	return out
}

// unmerged takes the requirements out of the pod's selectors that the API server added for
// matchLabelKeys when the pod was created. It would refuse them, and adds them again.
func unmerged(p *v1.Pod) *v1.Pod {
	eachSelector(&p.Spec, func(selector *metav1.LabelSelector, keys []string, operator metav1.LabelSelectorOperator) {
		dropMerged(selector, p.Labels, keys, operator)
	})
	return p
}

// eachSelector calls do for each selector of the pod's constraints and terms, with the keys of labels for which the API server
// adds requirements to it.
func eachSelector(spec *v1.PodSpec, do func(selector *metav1.LabelSelector, keys []string, operator metav1.LabelSelectorOperator)) {
	one := func(selector *metav1.LabelSelector, keys []string, operator metav1.LabelSelectorOperator) {
		if selector != nil {
			do(selector, keys, operator)
		}
	}

	for i := range spec.TopologySpreadConstraints {
		c := &spec.TopologySpreadConstraints[i]
		one(c.LabelSelector, c.MatchLabelKeys, metav1.LabelSelectorOpIn)
	}
	each := func(required []v1.PodAffinityTerm, preferred []v1.WeightedPodAffinityTerm) {
		for i := range required {
			one(required[i].LabelSelector, required[i].MatchLabelKeys, metav1.LabelSelectorOpIn)
			one(required[i].LabelSelector, required[i].MismatchLabelKeys, metav1.LabelSelectorOpNotIn)
		}
		for i := range preferred {
			t := &preferred[i].PodAffinityTerm
			one(t.LabelSelector, t.MatchLabelKeys, metav1.LabelSelectorOpIn)
			one(t.LabelSelector, t.MismatchLabelKeys, metav1.LabelSelectorOpNotIn)
		}
	}
	if a := spec.Affinity; a != nil && a.PodAffinity != nil {
		each(a.PodAffinity.RequiredDuringSchedulingIgnoredDuringExecution, a.PodAffinity.PreferredDuringSchedulingIgnoredDuringExecution)
	}
	if a := spec.Affinity; a != nil && a.PodAntiAffinity != nil {
		each(a.PodAntiAffinity.RequiredDuringSchedulingIgnoredDuringExecution, a.PodAntiAffinity.PreferredDuringSchedulingIgnoredDuringExecution)
	}
}

func dropMerged(selector *metav1.LabelSelector, own map[string]string, keys []string, operator metav1.LabelSelectorOperator) {
	for _, key := range keys {
		selector.MatchExpressions = slices.DeleteFunc(selector.MatchExpressions, func(r metav1.LabelSelectorRequirement) bool {
			return r.Key == key && r.Operator == operator && slices.Equal(r.Values, []string{own[key]})
		})
	}
}
