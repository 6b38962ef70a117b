package app

import (
	"context"

	"kube-scheduler-simulator/simulator/host/operation"
	"kube-scheduler-simulator/simulator/scenarios/scenario"
	"kube-scheduler-simulator/simulator/server"
)

// play plays a scenario on the simulator's cluster, as an operation on the whole cluster.
func (s *simulator) play(ctx context.Context, sc *scenario.Scenario, begun func(server.PlayedStep)) error {
	if s.replays.Operation() != nil {
		return &operation.Busy{With: operation.Replay}
	}
	ctx, o, err := s.operations.Begin(ctx, operation.Play, sc.Name)
	if err != nil {
		return err
	}
	defer o.End()
	cluster, err := s.lessonCluster()
	if err != nil {
		return err
	}
	stage, err := cluster.Stage(ctx)
	if err != nil {
		return err
	}
	return stage.Perform(ctx, sc, func(n int, step *scenario.Step) {
		shown := server.PlayedStep{Done: n, Total: len(sc.Steps), Step: step.Title()}
		o.Show(shown.Step, shown.Done, shown.Total)
		begun(shown)
	})
}
