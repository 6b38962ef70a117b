package hypothesis

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/rest"
	schedulerconfig "k8s.io/kubernetes/pkg/scheduler/apis/config"

	"kube-scheduler-simulator/scheduler/config"
	"kube-scheduler-simulator/scheduler/explain"
	"kube-scheduler-simulator/scheduler/feed"
	"kube-scheduler-simulator/scheduler/others/session"
	"kube-scheduler-simulator/scheduler/result"
	"kube-scheduler-simulator/scheduler/versions"
	"kube-scheduler-simulator/scheduler/whatif"
	"kube-scheduler-simulator/scheduler/whatif/capacity"
	"kube-scheduler-simulator/scheduler/whatif/fit"
	"kube-scheduler-simulator/simulator/cluster/objects"
)

// Options say what a Desk works with. All are required, unless their comments say otherwise.
type Options struct {
	// ClientConfig reaches the API server that judges pods and changes in dry runs. A desk with
	// Admission does not need it.
	ClientConfig *rest.Config
	// Admission, if set, starts the admission of a question without an API server.
	Admission func() (Admission, error)
	// Workloads reads the owners of pods that the engine's state does not hold. Default: those of ClientConfig; nobody
	// without it.
	Workloads fit.Workloads
	Engine    *whatif.Engine
	// Parse reads a scheduler configuration. Its error is a *config.Error for an invalid one.
	Parse func(document []byte) (*config.Configuration, error)
	// Beside answers for the schedulers beside kube-scheduler; nil where none run.
	Beside Beside
	// CompleteNode fills in what the author of a new node leaves to its kubelet. Default: nothing.
	CompleteNode func(*v1.Node)
	// Ready fails while the desk cannot answer. Default: it always can.
	Ready func() error
	// Waiting says where a pod waits for its next attempt; nil where no scheduler runs.
	Waiting func(result.Pod) *result.QueueWait
}

// Admission admits the objects of one question, in order: it returns them as an API server would
// store them. field is their path in the question. Errors about the question are a *Refused.
type Admission interface {
	// Change gets a change of which exactly one part is set.
	Change(ctx context.Context, field string, c Change) (whatif.Change, error)
	Pod(ctx context.Context, field string, d Document) (*v1.Pod, error)
}

// Desk takes questions as clients write them and has them answered. Methods are safe for concurrent
// use. Beside the errors that their comments name, they return those of the engine's that say
// nothing about the question: whatif.ErrBusy, a *whatif.PanicError and the context's.
type Desk struct {
	options        Options
	configurations *configurations
}

// New returns a desk. It makes no request.
func New(options Options) (*Desk, error) {
	if options.Ready == nil {
		options.Ready = func() error { return nil }
	}
	if options.CompleteNode == nil {
		options.CompleteNode = func(*v1.Node) {}
	}
	d := &Desk{options: options, configurations: newConfigurations(options.Parse)}
	if options.Admission == nil {
		runs, err := newDryRuns(options.ClientConfig)
		if err != nil {
			return nil, err
		}
		d.options.Workloads = runs
		d.options.Admission = func() (Admission, error) {
			return &admission{dryRuns: runs, settle: d.settle, made: map[place]made{}}, nil
		}
	}
	return d, nil
}

// WhatIf asks where a pod would go.
type WhatIf struct {
	Question
	// Copies is how many copies of the pod to place, one after the other; 0 means 1.
	Copies int `json:"copies,omitempty"`
	// Extenders also asks the extenders of the configuration.
	Extenders bool `json:"extenders,omitempty"`
}

// MaxCopies bounds WhatIf.Copies.
const MaxCopies = 1000

// WhatIfAnswer is the answer to a WhatIf. Its JSON form is public.
type WhatIfAnswer struct {
	Grounds
	// Decisions has one for each copy of the pod, in order.
	Decisions []explain.Explained `json:"decisions"`
}

// Grounds say what decisions rest on, and what they leave out.
type Grounds struct {
	State whatif.State `json:"state"`
	whatif.NotAsked
	// NotCounted is as in whatif.Answer.
	NotCounted []explain.Statement `json:"notCounted,omitempty"`
	// Turn is nil if kube-scheduler decided.
	Turn *session.Turn `json:"turn,omitempty"`
}

