package server

import (
	"crypto/hmac"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/hex"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"github.com/labstack/echo/v4"
)

// MinToken is the length of the shortest token, in bytes. Every client may guess, so a token must
// be as long as a random one of 64 bits in hexadecimal digits.
const MinToken = 16

// CheckToken returns an error if the token is too short to protect a server.
func CheckToken(token string) error {
	if len(token) < MinToken {
		return fmt.Errorf("a token of %d characters is easy to guess: use at least %d random ones, as from openssl rand -hex 32", len(token), MinToken)
	}
	return nil
}

// CheckListen returns an error if the server must not listen on addr ("host:port"). Addresses other
// than loopback require a token, because every client of the server is an administrator of the
// simulated cluster.
func CheckListen(addr, token string) error {
	host, _, err := net.SplitHostPort(addr)
	if err != nil {
		return fmt.Errorf("listening on %q: want host:port: %w", addr, err)
	}
	ip := net.ParseIP(host)
	if token != "" || host == "localhost" || ip != nil && ip.IsLoopback() {
		return nil
	}
	return fmt.Errorf("listening on %q: refused without a token, because it is not a loopback address", addr)
}

// access decides which requests the server answers at all.
type access struct {
	// hosts are the values of Host that are the server's own. Nil allows any, which requires a
	// token.
	hosts map[string]bool
	// remote says that clients may be on other machines, and behind a proxy that terminates TLS.
	remote bool
	// token and cookie are digests; nil if the server requires no token.
	token, cookie []byte
	cookieValue   string
}

func newAccess(addr net.Addr, token string) (*access, error) {
	a := &access{}
	if token != "" {
		mac := hmac.New(sha256.New, []byte(token))
		mac.Write([]byte("cookie"))
		a.cookieValue = hex.EncodeToString(mac.Sum(nil))
		a.token, a.cookie = digest(token), digest(a.cookieValue)
	}
	tcp, ok := addr.(*net.TCPAddr)
	a.remote = !ok || !tcp.IP.IsLoopback()
	if a.remote {
		if token == "" {
			return nil, fmt.Errorf("serving on %s: refused without a token, because it is not a loopback address", addr)
		}
		return a, nil
	}
	a.hosts = map[string]bool{}
	for _, name := range []string{"localhost", "127.0.0.1", "::1", tcp.IP.String()} {
		a.hosts[net.JoinHostPort(name, strconv.Itoa(tcp.Port))] = true
		if tcp.Port == 80 {
			a.hosts[strings.TrimSuffix(net.JoinHostPort(name, ""), ":")] = true
		}
	}
	return a, nil
}

// checkAccess runs before routing, for every request.
func (s *Server) checkAccess(next echo.HandlerFunc) echo.HandlerFunc {
	return func(c echo.Context) error {
		a, r := s.access.Load(), c.Request()
		if a == nil {
			return refuse(http.StatusServiceUnavailable, "the server is not serving yet")
		}
		if err := a.checkSite(r); err != nil {
			return err
		}
		if a.token == nil {
			return next(c)
		}
		if a.isTokenVisit(r) {
			return a.exchange(c)
		}
		if !a.hasToken(r) {
			c.Response().Header().Set("WWW-Authenticate", "Bearer")
			return refuse(http.StatusUnauthorized, "this server requires a token: send it as a bearer token, or open /?token=… in the browser")
		}
		return next(c)
	}
}

// checkSite refuses requests that another site makes a browser send, and host names that an
// attacker made resolve to this address.
func (a *access) checkSite(r *http.Request) error {
	if a.hosts != nil && !a.hosts[strings.ToLower(r.Host)] {
		return refuse(http.StatusForbidden, "host %q is not this server's own", r.Host)
	}
	for _, origin := range r.Header["Origin"] {
		if !a.sameOrigin(origin, r) {
			return refuse(http.StatusForbidden, "origin %q is not this server's own", origin)
		}
	}
	// Any site may link to the page, but none may fetch from the API. Another port of this host is
	// another site.
	switch site := r.Header.Get("Sec-Fetch-Site"); site {
	case "cross-site", "same-site":
		if !isPage(r.URL.Path) {
			return refuse(http.StatusForbidden, "%s requests are refused", site)
		}
	}
	return nil
}

func (a *access) sameOrigin(origin string, r *http.Request) bool {
	scheme, host, ok := strings.Cut(origin, "://")
	if !ok || !strings.EqualFold(host, r.Host) {
		return false
	}
	if a.remote {
		return scheme == "http" || scheme == "https"
	}
	return scheme == "http"
}

func (a *access) hasToken(r *http.Request) bool {
	if scheme, value, ok := strings.Cut(r.Header.Get("Authorization"), " "); ok && strings.EqualFold(scheme, "Bearer") {
		return equal(a.token, strings.TrimSpace(value))
	}
	cookie, err := r.Cookie(cookieName(r))
	return err == nil && equal(a.cookie, cookie.Value)
}

func (a *access) isTokenVisit(r *http.Request) bool {
	return r.Method == http.MethodGet && isPage(r.URL.Path) && r.URL.Query().Has("token")
}

// exchange gives a browser that knows the token a cookie derived from it, and redirects it to the
// same address without the token.
func (a *access) exchange(c echo.Context) error {
	r := c.Request()
	query := r.URL.Query()
	if !equal(a.token, query.Get("token")) {
		return refuse(http.StatusUnauthorized, "this is not the server's token")
	}
	c.SetCookie(&http.Cookie{
		Name:     cookieName(r),
		Value:    a.cookieValue,
		Path:     "/",
		HttpOnly: true,
		Secure:   usesTLS(r),
		SameSite: http.SameSiteStrictMode,
	})
	query.Del("token")
	to := url.URL{Path: "/" + strings.TrimLeft(r.URL.Path, `/\`), RawQuery: query.Encode()}
	return c.Redirect(http.StatusSeeOther, to.String())
}

// This server has no TLS itself, so usesTLS believes the proxy before it. A client that forges the
// header only loses its own cookie.
func usesTLS(r *http.Request) bool {
	return r.TLS != nil || strings.EqualFold(r.Header.Get("X-Forwarded-Proto"), "https")
}

// cookieName contains the port, which cookies themselves ignore, so that two simulators on one
// machine have different cookies.
func cookieName(r *http.Request) string {
	_, port, _ := net.SplitHostPort(r.Host)
	return "kube-scheduler-simulator-" + port
}

func digest(s string) []byte {
	sum := sha256.Sum256([]byte(s))
	return sum[:]
}

// equal compares in constant time, whatever the length of got.
func equal(want []byte, got string) bool {
	return subtle.ConstantTimeCompare(want, digest(got)) == 1
}
