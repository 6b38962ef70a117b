package server

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"kube-scheduler-simulator/simulator/elsewhere/transfer"
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

// TestAnswersRunNothing: what the cluster answers is not a part of the application, even if it
// is a page.
func TestAnswersRunNothing(t *testing.T) {
	api := asFakeAPI(t, func(w http.ResponseWriter, r *http.Request) {
		for name, value := range map[string]string{
			"Content-Security-Policy": "default-src *", "Service-Worker-Allowed": "/", "Clear-Site-Data": `"*"`, "Refresh": "0; url=https://evil.example.com",
			"Location": "https://evil.example.com", "Link": "<https://evil.example.com>; rel=preload", "Access-Control-Allow-Origin": "*",
			"Strict-Transport-Security": "max-age=1", "Content-Type": "text/html", "Audit-Id": "1",
		} {
			w.Header().Set(name, value)
		}
		fmt.Fprint(w, "<script>fetch('/api/v1/reset', {method: 'PUT'})</script>")
	})
	h := serve(t, Options{})
	h.attach(api, nil)
	const sandbox = "sandbox; default-src 'none'"
	for _, path := range []string{"/kubernetes/api/v1/namespaces/x/services/s/proxy/", "/kubernetes/apis/evil.example.com/v1/x", "/api/v1/status", "/api/v1/nothing", "/metrics"} {
		a := h.get(path)
		want(t, path+": policy", a.Header.Values("Content-Security-Policy"), []string{sandbox})
		want(t, path+": sniffing", a.Header.Values("X-Content-Type-Options"), []string{"nosniff"})
	}
	a := h.get("/kubernetes/api/v1/pods")
	for _, name := range []string{"Service-Worker-Allowed", "Clear-Site-Data", "Refresh", "Location", "Link", "Access-Control-Allow-Origin", "Strict-Transport-Security"} {
		want(t, name, a.Header.Get(name), "")
	}
	want(t, "content type", a.Header.Get("Content-Type"), "text/html")
	want(t, "audit ID", a.Header.Get("Audit-Id"), "1")
	if page := h.get("/").Header.Get("Content-Security-Policy"); page == sandbox {
		t.Error("the application may not run either")
	}
}

// TestProxyIgnoresOtherUpgrades: some HTTP clients ask for HTTP/2 with every first request.
func TestProxyIgnoresOtherUpgrades(t *testing.T) {
	var seen http.Header
	api := asFakeAPI(t, func(w http.ResponseWriter, r *http.Request) {
		seen = r.Header
		fmt.Fprint(w, "{}")
	})
	h := serve(t, Options{})
	h.attach(api, nil)
	a := h.get("/kubernetes/api/v1/pods", "Connection: Upgrade, HTTP2-Settings", "Upgrade: h2c", "HTTP2-Settings: AAMAAABkAAQCAAAAAAIAAAAA")
	want(t, "code", a.StatusCode, 200)
	want(t, "body", a.body, "{}")
	want(t, "passed on", seen.Get("Upgrade")+seen.Get("Http2-Settings"), "")
}

// TestBrokenBodies: a body that the client does not send to its end, or not in proper form, is
// the client's mistake.
func TestBrokenBodies(t *testing.T) {
	h := serve(t, Options{})
	h.attach(newDrain(t), nil, func(b *Backend) {
		b.Transfer = &fakeTransfer{Cluster: transfer.New(transfer.Options{Config: b.ClientConfig}), t: t}
		b.Inactive = noneInactive{}
	})
	for _, road := range []string{
		"PUT /api/v1/schedulerconfiguration", "POST /api/v1/import", "POST /api/v1/inactive/activate",
		"POST /kubernetes/api/v1/namespaces", "PATCH /kubernetes/api/v1/nodes/n",
	} {
		for name, body := range map[string]string{"bad chunks": "zz\r\n{}\r\n", "a chunk that is too long": "1\r\n{}\r\n0\r\n\r\n"} {
			code, text := h.raw(road + " HTTP/1.1\r\nHost: " + h.host + "\r\nTransfer-Encoding: chunked\r\n\r\n" + body)
			if code != http.StatusBadRequest || strings.Contains(text, "http:") || !strings.Contains(text, `"message":"the body`) {
				t.Errorf("%s, %s: %d %s", road, name, code, text)
			}
		}
	}
	const part = "--x\r\nContent-Disposition: form-data; name=\"file\"; filename=\"f\"\r\n\r\napiVersion"
	a := h.do(http.MethodPost, "/api/v1/import", part, "Content-Type: multipart/form-data; boundary=x")
	want(t, "an unfinished form", a.StatusCode, http.StatusBadRequest)
}

// raw sends a request as it is, and returns the status and the body of the answer.
func (h *harness) raw(request string) (int, string) {
	h.t.Helper()
	conn, err := net.Dial("tcp", h.host)
	if err != nil {
		h.t.Fatal(err)
	}
	defer conn.Close()
	if _, err := io.WriteString(conn, request); err != nil {
		h.t.Fatal(err)
	}
	response, err := http.ReadResponse(bufio.NewReader(conn), nil)
	if err != nil {
		h.t.Fatal(err)
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	if err != nil {
		h.t.Fatal(err)
	}
	return response.StatusCode, string(body)
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
