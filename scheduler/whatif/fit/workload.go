package fit

import (
	"context"
	"slices"

	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/utils/ptr"

	"kube-scheduler-simulator/scheduler/whatif"
)

// Workloads reads the owners of pods, which an engine's state does not hold: the scheduler
// does not read all of them.
type Workloads interface {
	// Get returns an object, which the caller does not change. Any error means that the
	// object is not to be had.
	Get(ctx context.Context, gvk schema.GroupVersionKind, namespace, name string) (runtime.Object, error)
}

// workload is the object whose template a pod was made from.
type workload struct {
	object runtime.Object
	gvk    schema.GroupVersionKind
	name   string
	// replaces: the workload's controller replaces pods on its own when the template
	// changes. Otherwise the pod must go too.
	replaces bool
	// forgets: a change of the template does not reach the pods that wait already.
	forgets bool
	// immutable: the template of an existing object cannot change.
	immutable bool
}

// workloadOf returns the topmost controller of the pod that has a template for it, or nil if there
// is none, or one of them is not known. ruled is that controller, or the pod, if a controller of
// another kind owns it, which may undo changes of it.
func workloadOf(ctx context.Context, pod *v1.Pod, known ...Workloads) (found *workload, ruled metav1.Object) {
	var of metav1.Object = pod
	for range 4 { // A Deployment's ReplicaSet is the deepest case; owners may form a circle.
		owner := metav1.GetControllerOfNoCopy(of)
		if owner == nil {
			break
		}
		if !runs(owner) {
			if owner.Kind != "CronJob" { // which does not look back at its Jobs
				ruled = of
			}
			break
		}
		gvk := schema.FromAPIVersionAndKind(owner.APIVersion, owner.Kind)
		object := get(ctx, gvk, pod.Namespace, owner.Name, known)
		next := asWorkload(object)
		if next == nil {
			return nil, nil
		}
		next.gvk, next.name = gvk, owner.Name
		found, of = next, object.(metav1.Object)
	}
	return found, ruled
}

// runs reports whether the search knows what the controller does.
func runs(owner *metav1.OwnerReference) bool {
	return slices.Contains(withTemplates, schema.FromAPIVersionAndKind(owner.APIVersion, owner.Kind))
}

// withTemplates are the kinds of workloads whose template changes here. What owns these owns
// no pod.
var withTemplates = []schema.GroupVersionKind{
	appsv1.SchemeGroupVersion.WithKind("Deployment"), appsv1.SchemeGroupVersion.WithKind("DaemonSet"), appsv1.SchemeGroupVersion.WithKind("StatefulSet"),
	appsv1.SchemeGroupVersion.WithKind("ReplicaSet"), v1.SchemeGroupVersion.WithKind("ReplicationController"), batchv1.SchemeGroupVersion.WithKind("Job"),
}

func get(ctx context.Context, gvk schema.GroupVersionKind, namespace, name string, known []Workloads) runtime.Object {
	for _, w := range known {
		if w == nil {
			continue
		}
		if object, err := w.Get(ctx, gvk, namespace, name); err == nil {
			return object
		}
	}
	return nil
}

// inTrial reads the owners that the state of a trial holds.
type inTrial struct{ *whatif.Trial }

func (t inTrial) Get(_ context.Context, gvk schema.GroupVersionKind, namespace, name string) (runtime.Object, error) {
	return t.Trial.Get(gvk, namespace, name)
}

// asWorkload returns nil for an object without a template for pods.
func asWorkload(object runtime.Object) *workload {
	switch o := object.(type) {
	case *appsv1.Deployment:
		return &workload{object: o, replaces: true}
	case *appsv1.DaemonSet:
		return &workload{object: o, replaces: o.Spec.UpdateStrategy.Type != appsv1.OnDeleteDaemonSetStrategyType}
	case *appsv1.StatefulSet:
		// A rolling update waits for the very pod that is pending.
		return &workload{object: o}
	case *appsv1.ReplicaSet, *v1.ReplicationController:
		return &workload{object: o, forgets: true}
	case *batchv1.Job:
		return &workload{object: o, immutable: true}
	}
	return nil
}

// replicas returns how many pods the workload wants at once; 0 if that depends on the nodes.
func (w *workload) replicas() int {
	switch o := w.object.(type) {
	case *appsv1.Deployment:
		return int(ptr.Deref(o.Spec.Replicas, 1))
	case *appsv1.StatefulSet:
		return int(ptr.Deref(o.Spec.Replicas, 1))
	case *appsv1.ReplicaSet:
		return int(ptr.Deref(o.Spec.Replicas, 1))
	case *v1.ReplicationController:
		return int(ptr.Deref(o.Spec.Replicas, 1))
	case *batchv1.Job:
		parallel := ptr.Deref(o.Spec.Parallelism, 1)
		return int(min(parallel, ptr.Deref(o.Spec.Completions, parallel)))
	}
	return 0
}

// setReplicas reports false for a workload that cannot be scaled.
func setReplicas(object runtime.Object, to int32) bool {
	switch o := object.(type) {
	case *appsv1.Deployment:
		o.Spec.Replicas = &to
	case *appsv1.StatefulSet:
		o.Spec.Replicas = &to
	case *appsv1.ReplicaSet:
		o.Spec.Replicas = &to
	case *v1.ReplicationController:
		o.Spec.Replicas = &to
	default:
		return false
	}
	return true
}

// template returns the pod template of a workload's object.
func template(object runtime.Object) *v1.PodTemplateSpec {
	switch o := object.(type) {
	case *appsv1.Deployment:
		return &o.Spec.Template
	case *appsv1.DaemonSet:
		return &o.Spec.Template
	case *appsv1.StatefulSet:
		return &o.Spec.Template
	case *appsv1.ReplicaSet:
		return &o.Spec.Template
	case *v1.ReplicationController:
		return o.Spec.Template
	case *batchv1.Job:
		return &o.Spec.Template
	}
	return nil
}

// again returns a Job as one would create it: without what the API server and the job's
// controller gave it.
func again(job *batchv1.Job) *batchv1.Job {
	out := &batchv1.Job{
		TypeMeta: metav1.TypeMeta{APIVersion: batchv1.SchemeGroupVersion.String(), Kind: "Job"},
		ObjectMeta: metav1.ObjectMeta{
			Namespace: job.Namespace, Name: job.Name, Labels: job.Labels, Annotations: job.Annotations, OwnerReferences: job.OwnerReferences,
		},
		Spec: *job.Spec.DeepCopy(),
	}
	if m := out.Spec.ManualSelector; m == nil || !*m {
		out.Spec.Selector = nil
		for _, label := range []string{"controller-uid", "job-name", batchv1.ControllerUidLabel, batchv1.JobNameLabel} {
			delete(out.Spec.Template.Labels, label)
		}
	}
	return out
}
