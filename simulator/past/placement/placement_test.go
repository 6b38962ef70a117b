package placement

import (
	"context"
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"kube-scheduler-simulator/scheduler/result"
	"kube-scheduler-simulator/simulator/cluster/objects"
	"kube-scheduler-simulator/simulator/past/replay"
)

// cycles are results, one attempt for each pod.
type cycles map[types.UID]*result.Cycle

func (c cycles) NextAttempt(uid types.UID) int {
	if _, ok := c[uid]; ok {
		return 2
	}
	return 1
}

func (c cycles) Get(uid types.UID, _ int) (*result.Cycle, error) { return c[uid], nil }

func pod(name, before, now string) *v1.Pod {
	p := &v1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: name, UID: types.UID(name)}, Spec: v1.PodSpec{NodeName: now}}
	if before != "" {
		p.Annotations = map[string]string{objects.AnnotationImportedNode: before}
	}
	return p
}

// rejected is a cycle that chose another node because a plugin rejected one.
func rejected(node, selected string) *result.Cycle {
	b := result.NewFilterBuilder([]string{"NodeResourcesFit"}, 1)
	b.Add(node, "R", "NodeResourcesFit", []string{"Insufficient cpu"})
	return &result.Cycle{Summary: result.Summary{Attempt: 1, SelectedNode: selected}, Filter: b.Filter()}
}

func TestPodsAreComparedWithWhereTheyWere(t *testing.T) {
	var nodes []*v1.Node
	for _, name := range []string{"n1", "n2"} {
		nodes = append(nodes, &v1.Node{ObjectMeta: metav1.ObjectMeta{Name: name}})
	}
	pods := []*v1.Pod{
		pod("same", "n1", "n1"), pod("new", "", "n1"), pod("moved", "n1", "n2"), pod("moved-too", "n1", "n2"),
		pod("gone", "n9", "n2"), pod("waits", "n1", ""),
	}
	c := New(Options{
		State:   func(context.Context) ([]*v1.Node, []*v1.Pod, error) { return nodes, pods, nil },
		Results: cycles{"moved": rejected("n1", "n2"), "moved-too": rejected("n1", "n2"), "gone": {Summary: result.Summary{Attempt: 1, SelectedNode: "n2"}}},
	})
	for _, tc := range []struct {
		q    Query
		want string
	}{
		{Query{}, "gone: n2 was chosen: n9 is not in the simulated cluster.\nmoved: n2 was chosen: NodeResourcesFit rejected n1 (Insufficient cpu).\n" +
			"moved-too: n2 was chosen: NodeResourcesFit rejected n1 (Insufficient cpu).\nsame: Both schedulers chose n1.\n" +
			"waits: The simulated scheduler has not tried the pod, which had been scheduled to n1.\n"},
		{Query{Cause: Cause{"nodeMissing", ""}}, "gone: n2 was chosen: n9 is not in the simulated cluster.\n"},
		{Query{ComparisonQuery: replay.ComparisonQuery{Outcome: replay.Different, Limit: 1, Continue: "1"}}, "moved: n2 was chosen: NodeResourcesFit rejected n1 (Insufficient cpu).\nmore from 2\n"},
	} {
		found, err := c.Compare(t.Context(), tc.q)
		if err != nil {
			t.Fatal(err)
		}
		got := ""
		for _, d := range found.Items {
			got += fmt.Sprintf("%s: %s\n", d.Pod.Name, d.Why)
		}
		if found.Continue != "" {
			got += "more from " + found.Continue + "\n"
		}
		if diff := cmp.Diff(tc.want, got); diff != "" {
			t.Errorf("%+v: %s", tc.q, diff)
		}
		if want := (replay.Counts{Compared: 5, Matching: 1, Different: 3, Pending: 1}); found.Counts != want || found.NodesMissing != 1 {
			t.Errorf("it counts %+v, and %d nodes missing", found.Counts, found.NodesMissing)
		}
		want := []CauseCount{{Cause{"nodeRejected", "NodeResourcesFit"}, 2}, {Cause{"nodeMissing", ""}, 1}, {Cause{"notAttempted", ""}, 1}}
		if diff := cmp.Diff(want, found.Causes); diff != "" || found.Explained != 4 {
			t.Errorf("%d explained, %s", found.Explained, diff)
		}
	}
	sides, err := c.Sides(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if a, b := sides.Nodes[0].A.Pods, sides.Nodes[0].B.Pods; sides.Nodes[0].Name != "n1" || a != 5 || b != 2 || len(sides.Pods) != 4 {
		t.Errorf("n1 had %d pods and has %d; %d differ", a, b, len(sides.Pods))
	}
}

// TestACauseIsReadOnce: a cycle never changes, so only a later attempt is read again.
func TestACauseIsReadOnce(t *testing.T) {
	results := counting{cycles: cycles{"moved": rejected("n1", "n2")}}
	c := New(Options{
		State: func(context.Context) ([]*v1.Node, []*v1.Pod, error) {
			return []*v1.Node{{ObjectMeta: metav1.ObjectMeta{Name: "n1"}}}, []*v1.Pod{pod("moved", "n1", "n2")}, nil
		},
		Results: &results,
	})
	for range 3 {
		if _, err := c.Compare(t.Context(), Query{ComparisonQuery: replay.ComparisonQuery{Outcome: replay.Pending}}); err != nil {
			t.Fatal(err)
		}
	}
	if results.read != 1 {
		t.Errorf("it was read %d times", results.read)
	}
}

type counting struct {
	cycles
	read int
}

func (c *counting) Get(uid types.UID, attempt int) (*result.Cycle, error) {
	c.read++
	return c.cycles.Get(uid, attempt)
}
