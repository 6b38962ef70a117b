package scheduler_test

import (
	"context"
	"flag"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-logr/logr"
	"github.com/google/go-cmp/cmp"
	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/client-go/kubernetes"
	"k8s.io/klog/v2"
	kubescheduler "k8s.io/kubernetes/pkg/scheduler"
	st "k8s.io/kubernetes/pkg/scheduler/testing"

	"kube-scheduler-simulator/scheduler"
	"kube-scheduler-simulator/scheduler/config"
	"kube-scheduler-simulator/scheduler/result"
	"kube-scheduler-simulator/scheduler/schedulertest"
	"kube-scheduler-simulator/scheduler/simulation"
)

var scenarios = flag.Int("scenarios", 500, "how many random scenarios run on both engines")

// scenario is what happens to a cluster. Each step takes place stepTime after the one before.
type scenario struct {
	nodes []*v1.Node
	steps []scenarioStep
}

type scenarioStep struct {
	// One of these is set.
	pod    *v1.Pod
	node   *v1.Node
	delete string
}

// stepTime is longer than a backoff and a termination.
const stepTime = 12 * time.Second

func newScenario(seed uint64) scenario {
	r := rand.New(rand.NewPCG(seed, 18))
	var out scenario
	for i := range 3 + r.IntN(8) {
		out.nodes = append(out.nodes, scenarioNode(r, i))
	}
	// Some clusters are so large that the search stops early.
	if seed%20 == 7 {
		for i := len(out.nodes); i < 130; i++ {
			out.nodes = append(out.nodes, scenarioNode(r, i))
		}
	}
	var pods []string
	for i := range 25 + r.IntN(15) {
		switch {
		case len(pods) > 3 && r.IntN(7) == 0:
			at := r.IntN(len(pods))
			out.steps = append(out.steps, scenarioStep{delete: pods[at]})
			pods = slices.Delete(pods, at, at+1)
		case r.IntN(15) == 0:
			out.steps = append(out.steps, scenarioStep{node: scenarioNode(r, 1000+i)})
		default:
			pod := scenarioPod(r, i)
			pods = append(pods, pod.Name)
			out.steps = append(out.steps, scenarioStep{pod: pod})
		}
	}
	return out
}

func scenarioNode(r *rand.Rand, i int) *v1.Node {
	name := fmt.Sprintf("n%04d", i)
	node := st.MakeNode().Name(name).Label(v1.LabelHostname, name).Label(v1.LabelTopologyZone, fmt.Sprint("z", r.IntN(3))).Label("disk", []string{"ssd", "hdd"}[r.IntN(2)]).
		Capacity(map[v1.ResourceName]string{v1.ResourceCPU: fmt.Sprint(2 + r.IntN(4)), v1.ResourceMemory: "8Gi", v1.ResourcePods: "10"})
	if r.IntN(6) == 0 {
		node.Taints([]v1.Taint{{Key: "special", Effect: []v1.TaintEffect{v1.TaintEffectNoSchedule, v1.TaintEffectPreferNoSchedule}[r.IntN(2)]}})
	}
	return node.Obj()
}

func scenarioPod(r *rand.Rand, i int) *v1.Pod {
	app := fmt.Sprint("a", r.IntN(3))
	pod := st.MakePod().Namespace("default").Name(fmt.Sprintf("p%d", i)).UID(fmt.Sprintf("u%d", i)).Label("app", app).SchedulerName(v1.DefaultSchedulerName).
		Priority(int32(r.IntN(3))).Req(map[v1.ResourceName]string{v1.ResourceCPU: fmt.Sprintf("%dm", 200+100*r.IntN(18)), v1.ResourceMemory: "256Mi"})
	selector := &metav1.LabelSelector{MatchLabels: map[string]string{"app": app}}
	switch r.IntN(10) {
	case 0:
		pod.SpreadConstraint(1, v1.LabelTopologyZone, v1.DoNotSchedule, selector, nil, nil, nil, nil)
	case 1:
		pod.SpreadConstraint(1, v1.LabelHostname, v1.ScheduleAnyway, selector, nil, nil, nil, nil)
	case 2:
		pod.PodAntiAffinity("app", &metav1.LabelSelector{MatchLabels: map[string]string{"app": app}}, st.PodAntiAffinityWithRequiredReq)
	case 3:
		pod.NodeAffinityIn("disk", []string{"ssd"}, st.NodeSelectorTypeMatchExpressions)
	case 4:
		pod.Toleration("special")
	case 5:
		pod.Spec.Containers[0].Ports = []v1.ContainerPort{{ContainerPort: 80, HostPort: int32(8000 + r.IntN(3)), Protocol: v1.ProtocolTCP}}
	}
	return pod.Obj()
}

