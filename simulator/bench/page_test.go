package bench

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

func TestAPageIsTold(t *testing.T) {
	start := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	p := &page{objects: map[types.UID]*followed{}}
	for second, frame := range []string{
		`{"type":"list","id":"nodes","first":true,"items":[{"metadata":{"uid":"n"},"status":{"conditions":[{"type":"Ready","status":"False"}]}}],"more":false}`,
		`{"type":"events","id":"nodes","events":[{"type":"MODIFIED","object":{"metadata":{"uid":"n"},"status":{"conditions":[{"type":"Ready","status":"True"}]}}}]}`,
		`{"type":"events","id":"pods","events":[{"type":"ADDED","object":{"metadata":{"uid":"a"}}},{"type":"ADDED","object":{"metadata":{"uid":"b"}}}]}`,
		`{"type":"events","id":"pods","events":[{"type":"MODIFIED","object":{"metadata":{"uid":"a"},"spec":{"nodeName":"n"}}}]}`,
		`{"type":"events","id":"results","events":[{"type":"ADDED","object":{"pod":{"uid":"a"},"startTime":"2026-01-01T00:00:03Z","durationSeconds":0.5}}]}`,
		`{"type":"events","id":"pods","events":[{"type":"MODIFIED","object":{"metadata":{"uid":"a"},"spec":{"nodeName":"n"},"status":{"phase":"Running"}}}]}`,
		`{"type":"events","id":"pods","events":[{"type":"MODIFIED","object":{"metadata":{"uid":"a","resourceVersion":"7"},"spec":{"nodeName":"n"},"status":{"phase":"Running"}}}]}`,
	} {
		if err := p.tell([]byte(frame), start.Add(time.Duration(second)*time.Second)); err != nil {
			t.Fatal(err)
		}
	}
	want := []Told{{"ready", 1, 1}, {"created", 2, 1}, {"decided", 1, 2.5}, {"recorded", 1, 3}, {"bound", 1, 2}, {"running", 1, 4}, {"told", 1, 5}}
	pods := []v1.Pod{{ObjectMeta: metav1.ObjectMeta{UID: "a", ResourceVersion: "7"}}, {ObjectMeta: metav1.ObjectMeta{UID: "b", ResourceVersion: "8"}}}
	if diff := cmp.Diff(want, p.told(start, start.Add(time.Second), pods)); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]float64{0.5}, p.delays); diff != "" {
		t.Error(diff)
	}
	if err := p.tell([]byte(`{"type":"error","id":"pods","message":"gone","code":410}`), start); err == nil {
		t.Error("an error is not passed on")
	}
}
