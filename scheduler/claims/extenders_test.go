package claims

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"
	schedulerconfig "k8s.io/kubernetes/pkg/scheduler/apis/config"

	"kube-scheduler-simulator/scheduler"
	"kube-scheduler-simulator/scheduler/explain"
	"kube-scheduler-simulator/scheduler/result"
	"kube-scheduler-simulator/scheduler/schedulertest"
	"kube-scheduler-simulator/scheduler/whatif"
	"kube-scheduler-simulator/scheduler/whatif/livetest"
)

// extenderStatements are the experiments for what is said of extenders, by kind. Extenders answer over real HTTP, which bubbles cannot have.
var extenderStatements = map[explain.Kind]func(*extended, explain.Operands) error{
	explain.KindOf(explain.ExtenderError{}):   func(x *extended, s explain.Operands) error { return x.failed(s.(explain.ExtenderError)) },
	explain.KindOf(explain.ExtenderFailure{}): func(x *extended, s explain.Operands) error { return x.failure(s.(explain.ExtenderFailure)) },
	explain.KindOf(explain.NodesFromExtender{}): func(x *extended, s explain.Operands) error {
		return x.nodesFrom(s.(explain.NodesFromExtender))
	},
	explain.KindOf(explain.NoNodeFits{}):  func(x *extended, s explain.Operands) error { return x.rejecters(s.(explain.NoNodeFits)) },
	explain.KindOf(explain.SearchEnded{}): func(x *extended, s explain.Operands) error { return x.searchEnded(s.(explain.SearchEnded)) },
}

// setting is how one extender is configured, and how it fails.
type setting struct {
	name              string
	cached, ignorable bool
	// verbs are those that it has, with the failure of each; empty for none.
	verbs map[result.ExtenderVerb]string
}

// extended is a cluster with extenders, and what is asked about it.
type extended struct {
	*testing.T
	*tally
	seed    uint64
	objects []runtime.Object
	pod     *v1.Pod
	cycle   *result.Cycle
	// live: a scheduler decides that runs. Its search can end early.
	live bool
	// nodesToScore is the percentage.
	nodesToScore int
	settings     []setting
}

func newExtended(seed uint64) *extended {
	g := &generator{Rand: rand.New(rand.NewPCG(seed, 45)), cluster: &cluster{}}
	d := &director{generator: g}
	x := &extended{seed: seed, live: seed%6 == 5}
	nodes := 2 + g.IntN(4)
	if x.live {
		nodes = 120
	}
	for range nodes {
		x.objects = append(x.objects, d.machine(one(g, "1", "2", "4")))
	}
	for i := range 1 + g.IntN(2) {
		s := setting{name: fmt.Sprint("e", i), cached: g.chance(50), ignorable: g.chance(50), verbs: map[result.ExtenderVerb]string{}}
		for _, verb := range []result.ExtenderVerb{result.ExtenderFilter, result.ExtenderPrioritize} {
			if verb == result.ExtenderFilter || g.chance(70) {
				s.verbs[verb] = ""
			}
			if !x.live && g.chance(35) {
				s.verbs[verb] = one(g, schedulertest.Failures...)
			}
		}
		x.settings = append(x.settings, s)
	}
	x.pod = replica(fmt.Sprint("p", g.IntN(20)), one(g, "500m", "1500m"))
	if x.live && g.chance(80) {
		x.settings[0].verbs = map[result.ExtenderVerb]string{result.ExtenderFilter: schedulertest.RejectsAll}
	}
	return x
}

