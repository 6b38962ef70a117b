package descheduler

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/go-logr/logr"
	v1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/events"
	"k8s.io/klog/v2"
	"sigs.k8s.io/descheduler/pkg/api"
	"sigs.k8s.io/descheduler/pkg/descheduler/evictions"
	nodeutil "sigs.k8s.io/descheduler/pkg/descheduler/node"
	"sigs.k8s.io/descheduler/pkg/features"
	"sigs.k8s.io/descheduler/pkg/framework/pluginregistry"
	"sigs.k8s.io/descheduler/pkg/framework/plugins/defaultevictor"
	"sigs.k8s.io/descheduler/pkg/framework/profile"
	frameworktypes "sigs.k8s.io/descheduler/pkg/framework/types"
	"sigs.k8s.io/descheduler/pkg/utils"

	"kube-scheduler-simulator/scheduler/yamlsource"
)

// Cluster is what a cycle runs on. It is called from the goroutine of Run only. What it returns does not change.
type Cluster interface {
	// Now is the cluster's time, which need not be that of the process.
	Now() time.Time
	// Nodes returns the nodes by name, and Pods the pods of the moment by namespace and name. A pod that changes is another object.
	Nodes() []*v1.Node
	Pods() []*v1.Pod
	// List returns the objects of a kind in all namespaces; none for one that the cluster does not have.
	List(ctx context.Context, gvk schema.GroupVersionKind) ([]runtime.Object, error)
	// Evict evicts a pod that Pods has returned, or says who refuses that. An error ends the cycle.
	Evict(ctx context.Context, pod *v1.Pod, asked Asked) (Refusal, error)
}

// Asked is why a pod is to be evicted.
type Asked struct {
	Profile, Plugin string
	// Reason is the plugin's, empty for most.
	Reason string
	// GracePeriodSeconds is that of the policy, nil for the pod's own.
	GracePeriodSeconds *int64
}

// Refusal is who refuses an eviction; the zero value for no one.
type Refusal struct {
	// Budget is the PodDisruptionBudget that refuses it for now, as namespace/name; else Never is why the API server never evicts the pod.
	Budget, Never string
}

// By is who refused an eviction.
type By string

const (
	// ByBudget: a PodDisruptionBudget.
	ByBudget By = "budget"
	// ByLimit: a limit of the policy.
	ByLimit By = "limit"
	// ByServer: the API server, for good.
	ByServer By = "server"
)

// Refused is an eviction that a plugin asked for in vain.
type Refused struct {
	Asked
	Pod *v1.Pod
	By  By
	// Text is the budget, or in English why.
	Text string
}

// Protected is a pod that the evictor's filters keep from all plugins.
type Protected struct {
	Pod *v1.Pod
	// Reasons are the descheduler's own words.
	Reasons []string
}

// Failure is a plugin that ended with an error.
type Failure struct{ Profile, Text string }

// Report says what happened in a cycle beside the evictions.
type Report struct {
	// Skipped is why no plugin ran; empty if they did.
	Skipped   string
	Refused   []Refused
	Protected []Protected
	Failed    []Failure
	// Chance are the plugins that chose pods by chance, in some respect.
	Chance []string
}

