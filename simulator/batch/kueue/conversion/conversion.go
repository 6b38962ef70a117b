// Package conversion converts the objects of kueue.x-k8s.io between v1beta1 and v1beta2 by the functions of
// Kueue's module, as its conversion webhook does. The other kinds of the group have the same fields in both
// versions.
//
// It is not a server: the API server of the simulator calls Transport in place of the webhook that the
// definitions name. It may import Kubernetes' API machinery and Kueue's API packages only.
package conversion

import (
	"fmt"
	"maps"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/conversion"
	"sigs.k8s.io/kueue/apis/kueue/v1beta1"
	"sigs.k8s.io/kueue/apis/kueue/v1beta2"
)

// Convert returns a copy of an object in the given API version. What one version does not have is lost,
// as in Kueue.
func Convert(in *unstructured.Unstructured, to string) (out *unstructured.Unstructured, err error) {
	if in.GetAPIVersion() == to {
		return in.DeepCopy(), nil
	}
	old, current := pair(in.GetKind())
	// The module reads topology assignments by the lengths that they state. Schemas hold those to the truth, but what was
	// stored before they did must not end the process.
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("converting %s %s/%s: %v", in.GetKind(), in.GetNamespace(), in.GetName(), p)
		}
	}()
	var converted any
	switch v1, v2 := v1beta1.GroupVersion.String(), v1beta2.GroupVersion.String(); {
	case old == nil:
		return nil, fmt.Errorf("objects of kind %q have no conversion", in.GetKind())
	case in.GetAPIVersion() == v1 && to == v2:
		if err = runtime.DefaultUnstructuredConverter.FromUnstructured(in.Object, old); err == nil {
			err = old.ConvertTo(current)
		}
		converted = current
	case in.GetAPIVersion() == v2 && to == v1:
		if err = runtime.DefaultUnstructuredConverter.FromUnstructured(in.Object, current); err == nil {
			err = old.ConvertFrom(current)
		}
		converted = old
	default:
		return nil, fmt.Errorf("no conversion from %s to %s", in.GetAPIVersion(), to)
	}
	if err != nil {
		return nil, err
	}
	out = &unstructured.Unstructured{}
	if out.Object, err = runtime.DefaultUnstructuredConverter.ToUnstructured(converted); err != nil {
		return nil, err
	}
	dropNulls(out.Object)
	out.Object["metadata"] = in.DeepCopy().Object["metadata"]
	out.SetGroupVersionKind(schema.FromAPIVersionAndKind(to, in.GetKind()))
	return out, nil
}

// dropNulls removes the fields that have null in place of an empty list, which no schema accepts.
func dropNulls(o map[string]any) {
	maps.DeleteFunc(o, func(_ string, v any) bool { return v == nil })
	for _, v := range o {
		switch v := v.(type) {
		case map[string]any:
			dropNulls(v)
		case []any:
			for _, item := range v {
				if item, ok := item.(map[string]any); ok {
					dropNulls(item)
				}
			}
		}
	}
}

// pair returns an empty object of each version; nil for a kind without a conversion.
func pair(kind string) (conversion.Convertible, conversion.Hub) {
	switch kind {
	case "ClusterQueue":
		return &v1beta1.ClusterQueue{}, &v1beta2.ClusterQueue{}
	case "LocalQueue":
		return &v1beta1.LocalQueue{}, &v1beta2.LocalQueue{}
	case "Cohort":
		return &v1beta1.Cohort{}, &v1beta2.Cohort{}
	case "Workload":
		return &v1beta1.Workload{}, &v1beta2.Workload{}
	}
	return nil, nil
}
