package inmemory

import (
	"cmp"
	"context"
	"slices"
	"time"

	v1 "k8s.io/api/core/v1"
	schedulingv1 "k8s.io/api/scheduling/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	schedulerconfig "k8s.io/kubernetes/pkg/scheduler/apis/config"

	"kube-scheduler-simulator/scheduler/feed"
	"kube-scheduler-simulator/scheduler/others/flow"
	"kube-scheduler-simulator/scheduler/others/session"
	"kube-scheduler-simulator/scheduler/simulation"
	"kube-scheduler-simulator/scheduler/whatif"
	"kube-scheduler-simulator/simulator/batch/sessions"
)

var podKind = v1.SchemeGroupVersion.WithKind("Pod")

// beside runs the session schedulers with their built-in configurations, and the flow scheduler with its default cost model.
type beside struct {
	// objects are those of the cluster, which the engines follow by the log.
	objects map[objectKey]runtime.Object
	log     *feed.Log
	seed    uint64
	now     time.Time
	// dialects and rounds begin with the first pod or group that they serve.
	dialects map[session.Rules]*dialect
	rounds   *whatif.Engine
	attempts sessions.Attempts
}

type objectKey struct {
	gvk             schema.GroupVersionKind
	namespace, name string
}

// dialect is one session scheduler.
type dialect struct {
	configuration *session.Configuration
	board         *session.Board
	engine        *whatif.Engine
}

var _ simulation.Beside = (*beside)(nil)

func newBeside(seed int64) *beside {
	b := &beside{objects: map[objectKey]runtime.Object{}, log: feed.NewLog(nil), seed: uint64(seed), dialects: map[session.Rules]*dialect{}, attempts: sessions.Attempts{}}
	b.log.Restart(b.state)
	return b
}

// Follow implements whatif.Source.
func (b *beside) Follow(context.Context) (*feed.Follower, error) { return b.log.Follow(false), nil }

// state writes all objects: nodes before pods, and the others by kind and name.
func (b *beside) state(add func(feed.Operation)) {
	rank := func(k objectKey) int {
		return slices.Index([]string{"Node", "Pod"}, k.gvk.Kind)
	}
	keys := make([]objectKey, 0, len(b.objects))
	for k := range b.objects {
		keys = append(keys, k)
	}
	slices.SortFunc(keys, func(x, y objectKey) int {
		return cmp.Or(cmp.Compare(rank(x), rank(y)), cmp.Compare(x.gvk.String(), y.gvk.String()), cmp.Compare(x.namespace, y.namespace), cmp.Compare(x.name, y.name))
	})
	for _, k := range keys {
		add(feed.Operation{Set: b.objects[k]})
	}
}

func (*beside) Serves(schedulerName string) bool {
	return schedulerName == flow.SchedulerName || session.Serves(schedulerName)
}

func (*beside) Kinds() map[schema.GroupVersionKind]bool {
	out := map[schema.GroupVersionKind]bool{}
	for _, rules := range session.Dialects {
		for _, version := range rules.GroupVersions() {
			out[version.WithKind(session.PodGroupKind)], out[version.WithKind(session.QueueKind)] = true, false
		}
	}
	return out
}

func (b *beside) Changed(gvk schema.GroupVersionKind, before, after runtime.Object) {
	object := after
	if object == nil {
		object = before
	}
	meta := object.(metav1.Object)
	key := objectKey{gvk, meta.GetNamespace(), meta.GetName()}
	b.log.Do(func(add func(feed.Operation)) {
		if after == nil {
			delete(b.objects, key)
			add(feed.Operation{Delete: &feed.Ref{GVK: gvk, Namespace: key.namespace, Name: key.name}})
			return
		}
		b.objects[key] = after
		add(feed.Operation{Set: after})
	})
}

// Turn runs a session of each dialect, and a round, one after the other: each sees what those before it have decided.
func (b *beside) Turn(ctx context.Context, h simulation.Hands) error {
	b.now = h.Now()
	for _, rules := range session.Dialects {
		if err := b.session(ctx, h, rules); err != nil {
			return err
		}
	}
	return b.round(ctx, h)
}

