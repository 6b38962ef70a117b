// Package annotation renders cycles as the pod annotations of the existing simulator, within a
// budget of bytes, and writes them to the pods. Package explain, not this one, says what a cycle
// means.
//
// It may import scheduler/result and client-go.
package annotation

import (
	"maps"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Prefix starts the name of every annotation of the simulator.
const Prefix = "kube-scheduler-simulator.sigs.k8s.io/"

// Strip removes our annotations from obj, and leaves nil if no others remain, as on an object that
// never had any.
func Strip(obj metav1.Object) {
	Drop(obj, func(name string) bool { return strings.HasPrefix(name, Prefix) })
}

// Drop removes the annotations for which drop returns true from obj. If it removes any, the others
// move to a map of their own size: a map keeps the room of a scheduling result, which adds up over
// the pods of a large cluster.
func Drop(obj metav1.Object, drop func(name string) bool) {
	annotations := obj.GetAnnotations()
	before := len(annotations)
	maps.DeleteFunc(annotations, func(name, _ string) bool { return drop(name) })
	switch after := len(annotations); {
	case after == 0:
		obj.SetAnnotations(nil)
	case after < before:
		rest := make(map[string]string, after) // maps.Clone would keep the room
		maps.Copy(rest, annotations)
		obj.SetAnnotations(rest)
	}
}
