package storedform

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"strings"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/runtime/serializer/json"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apiserver/pkg/admission"
	"k8s.io/apiserver/pkg/authentication/user"
	"k8s.io/apiserver/pkg/endpoints/request"
	"k8s.io/apiserver/pkg/registry/rest"
	"k8s.io/client-go/tools/cache"
	"k8s.io/kubernetes/pkg/api/legacyscheme"

	"kube-scheduler-simulator/simulator/cluster/objects"
)

// Admission admits objects to the cluster that Know and Forget describe. It is for one goroutine,
// except that many may call Create and Update while none calls Know or Forget.
type Admission struct {
	chain chain
	known map[schema.GroupKind]cache.Indexer
}

// chain is what admission.NewChainHandler returns.
type chain interface {
	admission.MutationInterface
	admission.ValidationInterface
}

// New returns an admission that knows the priority classes of every cluster.
func New() (a *Admission, err error) {
	a = &Admission{known: map[schema.GroupKind]cache.Indexer{}}
	if a.chain, err = a.newChain(); err != nil {
		return nil, fmt.Errorf("preparing admission: %w", err)
	}
	return a, nil
}

// KindError means that neither a scheduler nor admission reads objects of the kind.
type KindError struct{ GVK schema.GroupVersionKind }

func (e *KindError) Error() string {
	return fmt.Sprintf("the scheduler does not read objects of the kind %s in %s", e.GVK.Kind, e.GVK.GroupVersion())
}

// Reads reports whether Decode and Create take objects of the kind.
func Reads(gk schema.GroupKind) bool {
	_, reads := kinds[gk]
	return reads || customKinds[gk] != nil
}

// Kinds returns the kinds that Decode and Create take, in the versions that they return, in no
// particular order.
func Kinds() []schema.GroupVersionKind {
	var out []schema.GroupVersionKind
	for gk, k := range kinds {
		out = append(out, gk.WithVersion(k.resource.Version))
	}
	for gk := range customKinds {
		out = append(out, gk.WithVersion(objects.KindOf(gk).Version))
	}
	return out
}

var (
	lenient = json.NewSerializerWithOptions(json.DefaultMetaFactory, legacyscheme.Scheme, legacyscheme.Scheme, json.SerializerOptions{})
	strict  = json.NewSerializerWithOptions(json.DefaultMetaFactory, legacyscheme.Scheme, legacyscheme.Scheme, json.SerializerOptions{Strict: true})
)

// Decode returns the object that a server has stored and encoded as JSON, in the version that the
// scheduler reads, with defaults. It ignores fields that this version of Kubernetes lacks. A custom
// resource is unstructured. The error is a *KindError for a kind that Create does not take.
func Decode(data []byte) (runtime.Object, error) { return decode(data, lenient) }

// DecodeStrictly is Decode for an object that a person wrote: the error names unknown and repeated
// fields.
func DecodeStrictly(data []byte) (runtime.Object, error) { return decode(data, strict) }

func decode(data []byte, decoder runtime.Decoder) (runtime.Object, error) {
	o, gvk, err := decoder.Decode(data, nil, nil)
	switch {
	case runtime.IsNotRegisteredError(err):
		return decodeCustom(data, *gvk, decoder == strict)
	case runtime.IsStrictDecodingError(err):
		return nil, errors.New(strings.TrimPrefix(err.Error(), "strict decoding error: "))
	case err != nil:
		return nil, fmt.Errorf("decoding: %w", err)
	}
	k, reads := kinds[gvk.GroupKind()]
	if !reads {
		return nil, &KindError{*gvk}
	}
	legacyscheme.Scheme.Default(o)
	if gvk.Version != k.resource.Version {
		if o, err = convert(o, k.resource.GroupVersion()); err != nil {
			return nil, err
		}
	}
	return o, k.setNamespace(o)
}

func (k *kind) setNamespace(o runtime.Object) error {
	m, err := meta.Accessor(o)
	if err != nil {
		return err
	}
	switch {
	case !k.strategy.NamespaceScoped():
		m.SetNamespace("")
	case m.GetNamespace() == "":
		m.SetNamespace(metav1.NamespaceDefault)
	}
	return nil
}

// convert goes by way of the internal version, because there are no other conversions.
func convert(o runtime.Object, to schema.GroupVersion) (runtime.Object, error) {
	internal, err := legacyscheme.Scheme.UnsafeConvertToVersion(o, runtime.InternalGroupVersioner)
	if err != nil {
		return nil, fmt.Errorf("converting: %w", err)
	}
	out, err := legacyscheme.Scheme.UnsafeConvertToVersion(internal, to)
	if err != nil {
		return nil, fmt.Errorf("converting: %w", err)
	}
	return out, nil
}

// Create returns what an API server would store on the creation of o, which a Decode returned. It
// keeps the status, which a controller would write. The error is the API server's. Create may
// change o.
func (a *Admission) Create(ctx context.Context, o runtime.Object) (runtime.Object, error) {
	return a.admit(ctx, o, nil)
}

