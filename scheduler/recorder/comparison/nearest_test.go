package comparison

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/tools/events"
	"k8s.io/klog/v2"
	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler"
	"k8s.io/kubernetes/pkg/scheduler/apis/config"
	"k8s.io/kubernetes/pkg/scheduler/apis/config/latest"
	internalcache "k8s.io/kubernetes/pkg/scheduler/backend/cache"
	"k8s.io/kubernetes/pkg/scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/names"
	frameworkruntime "k8s.io/kubernetes/pkg/scheduler/framework/runtime"

	"kube-scheduler-simulator/scheduler/internal/upstream"
	"kube-scheduler-simulator/scheduler/recorder"
	"kube-scheduler-simulator/scheduler/result"
)

// kept is a sink that keeps the last cycle.
type kept struct{ last *result.Cycle }

func (*kept) NextAttempt(types.UID) int { return 1 }
func (k *kept) Put(c *result.Cycle)     { k.last = c }

// filtering is Kubernetes' scheduler over a snapshot, with only one Filter plugin. sink
// is nil for a bare one.
type filtering struct {
	sched *scheduler.Scheduler
	sink  *kept
	r     *recorder.Recorder
}

// How a filtering is recorded.
const (
	bare = iota
	uncompared
	compared
)

func newFiltering(tb testing.TB, how int, plugin string, nodes []*v1.Node, placed []*v1.Pod) *filtering {
	tb.Helper()
	ctx := tb.Context()
	f := &filtering{}
	c, err := latest.Default()
	if err != nil {
		tb.Fatal(err)
	}
	profile := &c.Profiles[0]
	profile.Plugins = &config.Plugins{MultiPoint: config.PluginSet{Enabled: []config.Plugin{{Name: names.PrioritySort}, {Name: names.DefaultBinder}, {Name: plugin}}}}
	snapshot := internalcache.NewSnapshot(placed, nodes)
	factory := informers.NewSharedInformerFactory(idle, 0)
	f.sched, err = scheduler.New(ctx, idle, factory, nil, func(string) events.EventRecorderLogger { return &events.FakeRecorder{} },
		scheduler.WithProfiles(c.Profiles...), scheduler.WithNodeInfoSnapshot(snapshot))
	if err != nil {
		tb.Fatal(err)
	}
	if how == bare {
		return f
	}
	f.sink = &kept{}
	f.r = recorder.New(f.sink, map[int]recorder.Plugins{compared: InTree{}}[how], nil)
	f.r.Start()
	made, err := upstream.NewFramework(ctx, f.r.Wrap(plugins.NewInTreeRegistry()), profile,
		frameworkruntime.WithInformerFactory(factory), frameworkruntime.WithClientSet(idle), frameworkruntime.WithSnapshotSharedLister(snapshot),
		frameworkruntime.WithPodNominator(f.sched.SchedulingQueue), frameworkruntime.WithWaitingPods(frameworkruntime.NewWaitingPodsMap()))
	if err != nil {
		tb.Fatal(err)
	}
	f.sched.Profiles[profile.SchedulerName] = f.r.Framework(made, nil)
	f.sched.FailureHandler = func(context.Context, framework.Framework, *framework.QueuedPodInfo, *fwk.Status, *fwk.NominatingInfo, time.Time) {
	}
	list, err := snapshot.NodeInfos().List()
	if err != nil {
		tb.Fatal(err)
	}
	f.r.Attach(f.sched, func() []fwk.NodeInfo { return list })
	return f
}

// attempt runs the scheduling cycle of a pod that fits nowhere.
func (f *filtering) attempt(tb testing.TB, pod *v1.Pod) {
	profile := f.sched.Profiles[v1.DefaultSchedulerName]
	info, err := framework.NewPodInfo(pod)
	if err != nil {
		tb.Fatal(err)
	}
	queued := &framework.QueuedPodInfo{PodInfo: info}
	_, err = f.sched.SchedulePod(klog.NewContext(tb.Context(), klog.Background()), profile, framework.NewCycleState(), queued)
	if fit := (*framework.FitError)(nil); !errors.As(err, &fit) {
		tb.Fatal("the pod fits: ", err)
	}
	if f.r != nil {
		f.sched.FailureHandler(tb.Context(), profile, queued, fwk.NewStatus(fwk.Unschedulable), nil, time.Time{})
	}
}

