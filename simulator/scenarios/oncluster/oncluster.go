// Package oncluster plays scenarios on a cluster that runs, in real time. A Cluster may be one that others act on, too, such as
// that of a lesson. An Exclusive cluster belongs to one run: the engine "full" of simulator/app opens those.
//
// It reaches the cluster over the Kubernetes API only. It may import simulator/scenarios/scenario and what the two share.
package oncluster

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/discovery/cached/memory"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/restmapper"

	"kube-scheduler-simulator/scheduler/config"
	"kube-scheduler-simulator/scheduler/result"
	"kube-scheduler-simulator/scheduler/standin"
	"kube-scheduler-simulator/simulator/scenarios/scenario"
)

// Options say which cluster. All are required but Client and Doing.
type Options struct {
	ClientConfig *rest.Config
	// Client is made of ClientConfig by default.
	Client kubernetes.Interface
	// Cycle returns a recorded decision, nil if the UID or the attempt is unknown.
	Cycle func(uid types.UID, attempt int) (*result.Cycle, error)
	// Configure makes a document the scheduler's configuration.
	Configure func(ctx context.Context, document []byte) error
	// Queues returns the state of the scheduling queue.
	Queues func() (result.Queues, error)
	// Doing says what else is about to act in this cluster; "" for nothing. Optional.
	Doing func() string
}

// Cluster is a cluster behind an API server. Methods are safe for concurrent use.
type Cluster struct {
	options Options
	dynamic dynamic.Interface
	client  kubernetes.Interface
	mapper  *restmapper.DeferredDiscoveryRESTMapper
}

var _ scenario.Cluster = (*Cluster)(nil)

// New returns the cluster. It makes no request.
func New(o Options) (*Cluster, error) {
	c := &Cluster{options: o}
	var err error
	if c.dynamic, err = dynamic.NewForConfig(o.ClientConfig); err != nil {
		return nil, fmt.Errorf("preparing a client of scenarios: %w", err)
	}
	if o.Doing == nil {
		c.options.Doing = func() string { return "" }
	}
	if c.client = o.Client; c.client == nil {
		if c.client, err = kubernetes.NewForConfig(o.ClientConfig); err != nil {
			return nil, fmt.Errorf("preparing a client of scenarios: %w", err)
		}
	}
	found, err := discovery.NewDiscoveryClientForConfig(o.ClientConfig)
	if err != nil {
		return nil, fmt.Errorf("preparing a client of scenarios: %w", err)
	}
	c.mapper = restmapper.NewDeferredDiscoveryRESTMapper(memory.NewMemCacheClient(found))
	return c, nil
}

func (c *Cluster) mapping(gvk schema.GroupVersionKind) (*meta.RESTMapping, error) {
	mapping, err := c.mapper.RESTMapping(gvk.GroupKind(), gvk.Version)
	if meta.IsNoMatchError(err) {
		c.mapper.Reset() // the kind may have come since
		return c.mapper.RESTMapping(gvk.GroupKind(), gvk.Version)
	}
	return mapping, err
}

// resource returns the client of a kind.
func (c *Cluster) resource(gvk schema.GroupVersionKind, namespace string) (dynamic.ResourceInterface, error) {
	mapping, err := c.mapping(gvk)
	if err != nil {
		return nil, err
	}
	if mapping.Scope.Name() == meta.RESTScopeNameRoot {
		return c.dynamic.Resource(mapping.Resource), nil
	}
	if namespace == "" {
		namespace = metav1.NamespaceDefault
	}
	return c.dynamic.Resource(mapping.Resource).Namespace(namespace), nil
}

