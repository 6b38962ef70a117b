package claims

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	v1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	fwk "k8s.io/kube-scheduler/framework"
	frameworkruntime "k8s.io/kubernetes/pkg/scheduler/framework/runtime"

	"kube-scheduler-simulator/scheduler"
	"kube-scheduler-simulator/scheduler/explain"
	"kube-scheduler-simulator/scheduler/plugins"
	groupv1alpha1 "kube-scheduler-simulator/scheduler/plugins/coscheduling/v1alpha1"
	"kube-scheduler-simulator/scheduler/result"
	"kube-scheduler-simulator/scheduler/schedulertest"
	"kube-scheduler-simulator/scheduler/whatif/livetest"
	"kube-scheduler-simulator/scheduler/yamlsource/bombs"
)

// scene is what happens to a scheduler that runs. It is a value: an experiment plays it again with one thing changed. All of its pods are in the
// namespace default.
type scene struct {
	name          string
	gates         map[string]bool
	configuration string
	// objects exist before the scheduler starts.
	objects []runtime.Object
	events  []event
	doors   doors
	// seed decides among nodes with the same total. nil leaves that to chance, and batching on.
	seed *int64
	// undeletable are the pods whose eviction fails a few times.
	undeletable []string
}

// event happens at a time since the scheduler has settled. One of the others is set.
type event struct {
	at time.Duration
	// create creates an object, and replace replaces one that the scheduler plugins define.
	create, replace runtime.Object
	// delete is the name of a pod.
	delete string
	// node gets a merge patch, of its status if that is true, or the pod does.
	node, pod, patch string
	status           bool
}

func (e event) do(ctx context.Context, c *livetest.Cluster) error {
	switch {
	case e.create != nil:
		return schedulertest.Create(ctx, c.Client, e.create.DeepCopyObject())
	case e.replace != nil:
		return replaceGroup(ctx, c, e.replace.(*groupv1alpha1.PodGroup))
	case e.delete != "":
		return c.Client.CoreV1().Pods(schedulertest.Namespace).Delete(ctx, e.delete, metav1.DeleteOptions{})
	case e.pod != "":
		return c.Simulation().PatchPod(ctx, e.pod, e.patch)
	case e.status:
		return c.Simulation().PatchNode(ctx, e.node, e.patch, "status")
	}
	return c.Simulation().PatchNode(ctx, e.node, e.patch)
}

func replaceGroup(ctx context.Context, c *livetest.Cluster, group *groupv1alpha1.PodGroup) error {
	body, err := json.Marshal(group)
	if err != nil {
		return err
	}
	return c.Client.Discovery().RESTClient().Put().
		AbsPath("/apis", groupv1alpha1.GroupVersion.Group, groupv1alpha1.GroupVersion.Version, "namespaces", group.Namespace, "podgroups", group.Name).
		Body(body).Do(ctx).Error()
}

// with returns a scene that differs.
func (s *scene) with(change func(*scene)) *scene {
	out := *s
	out.events, out.objects, out.undeletable = slices.Clone(s.events), slices.Clone(s.objects), slices.Clone(s.undeletable)
	out.gates, out.doors = maps.Clone(s.gates), doors{}
	for name, rules := range s.doors {
		out.doors[name] = maps.Clone(rules)
	}
	change(&out)
	return &out
}

// without leaves out the events that are true of a condition.
func (s *scene) without(is func(event) bool) { s.events = slices.DeleteFunc(s.events, is) }

// change changes the pod that an event creates.
func (s *scene) change(pod string, do func(*v1.Pod)) {
	for i, e := range s.events {
		if p, ok := e.create.(*v1.Pod); ok && p.Name == pod {
			p = p.DeepCopy()
			do(p)
			s.events[i].create = p
		}
	}
}

func creates(e event, pod string) bool {
	p, ok := e.create.(*v1.Pod)
	return ok && p.Name == pod
}

// play is what a scheduler did in a scene, and how the cluster was in the end.
type play struct {
	mu       sync.Mutex
	begin    time.Time
	over     bool
	attempts map[types.UID]int
	heard    []heard
	nodes    map[string]*v1.Node
	pods     map[string]*v1.Pod
	claims   map[string]*resourcev1.ResourceClaim
}

