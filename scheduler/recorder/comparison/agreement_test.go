package comparison

import (
	"context"
	"flag"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/go-logr/logr"
	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	v1 "k8s.io/api/core/v1"
	resourceapi "k8s.io/api/resource/v1"
	storagev1 "k8s.io/api/storage/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	utilfeature "k8s.io/apiserver/pkg/util/feature"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes/fake"
	featuregatetesting "k8s.io/component-base/featuregate/testing"
	"k8s.io/klog/v2"
	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/apis/config"
	internalcache "k8s.io/kubernetes/pkg/scheduler/backend/cache"
	"k8s.io/kubernetes/pkg/scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/names"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/nodevolumelimits"
	frameworkruntime "k8s.io/kubernetes/pkg/scheduler/framework/runtime"
	"k8s.io/kubernetes/pkg/scheduler/metrics"

	"kube-scheduler-simulator/scheduler/plugins/noderesourcetopology"
	"kube-scheduler-simulator/scheduler/plugins/noderesourcetopology/v1alpha2"
	"kube-scheduler-simulator/scheduler/recorder"
	"kube-scheduler-simulator/scheduler/result"
	"kube-scheduler-simulator/scheduler/schedulertest"
)

var seedFlag = flag.Uint64("seed", 0, "run only the random clusters of this seed")

func TestMain(m *testing.M) {
	flag.Parse()
	metrics.Register()
	klog.SetLogger(logr.Discard())
	os.Exit(m.Run())
}

// random makes the choices of one cluster.
type random struct{ *rand.Rand }

// one returns one of the choices.
func one[T any](r random, choices ...T) T { return choices[r.IntN(len(choices))] }

// in reports true in one of n cases.
func (r random) in(n int) bool { return r.IntN(n) == 0 }

// cluster is a small random cluster in which one plugin filters the nodes for a pod.
type cluster struct {
	gates  featuregatetesting.FeatureOverrides
	args   runtime.Object
	nodes  []*v1.Node
	placed []*v1.Pod
	pod    *v1.Pod
	// objects are what the informers know.
	objects []runtime.Object
	// dra makes the manager of devices; nil means none.
	dra func(ctx context.Context, t *testing.T, factory informers.SharedInformerFactory) fwk.SharedDRAManager
	// nominated is filtered as if it ran on a node: the pod's attempt finds it there.
	nominated *v1.Pod
	// extender: the nodes are scored as an extender without a node cache returned them.
	extender bool
}

// answer is what the plugin and its comparer say about a node.
type answer struct {
	node     *framework.NodeInfo
	status   *fwk.Status
	found    *result.Comparison
	distance float64
	// passed is what was compared on a node that the plugin let through.
	passed *result.Comparison
}

// subject is a plugin in a cluster, with its comparer.
type subject struct {
	framework framework.Framework
	comparer  recorder.Comparer
	scorer    recorder.Scorer
	cluster   *cluster
	snapshot  *internalcache.Snapshot
	t         *testing.T
	// removesPods: the pods of rejected nodes are removed, to see what the plugin says then. It
	// needs a framework for each node, so in a long run it is tried in every tenth cluster.
	removesPods bool
}

// agreement tests the comparer of a plugin on random clusters.
type agreement struct {
	plugin string
	// clusters is how many there are; -short runs a tenth.
	clusters uint64
	generate func(r random) *cluster
	// verify checks the facts of a node that the plugin rejected: each must be true, and
	// together they must be the plugin's reason. It returns an error that says what is
	// wrong.
	verify func(s *subject, a answer) error
	// passed checks what was compared on a node that the plugin let through, apart from
	// verifyPassed; nil checks nothing more.
	passed func(s *subject, a answer) error
	// mayFail is true if the plugin may fail on a node.
	mayFail bool
	// short reports whether facts name a shortage; nil if any facts do.
	short func(found *result.Comparison) bool
}

