package recorder

import (
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	extenderv1 "k8s.io/kube-scheduler/extender/v1"
	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/framework"

	"kube-scheduler-simulator/scheduler/result"
)

// underWay returns a recorder with a running cycle of the pod p over n nodes.
func underWay(n int) (*Recorder, *cycle, *v1.Pod) {
	r := New(nil, nil, nil)
	var nodes []fwk.NodeInfo
	for i := range n {
		info := framework.NewNodeInfo()
		info.SetNode(&v1.Node{ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprintf("n%d", i)}})
		nodes = append(nodes, info)
	}
	pod := &v1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "p", UID: "p"}}
	c := &cycle{
		recorder: r, profile: &profile{filterPlugins: []string{"Fit"}}, pod: podOf(pod),
		nodes: newNodeTable(nodes, &r.names), verdicts: r.takeVerdicts(n),
	}
	r.current.Store(c)
	r.inFlight["p"] = &tries{chosen: c}
	return r, c, pod
}

// Nodes that passed and were discarded count as not evaluated, even if the
// extenders rejected all others. The nodes that extenders were offered count as
// evaluated.
func TestDiscardedNodesAreNotEvaluated(t *testing.T) {
	r, c, pod := underWay(4)
	c.verdicts.note(0, nil)
	c.verdicts.note(1, nil)
	c.verdicts.note(2, fwk.NewStatus(fwk.Unschedulable, "full").WithPlugin("Fit"))
	r.OfferedToExtender(0, pod, c.nodes.list[:1])
	f := c.search().filter
	got := map[string]string{}
	for i, node := range f.Nodes.All() {
		got[node] = f.Verdict(i).States
	}
	if diff := cmp.Diff(map[string]string{"n0": "P", "n2": "R"}, got); diff != "" {
		t.Error(diff)
	}
}

// The scheduler tries a pod's nominated node alone first. A failure of extenders
// does not end the cycle then.
func TestCallsForTheNominatedNode(t *testing.T) {
	r, c, pod := underWay(3)
	pod.Status.NominatedNodeName = "n1"
	first, second := errors.New("first"), errors.New("second")
	r.OfferedToExtender(0, pod, c.nodes.list[1:2])
	r.ExtenderCalled(0, pod, result.ExtenderCall{Plugin: "a", Verb: "filter", Status: "Error"}, first)
	r.OfferedToExtender(0, pod, c.nodes.list)
	r.ExtenderCalled(0, pod, result.ExtenderCall{Plugin: "a", Verb: "filter", Status: "Success"}, nil)
	r.OfferedToExtender(1, pod, c.nodes.list[1:2])
	r.ExtenderCalled(1, pod, result.ExtenderCall{Plugin: "b", Verb: "filter", Status: "Error"}, second)
	c.err = second
	want := []result.ExtenderCall{
		{Plugin: "a", Verb: "filter", Status: "Error", Nominated: true, Ignored: true},
		{Plugin: "a", Verb: "filter", Status: "Success"},
		{Plugin: "b", Verb: "filter", Status: "Error"},
	}
	if diff := cmp.Diff(want, c.buildExtenders()); diff != "" {
		t.Error(diff)
	}
}

// The nominated node is taken only if it is selected and no other was filtered afterwards.
func TestWhetherTheNodeThatIsTriedFirstIsTaken(t *testing.T) {
	for _, tc := range []struct {
		name     string
		visits   int32
		again    bool
		selected string
		used     bool
	}{
		{"it fits", 1, false, "n1", true},
		{"no plugin filters nodes", 0, false, "n1", true},
		{"it is gone, and the search may visit one node", 1, false, "n0", false},
		{"it fits only when it is visited again", 3, false, "n1", false},
		{"an extender takes it only when it is asked again", 1, true, "n1", false},
		{"no node fits", 1, false, "", false},
	} {
		t.Run(tc.name, func(t *testing.T) {
			_, c, _ := underWay(3)
			c.nomination, c.hint = &result.Nomination{Node: "n1"}, &result.Hint{Node: "n1"}
			c.visits.Store(tc.visits)
			c.offered.again = tc.again
			c.tookFirst(tc.selected)
			if c.nomination.Used != tc.used || c.hint.Used != tc.used {
				t.Errorf("nomination used %t, hint used %t", c.nomination.Used, c.hint.Used)
			}
		})
	}
}

