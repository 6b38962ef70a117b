package simulation_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	compbasemetrics "k8s.io/component-base/metrics"
	"k8s.io/component-base/metrics/testutil"
	"k8s.io/kubernetes/pkg/scheduler/metrics"

	"kube-scheduler-simulator/scheduler/simulation"
)

// lengths says how many pods are in each queue, according to the metrics of the process.
func lengths(t *testing.T) map[string]float64 {
	t.Helper()
	metrics.Register()
	out := map[string]float64{}
	for name, gauge := range map[string]compbasemetrics.GaugeMetric{
		"active": metrics.ActivePods(), "backoff": metrics.BackoffPods(), "unschedulable": metrics.UnschedulablePods(), "gated": metrics.GatedPods(),
	} {
		value, err := testutil.GetGaugeMetricValue(gauge)
		must(t, err)
		out[name] = value
	}
	return out
}

// TestTheLengthsOfTheLiveQueuesStay: all schedulers of a process share the metrics of the queues,
// and what a page shows is about the live one.
func TestTheLengthsOfTheLiveQueuesStay(t *testing.T) {
	before := lengths(t)
	s := start(t, simulation.Options{})
	create(t, s, node("small", "1"), pod("large", "2"), pod("gated", "1", "schedulingGates: [{name: example.com/gate}]"))
	must(t, s.Settle(t.Context()))
	if diff := cmp.Diff(before, lengths(t)); diff != "" {
		t.Errorf("with a simulation (-before +after):\n%s", diff)
	}
}
