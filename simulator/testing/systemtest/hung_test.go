package systemtest

import (
	"crypto/tls"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
)

const mapsPath = "/api/v1/namespaces/" + namespace + "/configmaps"

var objectRoute = route{http.MethodPost, "/kubernetes" + mapsPath}

// way is how a client sends half a request: further headers, and the beginning of the body. Without a body
// the headers do not end.
type way struct{ headers, body string }

var ways = []way{
	{"Content-Length: 1000000\r\n", `{"apiVersion":`},
	{"Transfer-Encoding: chunked\r\n", "1000\r\n{\"apiVersion\":"},
}

// half sends half a request and leaves the connection open.
func (p *program) half(t *testing.T, r route, how way) net.Conn {
	t.Helper()
	address := strings.TrimPrefix(p.url, "http://")
	conn, err := net.Dial("tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	sendHalf(t, conn, address, r, how)
	return conn
}

func sendHalf(t *testing.T, conn net.Conn, address string, r route, how way) {
	t.Helper()
	headers := how.headers
	if how.body == "" { // the headers are half sent
		if _, err := fmt.Fprintf(conn, "%s %s HTTP/1.1\r\nHost: %s\r\n%s", r.method, r.path, address, headers); err != nil {
			t.Fatal(err)
		}
		return
	}
	if !strings.Contains(headers, "Content-Type") {
		contentType := "application/json"
		if r.method == http.MethodPatch {
			contentType = "application/merge-patch+json"
		}
		headers += "Content-Type: " + contentType + "\r\n"
	}
	if _, err := fmt.Fprintf(conn, "%s %s HTTP/1.1\r\nHost: %s\r\n%s\r\n%s", r.method, r.path, address, headers, how.body); err != nil {
		t.Fatal(err)
	}
}

// halfDirectly sends half an object to the API server itself.
func (p *program) halfDirectly(t *testing.T) {
	t.Helper()
	config, err := rest.TLSConfigFor(p.config)
	if err != nil {
		t.Fatal(err)
	}
	config.NextProtos = []string{"http/1.1"}
	address := strings.TrimPrefix(p.config.Host, "https://")
	conn, err := tls.Dial("tcp", address, config)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	sendHalf(t, conn, address, route{http.MethodPost, mapsPath}, ways[0])
}

// stall asks for something and does not read the answer.
func (p *program) stall(t *testing.T, path string) net.Conn {
	t.Helper()
	address := strings.TrimPrefix(p.url, "http://")
	conn, err := dialSmall(t.Context(), "tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	if _, err := fmt.Fprintf(conn, "GET %s HTTP/1.1\r\nHost: %s\r\n\r\n", path, address); err != nil {
		t.Fatal(err)
	}
	return conn
}

// hangEverywhere leaves half a request of each way on each route, and does not read answers of each kind.
// It returns what it did, in words.
func (p *program) hangEverywhere(t *testing.T) string {
	t.Helper()
	halves := 0
	routes := p.routes(t)
	for _, r := range routes {
		if r.path == "/api/v1/watch" {
			continue
		}
		for _, how := range ways {
			p.half(t, r, how)
			halves++
		}
	}
	for range 10 {
		p.half(t, route{http.MethodGet, "/"}, way{headers: "X-Half: "})
	}
	p.halfDirectly(t)
	stalled := []string{"/api/v1/export", "/api/v1/export?format=yaml", "/kubernetes" + mapsPath, "/kubernetes" + mapsPath + "?watch=true", "/api/v1/export"}
	for _, path := range stalled {
		p.stall(t, path)
	}
	for range 5 {
		p.follow(t, p.dialSmall, "configmaps", "pods", "nodes")
	}
	// They have arrived when the program answers others that came after them.
	p.answersWithin(t, patience, http.MethodGet, "/api/v1/status", http.StatusOK)
	return fmt.Sprintf("%d half bodies on %d routes, 10 half headers, 1 half body at the API server, %d stalled readers, 5 stalled sockets", halves, len(routes), len(stalled))
}

// readAll reads until the other side closes the connection.
func readAll(t *testing.T, conn net.Conn) string {
	t.Helper()
	if err := conn.SetReadDeadline(time.Now().Add(patience)); err != nil {
		t.Fatal(err)
	}
	data, err := io.ReadAll(conn)
	if timeout, ok := err.(net.Error); ok && timeout.Timeout() {
		t.Fatalf("the connection stays open; it said %q", data)
	}
	return string(data)
}

// largeText is the size of a text of createLarge. Forty of them exceed the buffers of a connection.
const largeText = 200 << 10

func newMap(name string, size int) *v1.ConfigMap {
	return &v1.ConfigMap{
		ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{"large": ""}},
		Data:       map[string]string{"data": strings.Repeat("x", size)},
	}
}

