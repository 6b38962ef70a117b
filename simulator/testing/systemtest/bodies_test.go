package systemtest

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"kube-scheduler-simulator/simulator/testing/clustertest"
)

const (
	// promptly bounds the time until a bad body is refused, on a busy machine.
	promptly = 10 * time.Second
	// bodyMemory bounds how much the program may grow during a test.
	bodyMemory = 128 << 20
)

// TestLargeBodies: the program refuses bodies over its limit, and does not keep them in memory.
func TestLargeBodies(t *testing.T) {
	clustertest.Slow(t)
	p := start(t, passing(t).measured())
	large := bytes.Repeat([]byte("- x\n"), 50<<20/4)
	for _, r := range p.routes(t) {
		if r.method == http.MethodGet || r.method == http.MethodDelete {
			continue
		}
		t.Run(r.method+" "+r.path, func(t *testing.T) {
			grown := p.peak(t)
			a, err := p.request(r.method, r.path, bytes.NewReader(large), nil)
			if err != nil {
				t.Fatal(err)
			}
			// The program spools imports and recordings to a file before it rejects their
			// contents.
			want, most := []int{http.StatusRequestEntityTooLarge}, int64(bodyMemory)
			if r.path == "/api/v1/import" || r.path == "/api/v1/replay" {
				want, most = append(want, http.StatusBadRequest), 3*bodyMemory
			}
			if strings.HasPrefix(r.path, "/branches/") {
				want = append(want, http.StatusNotFound) // the program need not read a body for a branch that does not exist
			}
			if refused := readRefusal(a); !isRefusal(refused, want...) {
				t.Errorf("%v", refused)
			}
			if got := grown(); got > most {
				t.Errorf("the program grew by %d MB", got>>20)
			}
		})
	}
	t.Run("of unknown length", func(t *testing.T) {
		for _, r := range []route{{http.MethodPut, configurationURL}, {http.MethodPost, "/kubernetes/api/v1/namespaces/" + namespace + "/configmaps"}} {
			// A MultiReader hides the length from the client, which sends chunks.
			a, err := p.request(r.method, r.path, io.MultiReader(bytes.NewReader(large)), func(r *http.Request) { r.Header.Set("Content-Type", "application/json") })
			if err != nil {
				t.Fatal(err)
			}
			// The API server has a lower limit and another message.
			if a.status != http.StatusRequestEntityTooLarge || !bytes.Contains(a.body, []byte(`"message":`)) {
				t.Errorf("%s: %d: %.300s", r.path, a.status, a.body)
			}
		}
	})
	t.Run("fifty at once", func(t *testing.T) {
		grown := p.peak(t)
		var sending sync.WaitGroup
		for range 50 {
			sending.Go(func() {
				a, err := p.request(http.MethodPut, configurationURL, bytes.NewReader(large[:15<<20]), nil)
				if err != nil {
					t.Error(err)
				} else if refused := readRefusal(a); !isRefusal(refused, http.StatusRequestEntityTooLarge) {
					t.Error(refused)
				}
			})
		}
		sending.Wait()
		t.Logf("the program grew by at most %d MB", grown()>>20)
		if got := grown(); got > bodyMemory {
			t.Errorf("the program grew by %d MB", got>>20)
		}
	})
	p.createNodes(t, "node", 1)
	p.schedules(t, "afterwards")
}

// bomb returns a small YAML document that is huge with its aliases expanded.
func bomb(head string) string {
	var b strings.Builder
	b.WriteString(head + "a0: &a0 [x,x,x,x,x,x,x,x,x,x]\n")
	for i := 1; i < 12; i++ {
		alias := fmt.Sprintf("*a%d", i-1)
		fmt.Fprintf(&b, "a%d: &a%d [%s]\n", i, i, strings.Repeat(alias+",", 9)+alias)
	}
	return b.String()
}

const (
	configurationHead = "apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\n"
	mapHead           = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: bomb}\n"
	levels            = 100_000
)

// TestDeepAndExplosive: the program promptly refuses small documents that are expensive to parse,
// with a message.
func TestDeepAndExplosive(t *testing.T) {
	clustertest.Slow(t)
	p := start(t, passing(t).measured())
	documents := map[string]func(head string) string{
		"an alias bomb": bomb,
		"flow lists": func(head string) string {
			return head + "x: " + strings.Repeat("[", levels) + strings.Repeat("]", levels) + "\n"
		},
		"flow lists unclosed": func(head string) string { return head + "x: " + strings.Repeat("[", levels) },
		"flow mappings": func(head string) string {
			return head + "x: " + strings.Repeat("{a: ", levels) + strings.Repeat("}", levels) + "\n"
		},
		"sequences in a line": func(head string) string { return head + "x:\n" + strings.Repeat("- ", levels) + "a\n" },
		"JSON":                func(string) string { return strings.Repeat(`{"a":`, levels) + "1" + strings.Repeat("}", levels) },
		"JSON lists":          func(string) string { return strings.Repeat("[", levels) + strings.Repeat("]", levels) },
		"an anchor in itself": func(head string) string { return head + "x: &a [*a]\n" },
		"many keys":           func(head string) string { return head + "? " + strings.Repeat("? ", levels) + "a\n" },
	}
	roads := []struct {
		route
		head, contentType string
	}{
		{route{http.MethodPut, configurationURL}, configurationHead, "application/yaml"},
		{route{http.MethodPut, configurationURL + "?dryRun=true"}, configurationHead, "application/yaml"},
		{route{http.MethodPost, "/kubernetes/api/v1/namespaces/" + namespace + "/configmaps"}, mapHead, "application/yaml"},
		{route{http.MethodPatch, "/kubernetes/api/v1/namespaces/" + namespace + "/configmaps/bomb?fieldManager=systemtest"}, mapHead, "application/apply-patch+yaml"},
		{route{http.MethodPost, "/api/v1/import"}, mapHead, "application/yaml"},
		{route{http.MethodPost, "/api/v1/replay"}, mapHead, "application/yaml"},
	}
	for _, road := range roads {
		for name, document := range documents {
			t.Run(road.method+" "+road.path+" "+name, func(t *testing.T) {
				grown := p.peak(t)
				begin := time.Now()
				a, err := p.request(road.method, road.path, strings.NewReader(document(road.head)), func(r *http.Request) { r.Header.Set("Content-Type", road.contentType) })
				if err != nil {
					t.Fatal(err)
				}
				took := time.Since(begin)
				if a.status < 400 || a.status > 499 || !bytes.Contains(a.body, []byte(`"message":`)) {
					t.Errorf("%d: %.300s", a.status, a.body)
				}
				if len(a.body) > 64<<10 {
					t.Errorf("the refusal has %d bytes", len(a.body))
				}
				if took > promptly {
					t.Errorf("refused after %v", took)
				}
				if got := grown(); got > 2*bodyMemory {
					t.Errorf("the program grew by %d MB", got>>20)
				}
				t.Logf("%d after %v, grew by %d MB: %.100s", a.status, took, grown()>>20, a.body)
			})
			p.alive(t)
		}
	}
	p.createNodes(t, "node", 1)
	p.schedules(t, "afterwards")
}
