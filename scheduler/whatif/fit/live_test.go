package fit_test

import (
	"context"
	"flag"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/go-logr/logr"
	"github.com/google/go-cmp/cmp"
	v1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/component-helpers/scheduling/corev1"
	"k8s.io/klog/v2"
	schedulerconfig "k8s.io/kubernetes/pkg/scheduler/apis/config"
	st "k8s.io/kubernetes/pkg/scheduler/testing"

	"kube-scheduler-simulator/scheduler/schedulertest"
	"kube-scheduler-simulator/scheduler/whatif/fit"
	"kube-scheduler-simulator/scheduler/whatif/livetest"
)

var (
	clusters = flag.Int("clusters", 6*schedulertest.Themes, "how many random clusters the test of suggestions runs")
	seed     = flag.Uint64("seed", 1, "the seed of the first random cluster")
)

func TestMain(m *testing.M) {
	schedulertest.Prepare()
	klog.SetLogger(logr.Discard())
	os.Exit(m.Run())
}

// Every suggestion for a pending pod of a random cluster makes the real scheduler place the pod, on one
// of the nodes that the suggestion names.
func TestSuggestionsHoldForReal(t *testing.T) {
	rounds := *clusters
	if testing.Short() {
		rounds = min(rounds, 8)
	}
	pods, suggested, kinds := 0, 0, map[string]int{}
	for n := range rounds {
		generated := schedulertest.Generate(*seed + uint64(n))
		t.Run(generated.Name, func(t *testing.T) {
			livetest.SetGates(t, generated.Gates)
			configuration := livetest.Configuration(t, generated.Configuration)
			for _, q := range pendingPods(t, configuration, generated) {
				pods++
				answer, err := fit.Ask(t.Context(), livetest.Engine(t, configuration, q.state), fit.Question{PodRef: &q.pod})
				if err != nil {
					t.Fatalf("%s: %v", q.pod.Name, err)
				}
				if answer.Fits {
					// It gave way to a pod that is not in its state any more.
					holds(t, configuration, q, fit.Suggestion{Text: "It fits.", Nodes: names(q.state), SelectedNode: names(q.state)[0]})
					continue
				}
				if len(answer.Suggestions)+len(answer.Incurable) == 0 {
					t.Errorf("nothing is said about %s", q.pod.Name)
				}
				checkEvictions(t, q, answer)
				if waits(t, configuration, q) {
					kinds[string(fit.KindWait)]++
				}
				for _, s := range answer.Suggestions {
					suggested++
					kinds[string(s.Kind)]++
					holds(t, configuration, q, s)
				}
			}
		})
	}
	t.Logf("%d pods, %d suggestions: %v", pods, suggested, kinds)
	for _, kind := range []fit.Kind{fit.KindWait, fit.KindPod, fit.KindNode, fit.KindAddNode, fit.KindEvict} {
		if kinds[string(kind)] == 0 {
			t.Errorf("no suggestion was of the kind %q", kind)
		}
	}
}

// A pod is tried again after each change. When a pod has been evicted for it and it does not tolerate the taint yet, the scheduler must not preempt a
// pod elsewhere, whose budget the suggestion keeps.
func TestThePodChangesBeforePodsAreEvictedForIt(t *testing.T) {
	tainted := st.MakeNode().Name("tainted").Label("zone", "a").Taints([]v1.Taint{{Key: "team", Effect: v1.TaintEffectNoSchedule}})
	full := st.MakeNode().Name("full").Label("zone", "a")
	for _, n := range []*st.NodeWrapper{tainted, full} {
		n.Capacity(map[v1.ResourceName]string{"cpu": "1", "memory": "4Gi", "pods": "10"})
	}
	pod := func(name, cpu string) *st.PodWrapper {
		return st.MakePod().Name(name).Namespace("default").UID(name).SchedulerName(v1.DefaultSchedulerName).Label("app", name).Req(map[v1.ResourceName]string{"cpu": cpu})
	}
	q := pendingPod{pod: types.NamespacedName{Namespace: "default", Name: "web"}, state: []runtime.Object{
		&v1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "default"}}, tainted.Obj(), full.Obj(),
		pod("hostile", "100m").Node("tainted").Priority(0).PodAntiAffinityIn("app", "zone", []string{"web"}, st.PodAntiAffinityWithRequiredReq).Obj(),
		pod("protected", "1").Node("full").Priority(0).Obj(),
		st.MakePDB().Name("protected").Namespace("default").MatchLabel("app", "protected").DisruptionsAllowed(0).Obj(),
		pod("web", "500m").Priority(100).Obj(),
	}}
	configuration := livetest.Configuration(t, plainConfiguration)
	answer, err := fit.Ask(t.Context(), livetest.Engine(t, configuration, q.state), fit.Question{PodRef: &q.pod})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"evict: Tolerate the taint team:NoSchedule. Evict default/hostile to make room on tainted. → tainted"}, summary(answer)); diff != "" {
		t.Fatal(diff)
	}
	holds(t, configuration, q, answer.Suggestions[0])
}

