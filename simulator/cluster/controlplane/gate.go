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
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// Writes in flight may take so long when the gate closes, before they are cancelled: a webhook may
// delay them.
const gatePatience = 500 * time.Millisecond

// gate refuses writes while it is held, and writes that take room while the storage is full. The
// zero value is open.
type gate struct {
	// full says why the storage is full; empty while there is room. It is set before the first
	// request, or nil.
	full func() string

	mu      sync.Mutex
	holders map[*holder]bool
	writing map[*http.Request]context.CancelFunc
}

// holder keeps those writes out that refuses says. Writers are told why.
type holder struct {
	refuses func(*http.Request) bool
	why     string
	// idle is closed when none of these writes is in flight, once settled.
	idle    chan struct{}
	settled bool
}

// hold refuses all writes until release, and waits for those in flight. If ctx ends first, the gate
// is not held.
func (g *gate) hold(ctx context.Context) (release func(), err error) {
	every := func(*http.Request) bool { return true }
	return g.keepOut(ctx, every, "the cluster is being reset; try again when the reset is done")
}

// keepOut is hold for some writes.
func (g *gate) keepOut(ctx context.Context, refuses func(*http.Request) bool, why string) (release func(), err error) {
	h := &holder{refuses: refuses, why: why, idle: make(chan struct{})}
	g.mu.Lock()
	if g.holders == nil {
		g.holders = map[*holder]bool{}
	}
	g.holders[h] = true
	g.settle()
	g.mu.Unlock()
	defer time.AfterFunc(gatePatience, func() { g.cancelWrites(h) }).Stop()
	release = func() {
		g.mu.Lock()
		defer g.mu.Unlock()
		delete(g.holders, h)
	}
	select {
	case <-h.idle:
		return release, nil
	case <-ctx.Done():
		release()
		return nil, fmt.Errorf("wait for the requests in flight: %w", context.Cause(ctx))
	}
}

func (g *gate) cancelWrites(h *holder) {
	g.mu.Lock()
	defer g.mu.Unlock()
	for r, cancel := range g.writing {
		if h.refuses(r) {
			cancel()
		}
	}
}

// settle tells the holders whose writes have ended. The caller holds mu.
func (g *gate) settle() {
	for h := range g.holders {
		if !h.settled && !g.anyWrites(h) {
			close(h.idle)
			h.settled = true
		}
	}
}

func (g *gate) anyWrites(h *holder) bool {
	for r := range g.writing {
		if h.refuses(r) {
			return true
		}
	}
	return false
}

// enter returns the request to pass on, or why the gate refuses it.
func (g *gate) enter(r *http.Request) (entered *http.Request, why string) {
	g.mu.Lock()
	defer g.mu.Unlock()
	for h := range g.holders {
		if h.refuses(r) {
			return nil, h.why
		}
	}
	ctx, cancel := context.WithCancel(r.Context())
	entered = r.WithContext(ctx)
	if g.writing == nil {
		g.writing = map[*http.Request]context.CancelFunc{}
	}
	g.writing[entered] = cancel
	return entered, ""
}

func (g *gate) leave(entered *http.Request) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.writing[entered]()
	delete(g.writing, entered)
	g.settle()
}

// guard refuses writes with a conflict: after a conflict clients read the object again, whereas
// after most other errors they repeat the request.
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
		entered, why := g.enter(r)
		if entered == nil {
			refuse(w, metav1.StatusReasonConflict, http.StatusConflict, why)
			return
		}
		defer g.leave(entered)
		next.ServeHTTP(w, entered)
	})
}

// writesOf recognizes the writes to a resource of any version.
func writesOf(resource schema.GroupResource) func(*http.Request) bool {
	return func(r *http.Request) bool {
		path, isGroup := strings.CutPrefix(r.URL.Path, "/apis/"+resource.Group+"/")
		parts := strings.Split(path, "/") // version, then perhaps namespaces and a name
		if len(parts) > 2 && parts[1] == "namespaces" {
			parts = parts[2:]
		}
		return isGroup && len(parts) > 1 && parts[1] == resource.Resource
	}
}

func isWrite(r *http.Request) bool {
	switch r.Method {
	case http.MethodGet, http.MethodHead, http.MethodOptions:
		return false
	}
	return true
}

// takesRoom reports whether a write may store something. Reviews and dry runs do not. A deletion
// that waits for a finalizer may, but it is the way to make room.
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
