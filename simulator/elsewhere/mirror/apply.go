package mirror

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic"
	"k8s.io/utils/ptr"

	"kube-scheduler-simulator/simulator/cluster/objects"
)

// applied is an object of the source as it was last carried over.
type applied struct {
	from *prepared
	// uid is the object's UID here.
	uid types.UID
	// found is the object as an earlier run of the simulator left it. Of the object in the source,
	// only from.uid is known then.
	found *unstructured.Unstructured
	// yielded: an object of the same name existed here first.
	yielded bool
	// gone: a user or a controller has deleted it here. It stays deleted.
	gone bool
}

// errNotYet: the object waits for another one.
var errNotYet = errors.New("its owner does not exist yet")

// apply makes one object equal to its state in the source, and reports whether it changed anything.
// At most one call runs per object.
func (s *Sync) apply(ctx context.Context, k *following, it item) (changed bool, err error) {
	wanted := k.find(it.key)
	k.mu.Lock()
	have := k.applied[it.key]
	k.mu.Unlock()
	switch {
	case wanted == nil && have == nil:
		return false, nil
	case wanted == nil:
		if !k.complete() {
			return false, nil // it may be there, and not be known yet
		}
		return true, s.remove(ctx, k, it.key, have)
	case have == nil:
		return s.add(ctx, k, it, wanted)
	case have.from.uid != wanted.uid:
		if err := s.remove(ctx, k, it.key, have); err != nil {
			return false, err
		}
		return s.add(ctx, k, it, wanted)
	}
	return s.change(ctx, k, it, have, wanted)
}

func (k *following) set(key string, a *applied) {
	k.mu.Lock()
	defer k.mu.Unlock()
	delete(k.since, key)
	if a == nil {
		delete(k.applied, key)
	} else {
		k.applied[key] = a
	}
}

func (k *following) of(p *prepared) dynamic.ResourceInterface {
	if k.namespaced {
		return k.here.Namespace(p.namespace)
	}
	return k.here
}

// remember finds the objects that came from a source before.
func (k *following) remember(ctx context.Context) error {
	list, err := k.here.List(ctx, metav1.ListOptions{})
	if apierrors.IsNotFound(err) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("list %s: %w", k.kind, err)
	}
	for i := range list.Items {
		o := &list.Items[i]
		uid, ours := o.GetAnnotations()[objects.AnnotationSource]
		if !ours {
			continue
		}
		p := &prepared{kind: k.kind, namespace: o.GetNamespace(), name: o.GetName(), uid: uid}
		k.applied[p.key()] = &applied{from: p, uid: o.GetUID(), found: o}
	}
	return nil
}

