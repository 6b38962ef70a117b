package shadow

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	fwk "k8s.io/kube-scheduler/framework"

	"kube-scheduler-simulator/scheduler/config"
	"kube-scheduler-simulator/scheduler/feed"
	"kube-scheduler-simulator/scheduler/result"
	"kube-scheduler-simulator/scheduler/whatif"
)

const (
	header = "apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\n"
	// packing prefers nodes that are full already.
	packing = header + `profiles:
- plugins: {multiPoint: {disabled: [{name: NodeResourcesBalancedAllocation}]}}
  pluginConfig: [{name: NodeResourcesFit, args: {scoringStrategy: {type: MostAllocated}}}]
`
)

func parse(t *testing.T, document string) *config.Configuration {
	t.Helper()
	c, err := config.Parse([]byte(document))
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// live plays a scheduler of the default configuration that is followed by a judge.
type live struct {
	t       *testing.T
	log     *feed.Log
	judge   *Judge
	replica *whatif.Replica
	objects []feed.Operation
	now     time.Time

	mu   sync.Mutex
	subs []func(*result.Cycle)
}

// newLive has the nodes a, b and c with eight CPUs each. On b runs a pod of one CPU.
func newLive(t *testing.T) *live {
	t.Helper()
	l := &live{t: t, log: feed.NewLog(nil), now: time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)}
	for _, name := range []string{"a", "b", "c"} {
		has := v1.ResourceList{v1.ResourceCPU: resource.MustParse("8"), v1.ResourceMemory: resource.MustParse("32Gi"), v1.ResourcePods: resource.MustParse("20")}
		l.objects = append(l.objects, feed.Operation{Set: &v1.Node{ObjectMeta: metav1.ObjectMeta{Name: name, UID: types.UID(name), ResourceVersion: "1"}, Status: v1.NodeStatus{Capacity: has, Allocatable: has}}})
	}
	l.objects = append(l.objects, feed.Operation{Set: l.pod("first", "1", "b")})
	var err error
	if l.replica, err = whatif.NewReplica(t.Context(), parse(t, header).Internal, whatif.Options{Clock: l.clock}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.replica.Close() })
	if err := l.replica.Apply(l.objects...); err != nil {
		t.Fatal(err)
	}
	l.restart()
	l.judge = New(Options{
		Follow:    func(context.Context) (*feed.Follower, error) { return l.log.Follow(true), nil },
		Subscribe: l.subscribe, Engine: whatif.Options{Clock: l.clock}, Clock: l.clock,
	})
	t.Cleanup(l.judge.Clear)
	return l
}

func (l *live) clock() time.Time {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.now
}

// tick lets a millisecond pass.
func (l *live) tick() time.Time {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.now = l.now.Add(time.Millisecond)
	return l.now
}

func (l *live) subscribe(fn func(*result.Cycle)) func() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.subs = append(l.subs, fn)
	return func() {
		l.mu.Lock()
		defer l.mu.Unlock()
		l.subs = nil
	}
}

func (l *live) publish(c *result.Cycle) {
	l.mu.Lock()
	subs := slices.Clone(l.subs)
	l.mu.Unlock()
	for _, fn := range subs {
		fn(c)
	}
}

// restart makes the log begin anew.
func (l *live) restart() {
	all := slices.Clone(l.objects)
	l.log.Restart(func(add func(feed.Operation)) {
		for _, op := range all {
			add(op)
		}
	})
}

func (l *live) pod(name, cpu, node string) *v1.Pod {
	return &v1.Pod{
		ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: "default", UID: types.UID("uid-" + name), ResourceVersion: "1"},
		Spec: v1.PodSpec{SchedulerName: v1.DefaultSchedulerName, NodeName: node, Containers: []v1.Container{{
			Name: "c", Image: "i", Resources: v1.ResourceRequirements{Requests: v1.ResourceList{v1.ResourceCPU: resource.MustParse(cpu)}},
		}}},
	}
}

// decide makes a decision about a new pod, marks it, places the pod, and returns the cycle.
func (l *live) decide(name, cpu string) *result.Cycle {
	l.t.Helper()
	return l.decideAmong(nil, name, cpu)
}

// decideAmong is decide with a search that ends before it has seen all nodes.
func (l *live) decideAmong(seen func(node string) bool, name, cpu string) *result.Cycle {
	l.t.Helper()
	pending := feed.Operation{Set: l.pod(name, cpu, "")}
	mark := feed.Operation{Mark: l.pod(name, cpu, ""), At: l.tick()}
	l.tick()
	var c *result.Cycle
	err := l.replica.Apply(pending)
	if err == nil {
		err = l.replica.Try(l.t.Context(), func(ctx context.Context, t *whatif.Trial) (err error) {
			t.Among(seen)
			c, err = t.Decide(ctx, l.pod(name, cpu, ""), "")
			return err
		})
	}
	if err != nil {
		l.t.Fatal(err)
	}
	c.Hypothetical, c.Pod.UID = false, types.UID("uid-"+name)
	bound := feed.Operation{Set: l.pod(name, cpu, c.SelectedNode)}
	if err := l.replica.Apply(bound); err != nil {
		l.t.Fatal(err)
	}
	l.objects = append(l.objects, bound)
	l.log.Do(func(add func(feed.Operation)) {
		add(pending)
		add(mark)
		add(bound)
	})
	return c
}

