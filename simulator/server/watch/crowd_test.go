package watch

import (
	"fmt"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/gorilla/websocket"

	"kube-scheduler-simulator/simulator/testing/clustertest"
)

// TestCrowd: many clients follow a kind, and some of them never read. Those that read
// see the last change; the others cost almost nothing.
func TestCrowd(t *testing.T) {
	const readers, silent, changes = 200, 20, 500
	api := newFakeAPI(t)
	for i := range 500 {
		api.put(fmt.Sprintf("object-%03d", i), strings.Repeat("x", 1000))
	}
	h := serve(t, Options{limits: defaultLimits()})
	h.attach(api, nil)
	before := heap()

	for range silent {
		c := h.dial()
		c.Subscribe("cm")
	}
	var listed, finished sync.WaitGroup
	var relists atomic.Int64
	for range readers {
		c := h.dial()
		c.Subscribe("cm")
		listed.Add(1)
		finished.Go(func() {
			seen := sync.OnceFunc(listed.Done)
			defer seen()
			for {
				data, err := c.Read()
				if err != nil {
					t.Errorf("reading: %v", err)
					return
				}
				seen()
				if strings.Contains(string(data[:min(len(data), 100)]), `"first":true`) {
					relists.Add(1)
				}
				if strings.Contains(string(data), `"v":"last"`) {
					return
				}
			}
		})
	}
	listed.Wait()
	start := time.Now()
	for i := range changes {
		api.put(fmt.Sprintf("object-%03d", i%500), fmt.Sprint(i, strings.Repeat("y", 1000)))
	}
	api.put("object-000", "last")
	finished.Wait()
	t.Logf("%d changes reached %d clients in %v; %d lists; heap grew by %d kB", changes, readers, time.Since(start), relists.Load(), (int64(heap())-int64(before))>>10)
	if relists.Load() != readers {
		t.Errorf("%d lists for %d readers", relists.Load(), readers)
	}
}

func heap() uint64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}

// TestClientThatSendsWithoutReading: the hub disconnects it.
func TestClientThatSendsWithoutReading(t *testing.T) {
	c := newConn(&Hub{limits: limits{replies: 2}}, nil)
	for range 2 {
		if err := c.handle(websocket.TextMessage, []byte("?")); err != nil {
			t.Fatal(err)
		}
	}
	if err := c.handle(websocket.TextMessage, []byte("?")); err == nil {
		t.Error("a third answer was queued")
	}
}

// TestClientThatAnswersNoPing: the hub disconnects it with a close frame that says why.
func TestClientThatAnswersNoPing(t *testing.T) {
	l := testLimits()
	l.ping, l.write = 10*time.Millisecond, 50*time.Millisecond
	h := serve(t, Options{limits: l})
	c := h.dial()
	c.Topic(topicStatus)
	admitted := func() int {
		h.mu.Lock()
		defer h.mu.Unlock()
		return len(h.conns)
	}
	for _, n := range []int{1, 0} {
		clustertest.EventuallyTrue(t, fmt.Sprintf("there are %d clients", n), func() bool { return admitted() == n })
	}
	if code := c.Closed(); code != websocket.ClosePolicyViolation {
		t.Errorf("close code %d", code)
	}
}
