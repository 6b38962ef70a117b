package transfer

import (
	"context"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"kube-scheduler-simulator/simulator/cluster/objects"
	"kube-scheduler-simulator/simulator/elsewhere/transfer/manifest"
)

func (i *importer) prepare(ctx context.Context, o *manifest.Object) (*write, error) {
	r, err := i.client.resourceFor(o.GVK)
	if err != nil {
		return nil, err
	}
	u, err := o.Unstructured()
	if err != nil {
		return nil, err
	}
	switch {
	case !r.namespaced:
		o.Namespace = ""
		unstructured.RemoveNestedField(u.Object, "metadata", "namespace")
	case o.Namespace == "":
		o.Namespace = "default"
	}
	if r.namespaced {
		u.SetNamespace(o.Namespace)
	}
	// Read before Neutral, which removes owners and looks at the status.
	own, status := ownerOf(u), statusOf(u)
	if gk := o.GVK.GroupKind(); gk == objects.PersistentVolume {
		i.claimOf(u)
	}
	Neutral(u)
	unstructured.RemoveNestedField(u.Object, "metadata", "creationTimestamp")
	delete(u.Object, "status")
	w := &write{Object: o, resource: r, desired: u}
	if err := i.setCalls(w); err != nil {
		return nil, err
	}
	if o.GVK.GroupKind() == objects.PersistentVolumeClaim {
		w.create = keepClassless
	}
	i.setStatus(w, status, own)
	i.setOwner(ctx, w, own)
	return w, nil
}

// setCalls makes an object inactive, or one that an export holds as inactive active.
func (i *importer) setCalls(w *write) error {
	if i.cluster.opts.Activate {
		if objects.IsInactive(w.desired) {
			return objects.Activate(w.desired)
		}
		return nil
	}
	w.inactive = objects.Deactivate(w.desired) || objects.IsInactive(w.desired)
	return nil
}

// claimOf lets the volume controller bind a released volume to its claim when the claim is in the
// input.
func (i *importer) claimOf(u *unstructured.Unstructured) {
	name, _, _ := unstructured.NestedString(u.Object, "spec", "claimRef", "name")
	namespace, _, _ := unstructured.NestedString(u.Object, "spec", "claimRef", "namespace")
	claim := i.index[key{objects.PersistentVolumeClaim, namespace, name}]
	if claim != nil && phaseOf(statusOf(u)) != "Released" {
		unstructured.RemoveNestedField(u.Object, "status", "phase")
	}
}

// setStatus decides which part of the status to write, and how. Controllers write the status of
// most kinds themselves.
func (i *importer) setStatus(w *write, status map[string]any, own *owner) {
	switch gk := w.GVK.GroupKind(); {
	case gk == objects.Node:
		// A node is created together with its status.
		if status != nil {
			w.desired.Object["status"] = status
		}
		w.create = labelAsEver
	case gk == objects.Pod:
		i.setPod(w, status, own)
	case gk == objects.Job:
		setJob(w, status)
	case gk == objects.ResourceClaim:
		i.setResourceClaim(w, status)
	case i.custom[gk] && status != nil && w.resource.status:
		w.status = status
	case i.custom[gk] && status != nil:
		w.desired.Object["status"] = status
	}
}

// setOwner leaves objects to owners that adopt them: an ownerReference with the wrong UID would
// have the object deleted. So would a missing owner.
func (i *importer) setOwner(ctx context.Context, w *write, own *owner) {
	if own == nil || own.adopts() && !i.isFinishedJob(own, w.Namespace) {
		return
	}
	k := own.key(w.Namespace)
	if i.index[k] == nil {
		k.namespace = ""
	}
	comesLater := i.index[k] != nil && objects.RankOf(k.GroupKind) >= objects.RankOf(w.GVK.GroupKind())
	if comesLater {
		i.addLink(link{object: w.Object, resource: w.resource, owner: own})
		return
	}
	if uid := i.ownerUID(ctx, own, w.Namespace); uid != "" {
		// metadata is a map, as it has a name.
		_ = unstructured.SetNestedSlice(w.desired.Object, []any{own.reference(uid)}, "metadata", "ownerReferences")
	}
}

// A finished job's controller adopts nothing any more.
func (i *importer) isFinishedJob(own *owner, namespace string) bool {
	k := own.key(namespace)
	return k.GroupKind == objects.Job && i.index[k] != nil && i.pods.jobs[k] == nil
}

func (o *owner) key(namespace string) key {
	return key{schema.FromAPIVersionAndKind(o.APIVersion, o.Kind).GroupKind(), namespace, o.Name}
}

// The owner is in the namespace, or cluster-scoped. The UID is empty if there is none.
func (i *importer) ownerUID(ctx context.Context, own *owner, namespace string) string {
	r, ok := i.client.preferredFor(own.key("").GroupKind)
	if !ok {
		return ""
	}
	if !r.namespaced {
		namespace = ""
	}
	return i.uidOf(ctx, r, own.key(namespace))
}

