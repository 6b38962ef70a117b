package scheduler_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	kubescheduler "k8s.io/kubernetes/pkg/scheduler"

	"kube-scheduler-simulator/scheduler"
	"kube-scheduler-simulator/scheduler/config"
	"kube-scheduler-simulator/scheduler/feed"
	"kube-scheduler-simulator/scheduler/result"
	"kube-scheduler-simulator/scheduler/schedulertest"
	"kube-scheduler-simulator/scheduler/whatif"
)

// TestHypothesesAgreeWithDecisions runs random clusters and follows the scheduler. Afterwards it makes every decision
// again, hypothetically, on the state of that moment. The hypothetical decision must choose the node that the
// scheduler chose, or give it its best total, and must reject the nodes that the scheduler rejected, for the same reasons among
// others. It must have the same scores if the scheduler evaluated all nodes.
func TestHypothesesAgreeWithDecisions(t *testing.T) {
	compared := comparedDecisions{}
	rounds := fewer(*hypotheses, 2*schedulertest.Themes)
	for n := range rounds {
		cluster := schedulertest.Generate(*seed + 1000 + uint64(n))
		t.Run(cluster.Name, func(t *testing.T) {
			setGates(t, cluster.Gates)
			ops, cycles := runFollowed(t, cluster)
			compareHypotheses(t, cluster, ops, cycles, compared)
		})
	}
	t.Logf("compared %v", compared)
	for _, kind := range []string{"all", "scheduled", "unschedulable", "all nodes evaluated", "nominated", "preempting", "several rejections", "rejected in PreFilter"} {
		if compared[kind] == 0 {
			t.Errorf("no decision was %s", kind)
		}
	}
}

type comparedDecisions map[string]int

// runFollowed runs a cluster, and returns what a follower of its decisions has seen.
func runFollowed(t *testing.T, cluster *schedulertest.Cluster) ([]feed.Operation, *sink) {
	cycles := &sink{}
	var ops []feed.Operation
	c, err := config.Parse([]byte(cluster.Configuration))
	if err != nil {
		t.Fatal(err)
	}
	run(t, cluster, schedulertest.Hooks{Start: func(ctx context.Context, sim *schedulertest.Simulation) (func(context.Context) error, error) {
		followed := scheduler.NewFeed()
		follower, err := followed.FollowDecisions(ctx)
		if err != nil {
			return nil, err
		}
		drain := func() {
			more, _, err := follower.Drain(ctx)
			if err != nil {
				t.Error(err)
			}
			ops = append(ops, more...)
		}
		s := scheduler.New(scheduler.Options{
			Client: sim.Server.Config("scheduler"), Configuration: c.Internal, OutOfTree: sim.Observer.OutOfTree(),
			Sink: cycles, Feed: followed,
		})
		err = s.StartObserved(ctx, sim.Observer.Events(), func(sched *kubescheduler.Scheduler) { sim.Attach(sched) })
		if err != nil {
			return nil, err
		}
		drain()
		return func(ctx context.Context) error {
			drain()
			follower.Close()
			return s.Stop(ctx)
		}, nil
	}})
	return ops, cycles
}

