package scheduler_test

import (
	"fmt"
	"slices"
	"testing"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"kube-scheduler-simulator/scheduler/explain"
	"kube-scheduler-simulator/scheduler/result"
)

// checkScoreFacts explains the scores of a cycle and compares the results of the
// arithmetic with the recorded scores. It returns how many nodes it checked.
func checkScoreFacts(t *testing.T, c *result.Cycle) int {
	t.Helper()
	s := c.Score
	if s == nil || s.Facts == nil {
		return 0
	}
	switch facts := s.Facts; {
	case len(facts.Nodes) != min(s.Nodes.Len(), result.MaxScoreFacts):
		t.Errorf("%s: facts about %d of %d nodes are kept", c.Pod.Name, len(facts.Nodes), s.Nodes.Len())
	case !slices.Contains(facts.Nodes, c.SelectedNode) && s.Nodes.Index(c.SelectedNode) >= 0:
		t.Errorf("%s: no facts about %s are kept", c.Pod.Name, c.SelectedNode)
	}
	for p, plugin := range s.Plugins {
		for row, node := range s.Nodes.All() {
			cell, ok := explain.Score(s, plugin.Name, node)
			if !ok {
				t.Errorf("%s: the score of %s for %s is not explained", c.Pod.Name, plugin.Name, node)
				continue
			}
			if kept := s.Facts.Of(plugin.Name) != nil && slices.Contains(s.Facts.Nodes, node); kept != (cell.Raw != nil) {
				t.Errorf("%s: %s for %s: facts are kept: %t, the arithmetic is %v", c.Pod.Name, plugin.Name, node, kept, cell.Arithmetic)
			}
			if raw := s.Raw[p].At(row); cell.Raw != nil && *cell.Raw != raw {
				t.Errorf("%s: %s gives %s %d, the arithmetic is %v", c.Pod.Name, plugin.Name, node, raw, cell.Arithmetic)
			}
			if normalized := s.Normalized[p].At(row); cell.Normalized != nil && *cell.Normalized != normalized {
				t.Errorf("%s: %s normalizes %s to %d, the arithmetic is %v", c.Pod.Name, plugin.Name, node, normalized, cell.Normalization)
			}
		}
	}
	return len(s.Facts.Nodes)
}

// The inputs are kept for the selected node and the best of the others, in order.
func TestScoreFactsAreThoseOfTheBestNodes(t *testing.T) {
	var objects []runtime.Object
	for i := range 3 * result.MaxScoreFacts {
		objects = append(objects, cpuNode(fmt.Sprintf("n%02d", i), fmt.Sprint(4+i)))
	}
	c := attemptsOf(t, factCluster("", objects, cpuPod("pod", "2").Obj()), "pod")[0]
	if checkScoreFacts(t, c) != result.MaxScoreFacts {
		t.Fatalf("the facts are %+v", c.Score.Facts)
	}
	if c.Score.Facts.Nodes[0] != c.SelectedNode {
		t.Errorf("%s was selected, the first facts are those of %s", c.SelectedNode, c.Score.Facts.Nodes[0])
	}
	total := func(node string) int64 { return c.Score.Totals.At(c.Score.Nodes.Index(node)) }
	if !slices.IsSortedFunc(c.Score.Facts.Nodes, func(a, b string) int { return int(total(b) - total(a)) }) {
		t.Errorf("the nodes are not sorted by total: %v", c.Score.Facts.Nodes)
	}
	worst := total(c.Score.Facts.Nodes[result.MaxScoreFacts-1])
	for _, node := range c.Score.Nodes.All() {
		if total(node) > worst && !slices.Contains(c.Score.Facts.Nodes, node) {
			t.Errorf("%s with a total of %d is left out", node, total(node))
		}
	}
	fit := c.Score.Facts.Of("NodeResourcesFit").Resources
	if fit.Strategy != result.LeastAllocated || fit.Resources[0].Name != string(v1.ResourceCPU) || fit.Resources[0].Requested != 2000 {
		t.Errorf("the facts of NodeResourcesFit are %+v", fit)
	}
}
