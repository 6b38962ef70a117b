package scenario

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	gocmp "github.com/google/go-cmp/cmp"
	v1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	apitypes "k8s.io/apimachinery/pkg/types"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"kube-scheduler-simulator/scheduler/config"
	"kube-scheduler-simulator/scheduler/result"
)

// room is a cluster for tests of runs: each node takes a number of pods, and each pod goes to the first node with room, by
// name. It has no controllers.
type room struct {
	pods    int
	now     time.Time
	nodes   map[string]*v1.Node
	there   map[string]*v1.Pod
	cycles  map[apitypes.UID]*result.Cycle
	observe func(*result.Cycle)
	closed  bool
}

func rooms(pods int, opened *[]*room) Engine {
	return func(_ context.Context, o ClusterOptions) (Cluster, error) {
		r := &room{pods: pods, now: time.Unix(1000, 0), nodes: map[string]*v1.Node{}, there: map[string]*v1.Pod{}, cycles: map[apitypes.UID]*result.Cycle{}, observe: o.Observe}
		if opened != nil {
			*opened = append(*opened, r)
		}
		return r, nil
	}
}

func (r *room) Create(_ context.Context, objects ...runtime.Object) error {
	for _, o := range objects {
		u := o.(*unstructured.Unstructured)
		switch u.GetKind() {
		case "Node":
			var n v1.Node
			if err := runtime.DefaultUnstructuredConverter.FromUnstructured(u.Object, &n); err != nil {
				return err
			}
			if r.nodes[n.Name] != nil {
				return apierrors.NewAlreadyExists(schema.GroupResource{Resource: "nodes"}, n.Name)
			}
			n.Status.Conditions = []v1.NodeCondition{{Type: v1.NodeReady, Status: v1.ConditionTrue}}
			r.nodes[n.Name] = &n
		case "Pod":
			var p v1.Pod
			if err := runtime.DefaultUnstructuredConverter.FromUnstructured(u.Object, &p); err != nil {
				return err
			}
			p.Namespace = cmp.Or(p.Namespace, "default")
			p.UID, p.CreationTimestamp = apitypes.UID(p.Name), metav1.NewTime(r.now)
			r.there[p.Name] = &p
		}
	}
	r.schedule()
	return nil
}

// schedule places what fits.
func (r *room) schedule() {
	for _, name := range slices.Sorted(maps.Keys(r.there)) {
		p := r.there[name]
		if p.Spec.NodeName != "" {
			continue
		}
		c := &result.Cycle{Summary: result.Summary{Pod: result.Pod{Namespace: p.Namespace, Name: p.Name, UID: p.UID}, Attempt: 1, StartTime: r.now, Outcome: result.Unschedulable, Message: "no room"}}
		if last := r.cycles[p.UID]; last != nil {
			c.Attempt = last.Attempt + 1
		}
		for _, node := range slices.Sorted(maps.Keys(r.nodes)) {
			if r.on(node) < r.pods && r.nodes[node].Status.Conditions[0].Status == v1.ConditionTrue {
				bound := p.DeepCopy()
				bound.Spec.NodeName, bound.Status.Phase = node, v1.PodRunning
				r.there[name] = bound
				c.Outcome, c.SelectedNode, c.Message = result.Scheduled, node, ""
				break
			}
		}
		r.cycles[p.UID] = c
		r.observe(c)
	}
}

func (r *room) on(node string) int {
	n := 0
	for _, p := range r.there {
		if p.Spec.NodeName == node {
			n++
		}
	}
	return n
}

func (r *room) Apply(ctx context.Context, objects ...runtime.Object) error {
	return r.Create(ctx, objects...)
}

func (r *room) Patch(context.Context, schema.GroupVersionKind, string, string, apitypes.PatchType, []byte) error {
	return nil
}

