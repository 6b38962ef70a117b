package hypothesis

import (
	"cmp"
	"context"
	"fmt"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	utiljson "k8s.io/apimachinery/pkg/util/json"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/discovery/cached/memory"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/restmapper"

	"kube-scheduler-simulator/scheduler/builtin"
	"kube-scheduler-simulator/scheduler/whatif/fit"
)

const (
	// userAgent names the package in the API server's log, and fieldManager in the managed fields
	// of what it answers.
	userAgent    = "simulator-hypothesis"
	fieldManager = "simulator-hypothesis"
)

// dryRuns asks the API server what it would store. Every request is a dry run, which stores
// nothing. Methods are safe for concurrent use.
type dryRuns struct {
	client *rest.RESTClient
	// mapper knows which kinds the API server has. It asks again about unknown kinds.
	mapper meta.ResettableRESTMapper
}

func newDryRuns(config *rest.Config) (dryRuns, error) {
	config = rest.CopyConfig(config)
	config.ContentType, config.AcceptContentTypes = runtime.ContentTypeJSON, ""
	config.UserAgent = userAgent
	config.QPS, config.RateLimiter = -1, nil // the server bounds the questions
	config.WarningHandlerWithContext = rest.NoWarnings{}
	config.NegotiatedSerializer = scheme.Codecs.WithoutConversion()
	config.GroupVersion = nil
	client, err := rest.UnversionedRESTClientFor(config)
	if err != nil {
		return dryRuns{}, fmt.Errorf("making a client for dry runs: %w", err)
	}
	discover, err := discovery.NewDiscoveryClientForConfig(config)
	if err != nil {
		return dryRuns{}, fmt.Errorf("making a client for discovery: %w", err)
	}
	return dryRuns{client, restmapper.NewDeferredDiscoveryRESTMapper(memory.NewMemCacheClient(discover))}, nil
}

// place is where the API server has an object. Its namespace is empty for kinds without namespaces.
type place struct {
	gvk             schema.GroupVersionKind
	resource        string
	namespace, name string
}

func podPlace(namespace, name string) place {
	return place{podKind, "pods", cmp.Or(namespace, v1.NamespaceDefault), name}
}

func namespacePlace(name string) place { return place{namespaceKind, "namespaces", "", name} }

func classPlace(name string) place { return place{priorityClassKind, "priorityclasses", "", name} }

// placeOf takes an empty namespace for "default". The error is a *Refused for the field if the API
// server has no such kind.
func (d dryRuns) placeOf(field string, gvk schema.GroupVersionKind, namespace, name string) (place, error) {
	if gvk == podKind {
		return podPlace(namespace, name), nil
	}
	mapping, err := d.mapper.RESTMapping(gvk.GroupKind(), gvk.Version)
	if meta.IsNoMatchError(err) {
		return place{}, refuse(field, "the API server has no kind %s in %s", gvk.Kind, gvk.GroupVersion())
	}
	if err != nil {
		return place{}, fmt.Errorf("asking the API server which kinds it has: %w", err)
	}
	at := place{gvk: gvk, resource: mapping.Resource.Resource, name: name}
	if mapping.Scope.Name() == meta.RESTScopeNameNamespace {
		at.namespace = cmp.Or(namespace, v1.NamespaceDefault)
	}
	return at, nil
}

func (p place) collection() []string {
	path := []string{"/apis", p.gvk.Group, p.gvk.Version}
	if p.gvk.Group == "" {
		path = []string{"/api", p.gvk.Version}
	}
	if p.namespace != "" {
		path = append(path, "namespaces", p.namespace)
	}
	return append(path, p.resource)
}

func (p place) path() []string { return append(p.collection(), p.name) }

// create, update, patch and delete return the object that the API server would store or delete.

func (d dryRuns) create(ctx context.Context, at place, object map[string]any) (runtime.Object, error) {
	return d.do(ctx, d.client.Post().AbsPath(at.collection()...), object)
}

func (d dryRuns) update(ctx context.Context, at place, object map[string]any) (runtime.Object, error) {
	return d.do(ctx, d.client.Put().AbsPath(at.path()...), object)
}

func (d dryRuns) patch(ctx context.Context, kind types.PatchType, at place, patch map[string]any, sub ...string) (runtime.Object, error) {
	request := d.client.Patch(kind).AbsPath(append(at.path(), sub...)...)
	if kind == types.ApplyPatchType {
		// A hypothesis may change a field that another manager owns.
		request.Param("force", "true")
	}
	return d.do(ctx, request, patch)
}

func (d dryRuns) delete(ctx context.Context, at place) error {
	return d.client.Delete().AbsPath(at.path()...).Param("dryRun", "All").Do(ctx).Error()
}

var _ fit.Workloads = dryRuns{}

// Get returns an object of the cluster as it is, for package fit.
func (d dryRuns) Get(ctx context.Context, gvk schema.GroupVersionKind, namespace, name string) (runtime.Object, error) {
	at, err := d.placeOf("", gvk, namespace, name)
	if err != nil {
		return nil, err
	}
	return decodeAnswer(d.client.Get().AbsPath(at.path()...).Do(ctx))
}

func (d dryRuns) do(ctx context.Context, request *rest.Request, body map[string]any) (runtime.Object, error) {
	data, err := utiljson.Marshal(body)
	if err != nil {
		return nil, fmt.Errorf("encoding a dry run: %w", err)
	}
	return decodeAnswer(request.Param("dryRun", "All").Param("fieldValidation", "Strict").Param("fieldManager", fieldManager).Body(data).Do(ctx))
}

func decodeAnswer(result rest.Result) (runtime.Object, error) {
	if err := result.Error(); err != nil { // with the API server's status, which Raw's error lacks
		return nil, err
	}
	answer, err := result.Raw()
	if err != nil {
		return nil, err
	}
	object, err := decoded(answer)
	if err != nil {
		return nil, fmt.Errorf("decoding an answer of the API server: %w", err)
	}
	return object, nil
}

// decoded returns an object of its own type, or as *unstructured.Unstructured if its kind has none.
func decoded(data []byte) (runtime.Object, error) {
	object, _, err := builtin.Codecs.UniversalDeserializer().Decode(data, nil, nil)
	if runtime.IsNotRegisteredError(err) {
		object, _, err = unstructured.UnstructuredJSONScheme.Decode(data, nil, nil)
	}
	return object, err
}

// hasStatus reports whether objects of the kind have a status, which the API server then changes
// only through its own path.
func hasStatus(gvk schema.GroupVersionKind) bool {
	t, known := scheme.Scheme.AllKnownTypes()[gvk]
	if !known {
		return false
	}
	_, has := t.FieldByName("Status")
	return has
}

// patchKind is the kind of a patch that changes what it names and keeps the rest.
func patchKind(gvk schema.GroupVersionKind) types.PatchType {
	if builtin.Is(gvk) {
		return types.StrategicMergePatchType
	}
	return types.MergePatchType // the API server knows no strategy for custom kinds
}