// Extenders prioritize at the same time. Their calls are recorded in the configured
// order, with one entry for an extender that was not called.
func TestCallsAreInOrder(t *testing.T) {
	r, c, pod := underWay(1)
	r.ExtenderSkipped(2, pod, result.ExtenderCall{Plugin: "c", Status: "Skip"})
	r.ExtenderCalled(0, pod, result.ExtenderCall{Plugin: "a", Verb: "filter"}, nil)
	r.ExtenderSkipped(2, pod, result.ExtenderCall{Plugin: "c", Status: "Skip"})
	r.ExtenderCalled(1, pod, result.ExtenderCall{Plugin: "b", Verb: "prioritize"}, nil)
	r.ExtenderCalled(0, pod, result.ExtenderCall{Plugin: "a", Verb: "prioritize"}, nil)
	r.ExtenderCalled(0, &v1.Pod{ObjectMeta: metav1.ObjectMeta{UID: "p"}}, result.ExtenderCall{Plugin: "a", Verb: "bind"}, nil)
	r.ExtenderCalled(0, &v1.Pod{ObjectMeta: metav1.ObjectMeta{UID: "other"}}, result.ExtenderCall{Plugin: "a", Verb: "bind"}, nil)
	var got []string
	for _, call := range c.buildExtenders() {
		got = append(got, call.Plugin+" "+string(call.Verb))
	}
	if diff := cmp.Diff([]string{"c ", "a filter", "a prioritize", "b prioritize", "a bind"}, got); diff != "" {
		t.Error(diff)
	}
}

// A score counts × the configured weight × 10, and repeated scores for a node add
// up, as in the scheduler.
func TestExtendersScoresAddUp(t *testing.T) {
	r, c, pod := underWay(2)
	c.noteScores(nil, []fwk.NodePluginScores{{Name: "n0", TotalScore: 100}, {Name: "n1", TotalScore: 110}})
	r.ExtenderScored(1, "b", pod, extenderv1.HostPriorityList{{Host: "n1", Score: 1}, {Host: "unknown", Score: 9}}, 1)
	r.ExtenderScored(0, "a", pod, extenderv1.HostPriorityList{{Host: "n0", Score: 2}, {Host: "n1", Score: 0}, {Host: "n0", Score: 1}}, 2)
	for range 2 { // when the pod starts to wait, and at the end
		got := c.search().score
		want := []result.ScoreExtender{
			{Name: "a", Weight: 20, Answered: result.NewColumn([]int64{3, 0}), Counted: result.NewColumn([]int64{60, 0})},
			{Name: "b", Weight: 10, Answered: result.NewColumn([]int64{0, 1}), Counted: result.NewColumn([]int64{0, 10}), Unscored: []string{"n0"}},
		}
		if diff := cmp.Diff(want, got.Extenders, cmp.AllowUnexported(result.Column{})); diff != "" {
			t.Error(diff)
		}
		if got.Totals.At(0) != 160 || got.Totals.At(1) != 120 || got.Tied() != nil {
			t.Errorf("totals %d %d, tied %v", got.Totals.At(0), got.Totals.At(1), got.Tied())
		}
	}
}

// askedOf is a Scorer that keeps the nodes of which it is asked.
type askedOf struct{ nodes []fwk.NodeInfo }

func (*askedOf) Normalization() result.Normalization { return result.NotNormalized }
func (s *askedOf) Facts(_ fwk.CycleState, _ *v1.Pod, scored Scored) *result.PluginScoreFacts {
	s.nodes = slices.Clone(scored.Nodes)
	return &result.PluginScoreFacts{}
}

