package capacityscheduling

import (
	"context"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/go-logr/logr"
	v1 "k8s.io/api/core/v1"
	policy "k8s.io/api/policy/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes/fake"
	"k8s.io/klog/v2"
	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/apis/config"
	internalcache "k8s.io/kubernetes/pkg/scheduler/backend/cache"
	"k8s.io/kubernetes/pkg/scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/names"
	"k8s.io/kubernetes/pkg/scheduler/framework/preemption"
	frameworkruntime "k8s.io/kubernetes/pkg/scheduler/framework/runtime"
	"k8s.io/kubernetes/pkg/scheduler/metrics"
	"k8s.io/utils/ptr"

	"kube-scheduler-simulator/scheduler/plugins/capacityscheduling/v1alpha1"
	"kube-scheduler-simulator/scheduler/schedulertest"
)

func TestMain(m *testing.M) {
	metrics.Register()
	klog.SetLogger(logr.Discard())
	os.Exit(m.Run())
}

// amountsIn reads "cpu=4 memory=2Gi"; an empty text is an empty list, and - is no list.
func amountsIn(text string) v1.ResourceList {
	if text == "-" {
		return nil
	}
	list := v1.ResourceList{}
	for _, word := range strings.Fields(text) {
		name, amount, _ := strings.Cut(word, "=")
		list[v1.ResourceName(name)] = resource.MustParse(amount)
	}
	return list
}

// quotaOf returns the quota of a namespace, which has its name; min and max are as for
// amountsIn.
func quotaOf(namespace, min, max string) *v1alpha1.ElasticQuota {
	return &v1alpha1.ElasticQuota{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: namespace, UID: types.UID("quota " + namespace)},
		Spec:       v1alpha1.ElasticQuotaSpec{Min: amountsIn(min), Max: amountsIn(max)},
	}
}

// podOf reads a pod such as "q1/a on=n1 priority=10 start=3 cpu=2 init.cpu=5 overhead.cpu=1".
// Words without a known name are requests of its one container.
func podOf(t *testing.T, text string) *v1.Pod {
	t.Helper()
	words := strings.Fields(text)
	namespace, name, _ := strings.Cut(words[0], "/")
	pod := &v1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name, UID: types.UID(words[0])}}
	pod.Spec.Priority = ptr.To[int32](0)
	requests := map[string]v1.ResourceList{}
	for _, word := range words[1:] {
		key, value, _ := strings.Cut(word, "=")
		switch key {
		case "on":
			pod.Spec.NodeName = value
		case "nominated":
			pod.Status.NominatedNodeName = value
		case "phase":
			pod.Status.Phase = v1.PodPhase(value)
		case "policy":
			pod.Spec.PreemptionPolicy = ptr.To(v1.PreemptionPolicy(value))
		case "app":
			pod.Labels = map[string]string{"app": value}
		case "deleted":
			pod.DeletionTimestamp = &metav1.Time{}
		case "priority":
			n, err := strconv.Atoi(value)
			if err != nil {
				t.Fatal(err)
			}
			pod.Spec.Priority = ptr.To(int32(n))
		case "start":
			n, err := strconv.Atoi(value)
			if err != nil {
				t.Fatal(err)
			}
			pod.Status.StartTime = &metav1.Time{Time: time.Unix(int64(n), 0)}
		default:
			container, requested := "", key
			if at := strings.IndexByte(key, '.'); at >= 0 && slices.Contains([]string{"init", "sidecar", "second", "overhead", "level"}, key[:at]) {
				container, requested = key[:at], key[at+1:]
			}
			if requests[container] == nil {
				requests[container] = v1.ResourceList{}
			}
			requests[container][v1.ResourceName(requested)] = resource.MustParse(value)
		}
	}
	part := func(name string) v1.Container {
		return v1.Container{Name: "c" + name, Resources: v1.ResourceRequirements{Requests: requests[name]}}
	}
	pod.Spec.Containers = []v1.Container{part("")}
	if requests["second"] != nil {
		pod.Spec.Containers = append(pod.Spec.Containers, part("second"))
	}
	if requests["init"] != nil {
		pod.Spec.InitContainers = append(pod.Spec.InitContainers, part("init"))
	}
	if requests["sidecar"] != nil {
		sidecar := part("sidecar")
		sidecar.RestartPolicy = ptr.To(v1.ContainerRestartPolicyAlways)
		pod.Spec.InitContainers = append(pod.Spec.InitContainers, sidecar)
	}
	pod.Spec.Overhead = requests["overhead"]
	if requests["level"] != nil {
		pod.Spec.Resources = &v1.ResourceRequirements{Requests: requests["level"]}
	}
	return pod
}

// nodeOf reads a node such as "n1 cpu=8".
func nodeOf(text string) *v1.Node {
	name, capacity, _ := strings.Cut(text, " ")
	list := amountsIn(capacity)
	for name, amount := range map[v1.ResourceName]string{"pods": "100", "memory": "1Ti", "ephemeral-storage": "1Ti"} {
		if _, set := list[name]; !set {
			list[name] = resource.MustParse(amount)
		}
	}
	return &v1.Node{ObjectMeta: metav1.ObjectMeta{Name: name}, Status: v1.NodeStatus{Capacity: list, Allocatable: list}}
}

// stage is a profile with the plugin and NodeResourcesFit on a cluster that does not change.
type stage struct {
	framework framework.Framework
	plugin    *Plugin
	snapshot  *internalcache.Snapshot
	evicted   []string
}

