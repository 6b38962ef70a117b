package replay

import (
	"bytes"
	"context"
	"errors"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/watch"

	"kube-scheduler-simulator/simulator/cluster/objects"
)

// production is a source with nodes and pods.
type production struct {
	t testing.TB

	mu      sync.Mutex
	objects map[Kind][]string
	watches map[Kind]*watch.FakeWatcher
	away    bool
}

func newProduction(t testing.TB) *production {
	return &production{t: t, objects: map[Kind][]string{}, watches: map[Kind]*watch.FakeWatcher{}}
}

func (p *production) List(_ context.Context, kind Kind) (items []*unstructured.Unstructured, version string, err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	switch {
	case kind != nodeKind && kind != podKind:
		return nil, "", apierrors.NewNotFound(schema.GroupResource{Resource: kind.Resource}, "")
	case p.away:
		return nil, "", errors.New("connection refused")
	}
	for _, text := range p.objects[kind] {
		items = append(items, &unstructured.Unstructured{Object: object(p.t, text)})
	}
	return items, "1", nil
}

func (p *production) Watch(_ context.Context, kind Kind, _ string) (watch.Interface, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.away {
		return nil, errors.New("connection refused")
	}
	p.watches[kind] = watch.NewFake()
	return p.watches[kind], nil
}

func (p *production) send(kind Kind, what watch.EventType, text string) {
	synctest.Wait()
	p.mu.Lock()
	w := p.watches[kind]
	p.mu.Unlock()
	w.Action(what, &unstructured.Unstructured{Object: object(p.t, text)})
	synctest.Wait()
}

// leave makes the source unreachable.
func (p *production) leave(away bool) {
	synctest.Wait()
	p.mu.Lock()
	defer p.mu.Unlock()
	p.away = away
	for _, w := range p.watches {
		if away {
			w.Stop()
		}
	}
}

const web = `{"apiVersion":"v1","kind":"Pod","metadata":{"name":"web","namespace":"default","uid":"u1","resourceVersion":"7","managedFields":[{}],"labels":{"a":"1"}},"spec":{"containers":[{"name":"main","image":"web:1","env":[{"name":"PASSWORD","value":"hush"}]}],"volumes":[{"name":"v","secret":{"secretName":"s"}}]},"status":{"podIP":"10.0.0.1"}}`

func recordAll(t *testing.T, p *production, live func()) (*Recording, Recorded, []string) {
	t.Helper()
	var out bytes.Buffer
	var notes []string
	var sum Recorded
	var failed error
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan struct{})
	go func() {
		defer close(done)
		sum, failed = Record(ctx, RecorderOptions{Source: p, Out: &out, Note: func(m string) { notes = append(notes, m) }})
	}()
	synctest.Wait()
	live()
	synctest.Wait()
	cancel()
	<-done
	if failed != nil {
		t.Fatal(failed)
	}
	if strings.Contains(out.String(), "hush") {
		t.Error("the recording has the environment of a container")
	}
	r, err := Open(bytes.NewReader(out.Bytes()), int64(out.Len()))
	if err != nil {
		t.Fatal(err)
	}
	return r, sum, notes
}

func wantTranscript(t *testing.T, r *Recording, want ...string) {
	t.Helper()
	got, err := transcript(r)
	if err != nil {
		t.Fatal(err)
	}
	for i := range got {
		got[i] = strings.TrimSuffix(got[i], " null")
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

// A recording holds the fields that a scheduler reads, but no heartbeats and no commands of containers.
func TestChangesAreRecordedAndHeartbeatsAreNot(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newProduction(t)
		node := func(beat, ready string) string {
			return `{"metadata":{"name":"n1","uid":"n"},"status":{"conditions":[{"type":"Ready","status":"` + ready + `","lastHeartbeatTime":"` + beat + `"}]}}`
		}
		p.objects[nodeKind] = []string{node("1", "True")}
		r, sum, _ := recordAll(t, p, func() {
			time.Sleep(3 * time.Second)
			p.send(podKind, watch.Added, web)
			p.send(nodeKind, watch.Modified, node("2", "True"))
			time.Sleep(time.Second)
			p.send(nodeKind, watch.Modified, node("3", "False"))
			p.send(podKind, watch.Modified, strings.Replace(web, `"spec":{`, `"spec":{"nodeName":"n1",`, 1))
			p.send(podKind, watch.Modified, strings.Replace(web, `"spec":{`, `"spec":{"nodeName":"n1",`, 1))
			p.send(podKind, watch.Deleted, web)
		})
		wantTranscript(t, r,
			`0s S Node n1 {"metadata":{"name":"n1"},"status":{"conditions":[{"status":"True","type":"Ready"}]}}`,
			`0s B  `,
			`3s S Pod default/web {"metadata":{"labels":{"a":"1"},"name":"web","namespace":"default"},"spec":{"containers":[{"image":"web:1","name":"main"}]},"status":{}}`,
			`4s S Node n1 {"metadata":{"name":"n1"},"status":{"conditions":[{"status":"False","type":"Ready"}]}}`,
			`4s S Pod default/web {"metadata":{"labels":{"a":"1"},"name":"web","namespace":"default"},"spec":{"containers":[{"image":"web:1","name":"main"}],"nodeName":"n1"},"status":{}}`,
			`4s D Pod default/web`, `4s E  `)
		if sum.Objects != 1 || sum.Changes != 7 || sum.Gaps != 0 || len(sum.Missing) != len(RecordedKinds())-2-len(objects.Kinds(objects.Recorded|objects.Custom))-len(objects.Kinds(objects.Recorded|objects.Gated)) {
			t.Errorf("%+v", sum)
		}
	})
}

// A source that does not answer for a while leaves a gap, followed by the differences. A pod with the
// same name and another UID is a new pod.
func TestASourceMayGoAwayAndComeBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newProduction(t)
		p.objects[nodeKind] = []string{`{"metadata":{"name":"n1"}}`}
		r, sum, notes := recordAll(t, p, func() {
			p.send(podKind, watch.Added, `{"metadata":{"name":"web","namespace":"default","uid":"u1"}}`)
			p.leave(true)
			time.Sleep(10 * time.Second)
			p.leave(false)
			time.Sleep(30 * time.Second)
			p.send(podKind, watch.Added, `{"metadata":{"name":"web","namespace":"default","uid":"u2"}}`)
		})
		got, err := transcript(r)
		if err != nil {
			t.Fatal(err)
		}
		var verbs []string
		for _, line := range got {
			verbs = append(verbs, strings.Fields(line)[1])
		}
		if diff := cmp.Diff([]string{"S", "B", "S", "G", "D", "S", "E"}, verbs); diff != "" {
			t.Error(diff)
		}
		if sum.Gaps != 1 || len(notes) != 3 {
			t.Errorf("%d gaps, notes %q", sum.Gaps, notes)
		}
	})
}

func TestARecorderThatCannotReadNodesFails(t *testing.T) {
	p := newProduction(t)
	p.away = true
	if _, err := Record(t.Context(), RecorderOptions{Source: p, Out: &bytes.Buffer{}, Header: Header{Kinds: []Kind{nodeKind, podKind}}}); err == nil || !strings.Contains(err.Error(), "listing the source's nodes") {
		t.Errorf("the error is %v", err)
	}
}
