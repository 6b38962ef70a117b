package server

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/gorilla/websocket"

	"kube-scheduler-simulator/simulator/past/branch"
	"kube-scheduler-simulator/simulator/past/clusterdiff"
)

// fakeBranches has the branch a, which runs at target, and the branch stopped.
type fakeBranches struct {
	target branch.Target
	asked  []string
	err    error
}

var _ Branches = (*fakeBranches)(nil)

func (f *fakeBranches) List() []branch.Branch {
	return []branch.Branch{{Name: "a", State: branch.Running}}
}

func (f *fakeBranches) Get(name string) (branch.Branch, error) {
	if name != "a" && name != "stopped" {
		return branch.Branch{}, &branch.Refusal{Reason: branch.Unknown, Message: "there is no branch " + name}
	}
	return branch.Branch{Name: name, State: branch.Running, Path: "/branches/" + name + "/"}, nil
}

func (f *fakeBranches) do(what string) (branch.Branch, error) {
	f.asked = append(f.asked, what)
	return branch.Branch{Name: "a", State: branch.Starting, Path: "/branches/a/"}, f.err
}

func (f *fakeBranches) Create(_ context.Context, q branch.Request) (branch.Branch, error) {
	return f.do("create " + q.Name)
}
func (f *fakeBranches) Start(name string) (branch.Branch, error)      { return f.do("start " + name) }
func (f *fakeBranches) StopBranch(name string) (branch.Branch, error) { return f.do("stop " + name) }

func (f *fakeBranches) Rename(name, to string) (branch.Branch, error) {
	return f.do("rename " + name + " to " + to)
}

func (f *fakeBranches) Retitle(name, title string) (branch.Branch, error) {
	return f.do("retitle " + name + " to " + title)
}

func (f *fakeBranches) WriteState(_ context.Context, name string, w io.Writer) error {
	if _, err := f.do("write " + name); err != nil {
		return err
	}
	_, err := io.WriteString(w, "the state of "+name)
	return err
}

func (f *fakeBranches) Use(string) func() { return func() {} }

func (f *fakeBranches) Delete(name string) error {
	_, err := f.do("delete " + name)
	return err
}

func (f *fakeBranches) Compare(_ context.Context, a, b string) (*clusterdiff.Comparison, error) {
	_, err := f.do("compare " + a + " with " + b)
	return &clusterdiff.Comparison{B: clusterdiff.Side{Name: b}}, err
}

func (f *fakeBranches) Target(name string) (branch.Target, error) {
	if name == "stopped" {
		return branch.Target{}, &branch.Refusal{Reason: branch.NotNow, Message: "the branch stopped is stopped"}
	}
	if _, err := f.Get(name); err != nil {
		return branch.Target{}, err
	}
	return f.target, nil
}

// withBranches serves a trunk whose branch a is a handler.
func withBranches(t *testing.T, opts Options, a http.HandlerFunc) (*harness, *fakeBranches) {
	t.Helper()
	child := httptest.NewServer(a)
	t.Cleanup(child.Close)
	address, err := url.Parse(child.URL)
	if err != nil {
		t.Fatal(err)
	}
	f := &fakeBranches{target: branch.Target{URL: address, Token: "of-the-branch"}}
	h := serve(t, opts)
	h.attach(nil, nil, func(b *Backend) { b.Branches = f })
	return h, f
}

