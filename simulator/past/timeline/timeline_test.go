package timeline

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"kube-scheduler-simulator/scheduler/result"
	"kube-scheduler-simulator/simulator/cluster/objects"
)

// TestEveryMoment: whatever happens, the state at every moment is what the API server stored then, also after restarts and kills, and
// with segments that end.
func TestEveryMoment(t *testing.T) {
	for seed := range uint64(2) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			random := rand.New(rand.NewPCG(seed, 1))
			h := newHarness(t, 1<<20)
			want := map[uint64]map[string][]byte{h.latestMoment(): h.inForm()}
			for range 300 {
				name := fmt.Sprintf("p%d", random.IntN(20))
				switch random.IntN(8) {
				case 0:
					h.put("pods/default/"+name, nil)
				case 1:
					h.put("example.com/widgets/default/"+name, custom(t, name, random.IntN(3)))
				case 2:
					h.put("minions/"+name, stored(t, node(name)))
				case 3:
					h.mu.Lock()
					h.flush()
					if random.IntN(10) == 0 {
						h.begin()
					}
					h.mu.Unlock()
				case 4:
					if random.IntN(10) == 0 {
						h.mu.Lock()
						h.flush()
						h.mu.Unlock()
						h.kill()
						h.open(1 << 20)
					}
				default:
					h.putPod(name, fmt.Sprintf("n%d", random.IntN(3)))
				}
				want[h.latestMoment()] = h.inForm()
			}
			moments := make([]uint64, 0, len(want))
			for moment := range want {
				moments = append(moments, moment)
			}
			random.Shuffle(len(moments), func(i, j int) { moments[i], moments[j] = moments[j], moments[i] })
			for _, moment := range moments {
				if got := h.state(moment); !maps.EqualFunc(want[moment], got, bytes.Equal) {
					t.Fatalf("moment %d (-stored +rebuilt):\n%s", moment, cmp.Diff(want[moment], got))
				}
			}
		})
	}
}

// TestKill: a program that is killed loses the moments of a second, but not what the cluster became in it.
func TestKill(t *testing.T) {
	h := newHarness(t, 1<<20)
	h.putPod("a", "")
	h.clock.Step(flushInterval)
	written := h.latestMoment()
	h.putPod("b", "")
	h.putPod("b", "n1")
	h.kill()

	h.open(1 << 20)
	if got := h.latestMoment(); got != written+1 {
		t.Errorf("the start has found the moments up to %d, want %d: one for the pod that is new to it", got, written+1)
	}
	if diff := cmp.Diff(h.inForm(), h.state(h.latestMoment())); diff != "" {
		t.Errorf("(-stored +rebuilt):\n%s", diff)
	}
	if warnings := h.Warnings(); len(warnings) > 0 {
		t.Errorf("warnings after a kill: %q", warnings)
	}
}

// TestTornWrite: what an unfinished write has left is cut off.
func TestTornWrite(t *testing.T) {
	h := newHarness(t, 1<<20)
	h.putPod("a", "")
	h.clock.Step(flushInterval)
	path, moment, want := h.journal.segments[0].Path, h.latestMoment(), h.inForm()
	h.kill()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, append(data, data[:40]...), 0o600); err != nil {
		t.Fatal(err)
	}
	h.open(1 << 20)
	if diff := cmp.Diff(want, h.state(moment)); diff != "" {
		t.Errorf("(-stored +rebuilt):\n%s", diff)
	}
	if warnings := h.Warnings(); len(warnings) > 0 {
		t.Errorf("warnings: %q", warnings)
	}
}

