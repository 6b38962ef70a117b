package control

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	kueue "sigs.k8s.io/kueue/apis/kueue/v1beta2"

	"kube-scheduler-simulator/simulator/batch/kueue/admission"
	"kube-scheduler-simulator/simulator/cluster/objects"
)

type object interface {
	runtime.Object
	metav1.Object
}

func compareNames(a, b metav1.Object) int { return cmp.Compare(a.GetName(), b.GetName()) }

// isRace reports whether another client has written first, or the object has gone: a repetition sees that.
func isRace(err error) bool { return apierrors.IsConflict(err) || apierrors.IsNotFound(err) }

// difference returns the merge patch between two versions of an object, which applies to the first of
// them only; nil if they are equal.
func difference(from, to object) ([]byte, error) {
	before, err := runtime.DefaultUnstructuredConverter.ToUnstructured(from)
	if err != nil {
		return nil, err
	}
	after, err := runtime.DefaultUnstructuredConverter.ToUnstructured(to)
	if err != nil {
		return nil, err
	}
	patch := objects.MergePatch(before, after)
	if len(patch) == 0 {
		return nil, nil
	}
	metadata, _ := patch["metadata"].(map[string]any)
	if metadata == nil {
		metadata = map[string]any{}
		patch["metadata"] = metadata
	}
	metadata["resourceVersion"] = from.GetResourceVersion()
	return json.Marshal(patch)
}

// patch writes the difference between two versions of an object of Kueue's, if there is any.
func (e *engaged) patch(ctx context.Context, resource schema.GroupVersionResource, from, to object, subresources ...string) error {
	data, err := difference(from, to)
	if err != nil || data == nil {
		return err
	}
	return e.send(ctx, resource, from, data, subresources...)
}

// send writes a merge patch of an object of Kueue's.
func (e *engaged) send(ctx context.Context, resource schema.GroupVersionResource, from object, data []byte, subresources ...string) error {
	_, err := e.custom.Resource(resource).Namespace(from.GetNamespace()).Patch(ctx, from.GetName(), types.MergePatchType, data, metav1.PatchOptions{FieldManager: agent}, subresources...)
	if err != nil {
		return fmt.Errorf("writing %s %s/%s: %w", resource.Resource, from.GetNamespace(), from.GetName(), err)
	}
	return nil
}

func (e *engaged) live(ctx context.Context, key types.NamespacedName) (*kueue.Workload, error) {
	raw, err := e.custom.Resource(workloadResource).Namespace(key.Namespace).Get(ctx, key.Name, metav1.GetOptions{})
	if err != nil {
		return nil, err
	}
	w := &kueue.Workload{}
	return w, runtime.DefaultUnstructuredConverter.FromUnstructured(raw.Object, w)
}

// attempts bounds how often a write is repeated because another client wrote in between.
const attempts = 5

// change writes what do changes in a workload, and returns the workload before and after that: twice the same
// pointer if do changed nothing. do may be called several times, and must not write to anything else. The error is
// NotFound when the workload has gone.
func (e *engaged) change(ctx context.Context, key types.NamespacedName, do func(*kueue.Workload), subresources ...string) (before, after *kueue.Workload, err error) {
	before = cached[kueue.Workload](e.workloads, key)
	for n := 0; ; n++ {
		if before == nil || n > 0 {
			if before, err = e.live(ctx, key); err != nil {
				return nil, nil, err
			}
		}
		after = before.DeepCopy()
		do(after)
		data, err := difference(before, after)
		if err != nil {
			return nil, nil, err
		}
		if data == nil {
			return before, before, nil
		}
		if err = e.send(ctx, workloadResource, before, data, subresources...); err == nil || !apierrors.IsConflict(err) || n == attempts {
			return before, after, err
		}
	}
}

// write carries out a decision and tells its events.
func (e *engaged) write(ctx context.Context, d admission.Decision) error {
	var subresources []string
	if !d.Spec {
		subresources = []string{"status"}
	}
	other := false
	before, after, err := e.change(ctx, d.Workload.Key(), func(w *kueue.Workload) {
		if other = d.Workload.UID != "" && w.UID != d.Workload.UID; !other {
			d.Apply(w, e.clock.Now())
		}
	}, subresources...)
	if err != nil {
		return err
	}
	if other {
		return apierrors.NewNotFound(schema.GroupResource{Group: kueue.GroupVersion.Group, Resource: workloadResource.Resource}, d.Workload.Name)
	}
	if before == after {
		return nil // written before, so told before
	}
	for _, event := range d.Events {
		kind := corev1.EventTypeNormal
		if event.Warning {
			kind = corev1.EventTypeWarning
		}
		e.recorder.Event(after, kind, event.Reason, event.Message)
	}
	e.count(d, before, after)
	return nil
}

// carry writes decisions one after the other.
func (e *engaged) carry(ctx context.Context, decisions []admission.Decision) error {
	for _, d := range decisions {
		if err := e.write(ctx, d); err != nil {
			return err
		}
	}
	return nil
}

func (e *engaged) create(ctx context.Context, resource schema.GroupVersionResource, o object) error {
	content, err := runtime.DefaultUnstructuredConverter.ToUnstructured(o)
	if err != nil {
		return err
	}
	delete(content, "status")
	_, err = e.custom.Resource(resource).Namespace(o.GetNamespace()).Create(ctx, &unstructured.Unstructured{Object: content}, metav1.CreateOptions{FieldManager: agent})
	if apierrors.IsAlreadyExists(err) {
		return nil
	}
	return err
}
