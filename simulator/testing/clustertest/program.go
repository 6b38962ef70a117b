package clustertest

import (
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"
)

var program string

// RunWithProgram runs the tests of m with a simulator for Program, and returns their exit code. It
// builds the simulator unless the environment variable SIMULATOR_BIN names one.
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
func Program() string {
	look()
	return program
}

// look makes `go test` run the tests again after the program has changed. `go test` reuses a result
// unless the test's binary has changed, or a file of the module that the test looked at. It does
// not notice which programs a test starts.
var look = sync.OnceFunc(func() {
	if os.Getenv("SIMULATOR_BIN") != "" {
		_, _ = os.Stat(program)
		return
	}
	root, err := os.Getwd()
	for ; err == nil; root = filepath.Dir(root) {
		if _, missing := os.Stat(filepath.Join(root, "go.mod")); missing == nil || root == filepath.Dir(root) {
			break
		}
	}
	// To read a directory is to look at the files in it.
	for _, dir := range []string{"scheduler", "simulator", "web/dist"} {
		_ = filepath.WalkDir(filepath.Join(root, dir), func(string, fs.DirEntry, error) error { return nil })
	}
})