// Run runs one cycle. The error is a yamlsource.Errors if the policy names what the cluster does not have, and else that of the cluster or of
// ctx.
func (p *Policy) Run(ctx context.Context, c Cluster) (*Report, error) {
	r := &run{cluster: c, view: newView(c), protected: map[types.NamespacedName]*Protected{}, evicted: map[types.NamespacedName]bool{}}
	if err := r.view.readClasses(ctx); err != nil {
		return nil, err
	}
	r.client = client{view: r.view, evict: r.evict}
	policy, err := p.forCluster(ctx, r.client)
	if err != nil {
		return nil, err
	}
	r.policy = policy
	quiet := klog.NewContext(ctx, logr.Discard())
	evictor, err := evictions.NewPodEvictor(quiet, r.client, &events.FakeRecorder{}, r.view.pods, features.DefaultMutableFeatureGate, evictions.NewOptions().
		WithMaxPodsToEvictPerNode(policy.MaxNoOfPodsToEvictPerNode).
		WithMaxPodsToEvictPerNamespace(policy.MaxNoOfPodsToEvictPerNamespace).
		WithMaxPodsToEvictTotal(policy.MaxNoOfPodsToEvictTotal).
		WithGracePeriodSeconds(policy.GracePeriodSeconds))
	if err != nil {
		return nil, err
	}
	type runner struct {
		name                string
		deschedule, balance func(context.Context, []*v1.Node) *frameworktypes.Status
	}
	var runners []runner
	for i, one := range policy.Profiles {
		made, err := profile.NewProfile(quiet, one, r.plugins(one.Name), profile.WithClientSet(r.client), profile.WithSharedInformerFactory(factory{view: r.view}),
			profile.WithPodEvictor(evictor), profile.WithGetPodsAssignedToNodeFnc(r.view.onNode), profile.WithProfileInstanceID(fmt.Sprint(i)))
		if err != nil {
			return nil, yamlsource.Errors{{Field: fmt.Sprintf("profiles[%d]", i), Message: err.Error()}}
		}
		runners = append(runners, runner{one.Name, made.RunDeschedulePlugins, made.RunBalancePlugins})
	}
	if err := r.view.read(ctx); err != nil {
		return nil, err
	}
	nodes, err := r.ready()
	if err != nil {
		return nil, err
	}
	if len(nodes) < 2 {
		r.report.Skipped = fmt.Sprintf("the descheduler wants at least two ready nodes, and there %s", map[bool]string{true: "is one", false: "is none"}[len(nodes) == 1])
		return &r.report, nil
	}
	// First all plugins of deschedule, and then those of balance, as the descheduler does.
	for _, phase := range []func(runner) func(context.Context, []*v1.Node) *frameworktypes.Status{
		func(of runner) func(context.Context, []*v1.Node) *frameworktypes.Status { return of.deschedule },
		func(of runner) func(context.Context, []*v1.Node) *frameworktypes.Status { return of.balance },
	} {
		for _, of := range runners {
			if status := phase(of)(quiet, nodes); status != nil && status.Err != nil {
				r.report.Failed = append(r.report.Failed, Failure{of.name, status.Err.Error()})
			}
			if err := errors.Join(r.broken, ctx.Err()); err != nil {
				return nil, err
			}
		}
	}
	for key, one := range r.protected {
		if !r.evicted[key] {
			r.report.Protected = append(r.report.Protected, *one)
		}
	}
	slices.SortFunc(r.report.Protected, func(a, b Protected) int { return comparePods(a.Pod, b.Pod) })
	return &r.report, nil
}

// forCluster returns the policy with what only a cluster knows: the values of priority classes. The descheduler does so when it loads a policy.
func (p *Policy) forCluster(ctx context.Context, c client) (*api.DeschedulerPolicy, error) {
	policy := p.internal.DeepCopy()
	for i := range policy.Profiles {
		for _, config := range policy.Profiles[i].PluginConfigs {
			args, is := config.Args.(*defaultevictor.DefaultEvictorArgs)
			if !is {
				continue
			}
			value, err := utils.GetPriorityValueFromPriorityThreshold(ctx, c, args.PriorityThreshold)
			if err != nil {
				return nil, yamlsource.Errors{{Field: fmt.Sprintf("profiles[%d]", i), Message: fmt.Sprintf("%s: priorityThreshold: %v", defaultevictor.PluginName, err)}}
			}
			args.PriorityThreshold = &api.PriorityThreshold{Value: &value}
		}
	}
	return policy, nil
}

// run is a cycle that runs.
type run struct {
	cluster Cluster
	policy  *api.DeschedulerPolicy
	view    *view
	client  client
	report  Report
	// broken is an error of the cluster, after which nothing is evicted.
	broken error
	// asked and refusal are those of the eviction that is being asked for.
	asked   Asked
	refusal Refusal
	// mu guards protected: plugins filter from several goroutines.
	mu        sync.Mutex
	protected map[types.NamespacedName]*Protected
	evicted   map[types.NamespacedName]bool
}

func (r *run) ready() ([]*v1.Node, error) {
	selector := ""
	if r.policy.NodeSelector != nil {
		selector = *r.policy.NodeSelector
	}
	matching, err := r.view.matching(selector)
	if err != nil {
		return nil, err
	}
	all := make([]any, len(matching))
	for i := range matching {
		all[i] = matching[i]
	}
	return nodeutil.ReadyNodesFromInterfaces(all)
}

// plugins is the registry with plugins that are watched, and put in order.
func (r *run) plugins(profile string) pluginregistry.Registry {
	out := pluginregistry.NewRegistry()
	for name, of := range registry() {
		build := of.PluginBuilder
		of.PluginBuilder = func(ctx context.Context, args runtime.Object, h frameworktypes.Handle) (frameworktypes.Plugin, error) {
			if name == defaultevictor.PluginName {
				said := &said{}
				plugin, err := build(klog.NewContext(ctx, logr.New(said)), args, h)
				if err != nil {
					return nil, err
				}
				return protecting{plugin.(frameworktypes.EvictorPlugin), said, r}, nil
			}
			e := &evictor{Evictor: h.Evictor(), run: r, profile: profile}
			return r.ordered(ctx, name, args, handle{h, e, r.view.onNode}, e, build)
		}
		out[name] = of
	}
	return out
}