// outcome is where the pods are after each step, and the decisions of each step.
type outcome struct {
	places []map[string]string
	cycles [][]*result.Cycle
}

// TestMemoryDecidesAlike runs random scenarios through the scheduler on an API server, and in
// memory. Each pod must have the same node after each step, unless Kubernetes leaves a choice to
// chance: then the comparison of the scenario ends.
func TestMemoryDecidesAlike(t *testing.T) {
	chances, unexplained, compared, preemptions := 0, 0, 0, 0
	rounds := fewer(*scenarios, 4)
	for seed := range uint64(rounds) {
		s := newScenario(seed)
		server, memory := onServer(t, s, int64(seed)), inMemory(t, s, int64(seed))
		for i := range s.steps {
			for _, c := range server.cycles[i] {
				if c.NominatedNode != "" {
					preemptions++
				}
			}
			if diff := cmp.Diff(server.places[i], memory.places[i]); diff != "" {
				if !chance(server.cycles[:i+1]) && !twins(s, server, i) {
					unexplained++
					t.Logf("scenario %d, step %d: the memory (+) differs from the server (-):\n%s", seed, i, diff)
				}
				chances++
				break
			}
			compared++
		}
	}
	t.Logf("%d steps compared, %d cycles preempted, %d scenarios ended by chance", compared, preemptions, chances)
	if unexplained > 0 {
		t.Errorf("%d of %d scenarios differ without a tie that explains it", unexplained, rounds)
	}
	if rounds >= 100 && (preemptions < rounds/4 || chances > rounds/4) {
		t.Errorf("%d cycles preempted and %d scenarios ended by chance: the test proves less than it says", preemptions, chances)
	}
}

// chance reports whether the latest step has a choice that Kubernetes leaves to chance: a
// preemption in which several candidates are equal by its criteria, or two pods that have ever
// entered the queue at the same instant. In a bubble, the clock stands still while the scheduler
// works. The order of such pods decides the order of their next attempts, too.
func chance(steps [][]*result.Cycle) bool {
	latest := steps[len(steps)-1]
	tried := sets.New[string]()
	for _, c := range latest {
		if c.Preemption != nil && result.DecidingRule(c.Preemption.Candidates, c.NominatedNode) == result.FirstFound {
			return true
		}
		tried.Insert(c.Pod.Name)
	}
	entered := map[time.Time]string{}
	return slices.ContainsFunc(slices.Concat(steps...), func(c *result.Cycle) bool {
		if !tried.Has(c.Pod.Name) {
			return false
		}
		other, taken := entered[c.Queue.AddedTime]
		entered[c.Queue.AddedTime] = c.Pod.Name
		return taken && other != c.Pod.Name
	})
}

// twins reports whether a step has a preemption with a choice among pods of one node that have the
// same priority and have started in the same second. Which of them is a victim depends on the order
// in which the scheduler has seen their updates.
func twins(s scenario, on outcome, step int) bool {
	priority := map[string]int32{}
	for _, step := range s.steps {
		if step.pod != nil {
			priority[step.pod.Name] = *step.pod.Spec.Priority
		}
	}
	type twin struct {
		node     string
		priority int32
		started  int
	}
	seen := map[twin]bool{}
	crowded := map[string]bool{}
	for pod, node := range on.places[max(step-1, 0)] {
		started := slices.IndexFunc(on.places, func(at map[string]string) bool { return at[pod] != "" })
		key := twin{node, priority[pod], started}
		crowded[node] = crowded[node] || node != "" && seen[key]
		seen[key] = true
	}
	return slices.ContainsFunc(on.cycles[step], func(c *result.Cycle) bool {
		return c.Preemption != nil && slices.ContainsFunc(c.Preemption.Candidates, func(candidate result.Candidate) bool { return crowded[candidate.Node] })
	})
}

