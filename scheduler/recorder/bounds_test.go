package recorder

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"testing"
	"time"
	"weak"

	"github.com/google/go-cmp/cmp"
	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/framework/preemption"
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
	c.noteScores(nil, []fwk.NodePluginScores{row("n2", 9, 27), row("n0", 5, 15)})

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
	if diff := cmp.Diff([]string{"n0", "n2"}, ended.Score.Nodes.Names()); diff != "" {
		t.Error(diff)
	}
	size := func(c result.Cycle) int { return c.Size() - (&result.Cycle{}).Size() }
	apart := size(result.Cycle{Filter: ended.Filter}) + size(result.Cycle{Score: ended.Score})
	if together := size(result.Cycle{Filter: ended.Filter, Score: ended.Score}); together >= apart {
		t.Errorf("the tables take %d bytes, as many as apart: they do not share the list of nodes", together)
	}
	for i, want := range [][]int64{{5, 5, 15, 15}, {9, 9, 27, 27}} {
		s := ended.Score
		if diff := cmp.Diff(want, []int64{s.Raw[0].At(i), s.Normalized[0].At(i), s.Weighted[0].At(i), s.Totals.At(i)}); diff != "" {
			t.Errorf("node %d: %s", i, diff)
		}
	}
}

// A pod may wait for its volume in PreBind as long as for a permit.
func TestAPodInPreBindKeepsOnlyItsTables(t *testing.T) {
	r, c, pod := underWay(3)
	r.sink = discard{}
	c.selected, c.attempt = "n1", 1
	c.verdicts.note(1, nil)
	c.noteScores(nil, []fwk.NodePluginScores{{Name: "n1"}})
	r.Start()
	provisioning := make(chan struct{})
	plugin := &preparing{begun: make(chan struct{}), until: provisioning}
	recorded := r.wrap(plugin, c.profile, nil, nil, &groupDryRun{}).(fwk.PreBindPlugin)
	prepared := make(chan struct{})
	go func() {
		defer close(prepared)
		recorded.PreBind(t.Context(), nil, pod, "n1")
	}()
	<-plugin.begun
	for !r.Delivered() {
		runtime.Gosched()
	}
	c.mu.Lock()
	if c.nodes != nil || c.verdicts != nil || c.scores != nil || c.built == nil {
		t.Error("a pod that waits in PreBind keeps what its tables are made of")
	}
	c.mu.Unlock()
	close(provisioning)
	<-prepared
	if err := r.Stop(t.Context()); err != nil {
		t.Fatal(err)
	}
	if got := statusesOf(c.answers.PreBind); !slices.Equal(got, []string{"Preparing Success"}) {
		t.Errorf("PreBind is recorded as %v", got)
	}
}

// preparing is a PreBind plugin that waits.
type preparing struct {
	fwk.PreBindPlugin
	begun, until chan struct{}
}

func (*preparing) Name() string { return "Preparing" }

func (p *preparing) PreBind(context.Context, fwk.CycleState, *v1.Pod, string) *fwk.Status {
	close(p.begun)
	<-p.until
	return nil
}

func statusesOf(results []result.PluginResult) []string {
	var out []string
	for _, r := range results {
		out = append(out, r.Plugin+" "+r.Status)
	}
	return out
}

// A member of a pod group is tried in several placements. When its binding begins, only one
// of the tries counts.
func TestABindingPodKeepsOneTry(t *testing.T) {
	r, chosen, pod := underWay(3)
	_, other, _ := underWay(3)
	r.inFlight[pod.UID] = &tries{all: []*cycle{other, chosen}, chosen: chosen}
	(&recorded{Framework: permitting{}, recorder: r}).WaitOnPermit(t.Context(), pod)
	if kept := r.inFlight[pod.UID]; len(kept.all) != 1 || kept.all[0] != chosen || kept.chosen != chosen {
		t.Errorf("%d tries are kept", len(kept.all))
	}
}

// permitting is a framework in which no pod waits for a permit.
type permitting struct{ framework.Framework }

func (permitting) WaitOnPermit(context.Context, *v1.Pod) *fwk.Status { return nil }

