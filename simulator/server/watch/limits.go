package watch

import "time"

// limits bound what the hub holds and how long it waits.
type limits struct {
	// logEvents and logBytes bound the log of a feed. A subscription that is
	// further behind lists again.
	logEvents, logBytes int
	// frameItems and frameBytes bound a frame to a client; a single object
	// may be larger.
	frameItems, frameBytes int
	// batch is the least time between two frames of events.
	batch time.Duration
	// poll is the time between two readings of the scheduling queue.
	poll time.Duration
	// linger is how long a feed outlives its last subscription, for the
	// browser that reloads.
	linger time.Duration
	// feeds, connections, and subscriptions and unsent answers of each
	// connection.
	feeds, connections, subscriptions, replies int
	// clientFrame bounds a frame from a client, in bytes.
	clientFrame int64
	// ping is the time between two pings. A connection ends when it has
	// missed two.
	ping time.Duration
	// write is how long a frame may take to be taken by the client's side.
	write time.Duration
	// farewell is how long a client has to answer a close frame.
	farewell time.Duration
	// retry and retryMax bound the wait before a failed list or watch is
	// tried again.
	retry, retryMax time.Duration
}

func defaultLimits() *limits {
	return &limits{
		logEvents: 4096, logBytes: 8 << 20,
		frameItems: 500, frameBytes: 256 << 10,
		batch:  50 * time.Millisecond,
		poll:   time.Second,
		linger: 30 * time.Second,
		feeds:  256, connections: 4096, subscriptions: 64, replies: 64,
		clientFrame: 64 << 10,
		ping:        20 * time.Second,
		write:       10 * time.Second,
		farewell:    time.Second,
		retry:       200 * time.Millisecond, retryMax: 10 * time.Second,
	}
}
