package server

import (
	"bytes"
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"net/url"
	"testing"

	"github.com/gorilla/websocket"
	"github.com/labstack/echo/v4"
	"k8s.io/klog/v2"
	"k8s.io/utils/clock"
)

// FuzzClientFrames holds that nothing that a client sends, a frame per line, ends the
// hub or makes it hold more than its limits, and that every answer is JSON.
func FuzzClientFrames(f *testing.F) {
	for _, frames := range []string{
		"", "\n", "{", "null", "[]", `"subscribe"`, "{}", "\xff\xfe",
		`{"type":"subscribe","id":"p","resource":{"group":"","version":"v1","resource":"pods"}}`,
		`{"type":"subscribe","id":"d","resource":{"group":"apps","version":"v1","resource":"deployments"},"namespace":"default"}` + "\n" + `{"type":"unsubscribe","id":"d"}`,
		`{"type":"subscribe","id":"r","topic":"results"}` + "\n" + `{"type":"subscribe","id":"r","topic":"status"}`,
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
		h := newHub(klog.Logger{}, clock.RealClock{}, l)
		h.start()
		h.status.put([]byte(`{"ready":true}`))
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
		h.shutdown(context.Background())
		if len(h.status.readers) > 0 || len(h.results.readers) > 0 {
			t.Error("somebody reads still")
		}
	})
}

// FuzzResultsQuery holds that a query is either refused by the name of a parameter, or
// within the bounds.
func FuzzResultsQuery(f *testing.F) {
	for _, query := range []string{
		"", "namespace=default&name=web&uid=u&outcome=scheduled&limit=10&continue=7", "limit=0", "limit=-1", "limit=5001", "limit=9223372036854775808", "limit=1e3",
		"outcome=nothing", "outcome=", "limit=1&limit=x", "%zz", "limit=%31", ";", "continue=%00", "uid=%2f..%2f", "a[]=1&limit=５",
	} {
		f.Add(query)
	}
	e := echo.New()
	f.Fuzz(func(t *testing.T, query string) {
		r := &http.Request{Method: http.MethodGet, URL: &url.URL{Path: "/api/v1/results", RawQuery: query}, Header: http.Header{}}
		q, err := parseQuery(e.NewContext(r, httptest.NewRecorder()))
		if err == nil {
			if q.Limit < 0 || q.Limit > maxLimit || q.Outcome != "" && !q.Outcome.Valid() {
				t.Errorf("accepted as %+v", q)
			}
			return
		}
		refused, ok := err.(*apiError)
		if !ok || refused.Code != http.StatusBadRequest || len(refused.Details) == 0 || refused.Details[0].Field == "" {
			t.Errorf("refused with %#v", err)
		}
	})
}
