package scheduler_test

import (
	"context"
	"flag"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-logr/logr"
	"github.com/google/go-cmp/cmp"
	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/events"
	"k8s.io/klog/v2"
	fwk "k8s.io/kube-scheduler/framework"
	kubescheduler "k8s.io/kubernetes/pkg/scheduler"
	internalcache "k8s.io/kubernetes/pkg/scheduler/backend/cache"
	"k8s.io/kubernetes/pkg/scheduler/framework"
	frameworkruntime "k8s.io/kubernetes/pkg/scheduler/framework/runtime"
	st "k8s.io/kubernetes/pkg/scheduler/testing"

	"kube-scheduler-simulator/scheduler"
	"kube-scheduler-simulator/scheduler/config"
	"kube-scheduler-simulator/scheduler/result"
	"kube-scheduler-simulator/scheduler/schedulertest"
)

var extendedCases = flag.Int("extended", 24, "how many random clusters with extenders the differential test runs")

// TestRecordingExtendersChangesNothing schedules the same pods with the bare and
// with the recorded scheduler and the same extenders, over real HTTP, with every
// verb, setting and kind of failure. The extenders must get the same requests, and
// the scheduler must reach the same totals, choices, messages and events. The
// recorded cycles must agree with what the test saw.
func TestRecordingExtendersChangesNothing(t *testing.T) {
	// Each pod is tried once: the order of retries depends on time.
	setGates(t, map[string]bool{"SchedulerPopFromBackoffQ": false})
	var mu sync.Mutex
	var everything strings.Builder
	t.Run("cases", func(t *testing.T) {
		for n := range fewer(*extendedCases, 4) {
			c := extendedCase(uint64(n))
			t.Run(c.name, func(t *testing.T) {
				t.Parallel()
				said := c.compare(t)
				mu.Lock()
				defer mu.Unlock()
				everything.WriteString(said)
			})
		}
	})
	if testing.Short() {
		return
	}
	for _, want := range []string{
		"filter Success", "filter Error ignored true", "filter Error ignored false",
		"prioritize Success", "prioritize Error ignored true",
		"preempt Success", "preempt Error ignored",
		"bind Success", "bind Error ignored true", "bind Error ignored false",
		" Skip ", "not for p", "never for p", "context deadline exceeded", "the extender is tired", "code 503", "EOF", "invalid character",
		"whole true", "whole false", "Nominated:n",
	} {
		if !strings.Contains(everything.String(), want) {
			t.Errorf("no case had %q", want)
		}
	}
}

// compare runs the case with both schedulers and returns the attempts that the test saw.
func (c *extended) compare(t *testing.T) string {
	extenders := schedulertest.NewExtenders(c.failures)
	defer extenders.Close()
	bare := c.run(t, extenders, nil)
	cycles := &sink{}
	recorded := c.run(t, extenders, cycles)
	if diff := cmp.Diff(bare, recorded); diff != "" {
		t.Fatalf("the recorded scheduler (+) differs from the bare one (-) with\n%s\n%s", c.configuration(extenders), diff)
	}
	var said strings.Builder
	for _, a := range recorded {
		cycle := cycles.of(t, a.Pod)
		checkExtended(t, a, cycle)
		_, _ = fmt.Fprintf(&said, "%+v\n", a)
		for _, call := range cycle.Extenders {
			_, _ = fmt.Fprintf(&said, "%s %s ignored %t: %s %s\n", call.Verb, call.Status, call.Ignored, call.Reasons, call.Response)
		}
	}
	return said.String()
}

// extended is a cluster with extenders.
type extended struct {
	name      string
	extenders []string // YAML, with %s for the URL prefix
	failures  map[string]string
	nodes     []runtime.Object
	pods      []*v1.Pod
}

