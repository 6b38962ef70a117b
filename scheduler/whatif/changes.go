package whatif

import (
	"encoding/json"
	"errors"
	"fmt"
	"strconv"

	jsonpatch "gopkg.in/evanphx/json-patch.v4"
	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/strategicpatch"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/kubernetes/pkg/apis/core"
	corev1 "k8s.io/kubernetes/pkg/apis/core/v1"
	"k8s.io/kubernetes/pkg/apis/core/validation"
	kjson "sigs.k8s.io/json"

	"kube-scheduler-simulator/scheduler/memory"
)

// Apply applies changes in order. When one fails, with a *ChangeError, those before it stay applied.
func (t *Trial) Apply(changes ...Change) error {
	for i, change := range changes {
		if err := t.apply(change); err != nil {
			return &ChangeError{Index: i, Err: err}
		}
	}
	return nil
}

var errNotOne = &InvalidError{Message: "want exactly one of apply, patch and delete"}

func (t *Trial) apply(c Change) error {
	switch {
	case c.Apply != nil && c.Patch == nil && c.Delete == nil:
		return t.applyCopies(c.Apply, c.Count)
	case c.Apply == nil && c.Patch != nil && c.Delete == nil:
		return t.patch(c.Patch)
	case c.Apply == nil && c.Patch == nil && c.Delete != nil:
		return t.remove(*c.Delete)
	}
	return errNotOne
}

// maxCopies bounds Count.
const maxCopies = 10_000

func (t *Trial) applyCopies(o runtime.Object, count int) error {
	switch o.(type) {
	case *v1.Node, *v1.Pod:
	default:
		if count > 1 {
			return &InvalidError{Path: "count", Message: "only nodes and pods are copied"}
		}
	}
	if count < 0 || count > maxCopies {
		return &InvalidError{Path: "count", Message: fmt.Sprintf("want a number from 1 to %d", maxCopies)}
	}
	if count <= 1 {
		return t.put(o.DeepCopyObject())
	}
	names := t.copyNames(o)
	for range count {
		if err := t.put(renamed(o, names())); err != nil {
			return err
		}
	}
	return nil
}

// copyNames returns a function that returns unused names for copies of an object.
func (t *Trial) copyNames(o runtime.Object) func() string {
	accessor := accessorOf(o)
	i := 0
	return func() string {
		for {
			i++
			name := accessor.GetName() + "-" + strconv.Itoa(i)
			if gvk, err := t.replica.world.Kind(o); err != nil || t.replica.world.Get(gvk, accessor.GetNamespace(), name) == nil {
				return name
			}
		}
	}
}

// renamed returns a copy of a node or a pod with another name.
func renamed(o runtime.Object, name string) runtime.Object {
	o = o.DeepCopyObject()
	accessor := accessorOf(o)
	if node, ok := o.(*v1.Node); ok && node.Labels[v1.LabelHostname] != "" {
		node.Labels[v1.LabelHostname] = name
	}
	accessor.SetName(name)
	accessor.SetUID("")
	return o
}

// put creates or replaces an object. It keeps o.
func (t *Trial) put(o runtime.Object) error {
	gvk, err := t.replica.world.Kind(o)
	if unknown := (*memory.KindError)(nil); errors.As(err, &unknown) {
		return &KindError{ObjectRef{GVK: unknown.GVK}}
	} else if err != nil {
		return &InvalidError{Message: err.Error()}
	}
	accessor := accessorOf(o)
	accessor.SetNamespace(namespaceOf(gvk, accessor.GetNamespace()))
	if !t.replica.reads(gvk) {
		return &KindError{ObjectRef{gvk, accessor.GetNamespace(), accessor.GetName()}}
	}
	if accessor.GetName() == "" {
		return &InvalidError{Path: "metadata.name", Message: "required"}
	}
	before := t.replica.world.Get(gvk, accessor.GetNamespace(), accessor.GetName())
	if before != nil {
		old := accessorOf(before)
		accessor.SetUID(old.GetUID())
		accessor.SetCreationTimestamp(old.GetCreationTimestamp())
	} else {
		accessor.SetUID(t.replica.nextUID())
		accessor.SetCreationTimestamp(metav1.NewTime(t.replica.now()))
	}
	accessor.SetResourceVersion(t.replica.nextVersion())
	if err := t.complete(o); err != nil {
		return err
	}
	return t.set(o)
}

// complete gives an object the defaults of the API, and validates it, as far as this is known for its kind.
func (t *Trial) complete(o runtime.Object) error {
	switch o := o.(type) {
	case *v1.Pod:
		if err := t.prioritize(o); err != nil {
			return err
		}
		corev1.SetObjectDefaults_Pod(o)
		return validatePod(o)
	case *v1.Node:
		corev1.SetObjectDefaults_Node(o)
		internal := &core.Node{}
		if err := corev1.Convert_v1_Node_To_core_Node(o, internal, nil); err != nil {
			return &InvalidError{Message: err.Error()}
		}
		return invalid(validation.ValidateNode(internal))
	}
	return nil
}

