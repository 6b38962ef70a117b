package claims

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/go-logr/logr"
	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/klog/v2"
	fwk "k8s.io/kube-scheduler/framework"
	schedulerconfig "k8s.io/kubernetes/pkg/scheduler/apis/config"

	"kube-scheduler-simulator/scheduler/explain"
	"kube-scheduler-simulator/scheduler/plugins"
	"kube-scheduler-simulator/scheduler/result"
	"kube-scheduler-simulator/scheduler/schedulertest"
	"kube-scheduler-simulator/scheduler/whatif"
	"kube-scheduler-simulator/scheduler/whatif/livetest"
)

var (
	clusters = flag.Int("clusters", 300, "how many random clusters are made")
	scenes   = flag.Int("scenes", 100, "how many random scenes live schedulers run through")
	seed     = flag.Uint64("seed", 1, "the seed of the first random cluster, and of the first scene")
)

// enough is from how many clusters on every kind of statement must have been tried, and enoughScenes from how many scenes on.
const (
	enough       = 300
	enoughScenes = 100
)

func TestMain(m *testing.M) {
	schedulertest.Prepare()
	klog.SetLogger(logr.Discard())
	os.Exit(m.Run())
}

// eachSeed makes something of each of the seeds, as many as are asked for or, in a short run, few,
// and tries to refute what is said of it. It returns what was tried, and whether that is enough for
// every kind to have been.
func eachSeed(t *testing.T, rounds, few, enough int, generate func(seed uint64) (name string, gates map[string]bool, refute func(*testing.T, *tally))) (log *tally, all bool) {
	if testing.Short() {
		rounds = min(rounds, few)
	}
	log = newTally()
	for n := range rounds {
		name, gates, refute := generate(*seed + uint64(n))
		t.Run(name, func(t *testing.T) {
			log.cluster = name
			livetest.SetGates(t, gates)
			refute(t, log)
		})
	}
	log.print(t)
	return log, rounds >= enough && !t.Failed()
}

// TestEveryStatementHolds makes random clusters, and tries to refute whatever the product says
// about their pods.
func TestEveryStatementHolds(t *testing.T) {
	log, all := eachSeed(t, *clusters, len(themes), enough, func(seed uint64) (string, map[string]bool, func(*testing.T, *tally)) {
		c := generate(seed)
		return c.name, c.gates, c.refute
	})
	for _, kind := range kinds() {
		reached := unreachable[kind] != "" || !all
		for tried := range log.tried {
			reached = reached || strings.HasPrefix(tried, kind)
		}
		if !reached {
			t.Errorf("no statement of the kind %s was tried", kind)
		}
	}
}

// refute asks about each pod of a cluster, and tries to refute the answers.
func (c *cluster) refute(t *testing.T, log *tally) {
	configuration := livetest.Configuration(t, c.configuration)
	scales := &thumbs{}
	engine := whatif.New(whatif.Options{
		Source: whatif.Objects(c.objects), Configuration: func() *schedulerconfig.KubeSchedulerConfiguration { return configuration },
		OutOfTree: scales.registry(),
		BreakTie: func(_ fwk.CycleState, _ *v1.Pod, tied []string) string {
			scales.tied = slices.Sorted(slices.Values(tied))
			return scales.tied[0]
		},
	})
	defer engine.Stop()
	partsTried := false
	for _, name := range c.pods {
		l := &lab{T: t, cluster: c, tally: log, scales: scales, engine: engine}
		err := engine.Try(t.Context(), nil, func(ctx context.Context, trial *whatif.Trial) error {
			l.ctx, l.trial = ctx, trial
			return l.examine(name)
		})
		if broken := (*whatif.PanicError)(nil); errors.As(err, &broken) {
			t.Fatalf("%s: %v\n%s", name, err, broken.Stack)
		}
		if err != nil {
			t.Errorf("%s: %v", name, err)
		}
		// Every part needs a scheduler of its own, so the parts of one margin are enough for a cluster.
		if err == nil && l.said.Margin != nil && !partsTried {
			partsTried = true
			l.examineParts(configuration)
		}
	}
}

// lab is where experiments about one pod are made. All of them begin with the same state.
type lab struct {
	*testing.T
	*tally
	ctx     context.Context
	trial   *whatif.Trial
	engine  *whatif.Engine
	cluster *cluster
	scales  *thumbs
	// pod is as the decision expects it.
	pod *v1.Pod
	// bound: it has a node, and is asked about as if it had none.
	bound bool
	cycle *result.Cycle
	said  explain.Explanation
}

