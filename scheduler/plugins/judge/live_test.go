package judge

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"
	frameworkruntime "k8s.io/kubernetes/pkg/scheduler/framework/runtime"
	st "k8s.io/kubernetes/pkg/scheduler/testing"

	"kube-scheduler-simulator/scheduler"
	"kube-scheduler-simulator/scheduler/config"
	"kube-scheduler-simulator/scheduler/plugins"
	"kube-scheduler-simulator/scheduler/plugins/directed"
	"kube-scheduler-simulator/scheduler/result"
	"kube-scheduler-simulator/scheduler/schedulertest"
)

// story is a scenario for a whole scheduler.
type story struct {
	Configuration string                       `json:"configuration"`
	Objects       []*unstructured.Unstructured `json:"objects"`
	Steps         []event                      `json:"steps"`
}

// event creates an object or deletes a pod; then seconds pass.
type event struct {
	Create  *unstructured.Unstructured `json:"create,omitempty"`
	Delete  string                     `json:"delete,omitempty"`
	Seconds int                        `json:"seconds"`
}

// notes are what becomes of the pods. What a pod is told again counts once: how often a pod is
// tried in one instant is a matter of goroutines, not of the plugin.
type notes struct {
	mu    sync.Mutex
	start time.Time
	last  map[types.UID]string
	lines []string
}

// NextAttempt implements recorder.Sink.
func (*notes) NextAttempt(types.UID) int { return 1 }

// Put implements recorder.Sink.
func (n *notes) Put(c *result.Cycle) {
	n.mu.Lock()
	defer n.mu.Unlock()
	told := fmt.Sprintf("%s, nominated to %q: %s", c.Outcome, c.NominatedNode, c.Message)
	if n.last[c.Pod.UID] != told {
		n.last[c.Pod.UID] = told
		n.lines = append(n.lines, fmt.Sprintf("%4ds %s/%s: on %q %s", int(time.Since(n.start).Seconds()), c.Pod.Namespace, c.Pod.Name, c.SelectedNode, told))
	}
}

// tell returns what a scheduler with the plugins does.
func (s *story) tell(ctx context.Context, registry frameworkruntime.Registry) ([]string, error) {
	parsed, err := config.ParseWith([]byte(s.Configuration), config.Options{OutOfTree: slices.Collect(maps.Keys(registry))})
	if err != nil {
		return nil, err
	}
	server := discovered{schedulertest.NewAPIServer()}
	client, err := kubernetes.NewForConfig(server.Config("user"))
	if err != nil {
		return nil, err
	}
	for _, o := range s.Objects {
		if err := directed.Create(ctx, client, o); err != nil {
			return nil, err
		}
	}
	seed, n := int64(1), &notes{start: time.Now(), last: map[types.UID]string{}}
	sched := scheduler.New(scheduler.Options{Client: server.Config("scheduler"), Configuration: parsed.Internal, OutOfTree: registry, Sink: n, TieSeed: &seed})
	if err := sched.Start(ctx); err != nil {
		return nil, err
	}
	time.Sleep(time.Second)
	for _, e := range s.Steps {
		switch {
		case e.Create != nil:
			if err := directed.Create(ctx, client, e.Create); err != nil {
				return nil, err
			}
		case e.Delete != "":
			namespace, name, _ := strings.Cut(e.Delete, "/")
			_ = client.CoreV1().Pods(namespace).Delete(ctx, name, metav1.DeleteOptions{}) // it may be gone
		}
		// Each step begins a while after the timers of the one before.
		time.Sleep(time.Duration(e.Seconds)*time.Second + 130*time.Millisecond)
	}
	n.mu.Lock()
	lines := slices.Clone(n.lines)
	n.mu.Unlock()
	slices.Sort(lines) // binding cycles of one instant end in any order
	pods, err := client.CoreV1().Pods(v1.NamespaceAll).List(ctx, metav1.ListOptions{})
	if err != nil {
		return nil, err
	}
	for i := range pods.Items {
		p := &pods.Items[i]
		lines = append(lines, fmt.Sprintf("end %s/%s: on %q, nominated to %q", p.Namespace, p.Name, p.Spec.NodeName, p.Status.NominatedNodeName))
	}
	return lines, sched.Stop(ctx)
}

// told are the lines of a story, or why there are none.
type told struct {
	lines []string
	err   error
}

func (s *story) with(t *testing.T, registry frameworkruntime.Registry) told {
	return inBubble(t, func(ctx context.Context) told {
		lines, err := s.tell(ctx, registry)
		return told{lines, err}
	})
}