// TestDamage: of a damaged segment, which is set aside with a warning, the moments before the damage stay. So do the other segments, and
// recording goes on.
func TestDamage(t *testing.T) {
	for name, block := range map[string]int{"in the initial state": 0, "in the last changes": -1} {
		t.Run(name, func(t *testing.T) {
			h := newHarness(t, 1<<20)
			h.putPod("a", "")
			first := h.latestMoment()
			h.mu.Lock()
			h.flush()
			h.begin()
			h.mu.Unlock()
			h.putPod("b", "")
			h.clock.Step(flushInterval)
			second := h.latestMoment()
			h.putPod("c", "")
			h.clock.Step(flushInterval)
			third := h.latestMoment()
			damaged := h.journal.segments[1]
			if block < 0 {
				block += len(damaged.blocks)
			}
			h.kill()
			file, err := os.OpenFile(damaged.Path, os.O_RDWR, 0)
			if err != nil {
				t.Fatal(err)
			}
			if _, err := file.WriteAt([]byte{0xff, 0xff, 0xff}, damaged.blocks[block].end()-5); err != nil {
				t.Fatal(err)
			}
			file.Close()

			for range 2 { // at the second start, the directory is sound
				h.open(1 << 20)
				if state := h.state(first); state["pods/default/a"] == nil {
					t.Errorf("the moment %d of the other segment is not kept", first)
				}
				if state := h.state(second); block > 0 && (state["pods/default/b"] == nil || state["pods/default/c"] != nil) {
					t.Errorf("the moment %d before the damage is not kept", second)
				}
				if got := h.latestMoment(); got < second || block > 0 && got < third {
					t.Errorf("the time line goes on at %d, before %d", got, second)
				}
				if diff := cmp.Diff(h.inForm(), h.state(h.latestMoment())); diff != "" {
					t.Errorf("(-stored +rebuilt):\n%s", diff)
				}
				if warnings := h.Warnings(); damaged != nil && (len(warnings) != 1 || !strings.Contains(warnings[0], filepath.Base(damaged.Path)+".corrupt-1")) {
					t.Errorf("warnings %q, want one that names the file", warnings)
				} else if damaged == nil && len(warnings) > 0 {
					t.Errorf("warnings at the second start: %q", warnings)
				}
				aside, err := filepath.Glob(filepath.Join(h.dir, "*.corrupt-*"))
				if err != nil || len(aside) != 1 {
					t.Errorf("set aside are %q, %v", aside, err)
				}
				h.mu.Lock()
				h.flush()
				h.mu.Unlock()
				h.kill()
				damaged = nil
			}
		})
	}
}

// TestBound: the oldest moments go first, and the newest stay.
func TestBound(t *testing.T) {
	const limit = 64 << 10
	h := newHarness(t, limit)
	random := rand.New(rand.NewPCG(1, 1))
	for i := range 2000 {
		p := pod(fmt.Sprintf("p%d", i%10), "")
		p.Annotations = map[string]string{"noise": fmt.Sprint(random.Uint64(), random.Uint64(), random.Uint64(), random.Uint64())}
		h.put("pods/default/"+p.Name, stored(t, p))
		if i%20 == 0 {
			h.clock.Step(flushInterval)
		}
	}
	line, err := h.Line(context.Background(), Query{})
	if err != nil {
		t.Fatal(err)
	}
	if line.Bytes > limit {
		t.Errorf("the journal has %d bytes, beyond its bound of %d", line.Bytes, limit)
	}
	if line.StartMoment < 100 || line.EndMoment != h.latestMoment() {
		t.Errorf("the journal has the moments %d to %d of %d", line.StartMoment, line.EndMoment, h.latestMoment())
	}
	if diff := cmp.Diff(h.inForm(), h.state(line.EndMoment)); diff != "" {
		t.Errorf("(-stored +rebuilt):\n%s", diff)
	}
	h.state(line.StartMoment)
	_, _, err = h.snapshot(context.Background(), At{Moment: 1})
	if missing, ok := errors.AsType[*NotKeptError](err); !ok || missing.Oldest.Moment != line.StartMoment {
		t.Errorf("the first moment: %v, want an error that names the oldest, %d", err, line.StartMoment)
	}
}

// TestTooSmall: a bound that does not hold the cluster stops recording, with a warning.
func TestTooSmall(t *testing.T) {
	h := newHarness(t, 4<<10)
	random := rand.New(rand.NewPCG(1, 1))
	for i := range 100 {
		p := pod(fmt.Sprintf("p%d", i), "")
		p.Annotations = map[string]string{"noise": fmt.Sprint(random.Uint64(), random.Uint64(), random.Uint64(), random.Uint64())}
		h.put("pods/default/"+p.Name, stored(t, p))
	}
	h.clock.Step(flushInterval)
	if warnings := h.Warnings(); len(warnings) != 1 || !strings.Contains(warnings[0], "--timeline-bytes") {
		t.Errorf("warnings %q, want one that names the flag", warnings)
	}
}

