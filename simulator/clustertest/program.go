package clustertest

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// program is the path of the simulator that RunWithProgram provides.
var program string

// RunWithProgram runs the tests of m with a simulator for Program, and returns their exit code.
// The environment variable SIMULATOR_BIN names a simulator that exists; otherwise
// RunWithProgram builds one.
func RunWithProgram(m *testing.M) int {
	if program = os.Getenv("SIMULATOR_BIN"); program != "" {
		return m.Run()
	}
	dir, err := os.MkdirTemp("", "simulator-")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer os.RemoveAll(dir)
	program = filepath.Join(dir, "simulator")
	// Linking takes half the time without symbols.
	build := exec.Command("go", "build", "-ldflags=-s -w", "-o", program, "kube-scheduler-simulator/simulator/cmd/simulator")
	if out, err := build.CombinedOutput(); err != nil {
		fmt.Fprintf(os.Stderr, "building the program: %v\n%s", err, out)
		return 1
	}
	return m.Run()
}

// Program returns the path of the simulator as users run it. TestMain must have called
// RunWithProgram.
func Program() string { return program }
