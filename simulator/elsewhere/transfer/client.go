package transfer

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/version"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
)

const userAgent = "simulator-transfer"

// client reads and writes objects of any kind as JSON. It needs no types, and decodes no more than
// it must.
type client struct {
	rest      *rest.RESTClient
	discovery *discovery.DiscoveryClient

	mu        sync.RWMutex
	resources map[schema.GroupVersionKind]resource
	preferred map[schema.GroupKind]resource
}

// resource is how the API server serves a kind.
type resource struct {
	gvr        schema.GroupVersionResource
	gvk        schema.GroupVersionKind
	namespaced bool
	// status: it has that subresource.
	status bool
	// listable: the API server lists and creates its objects. It cannot list requests, such as
	// reviews.
	listable bool
}

func newClient(config *rest.Config) (*client, error) {
	config = rest.CopyConfig(config)
	config.ContentType, config.AcceptContentTypes = runtime.ContentTypeJSON, ""
	config.UserAgent = userAgent
	config.QPS, config.RateLimiter = -1, nil
	config.WarningHandlerWithContext = warnings{}
	config.NegotiatedSerializer = scheme.Codecs.WithoutConversion()
	config.GroupVersion = nil
	c := &client{}
	var err error
	if c.rest, err = rest.UnversionedRESTClientFor(config); err != nil {
		return nil, fmt.Errorf("make a client: %w", err)
	}
	if c.discovery, err = discovery.NewDiscoveryClientForConfig(config); err != nil {
		return nil, fmt.Errorf("make a discovery client: %w", err)
	}
	return c, nil
}