// TestStripped: the journal leaves results and managed fields out, and a change of these is no moment.
func TestStripped(t *testing.T) {
	h := newHarness(t, 1<<20)
	p := pod("a", "n1")
	p.Annotations = map[string]string{"mine": "stays"}
	h.put("pods/default/a", stored(t, p))
	before := h.latestMoment()
	p.Annotations[objects.AnnotationSelectedNode] = "n1"
	p.ManagedFields = []metav1.ManagedFieldsEntry{{Manager: "kubectl"}}
	h.put("pods/default/a", stored(t, p))
	if got := h.latestMoment(); got != before {
		t.Errorf("a result has made the moment %d after %d", got, before)
	}
	u, err := decode(h.state(before)["pods/default/a"])
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(map[string]string{"mine": "stays"}, u.GetAnnotations()); diff != "" {
		t.Errorf("annotations (-want +got):\n%s", diff)
	}
	if refTo(u) != (ObjectRef{APIVersion: "v1", Kind: "Pod", Namespace: "default", Name: "a"}) {
		t.Errorf("it is %v", refTo(u))
	}
}

// TestNotRecorded: secrets and what only the API server uses stay out.
func TestNotRecorded(t *testing.T) {
	h := newHarness(t, 1<<20)
	before := h.latestMoment()
	for _, kind := range []string{"Secret", "Event"} {
		p := pod("a", "")
		data := stored(t, p)
		h.put("x/default/"+kind, []byte(strings.Replace(string(data), "\x03Pod", string(rune(len(kind)))+kind, 1)))
	}
	if got := h.latestMoment(); got != before {
		t.Errorf("moments %d to %d, want none", before, got)
	}
}

func TestSteps(t *testing.T) {
	h := newHarness(t, 1<<20)
	write := func(agent, verb string, w ...Written) {
		h.Wrote(Write{Begun: h.clock.Now(), Verb: verb, By: Program(agent), Objects: w})
	}
	ofPod := func(name string) Written { return Written{Resource: "pods", Namespace: "default", Name: name} }

	// Two requests of kubectl are one step, and its changes may come before or after the request has ended.
	write("kubectl/v1.37 (linux)", "create", ofPod("a"))
	h.putPod("a", "")
	begun := h.clock.Now()
	h.putPod("b", "")
	h.Wrote(Write{Begun: begun, Verb: "create", By: "kubectl", Objects: []Written{ofPod("b")}})
	// The scheduler's work is no step.
	h.putPod("a", "n1")
	h.putPod("b", "n1")
	h.clock.Step(2 * time.Second)
	// Neither is a request that changes nothing.
	write("Mozilla/5.0 (X11)", "patch", ofPod("a"))
	h.clock.Step(writePatience + time.Second)
	// A user makes a node fail, and recover.
	n := node("n1")
	h.put("minions/n1", stored(t, n))
	n.Annotations = map[string]string{objects.AnnotationFailure: objects.FailureNotReady}
	write("Mozilla/5.0 (X11)", "patch", Written{Resource: "nodes", Name: "n1"})
	h.put("minions/n1", stored(t, n))
	h.clock.Step(5 * time.Second)
	n.Annotations = nil
	h.put("minions/n1", stored(t, n))
	h.clock.Step(2 * time.Second)
	// A custom resource.
	write("kubectl/v1.37", "apply", Written{Group: "example.com", Resource: "widgets", Namespace: "default", Name: "w"})
	h.put("example.com/widgets/default/w", custom(t, "w", 1))
	h.clock.Step(2 * time.Second)
	// A drain cordons a node, and evicts pods until its budgets allow it. Another change comes in between.
	drain := func(w Written) {
		h.Wrote(Write{Begun: h.clock.Now(), Verb: "drain", By: "kubectl", Action: "1", Objects: []Written{w}})
	}
	n.Spec.Unschedulable = true
	drain(Written{Resource: "nodes", Name: "n1"})
	h.put("minions/n1", stored(t, n))
	h.clock.Step(10 * time.Second)
	write("Mozilla/5.0 (X11)", "create", ofPod("c"))
	h.putPod("c", "")
	drain(ofPod("a"))
	h.put("pods/default/a", nil)
	h.clock.Step(2 * time.Second)
	h.Begin(ImportStep, "web")(5, 2)
	h.clock.Step(time.Second)
	h.Configured(Configuration{Revision: 1, Document: "{}", By: BySimulator})
	h.Configured(Configuration{Revision: 2, Document: "{a: b}", Summary: "a", By: "web"})
	h.Configured(Configuration{Revision: 3, Document: "{x: y}", By: "web", Failed: true})

	want := []string{
		"change create by kubectl: 2 Pod/a Pod/b",
		"failure notReady by web: 1 Node/n1 for 5.01s",
		"change apply by kubectl: 1 Widget/w",
		"change create by web: 1 Pod/c",
		"change drain by kubectl: 2 Node/n1 Pod/a",
		"import import by web: 5 after 2 deleted",
		"configuration configure by web: 0",
		"configuration configure by web: 0",
	}
	if diff := cmp.Diff(want, h.steps()); diff != "" {
		t.Errorf("steps (-want +got):\n%s", diff)
	}
	// Two pods, a node, a widget, one more pod, a drained node and its pod, seven objects of an import and one configuration, since the
	// other did not start.
	if edits, err := h.Edits(t.Context()); edits != 15 || err != nil {
		t.Errorf("%d edits, %v", edits, err)
	}
	h.clock.Step(flushInterval)
	h.kill()
	h.open(1 << 20)
	if diff := cmp.Diff(want, h.steps()); diff != "" {
		t.Errorf("steps after a restart (-want +got):\n%s", diff)
	}
}