// newStage starts the plugin when the quotas and the pods exist already.
func newStage(t *testing.T, quotas []*v1alpha1.ElasticQuota, nodes []string, pods []*v1.Pod, others ...runtime.Object) *stage {
	t.Helper()
	objects := others
	for _, q := range quotas {
		objects = append(objects, q)
	}
	for _, p := range pods {
		objects = append(objects, p)
	}
	factory := informers.NewSharedInformerFactory(fake.NewClientset(), 0)
	kinds := []runtime.Object{&v1alpha1.ElasticQuota{}, &v1.Pod{}, &policy.PodDisruptionBudget{}}
	if err := schedulertest.Store(factory, kinds, objects); err != nil {
		t.Fatal(err)
	}
	var placed []*v1.Pod
	for _, p := range pods {
		if p.Spec.NodeName != "" {
			placed = append(placed, p)
		}
	}
	var cluster []*v1.Node
	for _, n := range nodes {
		cluster = append(cluster, nodeOf(n))
	}
	s := &stage{snapshot: internalcache.NewSnapshot(placed, cluster)}
	registry := plugins.NewInTreeRegistry()
	registry[Name] = func(ctx context.Context, args runtime.Object, h fwk.Handle) (fwk.Plugin, error) {
		p, err := New(ctx, args, h)
		s.plugin, _ = p.(*Plugin)
		return p, err
	}
	enabled := []config.Plugin{{Name: names.PrioritySort}, {Name: names.DefaultBinder}, {Name: names.NodeResourcesFit}, {Name: Name}}
	profile := &config.KubeSchedulerProfile{SchedulerName: "s", Plugins: &config.Plugins{MultiPoint: config.PluginSet{Enabled: enabled}}}
	profile.PluginConfig = []config.PluginConfig{{Name: names.NodeResourcesFit, Args: &config.NodeResourcesFitArgs{
		ScoringStrategy: &config.ScoringStrategy{Type: config.LeastAllocated, Resources: []config.ResourceSpec{{Name: "cpu", Weight: 1}}},
	}}}
	made, err := frameworkruntime.NewFramework(t.Context(), registry, profile,
		frameworkruntime.WithInformerFactory(factory), frameworkruntime.WithSnapshotSharedLister(s.snapshot), frameworkruntime.WithMutableSnapshotLister(s.snapshot),
		frameworkruntime.WithPodNominator(nominated(pods)), frameworkruntime.WithParallelism(1))
	if err != nil {
		t.Fatal(err)
	}
	s.framework = made
	s.plugin.executor.PreemptPod = func(_ context.Context, _ preemption.Candidate, _ preemption.ExecutorPreemptor, victim *v1.Pod, _ string) (bool, error) {
		s.evicted = append(s.evicted, victim.Namespace+"/"+victim.Name)
		return false, nil
	}
	return s
}

// nominated are pods that have a nominated node and no node.
type nominated []*v1.Pod

var _ fwk.PodNominator = nominated{}

func (nominated) AddNominatedPod(klog.Logger, fwk.PodInfo, *fwk.NominatingInfo) {}
func (nominated) DeleteNominatedPodIfExists(*v1.Pod)                            {}
func (nominated) UpdateNominatedPod(klog.Logger, *v1.Pod, fwk.PodInfo)          {}

func (n nominated) NominatedPodsForNode(node string) (out []fwk.PodInfo) {
	for _, p := range n {
		if p.Status.NominatedNodeName == node && p.Spec.NodeName == "" {
			info, _ := framework.NewPodInfo(p)
			out = append(out, info)
		}
	}
	return out
}

// attempt is what a cycle says about a pod.
type attempt struct {
	state fwk.CycleState
	// preFilter is the message of PreFilter, empty for a success.
	preFilter string
	// unfit are the nodes that Filter rejects.
	unfit []string
	// postFilter is the message of PostFilter, and nominated the node that it found.
	// Both are empty if it did not run.
	postFilter, nominated string
	// victims are in the order in which they are evicted.
	victims []string
}

// try runs a cycle up to PostFilter, as the scheduler does.
func (s *stage) try(t *testing.T, pod *v1.Pod) attempt {
	t.Helper()
	ctx := t.Context()
	a := attempt{state: framework.NewCycleState()}
	statuses := framework.NewDefaultNodeToStatus()
	_, status, _ := s.framework.RunPreFilterPlugins(ctx, a.state, pod)
	nodes, err := s.snapshot.NodeInfos().List()
	if err != nil {
		t.Fatal(err)
	}
	fits := false
	if status.IsSuccess() {
		for _, n := range nodes {
			status := s.framework.RunFilterPluginsWithNominatedPods(ctx, a.state, pod, n)
			if status.IsSuccess() {
				fits = true
				continue
			}
			a.unfit = append(a.unfit, n.Node().Name)
			statuses.Set(n.Node().Name, status)
		}
	} else {
		a.preFilter = status.Message()
		statuses.SetAbsentNodesStatus(status)
	}
	if fits {
		return a
	}
	result, status := s.framework.RunPostFilterPlugins(ctx, a.state, pod, statuses)
	a.postFilter = status.Message()
	if result != nil && result.NominatingInfo != nil {
		a.nominated = result.NominatedNodeName
	}
	a.victims = s.evicted
	return a
}

// used writes what the ledger has for each namespace.
func (p *Plugin) used() string {
	all := p.ledger.snapshot()
	var out []string
	for namespace, q := range all.of {
		out = append(out, fmt.Sprintf("%s:%s", namespace, cpus(q.used[v1.ResourceCPU])))
	}
	slices.Sort(out)
	return strings.Join(out, " ")
}

// cpus writes thousandths of a core.
func cpus(n int64) string { return fmt.Sprint(float64(n) / 1000) }