// wait reports whether a pending object should wait a little longer for its completion. It puts the
// object back into the queue.
func (s *Sync) wait(k *following, it item, p *prepared) bool {
	if !p.pending {
		return false
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	since, seen := k.since[it.key]
	if !seen {
		since = time.Now()
		k.since[it.key] = since
	}
	left := s.opts.hold - time.Since(since)
	if left <= 0 {
		return false
	}
	s.queue.AddAfter(it, jitter(left))
	return true
}

func (s *Sync) add(ctx context.Context, k *following, it item, p *prepared) (bool, error) {
	if s.wait(k, it, p) {
		return false, nil
	}
	object, err := s.complete(p)
	if err != nil {
		return false, err
	}
	made, err := k.of(p).Create(ctx, &unstructured.Unstructured{Object: object}, metav1.CreateOptions{})
	if apierrors.IsAlreadyExists(err) {
		return s.adopt(ctx, k, it, p)
	}
	if err != nil {
		return false, fmt.Errorf("create %s %s: %w", k.Kind, p.key(), err)
	}
	a := &applied{from: p, uid: made.GetUID()}
	k.set(it.key, a)
	if p.status != nil && k.GroupKind() != objects.Node {
		if err := s.patch(ctx, k, p, map[string]any{"status": p.status}, "status"); err != nil && !apierrors.IsNotFound(err) {
			// The object lacks its status: the next attempt writes it.
			unfinished := *p
			unfinished.status = map[string]any{}
			k.set(it.key, &applied{from: &unfinished, uid: a.uid})
			return true, err
		}
	}
	return true, s.end(ctx, k, p, a)
}

func (s *Sync) complete(p *prepared) (map[string]any, error) {
	object := without(p.object)
	if p.node != "" {
		spec := without(field(object, "spec"))
		spec["nodeName"] = p.node
		object["spec"] = spec
	}
	if p.kind.GroupKind() == objects.Node {
		object["status"] = p.status
	}
	if p.owner == "" {
		return object, nil
	}
	pods := s.following(objects.Pod)
	if pods == nil || pods.find(p.owner) == nil {
		return object, nil // it is not selected, or has gone
	}
	pods.mu.Lock()
	owner := pods.applied[p.owner]
	pods.mu.Unlock()
	if owner == nil || owner.uid == "" {
		return nil, errNotYet
	}
	metadata := without(field(object, "metadata"))
	metadata["ownerReferences"] = []any{map[string]any{
		"apiVersion": "v1", "kind": "Pod", "name": owner.from.name, "uid": string(owner.uid),
		"controller": true, "blockOwnerDeletion": true,
	}}
	object["metadata"] = metadata
	return object, nil
}

func (s *Sync) following(gk schema.GroupKind) *following {
	for _, k := range s.kinds {
		if k.GroupKind() == gk {
			return k
		}
	}
	return nil
}

// adopt updates an existing object that came from the source, and leaves any other alone.
func (s *Sync) adopt(ctx context.Context, k *following, it item, p *prepared) (bool, error) {
	found, err := k.of(p).Get(ctx, p.name, metav1.GetOptions{})
	if err != nil {
		return false, fmt.Errorf("look at %s %s, which exists: %w", k.Kind, p.key(), err)
	}
	uid, ours := found.GetAnnotations()[objects.AnnotationSource]
	switch {
	case !ours:
		k.set(it.key, &applied{from: p, yielded: true})
		return false, nil
	case uid != p.uid || found.GetDeletionTimestamp() != nil:
		if err := s.delete(ctx, k, p, found.GetUID(), 0); err != nil {
			return false, err
		}
		return true, errNotYet
	}
	have := &applied{from: &prepared{kind: k.kind, namespace: p.namespace, name: p.name, uid: uid}, uid: found.GetUID(), found: found}
	return s.change(ctx, k, it, have, p)
}

// change carries over what has changed in the source since the last time. Changes that were made
// here stay.
func (s *Sync) change(ctx context.Context, k *following, it item, have *applied, p *prepared) (bool, error) {
	if have.yielded || have.gone {
		k.set(it.key, &applied{from: p, uid: have.uid, yielded: have.yielded, gone: have.gone})
		return false, nil
	}
	object, status := s.differences(have, p)
	changed := object != nil || status != nil
	err := s.changeObject(ctx, k, p, object)
	if err == nil && !s.opts.Reschedule && p.node != "" && p.node != have.node() {
		changed = true
		err = s.bind(ctx, k, have, p)
	}
	if err == nil && status != nil {
		err = s.patch(ctx, k, p, map[string]any{"status": status}, "status")
	}
	next := &applied{from: p, uid: have.uid}
	switch {
	case apierrors.IsNotFound(err):
		next.gone = true
		k.set(it.key, next)
		return false, nil
	case errors.Is(err, errElsewhere):
		// The source has bound the pod to another node than the scheduler here.
		if err := s.remove(ctx, k, it.key, have); err != nil {
			return false, err
		}
		return s.add(ctx, k, it, p)
	case err != nil:
		return false, err
	}
	k.set(it.key, next)
	if have.from.deleting == nil {
		return changed, s.end(ctx, k, p, next)
	}
	return changed, nil
}

// node returns the node that the object was last seen on.
func (a *applied) node() string {
	if a.found != nil {
		node, _ := field(a.found.Object, "spec")["nodeName"].(string)
		return node
	}
	return a.from.node
}

// The merge patches are nil where nothing differs.
func (s *Sync) differences(have *applied, p *prepared) (object, status map[string]any) {
	if have.found == nil {
		return notEmpty(objects.MergePatch(have.from.object, p.object)), notEmpty(objects.MergePatch(have.from.status, p.status))
	}
	// The API server has added fields to the object found, so only missing ones count. But labels
	// are the source's alone, and some fields have a meaning when they are absent.
	object = objects.Additions(have.found.Object, p.object)
	if gone := objects.MergePatch(field(have.found.Object, "metadata", "labels"), field(p.object, "metadata", "labels")); len(gone) > 0 {
		metadata := without(field(object, "metadata"))
		metadata["labels"] = gone
		object["metadata"] = metadata
	}
	if p.kind.GroupKind() == objects.Node {
		spec := without(field(object, "spec"))
		for _, name := range []string{"taints", "unschedulable"} {
			_, had := field(have.found.Object, "spec")[name]
			if _, has := field(p.object, "spec")[name]; had && !has {
				spec[name] = nil
			}
		}
		if len(spec) > 0 {
			object["spec"] = spec
		}
	}
	status = objects.Additions(field(have.found.Object, "status"), p.status)
	return notEmpty(object), notEmpty(status)
}

func notEmpty(patch map[string]any) map[string]any {
	if len(patch) == 0 {
		return nil
	}
	return patch
}

// changeObject ignores changes of fields that are immutable here.
func (s *Sync) changeObject(ctx context.Context, k *following, p *prepared, patch map[string]any) error {
	if patch == nil {
		return nil
	}
	err := s.patch(ctx, k, p, patch)
	if !apierrors.IsInvalid(err) {
		return err
	}
	if containers, resized := field(patch, "spec")["containers"]; resized && k.GroupKind() == objects.Pod {
		resize := map[string]any{"spec": map[string]any{"containers": containers}}
		if err := s.patch(ctx, k, p, resize, "resize"); err != nil && !apierrors.IsInvalid(err) {
			return err
		}
	}
	s.opts.Logger.Info("A change in the source cannot be copied, because the field is immutable here", "kind", k.Kind, "name", p.key(), "err", err)
	if metadata := field(patch, "metadata"); len(metadata) > 0 {
		return s.patch(ctx, k, p, map[string]any{"metadata": metadata})
	}
	return nil
}

func (s *Sync) patch(ctx context.Context, k *following, p *prepared, patch map[string]any, subresources ...string) error {
	data, err := json.Marshal(patch)
	if err != nil {
		return fmt.Errorf("encode a change of %s %s: %w", k.Kind, p.key(), err)
	}
	if _, err := k.of(p).Patch(ctx, p.name, types.MergePatchType, data, metav1.PatchOptions{}, subresources...); err != nil {
		return fmt.Errorf("change %s %s: %w", k.Kind, p.key(), err)
	}
	return nil
}

// errElsewhere: the pod is bound to another node here.
var errElsewhere = errors.New("the pod is on another node")

func (s *Sync) bind(ctx context.Context, k *following, have *applied, p *prepared) error {
	binding := &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "v1", "kind": "Binding",
		"metadata": map[string]any{"name": p.name, "namespace": p.namespace, "uid": string(have.uid)},
		"target":   map[string]any{"apiVersion": "v1", "kind": "Node", "name": p.node},
	}}
	_, err := k.of(p).Create(ctx, binding, metav1.CreateOptions{}, "binding")
	if err == nil {
		return nil
	}
	now, getErr := k.of(p).Get(ctx, p.name, metav1.GetOptions{})
	if getErr != nil {
		return fmt.Errorf("bind pod %s: %w", p.key(), getErr)
	}
	switch node, _ := field(now.Object, "spec")["nodeName"].(string); node {
	case p.node:
		return nil
	case "":
		return fmt.Errorf("bind pod %s to %s: %w", p.key(), p.node, err)
	}
	return errElsewhere
}