func TestLine(t *testing.T) {
	h := newHarness(t, 1<<20)
	for i := range 10 {
		h.putPod(fmt.Sprintf("p%d", i), "")
		h.results.fn(&result.Cycle{Summary: result.Summary{Outcome: result.Scheduled}})
	}
	h.results.fn(&result.Cycle{Summary: result.Summary{Outcome: result.Unschedulable}})
	h.clock.Step(10 * time.Second)
	line, err := h.Line(context.Background(), Query{Buckets: 4})
	if err != nil {
		t.Fatal(err)
	}
	var sum Bucket
	for _, b := range line.Buckets {
		sum.Events += b.Events
		sum.Scheduled += b.Scheduled
		sum.Unschedulable += b.Unschedulable
	}
	if diff := cmp.Diff(Bucket{Events: 10, Scheduled: 10, Unschedulable: 1}, sum); diff != "" {
		t.Errorf("buckets together (-want +got):\n%s", diff)
	}
	if len(line.Buckets) != 4 || !line.Recording || line.StartMoment != 1 || line.EndMoment != 11 {
		t.Errorf("line %+v", line)
	}
}

// TestAtTime: a time names the latest moment at or before it, and a decision the one that the scheduler saw.
func TestAtTime(t *testing.T) {
	h := newHarness(t, 1<<20)
	times := map[uint64]time.Time{}
	for i := range 30 {
		h.putPod(fmt.Sprintf("p%d", i), "")
		times[h.latestMoment()] = h.clock.Now()
		if i == 10 {
			h.clock.Step(flushInterval)
		}
		if i == 20 {
			h.mu.Lock()
			h.flush()
			h.begin()
			h.mu.Unlock()
		}
	}
	for moment, at := range times {
		asked := at.Add(time.Millisecond)
		if now := h.clock.Now(); asked.After(now) {
			asked = now // the time line ends there
		}
		_, s, err := h.snapshot(context.Background(), At{Time: asked})
		if err != nil || s.Moment != moment || !s.Time.Equal(asked) {
			t.Errorf("%v after the start: %v, %v; want moment %d at that time", at.Sub(start), s.Point, err, moment)
		}
		if _, s, err = h.snapshot(context.Background(), At{Moment: moment}); err != nil || !s.Time.Equal(at) {
			t.Errorf("moment %d is at %v, %v; want %v", moment, s.Time, err, at)
		}
	}
	h.results.cycles["uid-x"] = &result.Cycle{Summary: result.Summary{StartTime: times[7].Add(time.Millisecond)}}
	got, err := h.Decision(context.Background(), Attempt{UID: "uid-x", Number: 1})
	if err != nil || got.Moment != 7 || !got.Time.Equal(times[7].Add(time.Millisecond)) {
		t.Errorf("the decision saw %v, %v; want moment 7, when it began", got, err)
	}
	if _, err := h.Decision(context.Background(), Attempt{UID: types.UID("unknown"), Number: 1}); !errors.Is(err, ErrUnknownResult) {
		t.Errorf("an unknown result: %v", err)
	}
	if _, _, err := h.snapshot(context.Background(), At{Time: start.Add(-time.Second)}); err == nil {
		t.Error("there is a moment before the start")
	}
}