func extendedCase(seed uint64) *extended {
	r := rand.New(rand.NewPCG(seed, 5))
	c := &extended{failures: map[string]string{}}
	for i := range 1 + r.IntN(3) {
		c.addExtender(r, int(seed), i)
	}
	c.name = fmt.Sprintf("seed %d, %d extenders, failures %v", seed, len(c.extenders), c.failures)
	for i := range 3 + r.IntN(6) {
		c.nodes = append(c.nodes, st.MakeNode().Name(fmt.Sprintf("n%d", i)).Capacity(map[v1.ResourceName]string{
			v1.ResourceCPU: fmt.Sprint(3 + r.IntN(4)), v1.ResourcePods: "20", "example.com/gpu": "2",
		}).Obj())
	}
	for i := range 6 {
		pod := st.MakePod().Name(fmt.Sprintf("p%d", i)).Namespace(schedulertest.Namespace).SchedulerName(v1.DefaultSchedulerName).Priority(int32(i))
		requests := map[v1.ResourceName]string{v1.ResourceCPU: fmt.Sprint(1 + r.IntN(2))}
		if r.IntN(2) == 0 {
			requests["example.com/gpu"] = "1"
		}
		c.pods = append(c.pods, pod.Req(requests).Obj())
	}
	// The last pod has to preempt, if there are pods to preempt.
	last := st.MakePod().Name("p9").Namespace(schedulertest.Namespace).SchedulerName(v1.DefaultSchedulerName).Priority(1000)
	c.pods = append(c.pods, last.Req(map[v1.ResourceName]string{v1.ResourceCPU: "6"}).Obj())
	for i := range c.nodes {
		blocker := st.MakePod().Name(fmt.Sprintf("b%d", i)).UID(fmt.Sprintf("b%d", i)).Namespace(schedulertest.Namespace).Priority(int32(-i)).Node(fmt.Sprintf("n%d", i))
		c.nodes = append(c.nodes, blocker.Req(map[v1.ResourceName]string{v1.ResourceCPU: "1"}).StartTime(metav1.Unix(int64(i), 0)).Obj())
	}
	return c
}

// addExtender adds the i-th extender with random settings. The first has all verbs
// but bind, which only one extender may have.
func (c *extended) addExtender(r *rand.Rand, seed, i int) {
	name := fmt.Sprintf("e%d", i)
	verbs := map[result.ExtenderVerb]bool{}
	for _, verb := range result.ExtenderVerbs {
		verbs[verb] = r.IntN(2) == 0 || i == 0
	}
	verbs[result.ExtenderBind] = i == 0 && r.IntN(2) == 0
	fields := []string{`urlPrefix: "%s"`, fmt.Sprintf("nodeCacheCapable: %t", r.IntN(2) == 0), fmt.Sprintf("ignorable: %t", r.IntN(2) == 0)}
	if seed%4 != 0 {
		verb := result.ExtenderVerbs[(seed+i)%4]
		failure := schedulertest.Failures[r.IntN(len(schedulertest.Failures))]
		verbs[verb] = verb != result.ExtenderBind || i == 0
		c.failures[name+"/"+string(verb)] = failure
		if failure == "slow" {
			fields = append(fields, "httpTimeout: 250ms")
		}
	}
	for verb, configured := range verbs {
		if configured {
			fields = append(fields, fmt.Sprintf("%sVerb: %s", verb, verb))
		}
	}
	fields = append(fields, fmt.Sprintf("weight: %d", 1+r.IntN(5)))
	if i == seed%5 {
		fields = append(fields, fmt.Sprintf("managedResources: [{name: example.com/gpu, ignoredByScheduler: %t}]", r.IntN(2) == 0))
	}
	c.extenders = append(c.extenders, "{"+strings.Join(fields, ", ")+"}")
}

func (c *extended) configuration(extenders *schedulertest.Extenders) string {
	out := strings.Builder{}
	// With one worker, the order of the nodes that extenders receive is fixed.
	out.WriteString(`apiVersion: kubescheduler.config.k8s.io/v1
kind: KubeSchedulerConfiguration
parallelism: 1
podInitialBackoffSeconds: 600
podMaxBackoffSeconds: 600
profiles:
- schedulerName: default-scheduler
  plugins: {multiPoint: {enabled: [{name: Ranker, weight: 1000}]}}
extenders:
`)
	for i, e := range c.extenders {
		_, _ = fmt.Fprintf(&out, "- "+e+"\n", extenders.URL(fmt.Sprintf("e%d", i)))
	}
	return out.String()
}

