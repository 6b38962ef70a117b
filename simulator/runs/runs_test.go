package runs

import (
	"context"
	"errors"
	"testing"
	"time"

	"kube-scheduler-simulator/scheduler/config"
	"kube-scheduler-simulator/simulator/scenario"
	"kube-scheduler-simulator/simulator/scenario/inmemory"
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
  - that: nodes.all(n, n.pods < 2)
`

var files = map[string]string{"pod.yaml": `{"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "p"}, "spec": {"containers": [{"name": "c", "image": "i"}]}}`}

func open(t *testing.T, engine scenario.Engine) *Runs {
	r := New(Options{Engine: engine, Parse: config.Parse, Workers: 1, Current: func() ([]byte, error) { return nil, errors.New("none") }})
	t.Cleanup(r.Stop)
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
	started, err := r.Start(Request{Scenario: text, Files: files})
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
	if !r.Delete(started.ID) || r.Delete(started.ID) {
		t.Error("it was not forgotten once")
	}
}

func TestComparison(t *testing.T) {
	r := open(t, inmemory.Engine(nil))
	started, err := r.Start(Request{Scenario: text, Files: files, Against: "default"})
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
		e, err := r.Start(Request{Scenario: text, Files: files})
		if err != nil {
			t.Fatal(err)
		}
		ids = append(ids, e.ID)
	}
	if _, err := r.Start(Request{Scenario: text, Files: files}); !errors.As(err, new(*FullError)) {
		t.Errorf("error %v", err)
	}
	for _, id := range ids {
		r.Delete(id)
		wait(t, r, id, Canceled)
	}
	for _, test := range []Request{{Scenario: "a: ["}, {Scenario: text}, {Scenario: text, Files: files, Against: "none.yaml"}} {
		if _, err := r.Start(test); !errors.As(err, new(*scenario.Error)) {
			t.Errorf("error %v", err)
		}
	}
}