// heard is what a scheduler said of an attempt, and when.
type heard struct {
	*result.Cycle
	at time.Duration
}

// began returns when the attempt began.
func (p *play) began(c *result.Cycle) time.Duration { return c.StartTime.Sub(p.begin) }

func (p *play) NextAttempt(pod types.UID) int {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.attempts[pod]++
	return p.attempts[pod]
}

func (p *play) Put(c *result.Cycle) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.over { // when the scheduler stops, waits end that would not
		p.heard = append(p.heard, heard{c, time.Since(p.begin)})
	}
}

// play plays the scene in a bubble, in which waiting takes no time.
func (s *scene) play(t *testing.T) *play {
	t.Helper()
	p := &play{attempts: map[types.UID]int{}, nodes: map[string]*v1.Node{}, pods: map[string]*v1.Pod{}, claims: map[string]*resourcev1.ResourceClaim{}}
	registry := s.doors.registry()
	options := scheduler.Options{Configuration: livetest.Configuration(t, s.configuration), Sink: p, OutOfTree: registry, TieSeed: s.seed}
	livetest.Watch(t, options, s.objects, func(ctx context.Context, c *livetest.Cluster) {
		p.begin = time.Now()
		for _, pod := range s.undeletable {
			c.Simulation().FailDeletion(pod, 3)
		}
		events := slices.Clone(s.events)
		slices.SortStableFunc(events, func(a, b event) int { return int(a.at - b.at) })
		for _, e := range events {
			time.Sleep(time.Until(p.begin.Add(e.at)))
			if err := e.do(ctx, c); err != nil && e.delete == "" {
				t.Errorf("%s: %+v: %v", s.name, e, err)
			}
		}
		c.Settle()
		p.mu.Lock()
		p.over = true
		p.mu.Unlock()
		p.remember(ctx, t, c)
	})
	return p
}

// remember keeps how the cluster is.
func (p *play) remember(ctx context.Context, t *testing.T, c *livetest.Cluster) {
	all, err := c.State(ctx)
	if err != nil {
		t.Fatal(err)
	}
	for _, o := range all {
		switch o := o.(type) {
		case *v1.Node:
			p.nodes[o.Name] = o
		case *v1.Pod:
			p.pods[o.Name] = o
		case *resourcev1.ResourceClaim:
			p.claims[o.Name] = o
		}
	}
}

// String tells what the scheduler said, for a failed test.
func (p *play) String() string {
	var out strings.Builder
	for _, h := range p.heard {
		fmt.Fprintf(&out, "\n%v–%v attempt %d: %s", p.began(h.Cycle), h.at, h.Attempt, explain.Cycle(h.Cycle).Sentence)
	}
	return out.String()
}

// next returns the first attempt of a pod that began at a time or later and of which a condition is true, as it ended or waits.
func (p *play) next(pod string, from time.Duration, is func(*result.Cycle) bool) *heard {
	for i := range p.heard {
		if h := &p.heard[i]; h.Pod.Name == pod && p.began(h.Cycle) >= from && is(h.Cycle) {
			return h
		}
	}
	return nil
}

// soon is how much earlier than in the scene an attempt may begin when the scene is played again.
const soon = 20 * time.Millisecond

// again returns the same attempt in another play of the scene, of which so far the same is true.
func (p *play) again(h *heard, of *play) *heard {
	return p.next(h.Pod.Name, of.began(h.Cycle)-soon, func(c *result.Cycle) bool { return true })
}

// doors are plugins that do what a scene says, by the plugin's name and the pod's.
type doors map[string]map[string]rule

// rule is what a plugin does with a pod.
type rule struct {
	// hold: Permit holds the pod for at most so long, and allows it after the time in allow, or rejects it after that in reject.
	hold, allow, reject time.Duration
	// refuse is the extension point in which the plugin rejects the pod, and fail that in which it fails.
	refuse, fail string
	// clear is a node on which the plugin says in PostFilter that it makes room. It deletes the pods there that are less important.
	clear string
}

const doorsEnabled = "{name: Door-A}, {name: Door-B}"

