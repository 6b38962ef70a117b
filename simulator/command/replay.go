package command

import (
	"context"
	"errors"
	"fmt"
	"strconv"

	"kube-scheduler-simulator/simulator/app"
)

func replayFile(ctx context.Context, args []string, with []Option) error {
	options := app.DefaultOptions()
	for _, o := range with {
		o(&options)
	}
	// What kubelets and the source's controllers did is in the recording.
	options.NoVirtualNodes, options.Controllers = true, app.ReplayControllers()
	replay := &app.ReplayOptions{}
	options.Replay = replay
	flags := newFlags("simulator replay FILE [flags]",
		"Plays a recording into a simulator, and compares the placements with those in the recording.")
	gates := flags.serve(&options)
	speed := flags.String("speed", "max", "`speed`: max, realtime, or how many times faster than real time")
	flags.BoolVar(&replay.WaitForScheduler, "wait-for-scheduler", true, "let the scheduler become idle after each change; with --tie-seed another run decides the same")
	flags.BoolVar(&replay.FollowRecording, "follow-recording", false, "ask for each decision in the state that the recording has: afterwards the pod is put to the node that it has there")
	flags.StringVar(&replay.Report, "report", "", "`file` for the comparison when the recording has ended: JSON when its name ends in .json, otherwise text")
	flags.BoolVar(&replay.Exit, "exit", false, "end when the recording has ended and the report is written")
	flags.BoolVar(&replay.FailOnDifference, "fail-on-difference", false, "with --exit, exit with code 1 when a placement does not match")
	rest, done, err := flags.parseWith(args)
	if done || err != nil {
		return err
	}
	if len(rest) != 1 {
		return errors.New("replay takes one recording (see --help)")
	}
	replay.File = rest[0]
	if replay.FailOnDifference && !replay.Exit {
		return errors.New("--fail-on-difference needs --exit (see --help)")
	}
	if replay.Speed, err = parseSpeed(*speed); err != nil {
		return err
	}
	return start(ctx, options, flags, *gates)
}

// parseSpeed returns 0 for as fast as it goes.
func parseSpeed(s string) (float64, error) {
	switch s {
	case "max":
		return 0, nil
	case "realtime":
		return 1, nil
	}
	speed, err := strconv.ParseFloat(s, 64)
	if err != nil || !(speed > 0 && speed <= app.MaxReplaySpeed) {
		return 0, fmt.Errorf("--speed is max, realtime, or a number up to %d, not %q", app.MaxReplaySpeed, s)
	}
	return speed, nil
}