// run schedules the pods one after the other and returns the first attempt of each.
func (c *extended) run(t *testing.T, extenders *schedulertest.Extenders, cycles *sink) []*attempted {
	t.Helper()
	ctx, cancel := context.WithTimeout(klog.NewContext(t.Context(), logr.Discard()), 20*time.Second)
	defer cancel()
	server := schedulertest.NewAPIServer()
	client, err := kubernetes.NewForConfig(server.Config("user"))
	if err != nil {
		t.Fatal(err)
	}
	extenders.Begin(client)
	if err := schedulertest.Fill(ctx, server, c.nodes); err != nil {
		t.Fatal(err)
	}
	parsed, err := config.Parse([]byte(c.configuration(extenders)))
	if err != nil {
		t.Fatalf("%v\n%s", err, c.configuration(extenders))
	}
	options := scheduler.Options{Client: server.Config("scheduler"), Configuration: parsed.Internal, OutOfTree: frameworkruntime.Registry{
		"Ranker": func(context.Context, runtime.Object, fwk.Handle) (fwk.Plugin, error) { return ranker{}, nil },
	}}
	if cycles != nil {
		options.Sink = cycles
	}
	w := &watcher{attempts: map[string]*attempted{}, ended: make(chan string, 64)}
	s := scheduler.New(options)
	if err := s.StartOutside(ctx, w.events, w.attach); err != nil {
		t.Fatal(err)
	}
	var out []*attempted
	running := len(c.nodes) / 2 // a pod on each
	for _, pod := range c.pods {
		if err := schedulertest.Fill(ctx, server, []runtime.Object{pod}); err != nil {
			t.Fatal(err)
		}
		w.wait(t, ctx, pod.Name)
		a := w.attempt(pod.Name)
		a.Requests = extenders.Requests(pod.Name)
		out = append(out, a)
		running += a.change()
		w.settle(t, ctx, client, running)
	}
	if err := s.Stop(ctx); err != nil {
		t.Fatal(err)
	}
	return out
}

// attempted is the first attempt to schedule a pod, as the test saw it.
type attempted struct {
	Pod                 string
	Selected, Nominated string
	Feasible            int
	Bound               bool
	Message             string
	Unschedulable       []string
	Events              []string
	// Totals are what the scheduler compared in the end, by node.
	Totals   map[string]int64
	Requests []string
}

// watcher observes a scheduler from outside.
type watcher struct {
	mu       sync.Mutex
	attempts map[string]*attempted
	ended    chan string
	cache    internalcache.Cache
	// scores are those of the current cycle. They belong to the scheduling
	// goroutine.
	scores []fwk.NodePluginScores
}

func (w *watcher) attempt(pod string) *attempted {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.attempts[pod] == nil {
		w.attempts[pod] = &attempted{Pod: pod}
	}
	return w.attempts[pod]
}

func (w *watcher) wait(t *testing.T, ctx context.Context, pod string) {
	t.Helper()
	for {
		select {
		case ended := <-w.ended:
			if ended == pod {
				return
			}
		case <-ctx.Done():
			t.Fatalf("%s is not tried", pod)
		}
	}
}

// change returns by how much the attempt changes the number of running pods.
func (a *attempted) change() int {
	victims := 0
	if _, after, found := strings.Cut(a.Message, ", preempting "); found {
		_, _ = fmt.Sscanf(after, "%d victims", &victims)
	}
	if a.Bound {
		return 1
	}
	return -victims
}

// settle waits until running pods run and the scheduler has seen all of them.
func (w *watcher) settle(t *testing.T, ctx context.Context, client kubernetes.Interface, running int) {
	t.Helper()
	err := wait.PollUntilContextCancel(ctx, time.Millisecond, true, func(ctx context.Context) (bool, error) {
		pods, err := client.CoreV1().Pods(schedulertest.Namespace).List(ctx, metav1.ListOptions{})
		if err != nil {
			return false, err
		}
		placed, known := sets.New[string](), sets.New[string]()
		for _, pod := range pods.Items {
			if pod.Spec.NodeName != "" {
				placed.Insert(pod.Name)
			}
		}
		for _, node := range w.cache.Dump().Nodes {
			for _, pod := range node.GetPods() {
				known.Insert(pod.GetPod().Name)
			}
		}
		return len(placed) == running && placed.Equal(known), nil
	})
	if err != nil {
		t.Fatalf("waiting until %d pods run: %v", running, err)
	}
}

