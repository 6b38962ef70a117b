package command

import (
	"context"
	"errors"
	"fmt"
	"github.com/spf13/cobra"
	"io"
	"os"
	"regexp"
	"runtime"
	"strings"
	"time"

	"k8s.io/klog/v2/textlogger"

	"kube-scheduler-simulator/scheduler/versions"
	"kube-scheduler-simulator/simulator/app"
	"kube-scheduler-simulator/simulator/command/runner"
	"kube-scheduler-simulator/simulator/host/process"
	"kube-scheduler-simulator/simulator/scenarios/inmemory"
	"kube-scheduler-simulator/simulator/scenarios/scenario"
	"kube-scheduler-simulator/web"
)

// exitError is an error with its own exit code. Without Err, nothing is printed.
type exitError struct {
	code int
	err  error
}

func (e *exitError) Error() string { return e.err.Error() }

func (e *exitError) Unwrap() error { return e.err }

// Exit codes of run, compare and sweep.
const (
	exitFailed    = 1
	exitWrongFile = 2
)

func runScenarios(with []Option) *cobra.Command {
	r := newRunning("run FILE… [flags]",
		"Runs scenarios and says whether their expectations hold. The exit code is 0 if all do, 1 if one does not, and 2 if a file is wrong.", with)
	configurations := r.flags.StringSlice("configuration", nil, "`files` with scheduler configurations to run under in place of those in the file; default is Kubernetes' own")
	outputs := r.flags.StringArrayP("output", "o", nil, "`FORMAT=FILE` to write as well: junit=FILE, markdown=FILE, json=FILE, html=FILE, or perf=FILE with the measurements of scheduler_perf; may be given again")
	labels := r.flags.StringSlice("label-filter", nil, "of a file of scheduler_perf, the workloads with these `labels`, or with a leading - without them")
	workloads := r.flags.String("workload", "", "of a file of scheduler_perf, the workloads whose TestCase/Workload this regular `expression` matches")
	bare := r.flags.Bool("bare", false, "record no decisions, to measure the scheduler alone; expectations see none then")
	return r.flags.takes(func(ctx context.Context, files []string) error {
		if len(files) == 0 {
			return wrong(errors.New("which scenario file is to run? (see --help)"))
		}
		o, err := r.options()
		if err != nil {
			return wrong(err)
		}
		o.Configurations, o.Perf.Labels, o.Bare = *configurations, *labels, *bare
		if *workloads != "" {
			if o.Perf.Workloads, err = regexp.Compile(*workloads); err != nil {
				return wrong(fmt.Errorf("--workload: %w", err))
			}
		}
		if *bare && *r.engine != "memory" {
			return wrong(errors.New("--bare needs --engine memory: the full engine follows its scheduler by the recorded decisions"))
		}
		var parsed []runner.Output
		for _, text := range *outputs {
			output, err := runner.ParseOutput(text)
			if err != nil {
				return wrong(err)
			}
			parsed = append(parsed, output)
		}
		passed, err := runner.Run(ctx, files, parsed, o)
		return ended(passed, err)
	})
}

func compareConfigurations(with []Option) *cobra.Command {
	r := newRunning("compare A B --on FILE [flags]",
		"Runs a scenario under two scheduler configurations and says in what they differ: metrics, which pods moved, and which plugin made the difference. A and B are files, or default.", with)
	on := r.flags.String("on", "", "`file` with the scenario to run under both")
	file := r.flags.StringP("output", "o", "", "`file` for the whole comparison in JSON")
	return r.flags.takes(func(ctx context.Context, sides []string) error {
		if len(sides) != 2 || *on == "" {
			return wrong(errors.New("want two configurations and --on with a scenario (see --help)"))
		}
		o, err := r.options()
		if err != nil {
			return wrong(err)
		}
		return ended(true, runner.Compare(ctx, sides[0], sides[1], *on, *file, o))
	})
}

// wrong gives an error the exit code of a wrong command line or file. It returns nil for nil.
func wrong(err error) error {
	if err == nil {
		return nil
	}
	return &exitError{exitWrongFile, err}
}