func TestBranchRoutes(t *testing.T) {
	h, f := withBranches(t, Options{}, nil)
	for _, tc := range []struct {
		method, path, body string
		code               int
		want               string
	}{
		{"GET", "/api/v1/branches", "", 200, `{"items":[{"name":"a",`},
		{"POST", "/api/v1/branches", `{"name":"a","objects":[{"kind":"Pod"}]}`, 201, `"state":"starting"`},
		{"POST", "/api/v1/branches", `{"nam":"a"}`, 400, "nam"},
		{"POST", "/api/v1/branches/a/start", "", 200, `"name":"a"`},
		{"POST", "/api/v1/branches/a/stop", "", 200, `"name":"a"`},
		{"GET", "/api/v1/branches/compare?b=a", "", 200, `"b":{"name":"a"`},
		{"PATCH", "/api/v1/branches/a", `{"name":"b"}`, 200, `"name":"a"`},
		{"PATCH", "/api/v1/branches/a", `{"title":"openb"}`, 200, `"name":"a"`},
		{"PATCH", "/api/v1/branches/a", `{"titel":"b"}`, 400, "titel"},
		{"PATCH", "/api/v1/branches/a", `{}`, 400, "want a name or a title"},
		{"POST", "/api/v1/branches/a/promote", `{"title":"before"}`, 501, "cannot import"},
		{"DELETE", "/api/v1/branches/a", "", 204, ""},
		{"GET", "/api/v1/branch", "", 404, "this is not a branch"},
		{"GET", "/branches/a/api/v1/branch", "", 200, `"trunk":"/"`},
		{"GET", "/branches/b/api/v1/branch", "", 404, "there is no branch b"},
	} {
		got := h.do(tc.method, tc.path, tc.body)
		if got.StatusCode != tc.code || !strings.Contains(got.body, tc.want) {
			t.Errorf("%s %s: %d %s", tc.method, tc.path, got.StatusCode, got.body)
		}
	}
	want(t, "what was done", f.asked, []string{"create a", "start a", "stop a", "compare  with a", "rename a to b", "retitle a to openb", "delete a"})
}

// TestPromote: what the simulator had is kept before the import replaces it. A branch that cannot be read changes nothing.
func TestPromote(t *testing.T) {
	f := &fakeBranches{}
	h, _ := serveTransfer(t, &willing{})
	h.backend.Load().Branches = f
	got := h.do("POST", "/api/v1/branches/a/promote", `{"title":"before"}`)
	if got.StatusCode != http.StatusForbidden || !strings.Contains(got.message(t), "cannot empty it") {
		t.Errorf("%d %s: the cluster of the test cannot be emptied", got.StatusCode, got.body)
	}
	want(t, "what was done, and undone", f.asked, []string{"write a", "create ", "delete a"})

	f.asked, f.err = nil, &branch.Refusal{Reason: branch.NotNow, Message: "the branch a is stopped"}
	if got := h.do("POST", "/api/v1/branches/a/promote", `{}`); got.StatusCode != http.StatusConflict || got.message(t) != "the branch a is stopped" {
		t.Errorf("%d %s", got.StatusCode, got.body)
	}
	want(t, "what was done", f.asked, []string{"write a"})
}

func TestBranchRefusals(t *testing.T) {
	h, f := withBranches(t, Options{}, nil)
	for reason, code := range map[branch.Reason]int{branch.Invalid: 400, branch.Unknown: 404, branch.Taken: 409, branch.TooMany: 429, branch.NoRoom: 507, branch.NotNow: 409} {
		f.err = &branch.Refusal{Reason: reason, Message: "no"}
		for _, path := range []string{"POST /api/v1/branches", "POST /api/v1/branches/a/start", "GET /api/v1/branches/compare?b=a"} {
			method, path, _ := strings.Cut(path, " ")
			body := ""
			if path == "/api/v1/branches" {
				body = "{}"
			}
			got := h.do(method, path, body)
			if got.StatusCode != code || got.message(t) != "no" {
				t.Errorf("%s: reason %d: %d %s", path, reason, got.StatusCode, got.body)
			}
		}
	}
	f.err = errors.New("broken")
	if got := h.do("POST", "/api/v1/branches", "{}"); got.StatusCode != 500 {
		t.Errorf("%d %s", got.StatusCode, got.body)
	}
}

