package systemtest

import (
	"bytes"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"kube-scheduler-simulator/simulator/testing/clustertest"
)

// TestAKillLeavesNothingForGood: the next program removes what a killed one has left in the temporary
// directory, but not what a running one uses.
func TestAKillLeavesNothingForGood(t *testing.T) {
	clustertest.Slow(t)
	h := passing(t)
	running := start(t, h)
	killed := start(t, h)
	killed.createLarge(t, 1)
	abandoned := filepath.Dir(killed.kubeconfig)
	killed.kill()
	if _, err := os.Stat(filepath.Join(abandoned, "etcd")); err != nil {
		t.Fatalf("the killed program has left nothing: %v", err)
	}
	third := start(t, h)
	if _, err := os.Stat(abandoned); !os.IsNotExist(err) {
		t.Errorf("%s is still there: %v", abandoned, err)
	}
	running.schedulesNothingButLives(t)
	third.stopsInTime(t, syscall.SIGTERM)
	running.stopsInTime(t, syscall.SIGTERM)
	left, err := filepath.Glob(filepath.Join(h.tmp, "*"))
	if err != nil || len(left) > 0 {
		t.Errorf("left behind: %v, %v", left, err)
	}
}

// schedulesNothingButLives checks that the program's files are still there.
func (p *program) schedulesNothingButLives(t *testing.T) {
	t.Helper()
	if _, err := os.Stat(p.kubeconfig); err != nil {
		t.Error(err)
	}
	if _, err := p.client.CoreV1().ConfigMaps(namespace).Create(t.Context(), newMap("alive", 1), metav1.CreateOptions{}); err != nil {
		t.Error(err)
	}
}

// TestAKilledReplacementIsReported: a kill during an import that replaces the cluster leaves neither the
// earlier objects nor all of the new ones. The next start says so, and so do later ones, until the cluster
// is replaced or reset.
func TestAKilledReplacementIsReported(t *testing.T) {
	clustertest.Slow(t)
	h := newHome(t)
	p := start(t, h)
	p.createLarge(t, 1)
	go func() {
		_, _ = p.request(http.MethodPost, "/api/v1/import?mode=replace", strings.NewReader(manyMaps(5000)), nil)
	}()
	eventually(t, "the import writes", func() error {
		_, err := p.client.CoreV1().ConfigMaps(namespace).Get(t.Context(), "many-0", metav1.GetOptions{})
		return err
	})
	p.kill()
	for range 2 {
		again := start(t, h)
		if got := again.warnings(t); !strings.Contains(got, "interrupted") {
			t.Errorf("it warns of %s", got)
		}
		if !strings.Contains(again.stderr.String(), "interrupted") {
			t.Errorf("it says %q", again.stderr)
		}
		again.stopsInTime(t, syscall.SIGTERM)
	}
	again := start(t, h)
	if a, err := again.request(http.MethodPost, "/api/v1/import?mode=replace", strings.NewReader(manyMaps(10)), nil); err != nil || a.status != http.StatusOK {
		t.Fatalf("%d, %v: %s", a.status, err, a.body)
	}
	eventually(t, "it no longer warns", func() error {
		if got := again.warnings(t); strings.Contains(got, "interrupted") {
			return fmt.Errorf("it warns of %s", got)
		}
		return nil
	})
	again.stopsInTime(t, syscall.SIGTERM)
}

func (p *program) warnings(t *testing.T) string {
	t.Helper()
	var status struct{ Warnings []string }
	if err := p.get("/api/v1/status", &status); err != nil {
		t.Fatal(err)
	}
	return fmt.Sprint(status.Warnings)
}

// TestDamagedRecordingsChangeNothing: a recording of which any byte is damaged is refused before the cluster
// is emptied.
func TestDamagedRecordingsChangeNothing(t *testing.T) {
	clustertest.Slow(t)
	recording := aRecording(t)
	p := start(t, passing(t))
	p.createLarge(t, 1)
	const mutants = 60
	for i := range mutants {
		damaged := bytes.Clone(recording)
		damaged[len(damaged)*i/mutants] ^= 0x41
		a, err := p.request(http.MethodPost, "/api/v1/replay", bytes.NewReader(damaged), nil)
		if err != nil || a.status != http.StatusBadRequest {
			t.Errorf("byte %d of %d: %d, %v: %.200s", len(damaged)*i/mutants, len(damaged), a.status, err, a.body)
		}
		if _, err := p.client.CoreV1().ConfigMaps(namespace).Get(t.Context(), "large-0", metav1.GetOptions{}); err != nil {
			t.Fatalf("after mutant %d: %v", i, err)
		}
	}
	p.stopsInTime(t, syscall.SIGTERM)
}

// TestAReplayAsksBeforeItEmpties: `replay FILE --data-dir DIR` does not empty a cluster that is kept, unless
// it is told to.
func TestAReplayAsksBeforeItEmpties(t *testing.T) {
	clustertest.Slow(t)
	h := newHome(t)
	file := filepath.Join(h.tmp, "some.rec")
	if err := os.WriteFile(file, aRecording(t), 0o600); err != nil {
		t.Fatal(err)
	}
	p := start(t, h)
	p.createLarge(t, 1)
	p.stopsInTime(t, syscall.SIGTERM)

	begin := time.Now()
	command := exec.Command(clustertest.Program(), "replay", file, "--listen", "127.0.0.1:0", "--data-dir", h.data, "--exit")
	var said strings.Builder
	command.Stderr = &said
	err := command.Run()
	if took := time.Since(begin); command.ProcessState.ExitCode() != 1 || strings.Count(said.String(), "\n") != 1 || !strings.Contains(said.String(), "--replace") {
		t.Errorf("after %v: %v, %q", took, err, said.String())
	}
	again := start(t, h)
	if _, err := again.client.CoreV1().ConfigMaps(namespace).Get(t.Context(), "large-0", metav1.GetOptions{}); err != nil {
		t.Error(err)
	}
	again.stopsInTime(t, syscall.SIGTERM)

	confirmed := exec.Command(clustertest.Program(), "replay", file, "--listen", "127.0.0.1:0", "--data-dir", h.data, "--exit", "--replace")
	confirmed.Stderr = &said
	if err := confirmed.Run(); err != nil {
		t.Errorf("with --replace: %v, %s", err, &said)
	}
}
