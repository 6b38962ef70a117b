package outbound

import (
	"errors"
	"net"
	"testing"
)

func TestCheck(t *testing.T) {
	for _, test := range []struct {
		host     string
		loopback bool
	}{
		{"127.0.0.1", true},
		{"127.8.9.10", true},
		{"::1", true},
		{"::ffff:127.0.0.1", true},
		{"localhost", true},
		{"LocalHost", true},
		{"", false},
		{"0.0.0.0", false},
		{"::", false},
		{"10.0.0.1", false},
		{"169.254.169.254", false},
		{"2001:db8::1", false},
		{"127.1", false}, // resolvers differ about this form
		{"2130706433", false},
		{"localhost.example.com", false},
		{"127.0.0.1.example.com", false},
		{"hook.example.com", false},
	} {
		err := Policy{}.Check(test.host)
		if (err == nil) != test.loopback {
			t.Errorf("%q: %v", test.host, err)
		}
		if refusal, ok := errors.AsType[*Error](err); err != nil && (!ok || refusal.Host != test.host) {
			t.Errorf("%q: the refusal is %#v", test.host, err)
		}
		if err := (Policy{Anywhere: true}).Check(test.host); err != nil {
			t.Errorf("%q with %s: %v", test.host, Flag, err)
		}
	}
}

func TestCheckURL(t *testing.T) {
	for address, allowed := range map[string]bool{
		"http://127.0.0.1:8080/filter":     true,
		"https://[::1]:8443":               true,
		"http://localhost":                 true,
		"http://127.0.0.1@example.com/":    false,
		"http://example.com/#@127.0.0.1":   false,
		"example.com:80":                   false,
		"/relative":                        false,
		"":                                 false,
		"http://u:secret@[::1/":            false,
		"https://kubernetes.default.svc:6": false,
	} {
		if err := (Policy{}).CheckURL(address); (err == nil) != allowed {
			t.Errorf("%q: %v", address, err)
		}
	}
}

// TestDialContext: loopback is reachable by address and by name, whichever family listens.
func TestDialContext(t *testing.T) {
	for _, address := range []string{"127.0.0.1:0", "[::1]:0"} {
		l, err := net.Listen("tcp", address)
		if err != nil {
			t.Logf("this machine cannot listen on %s: %v", address, err)
			continue
		}
		defer l.Close()
		_, port, _ := net.SplitHostPort(l.Addr().String())
		for _, target := range []string{l.Addr().String(), "localhost:" + port} {
			conn, err := Policy{}.DialContext(t.Context(), "tcp", target)
			if err != nil {
				t.Errorf("%s: %v", target, err)
				continue
			}
			conn.Close()
		}
	}
	if _, err := (Policy{}).DialContext(t.Context(), "tcp", "192.0.2.1:80"); !isRefusal(err) {
		t.Errorf("another machine: %v", err)
	}
	if _, err := (Policy{}).DialContext(t.Context(), "tcp", "hook.example.com:443"); !isRefusal(err) {
		t.Errorf("a name: %v", err)
	}
}

func isRefusal(err error) bool {
	_, ok := errors.AsType[*Error](err)
	return ok
}