// pendingPod is a state with one pending pod.
type pendingPod struct {
	state []runtime.Object
	pod   types.NamespacedName
}

// pendingPods runs a cluster, and returns a question for each pod that is pending in the end. Members of pod groups
// are left out: their group decides too.
func pendingPods(t *testing.T, configuration *schedulerconfig.KubeSchedulerConfiguration, generated *schedulertest.Cluster) []pendingPod {
	var out []pendingPod
	livetest.Run(t, configuration, generated.Objects, func(ctx context.Context, c *livetest.Cluster) {
		if err := c.Operate(ctx, generated.Operations); err != nil {
			t.Log(err) // Later operations may find nothing to do.
		}
		state, err := c.State(ctx)
		if err != nil {
			t.Fatal(err)
		}
		state = copies(state)
		pending := func(o runtime.Object) bool {
			p, ok := o.(*v1.Pod)
			return ok && p.Spec.NodeName == ""
		}
		for _, o := range state {
			if p, ok := o.(*v1.Pod); ok && pending(o) && p.Spec.SchedulingGroup == nil && p.DeletionTimestamp == nil {
				p.Status.NominatedNodeName = ""
				alone := slices.DeleteFunc(slices.Clone(state), func(other runtime.Object) bool { return pending(other) && other != o })
				out = append(out, pendingPod{alone, types.NamespacedName{Namespace: p.Namespace, Name: p.Name}})
			}
		}
	})
	return out
}

// copies returns objects that a run may change. Generated pods have host ports without a port of the container,
// which a real API server refuses.
func copies(objects []runtime.Object) []runtime.Object {
	out := make([]runtime.Object, len(objects))
	for i, o := range objects {
		out[i] = o.DeepCopyObject()
		if p, ok := out[i].(*v1.Pod); ok {
			for j := range p.Spec.Containers {
				for k := range p.Spec.Containers[j].Ports {
					p.Spec.Containers[j].Ports[k].ContainerPort = 80
				}
			}
		}
	}
	return out
}

// holds applies a suggestion to a cluster in which the scheduler has found no node.
func holds(t *testing.T, configuration *schedulerconfig.KubeSchedulerConfiguration, q pendingPod, s fit.Suggestion) {
	t.Helper()
	livetest.Run(t, configuration, copies(q.state), func(ctx context.Context, c *livetest.Cluster) {
		if err := c.Apply(ctx, s.Changes); err != nil {
			t.Errorf("%s: %s: %v", q.pod.Name, s.Text, err)
			return
		}
		c.Settle()
		pod, err := c.Client.CoreV1().Pods(q.pod.Namespace).Get(ctx, q.pod.Name, metav1.GetOptions{})
		if err != nil {
			t.Errorf("%s: %s: %v", q.pod.Name, s.Text, err)
			return
		}
		if pod.Spec.NodeName == "" || len(s.Nodes) > 0 && (!slices.Contains(s.Nodes, pod.Spec.NodeName) || !slices.Contains(s.Nodes, s.SelectedNode)) {
			t.Errorf("%s: %s It is on %q, not on one of %s: %s", q.pod.Name, s.Text, pod.Spec.NodeName, strings.Join(s.Nodes, ", "), conditions(pod))
		}
	})
}

