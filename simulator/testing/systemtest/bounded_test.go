package systemtest

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"kube-scheduler-simulator/simulator/testing/clustertest"
)

const (
	// hostileMemory bounds how much the program may grow, whatever clients send.
	hostileMemory = 300 << 20
	// soon bounds how long another client waits meanwhile.
	soon = time.Second
)

// besides calls do, and checks that meanwhile another client is served soon and the program does not grow
// too much.
func (p *program) besides(t *testing.T, do func()) {
	t.Helper()
	grown := p.peak(t)
	done := make(chan struct{})
	var asking sync.WaitGroup
	slowest := time.Duration(0)
	asking.Go(func() {
		for {
			begin := time.Now()
			for _, path := range []string{"/api/v1/status", "/kubernetes/api/v1/namespaces/default"} {
				a, err := p.request(http.MethodGet, path, nil, nil)
				if err != nil || a.status != http.StatusOK {
					t.Errorf("another client gets %d from %s (%v): %s", a.status, path, err, a.body)
					return
				}
			}
			slowest = max(slowest, time.Since(begin))
			select {
			case <-done:
				return
			case <-time.After(50 * time.Millisecond):
			}
		}
	})
	do()
	close(done)
	asking.Wait()
	t.Logf("another client waited for at most %v, the program grew by at most %d MB", slowest, grown()>>20)
	if slowest > soon {
		t.Errorf("another client waited for %v", slowest)
	}
	if got := grown(); got > hostileMemory {
		t.Errorf("the program grew by %d MB", got>>20)
	}
}

// TestHalfRequestsAreBounded: two thousand half requests cost little, and are given up after a while.
func TestHalfRequestsAreBounded(t *testing.T) {
	clustertest.Slow(t)
	p := start(t, passing(t).measured())
	var conns []net.Conn
	p.besides(t, func() {
		for i := range 2000 {
			switch i % 4 {
			case 0:
				conns = append(conns, p.half(t, route{http.MethodGet, "/"}, way{headers: "X-Half: "}))
			case 1:
				conns = append(conns, p.half(t, objectRoute, ways[i/4%2]))
			case 2:
				conns = append(conns, p.half(t, route{http.MethodPut, configurationURL}, ways[i/4%2]))
			default:
				conns = append(conns, p.half(t, route{http.MethodPut, "/api/v1/reset"}, ways[i/4%2]))
			}
		}
	})
	p.answersWithin(t, soon, http.MethodPut, configurationURL, http.StatusUnprocessableEntity)
	for _, conn := range conns {
		readAll(t, conn)
	}
	p.stopsInTime(t, syscall.SIGTERM)
}

// TestSlowlorisWithFewFiles: a program that may open only 256 files serves others beside a crowd of
// connections that never finish a request.
func TestSlowlorisWithFewFiles(t *testing.T) {
	clustertest.Slow(t)
	p := startUnder(t, passing(t).measured(), "ulimit -n 256")
	p.besides(t, func() {
		for i := range 600 {
			r, how := route{http.MethodGet, "/"}, way{headers: "X-Half: "}
			if i%2 == 0 {
				r, how = objectRoute, ways[i/2%2]
			}
			// The program may close it while it is being written to.
			conn, err := net.Dial("tcp", strings.TrimPrefix(p.url, "http://"))
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { conn.Close() })
			fmt.Fprintf(conn, "%s %s HTTP/1.1\r\nHost: %s\r\n%s", r.method, r.path, strings.TrimPrefix(p.url, "http://"), how.headers)
		}
	})
	p.createNodes(t, "node", 1)
	p.schedules(t, "afterwards")
	p.stopsInTime(t, syscall.SIGTERM)
}

// TestStrangersAreDisconnected: half a request without the token, or of another site, ends at once.
func TestStrangersAreDisconnected(t *testing.T) {
	const token = "open-sesame-29bb10"
	h := passing(t)
	file := filepath.Join(h.tmp, "token")
	if err := os.WriteFile(file, []byte(token), 0o600); err != nil {
		t.Fatal(err)
	}
	p := start(t, h, "--token-file", file)
	for headers, want := range map[string]string{"": "401", "Origin: http://evil.example\r\n": "403"} {
		for _, how := range ways {
			begin := time.Now()
			said := readAll(t, p.half(t, route{http.MethodPost, "/api/v1/import"}, way{headers + how.headers, how.body}))
			if took := time.Since(begin); took > inTime || !strings.Contains(said, want) {
				t.Errorf("after %v: %q", took, said)
			}
		}
	}
}

