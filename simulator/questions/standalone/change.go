package standalone

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"

	"kube-scheduler-simulator/scheduler/config"
	"kube-scheduler-simulator/scheduler/memory"
	"kube-scheduler-simulator/scheduler/whatif"
	"kube-scheduler-simulator/simulator/cluster/objects"
	"kube-scheduler-simulator/simulator/cluster/storedform"
	"kube-scheduler-simulator/simulator/questions/hypothesis"
)

var _ hypothesis.Admission = (*state)(nil)

// Change makes the change in the state, and returns it as the engine takes it, whole.
func (s *state) Change(ctx context.Context, field string, c hypothesis.Change) (whatif.Change, error) {
	switch count := ptr.Deref(c.Count, 0); {
	case c.Apply != nil:
		o, err := s.apply(ctx, c.Apply, count)
		return whatif.Change{Apply: o, Count: count}, refused(field+".apply", err)
	case c.Patch != nil:
		o, err := s.patch(ctx, *c.Patch)
		return whatif.Change{Apply: o}, refused(field+".patch", err)
	}
	k, ref := s.resolve(*c.Delete)
	if o := s.objects[k]; o != nil {
		s.remove(o)
	}
	return whatif.Change{Delete: &ref}, nil
}

func (s *state) Pod(ctx context.Context, field string, document hypothesis.Document) (*corev1.Pod, error) {
	o, err := storedform.DecodeStrictly(document)
	if err != nil {
		return nil, refused(field, err)
	}
	pod, isPod := o.(*corev1.Pod)
	if !isPod {
		return nil, refused(field, fmt.Errorf("want a Pod, not a %s", o.GetObjectKind().GroupVersionKind().Kind))
	}
	pod.Spec.NodeName = ""
	if o, err = s.admission.Create(ctx, pod); err != nil {
		return nil, refused(field, err)
	}
	return o.(*corev1.Pod), nil // Create keeps the kind
}

// refused returns nil for nil.
func refused(field string, err error) error {
	if err == nil {
		return nil
	}
	return &hypothesis.Refused{Message: field + ": " + err.Error(), Mistakes: []config.Mistake{{Field: field, Message: err.Error()}}}
}

func (s *state) resolve(t hypothesis.Target) (key, whatif.ObjectRef) {
	gvk := schema.FromAPIVersionAndKind(t.APIVersion, t.Kind)
	switch {
	case !objects.KindOf(gvk.GroupKind()).Namespaced:
		t.Namespace = ""
	case t.Namespace == "":
		t.Namespace = corev1.NamespaceDefault
	}
	return key{gvk.GroupKind(), t.Namespace, t.Name}, whatif.ObjectRef{GVK: gvk, Namespace: t.Namespace, Name: t.Name}
}

// apply creates the object, or changes the one of its name as kubectl apply does. Copies are new
// objects.
func (s *state) apply(ctx context.Context, document []byte, count int) (runtime.Object, error) {
	o, err := storedform.DecodeStrictly(document)
	if err != nil {
		return nil, err
	}
	k, _ := keyOf(o)
	if before := s.objects[k]; before != nil && count == 0 {
		return s.change(ctx, before, "", document)
	}
	return s.create(ctx, o)
}

func (s *state) patch(ctx context.Context, p hypothesis.Patch) (runtime.Object, error) {
	k, ref := s.resolve(p.Target)
	before := s.objects[k]
	if before == nil {
		return nil, &whatif.NotFoundError{ObjectRef: ref}
	}
	kind := types.PatchType("")
	if len(p.Patch) > 0 && p.Patch[0] == '[' {
		kind = types.JSONPatchType
	}
	return s.change(ctx, before, kind, p.Patch)
}

func (s *state) change(ctx context.Context, before runtime.Object, kind types.PatchType, patch []byte) (runtime.Object, error) {
	document, err := json.Marshal(before)
	if err != nil {
		return nil, err
	}
	if document, err = memory.Patched(document, before, kind, patch); err != nil {
		return nil, fmt.Errorf("patching: %w", err)
	}
	after, err := storedform.DecodeStrictly(document)
	if err != nil {
		return nil, err
	}
	was, _ := keyOf(before)
	if is, _ := keyOf(after); is != was {
		return nil, errors.New("a patch cannot change the kind, the namespace or the name")
	}
	if after, err = s.admission.Update(ctx, after, before); err != nil {
		return nil, err
	}
	s.link(after)
	s.put(after)
	return after, nil
}

func (s *state) create(ctx context.Context, o runtime.Object) (runtime.Object, error) {
	o, err := s.admission.Create(ctx, o)
	if err != nil {
		return nil, err
	}
	s.link(o)
	s.put(o)
	return o, nil
}