// Update is Create for an object that replaces another one of its name. Like an API server it
// refuses changes of immutable fields, such as the requests of a pod. It does not change before.
func (a *Admission) Update(ctx context.Context, o, before runtime.Object) (runtime.Object, error) {
	return a.admit(ctx, o, before)
}

// admit is what an API server does between decoding and storing. before is nil for a new object.
func (a *Admission) admit(ctx context.Context, o, before runtime.Object) (runtime.Object, error) {
	gvk := o.GetObjectKind().GroupVersionKind()
	k, err := kindOf(gvk)
	if err != nil {
		return nil, err
	}
	keep := keepStatus(o)
	internal, m, err := internalOf(o)
	if err != nil {
		return nil, err
	}
	operation, options := admission.Create, runtime.Object(&metav1.CreateOptions{})
	ctx = request.WithRequestInfo(request.WithNamespace(ctx, m.GetNamespace()), &request.RequestInfo{
		IsResourceRequest: true, Verb: "create", APIGroup: gvk.Group, APIVersion: gvk.Version, Resource: k.resource.Resource,
		Namespace: m.GetNamespace(), Name: m.GetName(),
	})
	prepare := func() error { return create(ctx, k.strategy, gvk, internal, m) }
	var old runtime.Object
	if before != nil {
		operation, options = admission.Update, &metav1.UpdateOptions{}
		var was metav1.Object
		if old, was, err = internalOf(before); err != nil {
			return nil, err
		}
		prepare = func() error { return update(ctx, k.strategy, internal, old, m, was) }
	}
	attributes := admission.NewAttributesRecord(internal, old, gvk, m.GetNamespace(), m.GetName(), k.resource, "", operation,
		options, true, &user.DefaultInfo{Name: user.APIServerUser, Groups: []string{user.SystemPrivilegedGroup}})
	interfaces := admission.NewObjectInterfacesFromScheme(legacyscheme.Scheme)
	if err := a.chain.Admit(ctx, attributes, interfaces); err != nil {
		return nil, err
	}
	if err := prepare(); err != nil {
		return nil, err
	}
	if err := a.chain.Validate(ctx, attributes, interfaces); err != nil {
		return nil, err
	}
	out := internal
	if _, isCustom := internal.(*unstructured.Unstructured); !isCustom {
		if out, err = legacyscheme.Scheme.ConvertToVersion(internal, gvk.GroupVersion()); err != nil {
			return nil, fmt.Errorf("converting: %w", err)
		}
	}
	keep(out)
	return out, nil
}

// kindOf returns a *KindError for a kind whose objects are not created.
func kindOf(gvk schema.GroupVersionKind) (*kind, error) {
	if k, reads := kinds[gvk.GroupKind()]; reads {
		return &k, nil
	}
	c, err := customKind(gvk)
	if err != nil {
		return nil, err
	}
	return &c.kind, nil
}

// internalOf returns a copy of an object in the internal version, with its metadata. A custom
// resource has no internal version.
func internalOf(o runtime.Object) (runtime.Object, metav1.Object, error) {
	if u, isCustom := o.(*unstructured.Unstructured); isCustom {
		u = u.DeepCopy()
		return u, u, nil
	}
	internal, err := legacyscheme.Scheme.ConvertToVersion(o, runtime.InternalGroupVersioner)
	if err != nil {
		return nil, nil, fmt.Errorf("converting: %w", err)
	}
	m, err := meta.Accessor(internal)
	return internal, m, err
}

// create prepares and validates a new object. A strategy wants what a server writes itself; create
// removes creation times that the object did not have, so that equal questions have equal answers.
func create(ctx context.Context, s strategy, gvk schema.GroupVersionKind, o runtime.Object, m metav1.Object) error {
	created := m.GetCreationTimestamp()
	if created.IsZero() {
		m.SetCreationTimestamp(metav1.Now())
	}
	if m.GetUID() == "" {
		m.SetUID(types.UID(gvk.Kind + "/" + m.GetNamespace() + "/" + m.GetName()))
	}
	err := rest.BeforeCreate(s, ctx, o)
	m.SetCreationTimestamp(created)
	return err
}

// update prepares and validates a change. A strategy wants a version, which update removes again.
func update(ctx context.Context, s strategy, o, before runtime.Object, m, was metav1.Object) error {
	version := m.GetResourceVersion()
	m.SetResourceVersion("1")
	was.SetResourceVersion("1")
	m.SetUID(was.GetUID())
	err := rest.BeforeUpdate(s, ctx, o, before)
	m.SetResourceVersion(version)
	return err
}

// keep gives another version of the object the status of this one. It does nothing for a missing
// status.
func keepStatus(o runtime.Object) (keep func(runtime.Object)) {
	if u, isCustom := o.(*unstructured.Unstructured); isCustom {
		status, set := u.Object["status"]
		return func(out runtime.Object) {
			if set {
				out.(*unstructured.Unstructured).Object["status"] = runtime.DeepCopyJSONValue(status)
			}
		}
	}
	statusOf := func(o runtime.Object) reflect.Value { return reflect.ValueOf(o).Elem().FieldByName("Status") }
	status := statusOf(o)
	return func(out runtime.Object) {
		if status.IsValid() && !status.IsZero() {
			statusOf(out).Set(status)
		}
	}
}