// clusterScoped are the kinds without namespaces that a scheduler may read.
var clusterScoped = map[schema.GroupKind]bool{
	{Kind: "Node"}:                                      true,
	{Kind: "PersistentVolume"}:                          true,
	{Kind: "Namespace"}:                                 true,
	{Group: "storage.k8s.io", Kind: "StorageClass"}:     true,
	{Group: "storage.k8s.io", Kind: "CSINode"}:          true,
	{Group: "storage.k8s.io", Kind: "CSIDriver"}:        true,
	{Group: "storage.k8s.io", Kind: "VolumeAttachment"}: true,
	{Group: "scheduling.k8s.io", Kind: "PriorityClass"}: true,
	{Group: "resource.k8s.io", Kind: "DeviceClass"}:     true,
	{Group: "resource.k8s.io", Kind: "ResourceSlice"}:   true,
	{Group: "resource.k8s.io", Kind: "DeviceTaintRule"}: true,
	{Group: "node.k8s.io", Kind: "RuntimeClass"}:        true,
}

// namespaceOf returns the namespace of an object of a kind. Of kinds that the client library does not know, an object
// without a namespace is taken for one of a kind without namespaces.
func namespaceOf(gvk schema.GroupVersionKind, namespace string) string {
	switch {
	case clusterScoped[gvk.GroupKind()]:
		return ""
	case namespace == "" && scheme.Scheme.Recognizes(gvk):
		return metav1.NamespaceDefault
	}
	return namespace
}

// get returns an object that a change names.
func (t *Trial) get(ref ObjectRef) (runtime.Object, ObjectRef, error) {
	ref.Namespace = namespaceOf(ref.GVK, ref.Namespace)
	o, err := t.Get(ref.GVK, ref.Namespace, ref.Name)
	return o, ref, err
}

func (t *Trial) remove(ref ObjectRef) error {
	o, ref, err := t.get(ref)
	if err != nil {
		return err
	}
	// A controller would do this when the pod has gone.
	if pod, ok := o.(*v1.Pod); ok {
		if err := t.releaseClaims(pod); err != nil {
			return err
		}
	}
	t.changed()
	t.replica.world.Delete(ref.GVK, ref.Namespace, ref.Name)
	return nil
}

func (t *Trial) patch(p *Patch) error {
	before, ref, err := t.get(p.ObjectRef)
	if err != nil {
		return err
	}
	document, err := json.Marshal(before)
	if err != nil {
		return fmt.Errorf("encoding %s %s: %w", ref.GVK.Kind, ref.Name, err)
	}
	after, err := patched(before, document, p.Patch)
	if err != nil {
		return err
	}
	accessor, old := accessorOf(after), accessorOf(before)
	if accessor.GetName() != old.GetName() || accessor.GetNamespace() != old.GetNamespace() {
		return &InvalidError{Path: "metadata.name", Message: "a patch cannot rename an object"}
	}
	return t.put(after)
}

// patched returns the object that a patch makes of another one.
func patched(before runtime.Object, document, patch []byte) (runtime.Object, error) {
	if _, ok := before.(*unstructured.Unstructured); ok {
		merged, err := jsonpatch.MergePatch(document, patch)
		if err != nil {
			return nil, &InvalidError{Path: "patch", Message: err.Error()}
		}
		after := &unstructured.Unstructured{}
		if err := json.Unmarshal(merged, &after.Object); err != nil {
			return nil, &InvalidError{Path: "patch", Message: err.Error()}
		}
		return after, nil
	}
	gvks, _, err := scheme.Scheme.ObjectKinds(before)
	if err != nil {
		return nil, fmt.Errorf("patching %T: %w", before, err)
	}
	after, err := scheme.Scheme.New(gvks[0])
	if err != nil {
		return nil, fmt.Errorf("patching %T: %w", before, err)
	}
	merged, err := strategicpatch.StrategicMergePatch(document, patch, after)
	if err != nil {
		return nil, &InvalidError{Path: "patch", Message: err.Error()}
	}
	if err := strictly(merged, after); err != nil {
		return nil, err
	}
	return after, nil
}

// strictly decodes a document and refuses fields that the object does not have.
func strictly(document []byte, into runtime.Object) error {
	strict, err := kjson.UnmarshalStrict(document, into)
	if err != nil {
		return &InvalidError{Path: "patch", Message: err.Error()}
	}
	var errs []error
	for _, err := range strict {
		invalid := &InvalidError{Message: err.Error()}
		if at, ok := err.(kjson.FieldError); ok {
			invalid.Path = at.FieldPath()
		}
		errs = append(errs, invalid)
	}
	return errors.Join(errs...)
}
