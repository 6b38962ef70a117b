package hypothesis

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	v1 "k8s.io/api/core/v1"
	schedulingv1 "k8s.io/api/scheduling/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	utiljson "k8s.io/apimachinery/pkg/util/json"
	"k8s.io/utils/ptr"

	"kube-scheduler-simulator/scheduler/memory"
	"kube-scheduler-simulator/scheduler/whatif"
)

// admission admits the objects of one question, in order.
//
// A dry run sees the cluster as it is, without the changes that the question makes before. Where
// that matters, admission asks a question that the API server can answer:
//   - An object that the question has changed before is changed again here. The API server judges
//     the outcome: as an update if it can compare, else as a new object.
//   - A new object whose name is taken in the cluster, because the question deletes that object
//     first or asks about a pod anew, is judged under another name.
//   - A new object in a namespace that the question makes is judged in standInNamespace, which has
//     no limits either.
//   - A pod with a priority class that the question makes is judged without one, and gets its
//     priority here.
type admission struct {
	dryRuns
	// settle completes a new object as controllers would.
	settle func(runtime.Object)
	// made are the objects that the changes so far have touched.
	made map[place]made
}

type made struct {
	// object is nil once it is deleted.
	object runtime.Object
	// exists: the object is in the cluster and the question has not deleted it, so the API server
	// can compare.
	exists bool
}

// standInNamespace exists in every cluster, and few users set limits for it.
const standInNamespace = v1.NamespaceNodeLease

var (
	podKind           = v1.SchemeGroupVersion.WithKind("Pod")
	namespaceKind     = v1.SchemeGroupVersion.WithKind("Namespace")
	priorityClassKind = schedulingv1.SchemeGroupVersion.WithKind("PriorityClass")
)

// errTaken says that the cluster has an object of that name.
var errTaken = errors.New("the name is taken")

var _ Admission = (*admission)(nil)

func (a *admission) Change(ctx context.Context, field string, c Change) (whatif.Change, error) {
	switch {
	case c.Apply != nil:
		return a.apply(ctx, field+".apply", c.Apply, ptr.Deref(c.Count, 0))
	case c.Patch != nil:
		return a.patch(ctx, field+".patch", *c.Patch)
	}
	return a.remove(ctx, field+".delete", *c.Delete)
}

func (a *admission) apply(ctx context.Context, field string, d Document, count int) (whatif.Change, error) {
	u, at, err := a.read(ctx, field, d, schema.GroupVersionKind{})
	if err != nil {
		return whatif.Change{}, err
	}
	before, touched := a.made[at]
	var object runtime.Object
	switch {
	case count > 0:
		object, err = a.create(ctx, field, at, u, true)
	case touched && before.object != nil:
		object, err = a.changeAgain(ctx, field, at, before, u.Object)
	case touched:
		object, err = a.create(ctx, field, at, u, true)
	default:
		object, err = a.create(ctx, field, at, u, false)
		if errors.Is(err, errTaken) {
			before.exists = true
			object, err = a.changeExisting(ctx, field, at, types.ApplyPatchType, u.Object)
		}
	}
	if err != nil {
		return whatif.Change{}, err
	}
	if count == 0 {
		a.made[at] = made{object, before.exists}
	}
	return whatif.Change{Apply: object, Count: count}, nil
}

func (a *admission) patch(ctx context.Context, field string, p Patch) (whatif.Change, error) {
	at, err := a.targetOf(field, p.Target)
	if err != nil {
		return whatif.Change{}, err
	}
	var patch map[string]any
	if err := utiljson.Unmarshal(p.Patch, &patch); err != nil || patch == nil {
		return whatif.Change{}, refuse(field+".patch", "want a strategic merge patch: an object with the fields to change")
	}
	before, touched := a.made[at]
	var object runtime.Object
	switch {
	case touched && before.object == nil:
		return whatif.Change{}, isGone(field, at)
	case touched:
		object, err = a.changeAgain(ctx, field, at, before, patch)
	default:
		before.exists = true
		object, err = a.changeExisting(ctx, field, at, patchKind(at.gvk), patch)
	}
	if err != nil {
		return whatif.Change{}, err
	}
	a.made[at] = made{object, before.exists}
	return whatif.Change{Apply: object}, nil
}

