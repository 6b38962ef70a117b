package schedulertest

import (
	"maps"
	"time"

	"k8s.io/component-helpers/storage/volume"
)

// controllers do what the rest of a cluster does after a write and a scheduler
// waits for: the provisioner, the volume binder, the kubelet that ends a pod,
// and the controller that gives resource claims back.
type controllers struct {
	server *APIServer
	// Grace is how long a running pod takes to end. Set it before the first
	// request.
	podGrace time.Duration
}

// reaction is how long a controller takes.
const reaction = 50 * time.Millisecond

var (
	volumes      = target{version: "v1", resource: "persistentvolumes"}
	volumeClaims = target{version: "v1", resource: "persistentvolumeclaims"}
	nodes        = target{version: "v1", resource: "nodes"}
	devices      = target{group: "resource.k8s.io", version: "v1", resource: "resourceclaims"}
)

func (t target) of(namespace, name string) target {
	t.namespace, t.name = namespace, name
	return t
}

// after runs what a controller does when it has seen a write.
func (c *controllers) after(d time.Duration, do func()) { time.AfterFunc(d, do) }

// grace returns how long the deletion of o takes.
func (c *controllers) grace(t target, o object) time.Duration {
	if t.resource != "pods" || field(o, "spec")["nodeName"] == nil {
		return 0
	}
	return c.podGrace
}

// written is called with the server's lock held.
func (c *controllers) written(t target, _, after object) {
	switch t.resource {
	case volumeClaims.resource:
		selected, _ := field(after, "metadata", "annotations")[volume.AnnSelectedNode].(string)
		if selected != "" && field(after, "spec")["volumeName"] == nil {
			c.after(reaction, func() { c.provision(t.namespace, t.name, selected) })
		}
	case volumes.resource:
		claim := field(after, "spec", "claimRef")
		if namespace, ok := claim["namespace"].(string); ok && claim["uid"] != nil {
			name, _ := claim["name"].(string)
			c.after(reaction, func() { c.bindClaim(namespace, name, t.name) })
		}
	}
}

// deleted is called with the server's lock held.
func (c *controllers) deleted(t target, before object) {
	if t.resource != "pods" {
		return
	}
	uid := field(before, "metadata")["uid"]
	c.after(reaction, func() { c.release(uid) })
}

// provision makes a volume in the zone of the node that the scheduler selected.
func (c *controllers) provision(namespace, name, node string) {
	s := c.server
	s.mu.Lock()
	defer s.mu.Unlock()
	claim, err := s.find(volumeClaims.of(namespace, name))
	if err != nil || field(claim.object, "spec")["volumeName"] != nil {
		return
	}
	spec := object{
		"capacity":         field(claim.object, "spec", "resources", "requests"),
		"accessModes":      field(claim.object, "spec")["accessModes"],
		"storageClassName": field(claim.object, "spec")["storageClassName"],
		"hostPath":         object{"path": "/volume"},
		"claimRef":         object{"namespace": namespace, "name": name, "uid": field(claim.object, "metadata")["uid"]},
	}
	if found, err := s.find(nodes.of("", node)); err == nil {
		spec["nodeAffinity"] = object{"required": object{"nodeSelectorTerms": []any{object{"matchExpressions": []any{object{
			"key": zoneLabel, "operator": "In", "values": []any{field(found.object, "metadata", "labels")[zoneLabel]},
		}}}}}}
	}
	pv := mustEncode(object{"metadata": object{"name": "provisioned-" + name}, "spec": spec})
	_, _ = s.create(volumes, pv, "provisioner")
}

// bindClaim completes the binding that a volume's claimRef begins.
func (c *controllers) bindClaim(namespace, name, pv string) {
	s := c.server
	s.mu.Lock()
	defer s.mu.Unlock()
	t := volumeClaims.of(namespace, name)
	claim, err := s.find(t)
	if err != nil || field(claim.object, "spec")["volumeName"] != nil {
		return
	}
	next := maps.Clone(claim.object)
	m := maps.Clone(field(next, "metadata"))
	annotations := maps.Clone(field(m, "annotations"))
	annotations[volume.AnnBindCompleted] = "yes"
	m["annotations"] = annotations
	next["metadata"] = m
	spec := maps.Clone(field(next, "spec"))
	spec["volumeName"] = pv
	next["spec"] = spec
	next["status"] = object{"phase": "Bound"}
	_, _ = s.put(t, "MODIFIED", claim.object, next, "volume binder", "PUT")
}

// release removes the reservations of a deleted pod, and the allocations of claims that no
// pod uses any more.
func (c *controllers) release(uid any) {
	s := c.server
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, key := range sortedKeys(s.kinds[devices.kind()]) {
		claim := s.kinds[devices.kind()][key]
		status := maps.Clone(field(claim.object, "status"))
		users, _ := status["reservedFor"].([]any)
		var left []any
		for _, user := range users {
			if u, _ := user.(object); u["uid"] != uid {
				left = append(left, user)
			}
		}
		if len(left) == len(users) {
			continue
		}
		status["reservedFor"] = left
		if len(left) == 0 {
			delete(status, "reservedFor")
			delete(status, "allocation")
		}
		next := maps.Clone(claim.object)
		next["status"] = status
		m := field(claim.object, "metadata")
		t := devices.of(m["namespace"].(string), m["name"].(string))
		t.subresource = "status"
		_, _ = s.put(t, "MODIFIED", claim.object, next, "claim controller", "PUT")
	}
}