// await waits until the judge has judged so many decisions, or left them out.
func (l *live) await(n int) State {
	l.t.Helper()
	deadline := time.After(10 * time.Second)
	for {
		s := l.judge.State()
		if s.Judged+s.Skipped >= n {
			return s
		}
		select {
		case <-deadline:
			l.t.Fatalf("it has judged %d and skipped %d of %d: %s", s.Judged, s.Skipped, n, s.Problem)
		case <-time.After(time.Millisecond):
		}
	}
}

func (l *live) set(document string) {
	l.t.Helper()
	if err := l.judge.Set(l.t.Context(), parse(l.t, document)); err != nil {
		l.t.Fatal(err)
	}
}

// lines has a line for each item, the newest first.
func lines(s State) []string {
	var out []string
	for _, i := range s.Items {
		line := fmt.Sprintf("%s %s %q %q", i.Pod.Name, i.Verdict, i.Live.Node, i.Shadow.Node)
		if i.PartedBy != nil {
			line += " " + i.PartedBy.Plugin
		}
		out = append(out, line)
	}
	return out
}

// TestJudge: each decision is judged on the state on which the scheduler made it, although later
// ones follow at once.
func TestJudge(t *testing.T) {
	l := newLive(t)
	l.set(packing)
	var cycles []*result.Cycle
	for i := range 4 {
		cycles = append(cycles, l.decide(fmt.Sprintf("pod-%d", i), "2"))
	}
	for _, c := range cycles {
		l.publish(c)
	}
	s := l.await(4)
	// The live scheduler spreads: it fills a, c, then b beside first, then a again. The shadow
	// prefers the fullest node each time: b, a, a, b.
	want := []string{
		`pod-3 elsewhere "a" "b" NodeResourcesFit`,
		`pod-2 elsewhere "b" "a" NodeResourcesFit`,
		`pod-1 elsewhere "c" "a" NodeResourcesFit`,
		`pod-0 elsewhere "a" "b" NodeResourcesFit`,
	}
	if diff := cmp.Diff(want, lines(s)); diff != "" {
		t.Error(diff)
	}
	if s.Judged != 4 || s.Differ != 4 || s.Skipped != 0 || s.Problem != "" {
		t.Errorf("judged %d, %d differ, %d skipped, %q", s.Judged, s.Differ, s.Skipped, s.Problem)
	}
}

// TestNoConfigurationDiffersFromItself: also where the live search ends early.
func TestNoConfigurationDiffersFromItself(t *testing.T) {
	l := newLive(t)
	l.set(header)
	var cycles []*result.Cycle
	for i := range 12 {
		var seen func(string) bool
		if i%2 == 1 {
			seen = func(node string) bool { return node != "c" }
		}
		cycles = append(cycles, l.decideAmong(seen, fmt.Sprintf("pod-%d", i), "1700m"))
	}
	for _, c := range cycles {
		l.publish(c)
	}
	if s := l.await(12); s.Differ != 0 || s.Judged != 12 {
		t.Errorf("judged %d, %d differ: %v", s.Judged, s.Differ, lines(s))
	}
}

// TestDecisionsThatAreNotJudged: failures and pod groups do not count, and an attempt that is
// published again counts once.
func TestDecisionsThatAreNotJudged(t *testing.T) {
	l := newLive(t)
	l.set(packing)
	failed, again, last := l.decide("failed", "1"), l.decide("again", "1"), l.decide("last", "1")
	failed.Outcome = result.Error
	published := *again
	published.Updates = 1
	group := *last
	group.PodGroup = &result.PodGroup{}
	for _, c := range []*result.Cycle{failed, again, &published, &group, last} {
		l.publish(c)
	}
	if s := l.await(2); s.Judged != 2 || s.Skipped != 0 {
		t.Errorf("judged %d, skipped %d: %v", s.Judged, s.Skipped, lines(s))
	}
}

// TestEveryDecisionAfterSetIsJudged: when Set returns, the judge has the state, and marks are
// written for it.
func TestEveryDecisionAfterSetIsJudged(t *testing.T) {
	l := newLive(t)
	for range 20 {
		l.set(packing)
		if _, marks := l.log.Followers(); marks != 1 {
			t.Fatalf("%d follow the decisions after Set", marks)
		}
	}
	l.publish(l.decide("first", "1"))
	if s := l.await(1); s.Skipped != 0 {
		t.Errorf("it has left out %d", s.Skipped)
	}
}

