package command

import (
	"strings"
	"testing"

	"kube-scheduler-simulator/simulator/host/process"
)

// TestHeapOf checks that runs in memory have the heap for runs, and other commands that of a server.
func TestHeapOf(t *testing.T) {
	for _, command := range []string{"run", "compare", "sweep"} {
		if heapOf([]string{command, "file.yaml", "--engine", "memory"}) != process.Runs {
			t.Errorf("%s in memory does not have the heap for runs", command)
		}
	}
	for _, args := range [][]string{
		nil, {"--port", "0"}, {"lesson"}, {"run", "a.yaml", "--engine", "full"}, {"sweep", "--engine=full", "a.yaml"},
	} {
		if heapOf(args) != process.Server {
			t.Errorf("%v has another heap than a server", args)
		}
	}
}

// TestBenchOfOpenbRefusesOtherFlags checks that the bench ignores no flag: the production cluster has its own size, and runs in
// programs of its own, which it cannot profile.
func TestBenchOfOpenbRefusesOtherFlags(t *testing.T) {
	for _, flag := range []string{"--table", "--nodes=5", "--cpuprofile=cpu.pprof", "--memprofile=memory.pprof"} {
		err := runBench(t.Context(), []string{"--openb", t.TempDir(), flag})
		name, _, _ := strings.Cut(flag, "=")
		if err == nil || !strings.Contains(err.Error(), "--openb and "+name+" exclude each other") {
			t.Errorf("with %s: %v", flag, err)
		}
	}
}
