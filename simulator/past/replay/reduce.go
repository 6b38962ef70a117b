package replay

import (
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"kube-scheduler-simulator/simulator/cluster/objects"
)

// A recording holds only the fields of an object that a scheduler reads. It leaves out the commands,
// the environment and the mounts of containers, the names of secrets and config maps, and the
// fields that kubelets rewrite regularly (heartbeats, container states).

// reduce removes the fields that are not recorded from an object.
func reduce(kind Kind, object map[string]any) {
	delete(object, "apiVersion")
	delete(object, "kind")
	reduceMetadata(kind, child(object, "metadata"))
	switch kind.Kind {
	case "Namespace":
		keep(object, "metadata")
	case "Pod":
		reducePod(object)
	case "Node":
		reduceNode(object)
	case "Service", "ReplicaSet", "StatefulSet", "ReplicationController":
		keep(object, "metadata", "spec")
		delete(child(object, "metadata"), "annotations")
		keep(child(object, "spec"), "selector", "type")
	case "PersistentVolumeClaim":
		keep(child(object, "status"), "phase", "accessModes", "capacity")
	case "PersistentVolume":
		keep(child(object, "status"), "phase")
	case "PodDisruptionBudget":
		keep(child(object, "status"), "disruptionsAllowed", "currentHealthy", "desiredHealthy", "expectedPods")
	}
	dropNull(object)
}

func reduceMetadata(kind Kind, metadata map[string]any) {
	keep(metadata, "name", "namespace", "labels", "annotations", "ownerReferences", "creationTimestamp", "deletionTimestamp")
	if kind != podKind {
		delete(metadata, "creationTimestamp")
		delete(metadata, "deletionTimestamp")
	}
	annotations := child(metadata, "annotations")
	for name := range annotations {
		if objects.IsOurs(name) || objects.Strips(objects.Recorded, name) {
			delete(annotations, name)
		}
	}
	if len(annotations) == 0 {
		delete(metadata, "annotations")
	}
	var owners []any
	for _, owner := range items(metadata, "ownerReferences") {
		if owner["controller"] == true {
			keep(owner, "apiVersion", "kind", "name", "uid", "controller")
			owners = append(owners, owner)
		}
	}
	delete(metadata, "ownerReferences")
	if owners != nil {
		metadata["ownerReferences"] = owners
	}
}

// volumesKept are the volume sources that scheduling reads.
var volumesKept = []string{
	"name", "persistentVolumeClaim", "ephemeral", "csi", "gcePersistentDisk", "awsElasticBlockStore", "azureDisk", "cinder", "iscsi", "rbd",
}

func reducePod(pod map[string]any) {
	spec := child(pod, "spec")
	for _, list := range []string{"containers", "initContainers"} {
		for _, container := range items(spec, list) {
			keep(container, "name", "image", "resources", "ports", "restartPolicy", "resizePolicy")
		}
	}
	var volumes []any
	for _, volume := range items(spec, "volumes") {
		keep(volume, volumesKept...)
		if len(volume) > 1 {
			volumes = append(volumes, volume)
		}
	}
	delete(spec, "volumes")
	if volumes != nil {
		spec["volumes"] = volumes
	}
	for _, field := range []string{
		"ephemeralContainers", "serviceAccount", "serviceAccountName", "automountServiceAccountToken", "imagePullSecrets", "securityContext",
		"enableServiceLinks", "dnsPolicy", "dnsConfig", "hostAliases", "hostname", "subdomain", "setHostnameAsFQDN", "shareProcessNamespace",
		"activeDeadlineSeconds", "readinessGates",
	} {
		delete(spec, field)
	}
	status := child(pod, "status")
	keep(status, "phase", "conditions", "resourceClaimStatuses")
	var conditions []any
	for _, condition := range items(status, "conditions") {
		if condition["type"] == "PodScheduled" && condition["status"] == "False" {
			keep(condition, "type", "status", "reason", "message")
			conditions = append(conditions, condition)
		}
	}
	delete(status, "conditions")
	if conditions != nil {
		status["conditions"] = conditions
	}
}

func reduceNode(node map[string]any) {
	keep(child(node, "spec"), "unschedulable", "taints")
	for _, taint := range items(child(node, "spec"), "taints") {
		delete(taint, "timeAdded")
	}
	status := child(node, "status")
	keep(status, "capacity", "allocatable", "conditions", "images", "nodeInfo", "declaredFeatures")
	for _, condition := range items(status, "conditions") {
		keep(condition, "type", "status", "reason")
	}
	keep(child(status, "nodeInfo"), "architecture", "operatingSystem", "kubeletVersion")
}

// The functions below read objects of any shape: they treat a field of an unexpected type as missing.

// child returns a field that is an object; nil when it is not.
func child(object map[string]any, name string) map[string]any {
	m, _ := object[name].(map[string]any)
	return m
}

// items returns the objects in a field that is a list.
func items(object map[string]any, name string) []map[string]any {
	list, _ := object[name].([]any)
	out := make([]map[string]any, 0, len(list))
	for _, item := range list {
		if m, ok := item.(map[string]any); ok {
			out = append(out, m)
		}
	}
	return out
}

// text returns the string at a path; empty when there is none.
func text(object map[string]any, path ...string) string {
	s, _, _ := unstructured.NestedString(object, path...)
	return s
}

// keep deletes all fields except the given ones.
func keep(object map[string]any, fields ...string) {
	for name := range object {
		kept := false
		for _, field := range fields {
			kept = kept || field == name
		}
		if !kept {
			delete(object, name)
		}
	}
}

// dropNull deletes null fields. They mean the same as missing ones, and a merge patch could not
// distinguish them from deleted ones.
func dropNull(v any) {
	switch v := v.(type) {
	case map[string]any:
		for name, value := range v {
			if value == nil {
				delete(v, name)
				continue
			}
			dropNull(value)
		}
	case []any:
		for _, item := range v {
			dropNull(item)
		}
	}
}
