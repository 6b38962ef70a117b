package watch

import (
	"errors"
	"fmt"
	"net"
	"net/http"
	"sync"
	"time"

	"github.com/gorilla/websocket"
)

// newUpgrader keeps idle connections small: they share write buffers. It does not compress frames,
// because for a thousand clients it would compress the same objects a thousand times. The server
// has checked Host and Origin before.
func newUpgrader(refuse func(http.ResponseWriter, *http.Request, int, error)) *websocket.Upgrader {
	return &websocket.Upgrader{
		ReadBufferSize:  1 << 10,
		WriteBufferSize: 16 << 10,
		WriteBufferPool: &sync.Pool{},
		CheckOrigin:     func(*http.Request) bool { return true },
		Error:           refuse,
	}
}

// sendBuffer is the maximum number of bytes that the kernel buffers for a client. The kernel's own
// limit is some megabytes, and the hub notices that a client does not read only when the buffer is
// full.
const sendBuffer = 512 << 10

// ServeHTTP upgrades the request to a WebSocket connection and returns when that has ended. It does
// not check the origin of the request.
func (h *Hub) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if !websocket.IsWebSocketUpgrade(r) {
		w.Header().Set("Upgrade", "websocket")
		h.upgrader.Error(w, r, http.StatusUpgradeRequired, fmt.Errorf("%s is for WebSocket clients", r.URL.Path))
		return
	}
	ws, err := h.upgrader.Upgrade(w, r, nil)
	if err != nil {
		return // the upgrader has answered
	}
	defer ws.Close()
	if c, ok := ws.NetConn().(interface{ SetWriteBuffer(int) error }); ok {
		_ = c.SetWriteBuffer(sendBuffer) // if this fails, the kernel's own limit holds
	}
	conn := newConn(h, ws)
	if why := h.admit(conn); why != nil {
		conn.sayClose(websocket.CloseTryAgainLater, why.Message)
		return
	}
	defer h.dismiss(conn)
	conn.serve()
}

var _ http.Handler = (*Hub)(nil)

// conn is a WebSocket connection. One goroutine reads and subscribes, another writes. The hub
// queues nothing for the client but replies to its own mistakes.
type conn struct {
	hub *Hub
	ws  *websocket.Conn
	// woken tells the writer that there may be something to write.
	woken chan struct{}
	// leaving is closed to end the connection with a close frame.
	leaving  chan struct{}
	leave    func()
	readDone chan struct{}

	mu      sync.Mutex
	replies []frame
	// subscriptions are in the order of their turns to write.
	subscriptions []*subscription
}

func newConn(h *Hub, ws *websocket.Conn) *conn {
	c := &conn{
		hub: h, ws: ws,
		woken: make(chan struct{}, 1), leaving: make(chan struct{}), readDone: make(chan struct{}),
	}
	c.leave = sync.OnceFunc(func() {
		close(c.leaving)
		// A client that does not read must not delay the end.
		ws.NetConn().SetWriteDeadline(time.Now().Add(h.limits.farewell))
	})
	return c
}

func (c *conn) cut() { c.ws.Close() }

// serve returns when the connection has ended.
func (c *conn) serve() {
	var writing sync.WaitGroup
	writing.Go(c.write)
	c.read()
	close(c.readDone)
	writing.Wait()
	c.unsubscribeAll()
}

var errTooManyReplies = errors.New("the client sends frames but reads none")

func (c *conn) read() {
	patience := 2*c.hub.limits.ping + c.hub.limits.write
	alive := func(string) error { return c.ws.SetReadDeadline(time.Now().Add(patience)) }
	alive("")
	c.ws.SetPongHandler(alive)
	c.ws.SetReadLimit(c.hub.limits.clientFrame)
	for {
		kind, data, err := c.ws.ReadMessage()
		if silent, ok := errors.AsType[net.Error](err); ok && silent.Timeout() {
			c.sayClose(websocket.ClosePolicyViolation, "the client has not answered a ping for "+patience.String())
		}
		if err != nil {
			return
		}
		alive("")
		if err := c.handle(kind, data); err != nil {
			c.sayClose(websocket.ClosePolicyViolation, err.Error())
			c.cut()
			return
		}
	}
}