func explained(a *whatif.Answer, turn *session.Turn) *WhatIfAnswer {
	out := &WhatIfAnswer{Grounds{State: a.State, NotAsked: a.NotAsked, NotCounted: a.NotCounted, Turn: turn}, make([]explain.Explained, len(a.Decisions))}
	for i, c := range a.Decisions {
		if i > 0 && c == a.Decisions[i-1] {
			out.Decisions[i] = out.Decisions[i-1]
		} else {
			out.Decisions[i] = explain.With(c)
		}
	}
	return out
}

// AppendJSON appends what json.Marshal returns. The tables of the decisions are most of it.
func (a *WhatIfAnswer) AppendJSON(out []byte) ([]byte, error) {
	grounds, err := json.Marshal(a.Grounds)
	if err != nil {
		return nil, err
	}
	out = append(append(out, grounds[:len(grounds)-1]...), `,"decisions":[`...)
	for i, d := range a.Decisions {
		if i > 0 {
			out = append(out, ',')
		}
		if out, err = d.AppendJSON(out); err != nil {
			return nil, err
		}
	}
	return append(out, ']', '}'), nil
}

// Fits reports whether every copy of the pod finds a node and keeps it: a gang may give it back.
func (a *WhatIfAnswer) Fits() bool {
	return !slices.ContainsFunc(a.Decisions, func(d explain.Explained) bool { return d.Outcome != result.Scheduled })
}

// WhatIf answers with one decision for each copy. Pods of a scheduler that decides about all of its
// pods at once get those of its next turn. The error is a *Refused, or a *whatif.NotFoundError for
// the pod of PodRef.
func (d *Desk) WhatIf(ctx context.Context, w WhatIf) (*WhatIfAnswer, error) {
	if w.Copies < 0 || w.Copies > MaxCopies {
		return nil, refuse("copies", "want a number from 1 to %d", MaxCopies)
	}
	q, err := d.admit(ctx, w.Question)
	if err != nil {
		return nil, err
	}
	asked := whatif.Question{
		Pod: q.pod, PodRef: q.podRef, Changes: q.changes, Configuration: q.configuration(), Profile: q.profile,
		Copies: w.Copies, AskExtenders: w.Extenders,
	}
	answer, err := q.engine.Ask(ctx, asked)
	if scheduler := besides(err); scheduler != "" {
		return d.askBeside(ctx, q, scheduler, asked)
	}
	if err != nil {
		return nil, q.refused(err)
	}
	return explained(answer, nil), nil
}

type Fit struct {
	Question
	// Node is empty for any node.
	Node string `json:"node,omitempty"`
	// Limit is how many suggestions are wanted; 0 means fit.DefaultLimit.
	Limit int `json:"limit,omitempty"`
}

type FitAnswer struct {
	*fit.Answer
	Suggestions []Suggestion `json:"suggestions"`
	// Autoscaler is what the autoscaler would do; nil if the pod fits, or the cluster has no NodePool.
	Autoscaler *Autoscaler `json:"autoscaler,omitempty"`
}

// Suggestion is a suggestion with its changes as clients write them.
type Suggestion struct {
	fit.Suggestion
	Changes    []Change `json:"changes"`
	Hypothesis []Change `json:"hypothesis"`
}

// Fit answers with suggestions. The error is as that of WhatIf; a *whatif.NotFoundError may also be
// about Node.
func (d *Desk) Fit(ctx context.Context, f Fit) (*FitAnswer, error) {
	if f.Limit < 0 || f.Limit > fit.MaxLimit {
		return nil, refuse("limit", "want a number from 1 to %d", fit.MaxLimit)
	}
	if f.KubernetesVersion != "" {
		return nil, refuse("kubernetesVersion", "suggestions come from the rules of this version; ask a what-if with the change that you have in mind")
	}
	q, err := d.admit(ctx, f.Question)
	if err != nil {
		return nil, err
	}
	found, err := fit.Ask(ctx, d.options.Engine, fit.Question{
		Pod: q.pod, PodRef: q.podRef, Changes: q.changes, Configuration: q.configuration(), Profile: q.profile,
		Node: f.Node, Limit: f.Limit, Workloads: d.options.Workloads, Waiting: d.options.Waiting,
	})
	if err != nil {
		return nil, q.refused(err)
	}
	answer := &FitAnswer{Answer: found, Suggestions: make([]Suggestion, len(found.Suggestions))}
	for i, s := range found.Suggestions {
		out := Suggestion{Suggestion: s}
		if out.Changes, err = written(s.Changes); err != nil {
			return nil, err
		}
		if out.Hypothesis, err = written(s.Hypothesis); err != nil {
			return nil, err
		}
		answer.Suggestions[i] = out
	}
	return answer, nil
}

