package why

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"

	"kube-scheduler-simulator/scheduler/explain"
	"kube-scheduler-simulator/scheduler/result"
	"kube-scheduler-simulator/simulator/questions/hypothesis"
)

// WorkloadKinds are the kinds that Question.Workload may have, by their names.
var WorkloadKinds = map[string]schema.GroupVersionKind{
	"Deployment":            appsv1.SchemeGroupVersion.WithKind("Deployment"),
	"StatefulSet":           appsv1.SchemeGroupVersion.WithKind("StatefulSet"),
	"DaemonSet":             appsv1.SchemeGroupVersion.WithKind("DaemonSet"),
	"ReplicaSet":            appsv1.SchemeGroupVersion.WithKind("ReplicaSet"),
	"ReplicationController": v1.SchemeGroupVersion.WithKind("ReplicationController"),
	"Job":                   batchv1.SchemeGroupVersion.WithKind("Job"),
}

// made is what a workload asks for.
type made struct {
	metav1.Object
	wanted   int
	template v1.PodTemplateSpec
	// suspended: a Job that creates no pods.
	suspended bool
	// claims: each pod has volume claims of its own, which the template does not have.
	claims bool
}

func madeBy(o runtime.Object) (made, error) {
	switch w := o.(type) {
	case *appsv1.Deployment:
		return made{Object: w, wanted: int(ptr.Deref(w.Spec.Replicas, 1)), template: w.Spec.Template}, nil
	case *appsv1.StatefulSet:
		return made{Object: w, wanted: int(ptr.Deref(w.Spec.Replicas, 1)), template: w.Spec.Template, claims: len(w.Spec.VolumeClaimTemplates) > 0}, nil
	case *appsv1.ReplicaSet:
		return made{Object: w, wanted: int(ptr.Deref(w.Spec.Replicas, 1)), template: w.Spec.Template}, nil
	case *appsv1.DaemonSet:
		return made{Object: w, wanted: int(w.Status.DesiredNumberScheduled), template: w.Spec.Template}, nil
	case *v1.ReplicationController:
		return made{Object: w, wanted: int(ptr.Deref(w.Spec.Replicas, 1)), template: *w.Spec.Template}, nil
	case *batchv1.Job:
		wanted := int(ptr.Deref(w.Spec.Parallelism, 1))
		if w.Spec.Completions != nil {
			wanted = min(wanted, int(*w.Spec.Completions-w.Status.Succeeded))
		}
		return made{Object: w, wanted: wanted, template: w.Spec.Template, suspended: ptr.Deref(w.Spec.Suspend, false)}, nil
	}
	return made{}, fmt.Errorf("a %T has no pods", o)
}

// workload answers about the pods of a workload that are not placed.
func (a *asking) workload(ctx context.Context, name Workload) error {
	gvk, known := WorkloadKinds[name.Kind]
	if !known {
		return refuse("workload.kind", fmt.Sprintf("a %s has no pods that a scheduler places; want one of %s", name.Kind, kindNames()))
	}
	name.Namespace = cmp.Or(name.Namespace, v1.NamespaceDefault)
	o, err := a.cluster.Get(ctx, gvk, name.Namespace, name.Name)
	if err != nil {
		return err
	}
	w, err := madeBy(o)
	if err != nil {
		return err
	}
	pods, err := a.podsOf(ctx, w, gvk)
	if err != nil {
		return err
	}
	s := &a.answer.Subject
	*s = Subject{
		Kind: name.Kind, Namespace: name.Namespace, Name: name.Name, Node: s.Node, Exists: true, Created: createdAt(w),
		Requests: map[string]string{}, Pods: &Pods{Wanted: w.wanted},
	}
	var pending []*v1.Pod
	var nodes []string
	for _, p := range pods {
		switch {
		case p.Spec.NodeName != "":
			s.Pods.Running++
			nodes = append(nodes, p.Spec.NodeName)
		default:
			s.Pods.Pending++
			pending = append(pending, p)
		}
	}
	slices.SortFunc(pending, func(x, y *v1.Pod) int { return strings.Compare(x.Name, y.Name) })
	missing := max(0, w.wanted-s.Pods.Running-s.Pods.Pending)
	example := w.pod(name)
	a.about(example, true)
	if w.suspended {
		if queue, queued := w.GetLabels()[kueueQueue]; queued {
			a.kueue(ctx, w.Object, queue)
		} else {
			a.waitFor(ForController, "suspend", "The Job is suspended; it creates no pods before somebody resumes it.", nil)
		}
	}
	if s.Pods.Pending+missing == 0 {
		a.answer.Verdict = Runs
		a.answer.Sentence = fmt.Sprintf("%s: all %d pods run, on %s.", s.title(), s.Pods.Running, explain.Names(unique(nodes)))
		if w.wanted == 0 {
			a.answer.Sentence = s.title() + " wants no pods."
		}
		return nil
	}
	q := a.q.Question
	n := s.Pods.Pending + missing
	if len(pending) > 0 {
		s.Pods.Example = pending[0].Name
		a.about(pending[0], true)
	} else if !w.suspended {
		a.waitFor(ForController, name.Kind, fmt.Sprintf("The workload's controller has yet to create %s; events of %s may say what refuses them, such as a ResourceQuota.",
			Plural(missing, "pod"), s.title()), nil)
	}
	switch {
	case len(pending) == 1 || len(pending) > 0 && (w.claims || name.Kind == "DaemonSet"):
		// Each of these pods differs from the template.
		q.PodRef = &hypothesis.PodName{Namespace: name.Namespace, Name: pending[0].Name}
		if n > 1 {
			a.unjudged("the other pods", fmt.Sprintf("The answer is about %s; the other %d pods that are not placed were not asked about.", pending[0].Name, n-1))
		}
		n = 1
		example = pending[0]
	default:
		if w.claims {
			a.unjudged("volume claims", "The volume claims that each pod of the StatefulSet gets of its own do not exist yet, so the volumes are not judged.")
		}
		if n > hypothesis.MaxCopies {
			a.unjudged("the other pods", fmt.Sprintf("Of %d pods that are not placed, %d were asked about.", n, hypothesis.MaxCopies))
			n = hypothesis.MaxCopies
		}
		if q.Pod, err = json.Marshal(example); err != nil {
			return err
		}
	}
	if err := a.ask(ctx, q, n, example); err != nil {
		return err
	}
	if len(a.answer.Waits) > 0 && a.answer.Verdict == Fits {
		a.answer.Verdict = Waits
	}
	return nil
}