// A node that is scored without having gone through consider, and one that is not in
// the snapshot, keep their scores.
func TestScoresOfUnexpectedNodesAreKept(t *testing.T) {
	for name, want := range map[string][]string{"n1": {"n0", "n1"}, "elsewhere": {"n0", "elsewhere"}} {
		_, c, _ := underWay(2)
		c.consider(c.nodes.list[:1])
		c.noteScores(nil, []fwk.NodePluginScores{{Name: "n0", TotalScore: 1}, {Name: name, TotalScore: 2}})
		got := c.search().score
		if diff := cmp.Diff(want, got.Nodes.Names()); diff != "" || got.Totals.At(0) != 1 || got.Totals.At(1) != 2 {
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
	// Of the pods that may give way on the last node, some stay.
	gone, stay := pods("last", result.MaxVictims+3, 0), pods("last-staying", result.MaxVictims+5, 0)
	record.candidates = append(record.candidates, dryRun{node: "last", victims: gone, potential: domainVictims(append(slices.Clone(gone), stay...)), byPriority: true})

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
	if len(chosen.Reprieved) != result.MaxVictims || chosen.ReprievedDropped != 5 {
		t.Errorf("the first has %d reprieved pods, %d dropped", len(chosen.Reprieved), chosen.ReprievedDropped)
	}
	var others []string
	for _, c := range got.Candidates[1:] {
		others = append(others, c.Node)
	}
	if others[0] != "n469" || others[len(others)-1] != "n499" {
		t.Errorf("the best others are %v", others)
	}
}

func domainVictims(pods []*v1.Pod) []*preemption.DomainVictim {
	var out []*preemption.DomainVictim
	for _, pod := range pods {
		info, _ := framework.NewPodInfo(pod)
		out = append(out, &preemption.DomainVictim{Victim: preemption.NewPodVictim(info, nil, nil)})
	}
	return out
}

// The record of preemption for a pod group counts all victims, and keeps the most important.
func TestTheRecordKeepsFewVictimsOfAGroup(t *testing.T) {
	var victims []result.Victim
	for i := range 3 * result.MaxGroupVictims {
		victims = append(victims, result.Victim{Pod: result.Pod{Name: fmt.Sprint(i)}, Priority: int32(i)})
	}
	kept := mostImportant(victims)
	if len(kept) != result.MaxGroupVictims || kept[0].Priority != 3*result.MaxGroupVictims-1 {
		t.Errorf("%d victims are kept, the first is %+v", len(kept), kept[0])
	}
}

// The pods that are nominated to one node are counted, and the first ones by name are kept.
func TestTheRecordKeepsFewNominatedPods(t *testing.T) {
	_, c, _ := underWay(1)
	node := c.nodes.list[0].Snapshot()
	for i := range 2 * result.MaxNominatedPods {
		info, err := framework.NewPodInfo(&v1.Pod{ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprintf("p%03d", 999-i)}})
		if err != nil {
			t.Fatal(err)
		}
		node.AddPodInfo(info)
	}
	c.noteNominatedPass(node)
	pass := c.nominated.sorted()[0]
	if first := fmt.Sprintf("p%03d", 1000-2*result.MaxNominatedPods); pass.PodCount != 2*result.MaxNominatedPods || len(pass.Pods) != result.MaxNominatedPods || pass.Pods[0].Name != first {
		t.Errorf("of %d pods %d are kept, the first is %+v", pass.PodCount, len(pass.Pods), pass.Pods[0])
	}
}

// The scheduler wraps the error of the try that failed.
func TestTheTryThatFailedIsFound(t *testing.T) {
	first, second := &cycle{err: errors.New("no node fits in the first placement")}, &cycle{err: errors.New("no node fits in the second placement")}
	all := &tries{all: []*cycle{first, second}, chosen: second}
	if got := all.endedBy(fwk.AsStatus(fmt.Errorf("the group does not fit: %w", first.err))); got != first {
		t.Error("the try is not found by its error")
	}
	if got := all.endedBy(fwk.AsStatus(errors.New("refused"))); got != second {
		t.Error("an error of no try is not that of the chosen one")
	}
	if got := all.endedBy(nil); got != second {
		t.Error("a success is not that of the chosen try")
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

// Batching scores a node again with a clone of the state. The time that this takes is not
// that of the cycle.
func TestScoresOfOtherStatesAreNotTimed(t *testing.T) {
	r, c, pod := underWay(1)
	c.state = framework.NewCycleState()
	recorded := r.wrap(scoringAll{}, c.profile, nil, nil, &groupDryRun{}).(fwk.ScorePlugin)
	for _, tc := range []struct {
		state fwk.CycleState
		calls int64
	}{{c.state.Clone(), 0}, {c.state, 1}} {
		recorded.Score(t.Context(), tc.state, pod, c.nodes.list[0])
		if n := c.profile.scoreSamplers[0].calls.Load(); n != tc.calls {
			t.Errorf("%d calls were timed, want %d", n, tc.calls)
		}
	}
}

// scoringAll is a Score plugin.
type scoringAll struct {
	named
	scoresNodes
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
