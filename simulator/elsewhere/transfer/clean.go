package transfer

import (
	"encoding/json"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"kube-scheduler-simulator/simulator/cluster/objects"
)

// Neutral removes from an object, in place, everything that belongs to the cluster it comes from:
// fields that mean something only there, fields that the API server sets, and annotations that
// controllers will write again. It keeps the creation time and the status.
func Neutral(u *unstructured.Unstructured) {
	for _, field := range objects.ClusterMetadata() {
		unstructured.RemoveNestedField(u.Object, "metadata", field)
	}
	removeAnnotations(u, func(name string) bool { return objects.IsResult(name) || objects.Strips(objects.Exported, name) })
	if clean := cleaners[u.GroupVersionKind().GroupKind().String()]; clean != nil {
		clean(u)
	}
}

// cleaners remove more from objects of some kinds.
var cleaners = map[string]func(*unstructured.Unstructured){
	"PersistentVolume":      cleanVolume,
	"PersistentVolumeClaim": cleanClaim,
	"Pod":                   cleanPod,
	"Service":               cleanService,
	"Namespace":             cleanNamespace,
	"Job.batch":             cleanJob,
	"ServiceAccount":        cleanServiceAccount,
}

func removeAnnotations(u *unstructured.Unstructured, match func(name string) bool) {
	annotations := u.GetAnnotations()
	before := len(annotations)
	for name := range annotations {
		if match(name) {
			delete(annotations, name)
		}
	}
	switch {
	case len(annotations) == 0:
		unstructured.RemoveNestedField(u.Object, "metadata", "annotations")
	case len(annotations) != before:
		u.SetAnnotations(annotations)
	}
}

// cleanVolume removes the UID of the claim, so that the volume controller binds the volume to the
// claim of that name. A released volume keeps it: without the UID, the volume would look reserved
// for a new claim of the same name.
func cleanVolume(u *unstructured.Unstructured) {
	phase, _, _ := unstructured.NestedString(u.Object, "status", "phase")
	if phase == "Released" || phase == "Failed" {
		return
	}
	unstructured.RemoveNestedField(u.Object, "spec", "claimRef", "uid")
	unstructured.RemoveNestedField(u.Object, "spec", "claimRef", "resourceVersion")
}

func cleanClaim(u *unstructured.Unstructured) {
	if name, _, _ := unstructured.NestedString(u.Object, "spec", "volumeName"); name != "" {
		return
	}
	// The volume controller will name the provisioner again.
	removeAnnotations(u, func(name string) bool {
		return name == objects.StorageProvisioner || name == objects.StorageProvisionerOlder
	})
}

// cleanPod removes fields that admission sets and does not accept from users.
func cleanPod(u *unstructured.Unstructured) {
	for _, field := range []string{"priority", "preemptionPolicy", "ephemeralContainers"} {
		unstructured.RemoveNestedField(u.Object, "spec", field)
	}
	unstructured.RemoveNestedField(u.Object, "status", "ephemeralContainerStatuses")
	unstructured.RemoveNestedField(u.Object, "status", "observedGeneration")
}

// cleanService removes the addresses, which belong to the other cluster's network.
func cleanService(u *unstructured.Unstructured) {
	if ip, _, _ := unstructured.NestedString(u.Object, "spec", "clusterIP"); ip != "None" {
		unstructured.RemoveNestedField(u.Object, "spec", "clusterIP")
	}
	for _, field := range []string{"clusterIPs", "ipFamilies", "ipFamilyPolicy"} {
		unstructured.RemoveNestedField(u.Object, "spec", field)
	}
}

func cleanNamespace(u *unstructured.Unstructured) {
	unstructured.RemoveNestedField(u.Object, "spec")
	labels := u.GetLabels()
	delete(labels, "kubernetes.io/metadata.name")
	if len(labels) == 0 {
		unstructured.RemoveNestedField(u.Object, "metadata", "labels")
	} else {
		u.SetLabels(labels)
	}
}

// cleanJob lets the job keep its selector, by which it finds its pods.
func cleanJob(u *unstructured.Unstructured) {
	if selector, ok, _ := unstructured.NestedMap(u.Object, "spec", "selector"); ok && len(selector) > 0 {
		// spec is a map, as it has a selector.
		_ = unstructured.SetNestedField(u.Object, true, "spec", "manualSelector")
	}
}

func cleanServiceAccount(u *unstructured.Unstructured) {
	delete(u.Object, "secrets")
}

// cleanDefinition replaces conversion by a webhook, which does not run here.
func cleanDefinition(u *unstructured.Unstructured) {
	strategy, _, _ := unstructured.NestedString(u.Object, "spec", "conversion", "strategy")
	if strategy == "Webhook" {
		// spec is a map, as it has a conversion.
		_ = unstructured.SetNestedMap(u.Object, map[string]any{"strategy": "None"}, "spec", "conversion")
	}
}

type owner struct {
	APIVersion string `json:"apiVersion"`
	Kind       string `json:"kind"`
	Name       string `json:"name"`
}

// ownerOf returns the controller of an object. Without a controller it returns the first owner,
// without owners the one that an export has noted, and otherwise nil.
func ownerOf(u *unstructured.Unstructured) *owner {
	references := u.GetOwnerReferences()
	for _, r := range references {
		if r.Controller != nil && *r.Controller {
			return &owner{r.APIVersion, r.Kind, r.Name}
		}
	}
	if len(references) > 0 {
		return &owner{references[0].APIVersion, references[0].Kind, references[0].Name}
	}
	var noted owner
	if json.Unmarshal([]byte(u.GetAnnotations()[objects.AnnotationOwner]), &noted) == nil && noted.Kind != "" && noted.Name != "" {
		return &noted
	}
	return nil
}

// The controllers of these kinds adopt objects that have no owner and match their selector.
var adopters = map[string]bool{
	"ReplicaSet": true, "ReplicationController": true, "StatefulSet": true, "DaemonSet": true, "Job": true, "Deployment": true,
}

// adopts reports whether the controller of the owner finds its objects by itself.
func (o *owner) adopts() bool {
	group := strings.SplitN(o.APIVersion, "/", 2)[0]
	return adopters[o.Kind] && (group == "apps" || group == "batch" || o.APIVersion == "v1" || group == "extensions")
}

func (o *owner) reference(uid string) map[string]any {
	return map[string]any{
		"apiVersion": o.APIVersion, "kind": o.Kind, "name": o.Name, "uid": uid,
		"controller": true, "blockOwnerDeletion": false,
	}
}

func isBeingDeleted(u *unstructured.Unstructured) bool {
	_, set, _ := unstructured.NestedFieldNoCopy(u.Object, "metadata", "deletionTimestamp")
	return set
}
