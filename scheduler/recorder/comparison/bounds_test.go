package comparison

import (
	"fmt"
	"runtime"
	"testing"
	"weak"

	"github.com/google/go-cmp/cmp"
	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/kubernetes/pkg/scheduler/framework"

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
	got := InTree{}.Comparer("NodeAffinity").Compare(nil, nil, pod, info)
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

// A constraint on host names has a domain per node. Its comparison says how many there
// are, and the fewest and the most pods in one.
func TestSpreadOverManyDomains(t *testing.T) {
	s := &spreadComparer{}
	state := framework.NewCycleState()
	matching := map[string]int{}
	for i := range 5000 {
		matching[fmt.Sprint("n", i)] = 1 + i%7
	}
	constraint := boundedConstraint{least: 1, most: 7}
	constraint.TopologyKey, constraint.MaxSkew, constraint.Matching = v1.LabelHostname, 1, matching
	s.latest.Store(&spreadState{state: state, constraints: []boundedConstraint{constraint}})
	info := framework.NewNodeInfo()
	info.SetNode(&v1.Node{ObjectMeta: metav1.ObjectMeta{Labels: map[string]string{v1.LabelHostname: "n4"}}})

	got := s.compare(nil, state, &v1.Pod{}, info)
	domain := "n4"
	want := []result.SpreadComparison{{TopologyKey: v1.LabelHostname, Domain: &domain, Matching: 5, Minimum: 1, Maximum: 7, MaxSkew: 1, DomainCount: 5000}}
	if diff := cmp.Diff(want, got.Spread); diff != "" {
		t.Error(diff)
	}
	if got := s.compare(nil, framework.NewCycleState(), &v1.Pod{}, info); got != nil {
		t.Errorf("another state has the constraints of this one: %+v", got)
	}
}