func kindNames() string {
	var names []string
	for name := range WorkloadKinds {
		names = append(names, name)
	}
	slices.Sort(names)
	return strings.Join(names, ", ")
}

// pod is a pod as the workload's controller makes it.
func (m made) pod(name Workload) *v1.Pod {
	pod := &v1.Pod{TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Pod"}, ObjectMeta: *m.template.ObjectMeta.DeepCopy(), Spec: *m.template.Spec.DeepCopy()}
	pod.Namespace, pod.Name = name.Namespace, name.Name
	gvk := WorkloadKinds[name.Kind]
	pod.OwnerReferences = []metav1.OwnerReference{{
		APIVersion: gvk.GroupVersion().String(), Kind: gvk.Kind, Name: name.Name, UID: m.GetUID(), Controller: ptr.To(true),
	}}
	return pod
}

// podsOf returns the pods that the workload, or one of its ReplicaSets, owns, without those that have ended or are
// being deleted.
func (a *asking) podsOf(ctx context.Context, w made, gvk schema.GroupVersionKind) ([]*v1.Pod, error) {
	owners := map[types.UID]bool{w.GetUID(): true}
	if gvk.Kind == "Deployment" {
		sets, err := a.cluster.List(ctx, WorkloadKinds["ReplicaSet"], w.GetNamespace())
		if err != nil {
			return nil, err
		}
		for _, o := range sets {
			if set, ok := o.(*appsv1.ReplicaSet); ok && metav1.IsControlledBy(set, w) {
				owners[set.UID] = true
			}
		}
	}
	pods, err := a.cluster.List(ctx, podKind, w.GetNamespace())
	if err != nil {
		return nil, err
	}
	var out []*v1.Pod
	for _, o := range pods {
		pod, ok := o.(*v1.Pod)
		if !ok || pod.DeletionTimestamp != nil || pod.Status.Phase == v1.PodSucceeded || pod.Status.Phase == v1.PodFailed {
			continue
		}
		if owner := metav1.GetControllerOfNoCopy(pod); owner != nil && owners[owner.UID] {
			out = append(out, pod)
		}
	}
	return out, nil
}

func unique(names []string) []string {
	slices.Sort(names)
	return slices.Compact(names)
}

// Plural counts things: "1 pod", "2 pods".
func Plural(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}

// sentenceOfMany renders the answer about several pods.
func (a *asking) sentenceOfMany(d explain.Explained, placed int) string {
	s := a.answer.Subject
	var have string
	left := s.Pods.Wanted - s.Pods.Running
	if s.Exists {
		have = fmt.Sprintf("%d of %s run. ", s.Pods.Running, Plural(s.Pods.Wanted, "pod"))
	}
	asked := fmt.Sprintf("%d of the %s that are missing", placed, Plural(left, "pod"))
	if !s.Exists {
		asked = fmt.Sprintf("%d of %s", placed, Plural(s.Pods.Wanted, "pod"))
	}
	switch {
	case s.Pods.Example != "" && d.Pod.Name == s.Pods.Example && d.Outcome == result.Scheduled:
		return fmt.Sprintf("%s: %s%s would go to %s%s", s.title(), have, s.Pods.Example, d.SelectedNode, chosen(d))
	case d.Outcome == result.Scheduled && len(a.answer.Waits) > 0:
		return fmt.Sprintf("%s: %s%s would fit now. %s", s.title(), have, asked, a.answer.Waits[0].Text)
	case d.Outcome == result.Scheduled:
		return fmt.Sprintf("%s: %s%s would fit now.", s.title(), have, asked)
	case s.Pods.Example != "" && d.Pod.Name == s.Pods.Example:
		return fmt.Sprintf("%s: %s%s", s.title(), have, d.Explanation.Sentence)
	}
	return fmt.Sprintf("%s: %s%s would fit. The next: %s", s.title(), have, asked, d.Explanation.Sentence)
}
