package server

import (
	"context"
	"net/http"
	"slices"
	"sync"

	"k8s.io/client-go/rest"
	"k8s.io/klog/v2"
	"k8s.io/utils/clock"
)

// hub holds the feeds and the WebSocket connections that read them. There is
// one feed for each kind and namespace that anybody reads or has lately read, and
// for those that are kept.
type hub struct {
	clock  clock.WithTicker
	limits limits
	log    klog.Logger

	status  *statusFeed
	results *resultsFeed
	// attached is closed when client is set.
	attached chan struct{}
	client   rest.Interface

	ctx    context.Context
	cancel context.CancelFunc
	// running counts every goroutine and every connection of the hub.
	running sync.WaitGroup

	mu     sync.Mutex
	closed bool
	kinds  map[feedKey]*kindFeed
	conns  map[*conn]struct{}
	// unsubscribe ends the result store's calls.
	unsubscribe func()
}

func newHub(log klog.Logger, c clock.WithTicker, l limits) *hub {
	h := &hub{
		clock: c, limits: l, log: log,
		status: newStatusFeed(c, l), results: newResultsFeed(c, l),
		attached:    make(chan struct{}),
		kinds:       map[feedKey]*kindFeed{},
		conns:       map[*conn]struct{}{},
		unsubscribe: func() {},
	}
	h.ctx, h.cancel = context.WithCancel(context.Background())
	return h
}

// start runs the feeds that always exist. It is called by Serve.
func (h *hub) start() {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.closed {
		return
	}
	h.running.Go(func() { h.status.pump(h.ctx, nil) })
	h.running.Go(func() { h.results.pump(h.ctx, nil) })
}

// attach begins the subscriptions that waited for a backend, and the lists that are
// kept.
func (h *hub) attach(client rest.Interface, results Results) {
	cancel := results.Subscribe(h.results.put)
	page, err := results.List(newestResults)
	if err != nil {
		h.log.Error(err, "listing the newest results")
	}
	h.results.seed(page.Items)

	h.mu.Lock()
	defer h.mu.Unlock()
	h.unsubscribe = cancel
	h.client = client
	close(h.attached)
	if h.closed {
		cancel()
		return
	}
	for _, key := range h.limits.kept {
		if h.kinds[key] == nil {
			h.startKind(key)
		}
	}
}

// waitForClient returns nil when ctx ends first.
func (h *hub) waitForClient(ctx context.Context) rest.Interface {
	select {
	case <-ctx.Done():
		return nil
	case <-h.attached:
		return h.client
	}
}

// join makes s a reader of what f asks for. A kind's feed is started if nobody
// was reading it.
func (h *hub) join(f clientFrame, s *subscription) *apiError {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.closed {
		return refuse(http.StatusServiceUnavailable, "the server is stopping")
	}
	switch f.Topic {
	case topicStatus:
		s.feed = &h.status.feed
	case topicResults:
		s.feed = &h.results.feed
	default:
		kind, ok := h.kinds[f.key()]
		if !ok && !h.makeRoom() {
			return refuse(http.StatusTooManyRequests, "more than %d different lists are being watched", h.limits.feeds)
		}
		if !ok {
			kind = h.startKind(f.key())
		}
		s.feed = &kind.feed
	}
	s.feed.join(s)
	return nil
}

// startKind is called with mu held.
func (h *hub) startKind(key feedKey) *kindFeed {
	f := newKindFeed(h, key)
	ctx, cancel := context.WithCancel(h.ctx)
	f.stop = cancel
	f.forget = func() {
		h.mu.Lock()
		defer h.mu.Unlock()
		h.forget(f)
	}
	h.kinds[key] = f
	h.running.Go(func() {
		defer cancel()
		f.run(ctx, h.waitForClient, func() bool { return h.retire(f) })
	})
	return f
}

// forget lets the next subscription start the feed anew. It is called with mu
// held.
func (h *hub) forget(f *kindFeed) {
	if h.kinds[f.key] == f {
		delete(h.kinds, f.key)
	}
}

// retire forgets a feed that nobody reads, and says whether it did.
func (h *hub) retire(f *kindFeed) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	if !h.isSpare(f) {
		return false
	}
	h.forget(f)
	return true
}

// isSpare reports whether nobody would miss a feed.
func (h *hub) isSpare(f *kindFeed) bool {
	return f.isDeserted() && !slices.Contains(h.limits.kept, f.key)
}

// makeRoom ends a lingering feed when there are too many, and says whether
// another may start. It is called with mu held.
func (h *hub) makeRoom() bool {
	if len(h.kinds) < h.limits.feeds {
		return true
	}
	for _, f := range h.kinds {
		if h.isSpare(f) {
			h.forget(f)
			f.stop()
			return true
		}
	}
	return false
}

// admit counts a connection, or says why it is not taken. An admitted one is
// dismissed when it has ended.
func (h *hub) admit(c *conn) *apiError {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.closed {
		return refuse(http.StatusServiceUnavailable, "the server is stopping")
	}
	if len(h.conns) >= h.limits.connections {
		return refuse(http.StatusServiceUnavailable, "there are %d WebSocket connections, the most that this server takes", len(h.conns))
	}
	h.conns[c] = struct{}{}
	h.running.Add(1)
	return nil
}

func (h *hub) dismiss(c *conn) {
	h.mu.Lock()
	delete(h.conns, c)
	h.mu.Unlock()
	h.running.Done()
}

// shutdown says goodbye to every connection, and returns when the hub's
// goroutines have ended. When ctx ends first, connections are cut.
func (h *hub) shutdown(ctx context.Context) {
	h.mu.Lock()
	h.closed = true
	h.unsubscribe()
	for c := range h.conns {
		c.leave()
	}
	h.mu.Unlock()
	h.cancel()

	defer context.AfterFunc(ctx, func() {
		h.mu.Lock()
		defer h.mu.Unlock()
		for c := range h.conns {
			c.cut()
		}
	})()
	h.running.Wait()
}