// TestWaiting: a decision waits from when the scheduler publishes it until it is judged, left out
// or forgotten.
func TestWaiting(t *testing.T) {
	for name, reset := range map[string]bool{"judged": false, "forgotten": true} {
		t.Run(name, func(t *testing.T) {
			l := newLive(t)
			begun, judging := make(chan struct{}, 3), make(chan struct{})
			l.judge.options.Engine.BreakTie = func(_ fwk.CycleState, _ *v1.Pod, tied []string) string {
				begun <- struct{}{}
				select {
				case <-judging:
				case <-t.Context().Done():
				}
				return tied[0]
			}
			l.set(header)
			waiting := func(what string, want int) {
				t.Helper()
				if s := l.judge.State(); s.Waiting != want {
					t.Errorf("%s: %d wait, not %d", what, s.Waiting, want)
				}
			}
			one := l.decide("one", "1") // a and c are tied
			waiting("before it is published", 0)
			l.publish(one)
			<-begun
			waiting("while it is judged", 1)
			judged := 1
			if reset {
				judged = 0
				l.judge.Forget()
				waiting("after a reset", 0)
			}
			close(judging)
			l.await(judged)
			waiting("when it is judged", 0)
			failed, next := l.decide("failed", "1"), l.decide("next", "1")
			failed.Outcome = result.Error
			l.publish(failed)
			l.publish(next)
			l.await(judged + 1)
			waiting("at the end", 0)
		})
	}
}

// TestSetDoesNotWaitForAScheduler: while none runs, the shadow is set, and it judges when there is
// one.
func TestSetDoesNotWaitForAScheduler(t *testing.T) {
	l := newLive(t)
	l.log.Restart(nil)
	ctx, cancel := context.WithCancel(t.Context())
	cancel() // in place of the seconds that Set waits
	if err := l.judge.Set(ctx, parse(t, packing)); err != nil {
		t.Fatal(err)
	}
	lost := l.decide("lost", "1")
	l.restart()
	l.publish(lost)
	l.await(1)
	l.publish(l.decide("next", "1"))
	if s := l.await(2); s.Judged+s.Skipped != 2 {
		t.Errorf("judged %d, skipped %d", s.Judged, s.Skipped)
	}
}

// TestDecisionsThatTheShadowCannotMake count as left out, and the judge goes on.
func TestDecisionsThatTheShadowCannotMake(t *testing.T) {
	l := newLive(t)
	broken := true
	l.judge.options.Engine.BreakTie = func(_ fwk.CycleState, _ *v1.Pod, tied []string) string {
		if broken {
			broken = false
			panic("no way to choose")
		}
		return tied[0]
	}
	l.set(header)
	l.publish(l.decide("one", "1"))
	if s := l.await(1); s.Skipped != 1 {
		t.Errorf("judged %d, skipped %d", s.Judged, s.Skipped)
	}
}

// TestLostMarks: decisions whose marks were lost are left out, and the next ones are judged on the
// new state.
func TestLostMarks(t *testing.T) {
	l := newLive(t)
	l.set(packing)
	lost := l.decide("lost", "2")
	l.restart()
	l.publish(lost)
	l.await(1)
	l.publish(l.decide("next", "2"))
	s := l.await(2)
	if diff := cmp.Diff([]string{`next elsewhere "c" "a" NodeResourcesFit`}, lines(s)); diff != "" || s.Skipped != 1 {
		t.Errorf("skipped %d: %s", s.Skipped, diff)
	}
}

// TestSetClearForget: a new shadow begins anew, and so does one after a reset.
func TestSetClearForget(t *testing.T) {
	l := newLive(t)
	if s := l.judge.State(); s.Configuration != nil || s.Items == nil {
		t.Errorf("at first: %+v", s)
	}
	l.set(packing)
	l.publish(l.decide("one", "1"))
	l.await(1)
	l.judge.Forget()
	if s := l.judge.State(); s.Judged != 0 || len(s.Items) != 0 || s.Configuration == nil {
		t.Errorf("after a reset: %+v", s)
	}
	l.publish(l.decide("two", "1"))
	l.await(1)
	l.set(header)
	if s := l.judge.State(); s.Judged != 0 {
		t.Errorf("a new shadow has judged %d", s.Judged)
	}
	err := l.judge.Set(t.Context(), parse(t, header+"profiles: [{plugins: {score: {enabled: [{name: Mine}]}}}]"))
	if _, ok := err.(*config.Error); !ok {
		t.Errorf("a configuration that cannot be built: %v", err)
	}
	l.publish(l.decide("three", "1"))
	l.await(1)
	l.judge.Clear()
	if s := l.judge.State(); s.Configuration != nil || s.Judged != 0 {
		t.Errorf("at the end: %+v", s)
	}
	if _, marks := l.log.Followers(); marks != 0 {
		t.Error("it still follows")
	}
}

// TestProfilesThatTheShadowLacks: such a pod would never be scheduled.
func TestProfilesThatTheShadowLacks(t *testing.T) {
	l := newLive(t)
	l.set(header + "profiles: [{schedulerName: other}]")
	l.publish(l.decide("one", "1"))
	if s := l.await(1); len(s.Items) != 1 || s.Items[0].Verdict != Pending || s.Items[0].Message == "" {
		t.Errorf("the items are %+v", s.Items)
	}
}