// end deletes a pod that is being deleted in the source, with the same grace period.
func (s *Sync) end(ctx context.Context, k *following, p *prepared, a *applied) error {
	if p.deleting == nil {
		return nil
	}
	return s.delete(ctx, k, p, a.uid, *p.deleting)
}

func (s *Sync) remove(ctx context.Context, k *following, key string, have *applied) error {
	if !have.yielded && !have.gone {
		if keep, err := s.inhabited(ctx, k, have); keep || err != nil {
			if keep {
				k.set(key, nil)
			}
			return err
		}
		if err := s.delete(ctx, k, have.from, have.uid, 0); err != nil {
			return err
		}
	}
	k.set(key, nil)
	return nil
}

// delete deletes the object with that UID; another one of the same name stays.
func (s *Sync) delete(ctx context.Context, k *following, p *prepared, uid types.UID, grace int64) error {
	options := metav1.DeleteOptions{Preconditions: &metav1.Preconditions{UID: &uid}}
	if k.GroupKind() == objects.Pod {
		options.GracePeriodSeconds = ptr.To(grace)
	}
	err := k.of(p).Delete(ctx, p.name, options)
	if err != nil && !apierrors.IsNotFound(err) && !apierrors.IsConflict(err) {
		return fmt.Errorf("delete %s %s: %w", k.Kind, p.key(), err)
	}
	return nil
}

// inhabited reports whether a namespace holds anything that did not come from the source. Then the
// mirror does not delete it.
func (s *Sync) inhabited(ctx context.Context, k *following, have *applied) (bool, error) {
	if k.GroupKind() != objects.Namespace {
		return false, nil
	}
	for _, inner := range s.kinds {
		if !inner.namespaced {
			continue
		}
		list, err := inner.here.Namespace(have.from.name).List(ctx, metav1.ListOptions{})
		if err != nil {
			return false, fmt.Errorf("look into namespace %s: %w", have.from.name, err)
		}
		for i := range list.Items {
			if _, came := list.Items[i].GetAnnotations()[objects.AnnotationSource]; !came {
				return true, nil
			}
		}
	}
	return false, nil
}
