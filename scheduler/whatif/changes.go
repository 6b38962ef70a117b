package whatif

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"

	v1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/kubernetes/pkg/apis/core"
	corev1 "k8s.io/kubernetes/pkg/apis/core/v1"
	"k8s.io/kubernetes/pkg/apis/core/validation"
	kjson "sigs.k8s.io/json"

	"kube-scheduler-simulator/scheduler/builtin"
	"kube-scheduler-simulator/scheduler/memory"
	"kube-scheduler-simulator/scheduler/standin"
	"kube-scheduler-simulator/scheduler/whatif/newnode"
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

// MaxCount bounds Change.Count.
const MaxCount = 5000

// CheckCount returns an *InvalidError for a number of copies that nobody can ask for. Whoever reads a count calls it, so that every way
// of asking refuses the same ones.
func CheckCount(count int) error {
	if count < 1 || count > MaxCount {
		return &InvalidError{Path: "count", Message: fmt.Sprintf("want a number from 1 to %d", MaxCount)}
	}
	return nil
}

// applyCopies creates or replaces the object itself if count is 0, and else creates so many copies of it.
func (t *Trial) applyCopies(o runtime.Object, count int) error {
	if count == 0 {
		return t.put(o.DeepCopyObject())
	}
	if err := CheckCount(count); err != nil {
		return err
	}
	names := t.copyNames(o)
	switch o := o.(type) {
	case *v1.Node:
		return t.addNodes(o, count, names)
	case *v1.Pod:
		for range count {
			if err := t.put(renamed(o, names())); err != nil {
				return err
			}
		}
		return nil
	}
	return &InvalidError{Path: "count", Message: "only nodes and pods are copied"}
}

func (t *Trial) addNodes(like *v1.Node, count int, names func() string) error {
	nodes, sample := t.newNodes(like, count, names)
	for _, n := range nodes {
		if err := t.AddNode(n); err != nil {
			return err
		}
		if sample != nil {
			t.added = append(t.added, added{n.Node.Name, sample})
		}
	}
	return nil
}

// NewNodes returns the nodes that a change of this node and with this count would add. It adds none.
func (t *Trial) NewNodes(like *v1.Node, count int) ([]*newnode.Node, error) {
	if err := CheckCount(count); err != nil {
		return nil, err
	}
	nodes, _ := t.newNodes(like, count, t.copyNames(like))
	return nodes, nil
}

// newNodes makes copies of a node. If the state has a node of the name, they are new nodes like it, with all that it brings, and sample is what they
// are made after.
func (t *Trial) newNodes(like *v1.Node, count int, names func() string) (nodes []*newnode.Node, sample *newnode.Sample) {
	if in(t).world.Get(nodeKind, "", like.Name) == nil {
		for range count {
			nodes = append(nodes, &newnode.Node{Node: renamed(like, names()).(*v1.Node)})
		}
		return nodes, nil
	}
	survey := newnode.NewSurvey(t)
	sample = survey.Of(like)
	for range count {
		name := names()
		for survey.Leftover(name) {
			name = names()
		}
		nodes = append(nodes, sample.New(name))
	}
	return nodes, sample
}

// AddNode adds a new node with all that comes with it. It keeps n.
func (t *Trial) AddNode(n *newnode.Node) error {
	for _, o := range n.Objects() {
		if err := t.put(o); err != nil {
			return err
		}
	}
	return nil
}

func (t *Trial) copyNames(o runtime.Object) func() string {
	accessor := accessorOf(o)
	i := 0
	return func() string {
		for {
			i++
			name := accessor.GetName() + "-" + strconv.Itoa(i)
			if gvk, err := in(t).world.Kind(o); err != nil || in(t).world.Get(gvk, accessor.GetNamespace(), name) == nil {
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
	gvk, err := in(t).world.Kind(o)
	if unknown := (*memory.KindError)(nil); errors.As(err, &unknown) {
		return &KindError{ObjectRef{GVK: unknown.GVK}}
	} else if err != nil {
		return &InvalidError{Message: err.Error()}
	}
	accessor := accessorOf(o)
	accessor.SetNamespace(namespaceOf(gvk, accessor.GetNamespace()))
	if !in(t).reads(gvk) {
		return &KindError{ObjectRef{gvk, accessor.GetNamespace(), accessor.GetName()}}
	}
	if accessor.GetName() == "" {
		return &InvalidError{Path: "metadata.name", Message: "required"}
	}
	before := in(t).world.Get(gvk, accessor.GetNamespace(), accessor.GetName())
	if before != nil {
		old := accessorOf(before)
		accessor.SetUID(old.GetUID())
		accessor.SetCreationTimestamp(old.GetCreationTimestamp())
	} else {
		accessor.SetUID(in(t).nextUID())
		accessor.SetCreationTimestamp(metav1.NewTime(in(t).now()))
	}
	accessor.SetResourceVersion(in(t).nextVersion())
	if err := t.complete(o); err != nil {
		return err
	}
	if pod, ok := o.(*v1.Pod); ok && before == nil && pod.Spec.NodeName == "" {
		if err := t.createClaims(pod); err != nil {
			return err
		}
	}
	if err := t.set(o); err != nil {
		return err
	}
	if node, ok := o.(*v1.Node); ok {
		return t.publish(node)
	}
	return nil
}

// publish makes the ResourceSlices that a virtual node publishes for its annotation be those that the annotation describes.
func (t *Trial) publish(node *v1.Node) error {
	_, annotated := node.Annotations[standin.AnnotationDevices]
	if !annotated || in(t).options.Devices == nil || !in(t).reads(sliceKind) {
		return nil
	}
	wanted, err := in(t).options.Devices(node)
	if err != nil {
		return &InvalidError{Path: "metadata.annotations", Message: err.Error()}
	}
	for _, o := range in(t).world.List(sliceKind) {
		slice := o.(*resourcev1.ResourceSlice)
		ours := slice.Labels[standin.LabelVirtualDriver] != "" && slice.Spec.NodeName != nil && *slice.Spec.NodeName == node.Name
		if ours && slices.ContainsFunc(wanted, func(w *resourcev1.ResourceSlice) bool { return w.Spec.Driver == slice.Spec.Driver }) {
			t.changed()
			in(t).world.Delete(sliceKind, "", slice.Name)
		}
	}
	for _, slice := range wanted {
		if err := t.put(slice); err != nil {
			return err
		}
	}
	return nil
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
	case namespace == "" && builtin.Is(gvk):
		return metav1.NamespaceDefault
	}
	return namespace
}

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
	in(t).world.Delete(ref.GVK, ref.Namespace, ref.Name)
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
	document, err = memory.Patched(document, before, "", p.Patch)
	if err != nil {
		return &InvalidError{Path: "patch", Message: err.Error()}
	}
	after, err := decodedLike(before, document)
	if err != nil {
		return err
	}
	accessor, old := accessorOf(after), accessorOf(before)
	if accessor.GetName() != old.GetName() || accessor.GetNamespace() != old.GetNamespace() {
		return &InvalidError{Path: "metadata.name", Message: "a patch cannot rename an object"}
	}
	return t.put(after)
}

func decodedLike(before runtime.Object, document []byte) (runtime.Object, error) {
	if _, custom := before.(*unstructured.Unstructured); custom {
		after := &unstructured.Unstructured{}
		if err := json.Unmarshal(document, &after.Object); err != nil {
			return nil, &InvalidError{Path: "patch", Message: err.Error()}
		}
		return after, nil
	}
	after := memory.Like(before)
	return after, strictly(document, after)
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
