// Package annotation renders cycles as the pod annotations that people know
// from the existing simulator, within a budget, and writes them.
//
// It may import scheduler/result and client-go.
package annotation

import (
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Prefix begins the name of every annotation of the simulator.
const Prefix = "kube-scheduler-simulator.sigs.k8s.io/"

// Strip removes our annotations from obj, in place. A map without any other
// annotation becomes nil, as it is on an object that never had any.
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
