package mirror

import (
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/rest"
)

// TestTheSourceIsReadOnlyByConstruction tries forbidden requests against a server that counts
// requests.
func TestTheSourceIsReadOnlyByConstruction(t *testing.T) {
	var reached atomic.Int32
	server := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { reached.Add(1) }))
	defer server.Close()
	client, err := rest.HTTPClientFor(OnlyReading(&rest.Config{Host: server.URL}))
	if err != nil {
		t.Fatal(err)
	}
	for _, request := range []string{
		"POST /api/v1/nodes", "PUT /api/v1/nodes/n", "PATCH /api/v1/nodes/n", "DELETE /api/v1/nodes/n", "DELETE /api/v1/namespaces/a/pods",
		"POST /apis/authorization.k8s.io/v1/selfsubjectaccessreviews",
		"GET /api/v1/secrets", "GET /api/v1/namespaces/a/secrets", "GET /api/v1/namespaces/a/secrets/s", "GET /api/v1/secrets?watch=true",
		"GET /api/v1/watch/secrets", "GET /apis/example.com/v1/secrets", "GET //api/v1/secrets", "GET /api/v1/namespaces/a/pods/../secrets",
		"GET /api/v1/namespaces/a/pods/p/exec?command=rm", "GET /api/v1/namespaces/a/pods/p/log", "GET /api/v1/nodes/n/proxy/run",
		"GET /api/v1/namespaces/a/services/s/proxy", "GET /api/v1/proxy/nodes/n", "GET /metrics", "GET /logs/kubelet.log", "GET /debug/pprof/heap",
	} {
		method, path, _ := strings.Cut(request, " ")
		q, err := http.NewRequestWithContext(t.Context(), method, server.URL+path, nil)
		if err != nil {
			t.Fatal(err)
		}
		response, err := client.Do(q)
		if response != nil {
			_ = response.Body.Close()
		}
		if refused := (*refusedError)(nil); !errors.As(err, &refused) {
			t.Errorf("%s: got %v, want it refused", request, err)
		}
	}
	if n := reached.Load(); n != 0 {
		t.Errorf("%d requests have reached the source", n)
	}
	for _, path := range []string{"/api", "/apis", "/api/v1", "/apis/apps/v1", "/api/v1/pods?limit=500", "/api/v1/namespaces/a/pods?watch=true", "/api/v1/namespaces?limit=1"} {
		q, err := http.NewRequestWithContext(t.Context(), http.MethodGet, server.URL+path, nil)
		if err != nil {
			t.Fatal(err)
		}
		response, err := client.Do(q)
		if err != nil {
			t.Errorf("GET %s: %v", path, err)
			continue
		}
		_ = response.Body.Close()
	}
	if n := reached.Load(); n != 7 {
		t.Errorf("%d requests have reached the source, want 7", n)
	}
}

func TestWhatIsWrongWithASource(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	good := write("good", `{apiVersion: v1, kind: Config, current-context: a, clusters: [{name: c, cluster: {server: "https://x"}}],
users: [{name: u, user: {}}], contexts: [{name: a, context: {cluster: c, user: u}}, {name: b, context: {cluster: c, user: u}}]}`)
	for _, tt := range []struct {
		name string
		o    SourceOptions
		want string
	}{
		{"good", SourceOptions{Kubeconfig: good}, ""},
		{"no file", SourceOptions{Kubeconfig: filepath.Join(dir, "none")}, "reading the source's kubeconfig: "},
		{"no YAML", SourceOptions{Kubeconfig: write("bad", "{")}, "reading the source's kubeconfig: "},
		{"empty", SourceOptions{Kubeconfig: write("empty", "")}, "has no current context; say which to use of none"},
		{"no such context", SourceOptions{Kubeconfig: good, Context: "z"}, `has no context "z"; it has a, b`},
		{"no namespace", SourceOptions{Kubeconfig: good, Selection: Selection{Namespaces: []string{"A_B"}}}, `the source's namespace "A_B": `},
		{"no selector", SourceOptions{Kubeconfig: good, Selection: Selection{Pods: "a=b=c"}}, "the selector for the source's pods: "},
		{"no rate", SourceOptions{Kubeconfig: good, QPS: -1}, "the requests per second to the source are negative"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			_, err := NewSource(tt.o)
			if (err == nil) != (tt.want == "") || err != nil && !strings.Contains(err.Error(), tt.want) {
				t.Errorf("got %v, want %q", err, tt.want)
			}
		})
	}
}

// TestTheSourceIsAskedKindly: after a burst, requests stay at the configured rate.
func TestTheSourceIsAskedKindly(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(w, `{"apiVersion":"v1","kind":"PodList","items":[]}`)
	}))
	defer server.Close()
	s := &Source{options: SourceOptions{QPS: DefaultQPS}, config: &rest.Config{Host: server.URL}}
	client, err := dynamic.NewForConfig(s.clientConfig())
	if err != nil {
		t.Fatal(err)
	}
	const after = 5 // of the burst
	begin := time.Now()
	for range 2*DefaultQPS + after {
		if _, err := client.Resource(corev1.SchemeGroupVersion.WithResource("pods")).List(t.Context(), metav1.ListOptions{}); err != nil {
			t.Fatal(err)
		}
	}
	if d := time.Since(begin); d < (after-1)*time.Second/DefaultQPS {
		t.Errorf("%d requests took %s", 2*DefaultQPS+after, d)
	}
}