func TestABranchHasNoBranches(t *testing.T) {
	h := serve(t, Options{})
	h.attach(nil, nil)
	for _, path := range []string{"/api/v1/branches", "/branches/a/api/v1/status"} {
		if got := h.get(path); got.StatusCode != http.StatusNotImplemented || !strings.Contains(got.message(t), "no branches of its own") {
			t.Errorf("%s: %d %s", path, got.StatusCode, got.body)
		}
	}
}

// TestTheBranchGetsItsOwnRequest: without the prefix and what belongs to this server, and with the branch's token.
func TestTheBranchGetsItsOwnRequest(t *testing.T) {
	const token = "a token of the trunk"
	var got string
	h, _ := withBranches(t, Options{Token: token}, func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		got = strings.Join([]string{r.Method, r.URL.RequestURI(), r.Header.Get("Authorization"), r.Header.Get("Cookie"), r.Header.Get("Origin"),
			r.Header.Get("Sec-Fetch-Site"), r.Header.Get("Impersonate-User"), r.Header.Get("Accept"), string(body)}, "|")
		w.Header().Set("Content-Type", "application/json")
		w.Header().Set("Set-Cookie", "evil=1")
		w.Header().Set("Content-Security-Policy", "sandbox allow-scripts")
		w.WriteHeader(http.StatusTeapot)
		io.WriteString(w, "{}")
	})
	answer := h.do("PATCH", "/branches/a/kubernetes/api/v1/nodes/a%2Fb?force=true", "body", "Authorization: Bearer "+token, "Cookie: x=1",
		"Origin: "+h.url, "Sec-Fetch-Site: same-origin", "Impersonate-User: root", "Accept: application/json")
	want(t, "request", got, "PATCH|/kubernetes/api/v1/nodes/a%2Fb?force=true|Bearer of-the-branch|||||application/json|body")
	want(t, "code", answer.StatusCode, http.StatusTeapot)
	want(t, "cookie", answer.Header.Get("Set-Cookie"), "")
	want(t, "policies", answer.Header.Values("Content-Security-Policy"), []string{"sandbox allow-scripts"})
	want(t, "options", answer.Header.Values("X-Frame-Options"), []string{"DENY"})
}

// TestTheTrunksRulesHoldForBranches: neither another site nor a client without the token reaches a branch.
func TestTheTrunksRulesHoldForBranches(t *testing.T) {
	const token = "a token of the trunk"
	reached := false
	h, _ := withBranches(t, Options{Token: token}, func(http.ResponseWriter, *http.Request) { reached = true })
	for _, tc := range []struct {
		path, header string
		code         int
	}{
		{"/branches/a/api/v1/status", "Accept: */*", 401},
		{"/branches/a/api/v1/status?token=" + url.QueryEscape(token), "Accept: */*", 401},
		{"/branches/a/api/v1/status", "Authorization: Bearer of-the-branch", 401},
		{"/branches/a/kubernetes/api", "Accept: */*", 401},
		{"/branches/a/", "Accept: */*", 401},
		{"/branches/a/api/v1/status", "Host: evil.example", 403},
		{"/branches/a/api/v1/status", "Origin: http://evil.example", 403},
		{"/branches/a/api/v1/status", "Sec-Fetch-Site: cross-site", 403},
		{"/branches/a/api/v1/status", "Sec-Fetch-Site: same-site", 403},
		{"/branches/a/kubernetes/api", "Sec-Fetch-Site: cross-site", 403},
		{"/branches/a/metrics", "Sec-Fetch-Site: cross-site", 403},
	} {
		if got := h.get(tc.path, tc.header); got.StatusCode != tc.code {
			t.Errorf("%s with %q: %d %s", tc.path, tc.header, got.StatusCode, got.body)
		}
	}
	if reached {
		t.Error("a request has reached the branch")
	}
}

