package judge

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"
)

// scenario is a world of queues and what happens there. Many run in one cluster at the same time: each has a namespace, and a mark that
// stands for the sign @ in the names of whatever has no namespace.
type scenario struct {
	Seed uint64 `json:"seed"`
	// Fair says that both Kueues share fairly.
	Fair bool `json:"fairSharing,omitempty"`
	// Objects are there before the first step.
	Objects []*unstructured.Unstructured `json:"objects"`
	Steps   []step                       `json:"steps"`
}

// step is one change by a user. Only one of its fields is set. Objects are named KIND/NAME.
type step struct {
	Create []*unstructured.Unstructured `json:"create,omitempty"`
	Delete string                       `json:"delete,omitempty"`
	// Finish lets the running pods of a job, a pod or a group succeed.
	Finish string `json:"finish,omitempty"`
	Patch  *patch `json:"patch,omitempty"`
}

// patch is a JSON merge patch.
type patch struct {
	Object string         `json:"object"`
	Merge  map[string]any `json:"merge"`
}

// text returns the scenario as YAML, in the namespace default, so that a user can repeat it by hand.
func (s *scenario) text() string {
	out, err := yaml.Marshal(s)
	if err != nil {
		panic(err) // plain data
	}
	return strings.ReplaceAll(string(out), "@", "")
}

// kinds are the kinds of scenarios.
var kinds = map[string]schema.GroupVersionKind{}

func init() {
	for group, names := range map[schema.GroupVersion][]string{
		{Version: "v1"}:                               {"Node", "Namespace", "Pod"},
		{Group: "batch", Version: "v1"}:               {"Job"},
		{Group: "apps", Version: "v1"}:                {"Deployment", "StatefulSet"},
		{Group: "scheduling.k8s.io", Version: "v1"}:   {"PriorityClass"},
		{Group: "kueue.x-k8s.io", Version: "v1beta2"}: {"ClusterQueue", "LocalQueue", "Cohort", "ResourceFlavor", "Topology", "Workload", "WorkloadPriorityClass", "AdmissionCheck"},
	} {
		for _, name := range names {
			kinds[name] = group.WithKind(name)
		}
	}
}

// object makes an object of a scenario. Each of what is given is merged into it.
func object(kind, name string, content ...map[string]any) *unstructured.Unstructured {
	o := &unstructured.Unstructured{Object: map[string]any{}}
	o.SetGroupVersionKind(kinds[kind])
	o.SetName(name)
	for _, c := range content {
		merge(o.Object, c)
	}
	return o
}

func merge(into, from map[string]any) {
	for key, value := range from {
		old, isMap := into[key].(map[string]any)
		if add, too := value.(map[string]any); isMap && too {
			merge(old, add)
		} else {
			into[key] = runtime.DeepCopyJSONValue(value)
		}
	}
}

// parse reads a YAML object of the judge's own.
func parse(format string, args ...any) map[string]any {
	var out map[string]any
	if err := yaml.Unmarshal(fmt.Appendf(nil, format, args...), &out); err != nil {
		panic(fmt.Sprintf("%v in %s", err, fmt.Sprintf(format, args...)))
	}
	return out
}

// place is where one run of a scenario happens: a namespace of the name mark in one of the clusters.
type place struct {
	*cluster
	mark string
	// statuses says that the statuses of queues count now.
	statuses bool
}

// filled is a copy of an object for the place.
func (p place) filled(o *unstructured.Unstructured) *unstructured.Unstructured {
	raw, err := json.Marshal(o.Object)
	out := &unstructured.Unstructured{}
	if err == nil {
		err = json.Unmarshal(bytes.ReplaceAll(raw, []byte("@"), []byte(p.mark+"-")), &out.Object)
	}
	if err != nil {
		panic(err) // plain data
	}
	if mapping, err := p.client.RESTMapper().RESTMapping(out.GroupVersionKind().GroupKind(), out.GroupVersionKind().Version); err == nil && mapping.Scope.Name() == meta.RESTScopeNameNamespace {
		out.SetNamespace(p.mark)
	}
	return out
}

func (p place) named(ref string) *unstructured.Unstructured {
	kind, name, _ := strings.Cut(ref, "/")
	return p.filled(object(kind, name))
}

// set creates what is there before the first step.
func (p place) set(ctx context.Context, s *scenario) error {
	for _, o := range append([]*unstructured.Unstructured{object("Namespace", p.mark)}, s.Objects...) {
		if err := p.client.Create(ctx, p.filled(o)); err != nil {
			return fmt.Errorf("creating %s %s: %w", o.GetKind(), o.GetName(), err)
		}
	}
	return nil
}

// clear deletes all of it. It does not wait.
func (p place) clear(ctx context.Context, s *scenario) {
	_ = p.client.Delete(ctx, object("Namespace", p.mark)) // it may be gone, as all else
	for _, o := range slices.Backward(s.Objects) {
		_ = p.client.Delete(ctx, p.filled(o))
	}
}

// take does a step. It returns the error of the first write that was refused.
func (p place) take(ctx context.Context, s step) error {
	for _, o := range s.Create {
		if err := p.client.Create(ctx, p.filled(o)); err != nil {
			return err
		}
	}
	switch {
	case s.Delete != "":
		return p.client.Delete(ctx, p.named(s.Delete), client.PropagationPolicy("Background"))
	case s.Patch != nil:
		raw, err := json.Marshal(p.filled(&unstructured.Unstructured{Object: s.Patch.Merge}).Object)
		if err != nil {
			return err
		}
		return p.client.Patch(ctx, p.named(s.Patch.Object), client.RawPatch(types.MergePatchType, raw))
	case s.Finish != "":
		return p.finish(ctx, s.Finish)
	}
	return nil
}

func (p place) finish(ctx context.Context, name string) error {
	var pods v1.PodList
	if err := p.cache.List(ctx, &pods, client.InNamespace(p.mark)); err != nil {
		return err
	}
	for i := range pods.Items {
		pod := &pods.Items[i]
		if owner(pod.Name) != name || pod.Status.Phase != v1.PodRunning || pod.DeletionTimestamp != nil {
			continue
		}
		if err := p.client.Status().Patch(ctx, pod.DeepCopy(), client.RawPatch(types.MergePatchType, []byte(`{"status": {"phase": "Succeeded"}}`))); err != nil {
			return err
		}
	}
	return nil
}
