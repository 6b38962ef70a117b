// Package directed asks one plugin about a small cluster, at the plugin's own extension points. Its
// testdata are inputs on which our plugins once differed from the originals of
// kubernetes-sigs/scheduler-plugins, each with the original's answers. The test holds our plugins
// to them; the module scheduler/plugins/judge replays them, and random ones, with the originals.
//
// Only tests import the package. It may import the plugins' API types, scheduler/schedulertest and
// Kubernetes' scheduler.
package directed

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/events"
	"k8s.io/klog/v2"
	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/apis/config"
	internalcache "k8s.io/kubernetes/pkg/scheduler/backend/cache"
	"k8s.io/kubernetes/pkg/scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/names"
	frameworkruntime "k8s.io/kubernetes/pkg/scheduler/framework/runtime"

	"kube-scheduler-simulator/scheduler/plugins/noderesourcetopology/v1alpha2"
)

// Case is an input with the answers.
type Case struct {
	// Plugin is its name, and Args are its arguments as in a KubeSchedulerConfiguration.
	Plugin string          `json:"plugin"`
	Args   json.RawMessage `json:"args,omitempty"`
	// Objects exist when the plugin starts.
	Objects []*unstructured.Unstructured `json:"objects"`
	// Pods are those that steps name. Steps create them.
	Pods  map[string]*v1.Pod `json:"pods"`
	Steps []Step             `json:"steps"`
	// Original are the original's answers, one for each step that asks. Ours are the same, unless
	// Known says why not.
	Original []Answer `json:"original,omitempty"`
	Known    string   `json:"known,omitempty"`
	Ours     []Answer `json:"ours,omitempty"`
}

// Right returns the answers that our plugin must give.
func (c *Case) Right() []Answer {
	if c.Known != "" {
		return c.Ours
	}
	return c.Original
}

// What a step does.
const (
	// Check asks Filter and, if the node passes, Score.
	Check = "check"
	// Try asks PreFilter, Filter on every node and, if none passes, PostFilter.
	Try = "try"
	// Reserve, Unreserve and PostBind call the plugin for a pod on a node.
	Reserve   = "reserve"
	Unreserve = "unreserve"
	PostBind  = "postBind"
	// Run creates a running pod on a node, whose scheduler is By. Pending creates one without a
	// node.
	Run     = "run"
	Pending = "pending"
	// Finish lets a pod succeed. Delete deletes it; a later step that names it means another pod.
	Finish = "finish"
	Delete = "delete"
	// Report is the node agent's: it writes the node's topology with the policy, and with the
	// fingerprint of the pods Prints if they are not nil.
	Report = "report"
	// Wait lets the seconds pass, and begins a cycle.
	Wait = "wait"
)

type Step struct {
	Do      string   `json:"do"`
	Pod     string   `json:"pod,omitempty"`
	Node    string   `json:"node,omitempty"`
	By      string   `json:"by,omitempty"`
	Policy  string   `json:"policy,omitempty"`
	Prints  []string `json:"prints,omitzero"`
	Seconds int      `json:"seconds,omitempty"`
}

// Answer is what the plugin says in a step that asks.
type Answer struct {
	Refused string `json:"refused,omitempty"`
	Score   int64  `json:"score,omitempty"`
	// Nominated is the node that PostFilter found, and Victims are the pods that it deleted.
	Nominated string   `json:"nominated,omitempty"`
	Victims   []string `json:"victims,omitempty"`
	// Panics: the plugin panicked instead.
	Panics bool `json:"panics,omitempty"`
}

// Server is an API server in memory, whose clients are made from a configuration.
type Server interface {
	Config(userAgent string) *rest.Config
}

type world struct {
	*Case
	client    kubernetes.Interface
	framework framework.Framework
	snapshot  *internalcache.Snapshot
	plugin    fwk.Plugin
	// generation counts how often a pod has been deleted.
	generation map[string]int
	topologies map[string]*v1alpha2.NodeResourceTopology
}

