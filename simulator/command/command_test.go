package command

import (
	"testing"

	"kube-scheduler-simulator/simulator/heap"
)

// TestHeapOf checks that runs in memory have the heap for runs, and other commands that of a server.
func TestHeapOf(t *testing.T) {
	for _, command := range []string{"run", "compare", "sweep"} {
		if heapOf([]string{command, "file.yaml", "--engine", "memory"}) != heap.Runs {
			t.Errorf("%s in memory does not have the heap for runs", command)
		}
	}
	for _, args := range [][]string{
		nil, {"--port", "0"}, {"lesson"}, {"run", "a.yaml", "--engine", "full"}, {"sweep", "--engine=full", "a.yaml"},
	} {
		if heapOf(args) != heap.Server {
			t.Errorf("%v has another heap than a server", args)
		}
	}
}
