//go:build !race

package app

import (
	"fmt"
	"os"
	"runtime"
	"testing"
	"time"
)

// readyWithin is how long the program may take until it is ready, with all
// controllers and virtual nodes.
const readyWithin = 2500 * time.Millisecond

// TestReadyInTime starts the program until it is ready in time: others may hold up
// one start, and not every one. On a machine that has no time to give it says
// nothing.
func TestReadyInTime(t *testing.T) {
	const tries = 6
	var took []time.Duration
	for range tries {
		began := time.Now()
		_, cmd := startProgram(t, t.TempDir())
		took = append(took, time.Since(began))
		_ = cmd.Process.Kill()
		_ = cmd.Wait() // it was killed
		if took[len(took)-1] <= readyWithin {
			return
		}
	}
	if load := loadOfMachine(t); load > float64(runtime.NumCPU()) {
		t.Skipf("ready after %v, with a load of %.1f on %d cores", took, load, runtime.NumCPU())
	}
	t.Errorf("ready after %v", took)
}

// loadOfMachine is the load of the last minute, 0 where that is not known.
func loadOfMachine(t *testing.T) (load float64) {
	t.Helper()
	said, err := os.ReadFile("/proc/loadavg")
	if err != nil {
		return 0
	}
	if _, err := fmt.Sscan(string(said), &load); err != nil {
		t.Fatal(err)
	}
	return load
}