func (a agreement) test(t *testing.T) {
	first, last := uint64(1), a.clusters
	if testing.Short() {
		last /= 10
	}
	if *seedFlag != 0 {
		first, last = *seedFlag, *seedFlag
	}
	passed, rejected := 0, 0
	for seed := first; seed <= last; seed++ {
		c := a.generate(random{rand.New(rand.NewPCG(seed, 0))})
		for _, answer := range a.run(t, c, seed) {
			if answer.status.IsSuccess() {
				passed++
			} else {
				rejected++
			}
		}
	}
	t.Logf("%d nodes passed, %d were rejected", passed, rejected)
	if n := int(last - first); *seedFlag == 0 && (passed < n || rejected < n) {
		t.Error("the random clusters test too little")
	}
}

// run has the plugin filter all nodes of a cluster and checks each answer.
func (a agreement) run(t *testing.T, c *cluster, seed uint64) []answer {
	t.Helper()
	var answers []answer
	undo := setGates(t, c.gates)
	defer undo()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	s := build(ctx, t, a.plugin, c)
	s.removesPods = testing.Short() || seed%10 == 0
	state, status := s.preFilter(ctx, c.pod)
	if !status.IsSuccess() {
		return nil
	}
	var comparing recorder.Comparing
	for _, n := range s.nodes(t) {
		answer := answer{node: n}
		s.nominate(t, n)
		state := s.stateOn(ctx, c.pod, state, n)
		answer.status = s.framework.RunFilterPlugins(ctx, state, c.pod, n)
		if answer.status.Code() == fwk.Error {
			if a.mayFail {
				continue // The scheduler ends the attempt with an error.
			}
			t.Fatalf("seed %d, node %s: %v", seed, n.Node().Name, answer.status)
		}
		if comparing == nil {
			if state.GetSkipFilterPlugins().Has(a.plugin) {
				answers = append(answers, answer)
				continue
			}
			if comparing = s.comparer.Begin(state, c.pod); comparing == nil {
				t.Fatalf("seed %d: the comparer cannot begin", seed)
			}
		}
		answer.found = compare(comparing, state, n)
		answer.distance = comparing.Distance(state, n, answer.status)
		if answer.status.IsSuccess() {
			answer.passed = &result.Comparison{}
			if !comparing.Passed(state, n, answer.passed) {
				t.Fatalf("seed %d, node %s: the plugin lets it through; the comparer does not know why", seed, n.Node().Name)
			}
		}
		if err := a.check(s, answer); err != nil {
			t.Fatalf("seed %d, node %s: the plugin says %v %q, the comparer %s and %s: %v",
				seed, n.Node().Name, answer.status.Code(), answer.status.Message(), cmp.Diff(nil, answer.found), cmp.Diff(nil, answer.passed), err)
		}
		answers = append(answers, answer)
	}
	return answers
}

// compare returns nil if the comparer does not know.
func compare(comparing recorder.Comparing, state fwk.CycleState, node fwk.NodeInfo) *result.Comparison {
	found := &result.Comparison{}
	if !comparing.Compare(state, node, found) {
		return nil
	}
	if tracer, ok := comparing.(recorder.Tracer); ok {
		tracer.Trace(node, found)
	}
	return found
}

func (a agreement) check(s *subject, of answer) error {
	switch {
	case of.status.IsSuccess() && of.found != nil && (a.short == nil || a.short(of.found)):
		return fmt.Errorf("it names a shortage that the plugin does not see")
	case of.status.IsSuccess():
		if err := verifyPassed(of.passed, of.node.Node()); err != nil || a.passed == nil {
			return err
		}
		return a.passed(s, of)
	case math.IsNaN(of.distance) || of.distance < 0:
		return fmt.Errorf("the distance is %v", of.distance)
	case of.found == nil:
		return fmt.Errorf("it does not say why")
	}
	if err := a.verify(s, of); err != nil || !s.removesPods {
		return err
	}
	return a.withoutPods(s, of)
}