// examine collects what is said about a pod, and tries to refute it.
func (l *lab) examine(name types.NamespacedName) error {
	o, err := l.trial.Get(v1.SchemeGroupVersion.WithKind("Pod"), name.Namespace, name.Name)
	if err != nil {
		return err
	}
	l.bound = o.(*v1.Pod).Spec.NodeName != ""
	if l.pod, err = l.trial.Pod(name.Namespace, name.Name); err != nil {
		return err
	}
	if whatif.GroupName(l.pod) != "" {
		return l.examineMember()
	}
	if l.cycle, err = l.trial.Decide(l.ctx, l.pod, ""); err != nil {
		return err
	}
	l.said = explain.Cycle(l.cycle)
	l.examineStatements()
	l.examineComparisons()
	l.examineRequests()
	l.examineScores()
	l.examinePreemption()
	l.trial.Rollback(whatif.Mark{})
	if l.bound || l.cycle.Outcome == result.Error || l.pod.Labels["fragile"] != "" {
		return nil
	}
	l.examineCures(name)
	if len(l.nodes()) > 0 {
		l.examineCapacity(name)
	}
	return nil
}

// examineMember is for a pod whose group decides too. What is compared for its nodes follows from where the members before it go.
func (l *lab) examineMember() error {
	cycles, err := l.trial.DecideGroup(l.ctx, l.pod, "")
	if err != nil {
		return err
	}
	for _, c := range cycles {
		if c.Pod.UID != l.pod.UID {
			continue
		}
		l.cycle, l.said = c, explain.Cycle(c)
		for _, s := range append([]explain.Statement{l.said.Headline}, l.said.Remarks...) {
			if ofGroup[explain.KindOf(s.Operands)] {
				l.state(s)
			}
		}
	}
	return nil
}

// ofGroup are the kinds of statements about a member's group.
var ofGroup = map[explain.Kind]bool{
	"heldByGroup": true, "notTried": true, "groupShort": true, "groupPlaced": true, "groupHasEnough": true, "groupVictims": true, "groupRoomImpossible": true,
	"groupRejected": true, "groupRoom": true, "groupFits": true,
}

// errUntried is returned by an experiment that cannot be made.
var errUntried = errors.New("not tried")

// claim makes an experiment, which starts from the unchanged state, and records whether the statement held.
func (l *lab) claim(kind string, statement any, experiment func() error) {
	l.Helper()
	mark := l.trial.Mark()
	err := experiment()
	l.trial.Rollback(mark)
	l.scales.reset()
	l.judge(l.T, l.pod.Name, kind, statement, err)
}

// judge records whether a statement held.
func (l *tally) judge(t *testing.T, pod, kind string, statement any, err error) {
	t.Helper()
	if errors.Is(err, errUntried) {
		return
	}
	if l.note(kind); err == nil {
		return
	}
	l.refuted[kind]++
	if known[kind] != "" {
		return
	}
	if l.refuted[kind] > mostReported && *clusters > 1 {
		t.Fail()
		return
	}
	document, _ := json.Marshal(statement)
	t.Errorf("%s: %s: %v: %s", pod, kind, err, document)
}

// mostReported bounds the refuted statements of a kind that are described.
const mostReported = 3

// tally counts the statements of each kind.
type tally struct {
	cluster        string
	tried, refuted map[string]int
	seen           map[string]map[string]bool
}

func newTally() *tally {
	return &tally{tried: map[string]int{}, refuted: map[string]int{}, seen: map[string]map[string]bool{}}
}

func (l *tally) note(kind string) {
	l.tried[kind]++
	if l.seen[kind] == nil {
		l.seen[kind] = map[string]bool{}
	}
	l.seen[kind][l.cluster] = true
}

func (l *tally) print(t *testing.T) {
	var out strings.Builder
	for _, kind := range slices.Sorted(maps.Keys(l.tried)) {
		fmt.Fprintf(&out, "\n%-60s %6d in %5d clusters", kind, l.tried[kind], len(l.seen[kind]))
		if n := l.refuted[kind]; n > 0 {
			fmt.Fprintf(&out, ", %d REFUTED", n)
		}
	}
	t.Log("statements tried:", out.String())
}

// The following change the state, or ask it.

func (l *lab) must(err error) {
	l.Helper()
	if err != nil {
		l.Fatalf("%s: an experiment cannot be made: %v", l.pod.Name, err)
	}
}

// as returns a copy of the pod that differs.
func (l *lab) as(change func(*v1.Pod)) *v1.Pod {
	p := l.pod.DeepCopy()
	change(p)
	return p
}

// rejects returns what the plugin says when it rejects the node for the pod, nil if it does not.
func (l *lab) rejects(pod *v1.Pod, plugin, node string) *whatif.Obstacle {
	l.Helper()
	all, err := l.trial.Obstacles(l.ctx, pod, "", node)
	l.must(err)
	for i := range all[0] {
		if all[0][i].Plugin == plugin {
			return &all[0][i]
		}
	}
	return nil
}

