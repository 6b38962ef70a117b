// Adapt makes a copy of the original plugins that compiles with this repository's version of
// Kubernetes, in the directory that it is given, and a go.mod there that uses the copy. It takes the
// original from the module cache, replaces the few words in which the framework's signatures have
// changed, and adds the files of _added to the original's packages. It fails if the original no
// longer has those words.
//
//	go run ./adapt DIRECTORY
//	go test -modfile DIRECTORY/go.mod .
package main

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// original is the module of the plugins that ours are compatible with.
const original = "sigs.k8s.io/scheduler-plugins"

// change replaces every one of some words in a file.
type change struct {
	file     string
	from, to string
	times    int
}

var changes = []change{
	// The queue orders entities, not only pods.
	{"pkg/coscheduling/coscheduling.go", ") Less(", ") lessPods(", 1},
	{"pkg/coscheduling/coscheduling.go", "fwk.QueuedPodInfo", "queued", 1},
	// The evaluator has an executor, and gives SelectVictimsOnNode one more argument.
	{"pkg/capacityscheduling/capacity_scheduling.go", "preemption.NewEvaluator(", "newEvaluator(", 1},
	{"pkg/capacityscheduling/capacity_scheduling.go", "preemption.Interface = &preemptor{}", "preemption.Interface = adapted{}", 1},
	{"pkg/capacityscheduling/capacity_scheduling.go", "range nodeInfo.GetPods() {", "range during(nodeInfo.GetPods()) {", 4},
	// The revision that our plugin follows no longer forgets that Filter has rejected a node when it
	// reserves a pod there.
	{"pkg/noderesourcetopology/cache/overreserve.go", "ov.nodesMaybeOverreserved.Delete(nodeName)", "", 1},
	// A comparison that waits for a channel of the whole process would stop the clock of a bubble.
	{"pkg/noderesourcetopology/pluginhelpers.go", "wait.Forever(nrtCache.Resync, resyncPeriod)", "wait.Until(nrtCache.Resync, resyncPeriod, ctx.Done())", 1},
}

// added are the files of _added, by the package to which they belong.
var added = map[string]string{"coscheduling.go": "pkg/coscheduling", "capacityscheduling.go": "pkg/capacityscheduling"}

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "adapt:", err)
		os.Exit(1)
	}
}

func run(args []string) error {
	if len(args) != 1 {
		return fmt.Errorf("want one directory, got %q", args)
	}
	out, err := filepath.Abs(args[0])
	if err != nil {
		return err
	}
	listed, err := exec.Command("go", "mod", "download", "-json", original).Output()
	if err != nil {
		return fmt.Errorf("download %s: %w", original, err)
	}
	var module struct{ Dir string }
	if err := json.Unmarshal(listed, &module); err != nil {
		return err
	}
	root := filepath.Join(out, "original")
	if err := os.RemoveAll(root); err != nil {
		return err
	}
	if err := os.CopyFS(root, os.DirFS(module.Dir)); err != nil {
		return fmt.Errorf("copy %s: %w", original, err)
	}
	for _, c := range changes {
		path := filepath.Join(root, c.file)
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		if n := strings.Count(string(text), c.from); n != c.times {
			return fmt.Errorf("%s has %q %d times, want %d", c.file, c.from, n, c.times)
		}
		if err := write(path, strings.ReplaceAll(string(text), c.from, c.to)); err != nil {
			return err
		}
	}
	for name, in := range added {
		text, err := os.ReadFile(filepath.Join("adapt", "_added", name))
		if err != nil {
			return err
		}
		if err := write(filepath.Join(root, in, "judge.go"), string(text)); err != nil {
			return err
		}
	}
	return modules(out, root)
}

// modules writes go.mod and go.sum, which are this module's but for the original's place.
func modules(out, root string) error {
	for _, name := range []string{"go.mod", "go.sum"} {
		text, err := os.ReadFile(name)
		if err != nil {
			return err
		}
		if name == "go.mod" {
			text = fmt.Appendf(text, "\nreplace %s => %s\n", original, root)
		}
		if err := write(filepath.Join(out, name), string(text)); err != nil {
			return err
		}
	}
	return nil
}

// write replaces a file, which may be read-only as those of the module cache are.
func write(path, text string) error {
	if err := os.Remove(path); err != nil && !os.IsNotExist(err) {
		return err
	}
	return os.WriteFile(path, []byte(text), 0o600)
}