// Replay returns the answers of factory's plugin. The server must be empty. Call Replay within a
// bubble of testing/synctest. ctx ends the informers.
func Replay(ctx context.Context, c *Case, server Server, factory frameworkruntime.PluginFactory) ([]Answer, error) {
	w := &world{Case: c, generation: map[string]int{}, topologies: map[string]*v1alpha2.NodeResourceTopology{}}
	var err error
	if w.client, err = kubernetes.NewForConfig(server.Config("user")); err != nil {
		return nil, err
	}
	for _, o := range c.Objects {
		if err := Create(ctx, w.client, o); err != nil {
			return nil, err
		}
		if o.GetKind() == "NodeResourceTopology" {
			t := &v1alpha2.NodeResourceTopology{}
			if err := runtime.DefaultUnstructuredConverter.FromUnstructured(o.Object, t); err != nil {
				return nil, err
			}
			w.topologies[o.GetName()] = t
		}
	}
	if w.snapshot, err = w.look(ctx); err != nil {
		return nil, err
	}
	if err := w.start(ctx, server, factory); err != nil {
		return nil, err
	}
	answers := []Answer{}
	for i, s := range c.Steps {
		answer, err := w.step(ctx, s)
		if err != nil {
			return nil, fmt.Errorf("step %d: %w", i, err)
		}
		if answer != nil {
			answers = append(answers, *answer)
		}
	}
	return answers, nil
}

func (w *world) look(ctx context.Context) (*internalcache.Snapshot, error) {
	pods, err := w.client.CoreV1().Pods(v1.NamespaceAll).List(ctx, metav1.ListOptions{})
	if err != nil {
		return nil, err
	}
	nodes, err := w.client.CoreV1().Nodes().List(ctx, metav1.ListOptions{})
	if err != nil {
		return nil, err
	}
	var placed []*v1.Pod
	for i := range pods.Items {
		if pods.Items[i].Spec.NodeName != "" {
			placed = append(placed, &pods.Items[i])
		}
	}
	var all []*v1.Node
	for i := range nodes.Items {
		all = append(all, &nodes.Items[i])
	}
	return internalcache.NewSnapshot(placed, all), nil
}

// settle is long enough for every event to be handled.
const settle = 100 * time.Millisecond

func (w *world) start(ctx context.Context, server Server, factory frameworkruntime.PluginFactory) error {
	client, err := kubernetes.NewForConfig(server.Config("scheduler"))
	if err != nil {
		return err
	}
	shared := informers.NewSharedInformerFactory(client, 0)
	registry := plugins.NewInTreeRegistry()
	registry[w.Plugin] = func(ctx context.Context, args runtime.Object, h fwk.Handle) (fwk.Plugin, error) {
		made, err := factory(ctx, args, h)
		w.plugin = made
		return made, err
	}
	enabled := []config.Plugin{{Name: names.PrioritySort}, {Name: names.DefaultBinder}, {Name: names.NodeResourcesFit}, {Name: w.Plugin}}
	args := w.Args
	if args == nil {
		args = json.RawMessage("{}")
	}
	profile := &config.KubeSchedulerProfile{
		SchedulerName: v1.DefaultSchedulerName,
		Plugins:       &config.Plugins{MultiPoint: config.PluginSet{Enabled: enabled}},
		PluginConfig: []config.PluginConfig{
			{Name: w.Plugin, Args: &runtime.Unknown{Raw: args, ContentType: runtime.ContentTypeJSON}},
			{Name: names.NodeResourcesFit, Args: &config.NodeResourcesFitArgs{
				ScoringStrategy: &config.ScoringStrategy{Type: config.LeastAllocated, Resources: []config.ResourceSpec{{Name: "cpu", Weight: 1}}},
			}},
		},
	}
	w.framework, err = frameworkruntime.NewFramework(ctx, registry, profile,
		frameworkruntime.WithClientSet(client), frameworkruntime.WithKubeConfig(server.Config("scheduler")), frameworkruntime.WithInformerFactory(shared),
		frameworkruntime.WithSnapshotSharedLister(w.snapshot), frameworkruntime.WithMutableSnapshotLister(w.snapshot),
		frameworkruntime.WithPodNominator(nobody{}), frameworkruntime.WithParallelism(1), frameworkruntime.WithWaitingPods(frameworkruntime.NewWaitingPodsMap()),
		frameworkruntime.WithPodsInPreBind(frameworkruntime.NewPodsInPreBindMap()), frameworkruntime.WithEventRecorder(&events.FakeRecorder{}))
	if err != nil {
		return err
	}
	shared.Start(ctx.Done())
	shared.WaitForCacheSync(ctx.Done())
	time.Sleep(settle)
	return nil
}

