package upstream

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic/dynamicinformer"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes/fake"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/events"
	"k8s.io/klog/v2"
	extenderv1 "k8s.io/kube-scheduler/extender/v1"
	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler"
	"k8s.io/kubernetes/pkg/scheduler/apis/config"
	"k8s.io/kubernetes/pkg/scheduler/apis/config/latest"
	internalcache "k8s.io/kubernetes/pkg/scheduler/backend/cache"
	internalqueue "k8s.io/kubernetes/pkg/scheduler/backend/queue"
	"k8s.io/kubernetes/pkg/scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/names"
	frameworkruntime "k8s.io/kubernetes/pkg/scheduler/framework/runtime"
	st "k8s.io/kubernetes/pkg/scheduler/testing"
)

// kubernetesScheduler returns Kubernetes' scheduler with the required plugins and the named
// ones, over a snapshot of the nodes and pods.
func kubernetesScheduler(t *testing.T, nodes []*v1.Node, pods []*v1.Pod, plugins []string, options ...scheduler.Option) *scheduler.Scheduler {
	t.Helper()
	client := fake.NewClientset()
	sched, err := scheduler.New(t.Context(), client, informers.NewSharedInformerFactory(client, 0), (dynamicinformer.DynamicSharedInformerFactory)(nil), noEvents,
		append([]scheduler.Option{
			scheduler.WithProfiles(configurationWith(t, plugins...).Profiles...),
			scheduler.WithNodeInfoSnapshot(internalcache.NewSnapshot(pods, nodes)),
		}, options...)...)
	if err != nil {
		t.Fatal(err)
	}
	return sched
}

// configurationWith returns Kubernetes' default with only the required plugins and
// the named ones.
func configurationWith(t *testing.T, plugins ...string) *config.KubeSchedulerConfiguration {
	t.Helper()
	c, err := latest.Default()
	if err != nil {
		t.Fatal(err)
	}
	enabled := []config.Plugin{{Name: names.PrioritySort}, {Name: names.DefaultBinder}}
	for _, name := range plugins {
		enabled = append(enabled, config.Plugin{Name: name})
	}
	c.Profiles[0].Plugins = &config.Plugins{MultiPoint: config.PluginSet{Enabled: enabled}}
	return c
}

func noEvents(string) events.EventRecorderLogger { return &events.FakeRecorder{} }

func nodes(n int) []*v1.Node {
	var out []*v1.Node
	for i := range n {
		out = append(out, st.MakeNode().Name(fmt.Sprintf("n%05d", i)).Capacity(map[v1.ResourceName]string{v1.ResourceCPU: "1", v1.ResourcePods: "10"}).
			Label(v1.LabelTopologyZone, fmt.Sprint("z", i%2)).Obj())
	}
	return out
}

func podInfo(t *testing.T, pod *v1.Pod) *framework.QueuedPodInfo {
	t.Helper()
	info, err := framework.NewPodInfo(pod)
	if err != nil {
		t.Fatal(err)
	}
	return &framework.QueuedPodInfo{PodInfo: info}
}

func TestNodesToFindIsTheSchedulers(t *testing.T) {
	for _, percentage := range []int32{0, 1, 40, 100} {
		for _, n := range []int{50, 99, 100, 101, 250, 1000, 6000} {
			sched := kubernetesScheduler(t, nodes(n), nil, []string{names.TaintToleration}, scheduler.WithPercentageOfNodesToScore(&percentage))
			res, err := sched.SchedulePod(t.Context(), sched.Profiles[v1.DefaultSchedulerName], framework.NewCycleState(), podInfo(t, st.MakePod().Name("p").UID("u").Obj()))
			if err != nil {
				t.Fatal(err)
			}
			if got := NodesToFind(n, percentage); got != res.FeasibleNodes {
				t.Errorf("%d %% of %d nodes: the formula says %d, the scheduler found %d", percentage, n, got, res.FeasibleNodes)
			}
		}
	}
}

func TestExtenderFormulasAreTheSchedulers(t *testing.T) {
	configured := []config.Extender{
		{URLPrefix: "http://a", Ignorable: true}, {URLPrefix: "http://b", HTTPTimeout: metav1.Duration{Duration: time.Minute}},
		{URLPrefix: "http://c", Ignorable: true}, {URLPrefix: "http://d"},
	}
	var want, got []string
	for _, e := range kubernetesScheduler(t, nil, nil, nil, scheduler.WithExtenders(append([]config.Extender(nil), configured...)...)).Extenders {
		want = append(want, e.Name())
	}
	for _, e := range ExtenderOrder(configured) {
		got = append(got, e.URLPrefix)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("the scheduler's order (-) differs from the formula's (+):\n%s", diff)
	}
	for _, e := range configured {
		timeout := ExtenderTimeout(&e)
		if _, err := scheduler.NewHTTPExtender(&e); err != nil { // it sets the default
			t.Fatal(err)
		}
		if e.HTTPTimeout.Duration != timeout {
			t.Errorf("%s: the scheduler waits %v, the formula says %v", e.URLPrefix, e.HTTPTimeout.Duration, timeout)
		}
	}
}