// uidOf returns the UID of an object in the cluster, empty if it does not exist.
func (i *importer) uidOf(ctx context.Context, r resource, k key) string {
	i.mu.Lock()
	uid, known := i.uids[k]
	i.mu.Unlock()
	if known {
		return uid
	}
	meta, err := i.client.getMetadata(ctx, r, k.namespace, k.name)
	switch {
	case err == nil:
		uid = string(meta.UID)
	case !apierrors.IsNotFound(err):
		return "" // perhaps next time
	}
	i.learn(k, uid)
	return uid
}

func (i *importer) learn(k key, uid string) {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.uids[k] = uid
}

// forget makes the next uidOf ask the API server again.
func (i *importer) forget(k key) {
	i.mu.Lock()
	defer i.mu.Unlock()
	delete(i.uids, k)
}

// link is a reference that an object lacks until others are in the cluster.
type link struct {
	object   *manifest.Object
	resource resource
	// owner is its controller; nil if it has none.
	owner *owner
	// claim is the status of a ResourceClaim, which names pods by their UIDs.
	claim map[string]any
}

func (i *importer) addLink(l link) {
	i.meter.expect(1)
	i.mu.Lock()
	defer i.mu.Unlock()
	i.links = append(i.links, l)
}

// link sets the references of objects whose owners have been created since. Without its owner an
// object keeps waiting, and is tried again at the end.
func (i *importer) link(ctx context.Context) {
	i.mu.Lock()
	links := i.links
	i.links = nil
	i.mu.Unlock()
	for _, l := range links {
		if ctx.Err() != nil {
			return
		}
		i.linkIfThere(ctx, l)
		i.meter.step(1)
	}
}

func (i *importer) linkIfThere(ctx context.Context, l link) {
	if i.uids[keyOf(l.object)] == "" {
		return // it was refused
	}
	if err := i.linkOne(ctx, l); err != nil && ctx.Err() == nil {
		i.rec.warn(itemOf(l.object, fmt.Sprintf("its reference to its owner, or to its pods, could not be set: %v", err)))
	}
}

func (i *importer) linkOne(ctx context.Context, l link) error {
	if l.owner != nil {
		uid := i.ownerUID(ctx, l.owner, l.object.Namespace)
		if uid == "" {
			// The answer may be from before the owner was created.
			i.forget(l.owner.key(l.object.Namespace))
			i.addLink(l)
			return nil
		}
		references := map[string]any{"metadata": map[string]any{"ownerReferences": []any{l.owner.reference(uid)}}}
		if _, err := i.client.patch(ctx, l.resource, l.object.Namespace, l.object.Name, references); err != nil {
			return err
		}
	}
	if l.claim == nil {
		return nil
	}
	i.relinkConsumers(ctx, l)
	_, err := i.client.patch(ctx, l.resource, l.object.Namespace, l.object.Name, map[string]any{"status": l.claim}, "status")
	return err
}

// relinkConsumers replaces the UIDs of the pods of a claim by those that they have here, and
// removes pods that are not here.
func (i *importer) relinkConsumers(ctx context.Context, l link) {
	consumers, _ := l.claim["reservedFor"].([]any)
	var here []any
	for _, c := range consumers {
		consumer, ok := c.(map[string]any)
		if !ok {
			continue
		}
		name, _ := consumer["name"].(string)
		group, _ := consumer["apiGroup"].(string)
		gk := schema.GroupKind{Group: group, Kind: "Pod"}
		if consumer["resource"] == "podgroups" {
			gk.Kind = "PodGroup"
		}
		r, served := i.client.preferredFor(gk)
		if !served {
			continue
		}
		if uid := i.uidOf(ctx, r, key{gk, l.object.Namespace, name}); uid != "" {
			consumer["uid"] = uid
			here = append(here, consumer)
		}
	}
	delete(l.claim, "reservedFor")
	if len(here) > 0 {
		l.claim["reservedFor"] = here
	}
}

const (
	claimFinalizer = "resource.kubernetes.io/delete-protection"
	ofPodClaim     = "resource.kubernetes.io/pod-claim-name"
)

// setResourceClaim keeps the allocation of the claim until its pods are in the cluster.
func (i *importer) setResourceClaim(w *write, status map[string]any) {
	if status["allocation"] == nil || i.opts.Reschedule {
		return
	}
	// The allocator sets the finalizer, and deallocates only claims that have it.
	w.desired.SetFinalizers([]string{claimFinalizer})
	i.addLink(link{object: w.Object, resource: w.resource, claim: status})
}

// labelAsEver adds the older names of two labels to a new node. The node lifecycle controller would
// add them node by node.
func labelAsEver(node *unstructured.Unstructured) {
	labels := node.GetLabels()
	for newer, older := range map[string]string{"kubernetes.io/os": "beta.kubernetes.io/os", "kubernetes.io/arch": "beta.kubernetes.io/arch"} {
		value, has := labels[newer]
		if _, hasOlder := labels[older]; has && !hasOlder {
			labels[older] = value
		}
	}
	if len(labels) > 0 {
		node.SetLabels(labels)
	}
}
