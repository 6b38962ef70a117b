package app

import (
	"bytes"
	"context"
	"fmt"
	"net/http"
	"runtime/pprof"
	"strings"
	"testing"
	"time"

	"github.com/gorilla/websocket"
	"k8s.io/apimachinery/pkg/util/wait"

	"kube-scheduler-simulator/scheduler/result"
	"kube-scheduler-simulator/simulator/testing/clustertest"
)

// TestStopLeavesNothing: two simulators in one process schedule pods, change their configuration
// and serve watches. When both have stopped, all goroutines that they started have ended.
func TestStopLeavesNothing(t *testing.T) {
	clustertest.Slow(t)
	// A goroutine inherits the label of the goroutine that starts it.
	const label = "app-test"
	pprof.Do(t.Context(), pprof.Labels(label, t.Name()), func(context.Context) {
		var both []*running
		for range 2 {
			s, err := startInProcess(DefaultOptions())
			if err != nil {
				t.Fatal(err)
			}
			both = append(both, s)
		}
		for i, s := range both {
			use(t, s, fmt.Sprintf("leave-%d", i))
		}
		for _, s := range both {
			if err := s.stop(); err != nil {
				t.Error(err)
			}
		}
	})
	var left string
	err := wait.PollUntilContextTimeout(t.Context(), 50*time.Millisecond, 20*time.Second, true, func(context.Context) (bool, error) {
		left = goroutinesWith(t, label)
		return left == "", nil
	})
	if err != nil {
		t.Errorf("goroutines left:\n%s", left)
	}
}

// use exercises every part of a simulator. It does not delete its nodes.
func use(t *testing.T, s *running, pool string) {
	t.Helper()
	if _, err := s.makeNode(t.Context(), pool, 4, nil, nil); err != nil {
		t.Fatal(err)
	}
	ns := namespace(t, s)
	create(t, s, ns, pod("first", pool, "1"), result.Scheduled)
	const document = "apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\nparallelism: 7\n"
	resp, err := http.Post(s.url+"/api/v1/schedulerconfiguration", "application/yaml", strings.NewReader(document))
	if err != nil {
		t.Fatal(err)
	}
	resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		t.Fatalf("the response to the configuration is %s", resp.Status)
	}
	create(t, s, ns, pod("second", pool, "1"), result.Scheduled)
	ws, _, err := websocket.DefaultDialer.Dial("ws"+strings.TrimPrefix(s.url, "http")+"/api/v1/watch", http.Header{"Origin": {s.url}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { ws.Close() })
	frame := `{"type":"subscribe","id":"p","resource":{"group":"","version":"v1","resource":"pods"}}`
	if err := ws.WriteMessage(websocket.TextMessage, []byte(frame)); err != nil {
		t.Fatal(err)
	}
	if _, _, err := ws.ReadMessage(); err != nil {
		t.Fatal(err)
	}
	// A watch through the proxy whose client does not read it to the end.
	watch, err := http.Get(s.url + "/kubernetes/api/v1/pods?watch=true")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { watch.Body.Close() })
}

// goroutinesWith returns the stacks of the goroutines with the label, except for connections of the
// test's own clients.
func goroutinesWith(t *testing.T, label string) string {
	t.Helper()
	var profile bytes.Buffer
	if err := pprof.Lookup("goroutine").WriteTo(&profile, 1); err != nil {
		t.Fatal(err)
	}
	var left []string
	for stack := range strings.SplitSeq(profile.String(), "\n\n") {
		if strings.Contains(stack, label) && !strings.Contains(stack, "net/http.(*persistConn)") {
			left = append(left, stack)
		}
	}
	return strings.Join(left, "\n\n")
}