// scoring is an extender that scores every node.
type scoring struct{ fwk.Extender }

func (scoring) Name() string              { return "scoring" }
func (scoring) IsInterested(*v1.Pod) bool { return true }
func (scoring) IsFilter() bool            { return false }
func (scoring) IsPrioritizer() bool       { return true }
func (scoring) Filter(_ *v1.Pod, nodes []fwk.NodeInfo) ([]fwk.NodeInfo, extenderv1.FailedNodesMap, extenderv1.FailedNodesMap, error) {
	return nodes, nil, nil, nil
}

const extenderScore, extenderWeight = 3, 7

func (scoring) Prioritize(_ *v1.Pod, nodes []fwk.NodeInfo) (*extenderv1.HostPriorityList, int64, error) {
	var out extenderv1.HostPriorityList
	for _, n := range nodes {
		out = append(out, extenderv1.HostPriority{Host: n.Node().Name, Score: extenderScore})
	}
	return &out, extenderWeight, nil
}

type rows struct {
	framework.Framework
	rows []fwk.NodePluginScores
}

func (r *rows) RunScorePlugins(ctx context.Context, state fwk.CycleState, pod *v1.Pod, nodes []fwk.NodeInfo) ([]fwk.NodePluginScores, *fwk.Status) {
	scores, status := r.Framework.RunScorePlugins(ctx, state, pod, nodes)
	r.rows = scores
	return scores, status
}

func TestExtenderScaleIsTheSchedulers(t *testing.T) {
	sched := kubernetesScheduler(t, nodes(3), nil, []string{names.TaintToleration})
	sched.Extenders = []fwk.Extender{scoring{}}
	seen := &rows{Framework: sched.Profiles[v1.DefaultSchedulerName]}
	if _, err := sched.SchedulePod(t.Context(), seen, framework.NewCycleState(), podInfo(t, st.MakePod().Name("p").UID("u").Obj())); err != nil {
		t.Fatal(err)
	}
	if len(seen.rows) != 3 {
		t.Fatalf("%d nodes were scored", len(seen.rows))
	}
	for _, row := range seen.rows {
		total := int64(0)
		for _, s := range row.Scores {
			if s.Name != "scoring" {
				total += s.Score
			}
		}
		if want := total + extenderScore*extenderWeight*ExtenderScale; row.TotalScore != want {
			t.Errorf("%s: the scheduler's total is %d, the formula says %d", row.Name, row.TotalScore, want)
		}
	}
}

func TestSameNodesFollowsTheSnapshot(t *testing.T) {
	logger := klog.FromContext(t.Context())
	cache, snapshot := internalcache.New(t.Context(), nil, false, false), internalcache.NewEmptySnapshot()
	list := func() []fwk.NodeInfo {
		t.Helper()
		if err := cache.UpdateSnapshot(logger, snapshot); err != nil {
			t.Fatal(err)
		}
		out, err := snapshot.NodeInfos().List()
		if err != nil {
			t.Fatal(err)
		}
		return out
	}
	all := nodes(4)
	for _, n := range all[:3] {
		cache.AddNode(logger, n)
	}
	before := list()
	changed := all[0].DeepCopy()
	changed.Labels["changed"] = "yes"
	cache.UpdateNode(logger, all[0], changed)
	if err := cache.AddPod(logger, st.MakePod().Name("p").UID("u").Node(all[1].Name).Obj()); err != nil {
		t.Fatal(err)
	}
	if !SameNodes(before, list()) {
		t.Error("a changed node and a new pod count as different nodes")
	}
	for name, change := range map[string]func() error{
		"an added node":  func() error { cache.AddNode(logger, all[3]); return nil },
		"a removed node": func() error { return cache.RemoveNode(logger, all[1]) },
	} {
		before := list()
		if err := change(); err != nil {
			t.Fatal(err)
		}
		if SameNodes(before, list()) {
			t.Errorf("%s leaves the nodes the same", name)
		}
	}
	if !SameNodes(nil, nil) || SameNodes(nil, before) {
		t.Error("an empty list counts as the same as another list")
	}
}

