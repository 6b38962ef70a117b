package comparison

import (
	"fmt"
	"runtime"
	"testing"
	"weak"

	"github.com/google/go-cmp/cmp"
	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	fwk "k8s.io/kube-scheduler/framework"
	internalcache "k8s.io/kubernetes/pkg/scheduler/backend/cache"
	"k8s.io/kubernetes/pkg/scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/names"

	"kube-scheduler-simulator/scheduler/internal/upstream"
	"kube-scheduler-simulator/scheduler/result"
)

// A result outlives the node that it compares with.
func TestComparisonsDoNotKeepTheNode(t *testing.T) {
	node := &v1.Node{ObjectMeta: metav1.ObjectMeta{Name: "n1", Labels: map[string]string{"zone": "a"}}}
	alive := weak.Make(node)
	pod := &v1.Pod{Spec: v1.PodSpec{Affinity: &v1.Affinity{NodeAffinity: &v1.NodeAffinity{
		RequiredDuringSchedulingIgnoredDuringExecution: &v1.NodeSelector{NodeSelectorTerms: []v1.NodeSelectorTerm{{
			MatchFields:      []v1.NodeSelectorRequirement{{Key: metav1.ObjectNameField, Operator: v1.NodeSelectorOpIn, Values: []string{"n2"}}},
			MatchExpressions: []v1.NodeSelectorRequirement{{Key: "zone", Operator: v1.NodeSelectorOpIn, Values: []string{"b"}}},
		}}},
	}}}}
	info := framework.NewNodeInfo()
	info.SetNode(node)
	got := compare(InTree{}.Comparer(names.NodeAffinity, nil, nil).Begin(nil, pod), nil, info)
	if len(got.Terms) != 2 {
		t.Fatalf("compared: %+v", got)
	}
	node, info = nil, nil
	runtime.GC()
	if alive.Value() != nil {
		t.Error("the comparison keeps the node in memory")
	}
	runtime.KeepAlive(got)
}

// A constraint on host names has a domain per node. A comparison holds the counts of the
// node's own domain, and the fewest and the most pods in one.
func TestSpreadOverManyDomains(t *testing.T) {
	state := framework.NewCycleState()
	matching := map[string]int{}
	for i := range 5000 {
		matching[fmt.Sprint("n", i)] = 1 + i%7
	}
	node := func(name string) *v1.Node {
		return &v1.Node{ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{v1.LabelHostname: name}}}
	}
	c := &spread{
		of: state, pod: pod("p", ""), domains: make([]*spreadDomains, 1), handle: &listing{nodes: []*v1.Node{node("n0"), node("n4"), node("n7")}},
		constraints: []spreadConstraint{{SpreadConstraint: upstream.SpreadConstraint{
			TopologyKey: v1.LabelHostname, MaxSkew: 1, Selector: labels.Nothing(), Matching: matching, Minimum: 1, MinDomains: 1,
		}}},
	}
	info := framework.NewNodeInfo()
	info.SetNode(node("n4"))

	domain := "n4"
	want := []result.SpreadComparison{{TopologyKey: v1.LabelHostname, Domain: &domain, Matching: 5, Minimum: 1, Maximum: 7, MaxSkew: 1, Domains: 5000, FewestCount: 715,
		Fewest: []result.SpreadDomain{{Name: "n0", Nodes: []string{"n0"}, NodeCount: 1}, {Name: "n1001"}, {Name: "n1008"}}}}
	if diff := cmp.Diff(want, compare(c, state, info).Spread); diff != "" {
		t.Error(diff)
	}
	if got := compare(c, framework.NewCycleState(), info); got != nil {
		t.Errorf("another state has the constraints of this one: %+v", got)
	}
}

// listing is a handle with a snapshot of nodes.
type listing struct {
	fwk.Handle
	nodes []*v1.Node
}

func (l *listing) SnapshotSharedLister() fwk.SharedLister {
	return internalcache.NewSnapshot(nil, l.nodes)
}