func (w *watcher) attach(sched *kubescheduler.Scheduler) {
	w.cache = sched.Cache
	for name, f := range sched.Profiles {
		sched.Profiles[name] = &watched{f, w}
	}
	schedulePod := sched.SchedulePod
	sched.SchedulePod = func(ctx context.Context, f framework.Framework, state fwk.CycleState, info *framework.QueuedPodInfo) (kubescheduler.ScheduleResult, error) {
		w.scores = nil
		res, err := schedulePod(ctx, f, state, info)
		a := w.attempt(info.Pod.Name)
		a.Selected, a.Feasible = res.SuggestedHost, res.FeasibleNodes
		if w.scores != nil {
			// The scheduler has added the extenders' scores and turned the slice
			// into a heap.
			a.Totals = map[string]int64{}
			for _, s := range w.scores {
				a.Totals[s.Name] = s.TotalScore
			}
		}
		return res, err
	}
	fail := sched.FailureHandler
	sched.FailureHandler = func(ctx context.Context, f framework.Framework, info *framework.QueuedPodInfo, status *fwk.Status, nominating *fwk.NominatingInfo, start time.Time) {
		a := w.attempt(info.Pod.Name)
		a.Message = steady(status.Message())
		if fit, ok := status.AsError().(*framework.FitError); ok {
			a.Unschedulable = sets.List(fit.Diagnosis.UnschedulablePlugins)
		}
		if nominating != nil {
			a.Nominated = nominating.NominatedNodeName
		}
		fail(ctx, f, info, status, nominating, start)
		w.ended <- info.Pod.Name
	}
}

// steady removes our end of a connection, and sorts the errors of dry runs, which
// appear in the order in which the dry runs end.
func steady(message string) string {
	if before, after, found := strings.Cut(message, "->"); found {
		message = before[:strings.LastIndex(before, ":")] + after
	}
	if before, after, found := strings.Cut(message, "preemption: ["); found {
		errs := strings.Split(strings.TrimSuffix(after, "]"), ", ")
		slices.Sort(errs)
		message = before + "preemption: " + strings.Join(errs, ", ")
	}
	return message
}

func (w *watcher) events(string) events.EventRecorderLogger { return eventLog{w} }

type eventLog struct{ to *watcher }

func (l eventLog) WithLogger(klog.Logger) events.EventRecorderLogger { return l }

// Eventf leaves out the victims' events: they may come after the preemptor's
// attempt.
func (l eventLog) Eventf(regarding, _ runtime.Object, kind, reason, _, format string, args ...any) {
	pod, ok := regarding.(*v1.Pod)
	if !ok || reason == "Preempted" {
		return
	}
	a := l.to.attempt(pod.Name)
	a.Events = append(a.Events, steady(fmt.Sprintf(kind+" "+reason+": "+format, args...)))
}

// watched is a profile's framework where the scheduler calls it.
type watched struct {
	framework.Framework
	to *watcher
}

// RunScorePlugins keeps the slice to which the scheduler adds the extenders'
// scores.
func (f *watched) RunScorePlugins(ctx context.Context, state fwk.CycleState, pod *v1.Pod, nodes []fwk.NodeInfo) ([]fwk.NodePluginScores, *fwk.Status) {
	scores, status := f.Framework.RunScorePlugins(ctx, state, pod, nodes)
	f.to.scores = scores
	return scores, status
}

// ranker gives every node a different score: the scheduler chooses at random among
// equal ones.
type ranker struct{}

var _ fwk.ScorePlugin = ranker{}

func (ranker) Name() string { return "Ranker" }

func (ranker) Score(_ context.Context, _ fwk.CycleState, pod *v1.Pod, node fwk.NodeInfo) (int64, *fwk.Status) {
	var p, n int64
	_, _ = fmt.Sscanf(pod.Name, "p%d", &p)
	_, _ = fmt.Sscanf(node.Node().Name, "n%d", &n)
	return (11*n + 29*p) % 97, nil
}

func (ranker) ScoreExtensions() fwk.ScoreExtensions { return nil }

func (f *watched) RunPostBindPlugins(ctx context.Context, state fwk.CycleState, pod *v1.Pod, node string) {
	f.Framework.RunPostBindPlugins(ctx, state, pod, node)
	f.to.attempt(pod.Name).Bound = true
	f.to.ended <- pod.Name
}

// of returns the recorded first attempt of a pod.
func (s *sink) of(t *testing.T, pod string) *result.Cycle {
	t.Helper()
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, all := range s.attempts {
		if all[0].Pod.Name == pod {
			return all[0]
		}
	}
	t.Fatalf("%s is not recorded", pod)
	return nil
}

