package deschedule_test

import (
	"os"
	"testing"

	"kube-scheduler-simulator/simulator/host/quiet"
)

// TestMain silences the descheduler, which logs every eviction that is refused.
func TestMain(m *testing.M) {
	if err := quiet.Klog(); err != nil {
		panic(err)
	}
	os.Exit(m.Run())
}
