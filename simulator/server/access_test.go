package server

import (
	"context"
	"net"
	"net/http"
	"strings"
	"testing"

	"github.com/gorilla/websocket"
)

func TestCheckListen(t *testing.T) {
	for _, tc := range []struct {
		addr, token string
		ok          bool
	}{
		{"127.0.0.1:1212", "", true},
		{"localhost:0", "", true},
		{"[::1]:1212", "", true},
		{"127.1.2.3:1", "", true},
		{"0.0.0.0:1212", "", false},
		{":1212", "", false},
		{"[::]:1212", "", false},
		{"192.0.2.1:1212", "", false},
		{"example.com:1212", "", false},
		{"0.0.0.0:1212", "secret", true},
		{"1212", "secret", false},
	} {
		if err := CheckListen(tc.addr, tc.token); (err == nil) != tc.ok {
			t.Errorf("%q with token %q: %v", tc.addr, tc.token, err)
		}
	}
}

func TestHostAndOrigin(t *testing.T) {
	h := serve(t, Options{})
	h.attach(nil, nil)
	_, port, _ := net.SplitHostPort(h.host)
	const api, proxy, page = "/api/v1/status", "/kubernetes/api", "/"
	for _, tc := range []struct {
		path    string
		headers string
		code    int
	}{
		{api, "", 200},
		{api, "Host: localhost:PORT", 200},
		{api, "Host: LOCALHOST:PORT", 200},
		{api, "Host: [::1]:PORT", 200},
		{api, "Host: localhost", 403},
		{api, "Host: localhost:1", 403},
		{api, "Host: evil.example:PORT", 403},
		{api, "Host: localhost.evil.example:PORT", 403},
		{proxy, "Host: evil.example:PORT", 403},
		{page, "Host: evil.example:PORT", 403},
		{"/healthz", "Host: evil.example:PORT", 403},

		{api, "Origin: http://127.0.0.1:PORT", 200},
		{api, "Origin: http://localhost:PORT", 403},
		{api, "Origin: https://127.0.0.1:PORT", 403},
		{api, "Origin: http://127.0.0.1:1", 403},
		{api, "Origin: http://evil.example", 403},
		{api, "Origin: null", 403},
		{proxy, "Origin: http://evil.example", 403},
		{"/api/v1/watch", "Origin: http://evil.example", 403},

		{api, "Sec-Fetch-Site: same-origin", 200},
		{api, "Sec-Fetch-Site: none", 200},
		{api, "Sec-Fetch-Site: same-site", 403},
		{api, "Sec-Fetch-Site: cross-site", 403},
		{proxy, "Sec-Fetch-Site: cross-site", 403},
		{page, "Sec-Fetch-Site: cross-site", 200},
	} {
		var headers []string
		if tc.headers != "" {
			headers = append(headers, strings.ReplaceAll(tc.headers, "PORT", port))
		}
		a := h.get(tc.path, headers...)
		want(t, tc.path+" "+tc.headers, a.StatusCode, tc.code)
		if tc.code == 403 {
			a.message(t)
		}
	}
	_, response, err := websocket.DefaultDialer.Dial("ws://"+h.host+watchPath, http.Header{"Origin": {"http://evil.example"}})
	if err == nil || response.StatusCode != 403 {
		t.Errorf("a WebSocket from elsewhere: %v", err)
	}
}

// TestEqual: equal compares digests of one length in constant time, so its duration tells
// nothing about how much of a guess is right or how long the token is.
func TestEqual(t *testing.T) {
	const token = "open-sesame"
	for guess, want := range map[string]bool{
		token: true, "": false, "o": false, "open-sesam": false, "open-sesame ": false, "open-sesame\x00": false, "OPEN-SESAME": false, "open-sesamf": false,
	} {
		if got := equal(digest(token), guess); got != want {
			t.Errorf("%q: %t", guess, got)
		}
		if len(digest(guess)) != len(digest(token)) {
			t.Errorf("the digest of %q is of another length", guess)
		}
	}
}