// fits reports whether the pod fits on the node.
func (l *lab) fits(pod *v1.Pod, node string) bool {
	l.Helper()
	on, err := l.trial.Feasible(l.ctx, pod, "", node)
	l.must(err)
	return len(on) > 0
}

// decide decides again.
func (l *lab) decide(pod *v1.Pod) *result.Cycle {
	l.Helper()
	c, err := l.trial.Decide(l.ctx, pod, "")
	l.must(err)
	return c
}

func (l *lab) apply(changes ...whatif.Change) {
	l.Helper()
	l.must(l.trial.Apply(changes...))
}

// set creates or replaces objects.
func (l *lab) set(objects ...runtime.Object) {
	l.Helper()
	for _, o := range objects {
		l.apply(whatif.Change{Apply: o})
	}
}

// nodeNamed returns a copy.
func (l *lab) nodeNamed(name string) *v1.Node {
	l.Helper()
	o, err := l.trial.Get(v1.SchemeGroupVersion.WithKind("Node"), "", name)
	l.must(err)
	return o.(*v1.Node).DeepCopy()
}

func (l *lab) changeNode(name string, change func(*v1.Node)) {
	l.Helper()
	n := l.nodeNamed(name)
	change(n)
	l.set(n)
}

// remove removes a pod. It reports whether there was one.
func (l *lab) remove(namespace, name string) bool {
	l.Helper()
	err := l.trial.Apply(whatif.Change{Delete: &whatif.ObjectRef{GVK: v1.SchemeGroupVersion.WithKind("Pod"), Namespace: namespace, Name: name}})
	if missing := (*whatif.NotFoundError)(nil); errors.As(err, &missing) {
		return false
	}
	l.must(err)
	return true
}

// on returns the pods on a node; pods that are nominated to it are among them.
func (l *lab) on(nodes ...string) []*v1.Pod {
	var out []*v1.Pod
	for _, p := range l.trial.Pods() {
		if p.UID == l.pod.UID {
			continue
		}
		if slices.Contains(nodes, p.Spec.NodeName) || p.Spec.NodeName == "" && slices.Contains(nodes, p.Status.NominatedNodeName) {
			out = append(out, p)
		}
	}
	slices.SortFunc(out, func(a, b *v1.Pod) int { return strings.Compare(a.Namespace+a.Name, b.Namespace+b.Name) })
	return out
}

// nodes returns the names of all nodes.
func (l *lab) nodes() []string {
	var out []string
	for _, n := range l.trial.Nodes() {
		out = append(out, n.Node().Name)
	}
	slices.Sort(out)
	return out
}

// domain returns the nodes whose label has the value.
func (l *lab) domain(key, value string) []string {
	var out []string
	for _, n := range l.trial.Nodes() {
		if actual, ok := n.Node().Labels[key]; ok && actual == value {
			out = append(out, n.Node().Name)
		}
	}
	slices.Sort(out)
	return out
}

// thumbs are Score plugins that give every node 0 until an experiment lays a thumb on it.
type thumbs struct {
	on atomic.Pointer[map[string]int64]
	// tied are the nodes of the latest tie.
	tied []string
}

// press makes the total of a node larger by amount.
func (t *thumbs) press(node string, amount int64) { t.on.Store(&map[string]int64{node: amount}) }

func (t *thumbs) reset() {
	t.on.Store(nil)
	t.tied = nil
}

func (t *thumbs) of(node string) int64 {
	if on := t.on.Load(); on != nil {
		return (*on)[node]
	}
	return 0
}

func (t *thumbs) registry() map[string]func(context.Context, runtime.Object, fwk.Handle) (fwk.Plugin, error) {
	out := map[string]func(context.Context, runtime.Object, fwk.Handle) (fwk.Plugin, error){}
	for name, factory := range plugins.Registry() {
		out[name] = factory
	}
	out["Fragile"] = func(context.Context, runtime.Object, fwk.Handle) (fwk.Plugin, error) { return brittle{}, nil }
	out["Thumb"] = func(context.Context, runtime.Object, fwk.Handle) (fwk.Plugin, error) {
		return thumb{"Thumb", func(node string) int64 { return t.of(node) % 100 }}, nil
	}
	out["HeavyThumb"] = func(context.Context, runtime.Object, fwk.Handle) (fwk.Plugin, error) {
		return thumb{"HeavyThumb", func(node string) int64 { return t.of(node) / 100 }}, nil
	}
	return out
}

// thumb is one of them.
type thumb struct {
	name  string
	score func(node string) int64
}

var _ fwk.ScorePlugin = thumb{}

func (t thumb) Name() string { return t.name }

func (t thumb) Score(_ context.Context, _ fwk.CycleState, _ *v1.Pod, node fwk.NodeInfo) (int64, *fwk.Status) {
	return t.score(node.Node().Name), nil
}

func (thumb) ScoreExtensions() fwk.ScoreExtensions { return nil }