// compareHypotheses makes the decisions that ops mark.
func compareHypotheses(t *testing.T, cluster *schedulertest.Cluster, ops []feed.Operation, cycles *sink, compared comparedDecisions) {
	c, err := config.Parse([]byte(cluster.Configuration))
	if err != nil {
		t.Fatal(err)
	}
	replica, err := whatif.NewReplica(t.Context(), c.Internal, whatif.Options{OutOfTree: schedulertest.NewObserver(&schedulertest.Transcript{}).OutOfTree()})
	if err != nil {
		t.Fatal(err)
	}
	defer replica.Close()
	marks := map[types.UID]int{}
	for _, op := range ops {
		if op.Mark != nil {
			marks[op.Mark.UID]++
		}
	}
	seen := map[types.UID]int{}
	for _, op := range ops {
		if op.Mark == nil {
			if err := replica.Apply(op); err != nil {
				t.Fatal(err)
			}
			continue
		}
		pod := op.Mark
		// The follower may have missed the first attempts.
		at := len(cycles.attempts[pod.UID]) - marks[pod.UID] + seen[pod.UID]
		seen[pod.UID]++
		if pod.Spec.SchedulingGroup != nil || at < 0 {
			continue
		}
		live := cycles.attempts[pod.UID][at]
		var asked *result.Cycle
		err := replica.Try(t.Context(), func(ctx context.Context, trial *whatif.Trial) (err error) {
			asked, err = trial.Decide(ctx, pod, "")
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		compareHypothesis(t, live, asked, pod, compared)
	}
}

func compareHypothesis(t *testing.T, live, asked *result.Cycle, pod *v1.Pod, compared comparedDecisions) {
	t.Helper()
	compared["all"]++
	compared[string(live.Outcome)]++
	fail := func(format string, args ...any) {
		t.Helper()
		t.Errorf("attempt %d of %s: %s\nlive: %s\nhypothetical: %s", live.Attempt, pod.Name, fmt.Sprintf(format, args...), inShort(live), inShort(asked))
	}
	if !asked.Hypothetical {
		fail("not marked as hypothetical")
	}
	if (live.SelectedNode == "") != (asked.SelectedNode == "") {
		fail("a node was selected in one of them")
		return
	}
	evaluatedAll := live.Nodes.Evaluated == live.Nodes.Total
	if live.SelectedNode != asked.SelectedNode && evaluatedAll && !sharesBest(asked, live.SelectedNode) {
		fail("another node")
	}
	if asked.Filter != nil && asked.Nodes.Evaluated != asked.Nodes.Total {
		fail("%d of %d nodes evaluated", asked.Nodes.Evaluated, asked.Nodes.Total)
	}
	if evaluatedAll && live.Nodes.Feasible != asked.Nodes.Feasible {
		fail("feasible")
	}
	compareVerdicts(fail, live, asked, compared)
	if evaluatedAll {
		compared["all nodes evaluated"]++
		if diff := cmp.Diff(totals(live), totals(asked)); diff != "" {
			fail("totals: %s", diff)
		}
	}
	if live.Nomination != nil && live.Nomination.Used {
		compared["nominated"]++
		if asked.SelectedNode != live.SelectedNode {
			fail("the nominated node")
		}
	}
	if live.Filter == nil && live.Nodes.Total > 0 && live.Outcome == result.Unschedulable {
		compared["rejected in PreFilter"]++
	}
	comparePreemption(fail, live, asked, compared)
	if live.SelectedNode == "" && live.Preemption == nil && live.Message != asked.Message {
		fail("messages:\n%s\n%s", live.Message, asked.Message)
	}
}

func inShort(c *result.Cycle) string {
	out := fmt.Sprintf("%s %q, %+v, nomination %+v, hint %+v: %s", c.Outcome, c.SelectedNode, c.Nodes, c.Nomination, c.Hint, c.Message)
	if c.Filter != nil {
		for i, node := range c.Filter.Nodes {
			v := c.Filter.Verdict(i)
			out += fmt.Sprintf("\n  %s %s %v", node, v.States, v.Rejections())
		}
	}
	return out + fmt.Sprintf("\n  totals %v", totals(c))
}

func totals(c *result.Cycle) map[string]int64 {
	if c.Score == nil || len(c.Score.Plugins) == 0 {
		return nil
	}
	out := map[string]int64{}
	for i, node := range c.Score.Nodes {
		out[node] = c.Score.Totals.At(i)
	}
	return out
}

// sharesBest reports whether a node has the best total.
func sharesBest(c *result.Cycle, node string) bool {
	if c.Score == nil {
		// Nothing scores the nodes.
		return c.Filter != nil && slices.Contains(feasibleNodes(c), node)
	}
	all := totals(c)
	for _, total := range all {
		if total > all[node] {
			return false
		}
	}
	_, scored := all[node]
	return scored || len(all) == 0
}

func feasibleNodes(c *result.Cycle) []string {
	var out []string
	for i, node := range c.Filter.Nodes {
		if c.Filter.Verdict(i).Plugin == "" {
			out = append(out, node)
		}
	}
	return out
}

// compareVerdicts checks that the live rejection of each node is among the hypothetical ones, and that the same nodes
// pass.
func compareVerdicts(fail func(string, ...any), live, asked *result.Cycle, compared comparedDecisions) {
	if live.Filter == nil {
		return
	}
	if asked.Filter == nil {
		fail("no node was filtered")
		return
	}
	verdicts := map[string]result.Verdict{}
	for i, node := range asked.Filter.Nodes {
		v := asked.Filter.Verdict(i)
		verdicts[node] = v
		if strings.ContainsRune(v.States, result.NotRun) {
			fail("a plugin did not run for %s: %s", node, v.States)
		}
		if len(v.Also) > 0 {
			compared["several rejections"]++
		}
	}
	for i, node := range live.Filter.Nodes {
		want, got := live.Filter.Verdict(i), verdicts[node]
		if want.Plugin == "" {
			if got.Plugin != "" {
				fail("%s was rejected", node)
			}
			continue
		}
		contained := slices.ContainsFunc(got.Rejections(), func(r result.PluginReasons) bool {
			return r.Plugin == want.Plugin && slices.Equal(r.Reasons, want.Reasons)
		})
		if !contained {
			fail("%s was not rejected by %s: %q", node, want.Plugin, want.Reasons)
		}
	}
}

// comparePreemption checks that the same nodes are candidates for preemption, with the same victims.
func comparePreemption(fail func(string, ...any), live, asked *result.Cycle, compared comparedDecisions) {
	if live.Preemption == nil {
		return
	}
	if asked.Preemption == nil {
		fail("no preemption")
		return
	}
	candidates := func(p *result.Preemption) map[string][]types.UID {
		out := map[string][]types.UID{}
		for _, c := range p.Candidates {
			for _, v := range c.Victims {
				out[c.Node] = append(out[c.Node], v.Pod.UID)
			}
		}
		return out
	}
	compared["preempting"]++
	if diff := cmp.Diff(candidates(live.Preemption), candidates(asked.Preemption)); diff != "" && live.Nodes.Evaluated == live.Nodes.Total {
		fail("candidates: %s", diff)
	}
	if asked.Preemption.Evictions != nil {
		fail("pods were evicted")
	}
}
