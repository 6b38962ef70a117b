package scheduler_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	fwk "k8s.io/kube-scheduler/framework"
	kubescheduler "k8s.io/kubernetes/pkg/scheduler"
	schedulerconfig "k8s.io/kubernetes/pkg/scheduler/apis/config"
	st "k8s.io/kubernetes/pkg/scheduler/testing"

	"kube-scheduler-simulator/scheduler"
	"kube-scheduler-simulator/scheduler/config"
	"kube-scheduler-simulator/scheduler/feed"
	"kube-scheduler-simulator/scheduler/result"
	"kube-scheduler-simulator/scheduler/schedulertest"
	"kube-scheduler-simulator/scheduler/whatif"
)

// TestHypothesesAgreeWithDecisions runs random clusters and follows the scheduler. Afterwards it
// makes every decision again, hypothetically, on the state of that moment. The hypothetical
// decision must choose the node that the scheduler chose, or give it its best total, and must
// reject the nodes that the scheduler rejected, for the same reasons among others. It must have the
// same scores if the scheduler evaluated all nodes.
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
		for i, node := range c.Filter.Nodes.All() {
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
	for i, node := range c.Score.Nodes.All() {
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
	for i, node := range c.Filter.Nodes.All() {
		if c.Filter.Verdict(i).Plugin == "" {
			out = append(out, node)
		}
	}
	return out
}

// compareVerdicts checks that the live rejection of each node is among the hypothetical ones, and
// that the same nodes pass.
func compareVerdicts(fail func(string, ...any), live, asked *result.Cycle, compared comparedDecisions) {
	if live.Filter == nil {
		return
	}
	if asked.Filter == nil {
		fail("no node was filtered")
		return
	}
	verdicts := map[string]result.Verdict{}
	for i, node := range asked.Filter.Nodes.All() {
		v := asked.Filter.Verdict(i)
		verdicts[node] = v
		if strings.ContainsRune(v.States, result.NotRun) {
			fail("a plugin did not run for %s: %s", node, v.States)
		}
		if len(v.Also) > 0 {
			compared["several rejections"]++
		}
	}
	for i, node := range live.Filter.Nodes.All() {
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

// comparePreemption checks that the same nodes are candidates for preemption, with the same
// victims.
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

// asker asks hypothetical questions about the pods of a running cluster.
type asker struct {
	t      *testing.T
	engine *whatif.Engine
	random *rand.Rand
}

func newAsker(t *testing.T, cluster *schedulertest.Cluster, source whatif.Source, seed uint64) *asker {
	c, err := config.Parse([]byte(cluster.Configuration))
	if err != nil {
		t.Fatal(err)
	}
	return &asker{t, whatif.New(whatif.Options{
		Source:        source,
		Configuration: func() *schedulerconfig.KubeSchedulerConfiguration { return c.Internal },
		OutOfTree:     schedulertest.NewObserver(&schedulertest.Transcript{}).OutOfTree(),
		// The engine follows anew now and then.
		Idle: 2 * time.Second,
	}), rand.New(rand.NewPCG(seed, 91))}
}

// ask asks one question. Whatever the answer is, it must not disturb the cluster.
func (a *asker) ask(ctx context.Context, pods []string) {
	ref := func() *types.NamespacedName {
		return &types.NamespacedName{Namespace: schedulertest.Namespace, Name: pods[a.random.IntN(len(pods))]}
	}
	q := whatif.Question{PodRef: ref(), Copies: 1 + a.random.IntN(3), Changes: randomChanges(a.random, ref())}
	_, err := a.engine.Ask(ctx, q)
	if err == nil || ctx.Err() != nil || expectedError(err) {
		return
	}
	a.t.Errorf("%+v: %v", q, err)
}

// expectedError reports whether a random question may end with err: the pod or the node is gone by
// now, or a copy of the pod needs what only the original has.
func expectedError(err error) bool {
	for _, expected := range []any{new(*whatif.NotFoundError), new(*whatif.UnfitError), new(*whatif.ProfileError), new(*whatif.InvalidError)} {
		if errors.As(err, expected) {
			return true
		}
	}
	return false
}

// randomChanges returns hypothetical changes, one of them of the pod.
func randomChanges(random *rand.Rand, pod *types.NamespacedName) []whatif.Change {
	node := whatif.ObjectRef{GVK: v1.SchemeGroupVersion.WithKind("Node"), Name: fmt.Sprintf("n%d", 1+random.IntN(4))}
	switch random.IntN(6) {
	case 0:
		return []whatif.Change{{Patch: &whatif.Patch{ObjectRef: node, Patch: []byte(`{"spec": {"unschedulable": true}, "metadata": {"labels": {"disk": "ssd"}}}`)}}}
	case 1:
		return []whatif.Change{{Delete: &node}}
	case 2:
		return []whatif.Change{{Delete: &whatif.ObjectRef{GVK: v1.SchemeGroupVersion.WithKind("Pod"), Namespace: pod.Namespace, Name: pod.Name}}}
	case 3:
		return []whatif.Change{{Count: 2, Apply: st.MakeNode().Name("more").Label(v1.LabelHostname, "more").
			Capacity(map[v1.ResourceName]string{"cpu": "4", "memory": "8Gi", "pods": "10"}).Obj()}}
	}
	return nil
}

// TestQuestionsLeaveNothingBehind asks an engine random questions about the last state of random
// clusters. Afterwards it must decide about every pod as an engine does that has never been asked,
// on the same nodes with the same pods.
func TestQuestionsLeaveNothingBehind(t *testing.T) {
	for n := range fewer(2*schedulertest.Themes, 6) {
		cluster := schedulertest.Generate(*seed + 2000 + uint64(n*3))
		t.Run(cluster.Name, func(t *testing.T) {
			setGates(t, cluster.Gates)
			ops, _ := runFollowed(t, cluster)
			fresh, used := newReplica(t, cluster, ops), newReplica(t, cluster, ops)
			random := rand.New(rand.NewPCG(*seed, uint64(n)))
			pods := podsOf(t, fresh)
			for range 40 {
				askRandomly(t, used, random, pods)
			}
			if diff := cmp.Diff(everything(t, fresh, pods), everything(t, used, pods)); diff != "" {
				t.Errorf("an engine that was asked (+) differs from a fresh one (-):\n%s", diff)
			}
		})
	}
}

func newReplica(t *testing.T, cluster *schedulertest.Cluster, ops []feed.Operation) *whatif.Replica {
	c, err := config.Parse([]byte(cluster.Configuration))
	if err != nil {
		t.Fatal(err)
	}
	replica, err := whatif.NewReplica(t.Context(), c.Internal, whatif.Options{
		OutOfTree: schedulertest.NewObserver(&schedulertest.Transcript{}).OutOfTree(),
		Clock:     func() time.Time { return time.Unix(0, 0) },
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = replica.Close() })
	if err := replica.Apply(ops...); err != nil {
		t.Fatal(err)
	}
	return replica
}

// podsOf returns the pods by name.
func podsOf(t *testing.T, r *whatif.Replica) []*v1.Pod {
	var pods []*v1.Pod
	try(t, r, func(_ context.Context, trial *whatif.Trial) error {
		pods = trial.Pods()
		return nil
	})
	slices.SortFunc(pods, func(a, b *v1.Pod) int { return strings.Compare(a.Name, b.Name) })
	return pods
}

func try(t *testing.T, r *whatif.Replica, do func(context.Context, *whatif.Trial) error) {
	t.Helper()
	if err := r.Try(t.Context(), do); err != nil {
		t.Fatal(err)
	}
}

// askRandomly changes the state, decides about some pods and places them, and returns to some
// points in between.
func askRandomly(t *testing.T, r *whatif.Replica, random *rand.Rand, pods []*v1.Pod) {
	err := r.Try(t.Context(), func(ctx context.Context, trial *whatif.Trial) error {
		mark := trial.Mark()
		for range 1 + random.IntN(4) {
			if random.IntN(3) == 0 {
				mark = trial.Mark()
			}
			if random.IntN(4) == 0 {
				trial.Rollback(mark)
			}
			about := pods[random.IntN(len(pods))]
			if err := trial.Apply(randomChanges(random, &types.NamespacedName{Namespace: about.Namespace, Name: about.Name})...); err != nil && !expectedError(err) {
				return err
			}
			if err := placeRandomly(ctx, trial, random, pods[random.IntN(len(pods))]); err != nil && !expectedError(err) {
				return err
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

// placeRandomly decides about a pod, or about a new one that is like it, and places it.
func placeRandomly(ctx context.Context, trial *whatif.Trial, random *rand.Rand, like *v1.Pod) error {
	pod, err := trial.Pod(like.Namespace, like.Name)
	if random.IntN(2) == 0 {
		like = like.DeepCopy()
		like.Name = ""
		pod, err = trial.New(like)
	}
	if err != nil {
		return err
	}
	node := ""
	if random.IntN(2) == 0 {
		node, err = trial.Choose(ctx, pod, "")
	} else if cycle, decided := trial.Decide(ctx, pod, ""); decided == nil {
		node = cycle.SelectedNode
	} else {
		err = decided
	}
	if err != nil || node == "" {
		return err
	}
	return trial.Place(ctx, pod, "", node)
}

// everything returns what a replica has and decides.
func everything(t *testing.T, r *whatif.Replica, pods []*v1.Pod) map[string]any {
	out := map[string]any{}
	try(t, r, func(ctx context.Context, trial *whatif.Trial) error {
		for _, node := range trial.Nodes() {
			out["node "+node.Node().Name] = nodeState(node)
		}
		for _, kind := range []string{"/v1/Pod", "/v1/Node", "/v1/PersistentVolume", "/v1/PersistentVolumeClaim", "resource.k8s.io/v1/ResourceClaim"} {
			gvk := schema.FromAPIVersionAndKind(strings.TrimPrefix(kind[:strings.LastIndex(kind, "/")], "/"), kind[strings.LastIndex(kind, "/")+1:])
			objects, err := trial.List(gvk)
			if err != nil {
				return err
			}
			for _, o := range objects {
				accessor := o.(metav1.Object)
				out[kind+" "+accessor.GetName()] = o
			}
		}
		return nil
	})
	for _, pod := range pods {
		try(t, r, func(ctx context.Context, trial *whatif.Trial) error {
			asked, err := trial.Pod(pod.Namespace, pod.Name)
			if err != nil {
				return err
			}
			cycle, err := trial.Decide(ctx, asked, "")
			if missing := new(whatif.ProfileError); errors.As(err, &missing) {
				return nil
			} else if err != nil {
				return err
			}
			lines := strings.Split(inShort(cycle), "\n")
			slices.Sort(lines) // a node that was deleted and restored is the last one of its zone
			out["decision "+pod.Name] = lines
			return nil
		})
	}
	return out
}

// nodeState returns what plugins read of a node, without orders that have no meaning.
func nodeState(node fwk.NodeInfo) []string {
	var out []string
	for _, pod := range node.GetPods() {
		out = append(out, "pod "+pod.GetPod().Name)
	}
	for image := range node.GetImageStates() {
		out = append(out, "image "+image)
	}
	slices.Sort(out)
	return append(out, fmt.Sprintf("%+v %+v %+v %+v %d %d", node.GetRequested(), node.GetNonZeroRequested(), node.GetAllocatable(), node.GetPVCRefCounts(),
		len(node.GetPodsWithAffinity()), len(node.GetPodsWithRequiredAntiAffinity())))
}
