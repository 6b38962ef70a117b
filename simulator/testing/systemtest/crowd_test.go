package systemtest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"kube-scheduler-simulator/simulator/testing/clustertest"
)

const (
	crowd       = 1000
	silent      = 20
	mirroring   = 20
	crowdPods   = 300
	crowdMemory = 300 << 20
)

// TestCrowd: a thousand browsers follow nodes and pods while pods are created. Clients that never
// read cost little memory and are cut off. All others see the final state.
func TestCrowd(t *testing.T) {
	clustertest.Slow(t)
	p := start(t, passing(t).measured())
	p.createNodes(t, "node", 10)
	ctx := t.Context()
	grown := p.peak(t)

	var mute []*socket
	for range silent {
		mute = append(mute, p.follow(t, p.dialSmall, "pods", "nodes", "pods", "pods"))
	}
	var reading sync.WaitGroup
	mirrors := make([]mirror, mirroring)
	var bytesRead, ended atomic.Int64
	for i := range crowd - silent {
		s := p.follow(t, p.dial, "pods", "nodes")
		reading.Go(func() {
			defer ended.Add(1)
			if i < mirroring {
				mirrors[i] = mirror{}
			}
			if err := readToTheEnd(s, mirrors, i, &bytesRead); err != nil {
				t.Errorf("client %d: %v", i, err)
			}
		})
	}
	begin := time.Now()
	p.createPods(t, crowdPods)
	// A client that has the last objects has everything that was sent before them.
	p.createLast(t)
	reading.Wait()
	t.Logf("%d pods reached %d clients in %v, %d MB; the program grew by at most %d MB",
		crowdPods, ended.Load(), time.Since(begin), bytesRead.Load()>>20, grown()>>20)
	if got := grown(); got > crowdMemory {
		t.Errorf("the program grew by %d MB", got>>20)
	}
	want := p.mirrorOf(ctx, t)
	// The last node turns Ready while clients are still reading.
	delete(want["nodes"], lastNode)
	for i, m := range mirrors {
		delete(m["nodes"], lastNode)
		if diff := cmp.Diff(want, m); diff != "" {
			t.Fatalf("client %d has another state (-want +got):\n%s", i, diff)
		}
	}
	eventually(t, "those that never read are cut off", func() error { return cutOff(mute) })
	t.Logf("clients that never read were cut off after %v at most", time.Since(begin))
	p.schedules(t, "after-the-crowd")
}

