package recorder

import (
	"fmt"
	"runtime"
	"testing"
	"time"
	"weak"

	"github.com/google/go-cmp/cmp"
	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/framework"
	"k8s.io/utils/ptr"

	"kube-scheduler-simulator/scheduler/result"
)

// The record of a pod that waits for a permit keeps its tables only in their final form.
func TestAWaitingPodKeepsOnlyItsTables(t *testing.T) {
	_, c, pod := underWay(3)
	c.attempt = 1
	c.selected = "n2"
	for i := range int32(3) {
		c.verdicts.note(i, nil)
	}
	c.consider([]fwk.NodeInfo{c.nodes.list[2], c.nodes.list[0]})
	row := func(node string, raw, weighted int64) fwk.NodePluginScores {
		return fwk.NodePluginScores{
			Name: node, TotalScore: weighted,
			RawScores: []fwk.PluginScore{{Name: "Fit", Score: raw}}, Scores: []fwk.PluginScore{{Name: "Fit", Score: weighted}},
		}
	}
	c.profile.weights = map[string]int64{"Fit": 3}
	c.noteScores([]fwk.NodePluginScores{row("n2", 9, 27), row("n0", 5, 15)})

	waiting := c.recorder.build(c, ending{at: time.Now(), outcome: result.Waiting})
	if c.nodes != nil || c.verdicts != nil || c.scores != nil {
		t.Error("a pod that waits keeps what its tables were made of")
	}
	ended := c.recorder.build(c, ending{at: time.Now(), outcome: result.Scheduled})
	if waiting.Filter != ended.Filter || waiting.Score != ended.Score {
		t.Error("the tables were built twice")
	}
	if ended.Pod.UID != pod.UID || ended.Nodes != (result.NodeCounts{Total: 3, Evaluated: 2}) {
		t.Errorf("pod %s, nodes %+v", ended.Pod.UID, ended.Nodes)
	}
	if diff := cmp.Diff([]string{"n0", "n2"}, ended.Score.Nodes); diff != "" {
		t.Error(diff)
	}
	if &ended.Score.Nodes[0] != &ended.Filter.Nodes[0] {
		t.Error("the tables have the same nodes, but do not share the list")
	}
	for i, want := range [][]int64{{5, 5, 15, 15}, {9, 9, 27, 27}} {
		s := ended.Score
		if diff := cmp.Diff(want, []int64{s.Raw[0].At(i), s.Normalized[0].At(i), s.Weighted[0].At(i), s.Totals.At(i)}); diff != "" {
			t.Errorf("node %d: %s", i, diff)
		}
	}
}

// A node that is scored without having gone through consider, and one that is not in
// the snapshot, keep their scores.
func TestScoresOfUnexpectedNodesAreKept(t *testing.T) {
	for name, want := range map[string][]string{"n1": {"n0", "n1"}, "elsewhere": {"n0", "elsewhere"}} {
		_, c, _ := underWay(2)
		c.consider(c.nodes.list[:1])
		c.noteScores([]fwk.NodePluginScores{{Name: "n0", TotalScore: 1}, {Name: name, TotalScore: 2}})
		got := c.search().score
		if diff := cmp.Diff(want, got.Nodes); diff != "" || got.Totals.At(0) != 1 || got.Totals.At(1) != 2 {
			t.Errorf("%s: %s, totals %d and %d", name, diff, got.Totals.At(0), got.Totals.At(1))
		}
	}
}

// Of many candidates the record keeps the chosen one and the best of the others; the
// rule that decided is that among all.
func TestTheRecordKeepsFewCandidates(t *testing.T) {
	record := preemptionRecord{ran: true, considered: true, preemptor: 1000}
	pods := func(node string, n int, priority int32) (out []*v1.Pod) {
		for i := range n {
			out = append(out, &v1.Pod{
				ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprint(node, "-", i), UID: types.UID(fmt.Sprint(node, "-", i))},
				Spec:       v1.PodSpec{NodeName: node, Priority: ptr.To(priority)},
			})
		}
		return out
	}
	for i := range 500 {
		node := fmt.Sprintf("n%03d", i)
		record.candidates = append(record.candidates, dryRun{node: node, victims: pods(node, 2+i%2, int32(500-i))})
	}
	record.candidates = append(record.candidates, dryRun{node: "last", victims: pods("last", result.MaxVictims+3, 0)})

	got := record.build("last")
	if len(got.Candidates) != result.MaxCandidates || got.CandidatesDropped != 501-result.MaxCandidates {
		t.Errorf("%d candidates are kept, %d dropped", len(got.Candidates), got.CandidatesDropped)
	}
	if got.Rule != result.LowestHighestPriority {
		t.Errorf("the rule is %q", got.Rule)
	}
	chosen := got.Candidates[0]
	if chosen.Node != "last" || len(chosen.Victims) != result.MaxVictims || chosen.VictimsDropped != 3 {
		t.Errorf("the first is %s with %d victims, %d dropped", chosen.Node, len(chosen.Victims), chosen.VictimsDropped)
	}
	var others []string
	for _, c := range got.Candidates[1:] {
		others = append(others, c.Node)
	}
	if others[0] != "n469" || others[len(others)-1] != "n499" {
		t.Errorf("the best others are %v", others)
	}
}

// A result outlives the pod's entry in the queue.
func TestQueueFactsDoNotKeepTheQueuedPod(t *testing.T) {
	info := &framework.QueuedPodInfo{PodInfo: &framework.PodInfo{Pod: &v1.Pod{}}}
	info.BackoffExpiration = time.Now()
	queued := weak.Make(info)
	facts := New(nil, nil, nil).queueOf(info)
	info = nil
	runtime.GC()
	if queued.Value() != nil {
		t.Error("the facts keep the queued pod in memory")
	}
	runtime.KeepAlive(facts)
}

// The table finds every node, and no other.
func TestPointerTable(t *testing.T) {
	for _, n := range []int{0, 1, 2, 3, 100, 5000} {
		table := newPointerTable(n)
		nodes := make([]*framework.NodeInfo, n)
		for i := range nodes {
			nodes[i] = framework.NewNodeInfo()
			table.add(nodes[i], int32(i))
		}
		for i, node := range nodes {
			if at, ok := table.find(node); !ok || int(at) != i {
				t.Fatalf("of %d nodes, node %d is found as %d, %t", n, i, at, ok)
			}
		}
		if _, ok := table.find(framework.NewNodeInfo()); ok {
			t.Errorf("of %d nodes, an unknown one is found", n)
		}
	}
}
