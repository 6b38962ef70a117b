package app

import (
	"runtime"

	"kube-scheduler-simulator/simulator/scenarios/inmemory"
	"kube-scheduler-simulator/simulator/scenarios/runs"
)

// Runs leave a core to the scheduler of this simulator.
func (s *simulator) startRuns() {
	s.runs = runs.New(runs.Options{
		Engine: inmemory.Engine(s.prepared.registry), Parse: s.parse, Current: configuration{s.scheduler}.Current, Workers: max(1, runtime.GOMAXPROCS(0)-1),
	})
	s.onStopOf("the runs of scenarios", 0, s.runs.Stop)
}
