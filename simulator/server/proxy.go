package server

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httputil"
	"strings"

	"github.com/labstack/echo/v4"
	"k8s.io/client-go/rest"
)

var proxiedMethods = []string{
	http.MethodGet, http.MethodHead, http.MethodOptions,
	http.MethodPost, http.MethodPut, http.MethodPatch, http.MethodDelete,
}

func (s *Server) proxy(c echo.Context) error {
	b, err := s.require()
	if err != nil {
		return err
	}
	header := c.Request().Header
	if upgrade := header.Get("Upgrade"); isStream(upgrade) {
		return refuse(http.StatusNotImplemented, "the proxy does not support exec, attach and port-forward; use the kubeconfig")
	}
	release, err := s.buffered(c.Request())
	if err != nil {
		return err
	}
	defer release()
	// A server may ignore all others, such as h2c, and answer as if nobody had asked for an
	// upgrade.
	header.Del("Upgrade")
	b.proxy.ServeHTTP(c.Response(), c.Request())
	return nil
}

// isStream reports whether a client asks for one of the protocols of exec, attach and port-forward.
func isStream(upgrade string) bool {
	for protocol := range strings.SplitSeq(upgrade, ",") {
		name, _, _ := strings.Cut(strings.TrimSpace(protocol), "/")
		if strings.EqualFold(name, "websocket") || strings.EqualFold(name, "SPDY") {
			return true
		}
	}
	return false
}

// passedHeaders are the headers of the API server's answers that reach a client. Others would take
// effect for this server's whole origin, such as Set-Cookie, Clear-Site-Data and
// Service-Worker-Allowed, or send the browser elsewhere, such as Refresh and Location. setHeaders
// sets those that protect the client.
var passedHeaders = map[string]bool{
	"Allow": true, "Audit-Id": true, "Cache-Control": true, "Content-Disposition": true, "Content-Encoding": true,
	"Content-Length": true, "Content-Type": true, "Date": true, "Etag": true, "Last-Modified": true, "Retry-After": true,
	"Vary": true, "Warning": true, "X-Kubernetes-Pf-Flowschema-Uid": true, "X-Kubernetes-Pf-Prioritylevel-Uid": true,
}

// newProxy returns a handler that forwards requests below proxyPrefix to the API server with the
// credentials of config and no others. Watches end when closing does.
func newProxy(config *rest.Config, closing context.Context) (http.Handler, error) {
	config = rest.CopyConfig(config)
	// The client itself decides about compression.
	config.DisableCompression = true
	transport, err := newProxyTransport(config)
	if err != nil {
		return nil, fmt.Errorf("preparing the proxy's transport: %w", err)
	}
	target, _, err := rest.DefaultServerUrlFor(config)
	if err != nil {
		return nil, fmt.Errorf("preparing the proxy's target: %w", err)
	}
	proxy := &httputil.ReverseProxy{
		Transport:     transport,
		FlushInterval: -1,
		Rewrite: func(r *httputil.ProxyRequest) {
			r.Out.URL.Path = strings.TrimPrefix(r.Out.URL.Path, proxyPrefix)
			r.Out.URL.RawPath = strings.TrimPrefix(r.Out.URL.RawPath, proxyPrefix)
			r.SetURL(target)
			dropIdentity(r.Out.Header)
		},
		ModifyResponse: func(r *http.Response) error {
			for name := range r.Header {
				if !passedHeaders[name] {
					delete(r.Header, name)
				}
			}
			return nil
		},
		ErrorHandler: answerProxyError("the Kubernetes API server does not answer"),
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		r, release := untilClosing(r, closing)
		defer release()
		proxy.ServeHTTP(w, r)
	}), nil
}

// The request also ends with closing if it is endless.
func untilClosing(r *http.Request, closing context.Context) (_ *http.Request, release func()) {
	if !isEndless(r) {
		return r, func() {}
	}
	ctx, cancel := context.WithCancel(r.Context())
	stop := context.AfterFunc(closing, cancel)
	return r.WithContext(ctx), func() {
		stop()
		cancel()
	}
}

// proxyTransport sends ordinary requests over shared connections, and each watch over a separate
// connection.
type proxyTransport struct{ ending, endless http.RoundTripper }

// newProxyTransport returns a transport that buffers almost nothing for watches. HTTP/2 would
// buffer megabytes for each watch whose client does not read. On a separate connection, such a
// watch blocks the API server's writes, and the API server ends it after a while.
func newProxyTransport(config *rest.Config) (*proxyTransport, error) {
	ending, err := rest.TransportFor(config)
	if err != nil {
		return nil, err
	}
	config = rest.CopyConfig(config)
	config.NextProtos = []string{"http/1.1"}
	endless, err := rest.TransportFor(config)
	if err != nil {
		return nil, err
	}
	return &proxyTransport{ending: ending, endless: endless}, nil
}

var _ http.RoundTripper = (*proxyTransport)(nil)

func (t *proxyTransport) RoundTrip(r *http.Request) (*http.Response, error) {
	if isEndless(r) {
		return t.endless.RoundTrip(r)
	}
	return t.ending.RoundTrip(r)
}

// dropIdentity removes every header with which a client could claim another identity, and those
// meant for this server.
func dropIdentity(h http.Header) {
	for name := range h {
		switch {
		case name == "Authorization", name == "Cookie", name == "Origin", name == "Referer",
			strings.HasPrefix(name, "Impersonate-"),
			strings.HasPrefix(name, "X-Remote-"):
			delete(h, name)
		}
	}
}

// isEndless reports whether a request lasts until the client or the server ends it.
func isEndless(r *http.Request) bool {
	q := r.URL.Query()
	for _, name := range []string{"watch", "follow"} {
		if v := q.Get(name); q.Has(name) && v != "0" && v != "false" {
			return true
		}
	}
	return strings.Contains(r.URL.Path, "/watch/") || isBranchStream(r)
}

// The handler is for requests that were not answered; message says by whom.
func answerProxyError(message string) func(http.ResponseWriter, *http.Request, error) {
	return func(w http.ResponseWriter, _ *http.Request, err error) {
		if large, ok := errors.AsType[*http.MaxBytesError](err); ok {
			tooLarge(large.Limit).writeTo(w)
			return
		}
		if broken, ok := errors.AsType[*brokenBody](err); ok {
			refuse(http.StatusBadRequest, "%v", broken).writeTo(w)
			return
		}
		if errors.Is(err, context.Canceled) {
			panic(http.ErrAbortHandler)
		}
		refuse(http.StatusBadGateway, "%s: %v", message, err).retry(1).writeTo(w)
	}
}
