package watch

import (
	"context"
	"net/http"
	"slices"
	"sync"

	"github.com/gorilla/websocket"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/rest"
	"k8s.io/klog/v2"
	"k8s.io/utils/clock"

	"kube-scheduler-simulator/scheduler/result"
)

// Hub holds the feeds and the WebSocket connections that read them. Each kind (or kind in one
// namespace) has a feed while clients follow it and for a while after; the kinds in Options.Keep
// have one from the start. Methods are safe for concurrent use.
type Hub struct {
	clock    clock.WithTicker
	limits   limits
	keep     []feedKey
	log      klog.Logger
	upgrader *websocket.Upgrader

	status     *objectFeed
	results    *resultsFeed
	queues     *polledFeed
	admissions *polledFeed
	// attached is closed once backend is set.
	attached chan struct{}
	backend  Backend

	ctx    context.Context
	cancel context.CancelFunc
	// running counts every goroutine and every connection of the hub.
	running sync.WaitGroup

	mu          sync.Mutex
	closed      bool
	kinds       map[feedKey]*kindFeed
	conns       map[*conn]struct{}
	unsubscribe func()
}

// Options configure a Hub. The zero value works.
type Options struct {
	// Logger receives errors, and more at V(2).
	Logger klog.Logger
	// Refuse answers a request that cannot become a WebSocket connection. Default: http.Error.
	Refuse func(w http.ResponseWriter, r *http.Request, status int, reason error)
	// The hub watches the kinds in Keep in all namespaces from Attach to Stop, so that clients need
	// not wait for the list. Default: the hub watches a kind only once a client asks for it.
	Keep []schema.GroupVersionResource
	// Connections bounds the WebSocket connections. Default: 4096.
	Connections int
	// Clock paces the hub. Default: the real one.
	Clock clock.WithTicker

	// Only tests set limits. Default: defaultLimits.
	limits *limits
}

// New returns a hub that accepts connections. Their subscriptions get nothing before Start, and
// nothing that comes from the backend before Attach.
func New(opts Options) *Hub {
	if opts.Clock == nil {
		opts.Clock = clock.RealClock{}
	}
	if opts.limits == nil {
		opts.limits = defaultLimits()
	}
	if opts.Refuse == nil {
		opts.Refuse = func(w http.ResponseWriter, _ *http.Request, status int, reason error) {
			http.Error(w, reason.Error(), status)
		}
	}
	c, l := opts.Clock, *opts.limits
	if opts.Connections > 0 {
		l.connections = opts.Connections
	}
	h := &Hub{
		clock: c, limits: l, log: opts.Logger, upgrader: newUpgrader(opts.Refuse),
		status: newObjectFeed(c, l), results: newResultsFeed(c, l), queues: newPolledFeed(c, l), admissions: newPolledFeed(c, l),
		attached:    make(chan struct{}),
		kinds:       map[feedKey]*kindFeed{},
		conns:       map[*conn]struct{}{},
		unsubscribe: func() {},
	}
	for _, kind := range opts.Keep {
		h.keep = append(h.keep, feedKey{GroupVersionResource: kind})
	}
	h.ctx, h.cancel = context.WithCancel(context.Background())
	return h
}

func (h *Hub) Start() {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.closed {
		return
	}
	h.running.Go(func() { h.status.pump(h.ctx, nil) })
	h.running.Go(func() { h.results.pump(h.ctx, nil) })
	h.running.Go(func() { h.queues.pump(h.ctx, nil) })
	h.running.Go(func() { h.admissions.pump(h.ctx, nil) })
	h.running.Go(h.poll)
}

// Backend holds the sources that the hub reads.
type Backend struct {
	// Client reaches the API server; NewClient makes one.
	Client  rest.Interface
	Results Results
	// Queues returns the state of the scheduling queue. The hub calls it about once per second, and
	// only while a client follows the topic. If it is nil, the hub refuses the topic.
	Queues func() (result.Queues, error)
	// Admissions does the same for Kueue's queues and the topic of that name.
	Admissions func() (any, error)
}

// Results is the part of the result store that the hub needs. Methods are safe for concurrent use.
type Results interface {
	// List returns a page of summaries, newest first.
	List(q result.Query) (result.Page, error)
	// Subscribe calls fn for every cycle that is put from now on, on the goroutine that puts it; fn
	// must not block. It does not call fn once cancel has returned.
	Subscribe(fn func(*result.Cycle)) (cancel func())
}

// Attach gives the hub its backend: subscriptions that waited for it get their lists, and the hub
// starts to watch the kinds of Options.Keep. Call it once.
func (h *Hub) Attach(b Backend) {
	cancel := b.Results.Subscribe(h.results.put)
	page, err := b.Results.List(newestResults)
	if err != nil {
		h.log.Error(err, "Cannot list the newest results")
	}
	h.results.seed(page.Items)

	h.mu.Lock()
	defer h.mu.Unlock()
	h.unsubscribe = cancel
	h.backend = b
	close(h.attached)
	if b.Queues == nil {
		h.queues.end(refuse(http.StatusNotImplemented, "this simulator does not report its scheduling queue"))
	}
	if b.Admissions == nil {
		h.admissions.end(refuse(http.StatusNotImplemented, "this simulator has no queues of Kueue"))
	}
	if h.closed {
		cancel()
		return
	}
	for _, key := range h.keep {
		if h.kinds[key] == nil {
			h.startKind(key)
		}
	}
}

