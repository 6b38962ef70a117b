package scenario

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"time"

	"github.com/google/cel-go/cel"
	"github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/ref"
	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	apitypes "k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/component-helpers/resource"

	"kube-scheduler-simulator/scheduler/explain"
	"kube-scheduler-simulator/scheduler/podrequest"
	"kube-scheduler-simulator/scheduler/result"
	"kube-scheduler-simulator/simulator/cluster/objects"
)

type RunOptions struct {
	// Engine opens the cluster. It is required.
	Engine Engine
	// Observe gets each step when it has ended. It may be nil.
	Observe func(StepResult)
	// KeepPods fills Result.Pods.
	KeepPods bool
	// KeepDecisions fills Decision.Cycle.
	KeepDecisions bool
	// Unexplained: a failed expectation may do without the decision that explains it.
	Unexplained bool
	// Metrics are evaluated at the end, or after the step that they name.
	Metrics []*Metric
	// Bare records no decisions, so that measurements are those of the scheduler alone.
	// Expectations see none then.
	Bare bool
	// Gap fills Metrics.Gap, if the cluster is a Pricer. It takes about as long as scheduling the
	// pods.
	Gap bool
	// Kept gets the cluster at the end of the run, and closes it. The cluster has all decisions.
	// Without Kept, Run closes the cluster.
	Kept func(Cluster)
}

// Run reports failures in the Result, which is never nil.
//
// Whole decisions take most of the time and memory of a run, and most scenarios need none. If the
// engine can repeat the run, Run records none at first; when an expectation has failed, it repeats
// the run to record those that explain it.
func Run(ctx context.Context, s *Scenario, c Combination, o RunOptions) *Result {
	began := time.Now()
	pods := sets.New[apitypes.UID]()
	if o.needsDecisions(s) {
		pods = nil
	}
	r := once(ctx, s, c, o, pods)
	for len(r.unrecorded) > 0 && !o.Unexplained && ctx.Err() == nil {
		o.Observe = nil // the steps are the same
		pods = pods.Union(r.unrecorded)
		r = once(ctx, s, c, o, pods)
	}
	r.result.DurationSeconds = seconds(time.Since(began))
	return r.result
}

// needsDecisions reports whether whole decisions are needed from the start. Measurements of a
// recorded scheduler are those of one that records everything.
func (o RunOptions) needsDecisions(s *Scenario) bool {
	if o.Bare {
		return false
	}
	return o.Kept != nil || s.Alone || s.readsDecisions || slices.ContainsFunc(o.Metrics, func(m *Metric) bool { return m.program.readsDecisions })
}

// pods nil means all pods.
func once(ctx context.Context, s *Scenario, c Combination, o RunOptions, pods sets.Set[apitypes.UID]) *run {
	r := &run{
		ctx: ctx, scenario: s, combination: c, options: o, names: map[string]int{}, known: map[apitypes.UID]*v1.Pod{}, last: map[apitypes.UID]int{}, victim: map[apitypes.UID]bool{},
		recorded: pods, unrecorded: sets.New[apitypes.UID](),
		result: &Result{Scenario: s.Name, Configuration: c.Configuration.Name, FeatureGates: c.FeatureGates, Seed: c.Seed, Outcome: Passed},
	}
	err := r.all()
	if err == nil {
		err = r.measure()
	}
	switch {
	case ctx.Err() != nil:
		r.result.Outcome, r.result.Error = Canceled, context.Cause(ctx).Error()
	case err != nil:
		r.result.Outcome, r.result.Error = Broken, err.Error()
	}
	if r.cluster != nil {
		r.result.ClusterSeconds = seconds(r.cluster.Now().Sub(r.start))
		if o.Kept != nil {
			o.Kept(r.cluster)
		} else if err := r.cluster.Close(); err != nil && r.result.Error == "" {
			r.result.Outcome, r.result.Error = Broken, fmt.Sprintf("closing the cluster: %s", err)
		}
	}
	return r
}