// waits asks about the pod while half of the pods are terminating. If it is told to wait, it fits when those that it waits for are
// gone, unless a plugin has a say that was not asked.
func waits(t *testing.T, configuration *schedulerconfig.KubeSchedulerConfiguration, q pendingPod) bool {
	t.Helper()
	state := copies(q.state)
	for i, o := range state {
		if p, ok := o.(*v1.Pod); ok && p.Spec.NodeName != "" && i%2 == 0 {
			p.DeletionTimestamp = &metav1.Time{Time: soon}
		}
	}
	answer, err := fit.Ask(t.Context(), livetest.Engine(t, configuration, state), fit.Question{PodRef: &q.pod})
	if err != nil {
		t.Errorf("%s: %v", q.pod.Name, err)
		return false
	}
	if len(answer.Suggestions) == 0 || answer.Suggestions[0].Kind != fit.KindWait || len(answer.PermitNotAsked) > 0 {
		return false
	}
	wait := answer.Suggestions[0]
	livetest.Run(t, configuration, copies(state), func(ctx context.Context, c *livetest.Cluster) {
		for _, o := range wait.For {
			if o.Name == q.pod.Name {
				continue // The scheduler makes room for it.
			}
			if err := c.Client.CoreV1().Pods(o.Namespace).Delete(ctx, o.Name, metav1.DeleteOptions{}); err != nil && !apierrors.IsNotFound(err) {
				t.Errorf("%s: %s: %v", q.pod.Name, wait.Text, err)
				return
			}
			c.Settle()
		}
		pod, err := c.Client.CoreV1().Pods(q.pod.Namespace).Get(ctx, q.pod.Name, metav1.GetOptions{})
		if err != nil || pod.Spec.NodeName == "" || len(wait.Nodes) > 0 && !slices.Contains(wait.Nodes, pod.Spec.NodeName) {
			t.Errorf("%s: %s It is on %q, not on one of %s: %v", q.pod.Name, wait.Text, pod.Spec.NodeName, strings.Join(wait.Nodes, ", "), conditions(pod))
		}
	})
	return true
}

// checkEvictions checks that pods are evicted only when no change of the pod or of a node helps, except one that is worse, and
// within the budgets.
func checkEvictions(t *testing.T, q pendingPod, answer *fit.Answer) {
	t.Helper()
	at := slices.IndexFunc(answer.Suggestions, func(s fit.Suggestion) bool { return s.Kind == fit.KindEvict })
	if at < 0 {
		return
	}
	for _, s := range answer.Suggestions[:at] {
		if s.Kind != fit.KindAddNode {
			t.Errorf("%s: %s comes after %s", q.pod.Name, answer.Suggestions[at].Text, s.Text)
		}
	}
	pods, allowed := map[string]*v1.Pod{}, map[string]int32{}
	for _, o := range q.state {
		switch o := o.(type) {
		case *v1.Pod:
			pods[o.Name] = o
		case *policyv1.PodDisruptionBudget:
			allowed[o.Spec.Selector.MatchLabels["app"]] = o.Status.DisruptionsAllowed
		}
	}
	for _, c := range answer.Suggestions[at].Changes {
		if c.Delete == nil || c.Delete.Name == q.pod.Name {
			continue
		}
		victim := pods[c.Delete.Name]
		if left, protected := allowed[victim.Labels["app"]]; protected {
			if left <= 0 {
				t.Errorf("%s: %s breaks a budget", q.pod.Name, answer.Suggestions[at].Text)
			}
			allowed[victim.Labels["app"]]--
		}
		if corev1.PodPriority(victim) > corev1.PodPriority(pods[q.pod.Name]) {
			t.Errorf("%s: %s has a higher priority", q.pod.Name, victim.Name)
		}
	}
}

func names(state []runtime.Object) []string {
	var out []string
	for _, o := range state {
		if n, ok := o.(*v1.Node); ok {
			out = append(out, n.Name)
		}
	}
	return out
}

func conditions(pod *v1.Pod) string {
	var out []string
	for _, c := range pod.Status.Conditions {
		out = append(out, c.Message)
	}
	return strings.Join(out, "; ")
}
