package draft

import (
	"maps"
	"slices"
	"strings"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"kube-scheduler-simulator/scheduler/simulation"
	"kube-scheduler-simulator/simulator/cluster/objects"
	"kube-scheduler-simulator/simulator/past/timeline"
)

// reduce leaves of an exported object what its author wrote, in place: a run sets the rest again.
func reduce(u *unstructured.Unstructured) {
	unstructured.RemoveNestedField(u.Object, "metadata", "creationTimestamp")
	unstructured.RemoveNestedField(u.Object, "metadata", "generateName")
	annotations, _, _ := unstructured.NestedMap(u.Object, "metadata", "annotations")
	for name := range annotations {
		if name == objects.AnnotationOwner || strings.HasPrefix(name, "deployment.kubernetes.io/") {
			unstructured.RemoveNestedField(u.Object, "metadata", "annotations", name)
		}
	}
	switch {
	case isNode(u):
		reduceNode(u)
	case isPod(u):
		reducePod(u)
	}
	minimize(u)
	for _, path := range [][]string{{"metadata", "annotations"}, {"metadata", "labels"}, {"metadata"}} {
		if value, found, _ := unstructured.NestedMap(u.Object, path...); found && len(value) == 0 {
			unstructured.RemoveNestedField(u.Object, path...)
		}
	}
}

// reduceNode keeps the resources and what users have tainted.
func reduceNode(u *unstructured.Unstructured) {
	status := map[string]any{}
	for _, field := range []string{"capacity", "allocatable"} {
		if value, found, _ := unstructured.NestedMap(u.Object, "status", field); found {
			status[field] = value
		}
	}
	u.Object["status"] = status
	if len(status) == 0 {
		delete(u.Object, "status")
	}
	taints, _, _ := unstructured.NestedSlice(u.Object, "spec", "taints")
	taints = slices.DeleteFunc(taints, func(t any) bool {
		taint, _ := t.(map[string]any)
		key, _ := taint["key"].(string)
		return slices.Contains(conditionTaints, key)
	})
	if len(taints) == 0 {
		unstructured.RemoveNestedField(u.Object, "spec", "taints")
	} else {
		_ = unstructured.SetNestedSlice(u.Object, taints, "spec", "taints") // spec is a map, as it had them
	}
	unstructured.RemoveNestedField(u.Object, "spec", "podCIDR")
	unstructured.RemoveNestedField(u.Object, "spec", "podCIDRs")
}

// conditionTaints are those by which controllers repeat a node's conditions.
var conditionTaints = []string{
	v1.TaintNodeNotReady, v1.TaintNodeUnreachable, v1.TaintNodeUnschedulable, v1.TaintNodeMemoryPressure,
	v1.TaintNodeDiskPressure, v1.TaintNodeNetworkUnavailable, v1.TaintNodePIDPressure,
}

// reducePod removes what admission sets. Only a pod that has finished keeps its phase.
func reducePod(u *unstructured.Unstructured) {
	phase, _, _ := unstructured.NestedString(u.Object, "status", "phase")
	delete(u.Object, "status")
	if phase == string(v1.PodSucceeded) || phase == string(v1.PodFailed) {
		u.Object["status"] = map[string]any{"phase": phase}
	}
	spec, _ := u.Object["spec"].(map[string]any)
	for _, field := range []string{"serviceAccount", "serviceAccountName"} {
		if spec[field] == "default" {
			delete(spec, field)
		}
	}
	without := func(field string, is func(one map[string]any) bool) {
		items, _ := spec[field].([]any)
		items = slices.DeleteFunc(items, func(item any) bool {
			one, isMap := item.(map[string]any)
			return isMap && is(one)
		})
		if len(items) == 0 {
			delete(spec, field)
		} else {
			spec[field] = items
		}
	}
	without("tolerations", func(t map[string]any) bool {
		return (t["key"] == v1.TaintNodeNotReady || t["key"] == v1.TaintNodeUnreachable) && t["operator"] == "Exists" && t["effect"] == "NoExecute" && t["tolerationSeconds"] == int64(300)
	})
	without("schedulingGates", func(g map[string]any) bool { return g["name"] == objects.GateImport })
}

// settable is what a change by a user can change and a step can repeat.
func settable(u *unstructured.Unstructured) map[string]any {
	status, _, _ := unstructured.NestedMap(u.Object, "status")
	out := &unstructured.Unstructured{Object: timeline.Desired(u)}
	if isNode(out) {
		out.Object["status"] = status
		reduceNode(out)
		unstructured.RemoveNestedField(out.Object, "metadata", "annotations", objects.AnnotationFailure) // a step of its own
	}
	return out.Object
}

// minimize removes fields that the API sets to the same value when they are missing.
func minimize(u *unstructured.Unstructured) {
	whole, err := simulation.Defaulted(u)
	if err != nil || whole == nil {
		return
	}
	same := func() bool {
		now, err := simulation.Defaulted(u)
		return err == nil && equality.Semantic.DeepEqual(now, whole)
	}
	for _, field := range slices.Sorted(maps.Keys(u.Object)) {
		switch field {
		case "apiVersion", "kind", "metadata", "status":
			continue
		}
		prune(u.Object, field, same)
	}
	if isNode(u) {
		minimizeNode(u, same)
	}
}

// minimizeNode keeps the resources that people look for.
func minimizeNode(u *unstructured.Unstructured, same func() bool) {
	at := func(fields ...string) map[string]any {
		value, _, _ := unstructured.NestedFieldNoCopy(u.Object, fields...)
		of, _ := value.(map[string]any)
		return of
	}
	for _, label := range slices.Sorted(maps.Keys(at("metadata", "labels"))) {
		prune(at("metadata", "labels"), label, same)
	}
	if at("status", "capacity") != nil {
		prune(at("status"), "capacity", same)
	}
	allocatable := at("status", "allocatable")
	for _, resource := range slices.Sorted(maps.Keys(allocatable)) {
		if resource != "cpu" && resource != "memory" && resource != "pods" {
			prune(allocatable, resource, same)
		}
	}
}

// prune removes a field, or parts of it, as long as the object stays the same.
func prune(from map[string]any, field string, same func() bool) {
	value := from[field]
	delete(from, field)
	if same() {
		return
	}
	from[field] = value
	switch value := value.(type) {
	case map[string]any:
		for _, inner := range slices.Sorted(maps.Keys(value)) {
			prune(value, inner, same)
		}
	case []any:
		for _, item := range value {
			if one, isMap := item.(map[string]any); isMap {
				for _, inner := range slices.Sorted(maps.Keys(one)) {
					prune(one, inner, same)
				}
			}
		}
	}
}
