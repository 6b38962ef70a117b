package recorder

import (
	"fmt"
	"testing"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/framework"
)

// While nodes come and go, the results share one table of names, and the table does not grow for
// ever.
func TestResultsShareTheNamesOfNodes(t *testing.T) {
	const nodes, changes = 2000, 10_000
	named := func(i int) fwk.NodeInfo {
		n := framework.NewNodeInfo()
		n.SetNode(&v1.Node{ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprint("n", i)}})
		return n
	}
	list := make([]fwk.NodeInfo, nodes)
	for i := range list {
		list[i] = named(i)
	}
	var known knownNames
	arrays := map[*string]bool{}
	for next := nodes; next < nodes+changes; next += 100 {
		for i := range 100 {
			list[(next+i)%nodes] = named(next + i)
		}
		table := newNodeTable(list, &known)
		arrays[&table.known[0]] = true
		if len(table.known) > 3*nodes {
			t.Fatalf("%d names are kept for %d nodes", len(table.known), nodes)
		}
		at := []int64{nodes - 1, 0, 7}
		got := table.nodeList(at)
		for i, node := range []int{nodes - 1, 0, 7} {
			if want := list[node].Node().Name; got.At(i) != want {
				t.Fatalf("node %d is %s instead of %s", node, got.At(i), want)
			}
		}
	}
	// The table begins again after as many changes as there are nodes, and it moves when it grows.
	if most := 3 * changes / nodes; len(arrays) > most {
		t.Errorf("the results of %d snapshots keep %d tables alive, more than %d", changes/100, len(arrays), most)
	}
}