// ask decides about the pod with settings that differ.
func (x *extended) ask(change func([]setting)) *result.Cycle {
	x.Helper()
	settings, failures := make([]setting, len(x.settings)), map[string]string{}
	for i, s := range x.settings {
		settings[i] = s
		settings[i].verbs = map[result.ExtenderVerb]string{}
		for verb, failure := range s.verbs {
			settings[i].verbs[verb] = failure
		}
	}
	change(settings)
	for _, s := range settings {
		for verb, failure := range s.verbs {
			failures[s.name+"/"+string(verb)] = failure
		}
	}
	extenders := schedulertest.NewExtenders(failures)
	defer extenders.Close()
	document := header + fmt.Sprintf("percentageOfNodesToScore: %d\nprofiles: [{schedulerName: default-scheduler}]\nextenders:\n", x.nodesToScore)
	for _, s := range settings {
		document += fmt.Sprintf("- {urlPrefix: %q, nodeCacheCapable: %t, ignorable: %t, weight: 1, httpTimeout: 300ms", extenders.URL(s.name), s.cached, s.ignorable)
		for verb := range s.verbs {
			document += fmt.Sprintf(", %sVerb: %s", verb, verb)
		}
		document += "}\n"
	}
	configuration := livetest.Configuration(x.T, document)
	if x.live {
		return x.decideLive(configuration)
	}
	engine := whatif.New(whatif.Options{
		Source: whatif.Objects(append([]runtime.Object{x.pod}, x.objects...)), Configuration: func() *schedulerconfig.KubeSchedulerConfiguration { return configuration },
	})
	defer engine.Stop()
	var cycle *result.Cycle
	err := engine.Try(x.Context(), nil, func(ctx context.Context, trial *whatif.Trial) (err error) {
		trial.AskExtenders(true)
		cycle, err = trial.Decide(ctx, x.pod, "")
		return err
	})
	if err != nil {
		x.Fatal(err)
	}
	return cycle
}

// firstCycle is a sink that hands out the first cycle.
type firstCycle chan *result.Cycle

func (firstCycle) NextAttempt(types.UID) int { return 1 }

func (f firstCycle) Put(c *result.Cycle) {
	select {
	case f <- c:
	default:
	}
}

func (x *extended) decideLive(configuration *schedulerconfig.KubeSchedulerConfiguration) *result.Cycle {
	x.Helper()
	ctx, cancel := context.WithTimeout(x.Context(), 30*time.Second)
	defer cancel()
	server, first := schedulertest.NewAPIServer(), make(firstCycle, 1)
	client, err := kubernetes.NewForConfig(server.Config("user"))
	if err != nil {
		x.Fatal(err)
	}
	for _, o := range append(x.objects, x.pod) {
		if err := schedulertest.Create(ctx, client, o.DeepCopyObject()); err != nil {
			x.Fatal(err)
		}
	}
	s := scheduler.New(scheduler.Options{Client: server.Config("scheduler"), Configuration: configuration, Sink: first, TieSeed: new(int64)})
	if err := s.Start(ctx); err != nil {
		x.Fatal(err)
	}
	defer func() {
		if err := s.Stop(ctx); err != nil {
			x.Error(err)
		}
	}()
	select {
	case c := <-first:
		return c
	case <-ctx.Done():
		x.Fatal("the pod is not tried")
		return nil
	}
}

// TestEveryStatementOnExtendersHolds asks about pods while extenders filter, prioritize and fail, and tries to refute what is said.
func TestEveryStatementOnExtendersHolds(t *testing.T) {
	log, all := eachSeed(t, *scenes, 4, enoughScenes, func(seed uint64) (string, map[string]bool, func(*testing.T, *tally)) {
		x := newExtended(seed)
		return fmt.Sprintf("seed %d, live %t", x.seed, x.live), nil, x.refute
	})
	for kind := range extenderStatements {
		if all && log.tried["extenders "+string(kind)] == 0 {
			t.Errorf("no statement of the kind %s was tried", kind)
		}
	}
}

func (x *extended) refute(t *testing.T, log *tally) {
	x.T, x.tally = t, log
	x.cycle = x.ask(func([]setting) {})
	said := explain.Cycle(x.cycle)
	for _, s := range append([]explain.Statement{said.Headline}, said.Remarks...) {
		if experiment := extenderStatements[explain.KindOf(s.Operands)]; experiment != nil {
			x.judge(x.T, x.pod.Name, "extenders "+string(explain.KindOf(s.Operands)), s, experiment(x, s.Operands))
		}
	}
}

// named returns the setting of an extender, whose name is an address.
func named(settings []setting, extender string) *setting {
	for i := range settings {
		if strings.HasSuffix(extender, "/"+settings[i].name) {
			return &settings[i]
		}
	}
	return nil
}