func TestPagesOfABranch(t *testing.T) {
	reached := ""
	h, _ := withBranches(t, Options{}, func(_ http.ResponseWriter, r *http.Request) { reached = r.URL.Path })
	for path, wanted := range map[string]int{
		"/branches/a":                     200,
		"/branches/a/":                    200,
		"/branches/a/decisions/default/x": 200,
		"/branches/stopped/":              200,
		"/branches/unknown/":              200, // the page says so
		"/branches/a/branches/b/api/v1":   200, // there is nothing below a branch but its own
	} {
		got := h.get(path, "Sec-Fetch-Site: cross-site")
		if got.StatusCode != wanted || !strings.Contains(got.body, "<title>simulator</title>") || got.Header.Get("Content-Security-Policy") != contentPolicy {
			t.Errorf("%s: %d %s", path, got.StatusCode, got.body)
		}
	}
	if reached != "" {
		t.Errorf("the branch was asked for %s", reached)
	}
	for path, wanted := range map[string]int{
		"/branches/stopped/api/v1/status":     503,
		"/branches/unknown/api/v1/status":     404,
		"/branches/unknown/kubernetes/api/v1": 404,
	} {
		if got := h.get(path); got.StatusCode != wanted || got.message(t) == "" {
			t.Errorf("%s: %d %s", path, got.StatusCode, got.body)
		}
	}
	want(t, "posting to a page", h.do("POST", "/branches/a/decisions", "{}").StatusCode, http.StatusMethodNotAllowed)
}

func TestABranchThatDoesNotAnswer(t *testing.T) {
	h, f := withBranches(t, Options{}, nil)
	f.target.URL = &url.URL{Scheme: "http", Host: "127.0.0.1:1"}
	got := h.get("/branches/a/api/v1/status")
	if got.StatusCode != http.StatusBadGateway || !strings.Contains(got.message(t), "the branch a does not answer") {
		t.Errorf("%d %s", got.StatusCode, got.body)
	}
}

// TestTheWatchOfABranch: frames go both ways, and the stream ends with this server.
func TestTheWatchOfABranch(t *testing.T) {
	ended := make(chan error, 1)
	h, _ := withBranches(t, Options{}, func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != watchPath || r.Header.Get("Authorization") != "Bearer of-the-branch" || r.Header.Get("Origin") != "" {
			t.Errorf("asked for %s with %v", r.URL, r.Header)
		}
		conn, err := (&websocket.Upgrader{}).Upgrade(w, r, nil)
		if err != nil {
			t.Error(err)
			return
		}
		defer conn.Close()
		_, message, err := conn.ReadMessage()
		if err == nil {
			err = conn.WriteMessage(websocket.TextMessage, append([]byte("you said "), message...))
		}
		if err != nil {
			t.Error(err)
		}
		_, _, err = conn.ReadMessage()
		ended <- err
	})
	dial := func(path, origin string) (*websocket.Conn, *http.Response, error) {
		return websocket.DefaultDialer.DialContext(t.Context(), "ws"+strings.TrimPrefix(h.url, "http")+path, http.Header{"Origin": {origin}})
	}
	if _, response, err := dial("/branches/a"+watchPath, "http://evil.example"); err == nil || response.StatusCode != http.StatusForbidden {
		t.Errorf("another site: %v", err)
	}
	if _, response, err := dial("/branches/a/kubernetes/api/v1/namespaces/x/pods/y/exec", h.url); err == nil || response.StatusCode != http.StatusNotImplemented {
		t.Errorf("exec: %v", err)
	}
	conn, _, err := dial("/branches/a"+watchPath, h.url)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	if err := conn.WriteMessage(websocket.TextMessage, []byte("hello")); err != nil {
		t.Fatal(err)
	}
	_, message, err := conn.ReadMessage()
	if diff := cmp.Diff("you said hello", string(message)); err != nil || diff != "" {
		t.Fatal(err, diff)
	}
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	if err := h.Shutdown(ctx); err != nil {
		t.Fatal(err)
	}
	if err := <-ended; err == nil {
		t.Error("the branch still has the stream")
	}
}