// follow opens a socket and subscribes to resources, some of them more than once.
func (p *program) follow(t *testing.T, dial func(context.Context) (*socket, error), resources ...string) *socket {
	t.Helper()
	s, err := dial(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	for i, resource := range resources {
		id := resource
		if slices.Contains(resources[:i], resource) {
			id = fmt.Sprint(resource, i)
		}
		if err := s.subscribe(id, resource); err != nil {
			t.Fatal(err)
		}
	}
	return s
}

// lastPod and lastNode are created last. Clients stop reading when they have both.
const lastPod, lastNode = "the-last-pod", "the-last-node"

// createLast waits until nothing changes any more, and creates the objects at which clients stop.
func (p *program) createLast(t *testing.T) {
	t.Helper()
	eventually(t, "nothing changes any more", func() error {
		pods, err := p.client.CoreV1().Pods(namespace).List(t.Context(), metav1.ListOptions{})
		if err != nil {
			return err
		}
		running := 0
		for _, pod := range pods.Items {
			if pod.Status.Phase == v1.PodRunning && pod.Annotations[annotationPrefix+"selected-node"] != "" {
				running++
			}
		}
		if running < len(pods.Items) {
			return fmt.Errorf("%d of %d pods run", running, len(pods.Items))
		}
		return nil
	})
	gate := []v1.PodSchedulingGate{{Name: "example.com/never"}}
	last := newPod(lastPod)
	last.Spec.SchedulingGates = gate
	if _, err := p.client.CoreV1().Pods(namespace).Create(t.Context(), last, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	if _, err := p.client.CoreV1().Nodes().Create(t.Context(), newNode(lastNode), metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
}

// readToTheEnd reads until it has the last pod and the last node. The first clients keep a mirror.
func readToTheEnd(s *socket, mirrors []mirror, i int, total *atomic.Int64) error {
	missing := [][]byte{[]byte(`"name":"` + lastPod + `"`), []byte(`"name":"` + lastNode + `"`)}
	if err := s.SetReadDeadline(time.Now().Add(2 * patience)); err != nil {
		return err
	}
	for len(missing) > 0 {
		data, err := s.next()
		if err != nil {
			return err
		}
		total.Add(int64(len(data)))
		if i < len(mirrors) {
			if err := mirrors[i].apply(data); err != nil {
				return err
			}
		}
		for j, name := range missing {
			if bytes.Contains(data, name) {
				missing = append(missing[:j], missing[j+1:]...)
				break
			}
		}
	}
	return nil
}

// mirrorOf returns the state that a client should have.
func (p *program) mirrorOf(ctx context.Context, t *testing.T) mirror {
	t.Helper()
	want := mirror{"pods": {}, "nodes": {}}
	pods, err := p.client.CoreV1().Pods(metav1.NamespaceAll).List(ctx, metav1.ListOptions{})
	if err != nil {
		t.Fatal(err)
	}
	for _, o := range pods.Items {
		want["pods"][o.Name] = o.ResourceVersion
	}
	nodes, err := p.client.CoreV1().Nodes().List(ctx, metav1.ListOptions{})
	if err != nil {
		t.Fatal(err)
	}
	for _, o := range nodes.Items {
		want["nodes"][o.Name] = o.ResourceVersion
	}
	return want
}

// cutOff returns nil when the program has closed its ends of all connections. It asks the kernel:
// the client would notice only after reading everything in its receive buffer.
func cutOff(clients []*socket) error {
	connections, err := os.ReadFile("/proc/net/tcp")
	if err != nil {
		return wantCutOff(clients)
	}
	held := map[string]bool{}
	for line := range strings.Lines(string(connections)) {
		const remote, inode = 2, 9
		// An end of a connection has inode 0 once no process holds it.
		if fields := strings.Fields(line); len(fields) > inode && fields[inode] != "0" {
			_, port, _ := strings.Cut(fields[remote], ":")
			held[port] = true
		}
	}
	for _, c := range clients {
		if port := c.LocalAddr().(*net.TCPAddr).Port; held[fmt.Sprintf("%04X", port)] {
			return fmt.Errorf("the client at port %d is not cut off", port)
		}
	}
	return nil
}

// wantCutOff reads each socket to its end, and returns an error if one stays open.
func wantCutOff(clients []*socket) error {
	for _, c := range clients {
		if err := c.SetReadDeadline(time.Now().Add(patience)); err != nil {
			return err
		}
		var err error
		for err == nil {
			_, err = c.next()
		}
		if timeout, ok := errors.AsType[net.Error](err); ok && timeout.Timeout() {
			return errors.New("a client that never read was not cut off")
		}
	}
	return nil
}

// createPods creates n pods concurrently.
func (p *program) createPods(t *testing.T, n int) {
	t.Helper()
	inParallel(t, 8, n, func(i int) error {
		_, err := p.client.CoreV1().Pods(namespace).Create(t.Context(), newPod(fmt.Sprintf("pod-%04d", i)), metav1.CreateOptions{})
		return err
	})
}

// inParallel calls do with 0 to n-1, from several workers.
func inParallel(t *testing.T, workers, n int, do func(i int) error) {
	t.Helper()
	var next atomic.Int64
	var working sync.WaitGroup
	for range workers {
		working.Go(func() {
			for i := int(next.Add(1)) - 1; i < n; i = int(next.Add(1)) - 1 {
				if err := do(i); err != nil {
					t.Error(err)
					return
				}
			}
		})
	}
	working.Wait()
}

// TestFiftyApplyAtOnce: each client learns the outcome of its apply, one of the
// configurations is in force, and the scheduler keeps scheduling.
func TestFiftyApplyAtOnce(t *testing.T) {
	clustertest.Slow(t)
	const clients = 50
	p := start(t, passing(t).measured())
	p.createNodes(t, "node", 4)
	var before, after float64
	if err := p.readMetrics(map[string]*float64{"go_goroutines": &before}); err != nil {
		t.Fatal(err)
	}
	var mu sync.Mutex
	byRevision := map[int]string{}
	refused := map[int]int{}
	inParallel(t, clients+1, clients+1, func(i int) error {
		if i == clients {
			for j := range 40 {
				if _, err := p.client.CoreV1().Pods(namespace).Create(t.Context(), newPod(fmt.Sprintf("meanwhile-%d", j)), metav1.CreateOptions{}); err != nil {
					return err
				}
			}
			return nil
		}
		document := configurationWith(i)
		if i%5 == 4 {
			document += "profiles:\n- plugins: {score: {enabled: [{name: Nonexistent}]}}\n"
		}
		number, err := p.apply(document)
		mu.Lock()
		defer mu.Unlock()
		if err == nil {
			byRevision[number] = document
			return nil
		}
		if !isRefusal(err, http.StatusConflict, http.StatusUnprocessableEntity) {
			return fmt.Errorf("neither applied nor refused: %w", err)
		}
		refused[i%5]++
		return nil
	})
	if len(byRevision) != 40 || refused[4] != 10 {
		t.Errorf("%d were applied, refused %v", len(byRevision), refused)
	}
	latest := 0
	for number := range byRevision {
		latest = max(latest, number)
	}
	a, err := p.request(http.MethodGet, configurationURL, nil, func(r *http.Request) { r.Header.Set("Accept", "application/yaml") })
	if err != nil || string(a.body) != byRevision[latest] {
		t.Errorf("in force is\n%s\nrevision %d is\n%s (%v)", a.body, latest, byRevision[latest], err)
	}
	eventually(t, "all pods are bound", func() error {
		pods, err := p.client.CoreV1().Pods(namespace).List(t.Context(), metav1.ListOptions{FieldSelector: "spec.nodeName="})
		if err == nil && len(pods.Items) > 0 {
			err = fmt.Errorf("%d are not", len(pods.Items))
		}
		return err
	})
	p.schedules(t, "afterwards")
	eventually(t, "the replaced schedulers have gone", func() error {
		if err := p.readMetrics(map[string]*float64{"go_goroutines": &after}); err != nil {
			return err
		}
		if after > before+100 {
			return fmt.Errorf("%v goroutines, were %v", after, before)
		}
		return nil
	})
}

// TestWatchesThatAreNotRead: the proxy does not buffer events for clients that do not read.
func TestWatchesThatAreNotRead(t *testing.T) {
	clustertest.Slow(t)
	// Buffered for each watch, the events would exceed the memory bound.
	const watches, objects, events = 20, 100, 2_000
	p := start(t, passing(t).measured())
	maps := p.client.CoreV1().ConfigMaps(namespace)
	filling := make([]byte, 8<<10)
	for i := range filling {
		filling[i] = 'a' + byte(i%26)
	}
	inParallel(t, 8, objects, func(i int) error {
		_, err := maps.Create(t.Context(), &v1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprintf("map-%d", i)}, Data: map[string]string{"filling": string(filling)}}, metav1.CreateOptions{})
		return err
	})
	change := func(i int) error {
		_, err := maps.Patch(t.Context(), fmt.Sprintf("map-%d", i%objects), types.MergePatchType, fmt.Appendf(nil, `{"data":{"n":"%d"}}`, i), metav1.PatchOptions{})
		return err
	}
	// The API server caches the latest changes even without watches.
	inParallel(t, 8, events/2, change)
	grown := p.peak(t)
	small := &http.Client{Transport: &http.Transport{DialContext: dialSmall, DisableKeepAlives: true}}
	for range watches {
		resp, err := small.Get(p.url + "/kubernetes/api/v1/namespaces/" + namespace + "/configmaps?watch=true")
		if err != nil {
			t.Fatal(err)
		}
		defer resp.Body.Close()
	}
	inParallel(t, 8, events, change)
	t.Logf("%d changes to %d watches; the program grew by at most %d MB", events, watches, grown()>>20)
	if got := grown(); got > 250<<20 {
		t.Errorf("the program grew by %d MB", got>>20)
	}
	p.createNodes(t, "late", 1)
	p.schedules(t, "others-are-served")
}
