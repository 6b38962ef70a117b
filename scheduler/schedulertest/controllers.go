package schedulertest

import (
	"maps"
	"time"

	"k8s.io/component-helpers/storage/volume"
)

// controllers act for the parts of a cluster that a scheduler waits for: the
// provisioner, the volume binder, the kubelet that terminates a pod, and the
// controller that releases resource claims.
type controllers struct {
	server *APIServer
	// podGrace is how long a running pod takes to terminate. Set it before the
	// first request.
	podGrace time.Duration
}

// reaction is how long a controller takes to react.
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

func (c *controllers) after(d time.Duration, do func()) { time.AfterFunc(d, do) }

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

// provision creates a volume in the zone of the node that the scheduler selected.
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

// bindClaim completes the binding that a volume's claimRef starts.
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

// release removes the reservations of a deleted pod, and the allocation of a claim
// that has no users left.
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
