package server

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

// asFakeAPI serves handler as the API server.
func asFakeAPI(t *testing.T, handler http.HandlerFunc) *httptest.Server {
	s := httptest.NewServer(handler)
	t.Cleanup(s.Close)
	return s
}

// newDrain returns an API server that only reads bodies.
func newDrain(t *testing.T) *httptest.Server {
	return asFakeAPI(t, func(w http.ResponseWriter, r *http.Request) {
		io.Copy(io.Discard, r.Body)
	})
}

func TestProxyPassesRequests(t *testing.T) {
	var seen *http.Request
	var body string
	api := asFakeAPI(t, func(w http.ResponseWriter, r *http.Request) {
		data, _ := io.ReadAll(r.Body)
		seen, body = r, string(data)
		w.Header().Set("Set-Cookie", "a=b")
		w.Header().Set("Warning", `299 - "deprecated"`)
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(http.StatusUnprocessableEntity)
		fmt.Fprint(w, `{"kind":"Status","reason":"Invalid"}`)
	})
	h := serve(t, Options{})
	h.attach(api, nil)
	a := h.do(http.MethodPatch, "/kubernetes/apis/apps/v1/namespaces/x/deployments/a%2Fb?dryRun=All", "a: b",
		"Accept: application/json;as=Table;v=v1;g=meta.k8s.io", "Content-Type: application/apply-patch+yaml",
		"Authorization: Bearer mine", "Cookie: c=d", "Origin: "+h.url,
		"Impersonate-User: root", "Impersonate-Extra-Scopes: x", "X-Remote-User: root", "X-Remote-Group: system:masters")

	want(t, "code", a.StatusCode, 422)
	want(t, "body", a.body, `{"kind":"Status","reason":"Invalid"}`)
	want(t, "cookie", a.Header.Get("Set-Cookie"), "")
	want(t, "warning", a.Header.Get("Warning"), `299 - "deprecated"`)
	want(t, "nosniff", a.Header.Values("X-Content-Type-Options"), []string{"nosniff"})
	want(t, "address", seen.RequestURI, "/apis/apps/v1/namespaces/x/deployments/a%2Fb?dryRun=All")
	want(t, "method", seen.Method, http.MethodPatch)
	want(t, "body passed", body, "a: b")
	passed := map[string]string{}
	for _, name := range []string{"Accept", "Content-Type", "Authorization", "Cookie", "Origin", "Impersonate-User", "Impersonate-Extra-Scopes", "X-Remote-User", "X-Remote-Group"} {
		if v := seen.Header.Get(name); v != "" {
			passed[name] = v
		}
	}
	want(t, "headers passed", passed, map[string]string{
		"Accept":        "application/json;as=Table;v=v1;g=meta.k8s.io",
		"Content-Type":  "application/apply-patch+yaml",
		"Authorization": "Bearer admin",
	})
}

// TestProxyStreamsWatches: events arrive while the watch continues, and the watch ends
// with the server.
func TestProxyStreamsWatches(t *testing.T) {
	next := make(chan string)
	api := asFakeAPI(t, func(w http.ResponseWriter, r *http.Request) {
		for {
			w.(http.Flusher).Flush()
			select {
			case event := <-next:
				fmt.Fprintln(w, event)
			case <-r.Context().Done():
				return
			}
		}
	})
	h := serve(t, Options{})
	h.attach(api, nil)
	response, err := plainClient.Get(h.url + "/kubernetes/api/v1/pods?watch=true")
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	lines := bufio.NewReader(response.Body)
	for _, event := range []string{"one", "two"} {
		next <- event
		line, err := lines.ReadString('\n')
		if err != nil {
			t.Fatal(err)
		}
		want(t, "event", line, event+"\n")
	}
	if err := h.Shutdown(context.Background()); err != nil {
		t.Fatal(err)
	}
	if _, err := lines.ReadString('\n'); err == nil {
		t.Error("the watch continues after Shutdown")
	}
}

func TestProxyRefusesUpgrades(t *testing.T) {
	h := serve(t, Options{})
	h.attach(newDrain(t), nil)
	a := h.get("/kubernetes/api/v1/namespaces/x/pods/p/exec", "Connection: Upgrade", "Upgrade: SPDY/3.1")
	want(t, "code", a.StatusCode, 501)
	if !strings.Contains(a.message(t), "use the kubeconfig") {
		t.Error(a.body)
	}
}
