package ask

import (
	"fmt"
	"strings"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"kube-scheduler-simulator/simulator/hypothesis"
	"kube-scheduler-simulator/simulator/objects"
)

// shortNames are those of kubectl for the kinds that matter to scheduling.
var shortNames = map[string]string{
	"no": "Node", "po": "Pod", "ns": "Namespace", "svc": "Service", "pv": "PersistentVolume", "pvc": "PersistentVolumeClaim", "sc": "StorageClass",
	"pc": "PriorityClass", "pdb": "PodDisruptionBudget", "rs": "ReplicaSet", "sts": "StatefulSet", "rc": "ReplicationController",
}

// ParseTarget reads KIND/NAME or KIND/NAMESPACE/NAME, where KIND is written as for kubectl: node, nodes, no or Node.
func ParseTarget(text, namespace string) (hypothesis.Target, error) {
	parts := strings.Split(text, "/")
	if len(parts) < 2 || len(parts) > 3 || parts[len(parts)-1] == "" {
		return hypothesis.Target{}, fmt.Errorf("%q does not name an object: want KIND/NAME or KIND/NAMESPACE/NAME, such as node/a or pod/shop/web", text)
	}
	gvk, namespaced, err := kindOf(parts[0])
	if err != nil {
		return hypothesis.Target{}, err
	}
	target := hypothesis.Target{APIVersion: gvk.GroupVersion().String(), Kind: gvk.Kind, Name: parts[len(parts)-1]}
	switch {
	case !namespaced && len(parts) == 3:
		return hypothesis.Target{}, fmt.Errorf("%q: a %s has no namespace", text, gvk.Kind)
	case len(parts) == 3:
		target.Namespace = parts[1]
	case namespaced:
		target.Namespace = namespace
	}
	return target, nil
}

func kindOf(name string) (gvk schema.GroupVersionKind, namespaced bool, err error) {
	name = strings.ToLower(name)
	if full, short := shortNames[name]; short {
		name = strings.ToLower(full)
	}
	// The recorded kinds are those that schedulers read, with the versions in which they do.
	for _, k := range objects.Kinds(objects.Recorded) {
		gvk := k.GroupKind().WithVersion(k.Version)
		plural, singular := meta.UnsafeGuessKindToResource(gvk)
		if name == plural.Resource || name == singular.Resource {
			return gvk, k.Namespaced, nil
		}
	}
	return gvk, false, fmt.Errorf("the scheduler reads no kind %q", name)
}
