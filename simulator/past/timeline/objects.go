package timeline

import (
	"bytes"
	"context"
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"kube-scheduler-simulator/simulator/cluster/objects"
)

// failureOf returns the verb of a node's failure; empty if the node works. Conditions alone only
// prolong a failure, because new nodes are not ready for a moment.
func failureOf(node *unstructured.Unstructured, failing bool) string {
	switch failure := node.GetAnnotations()[objects.AnnotationFailure]; failure {
	case "":
	case objects.FailureUnreachable:
		return "unreachable"
	default:
		return "notReady"
	}
	if !failing {
		return ""
	}
	switch readiness(node) {
	case "False":
		return "notReady"
	case "Unknown":
		return "unreachable"
	}
	return ""
}

func readiness(node *unstructured.Unstructured) string {
	conditions, _, _ := unstructured.NestedSlice(node.Object, "status", "conditions")
	for _, c := range conditions {
		if condition, ok := c.(map[string]any); ok && condition["type"] == "Ready" {
			status, _ := condition["status"].(string)
			return status
		}
	}
	return ""
}

var (
	nodeFields = [][]string{
		{"metadata", "name"}, {"metadata", "uid"}, {"metadata", "labels"}, {"metadata", "annotations"}, {"metadata", "creationTimestamp"}, {"metadata", "deletionTimestamp"},
		{"spec", "taints"}, {"spec", "unschedulable"}, {"status", "allocatable"}, {"status", "capacity"}, {"status", "conditions"},
	}
	podFields = [][]string{
		{"metadata", "name"}, {"metadata", "namespace"}, {"metadata", "uid"}, {"metadata", "labels"}, {"metadata", "creationTimestamp"}, {"metadata", "deletionTimestamp"},
		{"metadata", "ownerReferences"}, {"spec", "nodeName"}, {"spec", "schedulerName"}, {"spec", "priority"}, {"spec", "overhead"}, {"spec", "resources"},
		{"spec", "schedulingGates"}, {"spec", "tolerations"}, {"status", "phase"}, {"status", "reason"}, {"status", "conditions"}, {"status", "nominatedNodeName"},
	}
	containerFields = []string{"name", "resources", "restartPolicy"}
)

// drawn is what a map reads of the nodes and pods of a moment, by key. People scrub, and most
// objects are the same at the next moment, so it only decodes the others.
type drawn struct{ objects map[string]drawnObject }

type drawnObject struct {
	// stored is the object in the snapshot that text was made from.
	stored  []byte
	text    json.RawMessage
	pending bool
}

func (t *Timeline) draw(ctx context.Context, m *Moment, s *snapshot) error {
	t.drawing.Lock()
	defer t.drawing.Unlock()
	var before map[string]drawnObject
	if t.drawn != nil {
		before = t.drawn.objects
	}
	now := &drawn{make(map[string]drawnObject, len(before))}
	m.Nodes, m.Pods = []json.RawMessage{}, []json.RawMessage{}
	for _, key := range slices.Sorted(maps.Keys(s.objects)) {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		isNode := strings.HasPrefix(key, nodePrefix)
		if !isNode && !strings.HasPrefix(key, podPrefix) {
			continue
		}
		object := before[key]
		if object.stored == nil || !bytes.Equal(object.stored, s.objects[key]) {
			var err error
			if object, err = s.drawObject(key, isNode); err != nil {
				return err
			}
		}
		now.objects[key] = object
		if isNode {
			m.Nodes = append(m.Nodes, object.text)
			continue
		}
		m.Pods = append(m.Pods, object.text)
		if object.pending {
			m.Counts.Pending++
		}
	}
	m.Counts.Nodes, m.Counts.Pods = len(m.Nodes), len(m.Pods)
	t.drawn = now
	t.opts.Clock.AfterFunc(latestTime, func() {
		t.drawing.Lock()
		defer t.drawing.Unlock()
		if t.drawn == now {
			t.drawn = nil
		}
	})
	return nil
}

func (s *snapshot) drawObject(key string, isNode bool) (drawnObject, error) {
	u, err := s.decode(key, s.objects[key])
	if err != nil {
		return drawnObject{}, err
	}
	out := drawnObject{stored: s.objects[key]}
	if isNode {
		out.text, err = json.Marshal(reduced(u, nodeFields))
	} else {
		out.pending = isPending(u)
		out.text, err = json.Marshal(reducedPod(u))
	}
	return out, err
}

// reduced returns what a map of the cluster reads of an object.
func reduced(u *unstructured.Unstructured, fields [][]string) map[string]any {
	out := &unstructured.Unstructured{Object: map[string]any{"apiVersion": u.GetAPIVersion(), "kind": u.GetKind()}}
	for _, path := range fields {
		if value, found, _ := unstructured.NestedFieldNoCopy(u.Object, path...); found && value != nil {
			_ = unstructured.SetNestedField(out.Object, value, path...) // the parents are maps made here
		}
	}
	return out.Object
}

func reducedPod(u *unstructured.Unstructured) map[string]any {
	out := reduced(u, podFields)
	for _, list := range []string{"containers", "initContainers"} {
		containers, found, _ := unstructured.NestedSlice(u.Object, "spec", list)
		if !found {
			continue
		}
		for _, c := range containers {
			if container, ok := c.(map[string]any); ok {
				for field := range container {
					if !slices.Contains(containerFields, field) {
						delete(container, field)
					}
				}
			}
		}
		_ = unstructured.SetNestedSlice(out, containers, "spec", list)
	}
	return out
}

// nodeOf returns the node of a pod; empty for none, and for other objects.
func nodeOf(u *unstructured.Unstructured) string {
	if u == nil || u.GroupVersionKind().GroupKind() != objects.Pod {
		return ""
	}
	name, _, _ := unstructured.NestedString(u.Object, "spec", "nodeName")
	return name
}

func isPending(pod *unstructured.Unstructured) bool {
	phase, _, _ := unstructured.NestedString(pod.Object, "status", "phase")
	return nodeOf(pod) == "" && phase != "Succeeded" && phase != "Failed"
}

func refTo(u *unstructured.Unstructured) ObjectRef {
	return ObjectRef{APIVersion: u.GetAPIVersion(), Kind: u.GetKind(), Namespace: u.GetNamespace(), Name: u.GetName()}
}
