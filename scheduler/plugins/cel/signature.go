package cel

import (
	"context"
	"reflect"
	"slices"
	"strings"

	v1 "k8s.io/api/core/v1"
	fwk "k8s.io/kube-scheduler/framework"
)

// signer signs pods by the parts of them that a plugin's expressions read: the plugin's answer for
// a node depends only on those and the node. Without signatures the framework turns batching off
// for all pods.
type signer struct {
	schema *schema
	// fields holds the fields of the pod by their path; nil when every pod is
	// different.
	fields map[string][]*structField
	// request: the plugin reads podRequest.
	request bool
}

// own lists the fields that are unique to a pod or change while the pod waits.
var own = []string{
	"", "status", "metadata", "metadata.name", "metadata.uid", "metadata.resourceVersion",
	"metadata.generation", "metadata.creationTimestamp", "metadata.selfLink",
}

func newSigner(s *schema, expressions ...*expression) *signer {
	out := &signer{schema: s, fields: map[string][]*structField{}}
	for _, e := range expressions {
		if e == nil {
			continue
		}
		out.request = out.request || e.reads.variables[varPodRequest]
		for _, path := range e.reads.pod {
			if out.fields == nil || slices.Contains(own, path) || strings.HasPrefix(path, "status.") {
				out.fields = nil
				continue
			}
			fields := s.fieldsAt(reflect.TypeFor[v1.Pod](), strings.Split(path, "."))
			out.fields[path] = fields
		}
	}
	return out
}

// fieldsAt follows a path through structs. Deeper parts, in maps and lists, belong
// to the last field.
func (s *schema) fieldsAt(t reflect.Type, path []string) (out []*structField) {
	for _, name := range path {
		if t.Kind() == reflect.Pointer {
			t = t.Elem()
		}
		st := s.byType[t]
		if st == nil || st.fields[name] == nil {
			break
		}
		out = append(out, st.fields[name])
		t = t.FieldByIndex(st.fields[name].index).Type
	}
	return out
}

// SignPod returns the parts of pod that the expressions read, or Unschedulable if
// they read a part that is unique to the pod.
func (s *signer) SignPod(_ context.Context, pod *v1.Pod) ([]fwk.SignFragment, *fwk.Status) {
	if s.fields == nil {
		return nil, fwk.NewStatus(fwk.Unschedulable, "the expression reads a field that differs between all pods")
	}
	var out []fwk.SignFragment
	for path, fields := range s.fields {
		out = append(out, fwk.SignFragment{Key: "CEL:pod." + path, Value: valueAt(reflect.ValueOf(pod), fields)})
	}
	if s.request {
		out = append(out, fwk.SignFragment{Key: "CEL:" + varPodRequest, Value: resourcesOfPod(pod)})
	}
	return out, nil
}

func valueAt(v reflect.Value, fields []*structField) any {
	for _, f := range fields {
		if v.Kind() == reflect.Pointer {
			if v.IsNil() {
				return nil
			}
			v = v.Elem()
		}
		v = v.FieldByIndex(f.index)
	}
	return v.Interface()
}
