package ask

import (
	"fmt"
	"strings"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"kube-scheduler-simulator/simulator/cluster/objects"
	"kube-scheduler-simulator/simulator/questions/hypothesis"
)

// kubectl has these short names for the kinds that matter to scheduling.
var shortNames = map[string]string{
	"no": "Node", "po": "Pod", "ns": "Namespace", "svc": "Service", "pv": "PersistentVolume", "pvc": "PersistentVolumeClaim", "sc": "StorageClass",
	"pc": "PriorityClass", "pdb": "PodDisruptionBudget", "rs": "ReplicaSet", "sts": "StatefulSet", "rc": "ReplicationController",
}

// ParseTarget reads KIND/NAME or KIND/NAMESPACE/NAME, where KIND is written as for kubectl: node,
// nodes, no, Node, or podgroups.scheduling.x-k8s.io.
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

// kindOf reads a kind as kubectl does: RESOURCE, or RESOURCE.GROUP where several groups have a kind
// of the name.
func kindOf(name string) (gvk schema.GroupVersionKind, namespaced bool, err error) {
	resource, group, inGroup := strings.Cut(strings.ToLower(name), ".")
	if full, short := shortNames[resource]; short {
		resource = strings.ToLower(full)
	}
	var found []objects.Kind
	var resources []string
	// The recorded kinds are those that schedulers read, in the versions that they read.
	for _, k := range objects.Kinds(objects.Recorded) {
		plural, singular := meta.UnsafeGuessKindToResource(k.GroupKind().WithVersion(k.Version))
		if (resource == plural.Resource || resource == singular.Resource) && (!inGroup || group == k.Group) {
			found = append(found, k)
			resources = append(resources, plural.GroupResource().String())
		}
	}
	switch len(found) {
	case 0:
		return gvk, false, fmt.Errorf("the scheduler reads no kind %q", name)
	case 1:
		return found[0].GroupKind().WithVersion(found[0].Version), found[0].Namespaced, nil
	}
	return gvk, false, fmt.Errorf("%q is a kind of several groups: say %s", name, strings.Join(resources, " or "))
}
