package timeline

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"k8s.io/utils/ptr"

	"kube-scheduler-simulator/scheduler/yamlsource/bombs"
	"kube-scheduler-simulator/simulator/past/replay"
)

// TestRecording: the same questions about a recording of another cluster.
func TestRecording(t *testing.T) {
	nodes := replay.Kind{APIVersion: "v1", Kind: "Node", Resource: "nodes"}
	pods := replay.Kind{APIVersion: "v1", Kind: "Pod", Resource: "pods", Namespaced: true}
	var file bytes.Buffer
	w := replay.NewWriter(&file, replay.Header{Start: start, Kinds: []replay.Kind{nodes, pods}})
	at := func(seconds int) time.Time { return start.Add(time.Duration(seconds) * time.Second) }
	set := func(seconds int, kind replay.Kind, namespace, name string, object map[string]any) {
		t.Helper()
		metadata := map[string]any{"name": name}
		if namespace != "" {
			metadata["namespace"] = namespace
		}
		object["metadata"] = metadata
		if _, err := w.Set(at(seconds), kind, namespace, name, object); err != nil {
			t.Fatal(err)
		}
	}
	ready := func(status string) map[string]any {
		return map[string]any{"status": map[string]any{"conditions": []any{map[string]any{"type": "Ready", "status": status}}}}
	}
	set(0, nodes, "", "n1", ready("True"))
	set(0, pods, "default", "a", map[string]any{"spec": map[string]any{"nodeName": "n1"}})
	if err := w.Mark(at(0), replay.Begun, ""); err != nil {
		t.Fatal(err)
	}
	set(10, pods, "default", "b", map[string]any{"spec": map[string]any{}})
	set(11, pods, "default", "b", map[string]any{"spec": map[string]any{"nodeName": "n1"}})
	set(20, nodes, "", "n1", ready("Unknown"))
	set(30, nodes, "", "n1", ready("True"))
	if err := w.Delete(at(40), pods, "default", "a"); err != nil {
		t.Fatal(err)
	}
	if err := w.Mark(at(50), replay.End, ""); err != nil {
		t.Fatal(err)
	}
	if err := w.Flush(); err != nil {
		t.Fatal(err)
	}
	recording, err := replay.Open(bytes.NewReader(file.Bytes()), int64(file.Len()))
	if err != nil {
		t.Fatal(err)
	}
	x := New(Options{Results: &noResults{}, Recording: func() *replay.Recording { return recording }})
	x.Start()
	ctx := context.Background()

	line, err := x.Line(ctx, Query{Buckets: 1})
	if err != nil {
		t.Fatal(err)
	}
	recovered := at(30)
	want := &Line{
		Start: ptr.To(at(0)), End: ptr.To(at(50)), StartMoment: 2, EndMoment: 7, Source: OfReplay,
		Buckets: []Bucket{{Time: at(0), Events: 5, Scheduled: 1}},
		Steps: []Step{{
			Moment: 5, Time: at(20), EndTime: &recovered, Kind: FailureStep, Verb: "unreachable", By: "cluster", Count: 1,
			Objects: []ObjectRef{{APIVersion: "v1", Kind: "Node", Name: "n1"}},
		}},
	}
	if diff := cmp.Diff(want, line); diff != "" {
		t.Errorf("line (-want +got):\n%s", diff)
	}
	for _, test := range []struct {
		at   At
		want MomentCounts
	}{
		{At{Moment: 7}, MomentCounts{Nodes: 1, Pods: 1}},
		{At{Moment: 3}, MomentCounts{Nodes: 1, Pods: 2, Pending: 1}}, // back, after the end
		{At{Time: at(12)}, MomentCounts{Nodes: 1, Pods: 2}},
		{At{Time: at(5)}, MomentCounts{Nodes: 1, Pods: 1}},
	} {
		got, err := x.Moment(ctx, test.at)
		if err != nil {
			t.Fatalf("%v: %v", test.at, err)
		}
		if diff := cmp.Diff(test.want, got.Counts); diff != "" {
			t.Errorf("%v (-want +got):\n%s", test.at, diff)
		}
	}
	if _, err := x.Moment(ctx, At{Moment: 1}); err == nil {
		t.Error("the initial list has moments within")
	}
	undo, err := x.Undoable(ctx)
	if err != nil || undo.Message != "a recording is loaded" {
		t.Errorf("undo: %+v, %v", undo, err)
	}
}

// TestQuestionsEndWithTheirContext: a client that leaves ends a question about the past in the middle.
func TestQuestionsEndWithTheirContext(t *testing.T) {
	const pods = 20
	var file bytes.Buffer
	kind := replay.Kind{APIVersion: "v1", Kind: "Pod", Resource: "pods", Namespaced: true}
	w := replay.NewWriter(&file, replay.Header{Start: start, Kinds: []replay.Kind{kind}})
	h := newHarness(t, 1<<20)
	for i := range pods {
		name := fmt.Sprint("p", i)
		if _, err := w.Set(start, kind, "default", name, map[string]any{"metadata": map[string]any{"name": name}}); err != nil {
			t.Fatal(err)
		}
		if i == 0 {
			if err := w.Mark(start, replay.Begun, ""); err != nil {
				t.Fatal(err)
			}
		}
		h.putPod(name, "")
	}
	if err := w.Flush(); err != nil {
		t.Fatal(err)
	}
	recording, err := replay.Open(bytes.NewReader(file.Bytes()), int64(file.Len()))
	if err != nil {
		t.Fatal(err)
	}
	h.put("minions/n", stored(t, node("n")))
	latest := At{Moment: pods}
	for from, line := range map[string]func() *Timeline{
		"a recording": func() *Timeline {
			x := New(Options{Results: &noResults{}, Recording: func() *replay.Recording { return recording }})
			x.Start()
			return x
		},
		"the journal": func() *Timeline {
			h.latest, h.drawn = nil, nil
			return h.Timeline
		},
	} {
		for what, ask := range map[string]func(context.Context, *Timeline) error{
			"a moment": func(ctx context.Context, x *Timeline) error {
				_, err := x.Moment(ctx, latest)
				return err
			},
			"an export": func(ctx context.Context, x *Timeline) error { return x.Export(ctx, io.Discard, latest) },
			"a difference": func(ctx context.Context, x *Timeline) error {
				_, err := x.Difference(ctx, At{Moment: 1}, latest)
				return err
			},
		} {
			t.Run(what+" of "+from, func(t *testing.T) {
				bombs.EndsInTheMiddle(t, pods-1, func(ctx context.Context) error { return ask(ctx, line()) })
			})
		}
	}
}