// recorded returns the cycle after the recorder has stopped.
func (f *filtering) recorded(tb testing.TB) *result.Cycle {
	if err := f.r.Stop(context.Background()); err != nil {
		tb.Fatal(err)
	}
	return f.sink.last
}

// withCPU returns n nodes whose free CPU is a permutation of 0 to n-1 thousandths.
func withCPU(n int) []*v1.Node {
	var out []*v1.Node
	for i, free := range rand.New(rand.NewPCG(1, 2)).Perm(n) {
		out = append(out, &v1.Node{ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprintf("n%05d", i)}, Status: v1.NodeStatus{Allocatable: v1.ResourceList{
			v1.ResourceCPU: *resource.NewMilliQuantity(int64(free), resource.DecimalSI), v1.ResourcePods: resource.MustParse("10"),
		}}})
	}
	return out
}

func wantsCPU(milli int64) *v1.Pod {
	p := pod("p", "")
	p.Spec.SchedulerName = v1.DefaultSchedulerName
	p.Spec.Containers = []v1.Container{{Resources: v1.ResourceRequirements{Requests: v1.ResourceList{v1.ResourceCPU: *resource.NewMilliQuantity(milli, resource.DecimalSI)}}}}
	return p
}

func TestTheNodesNearestToFittingAreCompared(t *testing.T) {
	const n = 5000
	f := newFiltering(t, compared, names.NodeResourcesFit, withCPU(n), nil)
	f.attempt(t, wantsCPU(n))
	var lacking []int64
	for _, c := range f.recorded(t).Filter.Comparisons {
		lacking = append(lacking, c.Resources[0].Requested-c.Resources[0].Allocatable)
	}
	var want []int64
	for i := range int64(result.MaxComparisons) {
		want = append(want, i+1) // in thousandths of a core
	}
	if diff := cmp.Diff(want, lacking); diff != "" {
		t.Errorf("the nodes that lack the least (-) are not those compared (+):\n%s", diff)
	}
}

func TestANodeWithNoneOfAResourceIsFarthest(t *testing.T) {
	node := func(name, cpu, gpus string) *v1.Node {
		n := &v1.Node{ObjectMeta: metav1.ObjectMeta{Name: name}, Status: v1.NodeStatus{Allocatable: v1.ResourceList{
			v1.ResourceCPU: resource.MustParse(cpu), v1.ResourcePods: resource.MustParse("10"),
		}}}
		if gpus != "" {
			n.Status.Allocatable["example.com/gpu"] = resource.MustParse(gpus)
		}
		return n
	}
	trainer := func(name, node, cpu, gpus string) *v1.Pod {
		p := pod(name, node)
		p.Spec.SchedulerName = v1.DefaultSchedulerName
		p.Spec.Containers = []v1.Container{{Resources: v1.ResourceRequirements{Requests: v1.ResourceList{v1.ResourceCPU: resource.MustParse(cpu), "example.com/gpu": resource.MustParse(gpus)}}}}
		return p
	}
	f := newFiltering(t, compared, names.NodeResourcesFit, []*v1.Node{
		node("a-none", "8", ""), node("b-zero", "8", "0"), node("c-full", "8", "8"), node("d-full-and-busy", "2", "8"), node("e-few", "8", "2"),
		// It lacks two resources, but less of them.
		node("f-two", "1900m", "3"),
	}, []*v1.Pod{trainer("c", "c-full", "1", "8"), trainer("d", "d-full-and-busy", "2", "8")})
	f.attempt(t, trainer("p", "", "2", "4"))
	var got []string
	for _, c := range f.recorded(t).Filter.Comparisons {
		got = append(got, c.Node)
	}
	if diff := cmp.Diff([]string{"f-two", "e-few", "c-full", "d-full-and-busy", "a-none", "b-zero"}, got); diff != "" {
		t.Errorf("nodes, the nearest first (-want +got):\n%s", diff)
	}
}

