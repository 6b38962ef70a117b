package replay

import (
	"slices"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"kube-scheduler-simulator/simulator/cluster/objects"
)

// The simulated cluster does not always get an object exactly as it was recorded. The functions
// here compute the object that it gets; they are pure.

// storageWaits is the binding mode of classes whose volumes are bound after the scheduler's
// decision.
const storageWaits = "WaitForFirstConsumer"

// staged returns the simulated object for a recorded one; nil when there is none. It does not change
// the recorded object.
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
			return nil // its controller creates it for the simulated pod
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

// stageAllocation keeps the allocation of a claim's status, whichever pod it was for. A claim that
// was generated for a pod then has no owner: the simulated pod gets its own claim, which no
// scheduler allocates because the pod is created with its node.
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

// spreadOwners are the kinds of owners whose selectors default topology spreading uses.
var spreadOwners = []string{"ReplicaSet", "StatefulSet", "ReplicationController"}

// stagePod removes the decision and the fields that the API server sets itself. It keeps the owner
// that default spreading reads.
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

// stageOwner turns an owner into one without pods, because only its selector matters.
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

// bindAnnotations are the annotations that the binder and the scheduler write to claims and volumes.
var bindAnnotations = []string{
	objects.BindCompleted, objects.BoundByController, objects.VolumeSelectedNode,
	objects.StorageProvisioner, objects.StorageProvisionerOlder,
}

// stageClaim removes a binding that followed from a scheduling decision. It keeps the volume name of
// any other binding, which the binder then completes.
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

// stageVolume reports whether the volume exists in the simulated cluster. A volume that was
// provisioned for a claim that waits for the scheduler does not.
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

// stage is the player's knowledge of the recorded cluster beyond single objects.
type stage struct {
	// waits are the storage classes whose volumes wait for the scheduler.
	waits map[string]bool
	// claims are those whose binding follows from a decision: they were created unbound, and
	// their class waits.
	claims map[[2]string]bool
	// allocated are the resource claims of the initial list that were allocated. Their devices
	// stay allocated until the claims are deleted.
	allocated map[[2]string]bool
	// nodes are the existing nodes.
	nodes map[string]bool
	pods  map[[2]string]*stagedPod
}

func newStage() *stage {
	return &stage{waits: map[string]bool{}, claims: map[[2]string]bool{}, allocated: map[[2]string]bool{}, nodes: map[string]bool{}, pods: map[[2]string]*stagedPod{}}
}

// learn notes what later changes depend on. begun says that the initial list has ended.
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
