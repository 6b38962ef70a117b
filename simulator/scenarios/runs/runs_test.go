package runs

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"kube-scheduler-simulator/scheduler/config"
	"kube-scheduler-simulator/simulator/scenarios/inmemory"
	"kube-scheduler-simulator/simulator/scenarios/scenario"
)

const text = `apiVersion: kube-scheduler-simulator.sigs.k8s.io/v1alpha1
kind: Scenario
metadata: {name: small}
matrix: {seed: 1..2}
steps:
- create:
    count: 2
    template: {apiVersion: v1, kind: Node, metadata: {name: "n${i}"}, status: {allocatable: {cpu: "2", memory: 1Gi, pods: "3"}}}
- create: {file: pod.yaml, count: 5}
- wait: settled
- expect:
  - that: pods.all(p, p.node != "")
  - that: pods.all(p, p.node == "n0")
`

var files = map[string]string{"pod.yaml": `{"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "p"}, "spec": {"containers": [{"name": "c", "image": "i"}]}}`}

func open(t *testing.T, engine scenario.Engine) *Runs {
	r := New(Options{Engine: engine, Parse: config.Parse, Workers: 1, Current: func() ([]byte, error) { return nil, errors.New("none") }})
	t.Cleanup(func() { _ = r.Stop(context.Background()) })
	return r
}

// wait waits until an entry is in a state.
func wait(t *testing.T, r *Runs, id string, state State) Entry {
	t.Helper()
	for limit := time.Now().Add(20 * time.Second); time.Now().Before(limit); time.Sleep(time.Millisecond) {
		if e, _ := r.Get(id); e.State == state {
			return e
		}
	}
	e, _ := r.Get(id)
	t.Fatalf("it is %s: %+v", e.State, e)
	return Entry{}
}

func TestRunsAreDoneInTheBackground(t *testing.T) {
	r := open(t, inmemory.Engine(nil))
	started, err := r.Start(t.Context(), Request{Scenario: text, Files: files})
	if err != nil {
		t.Fatal(err)
	}
	e := wait(t, r, started.ID, Ended)
	if e.Done != 2 || e.Passed != 0 || e.Results[1].Held != 1 || e.Results[0].Steps[3].Expectations[1].Passed {
		t.Errorf("%+v", e)
	}
	if list := r.List(); len(list) != 1 || list[0].Results != nil {
		t.Errorf("%+v", list)
	}
	// The decisions behind failed expectations are kept whole.
	kept := 0
	for d := range r.Result(started.ID, 1).Decisions() {
		if kept++; !d.Kept || d.Cycle == nil || d.Cycle.Pod.UID != d.Pod.UID {
			t.Errorf("%+v", d)
		}
	}
	if kept == 0 || r.Result(started.ID, 2) != nil || r.Result("none", 0) != nil {
		t.Errorf("%d decisions are kept", kept)
	}
	if !r.Delete(started.ID) || r.Delete(started.ID) {
		t.Error("it was not forgotten once")
	}
}

func TestComparison(t *testing.T) {
	r := open(t, inmemory.Engine(nil))
	started, err := r.Start(t.Context(), Request{Scenario: text, Files: files, Against: "default"})
	if err != nil {
		t.Fatal(err)
	}
	e := wait(t, r, started.ID, Ended)
	if e.Comparison == nil || e.Done != 4 || e.Comparison.Same != 5 || len(e.Comparison.Moved) != 0 {
		t.Errorf("%+v %s", e.Comparison, e.Error)
	}
}

// stuck opens no cluster before its context ends.
func stuck(ctx context.Context, _ scenario.ClusterOptions) (scenario.Cluster, error) {
	<-ctx.Done()
	return nil, ctx.Err()
}

func TestCancelAndBounds(t *testing.T) {
	r := open(t, stuck)
	var ids []string
	for range MaxActive {
		e, err := r.Start(t.Context(), Request{Scenario: text, Files: files})
		if err != nil {
			t.Fatal(err)
		}
		ids = append(ids, e.ID)
	}
	if _, err := r.Start(t.Context(), Request{Scenario: text, Files: files}); !errors.As(err, new(*FullError)) {
		t.Errorf("error %v", err)
	}
	for _, id := range ids {
		r.Delete(id)
		wait(t, r, id, Canceled)
	}
	for _, test := range []Request{{Scenario: "a: ["}, {Scenario: text}, {Scenario: text, Files: files, Against: "none.yaml"}} {
		if _, err := r.Start(t.Context(), test); !errors.As(err, new(*scenario.Error)) {
			t.Errorf("error %v", err)
		}
	}
}

// TestCanceledEntriesStay cancels an entry that ends at once.
func TestCanceledEntriesStay(t *testing.T) {
	r := open(t, stuck)
	started, err := r.Start(t.Context(), Request{Scenario: text, Files: files})
	if err != nil {
		t.Fatal(err)
	}
	e := r.find(started.ID)
	cancel := e.cancel
	e.cancel = func() {
		cancel()
		wait(t, r, e.ID, Canceled)
	}
	if !r.Delete(e.ID) {
		t.Error("it was not there")
	}
	e.cancel = cancel
	if _, ok := r.Get(e.ID); !ok {
		t.Fatal("canceling has forgotten it")
	}
	if !r.Delete(e.ID) || r.Delete(e.ID) {
		t.Error("it was not forgotten once")
	}
}

const sweepText = `apiVersion: kube-scheduler-simulator.sigs.k8s.io/v1alpha1
kind: Sweep
metadata: {name: weights}
scenario: scenario.yaml
seed: 1..2
parameters:
- {name: strategy, plugin: NodeResourcesFit, args: scoringStrategy.type, values: [LeastAllocated, MostAllocated]}
- {name: spread, plugin: PodTopologySpread, weight: [off, 2, 5]}
metrics:
- {name: most pods, value: "nodes.map(n, n.pods).max()"}
best:
- {least: most pods}
`

func TestSweep(t *testing.T) {
	r := open(t, inmemory.Engine(nil))
	with := map[string]string{"pod.yaml": files["pod.yaml"], "scenario.yaml": text}
	started, err := r.Start(t.Context(), Request{Sweep: sweepText, Files: with})
	if err != nil {
		t.Fatal(err)
	}
	if started.Total != 12 || len(started.Sweep.Points) != 6 || started.Sweep.Points[5].Rank != 0 {
		t.Errorf("%+v", started)
	}
	e := wait(t, r, started.ID, Ended)
	first, last := e.Sweep.Points[0], e.Sweep.Points[5]
	if e.Results != nil || e.Done != 12 || first.Rank != 1 || first.Done != 2 || first.Metrics["most pods"] > last.Metrics["most pods"] || first.Metrics["most pods"] == 0 {
		t.Errorf("%+v", e.Sweep)
	}
	for _, p := range e.Sweep.Points {
		if p.Unchanged != (p.Values[0] == "LeastAllocated" && p.Values[1] == int64(2)) {
			t.Errorf("%+v", p)
		}
	}
	if got := r.Result(e.ID, 2*first.Point+1); got == nil || got.Seed != 2 {
		t.Errorf("%+v", got)
	}
	for name, q := range map[string]Request{
		"both": {Sweep: sweepText, Scenario: text, Files: with}, "neither": {Files: with}, "no scenario": {Sweep: sweepText},
		"compared": {Sweep: sweepText, Files: with, Against: "default"}, "too many": {Sweep: strings.Replace(sweepText, "1..2", "1..100", 1), Files: with},
	} {
		if _, err := r.Start(t.Context(), q); !errors.As(err, new(*scenario.Error)) {
			t.Errorf("%s: error %v", name, err)
		}
	}
}
