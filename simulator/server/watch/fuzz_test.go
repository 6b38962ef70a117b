package watch

import (
	"bytes"
	"context"
	"encoding/json"
	"testing"

	"github.com/gorilla/websocket"
)

// FuzzClientFrames sends each line as a frame. Whatever a client sends, the hub survives,
// stays within its limits and answers in JSON.
func FuzzClientFrames(f *testing.F) {
	for _, frames := range []string{
		"", "\n", "{", "null", "[]", `"subscribe"`, "{}", "\xff\xfe",
		`{"type":"subscribe","id":"p","resource":{"group":"","version":"v1","resource":"pods"}}`,
		`{"type":"subscribe","id":"d","resource":{"group":"apps","version":"v1","resource":"deployments"},"namespace":"default"}` + "\n" + `{"type":"unsubscribe","id":"d"}`,
		`{"type":"subscribe","id":"r","topic":"results"}` + "\n" + `{"type":"subscribe","id":"r","topic":"status"}`,
		`{"type":"subscribe","id":"q","topic":"queues"}`,
		`{"type":"subscribe","id":"x","topic":"nothing"}`,
		`{"type":"subscribe","id":"x","resource":{"group":"..","version":"v1/../..","resource":"pods?watch"}}`,
		`{"type":"subscribe","id":"x","resource":{"version":"v1","resource":"pods"},"namespace":"../kube-system"}`,
		`{"type":"unsubscribe","id":"never"}`, `{"type":"subscribe","id":""}`, `{"type":7,"id":[]}`,
	} {
		f.Add([]byte(frames))
	}
	l := *testLimits()
	l.feeds, l.subscriptions, l.replies = 3, 4, 5
	f.Fuzz(func(t *testing.T, frames []byte) {
		h := New(Options{limits: &l})
		h.Start()
		h.PutStatus(map[string]bool{"ready": true})
		c := newConn(h, nil)
		for frame := range bytes.SplitSeq(frames, []byte("\n")) {
			if err := c.handle(websocket.TextMessage, frame); err != nil {
				break
			}
			if len(c.subscriptions) > l.subscriptions || len(c.replies) > l.replies || len(h.kinds) > l.feeds {
				t.Fatalf("%d subscriptions, %d replies, %d feeds", len(c.subscriptions), len(c.replies), len(h.kinds))
			}
		}
		for answer := c.take(); answer != nil; answer = c.take() {
			var text bytes.Buffer
			w := frameWriter{to: &text}
			if answer.writeTo(&w); w.err != nil || !json.Valid(text.Bytes()) {
				t.Errorf("%v: %s", w.err, text.Bytes())
			}
		}
		c.unsubscribeAll()
		h.Stop(context.Background())
		if len(h.status.readers) > 0 || len(h.results.readers) > 0 || len(h.queues.readers) > 0 {
			t.Error("a feed still has readers")
		}
	})
}