func TestWeakTokens(t *testing.T) {
	for token, strong := range map[string]bool{"": false, "a": false, "fifteen letters": false, "sixteen letters!": true} {
		if err := CheckToken(token); (err == nil) != strong {
			t.Errorf("%q: %v", token, err)
		}
	}
}

func TestToken(t *testing.T) {
	h := serve(t, Options{Token: "sesame"})
	for _, path := range []string{"/", "/healthz", "/metrics", "/api/v1/status", "/api/v1/watch", "/kubernetes/api", "/nodes"} {
		a := h.get(path)
		want(t, path, a.StatusCode, 401)
		a.message(t)
	}
	want(t, "right", h.get("/api/v1/status", "Authorization: Bearer sesame").StatusCode, 200)
	want(t, "wrong", h.get("/api/v1/status", "Authorization: Bearer sesam").StatusCode, 401)
	want(t, "basic", h.get("/api/v1/status", "Authorization: Basic sesame").StatusCode, 401)
	want(t, "right, of elsewhere", h.get("/api/v1/status", "Authorization: Bearer sesame", "Host: evil.example").StatusCode, 403)
	want(t, "in the query of the API", h.get("/api/v1/status?token=sesame").StatusCode, 401)
	want(t, "wrong in the query", h.get("/?token=open").StatusCode, 401)

	a := h.get("/pods/a?token=sesame&view=wide")
	want(t, "visit", a.StatusCode, 303)
	want(t, "sent on to", a.Header.Get("Location"), "/pods/a?view=wide")
	cookie := a.Cookies()[0]
	want(t, "cookie", []any{cookie.HttpOnly, cookie.SameSite, strings.Contains(cookie.Value, "sesame")}, []any{true, http.SameSiteStrictMode, false})
	want(t, "with the cookie", h.get("/api/v1/status", "Cookie: "+cookie.Name+"="+cookie.Value).StatusCode, 200)
	want(t, "with the token as cookie", h.get("/api/v1/status", "Cookie: "+cookie.Name+"=sesame").StatusCode, 401)

	want(t, "without TLS", cookie.Secure, false)
	want(t, "behind a proxy with TLS", h.get("/?token=sesame", "X-Forwarded-Proto: https").Cookies()[0].Secure, true)

	want(t, "sent nowhere else", h.get("//evil.example/?token=sesame").Header.Get("Location"), "/evil.example/")
}

// TestOffLoopback: with the token, any host name is accepted.
func TestOffLoopback(t *testing.T) {
	l, err := net.Listen("tcp", "0.0.0.0:0")
	if err != nil {
		t.Fatal(err)
	}
	h := &harness{Server: New(Options{Token: "sesame", Assets: testAssets}), t: t}
	_, port, _ := net.SplitHostPort(l.Addr().String())
	h.host = "127.0.0.1:" + port
	h.url = "http://" + h.host
	served := make(chan error, 1)
	go func() { served <- h.Serve(l) }()

	const bearer = "Authorization: Bearer sesame"
	want(t, "without", h.get("/api/v1/status", "Host: sim.example").StatusCode, 401)
	want(t, "with", h.get("/api/v1/status", "Host: sim.example", bearer).StatusCode, 200)
	want(t, "behind a proxy that ends TLS", h.get("/api/v1/status", "Host: sim.example", "Origin: https://sim.example", bearer).StatusCode, 200)
	want(t, "from elsewhere", h.get("/api/v1/status", "Host: sim.example", "Origin: https://evil.example", bearer).StatusCode, 403)
	want(t, "compressed", h.get("/api/v1/openapi.json", bearer, "Accept-Encoding: gzip").Header.Get("Content-Encoding"), "gzip")

	if err := h.Shutdown(context.Background()); err != nil {
		t.Fatal(err)
	}
	if err := <-served; err != nil {
		t.Fatal(err)
	}
}