// createLarge creates ConfigMaps, and pods for exports, which are not scheduled.
func (p *program) createLarge(t *testing.T, n int) {
	t.Helper()
	inParallel(t, 4, n, func(i int) error {
		name := fmt.Sprintf("large-%d", i)
		pod := newPod(name)
		pod.Annotations = map[string]string{"example.com/text": strings.Repeat("x", largeText)}
		pod.Spec.SchedulingGates = []v1.PodSchedulingGate{{Name: "example.com/never"}}
		_, err := p.client.CoreV1().ConfigMaps(namespace).Create(t.Context(), newMap(name, largeText), metav1.CreateOptions{})
		if err == nil {
			_, err = p.client.CoreV1().Pods(namespace).Create(t.Context(), pod, metav1.CreateOptions{})
		}
		return err
	})
}

func harmlessJSON(name string) string {
	return fmt.Sprintf(`{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":%q}}`, name)
}

// manyMaps returns a manifest.
func manyMaps(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "---\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: many-%d}\n", i)
	}
	return b.String()
}

// silent accepts connections and says nothing.
type silentServer struct {
	address string
	// path is that of a kubeconfig that names it, if there is one.
	path  string
	asked chan struct{}
}

func silentListener(t *testing.T) *silentServer {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s := &silentServer{address: listener.Addr().String(), asked: make(chan struct{})}
	var mu sync.Mutex
	var conns []net.Conn
	go func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			mu.Lock()
			if conns = append(conns, conn); len(conns) == 1 {
				close(s.asked)
			}
			mu.Unlock()
		}
	}()
	t.Cleanup(func() {
		listener.Close()
		mu.Lock()
		defer mu.Unlock()
		for _, c := range conns {
			c.Close()
		}
	})
	return s
}

// wait returns when the first client has connected.
func (s *silentServer) wait(t *testing.T) {
	t.Helper()
	select {
	case <-s.asked:
	case <-time.After(patience):
		t.Fatal("no client has connected")
	}
}

// silentCluster is a silent server with a kubeconfig.
func silentCluster(t *testing.T, h home) *silentServer {
	t.Helper()
	s := silentListener(t)
	s.path = filepath.Join(h.tmp, "silent-kubeconfig")
	config := clientcmdapi.Config{
		Clusters:       map[string]*clientcmdapi.Cluster{"silent": {Server: "http://" + s.address}},
		Contexts:       map[string]*clientcmdapi.Context{"silent": {Cluster: "silent"}},
		CurrentContext: "silent",
	}
	if err := clientcmd.WriteToFile(config, s.path); err != nil {
		t.Fatal(err)
	}
	return s
}

// extenderConfiguration returns a configuration with an extender that does not answer, and a channel that
// is closed when it is asked.
func extenderConfiguration(t *testing.T) (document string, asked <-chan struct{}) {
	t.Helper()
	called, over := make(chan struct{}), make(chan struct{})
	var once sync.Once
	server := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		once.Do(func() { close(called) })
		<-over
	}))
	t.Cleanup(func() {
		close(over)
		server.Close()
	})
	return fmt.Sprintf("apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\nextenders:\n- urlPrefix: %s\n  filterVerb: filter\n  httpTimeout: 60s\n", server.URL), called
}

// hangingExtender writes that configuration to a file.
func hangingExtender(t *testing.T, h home) (path string, asked <-chan struct{}) {
	t.Helper()
	document, asked := extenderConfiguration(t)
	path = filepath.Join(h.tmp, "hanging.yaml")
	if err := os.WriteFile(path, []byte(document), 0o600); err != nil {
		t.Fatal(err)
	}
	return path, asked
}
