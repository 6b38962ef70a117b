// Package connections bounds how many connections a server holds. When all are taken, a new
// connection replaces the one whose client has kept the server waiting the longest, so that clients
// that never finish a request do not keep others out.
//
// It knows nothing of HTTP: the server tells it which connections wait for their clients. It may
// import the standard library only.
package connections

import (
	"net"
	"sync"
	"sync/atomic"
	"syscall"
	"time"
)

const (
	// most bounds a server whose process may open many files, least one that may open very few.
	most, least = 4096, 12
	// The process always needs ownFiles: the API server keeps a connection to etcd for each kind of
	// object, and both ends of it are in this process.
	ownFiles = 200
	// A server's connections may take one part in filesPerServer of the other files. The rest is
	// for the other server, and for this process's own connections to it.
	filesPerServer = 4
)

// Limit returns how many connections a server of this process should hold: 4096, or a quarter of
// the files that the process may open beyond 200 if that is less.
func Limit() int {
	var files syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &files); err != nil {
		return most
	}
	return limitOf(uint64(files.Cur))
}

func limitOf(files uint64) int {
	return int(min(most, max(least, (max(files, ownFiles)-ownFiles)/filesPerServer)))
}

// Listener accepts a bounded number of connections. Its methods are safe for concurrent use.
type Listener struct {
	net.Listener
	limit int
	// greeting is how many bytes a client must send before its connection counts as taken; see
	// Bound.
	greeting int64
	now      func() time.Time

	mu     sync.Mutex
	open   map[*Conn]struct{}
	closed bool
}

// Bound returns a listener that holds at most limit connections of inner. A connection waits for
// its client, and may be closed for a newer one, until it has received greeting bytes and whenever
// the server calls Conn.Wait.
func Bound(inner net.Listener, limit int, greeting int64) *Listener {
	return &Listener{Listener: inner, limit: limit, greeting: greeting, now: time.Now, open: map[*Conn]struct{}{}}
}

const (
	// A connection always keeps its place for fair: the time that a client needs to send a request.
	fair = 20 * time.Millisecond
	// admission is how long a new connection waits for a place.
	admission = 500 * time.Millisecond
)

// Accept returns the next connection, which is a *Conn. It closes a connection that finds no place
// for a while, which happens only while the server works on every one that it holds.
func (l *Listener) Accept() (net.Conn, error) {
	for {
		inner, err := l.Listener.Accept()
		if err != nil {
			return nil, err
		}
		c := l.admit(inner)
		for waited := time.Duration(0); c == nil && waited < admission; waited += fair {
			time.Sleep(fair)
			c = l.admit(inner)
		}
		if c != nil {
			return c, nil
		}
		inner.Close()
	}
}

func (l *Listener) admit(inner net.Conn) *Conn {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closed || len(l.open) >= l.limit && !l.makeRoom() {
		return nil
	}
	c := &Conn{Conn: inner, of: l, greets: l.greeting > 0}
	c.left.Store(l.greeting)
	if c.greets {
		c.since = l.now()
	}
	l.open[c] = struct{}{}
	return c
}

// makeRoom closes the connection that has waited longest for its client. The caller holds mu.
func (l *Listener) makeRoom() bool {
	var longest *Conn
	for c := range l.open {
		if !c.since.IsZero() && (longest == nil || c.since.Before(longest.since)) {
			longest = c
		}
	}
	if longest == nil || l.now().Sub(longest.since) < fair {
		return false
	}
	delete(l.open, longest)
	longest.Conn.Close()
	return true
}

// Open returns the number of open connections.
func (l *Listener) Open() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return len(l.open)
}

// CloseWaiting closes the connections that wait for their clients, and accepts no more.
func (l *Listener) CloseWaiting() { l.closeAll(func(c *Conn) bool { return !c.since.IsZero() }) }

// CloseAll closes every connection, and accepts no more.
func (l *Listener) CloseAll() { l.closeAll(func(*Conn) bool { return true }) }

func (l *Listener) closeAll(which func(*Conn) bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.closed = true
	for c := range l.open {
		if which(c) {
			delete(l.open, c)
			c.Conn.Close()
		}
	}
}

// Conn is a connection of a Listener.
type Conn struct {
	net.Conn
	of *Listener

	// since is when the connection began to wait for its client; zero while it does not. of.mu
	// guards it.
	since time.Time
	// greets: the client has not sent the whole greeting; left is the rest. Only the goroutine that
	// reads uses greets.
	greets bool
	left   atomic.Int64
}

var _ net.Conn = (*Conn)(nil)

// Wait says that the server has nothing to do for this connection until its client sends or reads
// something. Work ends that.
func (c *Conn) Wait() {
	c.of.mu.Lock()
	defer c.of.mu.Unlock()
	if c.since.IsZero() {
		c.since = c.of.now()
	}
}

// Work says that the server works on a request of this connection.
func (c *Conn) Work() {
	c.of.mu.Lock()
	defer c.of.mu.Unlock()
	c.since = time.Time{}
}

// Read implements net.Conn.
func (c *Conn) Read(p []byte) (int, error) {
	n, err := c.Conn.Read(p)
	if c.greets && c.left.Add(-int64(n)) <= 0 {
		c.greets = false
		c.Work()
	}
	return n, err
}

// Close implements net.Conn.
func (c *Conn) Close() error {
	c.of.mu.Lock()
	delete(c.of.open, c)
	c.of.mu.Unlock()
	return c.Conn.Close()
}

// SetWriteBuffer sets the size of the kernel's buffer if the connection has one.
func (c *Conn) SetWriteBuffer(bytes int) error {
	if inner, ok := c.Conn.(interface{ SetWriteBuffer(int) error }); ok {
		return inner.SetWriteBuffer(bytes)
	}
	return nil
}

// CloseWrite closes the writing half if the connection has one. A server calls it before it closes
// the connection after an error, so that the client can still read the answer.
func (c *Conn) CloseWrite() error {
	if inner, ok := c.Conn.(interface{ CloseWrite() error }); ok {
		return inner.CloseWrite()
	}
	return nil
}