func TestSpreadConstraintsAreThePlugins(t *testing.T) {
	running := []*v1.Pod{
		st.MakePod().Name("a").UID("a").Label("app", "web").Node("n00000").Obj(), st.MakePod().Name("b").UID("b").Label("app", "web").Node("n00000").Obj(),
		st.MakePod().Name("c").UID("c").Label("app", "other").Node("n00001").Obj(), st.MakePod().Name("d").UID("d").Label("app", "web").Node("n00001").Obj(),
	}
	selector := st.MakeLabelSelector().Label("app", "web").Obj()
	if got := SpreadConstraints(framework.NewCycleState()); got != nil {
		t.Errorf("without a state: %v", got)
	}
	sched := kubernetesScheduler(t, nodes(2), running, []string{names.PodTopologySpread})
	for minDomains, minimum := range map[int32]int{2: 1, 3: 0} {
		pod := st.MakePod().Name("p").UID("u").Label("app", "web").
			SpreadConstraint(2, v1.LabelTopologyZone, v1.DoNotSchedule, selector, &minDomains, nil, nil, nil).Obj()
		state := framework.NewCycleState()
		if _, status, _ := sched.Profiles[v1.DefaultSchedulerName].RunPreFilterPlugins(t.Context(), state, pod); !status.IsSuccess() {
			t.Fatal(status)
		}
		want := []SpreadConstraint{{
			TopologyKey: v1.LabelTopologyZone, MaxSkew: 2, Minimum: minimum, MinDomains: minDomains,
			NodeAffinityPolicy: v1.NodeInclusionPolicyHonor, NodeTaintsPolicy: v1.NodeInclusionPolicyIgnore,
			Selector: labels.SelectorFromSet(labels.Set{"app": "web"}), Matching: map[string]int{"z0": 2, "z1": 1},
		}}
		byText := cmp.Transformer("selector", func(s labels.Selector) string { return s.String() })
		if diff := cmp.Diff(want, SpreadConstraints(state), byText); diff != "" {
			t.Errorf("minDomains %d: %s", minDomains, diff)
		}
	}
}

// passing is an observer that changes nothing but the extenders.
type passing struct{ extenders []fwk.Extender }

func (passing) Wrap(r frameworkruntime.Registry) frameworkruntime.Registry { return r }
func (p passing) Extenders(made []fwk.Extender, _ []config.Extender) ([]fwk.Extender, error) {
	if p.extenders != nil {
		return p.extenders, nil
	}
	return made, nil
}
func (passing) Queue(q internalqueue.SchedulingQueue) internalqueue.SchedulingQueue { return q }
func (passing) DRAManager(m fwk.SharedDRAManager) fwk.SharedDRAManager              { return m }
func (passing) Cache(c internalcache.Cache) internalcache.Cache                     { return c }
func (passing) Framework(f framework.Framework, _ *int32) framework.Framework       { return f }
func (passing) Attach(*scheduler.Scheduler, func() []fwk.NodeInfo)                  {}

// observed builds c for an observer that changes nothing but the extenders.
func observed(t *testing.T, c *config.KubeSchedulerConfiguration, outOfTree frameworkruntime.Registry, objects []runtime.Object, extenders ...fwk.Extender) (*scheduler.Scheduler, error) {
	t.Helper()
	return Build(t.Context(), parts(c, outOfTree, objects...), passing{extenders}, &Gate{})
}

func parts(c *config.KubeSchedulerConfiguration, outOfTree frameworkruntime.Registry, objects ...runtime.Object) Parts {
	client := fake.NewClientset(objects...)
	return Parts{
		Client: client, ClientConfig: &rest.Config{}, Informers: scheduler.NewInformerFactory(client, 0, nil), Events: noEvents,
		Configuration: c, OutOfTree: outOfTree,
	}
}

func TestAFailedPluginFactoryIsATypedError(t *testing.T) {
	refusal := errors.New("it wants a cache")
	outOfTree := frameworkruntime.Registry{"Broken": func(context.Context, runtime.Object, fwk.Handle) (fwk.Plugin, error) { return nil, refusal }}
	_, err := observed(t, configurationWith(t, "Broken"), outOfTree, nil)
	failed, ok := errors.AsType[*PluginError](err)
	if !ok || failed.Profile != v1.DefaultSchedulerName || failed.Plugin != "Broken" || !errors.Is(err, refusal) {
		t.Fatalf("got %#v", err)
	}
	if want := `profile "default-scheduler": initializing plugin "Broken": it wants a cache`; err.Error() != want {
		t.Errorf("got %q, want %q", err, want)
	}
}

// otherSort is another queue sort plugin.
type otherSort struct{}

func (otherSort) Name() string                        { return "OtherSort" }
func (otherSort) Less(_, _ fwk.QueuedEntityInfo) bool { return false }

