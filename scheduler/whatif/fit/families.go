package fit

import (
	"cmp"
	"maps"
	"slices"
	"strconv"
	"strings"

	v1 "k8s.io/api/core/v1"
	fwk "k8s.io/kube-scheduler/framework"

	"kube-scheduler-simulator/scheduler/explain"
	"kube-scheduler-simulator/scheduler/podrequest"
	"kube-scheduler-simulator/scheduler/whatif/newnode"
)

// family is a set of nodes that are alike to the pod. A new node of the family is like the
// first of them.
type family struct {
	// members are sorted by name.
	members []fwk.NodeInfo
	// blocked counts the obstacles that a new node like these would have too.
	blocked int
}

func (f *family) like() *v1.Node { return f.members[0].Node() }

// families groups the nodes by what matters to the pod, those first that stand in the way
// the least, and then the smallest. blocked counts what of a node a new one would share, and reports false for a node
// that must not be copied. brings is equal for nodes of which new ones bring the same.
func families(pod *v1.Pod, nodes []fwk.NodeInfo, blocked func(i int) (int, bool), brings func(*v1.Node) string) []*family {
	keys := relevantLabels(pod)
	byKind := map[string]*family{}
	for i, n := range nodes {
		count, useful := blocked(i)
		if !useful {
			continue
		}
		node := n.Node()
		kind := kindOfNode(node, keys, count) + brings(node)
		f := byKind[kind]
		if f == nil {
			f = &family{blocked: count}
			byKind[kind] = f
		}
		f.members = append(f.members, n)
	}
	out := slices.Collect(maps.Values(byKind))
	for _, f := range out {
		slices.SortFunc(f.members, func(a, b fwk.NodeInfo) int { return strings.Compare(a.Node().Name, b.Node().Name) })
	}
	slices.SortFunc(out, func(a, b *family) int {
		x, y := a.like().Status.Allocatable, b.like().Status.Allocatable
		return cmp.Or(cmp.Compare(a.blocked, b.blocked), x.Cpu().Cmp(*y.Cpu()), x.Memory().Cmp(*y.Memory()),
			cmp.Compare(len(x), len(y)), strings.Compare(a.like().Name, b.like().Name))
	})
	return out
}

// relevantLabels are the labels by which the pod tells nodes apart, and the usual domains.
func relevantLabels(pod *v1.Pod) []string {
	keys := []string{v1.LabelTopologyZone, v1.LabelTopologyRegion}
	keys = slices.AppendSeq(keys, maps.Keys(pod.Spec.NodeSelector))
	if required := requiredNodeAffinity(&pod.Spec); required != nil {
		for _, term := range required.NodeSelectorTerms {
			for _, r := range term.MatchExpressions {
				keys = append(keys, r.Key)
			}
		}
	}
	for _, c := range pod.Spec.TopologySpreadConstraints {
		keys = append(keys, c.TopologyKey)
	}
	if a := pod.Spec.Affinity; a != nil && a.PodAffinity != nil {
		for _, t := range a.PodAffinity.RequiredDuringSchedulingIgnoredDuringExecution {
			keys = append(keys, t.TopologyKey)
		}
	}
	if a := pod.Spec.Affinity; a != nil && a.PodAntiAffinity != nil {
		for _, t := range a.PodAntiAffinity.RequiredDuringSchedulingIgnoredDuringExecution {
			keys = append(keys, t.TopologyKey)
		}
	}
	slices.Sort(keys)
	return slices.Compact(keys)
}

// kindOfNode is the same for nodes of one family: with the same size, taints and labels of these keys. Labels that name
// the node do not count.
func kindOfNode(node *v1.Node, keys []string, blocked int) string {
	out := strconv.AppendInt(nil, int64(blocked), 10)
	part := func(name string, value string) {
		out = append(append(append(append(out, ' '), name...), '='), value...)
	}
	for _, name := range slices.Sorted(maps.Keys(node.Status.Allocatable)) {
		part(string(name), strconv.FormatInt(podrequest.Amount(node.Status.Allocatable, name), 10))
	}
	for _, key := range keys {
		if value, ok := node.Labels[key]; ok && value != node.Name {
			part(key, value)
		}
	}
	for _, t := range node.Spec.Taints {
		if !newnode.OfState(t) {
			part(t.Key, t.Value+":"+string(t.Effect))
		}
	}
	return string(out)
}

// addNodes returns the remedy that adds nodes of a family, at least one. more makes a further one.
func addNodes(f *family, more func() *newnode.Node, added ...*newnode.Node) remedy {
	says := explain.AddNode{Name: added[0].Node.Name, Like: f.like().Name, Others: []string{}}
	for _, n := range added[1:] {
		says.More = append(says.More, n.Node.Name)
	}
	for _, m := range f.members[1:min(len(f.members), 1+mostOthers)] {
		says.Others = append(says.Others, m.Node().Name)
	}
	return remedy{says: says, shape: "addNode", detail: says.Name, cost: float64(len(added)), disturbance: ofCluster, added: added, scale: &scale{step: 1, most: mostPods, to: func(count int64) remedy {
		for int64(len(added)) < count {
			added = append(added, more())
		}
		return addNodes(f, more, added[:count:count]...)
	}}}
}