// Try lets questions that are made of several work on one copy of the state, with the configuration in force; see whatif.Engine.Try.
// Nothing is admitted: what they change is the caller's affair.
func (d *Desk) Try(ctx context.Context, do func(context.Context, *whatif.Trial) error) error {
	if err := d.options.Ready(); err != nil {
		return err
	}
	return d.options.Engine.Try(ctx, nil, do)
}

// Capacity asks how many more of a pod fit.
type Capacity struct {
	Question
	// Limit ends the count; 0 means capacity.DefaultLimit.
	Limit int `json:"limit,omitempty"`
	// NodesNeeded is nil if the client does not ask for them.
	NodesNeeded *capacity.NodesNeeded `json:"nodesNeeded,omitempty"`
}

// State returns what makes up the state of the cluster; see whatif.Engine.
func (d *Desk) State(ctx context.Context) ([]feed.Operation, error) {
	if err := d.options.Ready(); err != nil {
		return nil, err
	}
	return d.options.Engine.State(ctx)
}

// Capacity answers with a count. The error is as that of WhatIf; a *whatif.NotFoundError may also
// be about the node of NodesNeeded.
func (d *Desk) Capacity(ctx context.Context, c Capacity) (*capacity.Answer, error) {
	if c.Limit < 0 || c.Limit > capacity.MaxLimit {
		return nil, refuse("limit", "want a number from 1 to %d", capacity.MaxLimit)
	}
	if n := c.NodesNeeded; n != nil {
		switch {
		case n.Like == "":
			return nil, refuse("nodesNeeded.like", "want the name of a node")
		case n.For < 1 || n.For > capacity.MaxLimit:
			return nil, refuse("nodesNeeded.for", "want a number from 1 to %d", capacity.MaxLimit)
		}
	}
	q, err := d.admit(ctx, c.Question)
	if err != nil {
		return nil, err
	}
	answer, err := capacity.Ask(ctx, q.engine, capacity.Question{
		Pod: q.pod, PodRef: q.podRef, Changes: q.changes, Configuration: q.configuration(), Profile: q.profile,
		Limit: c.Limit, NodesNeeded: c.NodesNeeded, Price: objects.Price,
	})
	if err != nil {
		return nil, q.refused(err)
	}
	return answer, nil
}

// Copies are the objects that a change with a count creates, in the form in which a client creates
// them in a cluster.
type Copies struct {
	Changes []Change `json:"changes"`
}