// withoutPods removes the pods of a node that the plugin rejected, and has the plugin filter the
// node again.
func (a agreement) withoutPods(s *subject, of answer) error {
	if of.found.WithoutPods == "" || s.isNominated(of.node) { // The recorder drops it for such a node.
		return nil
	}
	emptied := *s.cluster
	emptied.placed = slices.DeleteFunc(slices.Clone(emptied.placed), func(p *v1.Pod) bool { return p.Spec.NodeName == of.node.Node().Name })
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	again := build(ctx, s.t, a.plugin, &emptied)
	state, status := again.preFilter(ctx, emptied.pod)
	if status.IsSuccess() {
		for _, n := range again.nodes(s.t) {
			if n.Node().Name == of.node.Node().Name {
				status = again.framework.RunFilterPlugins(ctx, state, emptied.pod, n)
			}
		}
	}
	if passes := of.found.WithoutPods == result.PassesWithoutPods; status.IsSuccess() != passes {
		return fmt.Errorf("it says that the plugin %s without the pods there, which says %v", of.found.WithoutPods, status)
	}
	return nil
}

// isAsFarAs checks that the distance is that of a node with this many shortages, whatever
// their sizes.
func (a answer) isAsFarAs(shortages int) error {
	if math.Floor(a.distance) != float64(shortages) {
		return fmt.Errorf("with %d shortages the distance is %v", shortages, a.distance)
	}
	return nil
}

// setGates sets feature gates until undo is called.
func setGates(t *testing.T, gates featuregatetesting.FeatureOverrides) (undo func()) {
	t.Helper()
	if len(gates) == 0 {
		return func() {}
	}
	before, during := map[string]bool{}, map[string]bool{}
	for gate, value := range gates {
		before[string(gate)] = utilfeature.DefaultFeatureGate.Enabled(gate)
		during[string(gate)] = value
	}
	set := func(values map[string]bool) {
		if err := utilfeature.DefaultMutableFeatureGate.SetFromMap(values); err != nil {
			t.Fatal(err)
		}
	}
	set(during)
	return func() { set(before) }
}

// build builds Kubernetes' framework with only one plugin, and the plugin's comparer
// from the same arguments and handle.
func build(ctx context.Context, t *testing.T, plugin string, c *cluster) *subject {
	t.Helper()
	s := &subject{t: t, cluster: c, snapshot: internalcache.NewSnapshot(c.placed, c.nodes)}
	factory := informers.NewSharedInformerFactory(idle, 0)
	if err := schedulertest.Store(factory, kinds, c.objects); err != nil {
		t.Fatal(err)
	}
	registry := plugins.NewInTreeRegistry()
	registry[noderesourcetopology.Name] = noderesourcetopology.New
	inner := registry[plugin]
	registry[plugin] = func(ctx context.Context, args runtime.Object, h fwk.Handle) (fwk.Plugin, error) {
		made, err := inner(ctx, args, h)
		s.comparer, s.scorer = InTree{}.Comparer(plugin, args, h), InTree{}.Scorer(plugin, args, h)
		return made, err
	}
	profile := &config.KubeSchedulerProfile{SchedulerName: "s", Plugins: &config.Plugins{
		MultiPoint: config.PluginSet{Enabled: []config.Plugin{{Name: names.PrioritySort}, {Name: names.DefaultBinder}, {Name: plugin}}},
	}}
	if c.args != nil {
		profile.PluginConfig = []config.PluginConfig{{Name: plugin, Args: c.args}}
	}
	options := []frameworkruntime.Option{
		frameworkruntime.WithInformerFactory(factory), frameworkruntime.WithClientSet(idle),
		frameworkruntime.WithSnapshotSharedLister(s.snapshot), frameworkruntime.WithParallelism(1),
		frameworkruntime.WithWaitingPods(frameworkruntime.NewWaitingPodsMap()),
	}
	options = append(options, frameworkruntime.WithSharedCSIManager(nodevolumelimits.NewCSIManager(factory.Storage().V1().CSINodes().Lister())))
	if c.dra != nil {
		options = append(options, frameworkruntime.WithSharedDRAManager(c.dra(ctx, t, factory)))
	}
	made, err := frameworkruntime.NewFramework(ctx, registry, profile, options...)
	if err != nil {
		t.Fatal(err)
	}
	s.framework = made
	return s
}

