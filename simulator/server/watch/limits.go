package watch

import "time"

// limits bound what the hub stores and how long it waits.
type limits struct {
	// logEvents and logBytes bound the log of a feed. A subscription that falls further behind
	// lists again.
	logEvents, logBytes int
	// frameItems and frameBytes bound a frame to a client. One object may be larger than
	// frameBytes.
	frameItems, frameBytes int
	// batch is the shortest time between two frames of events.
	batch time.Duration
	// poll is the time between two readings of the scheduling queue.
	poll time.Duration
	// linger is how long a feed outlives its last subscription: a browser that reloads the page
	// finds it again.
	linger time.Duration
	// feeds and connections bound the hub; subscriptions and replies (error frames not sent yet)
	// bound each connection.
	feeds, connections, subscriptions, replies int
	// clientFrame bounds a frame from a client, in bytes.
	clientFrame int64
	// ping is the time between two pings. The server closes a connection that misses two.
	ping time.Duration
	// write is how long writing a frame may take.
	write time.Duration
	// farewell is how long a client may take to answer a close frame.
	farewell time.Duration
	// After silence without a list, the hub asks the API server whether it can list the kind at
	// all.
	silence time.Duration
	// retry and retryMax bound the wait before the hub repeats a failed list or watch.
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
		silence:     5 * time.Second,
		retry:       200 * time.Millisecond, retryMax: 10 * time.Second,
	}
}
