package controlplane

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"testing"
	"testing/synctest"
	"time"

	"k8s.io/apimachinery/pkg/runtime/schema"
)

func statusOf(handler http.Handler, method string) int {
	w := httptest.NewRecorder()
	handler.ServeHTTP(w, httptest.NewRequest(method, "/api/v1/nodes", nil))
	return w.Code
}

func TestHeldGateRefusesWritesOnly(t *testing.T) {
	var g gate
	handler := g.guard(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	first, err := g.hold(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	second, err := g.hold(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	first()
	first() // counts once
	for method, want := range map[string]int{http.MethodGet: http.StatusOK, http.MethodHead: http.StatusOK, http.MethodPost: http.StatusConflict, http.MethodDelete: http.StatusConflict} {
		if got := statusOf(handler, method); got != want {
			t.Errorf("%s: %d, want %d", method, got, want)
		}
	}
	second()
	if got := statusOf(handler, http.MethodPost); got != http.StatusOK {
		t.Errorf("POST after the release: %d", got)
	}
}

func TestHoldWaitsForWritesAndCancelsSlowOnes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var g gate
		var cancelled error
		handler := g.guard(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
			<-r.Context().Done()
			cancelled = r.Context().Err()
		}))
		go statusOf(handler, http.MethodPost)
		synctest.Wait()

		start := time.Now()
		release, err := g.hold(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		defer release()
		if !errors.Is(cancelled, context.Canceled) || time.Since(start) != gatePatience {
			t.Errorf("the write ended with %v after %v", cancelled, time.Since(start))
		}
	})
}

func TestACallerThatGivesUpDoesNotHoldTheGate(t *testing.T) {
	var g gate
	entered, _ := g.enter(httptest.NewRequest(http.MethodPost, "/", nil))
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := g.hold(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("hold: %v", err)
	}
	g.leave(entered)
	if _, why := g.enter(httptest.NewRequest(http.MethodPost, "/", nil)); why != "" {
		t.Errorf("the gate is held: %s", why)
	}
}

func TestAKindIsKeptOut(t *testing.T) {
	var g gate
	g.enter(httptest.NewRequest(http.MethodPost, "/api/v1/nodes", nil)) // nobody waits for it
	entered, _ := g.enter(httptest.NewRequest(http.MethodPost, "/apis/example.com/v1/namespaces/ns/things", nil))
	held := make(chan func())
	go func() {
		release, err := g.keepOut(context.Background(), writesOf(schema.GroupResource{Group: "example.com", Resource: "things"}), "they leave")
		if err != nil {
			t.Error(err)
		}
		held <- release
	}()
	<-entered.Context().Done() // it is cancelled in the end
	select {
	case <-held:
		t.Fatal("nobody has waited for the write")
	default:
	}
	g.leave(entered)
	release := <-held
	for path, want := range map[string]string{
		"/apis/example.com/v1/namespaces/ns/things":            "they leave",
		"/apis/example.com/v2/namespaces/ns/things/one/status": "they leave",
		"/apis/example.com/v1/things":                          "they leave",
		"/apis/example.com/v1/things/one":                      "they leave",
		"/apis/example.com/v1/namespaces/ns/others":            "",
		"/apis/example.com/v1/others/things":                   "",
		"/apis/example.com/v1":                                 "",
		"/apis/other.example.com/v1/things":                    "",
		"/api/v1/namespaces/things":                            "",
	} {
		if _, why := g.enter(httptest.NewRequest(http.MethodPost, path, nil)); why != want {
			t.Errorf("%s: %q, want %q", path, why, want)
		}
	}
	release()
	if _, why := g.enter(httptest.NewRequest(http.MethodPost, "/apis/example.com/v1/things", nil)); why != "" {
		t.Errorf("after the release: %s", why)
	}
}
