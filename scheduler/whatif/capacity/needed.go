package capacity

import (
	"context"

	v1 "k8s.io/api/core/v1"
	fwk "k8s.io/kube-scheduler/framework"

	"kube-scheduler-simulator/scheduler/whatif"
	"kube-scheduler-simulator/scheduler/whatif/newnode"
)

// needed adds nodes, with the pods of their DaemonSets, as long as pods find no place and a further
// node helps. It removes them again.
func needed(ctx context.Context, t *whatif.Trial, pod *v1.Pod, q Question) (*Needed, error) {
	mark := t.Mark()
	defer t.Rollback(mark)
	out := &Needed{NodesNeeded: *q.NodesNeeded}
	out.For = atMost(out.For)
	like, taken, err := find(t, out.Like)
	if err != nil {
		return nil, err
	}
	group, err := gangOf(t, pod)
	if err != nil {
		return nil, err
	}
	name := out.Like
	for {
		placed, err := group.place(ctx, t, pod, q.Profile, out.For-out.Fits)
		if err != nil {
			return nil, err
		}
		out.Fits += len(placed)
		if out.Fits == out.For {
			out.Enough = true
			return out, nil
		}
		if len(placed) == 0 && out.Nodes > 0 {
			out.Nodes-- // The last one did not help.
			return out, nil
		}
		name = newnode.Name(name, func(n string) bool { return taken[n] })
		taken[name] = true
		if err := t.Apply(whatif.Change{Apply: newnode.Like(like.Node(), name)}); err != nil {
			return nil, err
		}
		if reported := newnode.Topology(t.Get, out.Like, name); reported != nil {
			if err := t.Apply(whatif.Change{Apply: reported}); err != nil {
				return nil, err
			}
		}
		for _, p := range newnode.Daemons(like, name) {
			if err := t.Apply(whatif.Change{Apply: p}); err != nil {
				return nil, err
			}
		}
		out.Nodes++
	}
}

// find returns the node, and the names of all nodes.
func find(t *whatif.Trial, name string) (like fwk.NodeInfo, taken map[string]bool, err error) {
	taken = map[string]bool{}
	for _, n := range t.Nodes() {
		if taken[n.Node().Name] = true; n.Node().Name == name {
			like = n.Snapshot()
		}
	}
	if like == nil {
		gvk := v1.SchemeGroupVersion.WithKind("Node")
		return nil, nil, &whatif.NotFoundError{ObjectRef: whatif.ObjectRef{GVK: gvk, Name: name}}
	}
	return like, taken, nil
}
