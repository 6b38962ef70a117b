package systemtest

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"sync"
	"testing"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"kube-scheduler-simulator/simulator/testing/clustertest"
)

// emptying is an operation that empties the cluster.
type emptying struct {
	// asked: the request was sent. acknowledged: the program answered that it was done.
	asked, acknowledged bool
	// reset: it also discards the configuration, and creates nothing new.
	reset bool
}

// reset resets the simulator. It returns nil when the program was killed meanwhile.
func (l *ledger) reset(ctx context.Context, p *program) error {
	return l.empty(ctx, p, emptying{asked: true, reset: true}, http.MethodPut, "/api/v1/reset", nil)
}

// replay loads a recording, which empties the cluster, and plays it.
func (l *ledger) replay(ctx context.Context, p *program, recording []byte) error {
	err := l.empty(ctx, p, emptying{asked: true}, http.MethodPost, "/api/v1/replay?name=kill", bytes.NewReader(recording))
	if err != nil {
		return err
	}
	a, err := p.request(http.MethodPatch, "/api/v1/replay", bytes.NewReader([]byte(`{"state":"playing","speed":0}`)), nil)
	if err == nil && a.status != http.StatusOK {
		return readRefusal(a)
	}
	return p.unlessEnded(ctx, err)
}

func (l *ledger) empty(ctx context.Context, p *program, what emptying, method, path string, body io.Reader) error {
	// With at least one object, an emptied cluster differs from an untouched one.
	name := fmt.Sprintf("map-%05d", l.number())
	l.try(l.maps, name, entry{})
	if _, err := p.client.CoreV1().ConfigMaps(namespace).Create(ctx, &v1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: name}}, metav1.CreateOptions{}); err != nil {
		return p.unlessEnded(ctx, err)
	}
	l.acknowledge(l.maps, name)
	l.setEmptying(what)
	a, err := p.request(method, path, body, nil)
	if err != nil {
		return p.unlessEnded(ctx, err)
	}
	if a.status != http.StatusOK {
		return readRefusal(a)
	}
	what.acknowledged = true
	l.setEmptying(what)
	return nil
}

// unlessEnded returns err, or nil when the program was killed.
func (p *program) unlessEnded(ctx context.Context, err error) error {
	if err != nil && p.ended(ctx) {
		return nil
	}
	return err
}

func (l *ledger) setEmptying(to emptying) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.emptying = to
}

// checkEmptied checks that the cluster was emptied as a whole or not at all. An acknowledged
// operation must have emptied it.
func (l *ledger) checkEmptied(t *testing.T, p *program) {
	t.Helper()
	what := l.emptying
	l.emptying = emptying{}
	if !what.asked {
		return
	}
	maps, err := p.client.CoreV1().ConfigMaps(namespace).List(t.Context(), metav1.ListOptions{})
	if err != nil {
		t.Fatal(err)
	}
	left := 0
	for _, m := range maps.Items {
		if l.maps[m.Name] != nil || l.imports[m.Name] {
			left++
		}
	}
	if left > 0 {
		if what.acknowledged {
			t.Errorf("the program acknowledged that it is empty: %d ConfigMaps are left", left)
		}
		return // the ledger's checks notice if anything else is gone
	}
	pods, err := p.client.CoreV1().Pods(namespace).List(t.Context(), metav1.ListOptions{})
	if err != nil {
		t.Fatal(err)
	}
	for _, pod := range pods.Items {
		if l.pods[pod.Name] != nil || what.reset {
			t.Errorf("the ConfigMaps are gone, but pod %s is not", pod.Name)
		}
	}
	if what.reset {
		checkReset(t, p)
		l.documents, l.latest, l.tried = map[int]string{}, "", nil
	}
	l.maps, l.pods = map[string]*entry{}, map[string]*entry{}
	l.scheduled, l.imports = map[types.UID]*binding{}, map[string]bool{}
	l.checked["empty"]++
}

// checkReset checks that only objects exist that the API server creates by itself.
func checkReset(t *testing.T, p *program) {
	t.Helper()
	nodes, err := p.client.CoreV1().Nodes().List(t.Context(), metav1.ListOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if len(nodes.Items) > 0 {
		t.Errorf("after a reset there are %d nodes", len(nodes.Items))
	}
	if decisions := p.decisions(t); len(decisions) > 0 {
		t.Errorf("after a reset there are results of %d pods", len(decisions))
	}
	var revisions struct{ Items []revision }
	if err := p.get(configurationURL+"/revisions", &revisions); err != nil {
		t.Fatal(err)
	}
	if len(revisions.Items) != 1 {
		t.Errorf("after a reset there are %d revisions", len(revisions.Items))
	}
}

// TestResetsAreQuiet: what is expected while pods that come and are scheduled are reset is no line in the log.
func TestResetsAreQuiet(t *testing.T) {
	clustertest.Slow(t)
	p := start(t, newHome(t))
	for round := range 5 {
		p.createNodes(t, fmt.Sprint("node-", round), 20)
		ctx, stop := context.WithCancel(t.Context())
		var load sync.WaitGroup
		for worker := range 4 {
			load.Go(func() {
				for i := 0; ctx.Err() == nil; i++ { // a reset refuses some of them
					_, _ = p.client.CoreV1().Pods(namespace).Create(ctx, newPod(fmt.Sprintf("p-%d-%d-%d", round, worker, i)), metav1.CreateOptions{})
				}
			})
		}
		eventually(t, "pods are scheduled", func() error {
			var page struct{ Items []any }
			if err := p.get("/api/v1/results?limit=50&outcome=scheduled", &page); err != nil || len(page.Items) < 50 {
				return fmt.Errorf("%d are: %w", len(page.Items), err)
			}
			return nil
		})
		if a, err := p.request(http.MethodPut, "/api/v1/reset", nil, nil); err != nil || a.status != http.StatusOK {
			t.Errorf("%d (%v): %.300s", a.status, err, a.body)
		}
		stop()
		load.Wait()
	}
	p.stop(t)
	if said := p.stderr.String(); said != "" {
		t.Errorf("it said:\n%s", said)
	}
}