func (b *beside) Close() {
	for _, d := range b.dialects {
		d.engine.Stop()
	}
	if b.rounds != nil {
		b.rounds.Stop()
	}
}

// podsOf returns the pods of a scheduler: those that it may still decide about, and those that have ended.
func podsOf(h simulation.Hands, schedulerName string) (living, ended []*v1.Pod) {
	for _, o := range h.List(podKind) {
		p := o.(*v1.Pod)
		switch {
		case p.Spec.SchedulerName != schedulerName:
		case p.Status.Phase == v1.PodSucceeded || p.Status.Phase == v1.PodFailed:
			ended = append(ended, p)
		default:
			living = append(living, p)
		}
	}
	return living, ended
}

// dialect returns the scheduler of a dialect.
func (b *beside) dialect(rules session.Rules) (*dialect, error) {
	if d := b.dialects[rules]; d != nil {
		return d, nil
	}
	d := &dialect{configuration: session.Default(rules), board: session.NewBoard()}
	judge, err := d.configuration.Judge()
	if err != nil {
		return nil, err
	}
	d.engine = whatif.New(whatif.Options{
		Source: b, OutOfTree: d.board.Registry(), EndSearch: true, Clock: func() time.Time { return b.now },
		Configuration: func() *schedulerconfig.KubeSchedulerConfiguration { return judge },
	})
	b.dialects[rules] = d
	return d, nil
}

// session runs a session, if there is anything for it.
func (b *beside) session(ctx context.Context, h simulation.Hands, rules session.Rules) error {
	if !h.Serves(string(rules)) {
		return nil
	}
	living, ended := podsOf(h, string(rules))
	objects := session.Objects{Ended: ended}
	for _, version := range rules.GroupVersions() {
		if err := objects.Add(version, unstructuredOf(h, version.WithKind(session.PodGroupKind)), unstructuredOf(h, version.WithKind(session.QueueKind))); err != nil {
			return err
		}
	}
	if len(living)+len(objects.Groups) == 0 {
		return nil
	}
	if !slices.ContainsFunc(objects.Queues, func(q *session.Queue) bool { return q.Name == session.DefaultQueue }) {
		// The next session reads it.
		return h.Create(session.NewDefaultQueue(rules))
	}
	for _, o := range h.List(schedulingv1.SchemeGroupVersion.WithKind("PriorityClass")) {
		objects.PriorityClasses = append(objects.PriorityClasses, o.(*schedulingv1.PriorityClass))
	}
	d, err := b.dialect(rules)
	if err != nil {
		return err
	}
	var out *session.Outcome
	err = b.try(ctx, h, d.engine, func(ctx context.Context, trial *whatif.Trial) (err error) {
		out, err = session.Run(ctx, trial, objects, session.Options{
			Configuration: d.configuration, Board: d.board, UID: string(h.NewUID()), Clock: h.Now,
			Annotations: func(namespace string, owner *metav1.OwnerReference) map[string]string {
				if o, found := ownerOf(h, namespace, owner).(metav1.Object); found {
					return o.GetAnnotations()
				}
				return nil
			},
		})
		return err
	})
	if err != nil {
		return err
	}
	return b.carryOut(ctx, h, out)
}

// try makes the copy show what kube-scheduler is binding.
func (b *beside) try(ctx context.Context, h simulation.Hands, engine *whatif.Engine, do func(context.Context, *whatif.Trial) error) error {
	return engine.Try(ctx, nil, func(ctx context.Context, trial *whatif.Trial) error {
		for _, p := range h.Assumed() {
			if err := trial.Apply(whatif.Change{Apply: p}); err != nil {
				return err
			}
		}
		return do(ctx, trial)
	})
}

func unstructuredOf(h simulation.Hands, gvk schema.GroupVersionKind) []*unstructured.Unstructured {
	var out []*unstructured.Unstructured
	for _, o := range h.List(gvk) {
		out = append(out, o.(*unstructured.Unstructured))
	}
	return out
}

