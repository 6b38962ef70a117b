package standalone

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"

	jsonpatch "gopkg.in/evanphx/json-patch.v4"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/strategicpatch"

	"kube-scheduler-simulator/scheduler/config"
	"kube-scheduler-simulator/scheduler/whatif"
	"kube-scheduler-simulator/simulator/cluster/objects"
	"kube-scheduler-simulator/simulator/cluster/storedform"
	"kube-scheduler-simulator/simulator/questions/hypothesis"
)

var _ hypothesis.Admission = (*state)(nil)

// Change implements hypothesis.Admission: it makes the change in the state, and returns it as the engine takes it, whole.
func (s *state) Change(ctx context.Context, field string, c hypothesis.Change) (whatif.Change, error) {
	count, err := c.Copies(field)
	switch {
	case err != nil:
		return whatif.Change{}, err
	case c.Apply != nil:
		o, err := s.apply(ctx, c.Apply, count)
		return whatif.Change{Apply: o, Count: count}, refused(field+".apply", err)
	case c.Patch != nil:
		o, err := s.patch(ctx, *c.Patch)
		return whatif.Change{Apply: o}, refused(field+".patch", err)
	case c.Delete != nil:
		k, ref := s.resolve(*c.Delete)
		if o := s.objects[k]; o != nil {
			s.remove(o)
		}
		return whatif.Change{Delete: &ref}, nil
	}
	return whatif.Change{}, refused(field, errors.New("want one of apply, patch and delete"))
}

// Pod implements hypothesis.Admission.
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

// refused says which part of a question is refused. It returns nil for nil.
func refused(field string, err error) error {
	if err == nil {
		return nil
	}
	return &hypothesis.Refused{Message: field + ": " + err.Error(), Mistakes: []config.Mistake{{Field: field, Message: err.Error()}}}
}

// resolve completes the name of an object.
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

// apply creates the object, or changes the one of its name as kubectl apply does. Copies are new objects.
func (s *state) apply(ctx context.Context, document []byte, count int) (runtime.Object, error) {
	o, err := storedform.DecodeStrictly(document)
	if err != nil {
		return nil, err
	}
	k, _ := keyOf(o)
	if before := s.objects[k]; before != nil && count == 0 {
		return s.merge(ctx, before, document)
	}
	return s.create(ctx, o)
}

func (s *state) patch(ctx context.Context, p hypothesis.Patch) (runtime.Object, error) {
	k, ref := s.resolve(p.Target)
	before := s.objects[k]
	if before == nil {
		return nil, &whatif.NotFoundError{ObjectRef: ref}
	}
	if len(p.Patch) == 0 || p.Patch[0] != '[' {
		return s.merge(ctx, before, p.Patch)
	}
	operations, err := jsonpatch.DecodePatch(p.Patch)
	if err != nil {
		return nil, fmt.Errorf("the patch is not a JSON patch: %w", err)
	}
	return s.rewrite(ctx, before, func(document []byte) ([]byte, error) { return operations.Apply(document) })
}

// merge changes an object by a strategic merge patch, or a custom resource by a JSON merge patch.
func (s *state) merge(ctx context.Context, before runtime.Object, patch []byte) (runtime.Object, error) {
	return s.rewrite(ctx, before, func(document []byte) ([]byte, error) {
		if _, isCustom := before.(*unstructured.Unstructured); isCustom {
			return jsonpatch.MergePatch(document, patch)
		}
		return strategicpatch.StrategicMergePatch(document, patch, reflect.New(reflect.TypeOf(before).Elem()).Interface())
	})
}

// rewrite replaces an object by one that edit makes of its JSON.
func (s *state) rewrite(ctx context.Context, before runtime.Object, edit func([]byte) ([]byte, error)) (runtime.Object, error) {
	document, err := json.Marshal(before)
	if err != nil {
		return nil, err
	}
	if document, err = edit(document); err != nil {
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

// create makes a new object part of the state.
func (s *state) create(ctx context.Context, o runtime.Object) (runtime.Object, error) {
	o, err := s.admission.Create(ctx, o)
	if err != nil {
		return nil, err
	}
	s.link(o)
	s.put(o)
	return o, nil
}