// Copies answers with the objects that a client creates to make a change with a count real. Copies
// of a node come with what drivers, the kubelet and agents report of the original. The error is as
// that of WhatIf.
func (d *Desk) Copies(ctx context.Context, c Change) (*Copies, error) {
	if err := d.options.Ready(); err != nil {
		return nil, err
	}
	a, err := d.options.Admission()
	if err != nil {
		return nil, err
	}
	change, err := admitChange(ctx, a, "change", c)
	if err != nil {
		return nil, err
	}
	node, isNode := change.Apply.(*v1.Node)
	if !isNode || change.Count == 0 {
		return nil, refuse("change", "want a node to apply, and a count")
	}
	var made []whatif.Change
	err = d.options.Engine.Try(ctx, nil, func(_ context.Context, t *whatif.Trial) error {
		nodes, err := t.NewNodes(node, change.Count)
		for _, n := range nodes {
			for _, o := range n.ToCreate() {
				made = append(made, whatif.Change{Apply: o})
			}
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	changes, err := written(made)
	return &Copies{changes}, err
}

// The API server would accept an admitted question.
type admitted struct {
	// pod or podRef is nil.
	pod    *v1.Pod
	podRef *types.NamespacedName
	// document is nil for the configuration in force.
	document *config.Configuration
	changes  []whatif.Change
	profile  string
	// engine is that of the version that decides.
	engine *whatif.Engine
}

func (q *admitted) configuration() *schedulerconfig.KubeSchedulerConfiguration {
	if q.document == nil {
		return nil
	}
	return q.document.Internal
}

func (d *Desk) admit(ctx context.Context, q Question) (*admitted, error) {
	if err := d.options.Ready(); err != nil {
		return nil, err
	}
	out := &admitted{profile: q.Profile, engine: d.options.Engine}
	if q.KubernetesVersion != "" {
		minor, err := versions.Named(q.KubernetesVersion)
		if err != nil {
			return nil, refuse("kubernetesVersion", "%v", err)
		}
		out.engine = d.options.Engine.As(minor)
	}
	switch {
	case (q.Pod == nil) == (q.PodRef == nil):
		return nil, refuse("pod", "want exactly one of pod and podRef")
	case q.PodRef != nil && q.PodRef.Name == "":
		return nil, refuse("podRef.name", "want the name of a pod")
	case q.PodRef != nil:
		at := podPlace(q.PodRef.Namespace, q.PodRef.Name)
		out.podRef = &types.NamespacedName{Namespace: at.namespace, Name: at.name}
	}
	if q.Configuration != nil {
		var err error
		if out.document, err = d.configurations.get(q.Configuration); err != nil {
			return nil, RefusedConfiguration(err)
		}
	}
	a, err := d.options.Admission()
	if err != nil {
		return nil, err
	}
	for i, c := range q.Changes {
		change, err := admitChange(ctx, a, fmt.Sprintf("changes[%d]", i), c)
		if err != nil {
			return nil, err
		}
		out.changes = append(out.changes, change)
	}
	if q.Pod != nil {
		out.pod, err = a.Pod(ctx, "pod", q.Pod)
	}
	return out, err
}

func admitChange(ctx context.Context, a Admission, field string, c Change) (whatif.Change, error) {
	if err := c.check(field); err != nil {
		return whatif.Change{}, err
	}
	return a.Change(ctx, field, c)
}

// settle completes a new object as controllers would soon after its creation: a node is ready, and
// a volume without a claim is available.
func (d *Desk) settle(object runtime.Object) {
	switch o := object.(type) {
	case *v1.Node:
		d.options.CompleteNode(o)
		o.Spec.Taints = slices.DeleteFunc(o.Spec.Taints, isUnready)
	case *v1.PersistentVolume:
		if o.Status.Phase == v1.VolumePending && o.Spec.ClaimRef == nil {
			o.Status.Phase = v1.VolumeAvailable
		}
	}
}

// The API server gives this taint to every new node until it is ready.
func isUnready(t v1.Taint) bool {
	return t == v1.Taint{Key: v1.TaintNodeNotReady, Effect: v1.TaintEffectNoSchedule}
}

// refused turns the errors of the engine that are about the question into refusals.
func (q *admitted) refused(err error) error {
	if bad, ok := errors.AsType[*whatif.ChangeError](err); ok {
		return refusedAt(fmt.Sprintf("changes[%d]", bad.Index), bad.Err)
	}
	if scheduler := besides(err); scheduler != "" {
		return refuse(q.profileField(), "%s decides about %s, and this question is answered for kube-scheduler only; ask a what-if for what %s would do, or name a profile of kube-scheduler",
			scheduler, whole(scheduler), scheduler)
	}
	if bad, ok := errors.AsType[*whatif.ProfileError](err); ok {
		return refuse(q.profileField(), "%v", bad)
	}
	if bad, ok := errors.AsType[*whatif.ConfigurationError](err); ok && q.document != nil {
		return RefusedConfiguration(q.document.Refuse(bad.Err))
	}
	if _, ok := errors.AsType[*whatif.InvalidError](err); ok {
		return refusedAt("pod", err)
	}
	if versions.Refuses(err) {
		return refuse("kubernetesVersion", "%v", err)
	}
	return err
}

func refusedAt(field string, err error) error {
	if bad, ok := errors.AsType[*whatif.InvalidError](err); ok {
		return refuse(within(field, bad.Path), "%s", bad.Message)
	}
	if bad, ok := errors.AsType[*whatif.KindError](err); ok {
		return refuse(field, "the scheduler does not read objects of the kind %s in %s", bad.GVK.Kind, bad.GVK.GroupVersion())
	}
	return refuse(field, "%v", err)
}
