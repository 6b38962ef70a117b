package drain_test

import (
	"flag"
	"os"
	"testing"

	"kube-scheduler-simulator/simulator/testing/clustertest"
)

// TestMain builds the simulator for the slow tests only.
func TestMain(m *testing.M) {
	flag.Parse()
	if testing.Short() {
		os.Exit(m.Run())
	}
	os.Exit(clustertest.RunWithProgram(m))
}