// evictor asks for evictions, and notes why.
type evictor struct {
	frameworktypes.Evictor
	run     *run
	profile string
	// held, if not nil, collects evictions instead of asking for them, and unfiltered says that they are filtered only then; see order.go.
	held       *[]held
	unfiltered bool
}

var _ frameworktypes.Evictor = (*evictor)(nil)

func (e *evictor) Evict(ctx context.Context, pod *v1.Pod, o evictions.EvictOptions) error {
	if e.held != nil {
		*e.held = append(*e.held, held{pod, o})
		return nil
	}
	r := e.run
	r.asked, r.refusal = Asked{e.profile, o.StrategyName, o.Reason, r.policy.GracePeriodSeconds}, Refusal{}
	err := e.Evictor.Evict(ctx, pod, o)
	if err == nil {
		return nil
	}
	refused := Refused{Asked: r.asked, Pod: pod, Text: err.Error()}
	switch {
	case r.broken != nil:
		return err
	case isLimit(err):
		refused.By = ByLimit
	case r.refusal.Budget != "":
		refused.By, refused.Text = ByBudget, r.refusal.Budget
	default:
		refused.By = ByServer
		if r.refusal.Never != "" {
			refused.Text = r.refusal.Never
		}
	}
	r.report.Refused = append(r.report.Refused, refused)
	return err
}

func isLimit(err error) bool {
	switch err.(type) {
	case *evictions.EvictionNodeLimitError, *evictions.EvictionNamespaceLimitError, *evictions.EvictionTotalLimitError:
		return true
	}
	return false
}

// evict is the API server's side of an eviction. The errors have the types that the API server's have.
func (r *run) evict(ctx context.Context, e *policyv1.Eviction) error {
	if r.broken = errors.Join(r.broken, ctx.Err()); r.broken != nil {
		return r.broken
	}
	key := types.NamespacedName{Namespace: e.Namespace, Name: e.Name}
	pod, is := r.view.shown[key]
	if !is {
		return apierrors.NewNotFound(v1.Resource("pods"), e.Name)
	}
	r.refusal, r.broken = r.cluster.Evict(ctx, pod, r.asked)
	switch {
	case r.broken != nil:
		return r.broken
	case r.refusal.Budget != "":
		return apierrors.NewTooManyRequests("Cannot evict pod as it would violate the pod's disruption budget.", 0)
	case r.refusal.Never != "":
		return apierrors.NewInternalError(errors.New(r.refusal.Never))
	}
	r.evicted[key] = true
	r.broken = r.view.update()
	return r.broken
}

// handle is a plugin's, with an evictor that is watched.
type handle struct {
	frameworktypes.Handle
	evictor *evictor
	onNode  func(string, filterFunc) ([]*v1.Pod, error)
}

func (h handle) Evictor() frameworktypes.Evictor { return h.evictor }

// protecting notes whom the evictor's filters keep, and why.
type protecting struct {
	frameworktypes.EvictorPlugin
	said *said
	run  *run
}

func (p protecting) Filter(pod *v1.Pod) bool { return p.passes(pod, p.EvictorPlugin.Filter) }
func (p protecting) PreEvictionFilter(pod *v1.Pod) bool {
	return p.passes(pod, p.EvictorPlugin.PreEvictionFilter)
}

func (p protecting) passes(pod *v1.Pod, filter func(*v1.Pod) bool) bool {
	p.run.mu.Lock()
	defer p.run.mu.Unlock()
	p.said.last = nil
	if filter(pod) {
		return true
	}
	key := types.NamespacedName{Namespace: pod.Namespace, Name: pod.Name}
	one := p.run.protected[key]
	if one == nil {
		one = &Protected{Pod: pod}
		p.run.protected[key] = one
	}
	for _, reason := range p.said.last {
		if !slices.Contains(one.Reasons, reason) {
			one.Reasons = append(one.Reasons, reason)
		}
	}
	return false
}

// said is a log that keeps why a filter of the evictor has just rejected a pod: the evictor returns only that it does.
type said struct{ last []string }

var _ logr.LogSink = (*said)(nil)

func (s *said) Init(logr.RuntimeInfo)               {}
func (s *said) Enabled(int) bool                    { return true }
func (s *said) WithValues(...any) logr.LogSink      { return s }
func (s *said) WithName(string) logr.LogSink        { return s }
func (s *said) Error(err error, _ string, _ ...any) { s.last = append(s.last, err.Error()) }

func (s *said) Info(_ int, text string, values ...any) {
	for i := 0; i+1 < len(values); i += 2 {
		if checks, is := values[i+1].(string); is && values[i] == "checks" {
			s.last = append(s.last, strings.Split(strings.Trim(checks, "[]"), ", ")...)
			return
		}
	}
	s.last = append(s.last, text)
}

func comparePods(a, b *v1.Pod) int {
	return strings.Compare(a.Namespace+"/"+a.Name, b.Namespace+"/"+b.Name)
}