func (d doors) registry() frameworkruntime.Registry {
	out := frameworkruntime.Registry{}
	for name, factory := range plugins.Registry() {
		out[name] = factory
	}
	for name, factory := range (&thumbs{}).registry() {
		out[name] = factory
	}
	for _, name := range []string{"Door-A", "Door-B"} {
		out[name] = func(_ context.Context, _ runtime.Object, handle fwk.Handle) (fwk.Plugin, error) {
			return &door{name, d[name], handle}, nil
		}
	}
	out["Ranked"] = func(context.Context, runtime.Object, fwk.Handle) (fwk.Plugin, error) { return ranked{}, nil }
	return out
}

// ranked gives each node a score of its own: n1 more than n2. Batching puts up with it.
type ranked struct{}

var (
	_ fwk.ScorePlugin = ranked{}
	_ fwk.SignPlugin  = ranked{}
)

func (ranked) Name() string { return "Ranked" }

func (ranked) SignPod(context.Context, *v1.Pod) ([]fwk.SignFragment, *fwk.Status) { return nil, nil }

func (ranked) Score(_ context.Context, _ fwk.CycleState, _ *v1.Pod, node fwk.NodeInfo) (int64, *fwk.Status) {
	number, err := strconv.Atoi(strings.TrimPrefix(node.Node().Name, "n"))
	return fwk.MaxScore - int64(number), fwk.AsStatus(err)
}

func (ranked) ScoreExtensions() fwk.ScoreExtensions { return nil }

type door struct {
	name   string
	rules  map[string]rule
	handle fwk.Handle
}

var (
	_ fwk.ReservePlugin    = (*door)(nil)
	_ fwk.PermitPlugin     = (*door)(nil)
	_ fwk.PreBindPlugin    = (*door)(nil)
	_ fwk.PostFilterPlugin = (*door)(nil)
)

func (d *door) Name() string { return d.name }

func (d *door) answer(pod *v1.Pod, point string) *fwk.Status {
	switch r := d.rules[pod.Name]; point {
	case r.refuse:
		return fwk.NewStatus(fwk.Unschedulable, "not through "+d.name)
	case r.fail:
		return fwk.NewStatus(fwk.Error, d.name+" is stuck")
	}
	return nil
}

func (d *door) Reserve(_ context.Context, _ fwk.CycleState, pod *v1.Pod, _ string) *fwk.Status {
	return d.answer(pod, "Reserve")
}

func (*door) Unreserve(context.Context, fwk.CycleState, *v1.Pod, string) {}

func (d *door) PreBindPreFlight(_ context.Context, _ fwk.CycleState, pod *v1.Pod, _ string) (*fwk.PreBindPreFlightResult, *fwk.Status) {
	return nil, d.answer(pod, "PreBindPreFlight")
}

func (d *door) PreBind(_ context.Context, _ fwk.CycleState, pod *v1.Pod, _ string) *fwk.Status {
	return d.answer(pod, "PreBind")
}

func (d *door) PostFilter(ctx context.Context, _ fwk.CycleState, pod *v1.Pod, _ fwk.NodeToStatusReader) (*fwk.PostFilterResult, *fwk.Status) {
	node := d.rules[pod.Name].clear
	if node == "" {
		return nil, fwk.NewStatus(fwk.Unschedulable)
	}
	on, err := d.handle.SnapshotSharedLister().NodeInfos().Get(node)
	if err != nil {
		return nil, fwk.AsStatus(err)
	}
	for _, other := range on.GetPods() {
		if priority(other.GetPod()) < priority(pod) {
			if err := d.handle.ClientSet().CoreV1().Pods(pod.Namespace).Delete(ctx, other.GetPod().Name, metav1.DeleteOptions{}); err != nil {
				return nil, fwk.AsStatus(err)
			}
		}
	}
	return &fwk.PostFilterResult{NominatingInfo: &fwk.NominatingInfo{NominatedNodeName: node, NominatingMode: fwk.ModeOverride}}, nil
}

