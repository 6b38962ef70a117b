package command

import (
	"context"
	"errors"
	"fmt"
	"github.com/spf13/cobra"
	"strconv"

	"kube-scheduler-simulator/simulator/past/playback"
	"kube-scheduler-simulator/simulator/past/replay"
)

func replayFile(with []Option) *cobra.Command {
	options := optionsOf(with)
	// The recording holds what the source's kubelets and controllers did.
	options.NoVirtualNodes, options.Controllers = true, playback.Controllers()
	playback := &playback.Playback{}
	options.Replay = playback
	flags := newFlags("replay FILE [flags]",
		"Plays a recording into a simulator, and compares the placements with those in the recording.")
	kubernetes := flags.serve(&options)
	speed := flags.String("speed", "max", "`speed`: max, realtime, or how many times faster than real time")
	flags.BoolVar(&playback.WaitForScheduler, "wait-for-scheduler", true, "let the scheduler become idle after each change; with --tie-seed, another run makes the same decisions")
	flags.BoolVar(&playback.FollowRecording, "follow-recording", false, "make each decision in the recorded state: afterwards, move the pod to its recorded node")
	flags.BoolVar(&playback.Replace, "replace", false, "with --data-dir or --etcd-servers, empty the cluster that is there")
	flags.StringVar(&playback.Report, "report", "", "`file` for the comparison at the end of the recording: JSON when its name ends in .json, otherwise text")
	flags.BoolVar(&playback.Exit, "exit", false, "exit when the recording has ended and the report is written")
	flags.BoolVar(&playback.FailOnDifference, "fail-on-difference", false, "with --exit, exit with code 1 when a placement differs")
	return flags.takes(func(ctx context.Context, args []string) error {
		if len(args) != 1 {
			return errors.New("replay takes one recording (see --help)")
		}
		playback.File = args[0]
		if playback.FailOnDifference && !playback.Exit {
			return errors.New("--fail-on-difference needs --exit (see --help)")
		}
		var err error
		if playback.Speed, err = parseSpeed(*speed); err != nil {
			return err
		}
		return start(ctx, options, flags, kubernetes)
	})
}

// parseSpeed returns 0 for as fast as possible.
func parseSpeed(s string) (float64, error) {
	switch s {
	case "max":
		return 0, nil
	case "realtime":
		return 1, nil
	}
	speed, err := strconv.ParseFloat(s, 64)
	if err != nil || !(speed > 0 && speed <= replay.MaxSpeed) {
		return 0, fmt.Errorf("--speed must be max, realtime or a number up to %d, not %q", replay.MaxSpeed, s)
	}
	return speed, nil
}
