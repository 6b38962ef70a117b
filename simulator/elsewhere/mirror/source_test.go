package mirror

import (
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"kube-scheduler-simulator/simulator/elsewhere/redact"
)

// TestARedactedSourceIsNotNamed: messages about a source that cannot be reached end up in the status,
// in front of people for whom it is redacted.
func TestARedactedSourceIsNotNamed(t *testing.T) {
	stranger := httptest.NewTLSServer(http.NotFoundHandler())
	defer stranger.Close()
	gone, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	gone.Close()
	for name, test := range map[string]struct{ server, want string }{
		"another certificate": {stranger.URL, "its certificate cannot be verified"},
		"nothing listens":     {"https://" + gone.Addr().String(), "connection refused"},
	} {
		t.Run(name, func(t *testing.T) {
			kubeconfig := filepath.Join(t.TempDir(), "kubeconfig")
			text := fmt.Sprintf("{clusters: [{name: c, cluster: {server: %q}}], contexts: [{name: production, context: {cluster: c}}], current-context: production}", test.server)
			if err := os.WriteFile(kubeconfig, []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
			for _, redactor := range []*redact.Redactor{nil, redact.New(nil)} {
				source, err := NewSource(SourceOptions{Kubeconfig: kubeconfig, Redactor: redactor})
				if err != nil {
					t.Fatal(err)
				}
				_, err = source.connect(t.Context(), nil, nil, nil)
				if err == nil {
					t.Fatal("it is reached")
				}
				host := strings.TrimPrefix(test.server, "https://")
				named := strings.Contains(err.Error(), host) || strings.Contains(err.Error(), "127.0.0.1")
				if named == (redactor != nil) || redactor != nil && !strings.HasSuffix(err.Error(), "a redacted address cannot be reached: "+test.want) {
					t.Errorf("redacted %v: %v", redactor != nil, err)
				}
			}
		})
	}
}

func TestDiscreetErrors(t *testing.T) {
	for want, err := range map[string]error{
		"its name cannot be resolved": &net.OpError{Op: "dial", Err: &net.DNSError{Name: "production.example.com", Err: "no such host"}},
		"connection refused":          &net.OpError{Op: "dial", Err: os.NewSyscallError("connect", syscall.ECONNREFUSED)},
		"timeout":                     &net.OpError{Op: "dial", Err: os.ErrDeadlineExceeded},
		"the connection failed":       errors.New("production.example.com says no"),
	} {
		hidden := &discreetError{err}
		if hidden.Error() != want || !errors.Is(hidden, err) {
			t.Errorf("%v: %v", err, hidden)
		}
	}
}
