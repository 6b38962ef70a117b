package capacity

import (
	"context"
	"slices"

	v1 "k8s.io/api/core/v1"
	fwk "k8s.io/kube-scheduler/framework"

	"kube-scheduler-simulator/scheduler/whatif"
	"kube-scheduler-simulator/scheduler/whatif/newnode"
)

// So many nodes, between these bounds, are tried at once to find out whether further ones help.
const (
	fewNodes  = 8
	mostNodes = 1_000
)

// need finds how many nodes are enough.
type need struct {
	trial   *whatif.Trial
	pod     *v1.Pod
	profile string
	group   *gang
	survey  *newnode.Survey
	sample  *newnode.Sample
	// wanted is how many places there are to be. It is more than the question wants if the pod's group does not start with fewer.
	wanted int
	// before is the state without new nodes.
	before whatif.Mark
	// names are those of the new nodes, as far as they have been made, and taken those and the names of all other nodes.
	names  []string
	taken  map[string]bool
	places map[int]int
}

// needed adds nodes with everything that they bring, and removes them again. What it answers holds when the nodes are made first, and then
// the pods: there is room with so many nodes, and not with one less.
func needed(ctx context.Context, t *whatif.Trial, pod *v1.Pod, q Question) (*Needed, error) {
	mark := t.Mark()
	defer t.Rollback(mark)
	out := &Needed{NodesNeeded: *q.NodesNeeded, Stopped: []Stop{}}
	out.For = atMost(out.For)
	like, taken, err := find(t, out.Like)
	if err != nil {
		return nil, err
	}
	if q.Price != nil {
		if price, known := q.Price(like.Node().Labels); known {
			out.PricePerHour = &price
		}
	}
	group, err := gangOf(t, pod)
	if err != nil {
		return nil, err
	}
	survey := newnode.NewSurvey(t)
	n := &need{
		trial: t, pod: pod, profile: q.Profile, group: group, survey: survey, sample: survey.Of(like.Node()),
		wanted: max(out.For, group.lacks()), before: mark, taken: taken, places: map[int]int{},
	}
	places := 0
	if out.Nodes, places, err = n.search(ctx); err != nil {
		return nil, err
	}
	out.Enough = places >= n.wanted
	if out.Fits = min(places, out.For); places < group.lacks() {
		out.Fits = 0
	}
	return out, n.explain(ctx, out)
}

// search returns the least number of nodes with which there are enough places, or the most if there are never enough; and the number of
// places.
func (n *need) search(ctx context.Context) (nodes, places int, err error) {
	if nodes, err = n.grow(ctx); err != nil {
		return 0, 0, err
	}
	// Pods that were placed before the last nodes came might have gone elsewhere. And several nodes may help where one does not, as
	// those of a group that needs a zone to itself, or where an empty node keeps a spread from growing on the others. As many nodes as
	// pods are enough if a pod fits on an empty node, but a pod may also need devices of several.
	if places, err = n.with(ctx, nodes); err != nil {
		return 0, 0, err
	}
	if places < n.wanted {
		many := nodes + min(max(n.wanted, fewNodes), mostNodes)
		most, err := n.with(ctx, many)
		if err != nil {
			return 0, 0, err
		}
		if most > places {
			if nodes, err = n.least(ctx, nodes, many, most); err != nil {
				return 0, 0, err
			}
			places = most
		}
	}
	for ; nodes > 0; nodes-- {
		fewer, err := n.with(ctx, nodes-1)
		if err != nil || fewer < places {
			return nodes, places, err
		}
	}
	return 0, places, nil
}

// grow adds one node after the other as long as pods find no place and the last node helped, and returns the number of nodes.
func (n *need) grow(ctx context.Context) (nodes int, err error) {
	n.trial.Rollback(n.before)
	for places := 0; ; nodes++ {
		placed, err := n.group.place(ctx, n.trial, n.pod, n.profile, n.wanted-places)
		if err != nil {
			return 0, err
		}
		places += len(placed)
		switch {
		case places >= n.wanted:
			return nodes, nil
		case len(placed) == 0 && nodes > 0:
			return nodes - 1, nil // The last one did not help.
		}
		if err := n.add(nodes); err != nil {
			return 0, err
		}
	}
}

// least returns the least number of nodes, more than few and at most many, with which there are so many places.
func (n *need) least(ctx context.Context, few, many, places int) (int, error) {
	for many-few > 1 {
		half := few + (many-few)/2
		has, err := n.with(ctx, half)
		if err != nil {
			return 0, err
		}
		if has >= places {
			many = half
		} else {
			few = half
		}
	}
	return many, nil
}

// with returns how many places there are, at most as many as are wanted, if so many nodes are made first.
func (n *need) with(ctx context.Context, nodes int) (int, error) {
	if places, known := n.places[nodes]; known {
		return places, nil
	}
	placed, err := n.fill(ctx, nodes)
	if err == nil {
		n.places[nodes] = placed
	}
	return placed, err
}

// fill makes the nodes and then the pods, leaves them, and returns the number of pods that found a place.
func (n *need) fill(ctx context.Context, nodes int) (int, error) {
	n.trial.Rollback(n.before)
	for i := range nodes {
		if err := n.add(i); err != nil {
			return 0, err
		}
	}
	placed, err := n.group.place(ctx, n.trial, n.pod, n.profile, n.wanted)
	return len(placed), err
}

// add makes the new node of that index.
func (n *need) add(i int) error {
	if i == len(n.names) {
		last := n.sample.Like()
		if i > 0 {
			last = n.names[i-1]
		}
		name := newnode.Name(last, func(name string) bool { return n.taken[name] || n.survey.Leftover(name) })
		n.names, n.taken[name] = append(n.names, name), true
	}
	return n.trial.AddNode(n.sample.New(n.names[i]))
}

// explain says what keeps the next pod off one more node, and what is not known of that node. With enough nodes, it asks about the last
// of them.
func (n *need) explain(ctx context.Context, out *Needed) error {
	if out.Enough && out.Nodes == 0 {
		return nil
	}
	if _, err := n.fill(ctx, out.Nodes); err != nil {
		return err
	}
	last := out.Nodes - 1
	if !out.Enough {
		last++
		if err := n.add(last); err != nil {
			return err
		}
	}
	next, err := n.trial.Another(n.pod)
	if err != nil {
		return err
	}
	obstacles, err := n.trial.Obstacles(ctx, next, n.profile, n.names[last])
	if err != nil {
		return err
	}
	unknown := n.sample.Unknown(n.pod)
	rejects := func(plugin string) bool {
		return slices.ContainsFunc(obstacles[0], func(o whatif.Obstacle) bool { return o.Plugin == plugin })
	}
	out.NotCounted = newnode.Said(unknown, rejects)
	if !out.Enough {
		out.Stopped = stops(map[string][]whatif.Obstacle{n.names[last]: obstacles[0]})
		out.Unknown = len(obstacles[0]) > 0 && !slices.ContainsFunc(obstacles[0], func(o whatif.Obstacle) bool {
			return !slices.ContainsFunc(unknown, func(u newnode.Unknown) bool { return u.Plugin == o.Plugin })
		})
	}
	return nil
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
