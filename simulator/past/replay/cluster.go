package replay

import (
	"context"
	"errors"
	"fmt"

	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/json"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/rest"
)

// apiCluster implements Cluster on an API server.
type apiCluster struct {
	client dynamic.Interface
	define func(ctx context.Context, kind schema.GroupKind) (bool, error)
	idle   func(ctx context.Context, written []Written) error
}

var _ Cluster = (*apiCluster)(nil)

// NewCluster returns the cluster that config reaches. define installs the definition of a custom
// kind that the cluster does not serve, if the simulator has it, and reports whether it does; idle
// implements Cluster.Idle.
func NewCluster(config *rest.Config, define func(ctx context.Context, kind schema.GroupKind) (bool, error), idle func(ctx context.Context, written []Written) error) (Cluster, error) {
	config = rest.CopyConfig(config)
	config.ContentType, config.AcceptContentTypes = runtime.ContentTypeJSON, runtime.ContentTypeJSON
	client, err := dynamic.NewForConfig(config)
	if err != nil {
		return nil, fmt.Errorf("creating the replay's client: %w", err)
	}
	return &apiCluster{client, define, idle}, nil
}

func (c *apiCluster) resource(kind Kind, namespace string) dynamic.ResourceInterface {
	if kind.Namespaced {
		return c.client.Resource(kind.GVR()).Namespace(namespace)
	}
	return c.client.Resource(kind.GVR())
}

func (c *apiCluster) Create(ctx context.Context, kind Kind, object *unstructured.Unstructured) (Written, error) {
	resource := c.resource(kind, object.GetNamespace())
	created, err := resource.Create(ctx, object, metav1.CreateOptions{})
	if isNotServed(err) {
		defined, defineErr := c.define(ctx, kind.GVK().GroupKind())
		if defineErr != nil {
			return Written{}, defineErr
		}
		if defined {
			created, err = resource.Create(ctx, object, metav1.CreateOptions{})
		}
	}
	if missesNamespace(err, object) {
		// A recording of selected namespaces may lack the Namespace objects.
		namespace := &unstructured.Unstructured{Object: map[string]any{"apiVersion": "v1", "kind": "Namespace", "metadata": map[string]any{"name": object.GetNamespace()}}}
		if _, err := c.client.Resource(namespaceKind.GVR()).Create(ctx, namespace, metav1.CreateOptions{}); err != nil && !apierrors.IsAlreadyExists(err) {
			return Written{}, fmt.Errorf("creating the namespace: %w", err)
		}
		created, err = resource.Create(ctx, object, metav1.CreateOptions{})
	}
	switch {
	case apierrors.IsAlreadyExists(err) && kind != podKind && kind != nodeKind:
		return Written{}, nil
	case err != nil:
		return Written{}, fmt.Errorf("creating it: %w", err)
	}
	if kind == nodeKind && !sameTaints(object, created) {
		// Admission has tainted the node not-ready, but no kubelet will remove the taint.
		if created, err = retaint(ctx, resource, object); err != nil {
			return Written{}, fmt.Errorf("removing an added taint: %w", err)
		}
	}
	return Written{UID: created.GetUID(), ResourceVersion: created.GetResourceVersion(), Certain: kind == nodeKind}, nil
}

func taints(node *unstructured.Unstructured) []any {
	list, _, _ := unstructured.NestedSlice(node.Object, "spec", "taints")
	return list
}

func sameTaints(a, b *unstructured.Unstructured) bool {
	return len(taints(a)) == len(taints(b)) && (len(taints(a)) == 0 || equality.Semantic.DeepEqual(taints(a), taints(b)))
}

func retaint(ctx context.Context, nodes dynamic.ResourceInterface, node *unstructured.Unstructured) (*unstructured.Unstructured, error) {
	patch, err := json.Marshal(map[string]any{"spec": map[string]any{"taints": taints(node)}})
	if err != nil {
		return nil, err
	}
	return nodes.Patch(ctx, node.GetName(), types.MergePatchType, patch, metav1.PatchOptions{})
}

// isNotServed reports whether the API server does not serve a kind: its error then names no object.
func isNotServed(err error) bool {
	status, ok := errors.AsType[*apierrors.StatusError](err)
	return ok && apierrors.IsNotFound(err) && (status.ErrStatus.Details == nil || status.ErrStatus.Details.Name == "")
}

// missesNamespace reports whether an object was not created because its namespace does not exist.
func missesNamespace(err error, object *unstructured.Unstructured) bool {
	status, ok := errors.AsType[*apierrors.StatusError](err)
	if !ok || !apierrors.IsNotFound(err) {
		return false
	}
	details := status.ErrStatus.Details
	return details != nil && details.Group == "" && details.Kind == "namespaces" && details.Name == object.GetNamespace()
}

func (c *apiCluster) Patch(ctx context.Context, kind Kind, namespace, name, subresource string, patch []byte) (Written, error) {
	var subresources []string
	if subresource != "" {
		subresources = append(subresources, subresource)
	}
	patched, err := c.resource(kind, namespace).Patch(ctx, name, types.MergePatchType, patch, metav1.PatchOptions{}, subresources...)
	switch {
	case apierrors.IsNotFound(err):
		return Written{}, nil
	case err != nil:
		return Written{}, fmt.Errorf("changing it: %w", err)
	}
	return Written{UID: patched.GetUID(), ResourceVersion: patched.GetResourceVersion(), Certain: kind == podKind || kind == nodeKind}, nil
}

func (c *apiCluster) Delete(ctx context.Context, kind Kind, namespace, name string) (Written, error) {
	resource := c.resource(kind, namespace)
	before, err := resource.Get(ctx, name, metav1.GetOptions{})
	if apierrors.IsNotFound(err) {
		return Written{}, nil
	}
	if err != nil {
		return Written{}, fmt.Errorf("deleting it: %w", err)
	}
	var now int64
	uid := before.GetUID()
	err = resource.Delete(ctx, name, metav1.DeleteOptions{GracePeriodSeconds: &now, Preconditions: &metav1.Preconditions{UID: &uid}})
	switch {
	case apierrors.IsNotFound(err), apierrors.IsForbidden(err): // system namespaces stay
		return Written{}, nil
	case err != nil:
		return Written{}, fmt.Errorf("deleting it: %w", err)
	}
	return Written{UID: uid, Deleted: true, Certain: kind == podKind || kind == nodeKind}, nil
}

func (c *apiCluster) Idle(ctx context.Context, written []Written) error { return c.idle(ctx, written) }