func (a *admission) remove(ctx context.Context, field string, t Target) (whatif.Change, error) {
	at, err := a.targetOf(field, t)
	if err != nil {
		return whatif.Change{}, err
	}
	before, touched := a.made[at]
	switch {
	case touched && before.object == nil:
		return whatif.Change{}, isGone(field, at)
	case !touched || before.exists:
		if err := a.delete(ctx, at); err != nil {
			return whatif.Change{}, refusedBy(err, field, standIn{})
		}
	}
	a.made[at] = made{}
	return whatif.Change{Delete: &whatif.ObjectRef{GVK: at.gvk, Namespace: at.namespace, Name: at.name}}, nil
}

func (a *admission) Pod(ctx context.Context, field string, d Document) (*v1.Pod, error) {
	u, at, err := a.read(ctx, field, d, podKind)
	if err != nil {
		return nil, err
	}
	if at.gvk != podKind {
		return nil, refuse(field, "want a Pod of version v1, not a %s of %s", at.gvk.Kind, at.gvk.GroupVersion())
	}
	unstructured.RemoveNestedField(u.Object, "spec", "nodeName")
	object, err := a.create(ctx, field, at, u, true)
	if err != nil {
		return nil, err
	}
	return object.(*v1.Pod), nil // the API server answers with the kind that it was sent
}

// With anew, the name of the new object may be taken; otherwise the error is then errTaken.
func (a *admission) create(ctx context.Context, field string, at place, u *unstructured.Unstructured, anew bool) (runtime.Object, error) {
	body, asked := u.DeepCopy(), at
	if namespace := a.made[namespacePlace(at.namespace)]; at.namespace != "" && namespace.object != nil && !namespace.exists {
		asked.namespace = standInNamespace
		body.SetNamespace(standInNamespace)
	}
	class := a.takeMadeClass(body)
	var shown standIn
	object, err := a.dryRuns.create(ctx, asked, body.Object)
	if apierrors.IsAlreadyExists(err) {
		if !anew {
			return nil, errTaken
		}
		shown = standIn{name: "hypothesis-" + strings.ToLower(rand.Text()), inPlaceOf: at.name}
		body.SetName(shown.name)
		object, err = a.dryRuns.create(ctx, asked, body.Object)
	}
	if err != nil {
		return nil, refusedBy(err, field, shown)
	}
	m, err := meta.Accessor(object)
	if err != nil {
		return nil, fmt.Errorf("reading the answer of a dry run: %w", err)
	}
	m.SetNamespace(at.namespace)
	if shown.name != "" {
		m.SetName(at.name)
	}
	if class != nil {
		setClass(object.(*v1.Pod), class)
	}
	// Most kinds lose their status when they are created, because controllers write it.
	if status, written := u.Object["status"]; written {
		if object, err = merged(object, map[string]any{"status": status}); err != nil {
			return nil, refuse(field+".status", "%v", err)
		}
	}
	a.settle(object)
	return object, nil
}

// The API server changes the status of an existing object apart from the rest.
func (a *admission) changeExisting(ctx context.Context, field string, at place, kind types.PatchType, patch map[string]any) (runtime.Object, error) {
	status, written := patch["status"]
	written = written && hasStatus(at.gvk)
	if written {
		delete(patch, "status")
	}
	var through []string
	if at.gvk == podKind && resizes(patch) {
		through = []string{"resize"}
	}
	object, err := a.dryRuns.patch(ctx, kind, at, patch, through...)
	if err != nil {
		return nil, refusedBy(err, field, standIn{})
	}
	if !written {
		return object, nil
	}
	changed, err := a.dryRuns.patch(ctx, patchKind(at.gvk), at, map[string]any{"status": status}, "status")
	if err != nil {
		return nil, refusedBy(err, field, standIn{})
	}
	fields, err := runtime.DefaultUnstructuredConverter.ToUnstructured(changed)
	if err != nil {
		return nil, fmt.Errorf("reading the answer of a dry run: %w", err)
	}
	return withStatus(object, fields["status"])
}

