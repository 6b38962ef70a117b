package controlplane

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// gatePatience is how long the writes in flight may take when the gate closes. After that
// they are cancelled, because a webhook may delay them for a long time.
const gatePatience = 500 * time.Millisecond

// gate is a filter in front of the API server that refuses writes while it is held, and writes
// that take room while the storage is full. The zero value is open.
type gate struct {
	// full says that the storage is full, and why; it is empty while there is room. It is set
	// before the first request, or nil.
	full func() string

	mu      sync.Mutex
	holders int
	// writing holds the cancel function of each write in flight.
	writing map[*http.Request]context.CancelFunc
	// idle is closed when no write is in flight; nil when no holder waits for that.
	idle chan struct{}
}

// hold refuses writes until release is called, and waits until the writes in flight have ended.
// Further calls of release have no effect. If ctx ends first, the gate is not held.
func (g *gate) hold(ctx context.Context) (release func(), err error) {
	g.mu.Lock()
	g.holders++
	idle := g.whenIdle()
	g.mu.Unlock()
	defer time.AfterFunc(gatePatience, g.cancelWrites).Stop()
	var once sync.Once
	release = func() { once.Do(g.release) }
	select {
	case <-idle:
		return release, nil
	case <-ctx.Done():
		release()
		return nil, fmt.Errorf("wait for the requests in flight: %w", context.Cause(ctx))
	}
}

func (g *gate) cancelWrites() {
	g.mu.Lock()
	defer g.mu.Unlock()
	for _, cancel := range g.writing {
		cancel()
	}
}

func (g *gate) release() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.holders--
}

// whenIdle is called with mu held.
func (g *gate) whenIdle() <-chan struct{} {
	if len(g.writing) == 0 {
		ready := make(chan struct{})
		close(ready)
		return ready
	}
	if g.idle == nil {
		g.idle = make(chan struct{})
	}
	return g.idle
}

// enter returns the request to pass on, or nil if the gate refuses it.
func (g *gate) enter(r *http.Request) *http.Request {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.holders > 0 {
		return nil
	}
	ctx, cancel := context.WithCancel(r.Context())
	entered := r.WithContext(ctx)
	if g.writing == nil {
		g.writing = map[*http.Request]context.CancelFunc{}
	}
	g.writing[entered] = cancel
	return entered
}

func (g *gate) leave(entered *http.Request) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.writing[entered]()
	delete(g.writing, entered)
	if len(g.writing) == 0 && g.idle != nil {
		close(g.idle)
		g.idle = nil
	}
}

// guard passes requests to next. It refuses a write with a conflict, because clients read the
// object again after a conflict, whereas after most other errors they repeat the same request.
func (g *gate) guard(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !isWrite(r) {
			next.ServeHTTP(w, r)
			return
		}
		if g.full != nil && takesRoom(r) {
			if why := g.full(); why != "" {
				refuse(w, metav1.StatusReasonUnknown, http.StatusInsufficientStorage, why)
				return
			}
		}
		entered := g.enter(r)
		if entered == nil {
			refuse(w, metav1.StatusReasonConflict, http.StatusConflict, "the cluster is being reset; try again when the reset is done")
			return
		}
		defer g.leave(entered)
		next.ServeHTTP(w, entered)
	})
}

func isWrite(r *http.Request) bool {
	switch r.Method {
	case http.MethodGet, http.MethodHead, http.MethodOptions:
		return false
	}
	return true
}

// takesRoom reports whether a write may store something. Reviews and dry runs do not. A deletion
// may, if it waits for a finalizer, but it is the way to make room.
func takesRoom(r *http.Request) bool {
	if r.Method == http.MethodDelete || r.URL.Query().Has("dryRun") {
		return false
	}
	for _, group := range []string{"/apis/authorization.k8s.io/", "/apis/authentication.k8s.io/"} {
		if strings.HasPrefix(r.URL.Path, group) {
			return false
		}
	}
	return true
}

func refuse(w http.ResponseWriter, reason metav1.StatusReason, code int32, message string) {
	status := metav1.Status{
		TypeMeta: metav1.TypeMeta{Kind: "Status", APIVersion: "v1"},
		Status:   metav1.StatusFailure,
		Message:  message,
		Reason:   reason,
		Code:     code,
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(int(code))
	// The client may have disconnected.
	_ = json.NewEncoder(w).Encode(status)
}