func (r *room) Delete(_ context.Context, gvk schema.GroupVersionKind, _, name string) error {
	if gvk.Kind == "Node" {
		delete(r.nodes, name)
		return nil
	}
	if r.there[name] == nil {
		return apierrors.NewNotFound(schema.GroupResource{Resource: "pods"}, name)
	}
	delete(r.there, name)
	r.schedule()
	return nil
}

func (r *room) Fail(_ context.Context, node string) error { return r.ready(node, v1.ConditionFalse) }

func (r *room) Recover(_ context.Context, node string) error { return r.ready(node, v1.ConditionTrue) }

func (r *room) ready(node string, is v1.ConditionStatus) error {
	if r.nodes[node] == nil {
		return apierrors.NewNotFound(schema.GroupResource{Resource: "nodes"}, node)
	}
	n := r.nodes[node].DeepCopy()
	n.Status.Conditions[0].Status = is
	r.nodes[node] = n
	r.schedule()
	return nil
}

func (r *room) Configure(context.Context, *config.Configuration) error { return nil }

func (r *room) Advance(_ context.Context, d time.Duration) error { r.now = r.now.Add(d); return nil }

func (r *room) Settle(context.Context) error { return nil }

func (r *room) Now() time.Time { return r.now }

func (r *room) State(context.Context) ([]*v1.Node, []*v1.Pod, error) {
	var nodes []*v1.Node
	for _, name := range slices.Sorted(maps.Keys(r.nodes)) {
		nodes = append(nodes, r.nodes[name])
	}
	var pods []*v1.Pod
	for _, name := range slices.Sorted(maps.Keys(r.there)) {
		pods = append(pods, r.there[name])
	}
	return nodes, pods, nil
}

func (r *room) List(context.Context, schema.GroupVersionKind) ([]runtime.Object, error) {
	return nil, nil
}

func (r *room) Cycle(_ context.Context, pod apitypes.UID, _ int) (*result.Cycle, error) {
	return r.cycles[pod], nil
}

func (r *room) Close() error { r.closed = true; return nil }

// transcript renders a result for review.
func transcript(r *Result) string {
	var b strings.Builder
	for _, s := range r.Steps {
		fmt.Fprintf(&b, "%s %s: %s", s.Verb, s.What, s.Said)
		if s.Error != "" {
			fmt.Fprintf(&b, " !%s", s.Error)
		}
		fmt.Fprintf(&b, " @%gs\n", s.AtSeconds)
		for _, e := range s.Expectations {
			fmt.Fprintf(&b, "  %t %s", e.Passed, cmp.Or(e.Say, e.That))
			if e.Error != "" {
				fmt.Fprintf(&b, " !%s", e.Error)
			}
			for _, f := range e.Findings {
				fmt.Fprintf(&b, "; %s: %s", f.Expected, f)
			}
			if e.Decision != nil {
				fmt.Fprintf(&b, "; because %s: %s%s", e.Decision.Pod.Name, e.Decision.SelectedNode, e.Decision.Message)
			}
			b.WriteString("\n")
		}
	}
	fmt.Fprintf(&b, "%s %s", r.Outcome, r.Error)
	return b.String()
}

const zonesYAML = `
- create:
    count: 3
    template:
      apiVersion: v1
      kind: Node
      metadata:
        name: node-${i}
        labels: {topology.kubernetes.io/zone: "zone-${i % 2}"}
      status: {allocatable: {cpu: "${i + 1}"}}
`