type run struct {
	ctx         context.Context
	scenario    *Scenario
	combination Combination
	options     RunOptions
	result      *Result
	cluster     Cluster
	start       time.Time
	// recorded is ClusterOptions.Pods; unrecorded should have been in it.
	recorded, unrecorded sets.Set[apitypes.UID]
	step                 *StepResult
	// Sorted by time.
	planned []planned
	order   int
	size    int
	// By kind, namespace and name.
	names map[string]int

	// summaries are the last ones of each attempt, in the order of their first ends; last has each
	// pod's last index.
	summaries []result.Summary
	last      map[apitypes.UID]int
	known     map[apitypes.UID]*v1.Pod
	victim    map[apitypes.UID]bool
	// In the order of their preemption.
	victims []victim

	// nil when something may have changed.
	view *view
	own  map[string]any
	// state is what the steps of another format keep.
	state   any
	playing *playing
}

type victim struct {
	result.Victim
	preemptor result.Summary
}

type planned struct {
	at    time.Time
	order int
	do    func() error
}

func (r *run) all() error {
	configuration, err := r.combination.Configuration.under(r.combination.FeatureGates)
	if err != nil {
		return err
	}
	o := ClusterOptions{Configuration: configuration, FeatureGates: r.combination.FeatureGates, Seed: r.combination.Seed, Observe: r.observe, Pods: r.recorded, Played: r.scenario.played, Autoscale: r.autoscale(),
		KubernetesVersion: r.scenario.KubernetesVersion}
	if r.options.Bare {
		o.Observe = nil
	}
	cluster, err := r.options.Engine(r.ctx, o)
	if err != nil {
		return err
	}
	r.cluster, r.start = cluster, cluster.Now()
	if v, ok := cluster.(Versioned); ok {
		r.result.KubernetesVersion = v.KubernetesVersion()
	}
	if err := r.createPools(); err != nil {
		return err
	}
	if s := r.scenario.cluster; s != nil {
		made, err := s.make(r)
		if err == nil {
			err = cluster.Create(r.ctx, made...)
		}
		if err != nil {
			return fmt.Errorf("making the cluster: %w", err)
		}
	}
	for i, step := range r.scenario.Steps {
		if err := r.one(i, step); err != nil {
			return fmt.Errorf("%s:%d: %s: %w", r.scenario.File, step.Line, step.Verb, err)
		}
	}
	return nil
}

// The error ends the run.
func (r *run) one(i int, step *Step) error {
	began := time.Now()
	r.step = &StepResult{Number: i + 1, Line: step.Line, Name: step.Name, Verb: step.Verb, What: step.action.describe()}
	said, err := step.action.run(r)
	r.view = nil
	r.step.Said = said
	if _, unmet := errors.AsType[*UnmetError](err); unmet {
		r.step.Failed, r.step.Error, err = true, err.Error(), nil
	}
	if err != nil {
		r.step.Said, r.step.Placed, r.step.Error = "", nil, err.Error()
	}
	for _, e := range r.step.Expectations {
		r.result.Expectations++
		if e.Passed {
			r.result.Held++
		} else {
			r.step.Failed = true
		}
	}
	if r.step.Failed {
		r.result.Outcome = Failed
	}
	if err == nil {
		err = r.values(step.Name)
	}
	r.step.AtSeconds, r.step.DurationSeconds = seconds(r.cluster.Now().Sub(r.start)), seconds(time.Since(began))
	r.result.Steps = append(r.result.Steps, *r.step)
	if r.options.Observe != nil {
		r.options.Observe(*r.step)
	}
	return errors.Join(err, r.ctx.Err())
}

func (r *run) observe(c *result.Cycle) {
	uid := c.Pod.UID
	if at, known := r.last[uid]; known && r.summaries[at].Attempt == c.Attempt {
		r.summaries[at] = c.Summary
	} else {
		r.last[uid] = len(r.summaries)
		r.summaries = append(r.summaries, c.Summary)
	}
	for _, v := range victimsOf(c) {
		if !r.victim[v.Pod.UID] {
			r.victim[v.Pod.UID] = true
			r.victims = append(r.victims, victim{v, c.Summary})
		}
	}
}

