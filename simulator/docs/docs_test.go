package docs

import (
	"fmt"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"k8s.io/component-base/cli"
	"k8s.io/kubectl/pkg/cmd"

	"kube-scheduler-simulator/simulator/testing/clustertest"
)

// TestMain lets this test binary stand in for kubectl, when its executable has that name.
func TestMain(m *testing.M) {
	if filepath.Base(os.Args[0]) == "kubectl" {
		os.Exit(cli.Run(cmd.NewDefaultKubectlCommand()))
	}
	os.Exit(clustertest.RunWithProgram(m))
}

// quickPages are what newcomers type first. The other pages describe features that other tests
// of `make test` cover, and many start several simulators, so that only make test-all types them.
var quickPages = []string{"learn.md", "pending.md", "reference/flags.md", "scenarios.md"}

// schedulersPage needs programs that take up to ten minutes each to build.
const schedulersPage = "before-an-upgrade.md"

// TestPages types the commands of each page.
func TestPages(t *testing.T) {
	pages := markdown(t, ".")
	if len(pages) == 0 {
		t.Fatal("there are no pages")
	}
	for _, path := range pages {
		t.Run(strings.TrimSuffix(path, ".md"), func(t *testing.T) {
			t.Parallel()
			if !slices.Contains(quickPages, path) {
				clustertest.Slow(t)
			}
			if path == schedulersPage && os.Getenv("SCHEDULERS_DIR") == "" {
				t.Skip("skipped: it needs the schedulers of other versions of Kubernetes. `make test-versions` builds them and types this page")
			}
			content, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			follow(t, path, string(content))
		})
	}
}

// follow types the commands of a page in a new directory.
func follow(t *testing.T, path, page string) {
	all, err := blocks(page)
	if err != nil {
		t.Fatalf("%s: %v", path, err)
	}
	if !slices.ContainsFunc(all, block.isTyped) {
		return
	}
	dir, ports := workplace(t)
	if strings.Contains(page, "kubectl why") { // make kubectl-why builds it
		link(t, clustertest.Why(t), filepath.Join(dir, "bin", "kubectl-why"))
	}
	env := append(os.Environ(), "PATH="+filepath.Join(dir, "path")+":"+os.Getenv("PATH"), "KUBECACHEDIR="+filepath.Join(dir, "cache"), "KUBECONFIG=")
	terminal := newShell(t, dir, env)
	servers := map[string]*server{}
	var printed string
	for _, b := range all {
		b.text = ports.Replace(b.text)
		switch name, isServer := strings.CutPrefix(b.word, "server"); {
		case b.file() != "":
			file := filepath.Join(dir, b.file())
			if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(file, []byte(b.text), 0o644); err != nil {
				t.Fatal(err)
			}
		case b.language == "sh" && isServer:
			if previous := servers[name]; previous != nil {
				previous.stop()
			}
			servers[name] = startServer(t, dir, env, b.text)
		case b.isTyped():
			printed, err = terminal.run(b.text)
			if err != nil {
				t.Fatalf("%s:%d: %v:\n%s\nprinted:\n%s", path, b.line, err, b.text, printed)
			}
		case b.language == "text":
			if !shows(printed, b.text) {
				t.Fatalf("%s:%d: the page says\n%s\nthe commands print\n%s", path, b.line, b.text, printed)
			}
		}
	}
}

// workplace returns a directory that looks like the repository after `make build`,
// with kubectl in path. ports replaces the pages' ports by free ones.
func workplace(t *testing.T) (dir string, ports *strings.Replacer) {
	t.Helper()
	dir = t.TempDir()
	this, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	root, err := filepath.Abs(filepath.Join("..", ".."))
	if err != nil {
		t.Fatal(err)
	}
	// Listing root instead would make Go run this test again after every git command, because git changes its own directory there.
	for _, name := range []string{"README.md", "go.mod", "go.sum", "scheduler", "simulator", "web"} {
		link(t, filepath.Join(root, name), filepath.Join(dir, name))
	}
	first := freePort(t)
	link(t, clustertest.Program(), filepath.Join(dir, "programs", "simulator"))
	link(t, this, filepath.Join(dir, "path", "kubectl"))
	// A simulator without --listen serves at the address that replaces the default one, and questions go there.
	script := fmt.Sprintf(`#!/bin/sh
case "$*" in
  *--listen*|*--server*|*--help*|bench*|record*|run*|lesson*|compare*|sweep*|upgrade*|version*) exec programs/simulator "$@" ;;
  mcp*--state*|mcp*--kubeconfig*|submit*--state*|submit*--kubeconfig*|autoscale*--state*|autoscale*--kubeconfig*|drain*--state*|drain*--kubeconfig*|deschedule*--state*|deschedule*--kubeconfig*|why*--state*|why*--recording*|why*--kubeconfig*|whatif*--state*|whatif*--recording*|whatif*--kubeconfig*|capacity*--state*|capacity*--recording*|capacity*--kubeconfig*) exec programs/simulator "$@" ;;
  why*|submit*|autoscale*|drain*|deschedule*|whatif*|capacity*|report*|mcp*) exec programs/simulator "$@" --server http://127.0.0.1:%[1]s ;;
  *) exec programs/simulator "$@" --listen 127.0.0.1:%[1]s ;;
esac
`, first)
	if err := os.MkdirAll(filepath.Join(dir, "bin"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "bin", "simulator"), []byte(script), 0o755); err != nil {
		t.Fatal(err)
	}
	return dir, strings.NewReplacer("1212", first, "1313", freePort(t), "1414", freePort(t))
}

func link(t *testing.T, from, to string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(to), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(from, to); err != nil {
		t.Fatal(err)
	}
}

func freePort(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	_, port, err := net.SplitHostPort(l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	return port
}