// each calls do for every object, in order.
func (c *Cluster) each(objects []runtime.Object, do func(dynamic.ResourceInterface, *unstructured.Unstructured) error) error {
	for _, o := range objects {
		u, ok := o.(*unstructured.Unstructured)
		if !ok {
			return fmt.Errorf("a step makes objects of the form of JSON, not a %T", o)
		}
		client, err := c.resource(u.GroupVersionKind(), u.GetNamespace())
		if err == nil {
			err = do(client, u)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// Create implements scenario.Cluster.
func (c *Cluster) Create(ctx context.Context, objects ...runtime.Object) error {
	return c.each(objects, func(client dynamic.ResourceInterface, u *unstructured.Unstructured) error {
		created, err := client.Create(ctx, u, metav1.CreateOptions{})
		given := u.Object["status"]
		if err != nil || given == nil || equality.Semantic.DeepEqual(created.Object["status"], given) || u.GetKind() == "Node" {
			return err
		}
		// The API server drops the status of most new objects.
		patch, err := json.Marshal(map[string]any{"status": given})
		if err != nil {
			return err
		}
		_, err = client.Patch(ctx, created.GetName(), types.MergePatchType, patch, metav1.PatchOptions{}, "status")
		if apierrors.IsNotFound(err) { // the kind has no status of its own
			return nil
		}
		return err
	})
}

// Apply implements scenario.Cluster.
func (c *Cluster) Apply(ctx context.Context, objects ...runtime.Object) error {
	return c.each(objects, func(client dynamic.ResourceInterface, u *unstructured.Unstructured) error {
		_, err := client.Create(ctx, u, metav1.CreateOptions{})
		if !apierrors.IsAlreadyExists(err) {
			return err
		}
		patch, err := json.Marshal(u)
		if err != nil {
			return err
		}
		if _, err = client.Patch(ctx, u.GetName(), types.MergePatchType, patch, metav1.PatchOptions{}); err != nil || u.Object["status"] == nil {
			return err
		}
		_, err = client.Patch(ctx, u.GetName(), types.MergePatchType, patch, metav1.PatchOptions{}, "status")
		return err
	})
}

// Patch implements scenario.Cluster. A patch of a node may also change its status, which is a resource of its own.
func (c *Cluster) Patch(ctx context.Context, gvk schema.GroupVersionKind, namespace, name string, kind types.PatchType, patch []byte) error {
	client, err := c.resource(gvk, namespace)
	if err != nil {
		return err
	}
	if _, err := client.Patch(ctx, name, kind, patch, metav1.PatchOptions{}); err != nil {
		return err
	}
	var parts struct {
		Status json.RawMessage `json:"status"`
	}
	if json.Unmarshal(patch, &parts) != nil || parts.Status == nil { // a list of operations has no status
		return nil
	}
	_, err = client.Patch(ctx, name, kind, patch, metav1.PatchOptions{}, "status")
	return err
}

// Delete implements scenario.Cluster.
func (c *Cluster) Delete(ctx context.Context, gvk schema.GroupVersionKind, namespace, name string) error {
	return c.remove(ctx, gvk, namespace, name, nil)
}

// remove deletes an object after a time; nil means its own.
func (c *Cluster) remove(ctx context.Context, gvk schema.GroupVersionKind, namespace, name string, graceSeconds *int64) error {
	client, err := c.resource(gvk, namespace)
	if err != nil {
		return err
	}
	// What it owns goes with it. The API server would leave the pods of a Job.
	return client.Delete(ctx, name, metav1.DeleteOptions{PropagationPolicy: new(metav1.DeletePropagationBackground), GracePeriodSeconds: graceSeconds})
}

// Fail implements scenario.Cluster.
func (c *Cluster) Fail(ctx context.Context, node string) error {
	return c.annotate(ctx, node, `"unreachable"`)
}

// Recover implements scenario.Cluster.
func (c *Cluster) Recover(ctx context.Context, node string) error {
	return c.annotate(ctx, node, "null")
}

func (c *Cluster) annotate(ctx context.Context, node, value string) error {
	patch := fmt.Appendf(nil, `{"metadata":{"annotations":{%q:%s}}}`, standin.AnnotationFailure, value)
	_, err := c.client.CoreV1().Nodes().Patch(ctx, node, types.MergePatchType, patch, metav1.PatchOptions{})
	return err
}

// Configure implements scenario.Cluster.
func (c *Cluster) Configure(ctx context.Context, to *config.Configuration) error {
	document, err := to.JSON()
	if err != nil {
		return err
	}
	return c.options.Configure(ctx, document)
}

// Advance waits.
func (c *Cluster) Advance(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

const (
	// pollTime is how often Settle looks, and calmLooks how often in a row nothing must have changed.
	pollTime  = 150 * time.Millisecond
	calmLooks = 4
	// settleTime bounds Settle. Pods that find no node back off for up to ten seconds, several times in a row.
	settleTime = 2 * time.Minute
)

// Settle waits until no pod is in the active or the backoff queue, none is terminating, and nothing has changed for a moment.
// The error is a *scenario.UnsettledError, which says what goes on, if that takes longer than settleTime.
func (c *Cluster) Settle(ctx context.Context) error {
	ctx, cancel := context.WithTimeoutCause(ctx, settleTime, &scenario.UnsettledError{Err: errors.New("the cluster does not settle within two minutes")})
	defer cancel()
	last, calm, goesOn := "", 0, ""
	for calm < calmLooks {
		doing, state, err := c.busy(ctx)
		if cause := context.Cause(ctx); cause != nil {
			return unrested(cause, goesOn)
		}
		if err != nil {
			return err
		}
		switch {
		case doing != "":
			calm, goesOn = 0, doing
		case state != last:
			calm, goesOn = 0, "pods change all the time"
		default:
			calm++
		}
		last = state
		if err := c.Advance(ctx, pollTime); err != nil {
			return unrested(err, goesOn)
		}
	}
	return nil
}

// busy says what is under way, "" for nothing, and what the pods look like.
func (c *Cluster) busy(ctx context.Context) (doing, state string, err error) {
	queues, err := c.options.Queues()
	if err != nil {
		return "", "", err
	}
	for _, q := range queues.Queues {
		if (q.Queue == "active" || q.Queue == "backoff") && q.Pods > 0 {
			doing = fmt.Sprintf("pods in the queue %q: %d", q.Queue, q.Pods)
		}
	}
	if other := c.options.Doing(); other != "" {
		doing = other
	}
	pods, err := c.client.CoreV1().Pods("").List(ctx, metav1.ListOptions{})
	if err != nil {
		return "", "", err
	}
	for _, p := range pods.Items {
		switch {
		case p.DeletionTimestamp != nil:
			doing = fmt.Sprintf("pod %s/%s terminates", p.Namespace, p.Name)
		case p.Spec.NodeName != "" && p.Status.Phase == v1.PodPending:
			doing = fmt.Sprintf("pod %s/%s starts", p.Namespace, p.Name)
		}
		state += fmt.Sprintln(p.UID, p.Spec.NodeName, p.Status.Phase)
	}
	return doing, state, nil
}

// Now implements scenario.Cluster.
func (c *Cluster) Now() time.Time { return time.Now() }

// State implements scenario.Cluster.
func (c *Cluster) State(ctx context.Context) ([]*v1.Node, []*v1.Pod, error) {
	nodes, err := c.client.CoreV1().Nodes().List(ctx, metav1.ListOptions{})
	if err != nil {
		return nil, nil, fmt.Errorf("listing the nodes: %w", err)
	}
	pods, err := c.client.CoreV1().Pods("").List(ctx, metav1.ListOptions{})
	if err != nil {
		return nil, nil, fmt.Errorf("listing the pods: %w", err)
	}
	return pointers(nodes.Items), pointers(pods.Items), nil
}

func pointers[T any](list []T) []*T {
	out := make([]*T, len(list))
	for i := range list {
		out[i] = &list[i]
	}
	return out
}

// List implements scenario.Cluster. A kind that the cluster does not serve has no objects.
func (c *Cluster) List(ctx context.Context, gvk schema.GroupVersionKind) ([]runtime.Object, error) {
	mapping, err := c.mapping(gvk)
	if meta.IsNoMatchError(err) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	list, err := c.dynamic.Resource(mapping.Resource).List(ctx, metav1.ListOptions{})
	if err != nil {
		return nil, fmt.Errorf("listing %s: %w", gvk.Kind, err)
	}
	out := make([]runtime.Object, len(list.Items))
	for i := range list.Items {
		out[i] = &list.Items[i]
	}
	return out, nil
}

// Cycle implements scenario.Cluster.
func (c *Cluster) Cycle(_ context.Context, pod types.UID, attempt int) (*result.Cycle, error) {
	return c.options.Cycle(pod, attempt)
}

// Close does nothing: the cluster is the caller's to close.
func (c *Cluster) Close() error { return nil }
