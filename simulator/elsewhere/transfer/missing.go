package transfer

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"kube-scheduler-simulator/simulator/elsewhere/transfer/manifest"
)

// makeNamespaces creates the missing namespaces of the input's objects: kubectl get pods -A prints
// no namespaces.
func (i *importer) makeNamespaces(ctx context.Context) {
	needed := map[string]bool{}
	for _, o := range i.objects {
		if o.Namespace != "" {
			needed[o.Namespace] = true
		}
	}
	for _, name := range slices.Sorted(maps.Keys(needed)) {
		i.make(ctx, schema.GroupVersionKind{Version: "v1", Kind: "Namespace"}, name, nil)
	}
}

// makeClasses creates the missing classes that pods name, from what the pods show of them.
func (i *importer) makeClasses(ctx context.Context) {
	priorities, runtimes := map[string]map[string]any{}, map[string]map[string]any{}
	for _, head := range i.pods.heads {
		if name := head.Spec.PriorityClassName; name != "" && head.Spec.Priority != nil {
			priorities[name] = map[string]any{"value": *head.Spec.Priority, "description": "made from the pods that name it"}
			if policy := head.Spec.PreemptionPolicy; policy != "" {
				priorities[name]["preemptionPolicy"] = policy
			}
		}
		if name := head.Spec.RuntimeClassName; name != "" {
			runtimes[name] = map[string]any{"handler": name}
			if len(head.Spec.Overhead) > 0 {
				runtimes[name]["overhead"] = map[string]any{"podFixed": head.Spec.Overhead}
			}
		}
	}
	for _, name := range slices.Sorted(maps.Keys(priorities)) {
		i.make(ctx, schema.GroupVersionKind{Group: "scheduling.k8s.io", Version: "v1", Kind: "PriorityClass"}, name, priorities[name])
	}
	for _, name := range slices.Sorted(maps.Keys(runtimes)) {
		i.make(ctx, schema.GroupVersionKind{Group: "node.k8s.io", Version: "v1", Kind: "RuntimeClass"}, name, runtimes[name])
	}
}

// make creates an object that is neither in the input nor in the cluster, and reports it.
func (i *importer) make(ctx context.Context, gvk schema.GroupVersionKind, name string, fields map[string]any) {
	k := key{gvk.GroupKind(), "", name}
	r, err := i.client.resourceFor(gvk)
	if err != nil || i.index[k] != nil || ctx.Err() != nil || i.uidOf(ctx, r, k) != "" {
		return
	}
	object := map[string]any{"apiVersion": gvk.GroupVersion().String(), "kind": gvk.Kind, "metadata": map[string]any{"name": name}}
	maps.Copy(object, fields)
	item := Item{APIVersion: gvk.GroupVersion().String(), Kind: gvk.Kind, Name: name, Message: "the input refers to it, but it did not exist, so it was created"}
	body, err := json.Marshal(object)
	uid := ""
	if err == nil {
		uid, err = i.client.createUID(ctx, r, body)
	}
	if err != nil && !apierrors.IsAlreadyExists(err) {
		item.Message = fmt.Sprintf("the input refers to it, but it does not exist and could not be created: %v", err)
	}
	i.rec.warn(item)
	if uid == "" {
		i.forget(k)
		return
	}
	// Pods that need it are retried until admission knows it; see isAhead.
	i.learn(k, uid)
}

const (
	// definitionTimeout bounds how long the API server may take to serve custom resources.
	definitionTimeout = 20 * time.Second
	definitionPoll    = 50 * time.Millisecond
)

// learnDefinitions waits until the API server serves the custom resources of the input, and learns
// which kinds are custom. A kind that it does not serve in time is reported when its objects fail.
func (i *importer) learnDefinitions(ctx context.Context, definitions []*manifest.Object) error {
	waitCtx, cancel := context.WithTimeout(ctx, definitionTimeout)
	defer cancel()
	tick := time.NewTicker(definitionPoll)
	defer tick.Stop()
	for wanted := i.definedBy(definitions); ; {
		if err := i.learnCustom(ctx); err != nil {
			return err
		}
		if len(wanted) > 0 {
			if err := i.client.discover(); err != nil {
				return err
			}
		}
		wanted = slices.DeleteFunc(wanted, func(gvk schema.GroupVersionKind) bool {
			_, err := i.client.resourceFor(gvk)
			return err == nil
		})
		if len(wanted) == 0 {
			return nil
		}
		select {
		case <-waitCtx.Done():
			return ctx.Err()
		case <-tick.C:
		}
	}
}

// define installs the definitions that the simulator has of kinds that are in the input and not
// served: a redacted export, or an export of single objects, has none.
func (i *importer) define(ctx context.Context) error {
	var lacking []schema.GroupKind
	for _, o := range i.objects {
		gk := o.GVK.GroupKind()
		if _, served := i.client.preferredFor(gk); !served && !slices.Contains(lacking, gk) {
			lacking = append(lacking, gk)
		}
	}
	if len(lacking) == 0 {
		return nil
	}
	defined, err := i.cluster.opts.Define(ctx, lacking)
	if err != nil {
		i.rec.warn(Item{Kind: definitionKind.Kind, APIVersion: definitionKind.GroupVersion().String(), Message: err.Error()})
	}
	if !defined {
		return nil
	}
	if err := i.client.discover(); err != nil {
		return err
	}
	return i.learnCustom(ctx)
}

type definition struct {
	Metadata struct {
		Name string `json:"name"`
	} `json:"metadata"`
	Spec struct {
		Group string `json:"group"`
		Names struct {
			Kind string `json:"kind"`
		} `json:"names"`
		Versions []struct {
			Name   string `json:"name"`
			Served bool   `json:"served"`
		} `json:"versions"`
	} `json:"spec"`
}

// definedBy returns the kinds that the definitions will have served.
func (i *importer) definedBy(definitions []*manifest.Object) []schema.GroupVersionKind {
	var kinds []schema.GroupVersionKind
	for _, o := range definitions {
		var d definition
		if i.uids[keyOf(o)] == "" || json.Unmarshal(o.JSON, &d) != nil {
			continue
		}
		for _, v := range d.Spec.Versions {
			if v.Served {
				kinds = append(kinds, schema.GroupVersionKind{Group: d.Spec.Group, Version: v.Name, Kind: d.Spec.Names.Kind})
			}
		}
	}
	return kinds
}

var definitionKind = schema.GroupVersionKind{Group: "apiextensions.k8s.io", Version: "v1", Kind: "CustomResourceDefinition"}

func (i *importer) learnCustom(ctx context.Context) error {
	custom, err := i.client.customKinds(ctx)
	if err != nil {
		return err
	}
	for _, gk := range custom {
		i.custom[gk] = true
	}
	return nil
}

func (c *client) customKinds(ctx context.Context) ([]schema.GroupKind, error) {
	r, err := c.resourceFor(definitionKind)
	if err != nil {
		return nil, nil // an API server without custom resources
	}
	data, err := c.get(ctx, r, "", "")
	if err != nil {
		return nil, fmt.Errorf("listing custom resource definitions: %w", err)
	}
	var list struct {
		Items []definition `json:"items"`
	}
	if err := json.Unmarshal(data, &list); err != nil {
		return nil, fmt.Errorf("listing custom resource definitions: %w", err)
	}
	var custom []schema.GroupKind
	for _, d := range list.Items {
		custom = append(custom, schema.GroupKind{Group: d.Spec.Group, Kind: d.Spec.Names.Kind})
	}
	return custom, nil
}