// attempts are how often a story is told before it counts as different. What a scheduler does in
// one instant, such as a wake-up and the end of a backoff, has no fixed order, so the original may
// differ from itself.
const attempts = 24

// differ is as for cases. It is empty once ours has told a whole story of the original's, or each
// line that either has told has been told by the other, too.
func (s *story) differ(t *testing.T) (diff string, lines int, err error) {
	theirs := plugins.Registry()
	maps.Copy(theirs, originals())
	original, own, stories := map[string]bool{}, map[string]bool{}, [2]map[string]bool{{}, {}}
	for range attempts {
		a, b := s.with(t, theirs), s.with(t, plugins.Registry())
		if a.err != nil || b.err != nil {
			return "", 0, fmt.Errorf("the original: %v; ours: %v", a.err, b.err)
		}
		for _, line := range a.lines {
			original[line] = true
		}
		for _, line := range b.lines {
			own[line] = true
		}
		whole := [2]string{strings.Join(a.lines, "\n"), strings.Join(b.lines, "\n")}
		stories[0][whole[0]], stories[1][whole[1]] = true, true
		if maps.Equal(original, own) || stories[1][whole[0]] || stories[0][whole[1]] {
			return "", len(b.lines), nil
		}
	}
	return cmp.Diff(slices.Sorted(maps.Keys(original)), slices.Sorted(maps.Keys(own))), len(own), nil
}

// shrink leaves out steps while the lines differ.
func (s *story) shrink(t *testing.T) {
	for i := len(s.Steps) - 1; i >= 0; i-- {
		before := s.Steps
		s.Steps = slices.Delete(slices.Clone(before), i, i+1)
		if diff, _, err := s.differ(t); err != nil || diff == "" {
			s.Steps = before
		}
	}
}

// tellAll compares many random stories.
func tellAll(t *testing.T, count int, generate func(seed uint64) *story) {
	lines := 0
	for i := range count {
		seed := *first + uint64(i)
		s := generate(seed)
		diff, n, err := s.differ(t)
		if err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
		lines += n
		if diff == "" {
			continue
		}
		s.shrink(t)
		diff, _, _ = s.differ(t)
		t.Errorf("seed %d: the original (-) and ours (+) differ:\n%s\nin this story:\n%s", seed, diff, raw(s))
	}
	t.Logf("%d scenarios, %d lines", count, lines)
}

// TestGangs: what a scheduler with Coscheduling does.
func TestGangs(t *testing.T) {
	tellAll(t, *gangs, func(seed uint64) *story {
		d := newDice(seed)
		s := &story{Configuration: fmt.Sprintf(`
apiVersion: kubescheduler.config.k8s.io/v1
kind: KubeSchedulerConfiguration
parallelism: 1
profiles:
- schedulerName: default-scheduler
  plugins:
    multiPoint: {enabled: [{name: Coscheduling}]}
    queueSort: {enabled: [{name: Coscheduling}], disabled: [{name: "*"}]}
  pluginConfig:
  - name: Coscheduling
    args: {permitWaitingTimeSeconds: %d, podGroupBackoffSeconds: %d, podGroupRejectPercentage: %d}
`, pick(d, 10, 20), pick(d, 0, 0, 5), pick(d, 10, 10, 0, 50))}
		for n := range 2 + d.IntN(2) {
			s.Objects = append(s.Objects, liveNode(fmt.Sprint("n", n), pick(d, "2", "4")))
		}
		groups := []string{"g0", "g1", "g2"}
		group := func(name string) event {
			spec := map[string]any{"minMember": 1 + d.IntN(4)}
			if d.chance(25) {
				spec["scheduleTimeoutSeconds"] = 5 + d.IntN(10)
			}
			if d.chance(25) {
				spec["minResources"] = map[string]any{"cpu": fmt.Sprint(1 + d.IntN(6))}
			}
			return event{Seconds: d.IntN(2), Create: &unstructured.Unstructured{Object: map[string]any{
				"apiVersion": "scheduling.x-k8s.io/v1alpha1", "kind": "PodGroup", "metadata": map[string]any{"namespace": "default", "name": name}, "spec": spec,
			}}}
		}
		for _, name := range groups {
			if d.chance(85) {
				s.Steps = append(s.Steps, group(name))
			}
		}
		var names []string
		for range 16 {
			if len(names) > 2 && d.chance(20) {
				s.Steps = append(s.Steps, event{Delete: "default/" + pick(d, names...), Seconds: pick(d, 0, 1, 8)})
				continue
			}
			name := fmt.Sprint("p", len(names))
			names = append(names, name)
			p := st.MakePod().Namespace("default").Name(name).SchedulerName(v1.DefaultSchedulerName).Req(map[v1.ResourceName]string{"cpu": pick(d, "500m", "1", "2")})
			if d.chance(80) {
				p.Label("scheduling.x-k8s.io/pod-group", pick(d, groups...))
			}
			if d.chance(15) {
				p.Priority(100)
			}
			s.Steps = append(s.Steps, event{Create: livePod(p), Seconds: pick(d, 0, 0, 1, 3, 12)})
		}
		s.Steps = append(s.Steps, event{Seconds: 70})
		return s
	})
}

