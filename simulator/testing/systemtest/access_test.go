package systemtest

import (
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gorilla/websocket"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"kube-scheduler-simulator/simulator/testing/clustertest"
)

// TestStrangers sends requests with the Origin of other web sites, and for other host names.
func TestStrangers(t *testing.T) {
	p := start(t, newHome(t))
	address := strings.TrimPrefix(p.url, "http://")
	_, port, err := net.SplitHostPort(address)
	if err != nil {
		t.Fatal(err)
	}
	routes := p.routes(t)
	for _, stranger := range []struct {
		name   string
		change func(*http.Request)
	}{
		{"another site", func(r *http.Request) { r.Header.Set("Origin", "http://evil.example") }},
		{"another site over TLS", func(r *http.Request) { r.Header.Set("Origin", "https://"+address) }},
		{"a site of no name", func(r *http.Request) { r.Header.Set("Origin", "null") }},
		{"another port", func(r *http.Request) { r.Header.Set("Origin", "http://127.0.0.1:1") }},
		{"two origins", func(r *http.Request) { r.Header["Origin"] = []string{p.url, "http://evil.example"} }},
		{"a form of another site", func(r *http.Request) {
			r.Header.Set("Origin", "http://evil.example")
			r.Header.Set("Content-Type", "text/plain")
		}},
		{"a rebound name", func(r *http.Request) { r.Host = "evil.example:" + port }},
		{"a rebound name without a port", func(r *http.Request) { r.Host = "evil.example" }},
		{"a name that begins with ours", func(r *http.Request) { r.Host = "localhost.evil.example:" + port }},
		{"a name with an address in it", func(r *http.Request) { r.Host = "127.0.0.1:" + port + ".evil.example" }},
		{"our name at another port", func(r *http.Request) { r.Host = "127.0.0.1:1" }},
	} {
		t.Run(stranger.name, func(t *testing.T) {
			for _, route := range routes {
				p.wantRefused(t, route, http.StatusForbidden, stranger.change)
			}
		})
	}
	// Browsers send no Origin when a page loads a picture.
	t.Run("a picture of another site", func(t *testing.T) {
		for _, route := range routes {
			if route.method == http.MethodGet && strings.HasPrefix(route.path, "/api/") {
				p.wantRefused(t, route, http.StatusForbidden, func(r *http.Request) { r.Header.Set("Sec-Fetch-Site", "cross-site") })
			}
		}
	})
	t.Run("WebSockets", func(t *testing.T) {
		for origin, want := range map[string]int{"http://evil.example": http.StatusForbidden, "null": http.StatusForbidden, p.url: http.StatusSwitchingProtocols, "": http.StatusSwitchingProtocols} {
			header := http.Header{}
			if origin != "" {
				header.Set("Origin", origin)
			}
			if got := p.upgrade(t, header); got != want {
				t.Errorf("from %q: %d, want %d", origin, got, want)
			}
		}
	})
	t.Run("none of it had an effect", func(t *testing.T) {
		var list struct{ Items []revision }
		if err := p.get(configurationURL+"/revisions", &list); err != nil || len(list.Items) != 1 {
			t.Errorf("%d revisions, %v", len(list.Items), err)
		}
		if _, err := p.client.CoreV1().ConfigMaps(namespace).Get(t.Context(), "evil", metav1.GetOptions{}); !apierrors.IsNotFound(err) {
			t.Errorf("the object: %v", err)
		}
	})
}

// route is a method and a path of the HTTP API.
type route struct{ method, path string }

var parameter = regexp.MustCompile(`\{[^}]*\}`)

