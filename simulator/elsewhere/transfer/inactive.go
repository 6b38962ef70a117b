package transfer

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	utiljson "k8s.io/apimachinery/pkg/util/json"

	"kube-scheduler-simulator/simulator/cluster/objects"
)

// InactiveObject is an imported object that calls no other program until it is activated.
type InactiveObject struct {
	APIVersion string `json:"apiVersion"`
	Kind       string `json:"kind"`
	Name       string `json:"name"`
	// Calls are the URLs and services that it would call.
	Calls []string `json:"calls"`
}

// Inactive lists the inactive objects of the cluster by kind and name.
func (cluster *Cluster) Inactive(ctx context.Context) ([]InactiveObject, error) {
	found := []InactiveObject{}
	err := cluster.eachInactive(ctx, func(_ *client, _ resource, u *unstructured.Unstructured) error {
		o := InactiveObject{APIVersion: u.GetAPIVersion(), Kind: u.GetKind(), Name: u.GetName(), Calls: []string{}}
		for _, call := range objects.InactiveCalls(u) {
			o.Calls = append(o.Calls, call.String())
		}
		found = append(found, o)
		return nil
	})
	return found, err
}

// ErrNotCallable says that an object stays inactive because the API server may not call the program
// that it names.
var ErrNotCallable = errors.New("it stays inactive")

// Activate activates the inactive objects that chosen returns true for. It joins the errors of the
// objects that stay inactive; those of a URL that may not be called are an ErrNotCallable.
func (cluster *Cluster) Activate(ctx context.Context, chosen func(kind, name string) bool) error {
	var failed []error
	err := cluster.eachInactive(ctx, func(c *client, r resource, u *unstructured.Unstructured) error {
		if !chosen(u.GetKind(), u.GetName()) {
			return nil
		}
		if err := cluster.activate(ctx, c, r, u); err != nil {
			failed = append(failed, fmt.Errorf("%s %s: %w", u.GetKind(), u.GetName(), err))
		}
		return nil
	})
	return errors.Join(append(failed, err)...)
}

func (cluster *Cluster) activate(ctx context.Context, c *client, r resource, u *unstructured.Unstructured) error {
	for _, call := range objects.InactiveCalls(u) {
		if call.URL == "" {
			continue
		}
		if err := cluster.opts.Callable(call.URL); err != nil {
			return fmt.Errorf("%w: %w", ErrNotCallable, err)
		}
	}
	if err := objects.Activate(u); err != nil {
		return err
	}
	body, err := json.Marshal(u.Object)
	if err != nil {
		return err
	}
	_, err = c.update(ctx, r, "", u.GetName(), body)
	return err
}

func (cluster *Cluster) eachInactive(ctx context.Context, do func(*client, resource, *unstructured.Unstructured) error) error {
	c, err := newClient(cluster.opts.Config)
	if err != nil {
		return err
	}
	if err := c.discover(); err != nil {
		return err
	}
	for _, gk := range objects.CallingKinds() {
		r, served := c.preferredFor(gk)
		if !served {
			continue
		}
		items, err := c.selected(ctx, r, objects.LabelInactive)
		if apierrors.IsForbidden(err) {
			continue // the user of another cluster may not see them
		}
		if err != nil {
			return fmt.Errorf("listing %s: %w", r.gvr.Resource, err)
		}
		for _, u := range items {
			if !objects.IsInactive(u) {
				continue // the label is forged
			}
			if err := do(c, r, u); err != nil {
				return err
			}
		}
	}
	return nil
}

// selected returns the objects that have the label, by name.
func (c *client) selected(ctx context.Context, r resource, label string) ([]*unstructured.Unstructured, error) {
	result := c.rest.Get().AbsPath(r.path("", "")...).Param("labelSelector", label).SetHeader("Accept", runtime.ContentTypeJSON).Do(ctx)
	if err := result.Error(); err != nil {
		return nil, err
	}
	data, err := result.Raw()
	if err != nil {
		return nil, err
	}
	var list struct {
		Items []json.RawMessage `json:"items"`
	}
	if err := json.Unmarshal(data, &list); err != nil {
		return nil, fmt.Errorf("decoding the API server's answer: %w", err)
	}
	var found []*unstructured.Unstructured
	for _, item := range list.Items {
		u := &unstructured.Unstructured{}
		if err := utiljson.Unmarshal(item, &u.Object); err != nil {
			return nil, fmt.Errorf("decoding the API server's answer: %w", err)
		}
		u.SetGroupVersionKind(r.gvk) // items of lists have none
		found = append(found, u)
	}
	slices.SortFunc(found, func(a, b *unstructured.Unstructured) int { return strings.Compare(a.GetName(), b.GetName()) })
	return found, nil
}