// failedAt reports whether the extender failed at the verb.
func failedAt(c *result.Cycle, extender string, verb result.ExtenderVerb) bool {
	name := extender[strings.LastIndex(extender, "/"):]
	for _, call := range c.Extenders {
		if call.Verb == verb && call.Status == "Error" && strings.HasSuffix(call.Plugin, name) {
			return true
		}
	}
	return false
}

// failed: "could not be scheduled because the extender failed at filter". If it does not, that is not why; and if it may be ignored, neither.
func (x *extended) failed(s explain.ExtenderError) error {
	c := x.ask(func(all []setting) { named(all, s.Extender).verbs[s.Verb] = "" })
	if e, again := explain.Cycle(c).Headline.Operands.(explain.ExtenderError); again && e.Verb == s.Verb && failedAt(c, s.Extender, s.Verb) {
		return fmt.Errorf("it is said although it does not fail")
	}
	if c := x.ask(func(all []setting) { named(all, s.Extender).ignorable = true }); c.Outcome == result.Error && !failedAtAnother(c, s.Extender) {
		return fmt.Errorf("it is the end of the attempt although it may be ignored: %s", c.Message)
	}
	return nil
}

func failedAtAnother(c *result.Cycle, extender string) bool {
	name := extender[strings.LastIndex(extender, "/"):]
	for _, call := range c.Extenders {
		if call.Status == "Error" && !call.Ignored && !strings.HasSuffix(call.Plugin, name) {
			return true
		}
	}
	return false
}

// failure: "failed at filter and was ignored". Without the verb, the pod fits on the same nodes; and without the failure it is not said.
func (x *extended) failure(s explain.ExtenderFailure) error {
	if c := x.ask(func(all []setting) { named(all, s.Extender).verbs[s.Verb] = "" }); failedAt(c, s.Extender, s.Verb) {
		return fmt.Errorf("it is said although it does not fail")
	}
	if !s.Ignored {
		return nil
	}
	if c := x.ask(func(all []setting) { delete(named(all, s.Extender).verbs, s.Verb) }); c.Nodes.Feasible != x.cycle.Nodes.Feasible || c.Outcome != x.cycle.Outcome {
		return fmt.Errorf("without the verb %d nodes are feasible", c.Nodes.Feasible)
	}
	return nil
}

// nodesFrom: "the extender has no node cache, so the plugins that score were given nodes without their pods". With a node cache that is not said.
func (x *extended) nodesFrom(s explain.NodesFromExtender) error {
	if named(x.settings, s.Extender).cached {
		return fmt.Errorf("it has a node cache")
	}
	c := x.ask(func(all []setting) {
		for i := range all {
			all[i].cached = true
		}
	})
	for _, r := range explain.Cycle(c).Remarks {
		if _, again := r.Operands.(explain.NodesFromExtender); again {
			return fmt.Errorf("it is said although all have a node cache")
		}
	}
	return nil
}

// rejecters: "2 by http://…/e0". Without any extender, so many nodes more are feasible as extenders reject.
func (x *extended) rejecters(s explain.NoNodeFits) error {
	byExtenders := 0
	for _, r := range s.Rejecters {
		if named(x.settings, r.Plugin) != nil {
			byExtenders += r.Nodes
		}
	}
	c := x.ask(func(all []setting) {
		for i := range all {
			all[i].verbs = map[result.ExtenderVerb]string{result.ExtenderPrioritize: ""}
		}
	})
	if c.Nodes.Feasible != byExtenders {
		return fmt.Errorf("without extenders %d nodes are feasible, and they reject %d", c.Nodes.Feasible, byExtenders)
	}
	return nil
}

// searchEnded: "20 nodes were not evaluated: enough nodes had been found before extenders rejected them". When all nodes are wanted, these are
// evaluated, too.
func (x *extended) searchEnded(s explain.SearchEnded) error {
	if x.cycle.Nodes.Total-x.cycle.Nodes.Evaluated != s.Nodes {
		return fmt.Errorf("%d of %d were evaluated", x.cycle.Nodes.Evaluated, x.cycle.Nodes.Total)
	}
	x.nodesToScore = 100
	c := x.ask(func([]setting) {})
	x.nodesToScore = 0
	if c.Nodes.Evaluated != c.Nodes.Total {
		return fmt.Errorf("when all are wanted, %d are evaluated", c.Nodes.Evaluated)
	}
	return nil
}
