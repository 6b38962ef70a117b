// Package outbound decides which addresses the simulated cluster may call: webhooks, API servers
// behind APIServices, and scheduler extenders.
//
// It knows nothing of those callers, and it does not limit the clusters that the user names on the
// command line. It may import the standard library only.
package outbound

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"net/url"
	"strings"
)

// Flag is the command line's flag that sets Policy.Anywhere. Errors name it.
const Flag = "--allow-outbound"

// Policy says which hosts the cluster may call. The zero value allows loopback addresses only.
type Policy struct {
	Anywhere bool
}

// localhost is the one name that needs no name server.
const localhost = "localhost"

// Error is a refusal to call a host.
type Error struct{ Host string }

func (e *Error) Error() string {
	return fmt.Sprintf("calls to %s are not allowed: without %s, the simulated cluster calls loopback addresses only", e.Host, Flag)
}

// Check returns an *Error if the policy forbids calls to host, a name or an address without a port.
// It asks no name server.
func (p Policy) Check(host string) error {
	if p.Anywhere || isLoopback(host) {
		return nil
	}
	return &Error{Host: host}
}

// CheckURL is Check for the host of an absolute URL. Its errors never contain the URL, which may
// hold a password.
func (p Policy) CheckURL(address string) error {
	u, err := url.Parse(address)
	if err != nil {
		return errors.New("not a URL")
	}
	if u.Host == "" {
		return errors.New("not an absolute URL")
	}
	return p.Check(u.Hostname())
}

// DialContext connects to address ("host:port") if the policy allows it, and otherwise returns an
// *Error without asking a name server. It is a dialer for HTTP transports.
func (p Policy) DialContext(ctx context.Context, network, address string) (net.Conn, error) {
	host, port, err := net.SplitHostPort(address)
	if err != nil {
		return nil, fmt.Errorf("calling %q: %w", address, err)
	}
	if err := p.Check(host); err != nil {
		return nil, err
	}
	var d net.Dialer
	if !strings.EqualFold(host, localhost) {
		return d.DialContext(ctx, network, address)
	}
	conn, err := d.DialContext(ctx, network, net.JoinHostPort("127.0.0.1", port))
	if err == nil {
		return conn, nil
	}
	conn, errV6 := d.DialContext(ctx, network, net.JoinHostPort("::1", port))
	if errV6 == nil {
		return conn, nil
	}
	return nil, errors.Join(err, errV6)
}

func isLoopback(host string) bool {
	if strings.EqualFold(host, localhost) {
		return true
	}
	address, err := netip.ParseAddr(host)
	return err == nil && address.Unmap().IsLoopback()
}