type nobody struct{}

func (nobody) AddNominatedPod(klog.Logger, fwk.PodInfo, *fwk.NominatingInfo) {}
func (nobody) DeleteNominatedPodIfExists(*v1.Pod)                            {}
func (nobody) UpdateNominatedPod(klog.Logger, *v1.Pod, fwk.PodInfo)          {}
func (nobody) NominatedPodsForNode(string) []fwk.PodInfo                     { return nil }

func (w *world) pod(name string) (*v1.Pod, error) {
	template := w.Pods[name]
	if template == nil {
		return nil, fmt.Errorf("there is no pod %s", name)
	}
	pod := template.DeepCopy()
	pod.UID = types.UID(fmt.Sprintf("%s/%d", name, w.generation[name]))
	return pod, nil
}

func (w *world) step(ctx context.Context, s Step) (*Answer, error) {
	var pod *v1.Pod
	var err error
	switch s.Do {
	case Report, Wait:
	default:
		if pod, err = w.pod(s.Pod); err != nil {
			return nil, err
		}
	}
	reserves, _ := w.plugin.(fwk.ReservePlugin)
	switch s.Do {
	case Check:
		return w.check(ctx, pod, s.Node)
	case Try:
		return w.try(ctx, pod)
	case Reserve:
		return nil, reserves.Reserve(ctx, framework.NewCycleState(), pod, s.Node).AsError()
	case Unreserve:
		reserves.Unreserve(ctx, framework.NewCycleState(), pod, s.Node)
		return nil, nil
	case PostBind:
		w.plugin.(fwk.PostBindPlugin).PostBind(ctx, framework.NewCycleState(), pod, s.Node)
		return nil, nil
	case Wait:
		time.Sleep(time.Duration(s.Seconds) * time.Second)
		// The original compares its cache on a timer, ours at the start of the next cycle.
		if p, ok := w.plugin.(fwk.PreFilterPlugin); ok {
			p.PreFilter(ctx, framework.NewCycleState(), &v1.Pod{}, nil)
		}
		return nil, nil
	}
	defer time.Sleep(settle)
	pods := func() rest.Interface { return w.client.CoreV1().RESTClient() }
	switch s.Do {
	case Run:
		pod.Spec.NodeName, pod.Spec.SchedulerName, pod.Status.Phase = s.Node, s.By, v1.PodRunning
		_, err = w.client.CoreV1().Pods(pod.Namespace).Create(ctx, pod, metav1.CreateOptions{})
	case Pending:
		pod.Status.Phase = v1.PodPending
		_, err = w.client.CoreV1().Pods(pod.Namespace).Create(ctx, pod, metav1.CreateOptions{})
	case Finish:
		err = pods().Patch(types.MergePatchType).Namespace(pod.Namespace).Resource("pods").Name(pod.Name).SubResource("status").
			Body([]byte(`{"status":{"phase":"Succeeded"}}`)).Do(ctx).Error()
	case Delete:
		w.generation[s.Pod]++
		err = w.client.CoreV1().Pods(pod.Namespace).Delete(ctx, pod.Name, metav1.DeleteOptions{})
	case Report:
		err = w.report(ctx, s)
	default:
		err = fmt.Errorf("no step %q", s.Do)
	}
	return nil, err
}

// report writes a topology as it was when the plugin started, except for its attributes.
func (w *world) report(ctx context.Context, s Step) error {
	t := w.topologies[s.Node]
	if t == nil {
		return fmt.Errorf("node %s has no topology", s.Node)
	}
	t = t.DeepCopyObject().(*v1alpha2.NodeResourceTopology)
	set := func(name, value string) {
		t.Attributes = slices.DeleteFunc(t.Attributes, func(a v1alpha2.Attribute) bool { return a.Name == name })
		t.Attributes = append(t.Attributes, v1alpha2.Attribute{Name: name, Value: value})
	}
	if s.Policy != "" {
		set(v1alpha2.AttributePolicy, s.Policy)
	}
	if s.Prints != nil {
		var pods []*v1.Pod
		for _, name := range s.Prints {
			pod, err := w.pod(name)
			if err != nil {
				return err
			}
			pods = append(pods, pod)
		}
		set(v1alpha2.AttributeFingerprint, v1alpha2.FingerprintOf(pods))
	}
	return w.client.CoreV1().RESTClient().Put().AbsPath(pathOf("topology.node.k8s.io/v1alpha2", "noderesourcetopologies", "", t.Name)...).Body(encoded(t)).Do(ctx).Error()
}