// TestStalledExportsAreBounded: thirty clients ask for an export and read nothing.
func TestStalledExportsAreBounded(t *testing.T) {
	clustertest.Slow(t)
	p := start(t, passing(t).measured())
	const pods, each = 400, 50 << 10
	inParallel(t, 8, pods, func(i int) error {
		pod := newPod(fmt.Sprintf("pod-%04d", i))
		pod.Annotations = map[string]string{"example.com/text": strings.Repeat("x", each)}
		pod.Spec.Containers[0].Resources.Requests = v1.ResourceList{v1.ResourceCPU: resource.MustParse("1")}
		_, err := p.client.CoreV1().Pods(namespace).Create(t.Context(), pod, metav1.CreateOptions{})
		return err
	})
	p.besides(t, func() {
		for range 30 {
			p.stall(t, "/api/v1/export")
		}
		// The program works on all of them before it answers these.
		for range 20 {
			p.answersWithin(t, patience, http.MethodGet, "/api/v1/status", http.StatusOK)
			time.Sleep(100 * time.Millisecond) // it keeps no state that would say when it has
		}
	})
	p.stopsInTime(t, syscall.SIGTERM)
}

// TestBombsAreBounded: documents that are small on the way and large in memory.
func TestBombsAreBounded(t *testing.T) {
	clustertest.Slow(t)
	p := start(t, passing(t).measured())
	flow := func(size int) string { return "[" + strings.Repeat("[],", size/3) + "[]]" }
	pad := func(head, unit string, size int) string {
		return head + strings.Repeat(unit, (size-len(head))/len(unit))
	}
	for _, bomb := range []struct {
		name, path, body string
		packed           bool
		times            int
	}{
		{"a flow list, packed", "/api/v1/import", mapHead + "x: " + flow(16<<20-100), true, 1},
		{"a flow list as JSON, packed", "/api/v1/import", `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"a"},"x":` + flow(16<<20-200) + "}", true, 1},
		{"empty objects, packed", "/api/v1/import", strings.Repeat("{}", 32<<20), true, 1},
		{"empty documents, packed", "/api/v1/import", strings.Repeat("---\n", 16<<20), true, 1},
		{"many fields, packed", "/api/v1/import", `{"a":1` + strings.Repeat(`,"b":"`+strings.Repeat("x", 1<<20)+`"`, 200) + "}", true, 1},
		{"far more than its size, packed", "/api/v1/import", strings.Repeat(harmless+"---\n", 600<<20/(len(harmless)+4)), true, 1},
		{"configurations of values", configurationURL + "?dryRun=true", configurationHead + "x: " + flow(1<<20-200), false, 20},
		{"configurations of keys", configurationURL + "?dryRun=true", pad(configurationHead, "a: b\n", 1<<20), false, 20},
		{"configurations of profiles", configurationURL + "?dryRun=true", pad(configurationHead+"profiles:\n", "- schedulerName: a\n", 1<<20), false, 20},
		{"configurations of comments", configurationURL + "?dryRun=true", pad(configurationHead, "# "+strings.Repeat("c", 60)+"\n", 1<<20), false, 20},
		{"objects of values", objectRoute.path, `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"a"},"x":` + flow(2<<20) + "}", false, 20},
	} {
		t.Run(bomb.name, func(t *testing.T) {
			body := []byte(bomb.body)
			if bomb.packed {
				body = packed(t, bomb.body)
			}
			method := http.MethodPost
			begin := time.Now()
			p.besides(t, func() {
				var sending sync.WaitGroup
				for range bomb.times {
					sending.Go(func() {
						a, err := p.request(method, bomb.path, bytes.NewReader(body), func(r *http.Request) { r.Header.Set("Content-Type", "application/json") })
						if err != nil || a.status >= 500 && a.status != http.StatusServiceUnavailable {
							t.Errorf("%d (%v): %.300s", a.status, err, a.body)
						}
					})
				}
				sending.Wait()
			})
			t.Logf("%d bytes, %d times: %v", len(body), bomb.times, time.Since(begin))
			if took := time.Since(begin); took > time.Minute {
				t.Errorf("it took %v", took)
			}
		})
		p.alive(t)
	}
	p.createNodes(t, "node", 1)
	p.schedules(t, "afterwards")
}

