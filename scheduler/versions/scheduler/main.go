// Command scheduler decides about pods as the scheduler of one version of Kubernetes does; see package decide.
// `make scheduler-1.35` builds it with the code of Kubernetes 1.35.
package main

import (
	"os"
	"runtime/debug"

	"kube-scheduler-simulator/scheduler/versions/decide"
)

func main() {
	// A decision allocates much and keeps little. The state of 1,500 nodes and 8,000 pods takes some 100 MB.
	debug.SetGCPercent(300)
	if err := decide.Serve(os.Stdin, os.Stdout); err != nil {
		os.Exit(1)
	}
}
