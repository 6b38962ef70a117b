package replay

import (
	"slices"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"kube-scheduler-simulator/simulator/objects"
)

// What a recording says of an object is not always what the simulated cluster is
// to have. The functions here say what it is to have; they are pure.

// storageWaits is the binding mode of classes whose volumes follow the scheduler's
// decision.
const storageWaits = "WaitForFirstConsumer"

// staged returns the object that the cluster is to have for a recorded one; nil
// when it is to have none. The recorded one is not changed.
func (s *stage) staged(kind Kind, recorded map[string]any) map[string]any {
	if recorded == nil {
		return nil
	}
	object := (&unstructured.Unstructured{Object: recorded}).DeepCopy().Object
	metadata := child(object, "metadata")
	owner := controllerOf(metadata)
	for _, field := range []string{"ownerReferences", "creationTimestamp", "deletionTimestamp"} {
		delete(metadata, field)
	}
	spec := child(object, "spec")
	switch kind.Kind {
	case "Pod":
		stagePod(object, owner)
	case "Service":
		if text(spec, "type") == "ExternalName" {
			return nil
		}
		object["spec"] = map[string]any{"clusterIP": "None", "selector": spec["selector"]}
	case "ReplicaSet", "StatefulSet", "ReplicationController":
		stageOwner(kind, object)
	case "PersistentVolumeClaim":
		if owner["kind"] == "Pod" {
			return nil // its controller makes it for the simulated pod
		}
		s.stageClaim(object)
	case "PersistentVolume":
		if !s.stageVolume(object) {
			return nil
		}
	case "ResourceClaim":
		if s.allocated[nameOf(metadata)] {
			stageAllocation(object)
			break
		}
		if owner["kind"] == "Pod" {
			return nil
		}
		delete(object, "status") // the scheduler allocates
	}
	object["apiVersion"], object["kind"] = kind.APIVersion, kind.Kind
	return object
}

// stageAllocation leaves of a claim's status what it takes, whichever pod it was
// for. A claim that was made for a pod is then nobody's: the simulated pod gets one
// of its own, which no scheduler allocates, as the pod comes with its node.
func stageAllocation(claim map[string]any) {
	keep(child(claim, "status"), "allocation")
	delete(child(child(claim, "metadata"), "annotations"), "resource.kubernetes.io/pod-claim-name")
}

func controllerOf(metadata map[string]any) map[string]any {
	for _, owner := range items(metadata, "ownerReferences") {
		if owner["controller"] == true {
			return owner
		}
	}
	return map[string]any{}
}

// spreadOwners are the kinds of owners from which default topology spreading takes
// its selector.
var spreadOwners = []string{"ReplicaSet", "StatefulSet", "ReplicationController"}

// stagePod leaves the decision out, and what the API server fills in by itself.
// Of the owner it leaves what default spreading looks at.
func stagePod(pod, owner map[string]any) {
	spec := child(pod, "spec")
	for _, field := range []string{"nodeName", "priority", "preemptionPolicy"} {
		delete(spec, field)
	}
	if spec["runtimeClassName"] != nil {
		delete(spec, "overhead")
	}
	delete(pod, "status")
	if kind, _ := owner["kind"].(string); slices.Contains(spreadOwners, kind) && text(owner, "uid") != "" {
		child(pod, "metadata")["ownerReferences"] = []any{owner}
	}
}

// stageOwner makes an owner of no pods: only its selector counts.
func stageOwner(kind Kind, object map[string]any) {
	selector := child(object, "spec")["selector"]
	labels := child(child(object, "spec"), "selector")
	if kind.Kind != "ReplicationController" {
		labels = child(labels, "matchLabels")
	}
	spec := map[string]any{
		"selector": selector,
		"replicas": int64(0),
		"template": map[string]any{
			"metadata": map[string]any{"labels": labels},
			"spec":     map[string]any{"containers": []any{map[string]any{"name": "none", "image": "none"}}},
		},
	}
	if kind.Kind == "StatefulSet" {
		spec["serviceName"] = "none"
	}
	object["spec"] = spec
}

// bindAnnotations are what the binder and the scheduler note on claims and volumes.
var bindAnnotations = []string{
	objects.BindCompleted, objects.BoundByController, objects.VolumeSelectedNode,
	objects.StorageProvisioner, objects.StorageProvisionerOlder,
}

// stageClaim leaves out a binding that followed from a decision. Another binding
// is named, and the binder completes it.
func (s *stage) stageClaim(claim map[string]any) {
	metadata := child(claim, "metadata")
	for _, name := range bindAnnotations {
		delete(child(metadata, "annotations"), name)
	}
	delete(claim, "status")
	if s.claims[nameOf(metadata)] {
		delete(child(claim, "spec"), "volumeName")
	}
}

// stageVolume reports whether the volume is to be there: not when it was made for
// a claim that waits for the scheduler.
func (s *stage) stageVolume(volume map[string]any) bool {
	spec, metadata := child(volume, "spec"), child(volume, "metadata")
	delete(volume, "status")
	provisioned := child(metadata, "annotations")[objects.VolumeProvisionedBy] != nil
	for _, name := range append(bindAnnotations, objects.VolumeProvisionedBy) {
		delete(child(metadata, "annotations"), name)
	}
	ref := child(spec, "claimRef")
	if ref == nil {
		return true
	}
	if s.claims[[2]string{text(ref, "namespace"), text(ref, "name")}] {
		delete(spec, "claimRef")
		return !provisioned
	}
	keep(ref, "apiVersion", "kind", "namespace", "name")
	return true
}

func nameOf(metadata map[string]any) [2]string {
	return [2]string{text(metadata, "namespace"), text(metadata, "name")}
}

// stage is what the player knows of the recorded cluster beyond single objects.
type stage struct {
	// waits are the storage classes whose volumes wait for the scheduler.
	waits map[string]bool
	// claims are those whose binding follows from a decision: they came unbound,
	// and their class waits.
	claims map[[2]string]bool
	// allocated are the resource claims that were allocated at the beginning: what
	// they take is taken until they go.
	allocated map[[2]string]bool
	// nodes are those that are there.
	nodes map[string]bool
	pods  map[[2]string]*stagedPod
}

func newStage() *stage {
	return &stage{waits: map[string]bool{}, claims: map[[2]string]bool{}, allocated: map[[2]string]bool{}, nodes: map[string]bool{}, pods: map[[2]string]*stagedPod{}}
}

// learn notes what a change says about later ones. Before the recording has begun
// objects are as they were then.
func (s *stage) learn(c Change, begun bool) {
	switch c.Kind.Kind {
	case "StorageClass":
		s.waits[c.Name] = c.Object != nil && c.Object["volumeBindingMode"] == storageWaits
	case "Node":
		if c.Object == nil {
			delete(s.nodes, c.Name)
		} else {
			s.nodes[c.Name] = true
		}
	case "PersistentVolumeClaim":
		name := [2]string{c.Namespace, c.Name}
		switch {
		case c.Object == nil:
			delete(s.claims, name)
		case c.Before == nil && text(c.Object, "spec", "volumeName") == "" && s.waits[text(c.Object, "spec", "storageClassName")]:
			s.claims[name] = true
		}
	case "ResourceClaim":
		if c.Before == nil {
			s.allocated[[2]string{c.Namespace, c.Name}] = !begun && child(child(c.Object, "status"), "allocation") != nil
		}
	}
}