// waitForClient returns nil if ctx ends first.
func (h *Hub) waitForClient(ctx context.Context) rest.Interface {
	select {
	case <-ctx.Done():
		return nil
	case <-h.attached:
		return h.backend.Client
	}
}

// poll first waits for the backend.
func (h *Hub) poll() {
	select {
	case <-h.ctx.Done():
		return
	case <-h.attached:
	}
	var polling sync.WaitGroup
	defer polling.Wait()
	if read := h.backend.Queues; read != nil {
		polling.Go(func() { h.queues.poll(h.ctx, func() (any, error) { return read() }, h.log) })
	}
	if read := h.backend.Admissions; read != nil {
		polling.Go(func() { h.admissions.poll(h.ctx, read, h.log) })
	}
}

// join starts the feed that f asks for if there is none yet, and makes s its reader.
func (h *Hub) join(f clientFrame, s *subscription) *refusal {
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
	case topicQueues:
		s.feed = &h.queues.feed
	case topicAdmissions:
		s.feed = &h.admissions.feed
	default:
		kind, ok := h.kinds[f.key()]
		if !ok && !h.makeRoom() && !h.takeFromOthers(s.conn) {
			return refuse(http.StatusTooManyRequests, "clients already watch %d different lists, the limit of this server", h.limits.feeds)
		}
		if !ok {
			kind = h.startKind(f.key())
		}
		s.feed = &kind.feed
	}
	s.feed.join(s)
	switch f.Topic {
	case topicQueues:
		notify(h.queues.joined)
	case topicAdmissions:
		notify(h.admissions.joined)
	}
	return nil
}

// The caller of startKind holds mu.
func (h *Hub) startKind(key feedKey) *kindFeed {
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

// forget makes the next subscription start a new feed. The caller holds mu.
func (h *Hub) forget(f *kindFeed) {
	if h.kinds[f.key] == f {
		delete(h.kinds, f.key)
	}
}

// retire forgets f unless the hub still needs it, and reports whether it did.
func (h *Hub) retire(f *kindFeed) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	if !h.isSpare(f) {
		return false
	}
	h.forget(f)
	return true
}

// isSpare reports whether f has no readers and is not one of Options.Keep.
func (h *Hub) isSpare(f *kindFeed) bool {
	return !f.hasReaders() && !slices.Contains(h.keep, f.key)
}

// makeRoom stops a feed without readers if the limit is reached, and reports whether another feed
// may start. The caller holds mu.
func (h *Hub) makeRoom() bool {
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

// takeFromOthers keeps a few clients from using up the feeds of all others: it ends a feed of the
// connection that alone reads the most feeds, if that is at least two more than c reads, and
// reports whether it did. The caller holds mu.
func (h *Hub) takeFromOthers(c *conn) bool {
	read := map[*conn]int{}
	one := map[*conn]*kindFeed{}
	var most *conn
	for key, f := range h.kinds {
		only := f.onlyConn()
		if only == nil || slices.Contains(h.keep, key) {
			continue
		}
		read[only]++
		one[only] = f
		if only != c && (most == nil || read[only] > read[most]) {
			most = only
		}
	}
	if most == nil || read[most] < read[c]+2 {
		return false
	}
	f := one[most]
	f.end(refuse(http.StatusTooManyRequests, "clients watch %d different lists, the limit of this server, and this connection watches the most", h.limits.feeds))
	h.forget(f)
	f.stop()
	return true
}

// admit registers a connection, or says why it refuses it. The caller dismisses an admitted
// connection when it has ended.
func (h *Hub) admit(c *conn) *refusal {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.closed {
		return refuse(http.StatusServiceUnavailable, "the server is stopping")
	}
	if len(h.conns) >= h.limits.connections {
		return refuse(http.StatusServiceUnavailable, "there are %d WebSocket connections, the limit of this server", len(h.conns))
	}
	h.conns[c] = struct{}{}
	h.running.Add(1)
	return nil
}

func (h *Hub) dismiss(c *conn) {
	h.mu.Lock()
	delete(h.conns, c)
	h.mu.Unlock()
	h.running.Done()
}

// PutStatus publishes status, as JSON, as the one object of its topic.
func (h *Hub) PutStatus(status any) { h.status.put(mustMarshal(status)) }

// ClearResults empties the topic results: subscribers list again. Call it after emptying the result
// store, while no cycle is put.
func (h *Hub) ClearResults() { h.results.clear() }

// Stop sends every connection a close frame and returns when the hub's goroutines have ended. If
// ctx ends first, Stop closes the connections at once.
func (h *Hub) Stop(ctx context.Context) {
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