func TestAPastTimeHasTheConfigurationOfThatTime(t *testing.T) {
	h := newHarness(t, 1<<20)
	h.Configured(Configuration{Revision: 1, Document: `{"a":"first"}`})
	h.putPod("web", "")
	changed := h.clock.Now()
	// No object changes when the second one is applied.
	h.clock.Step(time.Minute)
	h.Configured(Configuration{Revision: 2, Document: `{"a":"second"}`, By: ByWeb})
	h.clock.Step(time.Minute)
	h.results.fn(&result.Cycle{Summary: result.Summary{Outcome: result.Unschedulable}})
	look := func(when string) {
		t.Helper()
		line, err := h.Line(t.Context(), Query{})
		if err != nil || len(line.Steps) != 1 {
			t.Fatalf("%s, the line is %+v, %v; want the step of revision 2", when, line, err)
		}
		if m, err := h.Moment(t.Context(), At{Time: line.Steps[0].Time}); err != nil || m.Configuration.Revision != 2 {
			t.Errorf("%s, at the step: %+v, %v; want revision 2", when, m, err)
		}
		if m, err := h.Moment(t.Context(), At{Moment: h.latestMoment()}); err != nil || m.Configuration.Revision != 1 {
			t.Errorf("%s, at the moment of the change: %+v, %v; want revision 1", when, m, err)
		}
		for after, want := range map[time.Duration]int{time.Millisecond: 1, 30 * time.Second: 1, 90 * time.Second: 2} {
			at := At{Time: changed.Add(after)}
			m, err := h.Moment(t.Context(), at)
			if err != nil || m.Configuration == nil || m.Configuration.Revision != want {
				t.Errorf("%s, %v after the change: %+v, %v; want revision %d", when, after, m, err, want)
				continue
			}
			var state bytes.Buffer
			if err := h.Export(t.Context(), &state, at); err != nil || !strings.Contains(state.String(), m.Configuration.Document) {
				t.Errorf("%s, %v after the change, the state has another configuration: %v\n%s", when, after, err, &state)
			}
		}
		d, err := h.Difference(t.Context(), At{Time: changed.Add(time.Second)}, At{Time: changed.Add(90 * time.Second)})
		if err != nil || d.Configuration == nil || d.Configuration.From != 1 || d.Configuration.To != 2 {
			t.Errorf("%s, the difference is %+v, %v", when, d, err)
		}
	}
	look("at once")
	h.mu.Lock()
	h.flush()
	h.mu.Unlock()
	d, err := h.Difference(t.Context(), At{Time: changed.Add(time.Second)}, At{Time: h.clock.Now()})
	if want := (Decisions{Unschedulable: 1}); err != nil || d.Decisions != want {
		t.Errorf("the decisions between two times are %+v, %v; want %+v", d, err, want)
	}
	h.kill()
	h.open(1 << 20)
	look("after a restart")
	h.mu.Lock()
	h.begin()
	h.mu.Unlock()
	look("when the journal has gone on")
}