func victimsOf(c *result.Cycle) []result.Victim {
	if c.Evictions() == nil {
		return nil
	}
	var out []result.Victim
	if p := c.Preemption; p != nil {
		for _, candidate := range p.Candidates {
			if candidate.Node == p.Chosen {
				for _, v := range candidate.Victims {
					v.Node = cmp.Or(v.Node, candidate.Node)
					out = append(out, v)
				}
			}
		}
	}
	if c.PodGroup != nil && c.PodGroup.Preemption != nil {
		out = append(out, c.PodGroup.Preemption.Victims...)
	}
	return out
}

// number appends a number, which goes on from step to step, to the name of an object.
func (r *run) number(o *unstructured.Unstructured) {
	base := cmp.Or(o.GetName(), strings.TrimSuffix(o.GetGenerateName(), "-"))
	key := strings.Join([]string{o.GetKind(), o.GetNamespace(), base}, "/")
	r.names[key]++
	name := fmt.Sprintf("%s-%d", base, r.names[key])
	o.SetName(name)
	o.SetGenerateName("")
	if labels := o.GetLabels(); o.GetKind() == "Node" && labels[v1.LabelHostname] != "" {
		labels[v1.LabelHostname] = name
		o.SetLabels(labels)
	}
}

func (r *run) plan(a *arrive, i, count int, row traceRow) error {
	if err := r.ctx.Err(); err != nil {
		return err
	}
	v := madeVariables{i: i, count: count, seed: r.combination.Seed, stream: streamOf(r.scenario.File, a.place.Line), row: row.row}
	lifetime := row.lifetime
	if lifetime == 0 {
		var err error
		if lifetime, err = a.Lifetime.of(r.ctx, v); err != nil {
			return err
		}
	}
	r.at(r.cluster.Now().Add(row.at), func() error {
		var made []*unstructured.Unstructured
		if row.object != nil {
			made = append(made, &unstructured.Unstructured{Object: row.object()})
		} else {
			for t := range a.templates {
				o, err := a.templates[t].make(r.ctx, v)
				if err != nil {
					return err
				}
				if err := r.Holds(o.Object); err != nil {
					return err
				}
				a.complete(o)
				if a.templates[t].computed["metadata.name"] == nil {
					r.number(o)
				}
				made = append(made, o)
			}
		}
		return r.arrived(made, lifetime)
	})
	return nil
}

func (r *run) arrived(made []*unstructured.Unstructured, lifetime time.Duration) error {
	for _, o := range made {
		if err := r.cluster.Create(r.ctx, o); err != nil {
			return err
		}
		if lifetime <= 0 {
			continue
		}
		gvk, namespace, name := o.GroupVersionKind(), o.GetNamespace(), o.GetName()
		if namespace == "" && objects.KindOf(gvk.GroupKind()).Namespaced {
			namespace = metav1.NamespaceDefault
		}
		r.at(r.cluster.Now().Add(lifetime), func() error {
			err := r.cluster.Delete(r.ctx, gvk, namespace, name)
			if isNotFound(err) {
				return nil // preempted, or evicted with its node
			}
			return err
		})
	}
	return nil
}

func (r *run) at(t time.Time, do func() error) {
	r.order++
	p := planned{t, r.order, do}
	i, _ := slices.BinarySearchFunc(r.planned, p, func(a, b planned) int { return cmp.Or(a.at.Compare(b.at), cmp.Compare(a.order, b.order)) })
	r.planned = slices.Insert(r.planned, i, p)
}

func (r *run) advance(d time.Duration) error {
	end := r.cluster.Now().Add(d)
	for len(r.planned) > 0 && !r.planned[0].at.After(end) {
		if err := r.next(); err != nil {
			return err
		}
	}
	r.view = nil
	if left := end.Sub(r.cluster.Now()); left > 0 {
		return r.cluster.Advance(r.ctx, left)
	}
	return r.ctx.Err()
}