// ownerOf returns the controller of a pod, or nil.
func ownerOf(h simulation.Hands, namespace string, owner *metav1.OwnerReference) runtime.Object {
	return h.Get(schema.FromAPIVersionAndKind(owner.APIVersion, owner.Kind), namespace, owner.Name)
}

// carryOut does what a session or a round has decided.
func (b *beside) carryOut(ctx context.Context, h simulation.Hands, out *session.Outcome) error {
	for _, bind := range out.Binds {
		if err := h.Bind(ctx, bind.Pod, bind.Node); err != nil {
			return err
		}
	}
	for _, e := range out.Evictions {
		// Another scheduler may have deleted it meanwhile.
		if err := h.Evict(e.Pod); err != nil && !apierrors.IsNotFound(err) {
			return err
		}
	}
	for _, g := range out.OwnGroups {
		if err := makeGroup(h, g); err != nil {
			return err
		}
	}
	for _, u := range out.Groups {
		patch, err := u.Patch()
		if err == nil {
			err = h.Patch(u.Group.GroupVersionKind(), u.Group.Namespace, u.Group.Name, types.MergePatchType, patch)
		}
		if err != nil {
			return err
		}
	}
	for _, u := range out.Pods {
		if err := notPlaced(h, u); err != nil {
			return err
		}
	}
	for _, c := range out.Cycles {
		b.attempts.Put(h.Results(), c)
	}
	return nil
}

// makeGroup does what Volcano's controller does for pods without a group.
func makeGroup(h simulation.Hands, g session.OwnGroup) error {
	object, err := runtime.DefaultUnstructuredConverter.ToUnstructured(g.Group)
	if err != nil {
		return err
	}
	if err := h.Create(&unstructured.Unstructured{Object: object}); err != nil && !apierrors.IsAlreadyExists(err) {
		return err
	}
	for _, p := range g.Pods {
		patch, err := g.Annotate(p)
		if err == nil {
			err = h.Patch(podKind, p.Namespace, p.Name, types.MergePatchType, patch)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// notPlaced writes the condition of a pod that stays pending, unless the pod has it.
func notPlaced(h simulation.Hands, u session.PodUpdate) error {
	patch, err := u.Patch(h.Now().Truncate(time.Second))
	if err != nil || patch == nil {
		return err
	}
	return h.Patch(podKind, u.Pod.Namespace, u.Pod.Name, types.StrategicMergePatchType, patch)
}

// round runs a round of the flow scheduler, if pods wait for one.
func (b *beside) round(ctx context.Context, h simulation.Hands) error {
	if !h.Serves(flow.SchedulerName) {
		return nil
	}
	living, _ := podsOf(h, flow.SchedulerName)
	if !slices.ContainsFunc(living, func(p *v1.Pod) bool { return p.Spec.NodeName == "" }) {
		return nil
	}
	if b.rounds == nil {
		judge, err := flow.Judge()
		if err != nil {
			return err
		}
		b.rounds = whatif.New(whatif.Options{
			Source: b, Clock: func() time.Time { return b.now }, Configuration: func() *schedulerconfig.KubeSchedulerConfiguration { return judge },
		})
	}
	var out *flow.Outcome
	err := b.try(ctx, h, b.rounds, func(ctx context.Context, trial *whatif.Trial) (err error) {
		out, err = flow.Run(ctx, trial, flow.Options{Seed: b.seed, Clock: h.Now, Parallelism: func(namespace string, owner *metav1.OwnerReference) (int, bool) {
			return flow.Parallelism(ownerOf(h, namespace, owner))
		}})
		return err
	})
	if err != nil || out == nil {
		return err
	}
	decided := &session.Outcome{Cycles: out.Cycles}
	for _, bind := range out.Binds {
		decided.Binds = append(decided.Binds, session.Bind(bind))
	}
	for _, p := range out.Evictions {
		decided.Evictions = append(decided.Evictions, session.Eviction{Pod: p})
	}
	for _, p := range out.Waiting {
		decided.Pods = append(decided.Pods, session.PodUpdate{Pod: p, Reason: v1.PodReasonUnschedulable, Message: flow.WaitingMessage})
	}
	return b.carryOut(ctx, h, decided)
}