func packed(t *testing.T, text string) []byte {
	t.Helper()
	var out bytes.Buffer
	w, err := gzip.NewWriterLevel(&out, gzip.BestCompression)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := io.WriteString(w, text); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

// TestSubscriptionsAreShared: five clients with sixty subscriptions each leave lists to others.
func TestSubscriptionsAreShared(t *testing.T) {
	clustertest.Slow(t)
	p := start(t, passing(t).measured())
	for i := range 5 {
		s := p.follow(t, p.dial)
		for j := range 60 {
			if err := s.WriteJSON(map[string]any{"type": "subscribe", "id": fmt.Sprint(j), "namespace": fmt.Sprintf("ns-%d-%d", i, j),
				"resource": map[string]string{"group": "", "version": "v1", "resource": "configmaps"}}); err != nil {
				t.Fatal(err)
			}
		}
		go func() { // a client that reads
			for {
				if _, err := s.next(); err != nil {
					return
				}
			}
		}()
	}
	for _, resource := range []string{"secrets", "services", "configmaps", "serviceaccounts", "limitranges", "resourcequotas"} {
		modest := p.follow(t, p.dial, resource)
		begin := time.Now()
		if err := modest.SetReadDeadline(begin.Add(patience)); err != nil {
			t.Fatal(err)
		}
		frame, err := modest.next()
		t.Logf("%s: after %v", resource, time.Since(begin))
		if err != nil || !bytes.Contains(frame, []byte(`"type":"list"`)) {
			t.Errorf("%s: %v, %.300s", resource, err, frame)
		}
	}
}

// TestABrokenConversion: the conversion webhook of a CustomResourceDefinition is not there. An export
// holds everything else and names the kind, and a subscriber is told.
func TestABrokenConversion(t *testing.T) {
	clustertest.Slow(t)
	p := start(t, passing(t).measured())
	p.createLarge(t, 1)
	definition := func(conversion string) string {
		version := `{"name":"%s","served":true,"storage":%v,"schema":{"openAPIV3Schema":{"type":"object","x-kubernetes-preserve-unknown-fields":true}}}`
		return fmt.Sprintf(`{"apiVersion":"apiextensions.k8s.io/v1","kind":"CustomResourceDefinition","metadata":{"name":"things.example.com"},
			"spec":{"group":"example.com","scope":"Namespaced","names":{"plural":"things","singular":"thing","kind":"Thing","listKind":"ThingList"},
			"versions":[%s,%s],"conversion":%s}}`, fmt.Sprintf(version, "v1", true), fmt.Sprintf(version, "v2", false), conversion)
	}
	// No program listens at port 1.
	const broken = `{"strategy":"Webhook","webhook":{"conversionReviewVersions":["v1"],"clientConfig":{"url":"https://127.0.0.1:1"}}}`
	p.mustSend(t, http.MethodPost, "/kubernetes/apis/apiextensions.k8s.io/v1/customresourcedefinitions", definition(`{"strategy":"None"}`))
	eventually(t, "the kind is served", func() error {
		a, err := p.request(http.MethodPost, "/kubernetes/apis/example.com/v1/namespaces/"+namespace+"/things", strings.NewReader(`{"apiVersion":"example.com/v1","kind":"Thing","metadata":{"name":"thing"}}`),
			func(r *http.Request) { r.Header.Set("Content-Type", "application/json") })
		if err == nil && a.status != http.StatusCreated {
			err = fmt.Errorf("%d: %s", a.status, a.body)
		}
		return err
	})
	p.mustSend(t, http.MethodPatch, "/kubernetes/apis/apiextensions.k8s.io/v1/customresourcedefinitions/things.example.com", `{"spec":{"conversion":`+broken+`}}`)
	eventually(t, "the conversion is broken", func() error {
		a, err := p.request(http.MethodGet, "/kubernetes/apis/example.com/v2/namespaces/"+namespace+"/things", nil, nil)
		if err == nil && a.status == http.StatusOK {
			err = errors.New("it works")
		}
		return err
	})
	a, err := p.request(http.MethodGet, "/api/v1/export", nil, nil)
	if err != nil || a.status != http.StatusOK || !bytes.Contains(a.body, []byte("large-0")) {
		t.Errorf("the export is answered with %d, %v: %.300s", a.status, err, a.body)
	}
	var export struct {
		LeftOut []struct{ Kind, Message string }
		Items   []struct{ Kind string }
	}
	if err := json.Unmarshal(a.body, &export); err != nil {
		t.Fatal(err)
	}
	listed := false
	for _, item := range export.Items {
		listed = listed || item.Kind == "Thing"
	}
	if !listed && (len(export.LeftOut) != 1 || export.LeftOut[0].Kind != "Thing") {
		t.Errorf("it neither holds the kind nor says that it was left out: %+v", export.LeftOut)
	}
	s := p.follow(t, p.dial)
	if err := s.WriteJSON(map[string]any{"type": "subscribe", "id": "things", "resource": map[string]string{"group": "example.com", "version": "v2", "resource": "things"}}); err != nil {
		t.Fatal(err)
	}
	if err := s.SetReadDeadline(time.Now().Add(30 * time.Second)); err != nil {
		t.Fatal(err)
	}
	frame, err := s.next()
	if err != nil || !bytes.Contains(frame, []byte(`"type":"error"`)) {
		t.Errorf("the subscriber is told nothing: %v, %s", err, frame)
	}
}

// mustSend sends an object to the Kubernetes API.
func (p *program) mustSend(t *testing.T, method, path, body string) {
	t.Helper()
	a, err := p.request(method, path, strings.NewReader(body), func(r *http.Request) {
		r.Header.Set("Content-Type", "application/json")
		if method == http.MethodPatch {
			r.Header.Set("Content-Type", "application/merge-patch+json")
		}
	})
	if err != nil || a.status >= 300 {
		t.Fatalf("%s %s: %d, %v: %s", method, path, a.status, err, a.body)
	}
}

// TestAnUploadLeavesRoom: on a small disk an upload is refused before the disk is full, and the cluster
// goes on.
func TestAnUploadLeavesRoom(t *testing.T) {
	clustertest.Slow(t)
	h := newHome(t)
	if err := os.MkdirAll(h.data, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Mount("tmpfs", h.data, "tmpfs", 0, "size=400m"); err != nil {
		t.Skipf("this test mounts a disk, which it may not: %v", err)
	}
	t.Cleanup(func() {
		if err := syscall.Unmount(h.data, 0); err != nil {
			t.Error(err)
		}
	})
	p := start(t, h)
	a, err := p.request(http.MethodPost, "/api/v1/import", io.LimitReader(comments{}, 500<<20), nil)
	if err != nil || a.status != http.StatusInsufficientStorage {
		t.Errorf("%d, %v: %.300s", a.status, err, a.body)
	}
	p.createNodes(t, "node", 1)
	p.schedules(t, "afterwards")
	p.stopsInTime(t, syscall.SIGTERM)
}

// comments is an endless YAML file.
type comments struct{}

func (comments) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = '#'
		if i%64 == 63 {
			p[i] = '\n'
		}
	}
	return len(p), nil
}

// startUnder starts the program from a shell, after a command that limits it.
func startUnder(t *testing.T, h home, limit string, flags ...string) *program {
	t.Helper()
	p := launchAs(t, h, func(args []string) *exec.Cmd {
		return exec.Command("sh", append([]string{"-c", limit + `; exec "$0" "$@"`, clustertest.Program()}, args...)...)
	}, flags...)
	if err := p.waitReady(); err != nil {
		t.Fatalf("%v\n%s", err, p.stderr)
	}
	return p
}