func (w *world) check(ctx context.Context, pod *v1.Pod, name string) (answer *Answer, err error) {
	answer = &Answer{}
	defer func() {
		if recover() != nil {
			answer = &Answer{Panics: true}
		}
	}()
	node, err := w.snapshot.NodeInfos().Get(name)
	if err != nil {
		return nil, err
	}
	state := framework.NewCycleState()
	if p, ok := w.plugin.(fwk.PreFilterPlugin); ok {
		if _, status := p.PreFilter(ctx, state, pod, nil); !status.IsSuccess() {
			return nil, status.AsError()
		}
	}
	if status := w.plugin.(fwk.FilterPlugin).Filter(ctx, state, pod, node.Snapshot()); !status.IsSuccess() {
		answer.Refused = status.Message()
		return answer, nil
	}
	var status *fwk.Status
	answer.Score, status = w.plugin.(fwk.ScorePlugin).Score(ctx, state, pod, node.Snapshot())
	return answer, status.AsError()
}

// try asks as a scheduling cycle does.
func (w *world) try(ctx context.Context, pod *v1.Pod) (*Answer, error) {
	answer, state, statuses := &Answer{}, framework.NewCycleState(), framework.NewDefaultNodeToStatus()
	pod, err := w.client.CoreV1().Pods(pod.Namespace).Get(ctx, pod.Name, metav1.GetOptions{})
	if err != nil {
		return nil, err
	}
	nodes, err := w.snapshot.NodeInfos().List()
	if err != nil {
		return nil, err
	}
	_, status, _ := w.framework.RunPreFilterPlugins(ctx, state, pod)
	if !status.IsSuccess() {
		answer.Refused = status.Message()
		statuses.SetAbsentNodesStatus(status)
	} else {
		for _, n := range nodes {
			status := w.framework.RunFilterPluginsWithNominatedPods(ctx, state, pod, n)
			if status.IsSuccess() {
				return answer, nil
			}
			statuses.Set(n.Node().Name, status)
		}
	}
	before, err := w.names(ctx)
	if err != nil {
		return nil, err
	}
	result, _ := w.framework.RunPostFilterPlugins(ctx, state, pod, statuses)
	if result != nil && result.NominatingInfo != nil {
		answer.Nominated = result.NominatedNodeName
	}
	time.Sleep(settle)
	after, err := w.names(ctx)
	answer.Victims = slices.DeleteFunc(before, func(name string) bool { return slices.Contains(after, name) })
	return answer, err
}

func (w *world) names(ctx context.Context) (out []string, err error) {
	pods, err := w.client.CoreV1().Pods(v1.NamespaceAll).List(ctx, metav1.ListOptions{})
	if err != nil {
		return nil, err
	}
	for i := range pods.Items {
		out = append(out, pods.Items[i].Namespace+"/"+pods.Items[i].Name)
	}
	slices.Sort(out)
	return out, nil
}

func Create(ctx context.Context, c kubernetes.Interface, o *unstructured.Unstructured) error {
	plural, _ := meta.UnsafeGuessKindToResource(o.GroupVersionKind())
	err := c.CoreV1().RESTClient().Post().AbsPath(pathOf(o.GetAPIVersion(), plural.Resource, o.GetNamespace(), "")...).Body(encoded(o)).Do(ctx).Error()
	if err != nil {
		return fmt.Errorf("create %s %s: %w", o.GetKind(), o.GetName(), err)
	}
	return nil
}

func pathOf(version, resource, namespace, name string) []string {
	path := []string{"/apis", version}
	if version == "v1" {
		path[0] = "/api"
	}
	if namespace != "" {
		path = append(path, "namespaces", namespace)
	}
	return append(path, resource, name)
}

func encoded(v any) []byte {
	data, err := json.Marshal(v)
	if err != nil {
		panic(err) // objects of Kubernetes can be encoded
	}
	return data
}