// TestQuotas: what a scheduler with CapacityScheduling does. All running pods that exist at the
// start have started in the same second.
func TestQuotas(t *testing.T) {
	tellAll(t, *quotas, func(seed uint64) *story {
		d := newDice(seed)
		s := &story{Configuration: `
apiVersion: kubescheduler.config.k8s.io/v1
kind: KubeSchedulerConfiguration
parallelism: 1
profiles:
- schedulerName: default-scheduler
  plugins:
    multiPoint: {enabled: [{name: CapacityScheduling}]}
    postFilter: {enabled: [{name: CapacityScheduling}], disabled: [{name: "*"}]}
`}
		spaces := []string{"q1", "q2", "q3", "plain"}
		for n := range 1 + d.IntN(3) {
			node := fmt.Sprint("n", n)
			s.Objects = append(s.Objects, liveNode(node, "8"))
			for i := range d.IntN(8) {
				p := st.MakePod().Namespace(pick(d, spaces...)).Name(fmt.Sprint("old-", n, "-", i)).SchedulerName(v1.DefaultSchedulerName).Node(node).
					Req(map[v1.ResourceName]string{"cpu": pick(d, "500m", "1", "2")}).Priority(pick[int32](d, 0, 0, 10)).Label("app", pick(d, "a", "b"))
				p.Status.Phase, p.Status.StartTime = v1.PodRunning, &metav1.Time{Time: time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC)}
				s.Objects = append(s.Objects, livePod(p))
			}
		}
		for _, name := range spaces[:3] {
			if d.chance(15) {
				continue
			}
			spec := map[string]any{"min": map[string]any{"cpu": fmt.Sprint(1 + d.IntN(8))}}
			if d.chance(50) {
				spec["max"] = map[string]any{"cpu": fmt.Sprint(2 + d.IntN(12))}
			}
			s.Objects = append(s.Objects, &unstructured.Unstructured{Object: map[string]any{
				"apiVersion": "scheduling.x-k8s.io/v1alpha1", "kind": "ElasticQuota", "metadata": map[string]any{"namespace": name, "name": "quota"}, "spec": spec,
			}})
		}
		if d.chance(40) {
			s.Objects = append(s.Objects, object(st.MakePDB().Name("budget").Namespace(pick(d, spaces...)).MatchLabel("app", "a").DisruptionsAllowed(int32(d.IntN(2))).Obj()))
			s.Objects[len(s.Objects)-1].SetAPIVersion("policy/v1")
			s.Objects[len(s.Objects)-1].SetKind("PodDisruptionBudget")
		}
		var names []string
		for range 10 {
			if len(names) > 2 && d.chance(20) {
				s.Steps = append(s.Steps, event{Delete: pick(d, names...), Seconds: 3})
				continue
			}
			namespace, name := pick(d, spaces...), fmt.Sprint("p", len(names))
			names = append(names, namespace+"/"+name)
			p := st.MakePod().Namespace(namespace).Name(name).SchedulerName(v1.DefaultSchedulerName).
				Req(map[v1.ResourceName]string{"cpu": pick(d, "1", "2", "3")}).Priority(pick[int32](d, 0, 10, 100)).Label("app", pick(d, "a", "b"))
			s.Steps = append(s.Steps, event{Create: livePod(p), Seconds: pick(d, 2, 3)})
		}
		s.Steps = append(s.Steps, event{Seconds: 30})
		return s
	})
}

func liveNode(name, cpu string) *unstructured.Unstructured {
	list := v1.ResourceList{"cpu": resource.MustParse(cpu), "memory": resource.MustParse("32Gi"), "pods": resource.MustParse("40")}
	return object(&v1.Node{TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Node"}, ObjectMeta: metav1.ObjectMeta{Name: name}, Status: v1.NodeStatus{Capacity: list, Allocatable: list}})
}

func livePod(p *st.PodWrapper) *unstructured.Unstructured {
	if p.Status.Phase == "" {
		p.Status.Phase = v1.PodPending
	}
	o := object(p.Obj())
	o.SetAPIVersion("v1")
	o.SetKind("Pod")
	return o
}