// onServer runs a scenario against an API server.
func onServer(t *testing.T, s scenario, seed int64) (out outcome) {
	configuration, err := config.Default()
	if err != nil {
		t.Fatal(err)
	}
	synctest.Test(t, func(t *testing.T) {
		ctx := klog.NewContext(t.Context(), logr.Discard())
		server, cycles, begin := schedulertest.NewAPIServer(), &sink{}, time.Now()
		server.DelayTermination(time.Second)
		client, err := kubernetes.NewForConfig(server.Config("user"))
		if err != nil {
			t.Fatal(err)
		}
		for _, node := range s.nodes {
			if _, err := client.CoreV1().Nodes().Create(ctx, node, metav1.CreateOptions{}); err != nil {
				t.Fatal(err)
			}
		}
		run := scheduler.New(scheduler.Options{Client: server.Config("scheduler"), Configuration: configuration.Internal, Sink: cycles, TieSeed: &seed})
		if err := run.StartObserved(ctx, schedulertest.NewObserver(&schedulertest.Transcript{}).Events(), func(*kubescheduler.Scheduler) {}); err != nil {
			t.Fatal(err)
		}
		seen := 0
		for i, step := range s.steps {
			time.Sleep(time.Until(begin.Add(time.Duration(i+1) * stepTime)))
			if err := step.on(ctx, client); err != nil {
				t.Fatal(err)
			}
			at := metav1.Now()
			for range 4 {
				time.Sleep(stepTime / 5)
				startPods(t, ctx, client, at)
			}
			out.places = append(out.places, places(listPods(t, ctx, client)))
			out.cycles = append(out.cycles, cycles.since(&seen))
		}
		if err := run.Stop(ctx); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Minute) // upstream does not wait for some goroutines; they end on their own
	})
	return out
}

func (s *sink) since(seen *int) []*result.Cycle {
	s.mu.Lock()
	defer s.mu.Unlock()
	latest := slices.Clone(s.history[*seen:])
	*seen = len(s.history)
	return latest
}

func (step scenarioStep) on(ctx context.Context, client kubernetes.Interface) (err error) {
	switch {
	case step.pod != nil:
		_, err = client.CoreV1().Pods("default").Create(ctx, step.pod, metav1.CreateOptions{})
	case step.node != nil:
		_, err = client.CoreV1().Nodes().Create(ctx, step.node, metav1.CreateOptions{})
	default:
		// A victim of preemption is gone already.
		_ = client.CoreV1().Pods("default").Delete(ctx, step.delete, metav1.DeleteOptions{})
	}
	return err
}

func listPods(t *testing.T, ctx context.Context, client kubernetes.Interface) []*v1.Pod {
	list, err := client.CoreV1().Pods("default").List(ctx, metav1.ListOptions{})
	if err != nil {
		t.Fatal(err)
	}
	var out []*v1.Pod
	for i := range list.Items {
		out = append(out, &list.Items[i])
	}
	return out
}

// startPods does the work of kubelets.
func startPods(t *testing.T, ctx context.Context, client kubernetes.Interface, at metav1.Time) {
	for _, pod := range listPods(t, ctx, client) {
		if pod.Spec.NodeName == "" || pod.Status.StartTime != nil || pod.DeletionTimestamp != nil {
			continue
		}
		pod.Status.Phase, pod.Status.StartTime = v1.PodRunning, &at
		if _, err := client.CoreV1().Pods("default").UpdateStatus(ctx, pod, metav1.UpdateOptions{}); err != nil {
			t.Fatal(err)
		}
	}
}

// places returns the nodes of the pods by name.
func places(pods []*v1.Pod) map[string]string {
	out := map[string]string{}
	for _, pod := range pods {
		out[pod.Name] = pod.Spec.NodeName
	}
	return out
}

// inMemory runs a scenario in memory.
func inMemory(t *testing.T, s scenario, seed int64) (out outcome) {
	configuration, err := config.Default()
	if err != nil {
		t.Fatal(err)
	}
	sim, err := simulation.New(t.Context(), simulation.Options{Configuration: configuration.Internal, Seed: seed, Keep: simulation.Keep(seed % 3)})
	if err != nil {
		t.Fatal(err)
	}
	for _, node := range s.nodes {
		if err := sim.Create(t.Context(), node); err != nil {
			t.Fatal(err)
		}
	}
	for _, step := range s.steps {
		switch {
		case step.pod != nil:
			err = sim.Create(t.Context(), step.pod)
		case step.node != nil:
			err = sim.Create(t.Context(), step.node)
		default:
			_ = sim.Delete(t.Context(), v1.SchemeGroupVersion.WithKind("Pod"), "default", step.delete)
		}
		if err != nil {
			t.Fatal(err)
		}
		if err := sim.Advance(t.Context(), stepTime); err != nil {
			t.Fatal(err)
		}
		out.places = append(out.places, places(sim.State().Pods))
	}
	if err := sim.Close(); err != nil {
		t.Fatal(err)
	}
	return out
}
