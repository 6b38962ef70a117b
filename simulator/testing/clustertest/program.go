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

// programs is the directory of what tests build.
var program, programs string

// RunWithProgram runs the tests of m with a simulator for Program, and returns their exit code. It
// builds the simulator unless the environment variable SIMULATOR_BIN names one.
func RunWithProgram(m *testing.M) int {
	dir, err := os.MkdirTemp("", "simulator-")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer os.RemoveAll(dir)
	programs = dir
	if program, err = built("SIMULATOR_BIN", "simulator"); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return m.Run()
}

// built returns the path of a program. It builds the program unless an environment variable names one.
func built(variable, name string) (string, error) {
	if named := os.Getenv(variable); named != "" {
		return named, nil
	}
	path := filepath.Join(programs, name)
	// Linking takes half the time without symbols.
	build := exec.Command("go", "build", "-ldflags=-s -w", "-o", path, "kube-scheduler-simulator/simulator/cmd/"+name)
	if out, err := build.CombinedOutput(); err != nil {
		return "", fmt.Errorf("building %s: %w\n%s", name, err, out)
	}
	return path, nil
}

var why = sync.OnceValues(func() (string, error) { return built("KUBECTL_WHY_BIN", "kubectl-why") })

// Why returns the path of kubectl-why as users run it. The first call builds it, unless the environment variable KUBECTL_WHY_BIN
// names one. TestMain must have called RunWithProgram.
func Why(t testing.TB) string {
	t.Helper()
	look()
	path, err := why()
	if err != nil {
		t.Fatal(err)
	}
	return path
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
	if os.Getenv("SIMULATOR_BIN") != "" && os.Getenv("KUBECTL_WHY_BIN") != "" {
		_, _ = os.Stat(program)
		_, _ = os.Stat(os.Getenv("KUBECTL_WHY_BIN"))
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
