package server

import (
	"context"
	"net/http"
	"sync"
	"time"

	"kube-scheduler-simulator/simulator/host/connections"
)

// pace says how long clients may take. Only tests change it.
type pace struct {
	// body is how long the next part of a request body may take to arrive. A body that arrives more
	// slowly on average than bodyRate, in bytes per second, has twice that time more.
	body     time.Duration
	bodyRate int64
	// write is how long a client may take to accept writePart bytes of an answer.
	write time.Duration
	// The server reads for hangUp from a client that it has refused, so that the client can read
	// the answer.
	hangUp time.Duration
	// grace is how long a request may take to end when the server stops.
	grace time.Duration
}

func defaultPace() pace {
	return pace{body: 10 * time.Second, bodyRate: 4 << 10, write: 20 * time.Second, hangUp: time.Second, grace: 400 * time.Millisecond}
}

const writePart = 64 << 10

// request is a request under way. Its methods are safe for concurrent use. Those for the body do
// nothing on nil, which only tests use.
type request struct {
	conn    *connections.Conn // nil in tests without a listener
	control *http.ResponseController
	pace    pace
	cancel  context.CancelFunc
	done    chan struct{}

	mu sync.Mutex
	// limit is a deadline for all further reading; zero if there is none.
	limit time.Time
	// receiving: the handler waits for the next part of the body.
	receiving bool
}

// requests holds the requests under way, except for those that become WebSockets, which the hub
// ends.
type requests struct {
	mu      sync.Mutex
	running map[*request]struct{}
}

type requestKey struct{}

func requestOf(r *http.Request) *request {
	q, _ := r.Context().Value(requestKey{}).(*request)
	return q
}

type connKey struct{}

// track registers each request while the server answers it, and bounds how long its client may take
// to read the answer.
func (s *Server) track(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == watchPath || isBranchStream(r) {
			next.ServeHTTP(w, r)
			return
		}
		ctx, cancel := context.WithCancel(r.Context())
		defer cancel()
		q := &request{control: http.NewResponseController(w), pace: s.opts.pace, cancel: cancel, done: make(chan struct{})}
		q.conn, _ = ctx.Value(connKey{}).(*connections.Conn)
		s.requests.add(q)
		defer s.requests.remove(q)
		// The deadline of the previous request's answer does not apply to this one.
		_ = q.control.SetWriteDeadline(time.Time{})
		// What the server writes after the handler has returned.
		defer func() { _ = q.control.SetWriteDeadline(time.Now().Add(q.pace.write)) }()
		next.ServeHTTP(&pacedWriter{w, q}, r.WithContext(context.WithValue(ctx, requestKey{}, q)))
	})
}

func (rs *requests) add(q *request) {
	rs.mu.Lock()
	defer rs.mu.Unlock()
	if rs.running == nil {
		rs.running = map[*request]struct{}{}
	}
	rs.running[q] = struct{}{}
}

func (rs *requests) remove(q *request) {
	rs.mu.Lock()
	defer rs.mu.Unlock()
	delete(rs.running, q)
	close(q.done)
}

func (rs *requests) all() []*request {
	rs.mu.Lock()
	defer rs.mu.Unlock()
	all := make([]*request, 0, len(rs.running))
	for q := range rs.running {
		all = append(all, q)
	}
	return all
}

// The handler calls await before it reads from the body, and got afterwards.
func (q *request) await(deadline time.Time) {
	if q == nil {
		return
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	if !q.limit.IsZero() && q.limit.Before(deadline) {
		deadline = q.limit
	}
	q.receiving = true
	// If this fails, the connection has gone, and reading fails, too.
	_ = q.control.SetReadDeadline(deadline)
	if q.conn != nil {
		q.conn.Wait()
	}
}

// whole means that the body is complete. From then on net/http watches whether the client
// disconnects, which it must do without a deadline.
func (q *request) got(whole bool) {
	if q == nil {
		return
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	q.receiving = false
	if whole {
		_ = q.control.SetReadDeadline(time.Time{})
	}
	if q.conn != nil {
		q.conn.Work()
	}
}

// endBody makes reading the body fail after a while.
func (q *request) endBody(after time.Duration) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.limit = time.Now().Add(after)
	if q.receiving {
		_ = q.control.SetReadDeadline(q.limit)
	}
}

// hangUp is endBody for a body that net/http reads, not the handler.
func (q *request) hangUp() {
	if q == nil {
		return
	}
	q.endBody(q.pace.hangUp)
	_ = q.control.SetReadDeadline(time.Now().Add(q.pace.hangUp))
}

func (q *request) end() {
	q.endBody(0)
	q.cancel()
	_ = q.control.SetWriteDeadline(time.Now())
}

// pacedWriter fails if the client does not read the answer.
type pacedWriter struct {
	http.ResponseWriter
	request *request
}

// Unwrap lets an http.ResponseController find the methods of the writer within.
func (w *pacedWriter) Unwrap() http.ResponseWriter { return w.ResponseWriter }

func (w *pacedWriter) Write(p []byte) (written int, err error) {
	for err == nil && (len(p) > 0 || written == 0) {
		part := p[:min(len(p), writePart)]
		var n int
		w.request.write(func() { n, err = w.ResponseWriter.Write(part) })
		written += n
		p = p[len(part):]
		if len(part) == 0 {
			break
		}
	}
	return written, err
}

// FlushError implements the method that an http.ResponseController looks for.
func (w *pacedWriter) FlushError() (err error) {
	w.request.write(func() { err = w.request.control.Flush() })
	return err
}

func (q *request) write(do func()) {
	q.mu.Lock()
	cut := !q.limit.IsZero() && q.limit.Before(time.Now())
	q.mu.Unlock()
	if !cut {
		_ = q.control.SetWriteDeadline(time.Now().Add(q.pace.write))
	}
	if q.conn != nil {
		q.conn.Wait()
		defer q.conn.Work()
	}
	do()
}

// Quiesce refuses new requests to the backend and ends those under way: watches and those whose
// bodies are still arriving at once, all others after a moment. Health, the status and the page
// stay available, and WebSockets stay open, until Shutdown. It returns when the requests have
// ended, or ctx has.
func (s *Server) Quiesce(ctx context.Context) {
	s.quiet.Store(true)
	s.close()
	under := s.requests.all()
	for _, q := range under {
		q.endBody(0)
	}
	grace, cancel := context.WithTimeout(ctx, s.opts.pace.grace)
	defer cancel()
	if ended(grace, under) {
		return
	}
	for _, q := range under {
		q.end()
	}
	ended(ctx, under)
}

// ended reports whether all requests have ended before ctx.
func ended(ctx context.Context, all []*request) bool {
	for _, q := range all {
		select {
		case <-q.done:
		case <-ctx.Done():
			return false
		}
	}
	return true
}