// After an extender without a node cache, the plugins score nodes that the scheduler made from its
// answer. The inputs of the scores are read from these, not from the snapshot.
func TestFactsAreReadFromTheNodesThatWereGiven(t *testing.T) {
	_, c, _ := underWay(2)
	rows := []fwk.NodePluginScores{
		{Name: "n0", TotalScore: 9, RawScores: []fwk.PluginScore{{Name: "Fit"}}, Scores: []fwk.PluginScore{{Name: "Fit"}}},
		{Name: "n1", TotalScore: 8, RawScores: []fwk.PluginScore{{Name: "Fit"}}, Scores: []fwk.PluginScore{{Name: "Fit"}}},
	}
	asked := &askedOf{}
	c.profile.scorers = []scorer{{Scorer: asked, plugin: "Fit"}}
	for _, fromExtender := range []bool{false, true} {
		given := slices.Clone(c.nodes.list[:2])
		if fromExtender {
			for i, node := range given {
				bare := framework.NewNodeInfo()
				bare.SetNode(node.Node())
				given[i] = bare
			}
		}
		c.noteScores(given, rows)
		c.noteScoreFacts()
		if !slices.Equal(asked.nodes, given) || c.scores.facts.FromExtender != fromExtender {
			t.Errorf("from an extender %t: the scorer was asked of %v, facts %+v", fromExtender, asked.nodes, c.scores.facts)
		}
	}
}

func TestExtendersChangeCandidates(t *testing.T) {
	pod := func(name string) *v1.Pod {
		return &v1.Pod{ObjectMeta: metav1.ObjectMeta{Name: name, UID: types.UID(name)}}
	}
	victims := func(names ...string) *extenderv1.Victims {
		v := &extenderv1.Victims{}
		for _, name := range names {
			v.Pods = append(v.Pods, pod(name))
		}
		return v
	}
	candidate := func(node string, names ...string) result.Candidate {
		c := result.Candidate{Node: node}
		for _, name := range names {
			c.Victims = append(c.Victims, victimOf(pod(name)))
		}
		return c
	}
	sent := map[string]*extenderv1.Victims{"a": victims("x", "y"), "b": victims("z")}
	// late was found after there were enough candidates, so the scheduler did not send it
	// to the extender.
	late := candidate("late", "w")
	late.Surplus = true
	begin := func() *preemptionRecord {
		r := &preemptionRecord{ran: true, candidates: []dryRun{
			{node: "a", victims: victims("x", "y").Pods}, {node: "b", victims: victims("z").Pods}, {node: "late", victims: victims("w").Pods},
		}}
		r.consider(sent)
		return r
	}

	t.Run("one is changed, one removed, one added", func(t *testing.T) {
		r := begin()
		r.noteExtender("http://one", false, sent, map[string]*extenderv1.Victims{"a": victims("x"), "c": victims("v")})
		changed, removed, added := candidate("a", "x"), candidate("b", "z"), candidate("c", "v")
		changed.ChangedBy, removed.RemovedBy, added.ChangedBy = "http://one", "http://one", "http://one"
		want := []result.Candidate{changed, removed, added, late}
		if diff := cmp.Diff(want, r.build("a").Candidates); diff != "" {
			t.Error(diff)
		}
	})
	t.Run("a surplus one is back", func(t *testing.T) {
		r := begin()
		r.noteExtender("http://one", false, sent, map[string]*extenderv1.Victims{"a": victims("x", "y"), "b": victims("z"), "late": victims("w")})
		want := []result.Candidate{candidate("a", "x", "y"), candidate("b", "z"), candidate("late", "w")}
		if diff := cmp.Diff(want, r.build("a").Candidates); diff != "" {
			t.Error(diff)
		}
	})
	t.Run("a node without victims", func(t *testing.T) {
		for _, ignorable := range []bool{true, false} {
			r := begin()
			r.noteExtender("http://one", ignorable, sent, map[string]*extenderv1.Victims{"a": {}, "b": victims("z")})
			want := []result.Candidate{candidate("a", "x", "y"), candidate("b", "z"), late}
			if ignorable {
				want[0].RemovedBy = "http://one"
			}
			if diff := cmp.Diff(want, r.build("b").Candidates); diff != "" {
				t.Errorf("ignorable %t: %s", ignorable, diff)
			}
		}
	})
}