// idle is a client that nothing calls, because the informers are stores.
var idle = fake.NewClientset()

// kinds are the kinds of objects that plugins have informers for.
var kinds = []runtime.Object{
	&v1.Namespace{}, &v1.Pod{}, &v1.Node{}, &v1.PersistentVolume{}, &v1.PersistentVolumeClaim{},
	&storagev1.StorageClass{}, &storagev1.VolumeAttachment{}, &storagev1.CSINode{}, &storagev1.CSIDriver{}, &storagev1.CSIStorageCapacity{},
	&resourceapi.ResourceClaim{}, &resourceapi.ResourceSlice{}, &resourceapi.DeviceClass{},
	&v1alpha2.NodeResourceTopology{}, &v1.Service{}, &v1.ReplicationController{}, &appsv1.ReplicaSet{}, &appsv1.StatefulSet{},
}

// preFilter starts an attempt.
func (s *subject) preFilter(ctx context.Context, pod *v1.Pod) (fwk.CycleState, *fwk.Status) {
	state := framework.NewCycleState()
	_, status, _ := s.framework.RunPreFilterPlugins(ctx, state, pod)
	return state, status
}

// filter runs one attempt of a pod on one node.
func (s *subject) filter(pod *v1.Pod, node *framework.NodeInfo) *fwk.Status {
	state, status := s.preFilter(context.Background(), pod)
	if !status.IsSuccess() {
		return status
	}
	return s.framework.RunFilterPlugins(context.Background(), state, pod, node)
}

// nodes returns copies of the snapshot's nodes, by name.
func (s *subject) nodes(t *testing.T) []*framework.NodeInfo {
	t.Helper()
	list, err := s.snapshot.NodeInfos().List()
	if err != nil {
		t.Fatal(err)
	}
	var out []*framework.NodeInfo
	for _, n := range list {
		out = append(out, n.Snapshot().(*framework.NodeInfo))
	}
	slices.SortFunc(out, func(a, b *framework.NodeInfo) int { return strings.Compare(a.Node().Name, b.Node().Name) })
	return out
}

// nominate adds the nominated pod to its node, as the scheduler does.
func (s *subject) nominate(t *testing.T, n *framework.NodeInfo) {
	t.Helper()
	if s.isNominated(n) {
		added, err := framework.NewPodInfo(s.cluster.nominated)
		if err != nil {
			t.Fatal(err)
		}
		n.AddPodInfo(added)
	}
}

func (s *subject) isNominated(n *framework.NodeInfo) bool {
	return s.cluster.nominated != nil && s.cluster.nominated.Status.NominatedNodeName == n.Node().Name
}

// stateOn returns the state in which the plugin filters a node: if a pod is nominated
// there, a clone that counts it.
func (s *subject) stateOn(ctx context.Context, pod *v1.Pod, state fwk.CycleState, n *framework.NodeInfo) fwk.CycleState {
	if !s.isNominated(n) {
		return state
	}
	clone := state.Clone()
	added, _ := framework.NewPodInfo(s.cluster.nominated)
	s.framework.RunPreFilterExtensionAddPod(ctx, clone, pod, added, n)
	return clone
}

// pod returns a pod without containers.
func pod(name, node string) *v1.Pod {
	return &v1.Pod{
		ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: name, UID: types.UID(name), Labels: map[string]string{}},
		Spec:       v1.PodSpec{NodeName: node},
	}
}

// labelledNodes returns nodes with a random part of the usual topology labels.
func labelledNodes(r random, n int) []*v1.Node {
	var out []*v1.Node
	for i := range n {
		node := &v1.Node{ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprint("n", i), Labels: map[string]string{}}}
		if !r.in(6) {
			node.Labels[v1.LabelTopologyZone] = fmt.Sprint("z", r.IntN(3))
		}
		if !r.in(8) {
			node.Labels[v1.LabelHostname] = node.Name
		}
		if r.in(2) {
			node.Labels["rack"] = fmt.Sprint("r", r.IntN(2))
		}
		out = append(out, node)
	}
	return out
}