func TestRun(t *testing.T) {
	for name, test := range map[string]struct {
		text string
		want string
	}{
		"findings": {head + `let:
  etl: pods.filter(p, p.labels.app == "etl")
  placed: etl.filter(p, p.node != "")
steps:` + zonesYAML + `
- create: {file: etl.yaml, count: 7}
- wait: settled
- expect:
  - {that: "etl.all(p, p.node != \"\")", say: all placed}
  - that: spread(etl, "zone") <= 1
  - that: placed.size() == 6 && spread(etl, "zone") > 1
  - that: pods.exists(p, p.name == "etl-7" && p.message == "no room")
  - that: nodes.filter(n, n.labels["topology.kubernetes.io/zone"] == "zone-0").size() == 2
  - that: nodes.map(n, n.allocatable.cpu).sum() >= 6
  - that: pods.all(p, !has(p.labels.team) && p.labels.team == "" && has(p.labels.app))
  - that: decisions.size() == 7 && preempted(etl).size() == 0
  - that: pods[7].name == "none"
`, `create 3 of Node node-${i}: 3 Nodes @0s
create 7 of etl.yaml: 7 Pods @0s
wait settled: 6 of 7 pods have a node, etl-7 pending @0s
expect 9 expectations: 6 of 9 hold @0s
  false all placed; etl.all(p, p.node != ""): 6 of 7, not etl-7; because etl-7: no room
  false spread(etl, "zone") <= 1; spread(etl, "zone") <= 1: 2 (zone-0 4, zone-1 2); because etl-6: node-2
  true placed.size() == 6 && spread(etl, "zone") > 1; placed.size() == 6: 6; spread(etl, "zone") > 1: 2 (zone-0 4, zone-1 2)
  true pods.exists(p, p.name == "etl-7" && p.message == "no room"); pods.exists(p, p.name == "etl-7" && p.message == "no room"): true
  true nodes.filter(n, n.labels["topology.kubernetes.io/zone"] == "zone-0").size() == 2; nodes.filter(n, n.labels["topology.kubernetes.io/zone"] == "zone-0").size() == 2: 2
  true nodes.map(n, n.allocatable.cpu).sum() >= 6; nodes.map(n, n.allocatable.cpu).sum() >= 6: 6
  true pods.all(p, !has(p.labels.team) && p.labels.team == "" && has(p.labels.app)); pods.all(p, !has(p.labels.team) && p.labels.team == "" && has(p.labels.app)): 7 of 7
  true decisions.size() == 7 && preempted(etl).size() == 0; decisions.size() == 7: 7; preempted(etl).size() == 0: 0
  false pods[7].name == "none" !pods[7].name == "none" cannot be evaluated: index out of bounds: 7
failed `},
		"arrivals come while time passes, and end": {head + "steps:" + zonesYAML + `
- arrive: {file: etl.yaml, rate: 6/m, for: 1m, lifetime: 25s}
- advance: 30s
- wait: {for: pods.size() == 0, timeout: 1h}
- wait: {for: pods.size() == 1, timeout: 5s}
`, `create 3 of Node node-${i}: 3 Nodes @0s
arrive etl.yaml at 6/m: 6 to come @0s
advance 30s: 3 of 3 pods have a node @30s
wait pods.size() == 0, within 1h0m0s: 0 of 0 pods have a node, 3 pods gone @85s
wait pods.size() == 1, within 5s:  !it did not become true within 5s; no arrival is planned any more, and later steps wait for this one @90s
failed `},
		"a trace with computed fields": {head + "steps:" + zonesYAML + `
- arrive:
    trace: trace.csv
    speed: 0.5
    lifetime: ${duration(row.cpu + "0s")}
    template: {apiVersion: v1, kind: Pod, metadata: {name: "p${i}-cpu${row.cpu}"}, spec: {containers: [{name: c, image: i}]}}
- wait: {for: pods.size() == 1}
- expect: [{that: 'pods[0].name == "p0-cpu1"'}]
- wait: settled
- expect: [{that: pods.size() == 0}]
`, `create 3 of Node node-${i}: 3 Nodes @0s
arrive 2 from trace.csv: 2 to come within 10s @0s
wait pods.size() == 1: 1 of 1 pods have a node @1s
expect 1 expectation: 1 of 1 hold @1s
  true pods[0].name == "p0-cpu1"; pods[0].name == "p0-cpu1": "p0-cpu1"
wait settled: 0 of 0 pods have a node, 1 pod gone @30s
expect 1 expectation: 1 of 1 hold @30s
  true pods.size() == 0; pods.size() == 0: 0
passed `},
		"failing nodes and waiting pods": {head + "steps:" + zonesYAML + `
- fail: {nodes: 'nodes.filter(n, n.name != "node-0")'}
- create: {file: etl.yaml, count: 4}
- advance: 20s
- expect:
  - that: pods.all(p, p.waited < duration("10s"))
- recover: {node: node-1}
- delete: {pods: 'pods.filter(p, p.node == "node-0")'}
- expect:
  - that: pods.size() == 2 && pods.all(p, p.node != "" && p.waited == duration("20s"))
- fail: {node: nowhere}
`, `create 3 of Node node-${i}: 3 Nodes @0s
fail nodes.filter(n, n.name != "node-0"): node-1, node-2 not ready @0s
create 4 of etl.yaml: 4 Pods @0s
advance 20s: 2 of 4 pods have a node, etl-3, etl-4 pending @20s
expect 1 expectation: 0 of 1 hold @20s
  false pods.all(p, p.waited < duration("10s")); pods.all(p, p.waited < duration("10s")): 2 of 4, not etl-3, etl-4; because etl-4: no room
recover node-1: node-1 ready again @20s
delete pods.filter(p, p.node == "node-0"): 2 Pods @20s
expect 1 expectation: 1 of 1 hold @20s
  true pods.size() == 2 && pods.all(p, p.node != "" && p.waited == duration("20s")); pods.size() == 2: 2; pods.all(p, p.node != "" && p.waited == duration("20s")): 2 of 2
fail nowhere:  !nodes "nowhere" not found @20s
error test.yaml:24: fail: nodes "nowhere" not found`},
	} {
		t.Run(name, func(t *testing.T) {
			s, err := load(t, test.text, files)
			if err != nil {
				t.Fatal(err)
			}
			var opened []*room
			got := Run(t.Context(), s, s.Matrix.Combinations()[0], RunOptions{Engine: rooms(2, &opened)})
			if diff := gocmp.Diff(test.want, transcript(got)); diff != "" {
				t.Error(diff)
			}
			if !opened[0].closed {
				t.Error("the cluster stays open")
			}
		})
	}
}

