package server

import (
	"compress/gzip"
	"io"
	"strings"
	"testing"
)

func TestPage(t *testing.T) {
	h := serve(t, Options{})
	const immutable, revalidate = "public, max-age=31536000, immutable", "no-cache"
	for _, tc := range []struct {
		path, contentType, caching, begins string
	}{
		{"/", "text/html; charset=utf-8", revalidate, "<title>"},
		{"/index.html", "text/html; charset=utf-8", revalidate, "<title>"},
		{"/pods/default/web.v1", "text/html; charset=utf-8", revalidate, "<title>"},
		{"/../../etc/passwd", "text/html; charset=utf-8", revalidate, "<title>"},
		{"/favicon.svg", "image/svg+xml", revalidate, "<svg/>"},
		{"/assets/app-1a2b.js", "text/javascript; charset=utf-8", immutable, "go()"},
		{"/assets/app-1a2b.css", "text/css; charset=utf-8", immutable, "p{}"},
	} {
		a := h.get(tc.path)
		want(t, tc.path, a.StatusCode, 200)
		want(t, tc.path, a.Header.Get("Content-Type"), tc.contentType)
		want(t, tc.path, a.Header.Get("Cache-Control"), tc.caching)
		want(t, tc.path, strings.HasPrefix(a.body, tc.begins), true)
	}
}

func TestPageIsCompressedAndRevalidated(t *testing.T) {
	h := serve(t, Options{})
	plain, packed := h.get("/"), h.get("/", "Accept-Encoding: br, gzip")
	want(t, "encoding", packed.Header.Get("Content-Encoding"), "gzip")
	r, err := gzip.NewReader(strings.NewReader(packed.body))
	if err != nil {
		t.Fatal(err)
	}
	data, _ := io.ReadAll(r)
	want(t, "content", string(data), plain.body)
	want(t, "small files", h.get("/favicon.svg", "Accept-Encoding: gzip").Header.Get("Content-Encoding"), "")

	want(t, "known", h.get("/", "If-None-Match: "+plain.Header.Get("ETag")).StatusCode, 304)
	want(t, "known in another form", h.get("/", "If-None-Match: "+packed.Header.Get("ETag")).StatusCode, 200)
}

func TestSecurityHeaders(t *testing.T) {
	h := serve(t, Options{})
	for _, path := range []string{"/", "/pods", "/favicon.svg"} {
		header := h.get(path).Header
		want(t, path, header.Get("X-Content-Type-Options"), "nosniff")
		want(t, path, header.Get("Referrer-Policy"), "no-referrer")
		policy := header.Get("Content-Security-Policy")
		for _, part := range []string{"default-src 'self'", "frame-ancestors 'none'", "style-src 'self' 'unsafe-inline'"} {
			if !strings.Contains(policy, part) {
				t.Errorf("%s: no %q in %q", path, part, policy)
			}
		}
	}
}