// resizes reports whether a patch of a pod changes only the resources of its containers, which the
// API server takes through another path than the rest.
func resizes(patch map[string]any) bool {
	spec, ok := patch["spec"].(map[string]any)
	if !ok || len(patch) != 1 {
		return false
	}
	changes := false
	for field, value := range spec {
		containers, ok := value.([]any)
		switch {
		case strings.HasPrefix(field, "$setElementOrder/"):
			continue
		case !ok || field != "containers" && field != "initContainers":
			return false
		}
		for _, c := range containers {
			fields, _ := c.(map[string]any)
			for name := range fields {
				if name != "name" && name != "resources" {
					return false
				}
				changes = changes || name == "resources"
			}
		}
	}
	return changes
}

// changeAgain admits a change of an object that the question has changed before.
func (a *admission) changeAgain(ctx context.Context, field string, at place, before made, patch map[string]any) (runtime.Object, error) {
	after, err := merged(before.object, patch)
	if err != nil {
		return nil, refuse(field, "%v", err)
	}
	fields, err := runtime.DefaultUnstructuredConverter.ToUnstructured(after)
	if err != nil {
		return nil, fmt.Errorf("encoding a changed %s: %w", at.gvk.Kind, err)
	}
	u := &unstructured.Unstructured{Object: fields}
	u.SetGroupVersionKind(at.gvk)
	for _, written := range writtenByServer {
		unstructured.RemoveNestedField(fields, "metadata", written)
	}
	if !before.exists {
		return a.create(ctx, field, at, u, true)
	}
	object, err := a.update(ctx, at, fields)
	if err != nil {
		return nil, refusedBy(err, field, standIn{})
	}
	return withStatus(object, fields["status"])
}

// takeMadeClass removes the priority class from a pod if the question makes that class, and returns
// it.
func (a *admission) takeMadeClass(pod *unstructured.Unstructured) *schedulingv1.PriorityClass {
	if pod.GroupVersionKind() != podKind {
		return nil
	}
	name, _, _ := unstructured.NestedString(pod.Object, "spec", "priorityClassName")
	class := a.made[classPlace(name)]
	if class.object == nil || class.exists {
		return nil
	}
	for _, field := range []string{"priorityClassName", "priority"} {
		unstructured.RemoveNestedField(pod.Object, "spec", field)
	}
	return class.object.(*schedulingv1.PriorityClass)
}

// setClass does what the admission plugin Priority does. A pod keeps its own preemption policy
// here, where the plugin would refuse one that differs from that of the class.
func setClass(pod *v1.Pod, class *schedulingv1.PriorityClass) {
	pod.Spec.PriorityClassName, pod.Spec.Priority = class.Name, ptr.To(class.Value)
	if policy := class.PreemptionPolicy; policy != nil && ptr.Deref(pod.Spec.PreemptionPolicy, v1.PreemptLowerPriority) == v1.PreemptLowerPriority {
		pod.Spec.PreemptionPolicy = policy
	}
}

func (a *admission) read(ctx context.Context, field string, d Document, standard schema.GroupVersionKind) (*unstructured.Unstructured, place, error) {
	u, err := d.decode(ctx, field, standard)
	if err != nil {
		return nil, place{}, err
	}
	at, err := a.placeOf(field, u.GroupVersionKind(), u.GetNamespace(), u.GetName())
	if err != nil {
		return nil, place{}, err
	}
	u.SetNamespace(at.namespace)
	return u, at, nil
}

func (a *admission) targetOf(field string, t Target) (place, error) {
	if t.APIVersion == "" || t.Kind == "" || t.Name == "" {
		return place{}, refuse(field, "apiVersion, kind and name are required")
	}
	return a.placeOf(field, schema.FromAPIVersionAndKind(t.APIVersion, t.Kind), t.Namespace, t.Name)
}

func isGone(field string, at place) error {
	return refuse(field, "an earlier change deletes the %s %q", at.gvk.Kind, at.name)
}

func merged(object runtime.Object, patch map[string]any) (runtime.Object, error) {
	before, err := json.Marshal(object)
	if err != nil {
		return nil, err
	}
	change, err := utiljson.Marshal(patch)
	if err != nil {
		return nil, err
	}
	after, err := memory.Patched(before, object, "", change)
	if err != nil {
		return nil, err
	}
	return decoded(after)
}

func withStatus(object runtime.Object, status any) (runtime.Object, error) {
	fields, err := runtime.DefaultUnstructuredConverter.ToUnstructured(object)
	if err != nil {
		return nil, err
	}
	fields["status"] = status
	data, err := utiljson.Marshal(fields)
	if err != nil {
		return nil, err
	}
	return decoded(data)
}
