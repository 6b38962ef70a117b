//go:build linux

package systemtest

import (
	"bytes"
	"fmt"
	"io/fs"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"kube-scheduler-simulator/simulator/testing/clustertest"
)

// nobody is the ID of the unprivileged user that every Linux system has.
const nobody = 65534

// asNobody runs a command as another user.
func asNobody(name string, args ...string) ([]byte, error) {
	command := exec.Command(name, args...)
	command.Dir = "/"
	command.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: nobody, Gid: nobody}}
	return command.CombinedOutput()
}

// TestOtherUsersGetNothing: a simulator of an existing cluster acts with an operator's rights. Another
// user of the machine can connect to it, and must not be able to do anything with it.
func TestOtherUsersGetNothing(t *testing.T) {
	clustertest.Slow(t)
	if os.Getuid() != 0 {
		t.Skip("only root can become another user")
	}
	there := start(t, newHome(t))
	h := newHome(t)
	// Only the program's own permissions protect the data.
	if err := os.Chmod(filepath.Dir(h.data), 0o755); err != nil {
		t.Fatal(err)
	}
	p := start(t, h, "--kubeconfig", there.kubeconfig)
	if len(p.token) < 16 {
		t.Fatalf("the ready line has the token %q", p.token)
	}

	routes := p.routes(t, func(r *http.Request) { r.Header.Set("Authorization", "Bearer "+p.token) })
	for _, route := range routes {
		p.wantRefused(t, route, http.StatusUnauthorized, nil)
	}
	if out, err := asNobody("cat", "/proc/self/status"); err != nil || !bytes.Contains(out, []byte("Uid:\t65534")) {
		t.Skipf("another user cannot run cat here: %v: %s", err, out)
	}
	if out, err := asNobody("ls", h.data); err == nil {
		t.Errorf("another user sees the data directory: %s", out)
	}
	if err := os.Chmod(h.data, 0o755); err != nil {
		t.Fatal(err)
	}
	secrets := 0
	err := filepath.WalkDir(h.data, func(path string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return err
		}
		if out, err := asNobody("cat", path); err == nil && bytes.Contains(out, []byte(p.token)) {
			t.Errorf("another user reads the token in %s", path)
		}
		if strings.HasSuffix(path, "token") || strings.HasSuffix(path, "kubeconfig") {
			secrets++
			if out, err := asNobody("cat", path); err == nil {
				t.Errorf("another user reads %s: %s", path, out)
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if secrets == 0 {
		t.Error("the token is not kept")
	}
	if data, err := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", p.cmd.Process.Pid)); err != nil || bytes.Contains(data, []byte(p.token)) {
		t.Errorf("the program's command line: %q, %v", data, err)
	}

	a, err := p.request(http.MethodGet, "/kubernetes/api/v1/namespaces", nil, func(r *http.Request) { r.Header.Set("Authorization", "Bearer "+p.token) })
	if err != nil || a.status != http.StatusOK {
		t.Errorf("with the token: %d %s, %v", a.status, a.body, err)
	}
	p.stop(t)
	first := p.token
	if again := start(t, h, "--kubeconfig", there.kubeconfig); again.token != first {
		t.Error("after a restart the token is another one, so a bookmark no longer works")
	}
}
