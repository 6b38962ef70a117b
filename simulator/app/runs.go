package app

import (
	"runtime"

	"kube-scheduler-simulator/simulator/scenarios/inmemory"
	"kube-scheduler-simulator/simulator/scenarios/runs"
)

// startRuns lets the web server run scenarios. They leave a core to the scheduler beside.
func (s *simulator) startRuns() {
	s.runs = runs.New(runs.Options{
		Engine: inmemory.Engine(s.prepared.registry), Parse: s.parse, Current: configuration{s.scheduler}.Current, Workers: max(1, runtime.GOMAXPROCS(0)-1),
	})
	s.onStopOf("the runs of scenarios", 0, s.runs.Stop)
}
