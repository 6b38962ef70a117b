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
	"os"
	"os/signal"
	"syscall"

	"github.com/spf13/pflag"
	"k8s.io/client-go/rest"
	"k8s.io/klog/v2"
	"k8s.io/klog/v2/textlogger"
	frameworkruntime "k8s.io/kubernetes/pkg/scheduler/framework/runtime"

	"kube-scheduler-simulator/simulator/app"
	"kube-scheduler-simulator/simulator/quiet"
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
	if len(os.Args) > 1 {
		switch os.Args[1] {
		case "bench":
			return bench(ctx, os.Args[2:])
		case "record":
			return record(ctx, os.Args[2:])
		case "replay":
			return replayFile(ctx, os.Args[2:], with)
		}
	}
	return serve(ctx, os.Args[1:], with)
}

func serve(ctx context.Context, args []string, with []Option) error {
	options := app.DefaultOptions()
	for _, o := range with {
		o(&options)
	}
	flags := newFlags("simulator [flags]\n       simulator bench [flags]\n       simulator record [flags]\n       simulator replay FILE [flags]",
		"Runs a Kubernetes control plane and a recorded kube-scheduler, and serves their web application.")
	gates := flags.serve(&options)
	if done, err := flags.parse(args); done || err != nil {
		return err
	}
	return start(ctx, options, flags, *gates)
}

// start runs what the flags of serve say.
func start(ctx context.Context, options app.Options, flags flagSet, gates string) error {
	if err := app.SetFeatureGates(gates); err != nil {
		return err
	}
	options.TieSeed = flags.seed()
	options.Logger = textlogger.NewLogger(textlogger.NewConfig(textlogger.Output(os.Stderr)))
	return app.Run(ctx, options, os.Stdout)
}

// serve adds the flags of a simulator that serves.
func (flags flagSet) serve(options *app.Options) (gates *string) {
	flags.StringVar(&options.Listen, "listen", options.Listen, "`address` of the web server; off loopback it requires --token-file")
	flags.StringVar(&options.DataDir, "data-dir", "", "`directory` that keeps the cluster (default: a temporary one, removed at exit)")
	flags.controlPlane(options)
	flags.StringVar(&options.SchedulerConfig, "scheduler-config", "", "`file` with a KubeSchedulerConfiguration (default: Kubernetes' own default)")
	flags.IntVar(&options.AnnotationBytes, "annotation-bytes", options.AnnotationBytes, "`bytes` of results in a pod's annotations; 0 writes none")
	flags.Int64Var(&options.ResultsMemory, "results-memory", options.ResultsMemory, "`bytes` of results kept in memory; older ones are read from disk")
	flags.Int64Var(&options.ResultsDisk, "results-disk", options.ResultsDisk, "`bytes` of results kept on disk, in the data directory")
	flags.StringVar(&options.TokenFile, "token-file", "", "`file` with the token that every request must carry")
	flags.StringSliceVar(&options.Controllers, "controllers", options.Controllers, "`controllers` that run, as for kube-controller-manager: * for the usual ones, NAME, -NAME")
	flags.BoolVar(&options.NoVirtualNodes, "no-virtual-nodes", false, "nothing stands in for kubelets: nodes can be used as they are, pods stay as they were bound")
	flags.StringVar(&options.Stages, "stages", "", "`file` of kwok Stages that say what nodes and pods do, in place of the built-in ones")
	flags.StringVar(&options.Devices, "devices", "", "`file` with the devices that nodes publish, for dynamic resource allocation")
	flags.StringVar(&options.Import, "import", "", "`path` of a file, directory or archive of objects that is imported at the start")
	flags.BoolVar(&options.Reschedule, "reschedule", false, "pods that are imported, or come from a cluster that is followed, are scheduled anew instead of staying where they were bound")
	flags.source(&options.Source)
	flags.Int64(tieSeedFlag, 0, "decide among nodes with the same total by this `number`, and search them one by one, so that a second run decides the same (default: chance, as in Kubernetes)")
	return flags.String("feature-gates", "", "Kubernetes feature `gates`, as A=true,B=false")
}

// controlPlane adds the flags of one that is there already, or of its etcd.
func (flags flagSet) controlPlane(options *app.Options) {
	flags.StringVar(&options.Kubeconfig, "kubeconfig", "", "kubeconfig `file` of a cluster to work with, in place of one of our own: scheduler, results and page only")
	flags.StringVar(&options.KubeContext, "context", "", "`name` of a context of --kubeconfig (default: its current one)")
	flags.StringSliceVar(&options.Etcd.Servers, "etcd-servers", nil, "`addresses` of an etcd to keep the cluster in, in place of one of our own: http://, https:// or unix://")
	flags.StringVar(&options.Etcd.Prefix, "etcd-prefix", "", "`prefix` of all keys in that etcd (default /registry)")
	flags.StringVar(&options.Etcd.CAFile, "etcd-cafile", "", "`file` with the authorities that vouch for that etcd")
	flags.StringVar(&options.Etcd.CertFile, "etcd-certfile", "", "`file` with the certificate that that etcd asks for")
	flags.StringVar(&options.Etcd.KeyFile, "etcd-keyfile", "", "`file` with the key of --etcd-certfile")
}

// source adds the flags of a cluster whose objects come here.
func (flags flagSet) source(options *app.SourceOptions) {
	flags.StringVar(&options.ImportKubeconfig, "import-kubeconfig", "", "kubeconfig `file` of a cluster that is imported once, after the start; it is only read, and never its secrets")
	flags.StringVar(&options.SyncKubeconfig, "sync-kubeconfig", "", "kubeconfig `file` of a cluster that is followed: what changes there changes here; it is only read, and never its secrets")
	flags.StringVar(&options.Context, "source-context", "", "`context` of that kubeconfig (default: its current one)")
	flags.StringSliceVar(&options.Namespaces, "source-namespaces", nil, "only what is in these `namespaces`, and what is in none (default: all)")
	flags.StringVar(&options.Selector, "source-selector", "", "only pods with these `labels`")
	flags.Float32Var(&options.QPS, "source-qps", app.DefaultSourceQPS, "`number` of requests per second at most that the cluster gets")
	flags.BoolVar(&options.Redact, "redact", false, "replace the names, labels and images of that cluster by others, each by the same one throughout")
}

const tieSeedFlag = "tie-seed"

// seed returns nil when the flag is not given: 0 is a seed, too.
func (flags flagSet) seed() *int64 {
	if !flags.Changed(tieSeedFlag) {
		return nil
	}
	seed, _ := flags.GetInt64(tieSeedFlag) // parsed already
	return &seed
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

// parseWith is parse for a command that takes arguments, which it returns.
func (f flagSet) parseWith(args []string) (rest []string, done bool, err error) {
	switch err := f.Parse(args); {
	case errors.Is(err, pflag.ErrHelp):
		return nil, true, nil
	case err != nil:
		return nil, true, fmt.Errorf("%w (see --help)", err)
	}
	return f.Args(), false, setUpLogging(*f.verbosity)
}

// setUpLogging sends Kubernetes' logs to stderr, quietly at level 0.
func setUpLogging(level int) error {
	flags := flag.NewFlagSet("klog", flag.ContinueOnError)
	klog.InitFlags(flags)
	if err := flags.Set("v", fmt.Sprint(level)); err != nil {
		return fmt.Errorf("setting up logging: %w", err)
	}
	if level != 0 {
		return nil
	}
	rest.SetDefaultWarningHandler(rest.NoWarnings{})
	return quiet.Klog()
}