func ended(passed bool, err error) error {
	if _, isFile := errors.AsType[*runner.FileError](err); isFile {
		return wrong(err)
	}
	if err == nil && !passed {
		return &exitError{code: exitFailed}
	}
	return err
}

type running struct {
	flags   flagSet
	app     app.Options
	engine  *string
	below   *string
	limit   *time.Duration
	seeds   *string
	version *string
	workers *int
}

func newRunning(usage, what string, with []Option) *running {
	r := &running{flags: newFlags(usage, what), app: optionsOf(with)}
	r.flags.command.SetFlagErrorFunc(func(_ *cobra.Command, err error) error { return wrong(fmt.Errorf("%w (see --help)", err)) })
	r.flags.sizes = func() process.Sizes {
		if *r.engine == "memory" { // such runs are short, and many go beside each other
			return process.Runs
		}
		return process.Server
	}
	r.engine = r.flags.String("engine", "memory", "`engine` that runs the scenarios: memory, in virtual time, or full, on a real control plane in real time")
	r.limit = r.flags.Duration("time-limit", defaultTimeLimit, "with --engine full, how much real `time` a run may take")
	r.below = r.flags.String("files-below", "", "`directory` below which a file may name others; default: the directory of the file itself")
	r.seeds = r.flags.String("seeds", "", "`seeds` to run in place of those in the file, such as 7 or 1..10")
	r.version = r.flags.String("kubernetes-version", "", "with --engine memory, the minor `version` of Kubernetes whose scheduler decides in place of that in the file, such as 1.35; make scheduler-1.35 builds it")
	r.workers = r.flags.Int("workers", runtime.GOMAXPROCS(0), "`number` of runs at the same time")
	return r
}

// defaultTimeLimit lets the node lifecycle controller evict the pods of a failed node, which takes
// six minutes.
const defaultTimeLimit = 10 * time.Minute

func (r *running) options() (runner.Options, error) {
	registry, err := r.app.Registry()
	if err != nil {
		return runner.Options{}, err
	}
	o := runner.Options{Parse: r.app.ParseConfiguration, Workers: *r.workers, FilesBelow: *r.below, Application: web.FS(), Now: time.Now, Out: os.Stdout, Progress: terminal(os.Stderr)}
	switch *r.engine {
	case "memory":
		o.Engine = inmemory.Engine(registry)
		if err := r.flags.without("engine full", "time-limit"); err != nil {
			return o, err
		}
	case "full":
		if *r.limit <= 0 {
			return o, errors.New("--time-limit: want more than 0")
		}
		if err := process.SetGates(""); err != nil {
			return o, err
		}
		r.app.Logger = textlogger.NewLogger(textlogger.NewConfig(textlogger.Output(os.Stderr)))
		o.Engine, o.TimeLimit = app.FullEngine(r.app, *r.limit), *r.limit
	default:
		return o, fmt.Errorf("--engine: want memory or full, not %q", *r.engine)
	}
	if *r.workers < 1 {
		return o, errors.New("--workers: want at least 1")
	}
	if *r.version != "" {
		if o.KubernetesVersion, err = versions.Named(*r.version); err != nil {
			return o, fmt.Errorf("--kubernetes-version: %w", err)
		}
		if err := versions.Check(o.KubernetesVersion); err != nil && o.KubernetesVersion != versions.Own {
			return o, fmt.Errorf("--kubernetes-version: %w", err)
		}
	}
	for part := range strings.SplitSeq(*r.seeds, ",") {
		if *r.seeds == "" {
			break
		}
		seeds, err := scenario.ParseSeeds(part)
		if err != nil {
			return o, fmt.Errorf("--seeds: %w", err)
		}
		o.Seeds = append(o.Seeds, seeds...)
	}
	return o, nil
}

// terminal returns a file if it is one that people watch, and nil otherwise.
func terminal(f *os.File) io.Writer {
	if at, err := f.Stat(); err != nil || at.Mode()&os.ModeCharDevice == 0 {
		return nil
	}
	return f
}