func (r *run) next() error {
	p := r.planned[0]
	r.planned = r.planned[1:]
	r.view = nil
	if left := p.at.Sub(r.cluster.Now()); left > 0 {
		if err := r.cluster.Advance(r.ctx, left); err != nil {
			return err
		}
	}
	return errors.Join(p.do(), r.ctx.Err())
}

func (r *run) settle() error {
	for len(r.planned) > 0 {
		if err := r.next(); err != nil {
			return err
		}
	}
	r.view = nil
	err := r.cluster.Settle(r.ctx)
	if unsettled, ok := errors.AsType[*UnsettledError](err); ok {
		return &UnmetError{unsettled.Error()}
	}
	return err
}

func (r *run) exponential(stream uint64, i int, mean time.Duration) time.Duration {
	random := rand.New(rand.NewPCG(uint64(r.combination.Seed)^stream, uint64(i)))
	return time.Duration(-math.Log(1-random.Float64()) * float64(mean))
}

func (r *run) placed() *Placed {
	v, err := r.look()
	if err != nil {
		return &Placed{}
	}
	p := &Placed{Pods: len(v.pods)}
	for _, pod := range v.pods {
		if pod.Node != "" {
			p.WithNode++
		} else {
			p.Pending = append(p.Pending, pod.Name)
		}
	}
	return p
}

// change records and describes how the pods changed.
func (r *run) change(before *Placed) string {
	r.view = nil
	now := r.placed()
	if now.Gone = max(0, before.Pods-now.Pods); len(now.Pending) > maxPendingNames {
		now.Pending = nil
	}
	r.step.Placed = now
	return now.String()
}

type view struct {
	pods      []*Pod
	preempted []*Pod
	nodes     []*Node
	decisions []*decided
	now       time.Time

	values map[string]ref.Val
}

func (r *run) look() (*view, error) {
	if r.view != nil {
		return r.view, nil
	}
	nodes, pods, err := r.cluster.State(r.ctx)
	if err != nil {
		return nil, fmt.Errorf("reading the cluster: %w", err)
	}
	v := &view{now: r.cluster.Now(), values: map[string]ref.Val{}}
	byName := map[string]*Node{}
	for _, n := range nodes {
		node := newNode(n)
		byName[n.Name] = node
		v.nodes = append(v.nodes, node)
	}
	for _, p := range pods {
		r.known[p.UID] = p
		pod := r.newPod(p, v.now)
		// It takes room, and expectations do not see it: on a failed node it stays for good.
		if p.DeletionTimestamp == nil {
			v.pods = append(v.pods, pod)
		}
		if node := byName[pod.Node]; node != nil && p.Status.Phase != v1.PodSucceeded && p.Status.Phase != v1.PodFailed {
			node.Pods++
			for name, amount := range pod.Requests {
				node.Requested[name] += amount
			}
		}
	}
	for _, victim := range r.victims {
		v.preempted = append(v.preempted, r.newVictim(victim, v.now))
	}
	v.decisions = make([]*decided, len(r.summaries))
	for i := range r.summaries {
		s := &r.summaries[i]
		v.decisions[i] = &decided{Summary: s, load: func() (*result.Cycle, error) { return r.cycle(s) }}
	}
	r.view = v
	return v, nil
}

func newNode(n *v1.Node) *Node {
	node := &Node{
		Name: n.Name, Labels: n.Labels, Schedulable: !n.Spec.Unschedulable,
		Requested: map[string]float64{}, Allocatable: podrequest.Amounts(n.Status.Allocatable),
	}
	node.Price, _ = objects.Price(n.Labels)
	for _, c := range n.Status.Conditions {
		if c.Type == v1.NodeReady {
			node.Ready = c.Status == v1.ConditionTrue
		}
	}
	return node
}