func (c *conn) handle(kind int, data []byte) error {
	if kind != websocket.TextMessage {
		return c.reply("", refuse(http.StatusBadRequest, "invalid frame: want a text frame"))
	}
	f, why := parseFrame(data)
	switch {
	case why != nil:
		c.unsubscribe(f.ID)
		return c.reply(f.ID, why)
	case f.Type == unsubscribe:
		c.unsubscribe(f.ID)
		return nil
	}
	if why := c.subscribe(f); why != nil {
		return c.reply(f.ID, why)
	}
	notify(c.woken)
	return nil
}

func (c *conn) reply(id string, why *refusal) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.replies) >= c.hub.limits.replies {
		return errTooManyReplies
	}
	c.replies = append(c.replies, newErrorFrame(id, why))
	notify(c.woken)
	return nil
}

// subscribe replaces a subscription of the same id.
func (c *conn) subscribe(f clientFrame) *refusal {
	c.unsubscribe(f.ID)
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.subscriptions) >= c.hub.limits.subscriptions {
		return refuse(http.StatusTooManyRequests, "this connection already has %d subscriptions, the limit of this server", c.hub.limits.subscriptions)
	}
	s := newSubscription(f.ID, c)
	if why := c.hub.join(f, s); why != nil {
		return why
	}
	c.subscriptions = append(c.subscriptions, s)
	return nil
}

func (c *conn) unsubscribe(id string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for i, s := range c.subscriptions {
		if s.id == id {
			c.drop(i)
			return
		}
	}
}

func (c *conn) unsubscribeAll() {
	c.mu.Lock()
	defer c.mu.Unlock()
	for len(c.subscriptions) > 0 {
		c.drop(0)
	}
}

// The caller of drop holds mu.
func (c *conn) drop(i int) {
	s := c.subscriptions[i]
	c.subscriptions = append(c.subscriptions[:i], c.subscriptions[i+1:]...)
	s.feed.leave(s)
}

// write sends frames until the connection ends.
func (c *conn) write() {
	// Closing the connection ends the reader.
	defer c.cut()
	ping := c.hub.clock.NewTicker(c.hub.limits.ping)
	defer ping.Stop()
	more := make(chan struct{})
	close(more)
	for {
		// Pings and the end get their turn between frames.
		next := c.woken
		if f := c.take(); f != nil {
			if c.send(f) != nil {
				return
			}
			next = more
		}
		select {
		case <-c.readDone:
			return
		case <-c.leaving:
			c.sayGoodbye()
			return
		case <-ping.C():
			if c.ws.WriteControl(websocket.PingMessage, nil, c.deadline()) != nil {
				return
			}
		case <-next:
		}
	}
}

// take returns the next frame, or nil. Subscriptions take turns.
func (c *conn) take() frame {
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.replies) > 0 {
		f := c.replies[0]
		c.replies = c.replies[1:]
		return f
	}
	for i, s := range c.subscriptions {
		f, over := s.take()
		if f == nil {
			continue
		}
		if over {
			c.drop(i)
			return f
		}
		copy(c.subscriptions[i:], c.subscriptions[i+1:])
		c.subscriptions[len(c.subscriptions)-1] = s
		return f
	}
	return nil
}

func (c *conn) send(f frame) error {
	c.ws.SetWriteDeadline(c.deadline())
	to, err := c.ws.NextWriter(websocket.TextMessage)
	if err != nil {
		return err
	}
	w := frameWriter{to: to}
	f.writeTo(&w)
	if err := to.Close(); w.err == nil {
		w.err = err
	}
	return w.err
}

func (c *conn) deadline() time.Time { return time.Now().Add(c.hub.limits.write) }

// sayGoodbye sends a close frame and waits a moment for the client to answer it.
func (c *conn) sayGoodbye() {
	c.sayClose(websocket.CloseGoingAway, "the server is stopping")
	select {
	case <-c.readDone:
	case <-c.hub.clock.After(c.hub.limits.farewell):
	}
}

func (c *conn) sayClose(code int, why string) {
	c.ws.WriteControl(websocket.CloseMessage, websocket.FormatCloseMessage(code, why), time.Now().Add(c.hub.limits.farewell))
}
