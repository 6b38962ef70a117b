package transfer

import (
	"context"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"kube-scheduler-simulator/simulator/objects"
	"kube-scheduler-simulator/simulator/transfer/manifest"
)

// prepare makes of an object what is written.
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
	// What cleaning looks at is in the status, too.
	own, status := ownerOf(u), statusOf(u)
	if gk := o.GVK.GroupKind(); gk == objects.PersistentVolume {
		i.claimOf(u)
	}
	Neutral(u)
	unstructured.RemoveNestedField(u.Object, "metadata", "creationTimestamp")
	delete(u.Object, "status")
	w := &write{Object: o, resource: r, desired: u}
	if o.GVK.GroupKind() == objects.PersistentVolumeClaim {
		w.create = keepClassless
	}
	i.setStatus(w, status, own)
	i.setOwner(ctx, w, own)
	return w, nil
}

// claimOf lets a volume that was released from a claim of the input's be bound to
// it: a claim that is there is not gone.
func (i *importer) claimOf(u *unstructured.Unstructured) {
	name, _, _ := unstructured.NestedString(u.Object, "spec", "claimRef", "name")
	namespace, _, _ := unstructured.NestedString(u.Object, "spec", "claimRef", "namespace")
	claim := i.index[key{objects.PersistentVolumeClaim, namespace, name}]
	if claim != nil && phaseOf(statusOf(u)) != "Released" {
		unstructured.RemoveNestedField(u.Object, "status", "phase")
	}
}

// setStatus says which part of an object's status goes in, and how. That of most
// kinds is what controllers find out by themselves.
func (i *importer) setStatus(w *write, status map[string]any, own *owner) {
	switch gk := w.GVK.GroupKind(); {
	case gk == objects.Node:
		// Nodes take their status with them when they are created.
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

// setOwner sets the controller of an object. Owners that find by themselves what
// belongs to them are left to: an ownerReference with a UID that is not theirs
// would have the object deleted. So it would be without an owner at all.
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

// isFinishedJob: the job of the input has finished, so that its controller does
// nothing more for it.
func (i *importer) isFinishedJob(own *owner, namespace string) bool {
	k := own.key(namespace)
	return k.GroupKind == objects.Job && i.index[k] != nil && i.pods.jobs[k] == nil
}

func (o *owner) key(namespace string) key {
	return key{schema.FromAPIVersionAndKind(o.APIVersion, o.Kind).GroupKind(), namespace, o.Name}
}

// ownerUID returns the UID of an owner in the namespace or of the cluster, empty
// if there is none.
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

// uidOf returns the UID that an object of that name has in the cluster, empty if
// there is none.
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

// forget has the API server be asked again.
func (i *importer) forget(k key) {
	i.mu.Lock()
	defer i.mu.Unlock()
	delete(i.uids, k)
}

// link is what an object lacks until others are there.
type link struct {
	object   *manifest.Object
	resource resource
	// owner is what controls it; nil if nothing does.
	owner *owner
	// claim is the status of a ResourceClaim, which names pods by their UIDs.
	claim map[string]any
}

func (i *importer) addLink(l link) {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.links = append(i.links, l)
}

// link links what has been put in to what has come since. What does not find its
// owner stays, and gets another chance at the end.
func (i *importer) link(ctx context.Context) {
	i.mu.Lock()
	links := i.links
	i.links = nil
	i.mu.Unlock()
	for _, l := range links {
		if ctx.Err() != nil {
			return
		}
		if uid, there := i.uids[keyOf(l.object)]; !there || uid == "" {
			continue // it was refused
		}
		if err := i.linkOne(ctx, l); err != nil && ctx.Err() == nil {
			i.rec.warn(itemOf(l.object, fmt.Sprintf("it could not be linked to what it belongs to: %v", err)))
		}
	}
}

func (i *importer) linkOne(ctx context.Context, l link) error {
	if l.owner != nil {
		uid := i.ownerUID(ctx, l.owner, l.object.Namespace)
		if uid == "" {
			// Asked before it was there.
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

// relinkConsumers gives a claim's pods the UIDs that they have here, and forgets
// those that are not here.
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

// setResourceClaim keeps what is allocated to the claim for when its pods are
// there.
func (i *importer) setResourceClaim(w *write, status map[string]any) {
	if status["allocation"] == nil || i.opts.Reschedule {
		return
	}
	// Who allocates puts it there, and nobody deallocates without.
	w.desired.SetFinalizers([]string{claimFinalizer})
	i.addLink(link{object: w.Object, resource: w.resource, claim: status})
}

// labelAsEver gives a new node the older names of two labels, which the node
// lifecycle controller would add to each node one by one.
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