// TestPreempted: preempted() evaluates its argument as if only the victims existed.
func TestPreempted(t *testing.T) {
	s, err := load(t, head+`let:
  etl: pods.filter(p, p.labels.app == "etl")
  gone: preempted(etl)
steps:`+zonesYAML+`
- create: {file: etl.yaml, count: 2}
- expect:
  - that: preempted(etl).size() == 0 && gone.size() == 1 && preempted(pods)[0].name == "etl-1"
`, files)
	if err != nil {
		t.Fatal(err)
	}
	engine := func(ctx context.Context, o ClusterOptions) (Cluster, error) {
		return rooms(2, nil)(ctx, ClusterOptions{Observe: func(c *result.Cycle) {
			if c.Pod.Name == "etl-2" {
				victim := result.Victim{Pod: result.Pod{Namespace: "default", Name: "etl-1", UID: "etl-1"}}
				c.Preemption = &result.Preemption{Chosen: "node-0", Candidates: []result.Candidate{{Node: "node-0", Victims: []result.Victim{victim}}}, Evictions: &result.Evictions{Victims: 1}}
			}
			o.Observe(c)
		}})
	}
	got := Run(t.Context(), s, s.Matrix.Combinations()[0], RunOptions{Engine: engine})
	e := got.Steps[2].Expectations[0]
	if e.Passed || len(e.Findings) != 1 || e.Findings[0].Value != "1" || e.Decision == nil || e.Decision.Pod.Name != "etl-2" {
		t.Errorf("%s", transcript(got))
	}
}

func TestCanceledRun(t *testing.T) {
	s, err := load(t, head+"steps:\n- wait: {for: pods.size() == 1, timeout: 8000h}\n", files)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if got := Run(ctx, s, s.Matrix.Combinations()[0], RunOptions{Engine: rooms(1, nil)}); got.Outcome != Canceled {
		t.Error(transcript(got))
	}
}
