// Package command is the simulator's command line: flags, signals and exit code.
// A program of one's own that calls Main has the whole simulator, with plugins of
// one's own beside those of Kubernetes:
//
//	func main() {
//		command.Main(command.WithPlugin(nodelimit.Name, nodelimit.New))
//	}
//
// It may import the app package.
package command

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"

	"github.com/spf13/pflag"
	"k8s.io/client-go/rest"
	"k8s.io/klog/v2"
	"k8s.io/klog/v2/textlogger"
	frameworkruntime "k8s.io/kubernetes/pkg/scheduler/framework/runtime"

	"kube-scheduler-simulator/simulator/app"
)

// Option changes what Main runs.
type Option func(*app.Options)

// WithPlugin registers a plugin beside those of Kubernetes. A configuration
// enables it by name, and its factory gets the arguments of that configuration as
// in any kube-scheduler. It is recorded as all plugins are.
func WithPlugin(name string, factory frameworkruntime.PluginFactory) Option {
	return func(o *app.Options) {
		if o.Plugins == nil {
			o.Plugins = frameworkruntime.Registry{}
		}
		o.Plugins[name] = factory
	}
}

// Main runs the command that the program's arguments name and ends the program,
// with exit code 0 or, after a line on stderr, 1.
func Main(with ...Option) {
	if err := run(with); err != nil {
		fmt.Fprintln(os.Stderr, "simulator:", err)
		os.Exit(1)
	}
}

func run(with []Option) error {
	ctx, cancel := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM)
	defer cancel()
	go balanceMemory(ctx)
	if len(os.Args) > 1 && os.Args[1] == "bench" {
		return bench(ctx, os.Args[2:])
	}
	return serve(ctx, os.Args[1:], with)
}

func serve(ctx context.Context, args []string, with []Option) error {
	options := app.DefaultOptions()
	for _, o := range with {
		o(&options)
	}
	flags := newFlags("simulator [flags]\n       simulator bench [flags]",
		"Runs a Kubernetes control plane and a recorded kube-scheduler, and serves their web application.")
	flags.StringVar(&options.Listen, "listen", options.Listen, "`address` of the web server; off loopback it requires --token-file")
	flags.StringVar(&options.DataDir, "data-dir", "", "`directory` that keeps the cluster (default: a temporary one, removed at exit)")
	flags.StringVar(&options.SchedulerConfig, "scheduler-config", "", "`file` with a KubeSchedulerConfiguration (default: Kubernetes' own default)")
	flags.IntVar(&options.AnnotationBytes, "annotation-bytes", options.AnnotationBytes, "`bytes` of results in a pod's annotations; 0 writes none")
	flags.Int64Var(&options.ResultsMemory, "results-memory", options.ResultsMemory, "`bytes` of results kept in memory; older ones are read from disk")
	flags.Int64Var(&options.ResultsDisk, "results-disk", options.ResultsDisk, "`bytes` of results kept on disk, in the data directory")
	flags.StringVar(&options.TokenFile, "token-file", "", "`file` with the token that every request must carry")
	flags.StringSliceVar(&options.Controllers, "controllers", options.Controllers, "`controllers` that run, as for kube-controller-manager: * for the usual ones, NAME, -NAME")
	flags.BoolVar(&options.NoVirtualNodes, "no-virtual-nodes", false, "nothing stands in for kubelets: nodes can be used as they are, pods stay as they were bound")
	flags.StringVar(&options.Stages, "stages", "", "`file` of kwok Stages that say what nodes and pods do, in place of the built-in ones")
	flags.StringVar(&options.Devices, "devices", "", "`file` with the devices that nodes publish, for dynamic resource allocation")
	gates := flags.String("feature-gates", "", "Kubernetes feature `gates`, as A=true,B=false")
	if done, err := flags.parse(args); done || err != nil {
		return err
	}
	if err := app.SetFeatureGates(*gates); err != nil {
		return err
	}
	options.Logger = textlogger.NewLogger(textlogger.NewConfig(textlogger.Output(os.Stderr)))
	return app.Run(ctx, options, os.Stdout)
}

func bench(ctx context.Context, args []string) error {
	options := app.BenchOptions{Nodes: 1000, Pods: 1000, Pairs: 3, AnnotationBytes: app.DefaultOptions().AnnotationBytes}
	flags := newFlags("simulator bench [flags]",
		"Measures bare against recorded scheduling, in alternating runs, and prints one JSON object.")
	table := flags.Bool("table", false, "measure 100, 1,000 and 5,000 nodes, without annotations and with, and print a table")
	flags.IntVar(&options.Nodes, "nodes", options.Nodes, "`number` of nodes")
	flags.IntVar(&options.Pods, "pods", options.Pods, "`number` of pods that each run schedules")
	flags.IntVar(&options.Pairs, "pairs", options.Pairs, "`number` of pairs of runs; their median is reported")
	flags.IntVar(&options.AnnotationBytes, "annotation-bytes", options.AnnotationBytes, "`bytes` of results in a pod's annotations; 0 writes none")
	if done, err := flags.parse(args); done || err != nil {
		return err
	}
	if *table {
		return app.BenchTable(ctx, options, os.Stdout)
	}
	return app.Bench(ctx, options, os.Stdout)
}

// flagSet has the flags of a command and those that all have.
type flagSet struct {
	*pflag.FlagSet
	verbosity *int
}

func newFlags(usage, what string) flagSet {
	f := pflag.NewFlagSet("simulator", pflag.ContinueOnError)
	f.Usage = func() { fmt.Fprintf(os.Stderr, "Usage: %s\n\n%s\n\n%s", usage, what, f.FlagUsages()) }
	return flagSet{f, f.IntP("v", "v", 0, "log `level`: 0 logs what the simulator itself finds wrong, 1 and more also what Kubernetes' components log")}
}

// parse reports whether there is nothing left to do, because help was asked for.
func (f flagSet) parse(args []string) (done bool, err error) {
	switch err := f.Parse(args); {
	case errors.Is(err, pflag.ErrHelp):
		return true, nil
	case err != nil:
		return true, fmt.Errorf("%w (see --help)", err)
	case f.NArg() > 0:
		return true, fmt.Errorf("unknown argument %q (see --help)", f.Arg(0))
	}
	return false, setUpLogging(*f.verbosity)
}

// setUpLogging sends Kubernetes' logs to stderr, quietly at level 0.
func setUpLogging(level int) error {
	flags := flag.NewFlagSet("klog", flag.ContinueOnError)
	klog.InitFlags(flags)
	settings := map[string]string{"v": fmt.Sprint(level)}
	if level == 0 {
		// What Kubernetes' components log as errors is everyday business of
		// starting, stopping and retrying. Neither files nor stderr.
		settings["logtostderr"] = "false"
		settings["alsologtostderr"] = "false"
		settings["stderrthreshold"] = "FATAL"
		klog.SetOutput(io.Discard)
		rest.SetDefaultWarningHandler(rest.NoWarnings{})
	}
	for name, value := range settings {
		if err := flags.Set(name, value); err != nil {
			return fmt.Errorf("setting up logging: %w", err)
		}
	}
	return nil
}
