package mirror

import (
	"maps"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"kube-scheduler-simulator/simulator/cluster/objects"
)

// prepared is an object of the source as it is to be here. It is immutable.
type prepared struct {
	kind kind
	// namespace and name are those here. Redaction makes them differ from the source's.
	namespace, name string
	uid             string
	// object has no status, and no node.
	object map[string]any
	status map[string]any
	// node is the node of a pod in the source, owner the pod that a claim belongs to, as
	// namespace/name.
	node, owner string
	// pending: no scheduler has reported on the pod yet, or the claim has no volume. That may soon
	// change.
	pending bool
	// deleting is the grace period of a pod that is being deleted.
	deleting *int64
}

func (p *prepared) key() string {
	if p.namespace == "" {
		return p.name
	}
	return p.namespace + "/" + p.name
}

// prepare may keep parts of u. With reschedule, it unbinds pods unless they have finished or are
// static. It returns nil for an object that is not copied.
func prepare(k kind, u *unstructured.Unstructured, reschedule bool) *prepared {
	p := &prepared{kind: k, namespace: u.GetNamespace(), name: u.GetName(), uid: string(u.GetUID())}
	p.object = map[string]any{"apiVersion": k.GroupVersion().String(), "kind": k.Kind, "metadata": p.metadata(u)}
	for name, value := range u.Object {
		switch name {
		case "apiVersion", "kind", "metadata", "status":
		default:
			p.object[name] = value
		}
	}
	shape, special := shapes[k.GroupKind()]
	if special && !shape(p, u, reschedule) {
		return nil
	}
	return p
}

func (p *prepared) metadata(u *unstructured.Unstructured) map[string]any {
	annotations := u.GetAnnotations()
	if annotations == nil {
		annotations = map[string]string{}
	}
	maps.DeleteFunc(annotations, func(key, _ string) bool { return objects.Strips(objects.Followed, key) })
	annotations[objects.AnnotationSource] = p.uid
	out := map[string]any{"name": p.name, "annotations": stringMap(annotations)}
	if p.namespace != "" {
		out["namespace"] = p.namespace
	}
	if labels := u.GetLabels(); len(labels) > 0 {
		out["labels"] = stringMap(labels)
	}
	return out
}

func stringMap(from map[string]string) map[string]any {
	out := make(map[string]any, len(from))
	for key, value := range from {
		out[key] = value
	}
	return out
}

// shapes prepare more than the metadata of some kinds. They report whether to copy the object at
// all.
var shapes = map[schema.GroupKind]func(p *prepared, u *unstructured.Unstructured, reschedule bool) bool{
	objects.Pod:                   shapePod,
	objects.Node:                  shapeNode,
	objects.Namespace:             shapeNamespace,
	{Kind: "Service"}:             shapeService,
	objects.PersistentVolume:      shapeVolume,
	objects.PersistentVolumeClaim: shapeClaim,
	objects.PodDisruptionBudget:   shapeBudget,
	objects.ResourceClaim:         shapeResourceClaim,
	objects.ResourceClaimTemplate: func(_ *prepared, _ *unstructured.Unstructured, reschedule bool) bool { return reschedule },
}

// field returns a part of an object that is an object itself; an empty one if there is none.
func field(o map[string]any, path ...string) map[string]any {
	for _, name := range path {
		next, ok := o[name].(map[string]any)
		if !ok {
			return map[string]any{}
		}
		o = next
	}
	return o
}

func only(o map[string]any, names ...string) map[string]any {
	out := map[string]any{}
	for _, name := range names {
		if value, has := o[name]; has {
			out[name] = value
		}
	}
	return out
}

func without(o map[string]any, names ...string) map[string]any {
	out := maps.Clone(o)
	for _, name := range names {
		delete(out, name)
	}
	return out
}

// shapeNode removes fields that change without consequence, such as heartbeats.
func shapeNode(p *prepared, u *unstructured.Unstructured, _ bool) bool {
	spec := only(field(u.Object, "spec"), "taints", "unschedulable", "providerID")
	if len(spec) > 0 {
		p.object["spec"] = spec
	} else {
		delete(p.object, "spec")
	}
	status := field(u.Object, "status")
	p.status = only(status, "capacity", "allocatable", "addresses", "images", "declaredFeatures")
	if info, ok := status["nodeInfo"].(map[string]any); ok {
		p.status["nodeInfo"] = info
	}
	p.status["conditions"] = conditions(status, "lastHeartbeatTime")
	return true
}

func conditions(status map[string]any, less ...string) []any {
	from, _ := status["conditions"].([]any)
	out := []any{}
	for _, c := range from {
		if condition, ok := c.(map[string]any); ok {
			out = append(out, without(condition, less...))
		}
	}
	return out
}

func shapeNamespace(p *prepared, _ *unstructured.Unstructured, _ bool) bool {
	delete(p.object, "spec") // finalizers
	return true
}

// shapeService keeps the fields by which pods are spread. Addresses and ports belong to the
// source's network.
func shapeService(p *prepared, u *unstructured.Unstructured, _ bool) bool {
	from := field(u.Object, "spec")
	spec := only(from, "selector", "externalName")
	if from["type"] == "ExternalName" {
		spec["type"] = from["type"]
	}
	ports, _ := from["ports"].([]any)
	kept := []any{}
	for _, port := range ports {
		if port, ok := port.(map[string]any); ok {
			kept = append(kept, without(port, "nodePort"))
		}
	}
	if len(kept) > 0 {
		spec["ports"] = kept
	} else if spec["type"] == nil {
		spec["clusterIP"] = "None" // only such a one can be without ports
	}
	p.object["spec"] = spec
	return true
}

// shapeVolume refers to the claim by name only, as UIDs differ; the controllers here bind the two
// again.
func shapeVolume(p *prepared, u *unstructured.Unstructured, _ bool) bool {
	spec := maps.Clone(field(u.Object, "spec"))
	if claim, ok := spec["claimRef"].(map[string]any); ok {
		spec["claimRef"] = only(claim, "apiVersion", "kind", "namespace", "name")
	}
	p.object["spec"] = spec
	return true
}

func shapeClaim(p *prepared, u *unstructured.Unstructured, _ bool) bool {
	p.object["spec"] = without(field(u.Object, "spec"), "dataSource", "dataSourceRef")
	volume, _ := field(u.Object, "spec")["volumeName"].(string)
	p.pending = volume == ""
	return true
}

// shapeBudget makes a budget count pods, with the number that the source has worked out. To
// evaluate percentages, controllers ask the owners of pods, which are not copied.
func shapeBudget(p *prepared, u *unstructured.Unstructured, _ bool) bool {
	desired, known := field(u.Object, "status")["desiredHealthy"]
	if !known {
		return true
	}
	spec := without(field(u.Object, "spec"), "maxUnavailable")
	spec["minAvailable"] = desired
	p.object["spec"] = spec
	return true
}

// shapeResourceClaim keeps the allocated devices. With reschedule, the controller makes claims that
// belong to pods again.
func shapeResourceClaim(p *prepared, u *unstructured.Unstructured, reschedule bool) bool {
	for _, owner := range u.GetOwnerReferences() {
		if owner.Kind == "Pod" && owner.APIVersion == "v1" {
			p.owner = u.GetNamespace() + "/" + owner.Name
		}
	}
	if reschedule {
		return p.owner == ""
	}
	if allocation, ok := field(u.Object, "status")["allocation"]; ok {
		// The controllers here find out whom to reserve it for.
		p.status = map[string]any{"allocation": allocation}
	}
	return true
}
