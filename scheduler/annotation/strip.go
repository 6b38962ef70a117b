// Package annotation renders cycles as the pod annotations of the existing simulator,
// within a budget of bytes, and writes them to the pods. It does not decide what a
// cycle means; see package explain for that.
//
// It may import scheduler/result and client-go.
package annotation

import (
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Prefix starts the name of every annotation of the simulator.
const Prefix = "kube-scheduler-simulator.sigs.k8s.io/"

// Strip removes our annotations from obj, in place. An empty map becomes nil, as on an
// object that never had annotations.
func Strip(obj metav1.Object) {
	annotations := obj.GetAnnotations()
	for name := range annotations {
		if strings.HasPrefix(name, Prefix) {
			delete(annotations, name)
		}
	}
	if len(annotations) == 0 {
		obj.SetAnnotations(nil)
	}
}
