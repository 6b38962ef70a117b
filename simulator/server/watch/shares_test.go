package watch

import (
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"
)

// TestFeedsAreShared: when all feeds are in use, a client gets one of the client that has the most, which is
// told. Among clients with as many, the newcomer is refused.
func TestFeedsAreShared(t *testing.T) {
	limits := testLimits()
	limits.feeds = 2
	api := newFakeAPI(t)
	h := serve(t, Options{limits: limits})
	h.attach(api, nil)
	greedy := h.dial()
	greedy.Subscribe("all")
	greedy.Next()
	greedy.Send(`{"type":"subscribe","id":"some","resource":{"version":"v1","resource":"configmaps"},"namespace":"default"}`)
	greedy.Next()

	modest := h.dial()
	// The fake API server has no such namespace, which shows that it was asked.
	modest.Send(`{"type":"subscribe","id":"w","resource":{"version":"v1","resource":"configmaps"},"namespace":"other"}`)
	want(t, "the newcomer", modest.Next(), "error w 404: refused with 404")
	taken := greedy.Next()
	if ids := []string{"error all 429: ", "error some 429: "}; !slices.ContainsFunc(ids, func(id string) bool { return strings.HasPrefix(taken, id) }) {
		t.Errorf("the client with the most feeds gets %q", taken)
	}
}

// TestAKindThatCannotBeListed: a server error of the kind, such as that of a broken conversion webhook, does
// not leave its subscribers waiting without a word. An overloaded server may recover.
func TestAKindThatCannotBeListed(t *testing.T) {
	limits := testLimits()
	limits.silence = time.Millisecond
	api := newFakeAPI(t)
	h := serve(t, Options{limits: limits})
	h.attach(api, nil)
	api.do(func() { api.refusal = http.StatusInternalServerError })
	c := h.dial()
	c.Subscribe("cm")
	if told := c.Next(); !strings.HasPrefix(told, "error cm 500: ") {
		t.Errorf("the subscriber of a broken kind gets %q", told)
	}

	api.do(func() { api.refusal, api.refused = http.StatusServiceUnavailable, 0 })
	c.Subscribe("cm")
	api.until(t, "the hub has asked several times", func() bool { return api.refused > 10 })
	api.do(func() { api.refusal = 0 })
	want(t, "once it has recovered", c.Next(), "list cm first: ")
}