// routes returns every route in the program's OpenAPI document.
func (p *program) routes(t *testing.T, change ...func(*http.Request)) []route {
	t.Helper()
	a, err := p.request(http.MethodGet, "/api/v1/openapi.json", nil, func(r *http.Request) {
		for _, f := range change {
			f(r)
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	var document struct {
		Paths map[string]map[string]any `json:"paths"`
	}
	if err := json.Unmarshal(a.body, &document); err != nil {
		t.Fatal(err)
	}
	methods := []string{http.MethodGet, http.MethodPut, http.MethodPost, http.MethodPatch, http.MethodDelete}
	var routes []route
	for path, operations := range document.Paths {
		path = strings.ReplaceAll(path, "/kubernetes/{path}", "/kubernetes/api/v1/namespaces/"+namespace+"/configmaps")
		path = strings.ReplaceAll(path, "/branches/{name}/{path}", "/branches/{name}/kubernetes/api/v1/namespaces/"+namespace+"/configmaps")
		path = parameter.ReplaceAllString(path, "1")
		for method := range operations {
			if method = strings.ToUpper(method); slices.Contains(methods, method) {
				routes = append(routes, route{method, path})
			}
		}
	}
	if len(routes) < 20 {
		t.Fatalf("only %d routes", len(routes))
	}
	slices.SortFunc(routes, func(a, b route) int { return strings.Compare(a.path+a.method, b.path+b.method) })
	return routes
}

// evil is a body that would change the cluster if a route accepted it.
const evil = `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"evil"}}`

func (p *program) wantRefused(t *testing.T, r route, code int, change func(*http.Request)) {
	t.Helper()
	a, err := p.request(r.method, r.path, strings.NewReader(evil), change)
	if err != nil {
		t.Error(err)
		return
	}
	if refused := readRefusal(a); !isRefusal(refused, code) {
		t.Errorf("%s %s: %v; want %d", r.method, r.path, refused, code)
	}
}

// upgrade tries to open a WebSocket and returns the status of the answer.
func (p *program) upgrade(t *testing.T, header http.Header) int {
	t.Helper()
	ws, response, err := websocket.DefaultDialer.Dial("ws"+strings.TrimPrefix(p.url, "http")+"/api/v1/watch", header)
	if err == nil {
		ws.Close()
	}
	if response == nil {
		t.Fatal(err)
	}
	return response.StatusCode
}

// TestOffLoopback: a program that listens off loopback refuses every request without its token.
func TestOffLoopback(t *testing.T) {
	const token = "open-sesame-8f2c41"
	h := newHome(t)
	file := filepath.Join(h.tmp, "token")
	if err := os.WriteFile(file, []byte(token+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	p := start(t, h, "--listen", "0.0.0.0:0", "--token-file", file)
	_, port, err := net.SplitHostPort(strings.TrimPrefix(p.url, "http://"))
	if err != nil {
		t.Fatal(err)
	}
	p.url = "http://127.0.0.1:" + port
	bearer := func(token string) func(*http.Request) {
		return func(r *http.Request) { r.Header.Set("Authorization", "Bearer "+token) }
	}
	cookie := p.visit(t, token)
	withCookie := func(value string) func(*http.Request) {
		return func(r *http.Request) { r.AddCookie(&http.Cookie{Name: cookie.Name, Value: value}) }
	}

	routes := p.routes(t, bearer(token))
	for name, change := range map[string]func(*http.Request){
		"no token":              nil,
		"a wrong one":           bearer("open-sesame-8f2c42"),
		"the beginning":         bearer(token[:len(token)-1]),
		"more than the token":   bearer(token + "1"),
		"an empty one":          bearer(""),
		"another scheme":        func(r *http.Request) { r.SetBasicAuth("", token) },
		"in a query":            func(r *http.Request) { r.URL.RawQuery = "x=1&access_token=" + token },
		"as a cookie":           withCookie(token),
		"a wrong cookie":        withCookie(strings.Repeat("0", len(cookie.Value))),
		"a cookie's beginning":  withCookie(cookie.Value[:10]),
		"the name of an option": func(r *http.Request) { r.Header.Set("X-Token", token) },
	} {
		t.Run(name, func(t *testing.T) {
			for _, route := range routes {
				p.wantRefused(t, route, http.StatusUnauthorized, change)
			}
			header := http.Header{}
			if change != nil {
				r, err := http.NewRequest(http.MethodGet, p.url, nil)
				if err != nil {
					t.Fatal(err)
				}
				change(r)
				header = r.Header
			}
			if got := p.upgrade(t, header); got != http.StatusUnauthorized {
				t.Errorf("a WebSocket: %d", got)
			}
		})
	}
	for name, change := range map[string]func(*http.Request){
		"the token": bearer(token), "the cookie": withCookie(cookie.Value),
		"the token, by another name": func(r *http.Request) { bearer(token)(r); r.Host = "sim.example" },
	} {
		if a, err := p.request(http.MethodGet, "/api/v1/status", nil, change); err != nil || a.status != http.StatusOK {
			t.Errorf("with %s: %d, %v", name, a.status, err)
		}
	}
	// A browser sends the cookie with requests of other sites, too.
	t.Run("another site with the cookie", func(t *testing.T) {
		for _, route := range routes {
			p.wantRefused(t, route, http.StatusForbidden, func(r *http.Request) {
				withCookie(cookie.Value)(r)
				r.Header.Set("Origin", "http://evil.example")
			})
		}
	})
}

// visit exchanges the token for a cookie, as a browser does.
func (p *program) visit(t *testing.T, token string) *http.Cookie {
	t.Helper()
	a, err := p.request(http.MethodGet, "/?token="+token, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	cookies := (&http.Response{Header: a.header}).Cookies()
	if a.status != http.StatusSeeOther || len(cookies) != 1 {
		t.Fatalf("the visit got %d and %v", a.status, cookies)
	}
	c := cookies[0]
	if !c.HttpOnly || c.SameSite != http.SameSiteStrictMode || c.Path != "/" || strings.Contains(c.Value, token) || strings.Contains(a.header.Get("Location"), token) {
		t.Errorf("the cookie is %v, and the redirect goes to %q", c, a.header.Get("Location"))
	}
	return c
}

// TestRefusesToStart: the program does not listen off loopback without a token.
func TestRefusesToStart(t *testing.T) {
	h := newHome(t)
	short := filepath.Join(h.tmp, "short")
	if err := os.WriteFile(short, []byte("a\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for name, flags := range map[string][]string{
		"every address":        {"--listen", "0.0.0.0:0"},
		"no address":           {"--listen", ":0"},
		"every IPv6 address":   {"--listen", "[::]:0"},
		"an empty token":       {"--listen", "0.0.0.0:0", "--token-file", os.DevNull},
		"a short token":        {"--listen", "0.0.0.0:0", "--token-file", short},
		"a token that is gone": {"--listen", "0.0.0.0:0", "--token-file", filepath.Join(h.tmp, "none")},
	} {
		t.Run(name, func(t *testing.T) {
			begin := time.Now()
			command := exec.Command(clustertest.Program(), append(flags, "--data-dir", h.data)...)
			var said strings.Builder
			command.Stderr = &said
			out, err := command.Output()
			if command.ProcessState.ExitCode() != 1 || len(out) > 0 || strings.Count(said.String(), "\n") != 1 || !strings.Contains(said.String(), "token") {
				t.Errorf("after %v: %v, %q, %q", time.Since(begin), err, out, said.String())
			}
		})
	}
}

// isAnswer reports whether a path answers with something else than the application.
func isAnswer(path string) bool {
	return strings.HasPrefix(path, "/api/") || strings.HasPrefix(path, "/kubernetes/") || path == "/healthz" || path == "/metrics"
}

// TestPagesAndPaths: every answer has the security headers, and no path leads out of the
// application.
func TestPagesAndPaths(t *testing.T) {
	p := start(t, newHome(t))
	t.Run("headers", func(t *testing.T) {
		for _, path := range []string{"/", "/pods/a", "/index.html", "/healthz", "/metrics", "/nothing.js", "/api/v1/status", "/api/v1/nothing", "/kubernetes/version", "/kubernetes/nothing"} {
			a, err := p.request(http.MethodGet, path, nil, nil)
			if err != nil {
				t.Fatal(err)
			}
			policy := a.header.Get("Content-Security-Policy")
			parts := []string{"default-src 'self'", "frame-ancestors 'none'", "object-src 'none'", "base-uri 'none'", "form-action 'self'"}
			if isAnswer(path) {
				parts = []string{"default-src 'none'", "sandbox"}
			}
			for _, part := range parts {
				if !strings.Contains(policy, part) {
					t.Errorf("%s: the policy %q lacks %s", path, policy, part)
				}
			}
			if strings.Contains(policy, "unsafe-eval") || strings.Contains(policy, "script-src") {
				t.Errorf("%s: the policy is %q", path, policy)
			}
			for name, want := range map[string]string{
				"X-Content-Type-Options": "nosniff", "Referrer-Policy": "no-referrer", "X-Frame-Options": "DENY", "Cross-Origin-Resource-Policy": "same-origin",
			} {
				if got := a.header.Values(name); len(got) != 1 || got[0] != want {
					t.Errorf("%s: %s is %q", path, name, got)
				}
			}
			if got := a.header.Get("Access-Control-Allow-Origin"); got != "" {
				t.Errorf("%s: open to %s", path, got)
			}
		}
	})
	t.Run("ways out", func(t *testing.T) {
		for _, path := range []string{
			"/../../../../etc/passwd", "/..%2f..%2f..%2f..%2fetc/passwd", "/%2e%2e/%2e%2e/%2e%2e/etc/passwd", "/assets/..%2f..%2f..%2fetc%2fpasswd",
			"/..%5c..%5cetc%5cpasswd", "/assets/../../../etc/passwd", "//etc/passwd", "/.//etc/passwd", "/%00", "/assets/%00/etc/passwd",
			"/kubernetes/../../../etc/passwd", "/kubernetes/..%2f..%2fetc/passwd", "/kubernetes/%2e%2e/api/v1/status",
			"/api/v1/../../../etc/passwd", "/api/v1/results/..%2f..%2fetc%2fpasswd/1", "/api/v1/schedulerconfiguration/revisions/..%2f..%2fkubeconfig",
		} {
			for _, got := range []answer{p.raw(t, path)} {
				if body := string(got.body); strings.Contains(body, "root:") || strings.Contains(body, "client-key-data") {
					t.Errorf("%s: %.200s", path, body)
				}
				if got.status >= 500 {
					t.Errorf("%s: %d %.200s", path, got.status, got.body)
				}
			}
		}
	})
	t.Run("no directory is listed", func(t *testing.T) {
		for _, path := range []string{"/assets", "/assets/", "/assets/.", "/icons/"} {
			if a := p.raw(t, path); strings.Contains(string(a.body), "<pre>") || strings.Contains(string(a.body), "index.html") {
				t.Errorf("%s: %.300s", path, a.body)
			}
		}
	})
	t.Run("nothing for developers", func(t *testing.T) {
		for _, path := range []string{"/debug/pprof/", "/debug/vars", "/debug/flags/v", "/debug/requests"} {
			if a := p.raw(t, path); strings.Contains(string(a.body), "goroutine") || strings.Contains(string(a.body), "memstats") {
				t.Errorf("%s: %d %.100s", path, a.status, a.body)
			}
			if a := p.raw(t, "/kubernetes"+path); a.status != http.StatusNotFound {
				t.Errorf("/kubernetes%s: %d %.100s", path, a.status, a.body)
			}
		}
	})
}

// raw sends a path unchanged. HTTP clients would clean it.
func (p *program) raw(t *testing.T, path string) answer {
	t.Helper()
	a, err := p.request(http.MethodGet, "/", nil, func(r *http.Request) { r.URL.Opaque = path })
	if err != nil {
		t.Fatal(fmt.Errorf("%s: %w", path, err))
	}
	return a
}