func (c *client) discover() error {
	_, lists, err := c.discovery.ServerGroupsAndResources()
	if err != nil && !discovery.IsGroupDiscoveryFailedError(err) {
		return fmt.Errorf("asking the API server what it serves: %w", err)
	}
	resources := map[schema.GroupVersionKind]resource{}
	preferred := map[schema.GroupKind]resource{}
	for _, list := range lists {
		gv, err := schema.ParseGroupVersion(list.GroupVersion)
		if err != nil {
			continue
		}
		for gvk, r := range resourcesOf(gv, list.APIResources) {
			resources[gvk] = r
			if known, ok := preferred[gvk.GroupKind()]; !ok || r.better(known) {
				preferred[gvk.GroupKind()] = r
			}
		}
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.resources, c.preferred = resources, preferred
	return nil
}

func resourcesOf(gv schema.GroupVersion, listed []metav1.APIResource) map[schema.GroupVersionKind]resource {
	found := map[schema.GroupVersionKind]resource{}
	withStatus := map[string]bool{}
	for _, l := range listed {
		if name, ok := strings.CutSuffix(l.Name, "/status"); ok {
			withStatus[name] = true
		}
	}
	for _, l := range listed {
		if strings.Contains(l.Name, "/") {
			continue
		}
		gvk := gv.WithKind(l.Kind)
		verbs := sets(l.Verbs)
		found[gvk] = resource{
			gvr: gv.WithResource(l.Name), gvk: gvk, namespaced: l.Namespaced, status: withStatus[l.Name],
			listable: verbs["list"] && verbs["create"],
		}
	}
	return found
}

func sets(names []string) map[string]bool {
	set := map[string]bool{}
	for _, name := range names {
		set[name] = true
	}
	return set
}

func (c *client) resourceFor(gvk schema.GroupVersionKind) (resource, error) {
	c.mu.RLock()
	defer c.mu.RUnlock()
	if r, ok := c.resources[gvk]; ok {
		return r, nil
	}
	if r, ok := c.preferred[gvk.GroupKind()]; ok {
		return resource{}, fmt.Errorf("the API server does not serve %s in %s; it serves %s", gvk.Kind, gvk.GroupVersion(), r.gvk.GroupVersion())
	}
	if scheme.Scheme.Recognizes(gvk) {
		return resource{}, fmt.Errorf("the API server does not serve %s in %s: another version of Kubernetes does, or a feature gate turns it on", gvk.Kind, gvk.GroupVersion())
	}
	return resource{}, fmt.Errorf("the API server has no kind %s in %s; its CustomResourceDefinition may be missing, or belongs in the import, too", gvk.Kind, gvk.GroupVersion())
}

// better prefers the more stable version, so that later versions of Kubernetes can read exports
// too: API servers list first the version that earlier ones know.
func (r resource) better(than resource) bool {
	if r.listable != than.listable {
		return r.listable
	}
	return version.CompareKubeAwareVersionStrings(r.gvk.Version, than.gvk.Version) > 0
}

func (c *client) preferredFor(gk schema.GroupKind) (resource, bool) {
	c.mu.RLock()
	defer c.mu.RUnlock()
	r, ok := c.preferred[gk]
	return r, ok
}

func (r resource) path(namespace, name string, sub ...string) []string {
	path := []string{"/apis", r.gvr.Group, r.gvr.Version}
	if r.gvr.Group == "" {
		path = []string{"/api", r.gvr.Version}
	}
	if r.namespaced && namespace != "" {
		path = append(path, "namespaces", namespace)
	}
	path = append(path, r.gvr.Resource)
	if name != "" {
		path = append(path, name)
	}
	return append(path, sub...)
}

// The API server answers writes with metadata only, which is all that we need.
const (
	acceptMetadata     = "application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1"
	acceptMetadataList = "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1"
)

const (
	fieldValidation = "fieldValidation"
	// warnOfFields: the API server drops fields that its version of Kubernetes does not know, and
	// warns of them.
	warnOfFields = metav1.FieldValidationWarn
)

func (c *client) create(ctx context.Context, r resource, namespace string, body []byte) (*metav1.PartialObjectMetadata, error) {
	return metadataOf(c.rest.Post().AbsPath(r.path(namespace, "")...).
		SetHeader("Accept", acceptMetadata).SetHeader("Content-Type", runtime.ContentTypeJSON).
		Param(fieldValidation, warnOfFields).Body(body).Do(ctx))
}

// The object is cluster-scoped.
func (c *client) createUID(ctx context.Context, r resource, body []byte) (string, error) {
	meta, err := c.create(ctx, r, "", body)
	if err != nil {
		return "", err
	}
	return string(meta.UID), nil
}

func (c *client) update(ctx context.Context, r resource, namespace, name string, body []byte, sub ...string) (*metav1.PartialObjectMetadata, error) {
	return metadataOf(c.rest.Put().AbsPath(r.path(namespace, name, sub...)...).
		SetHeader("Accept", acceptMetadata).SetHeader("Content-Type", runtime.ContentTypeJSON).
		Param(fieldValidation, warnOfFields).Body(body).Do(ctx))
}

// patch merges a value into an object, or into one of its subresources.
func (c *client) patch(ctx context.Context, r resource, namespace, name string, value any, sub ...string) (*metav1.PartialObjectMetadata, error) {
	body, err := json.Marshal(value)
	if err != nil {
		return nil, err
	}
	return metadataOf(c.rest.Patch(types.MergePatchType).AbsPath(r.path(namespace, name, sub...)...).
		SetHeader("Accept", acceptMetadata).Body(body).Do(ctx))
}

func (c *client) get(ctx context.Context, r resource, namespace, name string) ([]byte, error) {
	result := c.rest.Get().AbsPath(r.path(namespace, name)...).SetHeader("Accept", runtime.ContentTypeJSON).Do(ctx)
	if err := result.Error(); err != nil {
		return nil, err
	}
	return result.Raw()
}

func (c *client) getMetadata(ctx context.Context, r resource, namespace, name string) (*metav1.PartialObjectMetadata, error) {
	return metadataOf(c.rest.Get().AbsPath(r.path(namespace, name)...).SetHeader("Accept", acceptMetadata).Do(ctx))
}

func (c *client) getMetadataList(ctx context.Context, r resource) ([]metav1.PartialObjectMetadata, error) {
	data, err := c.rest.Get().AbsPath(r.path("", "")...).SetHeader("Accept", acceptMetadataList).Do(ctx).Raw()
	if err != nil {
		return nil, err
	}
	var list metav1.PartialObjectMetadataList
	if err := json.Unmarshal(data, &list); err != nil {
		return nil, fmt.Errorf("decoding the API server's answer: %w", err)
	}
	return list.Items, nil
}

func metadataOf(result rest.Result) (*metav1.PartialObjectMetadata, error) {
	if err := result.Error(); err != nil {
		return nil, err
	}
	data, err := result.Raw()
	if err != nil {
		return nil, err
	}
	meta := &metav1.PartialObjectMetadata{}
	if err := json.Unmarshal(data, meta); err != nil {
		return nil, fmt.Errorf("decoding the API server's answer: %w", err)
	}
	return meta, nil
}

const (
	// An API server that answers none of the probes counts as gone.
	probes       = 3
	probeTimeout = 5 * time.Second
)

// alive returns nil when the API server answers at all.
func (c *client) alive(ctx context.Context) error {
	var last error
	for range probes {
		tryCtx, cancel := context.WithTimeout(ctx, probeTimeout)
		last = c.rest.Get().AbsPath("/livez").Do(tryCtx).Error()
		cancel()
		if last == nil || hasStatus(last) || ctx.Err() != nil {
			return ctx.Err()
		}
	}
	return fmt.Errorf("the API server does not answer: %w", last)
}

// An error with an HTTP status comes from a server that answers, even if with a server error.
func hasStatus(err error) bool {
	var status apierrors.APIStatus
	return errors.As(err, &status) && status.Status().Code != 0
}

type warned struct{}

type warningList struct {
	mu   sync.Mutex
	list []string
}

func (l *warningList) take() []string {
	l.mu.Lock()
	defer l.mu.Unlock()
	taken := l.list
	l.list = nil
	return taken
}

// warnings hands each warning to the list in the context of its request.
type warnings struct{}

// miscellaneous is the code of the warnings that API servers send.
const miscellaneous = 299

var _ rest.WarningHandlerWithContext = warnings{}

func (warnings) HandleWarningHeaderWithContext(ctx context.Context, code int, _ string, message string) {
	l, ok := ctx.Value(warned{}).(*warningList)
	if !ok || code != miscellaneous || message == "" {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.list = append(l.list, message)
}