func TestQueueSortRuleIsTheSchedulers(t *testing.T) {
	outOfTree := frameworkruntime.Registry{"OtherSort": func(context.Context, runtime.Object, fwk.Handle) (fwk.Plugin, error) { return otherSort{}, nil }}
	c := configurationWith(t)
	second := *c.Profiles[0].DeepCopy()
	second.SchedulerName = "second"
	second.Plugins.MultiPoint.Enabled[0].Name = "OtherSort"
	c.Profiles = append(c.Profiles, second)
	_, bare := Build(t.Context(), parts(c.DeepCopy(), outOfTree), nil, nil)
	_, ours := observed(t, c, outOfTree, nil)
	for _, err := range []error{bare, ours} {
		if err == nil || !strings.Contains(err.Error(), `different queue sort plugins for profile "second": "OtherSort", first: "PrioritySort"`) {
			t.Errorf("got %v", err)
		}
	}
}

// sortArgs are arguments of a queue sort plugin.
type sortArgs struct {
	runtime.TypeMeta
	By string
}

func (a *sortArgs) DeepCopyObject() runtime.Object { out := *a; return &out }

func (a *sortArgs) GetObjectKind() schema.ObjectKind { return schema.EmptyObjectKind }

func TestQueueSortsWithOtherArgumentsAreRefused(t *testing.T) {
	outOfTree := frameworkruntime.Registry{"OtherSort": func(context.Context, runtime.Object, fwk.Handle) (fwk.Plugin, error) { return otherSort{}, nil }}
	sorted := func(c *config.KubeSchedulerConfiguration, second string) *config.KubeSchedulerConfiguration {
		c.Profiles = append(c.Profiles, *c.Profiles[0].DeepCopy())
		c.Profiles[1].SchedulerName = "second"
		for i, by := range []string{"size", second} {
			c.Profiles[i].Plugins.MultiPoint.Enabled[0].Name = "OtherSort"
			c.Profiles[i].PluginConfig = append(c.Profiles[i].PluginConfig, config.PluginConfig{Name: "OtherSort", Args: &sortArgs{By: by}})
		}
		return c
	}
	for _, tc := range []struct {
		second  string
		refused bool
	}{{"size", false}, {"age", true}} {
		c := sorted(configurationWith(t), tc.second)
		_, bare := Build(t.Context(), parts(c.DeepCopy(), outOfTree), nil, nil)
		_, ours := observed(t, c, outOfTree, nil)
		for _, err := range []error{bare, ours} {
			if refused := err != nil && strings.Contains(err.Error(), "different queue sort plugin args"); refused != tc.refused {
				t.Errorf("sorted by size and by %s: got %v", tc.second, err)
			}
		}
	}
}

// victimless is an extender that leaves a candidate for preemption without victims.
type victimless struct{ scoring }

func (victimless) IsPrioritizer() bool      { return false }
func (victimless) SupportsPreemption() bool { return true }
func (victimless) IsIgnorable() bool        { return false }
func (victimless) ProcessPreemption(_ *v1.Pod, candidates map[string]*extenderv1.Victims, _ fwk.NodeInfoLister) (map[string]*extenderv1.Victims, error) {
	return noVictims(candidates), nil
}

func noVictims(candidates map[string]*extenderv1.Victims) map[string]*extenderv1.Victims {
	out := map[string]*extenderv1.Victims{}
	for node := range candidates {
		out[node] = &extenderv1.Victims{}
	}
	return out
}

func TestVictimlessNodeIsTheSchedulers(t *testing.T) {
	logger := klog.FromContext(t.Context())
	small := map[v1.ResourceName]string{v1.ResourceCPU: "1"}
	pod := st.MakePod().Namespace("default").Name("p").UID("p").Priority(10).Req(small).SchedulerName(v1.DefaultSchedulerName).Obj()
	c := configurationWith(t, names.NodeResourcesFit, names.DefaultPreemption)
	p := parts(c, nil, pod)
	sched, err := Build(t.Context(), p, passing{[]fwk.Extender{victimless{}}}, &Gate{})
	if err != nil {
		t.Fatal(err)
	}
	if err := p.Informers.Core().V1().Pods().Informer().GetStore().Add(pod); err != nil {
		t.Fatal(err)
	}
	sched.Cache.AddNode(logger, nodes(1)[0])
	if err := sched.Cache.AddPod(logger, st.MakePod().Namespace("default").Name("low").UID("low").Priority(0).Req(small).Node("n00000").Obj()); err != nil {
		t.Fatal(err)
	}
	var message string
	sched.FailureHandler = func(_ context.Context, _ framework.Framework, _ *framework.QueuedPodInfo, status *fwk.Status, _ *fwk.NominatingInfo, _ time.Time) {
		message = status.Message()
	}
	sched.SchedulingQueue.Add(t.Context(), pod)
	sched.ScheduleOne(t.Context())
	want := VictimlessNode(map[string]*extenderv1.Victims{"n00000": nil})
	if want == nil || !strings.Contains(message, want.Error()) {
		t.Errorf("the scheduler says %q, the formula %v", message, want)
	}
}