func (r *run) newPod(p *v1.Pod, now time.Time) *Pod {
	pod := &Pod{
		Name: p.Name, Namespace: p.Namespace, Node: p.Spec.NodeName, Phase: string(p.Status.Phase), UID: p.UID, Labels: p.Labels,
		Requests: podrequest.Amounts(resource.PodRequests(p, resource.PodResourcesOptions{})),
	}
	if p.Spec.Priority != nil {
		pod.Priority = *p.Spec.Priority
	}
	pod.Nominated = p.Status.NominatedNodeName
	if owner := result.OwnerOf(p); owner != nil {
		pod.Owner = owner.Name
	}
	end := now
	if at, tried := r.last[p.UID]; tried {
		s := r.summaries[at]
		pod.Attempts = s.Attempt
		if p.Spec.NodeName == "" {
			pod.Message = s.Message
		} else {
			end = s.StartTime
		}
	} else if p.Spec.NodeName != "" {
		end = p.CreationTimestamp.Time // it came with its node
	}
	pod.Waited = max(0, end.Sub(p.CreationTimestamp.Time))
	return pod
}

func (r *run) newVictim(v victim, now time.Time) *Pod {
	p := r.known[v.Pod.UID]
	if p == nil {
		// It came and went within one step.
		return &Pod{Name: v.Pod.Name, Namespace: v.Pod.Namespace, UID: v.Pod.UID, Node: v.Node, Priority: v.Priority}
	}
	pod := r.newPod(p, now)
	pod.Node = cmp.Or(pod.Node, v.Node)
	return pod
}

func (v *view) ResolveName(name string) (any, bool) {
	value, known := v.values[name]
	return value, known
}

func (v *view) Parent() cel.Activation { return nil }

func (r *run) evaluate(p *program) (ref.Val, error) {
	v, err := r.look()
	if err != nil {
		return nil, err
	}
	if len(v.values) == 0 {
		if err := r.fill(v); err != nil {
			return nil, err
		}
	}
	value, err := p.evaluate(r.ctx, v)
	if err != nil {
		return nil, fmt.Errorf("%s cannot be evaluated: %w", p.Text, err)
	}
	return value, nil
}

// Those of let are evaluated only here.
func (r *run) fill(v *view) error {
	adapter := newProvider(nil, types.DefaultTypeAdapter)
	v.values[varSeed] = adapter.NativeToValue(r.combination.Seed)
	v.values[varPods] = listValue(adapter, v.pods)
	v.values[ofPreempted+varPods] = listValue(adapter, v.preempted)
	v.values[varNodes] = listValue(adapter, v.nodes)
	v.values[varDecisions] = listValue(adapter, v.decisions)
	v.values[varRun] = adapter.NativeToValue(r.totals())
	v.values[varObjects] = object{listerType, lister(r.objectsOf)}
	for name, value := range r.own {
		v.values[name], v.values[ofPreempted+name] = adapter.NativeToValue(value), adapter.NativeToValue(value)
	}
	for _, l := range r.scenario.lets {
		for name, p := range map[string]*program{l.name: l.program, ofPreempted + l.name: l.preempted} {
			value, err := p.evaluate(r.ctx, v)
			if err != nil {
				clear(v.values)
				return fmt.Errorf("%s:%d: let %s cannot be evaluated: %w", p.File, p.Line, l.name, err)
			}
			v.values[name] = value
		}
	}
	return nil
}

// cycle returns nil for one that is not kept.
func (r *run) cycle(s *result.Summary) (*result.Cycle, error) {
	c, err := r.cluster.Cycle(r.ctx, s.Pod.UID, s.Attempt)
	if errors.Is(err, ErrUnrecorded) {
		r.unrecorded.Insert(s.Pod.UID)
		return nil, nil
	}
	return c, err
}

// decision returns the last one about a pod, or nil.
func (r *run) decision(uid apitypes.UID) (*Decision, error) {
	at, known := r.last[uid]
	if !known {
		return nil, nil
	}
	c, err := r.cycle(&r.summaries[at])
	if err != nil || c == nil {
		return nil, err
	}
	e := explain.Cycle(c)
	d := &Decision{Summary: c.Summary, Sentence: e.Sentence, Headline: e.Headline, Rejections: e.Rejections}
	if r.options.KeepDecisions {
		d.Cycle = c
	}
	return d, nil
}