func TestNodesAsNearAreComparedByName(t *testing.T) {
	var nodes []*v1.Node
	for _, i := range rand.New(rand.NewPCG(1, 2)).Perm(5000) {
		node := &v1.Node{ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprintf("n%05d", i)}, Spec: v1.NodeSpec{Taints: []v1.Taint{{Key: "a", Effect: v1.TaintEffectNoSchedule}, {Key: "b", Effect: v1.TaintEffectNoSchedule}}}}
		if i >= 4990 {
			node.Spec.Taints = node.Spec.Taints[1:]
		}
		nodes = append(nodes, node)
	}
	f := newFiltering(t, compared, names.TaintToleration, nodes, nil)
	p := pod("p", "")
	p.Spec.SchedulerName = v1.DefaultSchedulerName
	f.attempt(t, p)
	var got, want []string
	for _, c := range f.recorded(t).Filter.Comparisons {
		got = append(got, c.Node)
	}
	for i := range 10 {
		want = append(want, fmt.Sprintf("n%05d", 4990+i)) // with one taint
	}
	for i := range result.MaxComparisons - 10 {
		want = append(want, fmt.Sprintf("n%05d", i))
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

// BenchmarkRejecting is a scheduling cycle in which one plugin rejects every node: bare,
// recorded without comparisons, and recorded with them.
func BenchmarkRejecting(b *testing.B) {
	const n = 5000
	spreadOut := func() ([]*v1.Node, []*v1.Pod, *v1.Pod) {
		nodes, p := withCPU(n), wantsCPU(1)
		var placed []*v1.Pod
		for i, node := range nodes {
			node.Labels = map[string]string{v1.LabelHostname: node.Name, v1.LabelTopologyZone: fmt.Sprint("z", i%3)}
			on := pod(fmt.Sprint("on-", i), node.Name)
			on.Labels = map[string]string{"app": "web"}
			placed = append(placed, on)
		}
		p.Labels = map[string]string{"app": "web"}
		return nodes, placed, p
	}
	web := &metav1.LabelSelector{MatchLabels: map[string]string{"app": "web"}}
	for _, bc := range []struct {
		plugin string
		world  func() ([]*v1.Node, []*v1.Pod, *v1.Pod)
	}{
		{names.NodeResourcesFit, func() ([]*v1.Node, []*v1.Pod, *v1.Pod) { return withCPU(n), nil, wantsCPU(n) }},
		{names.PodTopologySpread, func() ([]*v1.Node, []*v1.Pod, *v1.Pod) {
			nodes, placed, p := spreadOut()
			nodes = append(nodes, &v1.Node{ObjectMeta: metav1.ObjectMeta{Name: "empty", Labels: map[string]string{v1.LabelHostname: "empty"}}})
			p.Spec.TopologySpreadConstraints = []v1.TopologySpreadConstraint{
				{TopologyKey: v1.LabelHostname, MaxSkew: 1, WhenUnsatisfiable: v1.DoNotSchedule, LabelSelector: web},
				{TopologyKey: "rack", MaxSkew: 1, WhenUnsatisfiable: v1.DoNotSchedule, LabelSelector: web},
			}
			return nodes, placed, p
		}},
		{names.InterPodAffinity, func() ([]*v1.Node, []*v1.Pod, *v1.Pod) {
			nodes, placed, p := spreadOut()
			p.Spec.Affinity = &v1.Affinity{PodAntiAffinity: &v1.PodAntiAffinity{RequiredDuringSchedulingIgnoredDuringExecution: []v1.PodAffinityTerm{{TopologyKey: v1.LabelHostname, LabelSelector: web}}}}
			return nodes, placed, p
		}},
	} {
		nodes, placed, p := bc.world()
		for how, name := range []string{bare: "bare", uncompared: "uncompared", compared: "compared"} {
			b.Run(bc.plugin+"/"+name, func(b *testing.B) {
				f := newFiltering(b, how, bc.plugin, slices.Clone(nodes), placed)
				b.ReportAllocs()
				for b.Loop() {
					f.attempt(b, p)
				}
			})
		}
	}
}