func TestDifference(t *testing.T) {
	h := newHarness(t, 1<<20)
	h.Configured(Configuration{Revision: 1, Document: "percentageOfNodesToScore: 50"})
	h.putPod("gone", "n1")
	h.putPod("moved", "")
	h.put("example.com/widgets/default/w", custom(t, "w", 1))
	from := h.latestMoment()
	h.put("pods/default/gone", nil)
	h.putPod("new", "")
	h.putPod("moved", "n2")
	h.put("example.com/widgets/default/w", custom(t, "w", 3))
	h.Configured(Configuration{Revision: 2, Document: "percentageOfNodesToScore: 70", By: "web"})
	h.put("minions/n", stored(t, node("n")))
	got, err := h.Difference(context.Background(), At{Moment: from}, At{Moment: h.latestMoment()})
	if err != nil {
		t.Fatal(err)
	}
	ref := func(name string) ObjectRef {
		return ObjectRef{APIVersion: "v1", Kind: "Pod", Namespace: "default", Name: name}
	}
	want := &Difference{
		Created: []ObjectRef{{APIVersion: "v1", Kind: "Node", Name: "n"}, ref("new")},
		Deleted: []ObjectRef{ref("gone")},
		Changed: []ObjectChange{{
			Object: ObjectRef{APIVersion: "example.com/v1", Kind: "Widget", Namespace: "default", Name: "w"},
			Fields: []FieldChange{{Path: "spec.replicas", From: int64(1), To: int64(3)}},
		}},
		Bound:         []Placement{{Pod: ref("gone"), From: "n1"}, {Pod: ref("moved"), To: "n2"}},
		Configuration: &ConfigurationChange{From: 1, To: 2, Fields: []FieldChange{{Path: "percentageOfNodesToScore", From: 50.0, To: 70.0}}},
	}
	if diff := cmp.Diff(want, got, cmpopts.IgnoreTypes(Point{})); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestMoment(t *testing.T) {
	h := newHarness(t, 1<<20)
	h.put("minions/n1", stored(t, node("n1")))
	h.putPod("a", "n1")
	h.putPod("b", "")
	at := h.latestMoment()
	h.put("pods/default/b", nil)
	got, err := h.Moment(context.Background(), At{Moment: at})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(MomentCounts{Nodes: 1, Pods: 2, Pending: 1}, got.Counts); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	want := map[string]any{
		"apiVersion": "v1", "kind": "Pod", "metadata": map[string]any{"namespace": "default", "name": "a", "uid": "uid-a"},
		"spec": map[string]any{"nodeName": "n1", "containers": []any{map[string]any{"name": "c", "resources": map[string]any{}}}},
	}
	var pod map[string]any
	if err := json.Unmarshal(got.Pods[0], &pod); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, pod); diff != "" {
		t.Errorf("pod (-want +got):\n%s", diff)
	}
}

// TestScrubbing: a moment is the same whichever one was asked for before it.
func TestScrubbing(t *testing.T) {
	h := newHarness(t, 1<<20)
	h.put("minions/n1", stored(t, node("n1")))
	h.putPod("a", "")
	pending := h.latestMoment()
	h.putPod("a", "n1")
	placed := h.latestMoment()
	h.put("pods/default/a", nil)
	gone := h.latestMoment()
	for _, at := range []uint64{placed, pending, gone, placed, gone, pending, pending} {
		got, err := h.Moment(context.Background(), At{Moment: at})
		if err != nil {
			t.Fatal(err)
		}
		want := map[uint64]MomentCounts{pending: {Nodes: 1, Pods: 1, Pending: 1}, placed: {Nodes: 1, Pods: 1}, gone: {Nodes: 1}}[at]
		if diff := cmp.Diff(want, got.Counts); diff != "" {
			t.Errorf("moment %d (-want +got):\n%s", at, diff)
		}
		if want.Pods == 1 && bytes.Contains(got.Pods[0], []byte(`"nodeName"`)) != (at == placed) {
			t.Errorf("moment %d has %s", at, got.Pods[0])
		}
	}
	h.clock.Step(latestTime)
	if h.drawn != nil {
		t.Error("a moment is held although no client has asked for it for long")
	}
}

// TestIdle: a time line that has nothing to write arms no timer.
func TestIdle(t *testing.T) {
	h := newHarness(t, 1<<20)
	h.putPod("a", "")
	h.clock.Step(flushInterval)
	if len(h.clock.timers) > 0 {
		t.Error("a timer runs although nothing happens")
	}
}

// TestOff: without a bound nothing is recorded, and the answers say so.
func TestOff(t *testing.T) {
	off := New(Options{Results: &noResults{}})
	off.Start()
	line, err := off.Line(context.Background(), Query{})
	if err != nil || line.Recording || line.Start != nil {
		t.Errorf("%+v, %v", line, err)
	}
	if _, err := off.Moment(context.Background(), At{Moment: 1}); !strings.Contains(fmt.Sprint(err), "does not record") {
		t.Errorf("a moment: %v", err)
	}
	undo, err := off.Undoable(context.Background())
	if err != nil || undo.Step != nil || undo.Message == "" {
		t.Errorf("%+v, %v", undo, err)
	}
	if err := off.Stop(context.Background()); err != nil {
		t.Error(err)
	}
}