func (d *door) Permit(_ context.Context, _ fwk.CycleState, pod *v1.Pod, _ string) (*fwk.Status, time.Duration) {
	if status := d.answer(pod, "Permit"); status != nil {
		return status, 0
	}
	r := d.rules[pod.Name]
	if r.hold == 0 {
		return nil, 0
	}
	end := func(after time.Duration, do func(fwk.WaitingPod)) {
		if after > 0 {
			time.AfterFunc(after, func() {
				if waiting := d.handle.GetWaitingPod(pod.UID); waiting != nil {
					do(waiting)
				}
			})
		}
	}
	end(r.allow, func(w fwk.WaitingPod) { w.Allow(d.name) })
	end(r.reject, func(w fwk.WaitingPod) { w.Reject(d.name, "shut by "+d.name) })
	return fwk.NewStatus(fwk.Wait), r.hold
}

// stage is where experiments about one attempt of a scene are made.
type stage struct {
	*testing.T
	*tally
	scene *scene
	base  *play
	heard *heard
}

// replay plays the scene again with a change.
func (x *stage) replay(change func(*scene)) *play {
	x.Helper()
	return x.scene.with(change).play(x.T)
}

// open plays the scene again with other rules for the pod.
func (x *stage) open(change func(plugin string, r rule) rule) *heard {
	x.Helper()
	p := x.replay(func(s *scene) {
		for plugin, rules := range s.doors {
			if r, ok := rules[x.heard.Pod.Name]; ok {
				rules[x.heard.Pod.Name] = change(plugin, r)
			}
		}
	})
	return p.again(x.heard, x.base)
}

// mostOfAKind bounds the experiments of a kind in a scene, each of which plays the scene again, and mostLookedAt how many statements of the kind
// are looked at for that.
const (
	mostOfAKind  = 2
	mostLookedAt = 8
)

// TestEveryLiveStatementHolds lets live schedulers run through random scenes, and tries to refute what their records say.
func TestEveryLiveStatementHolds(t *testing.T) {
	if bombs.Slowdown > 1 {
		t.Skip("two that reject a waiting pod at once race within Kubernetes, whose waitingPod.stopWithStatus writes under a lock for readers")
	}
	log, all := eachSeed(t, *scenes, len(sceneThemes), enoughScenes, func(seed uint64) (string, map[string]bool, func(*testing.T, *tally)) {
		s := newScene(seed)
		return s.name, s.gates, s.refute
	})
	for kind := range liveStatements {
		if all && log.tried["live "+string(kind)] == 0 && unreachable["live "+string(kind)] == "" {
			t.Errorf("no live statement of the kind %s was tried", kind)
		}
	}
}

func (s *scene) refute(t *testing.T, log *tally) {
	base := s.play(t)
	defer func() {
		if t.Failed() {
			t.Log(base)
		}
	}()
	tried, lookedAt := map[explain.Kind]int{}, map[explain.Kind]int{}
	enough := func(kind explain.Kind) bool { return tried[kind] >= mostOfAKind || lookedAt[kind] >= mostLookedAt }
	for i := range base.heard {
		h := &base.heard[i]
		x := &stage{t, log, s, base, h}
		said := explain.Cycle(h.Cycle)
		for _, statement := range append([]explain.Statement{said.Headline}, said.Remarks...) {
			kind := explain.KindOf(statement.Operands)
			experiment := liveStatements[kind]
			if experiment == nil || enough(kind) || ofFirstAttempts[kind] && h.Attempt > 1 {
				continue
			}
			lookedAt[kind]++
			tried[kind] += x.claim(kind, statement, func() error { return experiment(x, statement.Operands) })
		}
		if h.Queue != nil && h.Queue.RequeuedBy != nil && !enough("requeued") {
			lookedAt["requeued"]++
			tried["requeued"] += x.claim("requeued", h.Queue.RequeuedBy, x.requeued)
		}
	}
}

// claim makes an experiment, and records whether the statement held. It returns how many experiments were made.
func (x *stage) claim(kind explain.Kind, statement any, experiment func() error) int {
	x.Helper()
	err := experiment()
	x.judge(x.T, x.heard.Pod.Name, "live "+string(kind), statement, err)
	if errors.Is(err, errUntried) {
		return 0
	}
	return 1
}
