// Command scheduler decides about pods as the scheduler of one version of Kubernetes does; see package decide.
// `make scheduler-1.35` builds it with the code of Kubernetes 1.35.
package main

import (
	"os"

	"kube-scheduler-simulator/scheduler/versions/decide"
)

func main() {
	if err := decide.Serve(os.Stdin, os.Stdout); err != nil {
		os.Exit(1)
	}
}