// checkExtended compares the record of an attempt with what the test saw.
func checkExtended(t *testing.T, seen *attempted, c *result.Cycle) {
	t.Helper()
	if steady(c.Message) != seen.Message || c.NominatedNode != seen.Nominated || c.SelectedNode != seen.Selected || c.Nodes.Feasible != seen.Feasible {
		t.Errorf("%s: recorded message %q, nominated %q, selected %q, feasible %d; seen %+v", seen.Pod, c.Message, c.NominatedNode, c.SelectedNode, c.Nodes.Feasible, seen)
	}
	var totals map[string]int64
	if c.Score != nil {
		totals = map[string]int64{}
		best := slices.Max(slices.Collect(maps.Values(seen.Totals)))
		for i, node := range c.Score.Nodes.All() {
			totals[node] = c.Score.Totals.At(i)
			if sum := sumOf(c.Score, i); sum != totals[node] {
				t.Errorf("%s: the parts of %s's total %d add up to %d", seen.Pod, node, totals[node], sum)
			}
		}
		if totals[c.SelectedNode] != best {
			t.Errorf("%s: the selected node has %d, the best %d", seen.Pod, totals[c.SelectedNode], best)
		}
	}
	if diff := cmp.Diff(seen.Totals, totals); diff != "" {
		t.Errorf("%s: the recorded totals (+) are not what the scheduler compared (-):\n%s", seen.Pod, diff)
	}
	var calls []string
	for _, call := range c.Extenders {
		if call.Status == "Skip" {
			continue
		}
		name := call.Plugin[strings.LastIndex(call.Plugin, "/")+1:]
		calls = append(calls, fmt.Sprintf("%s/%s", name, call.Verb))
		if call.Request == "" || (call.Response == "") != (call.Status == "Error") {
			t.Errorf("%s: %s %s with request %q and response %q", seen.Pod, call.Verb, call.Status, call.Request, call.Response)
		}
	}
	var asked []string
	for _, r := range seen.Requests {
		asked = append(asked, r[:strings.Index(r, " ")])
	}
	// The prioritize calls run concurrently.
	slices.Sort(asked)
	slices.Sort(calls)
	if diff := cmp.Diff(asked, calls); diff != "" {
		t.Errorf("%s: the recorded calls (+) are not those that were made (-):\n%s", seen.Pod, diff)
	}
	checkOffered(t, seen, c)
	checkPreempted(t, seen, c)
}

// checkPreempted checks that the candidate that was chosen has as many victims as the
// scheduler says, that no extender removed it, and that they were evicted.
func checkPreempted(t *testing.T, seen *attempted, c *result.Cycle) {
	t.Helper()
	if seen.Nominated == "" || c.Preemption == nil {
		return
	}
	at := slices.IndexFunc(c.Preemption.Candidates, func(of result.Candidate) bool { return of.Node == seen.Nominated })
	if at < 0 || c.Preemption.Candidates[at].RemovedBy != "" || c.Preemption.Candidates[at].Surplus {
		t.Errorf("%s: %s is nominated, the candidates are %+v", seen.Pod, seen.Nominated, c.Preemption.Candidates)
		return
	}
	victims := -seen.change()
	if n := len(c.Preemption.Candidates[at].Victims); n != victims {
		t.Errorf("%s: %d victims are recorded, the scheduler says %d", seen.Pod, n, victims)
	}
	if e := c.Preemption.Evictions; e == nil || e.Deleted != victims || !e.Done {
		t.Errorf("%s: of %d victims, the evictions are %+v", seen.Pod, victims, e)
	}
	checkRule(t, c)
}

func sumOf(s *result.Score, node int) int64 {
	var sum int64
	for p := range s.Plugins {
		sum += s.Weighted[p].At(node)
	}
	for _, e := range s.Extenders {
		sum += e.Counted.At(node)
	}
	return sum
}

// checkOffered checks that the nodes that passed all plugins are those that
// extenders rejected plus the feasible ones.
func checkOffered(t *testing.T, seen *attempted, c *result.Cycle) {
	t.Helper()
	if c.Filter == nil || c.Outcome == result.Error {
		return
	}
	passed, rejected := 0, 0
	for i := range c.Filter.Nodes.Len() {
		if c.Filter.Verdict(i).Plugin == "" {
			passed++
		}
	}
	for _, call := range c.Extenders {
		if call.Rejected != nil {
			rejected += len(call.Rejected.Nodes)
		}
	}
	if passed != rejected+c.Nodes.Feasible {
		t.Errorf("%s: %d nodes passed, %d were refused by extenders, %d are feasible", seen.Pod, passed, rejected, c.Nodes.Feasible)
	}
}
