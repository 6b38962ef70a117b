// Package command is the simulator's command line: flags, signals and exit code. Your own program
// can call Main to run the whole simulator with your plugins in addition to those of Kubernetes;
// see the example of WithPlugin.
//
// It only parses flags and starts commands. It may import the packages behind its commands (app,
// ask, bench, fanout, replay with its subpackages, runner, standalone, version), those that define
// their options, and quiet.
package command

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"github.com/spf13/cobra"
	"io"
	"os"
	"os/signal"
	"strings"
	"syscall"

	"github.com/spf13/pflag"
	"k8s.io/client-go/rest"
	"k8s.io/klog/v2"
	"k8s.io/klog/v2/textlogger"
	frameworkruntime "k8s.io/kubernetes/pkg/scheduler/framework/runtime"

	"kube-scheduler-simulator/simulator/app"
	"kube-scheduler-simulator/simulator/bench"
	"kube-scheduler-simulator/simulator/elsewhere/mirror"
	"kube-scheduler-simulator/simulator/elsewhere/mirror/following"
	"kube-scheduler-simulator/simulator/host/process"
	"kube-scheduler-simulator/simulator/host/quiet"
)

// Option changes what Main runs.
type Option func(*app.Options)

// WithPlugin registers a plugin in addition to those of Kubernetes. A configuration enables it by
// name, and its factory gets the arguments from that configuration, as in any kube-scheduler. The
// simulator records it like every other plugin.
func WithPlugin(name string, factory frameworkruntime.PluginFactory) Option {
	return func(o *app.Options) {
		if o.Plugins == nil {
			o.Plugins = frameworkruntime.Registry{}
		}
		o.Plugins[name] = factory
	}
}

// Main runs the command that the program's arguments name. It exits with code 1, after one line on
// stderr, when the command fails, with code 2 when the answer to a question is no and the flags ask
// for that, with the exit code of a run, and otherwise returns.
func Main(with ...Option) {
	err := run(with)
	exit, isExit := errors.AsType[*exitError](err)
	switch {
	case errors.Is(err, errNo):
		os.Exit(2)
	case isExit:
		if exit.err != nil {
			fmt.Fprintln(os.Stderr, "simulator:", exit.err)
		}
		os.Exit(exit.code)
	case err != nil:
		fmt.Fprintln(os.Stderr, "simulator:", err)
		os.Exit(1)
	}
}

func run(with []Option) error {
	ctx, cancel := untilSignal()
	defer cancel()
	return program(with).ExecuteContext(ctx)
}

// The command without a name contains all others.
func program(with []Option) *cobra.Command {
	// cobra offers the flags that packages of Kubernetes register for every program, such as
	// --version.
	pflag.CommandLine = pflag.NewFlagSet("simulator", pflag.ContinueOnError)
	root := serve(with)
	root.AddCommand(
		runBench(), record(), replayFile(with), whyThere(with), submitJobs(with), autoscaleNodes(with), drainNodes(with), descheduleNodes(with), upgrades(with), whatIf(with), capacity(with), runScenarios(with), compareConfigurations(with), serveAgents(with),
		sweepParameters(with), lessons(with), report(), ready(), showVersion(),
	)
	root.SilenceErrors, root.SilenceUsage = true, true
	root.SetFlagErrorFunc(func(_ *cobra.Command, err error) error { return fmt.Errorf("%w (see --help)", err) })
	return root
}

// untilSignal returns a context that ends with the first SIGINT or SIGTERM, which stops the program
// in order. Before the context ends, signals regain their usual effect, so that a second one ends
// the program at once.
func untilSignal() (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancel(context.Background())
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, syscall.SIGINT, syscall.SIGTERM)
	go func() {
		select {
		case <-signals:
		case <-ctx.Done():
		}
		signal.Stop(signals)
		cancel()
	}()
	return ctx, cancel
}

func serve(with []Option) *cobra.Command {
	options := optionsOf(with)
	flags := newFlags("simulator [flags]",
		"Runs a Kubernetes control plane and a recorded kube-scheduler, and serves their web application.")
	kubernetes := flags.serve(&options)
	flags.branch(&options)
	return flags.runs(func(ctx context.Context) error {
		if options.Branch != "" {
			var cancel context.CancelFunc
			ctx, cancel = untilInputEnds(ctx)
			defer cancel()
		}
		return start(ctx, options, flags, kubernetes)
	})
}

func optionsOf(with []Option) app.Options {
	options := app.DefaultOptions()
	for _, o := range with {
		o(&options)
	}
	return options
}

func start(ctx context.Context, options app.Options, flags flagSet, kubernetes *kubernetesFlags) error {
	if err := kubernetes.apply(); err != nil {
		return err
	}
	options.TieSeed = flags.seed()
	options.BranchFlags = flags.ofBranches()
	options.Logger = textlogger.NewLogger(textlogger.NewConfig(textlogger.Output(os.Stderr)))
	return app.Run(ctx, options, os.Stdout)
}

// kubernetesFlags say which Kubernetes the process is.
type kubernetesFlags struct{ version, minCompatibility, gates string }

func (flags flagSet) kubernetes() *kubernetesFlags {
	k := &kubernetesFlags{}
	flags.StringVar(&k.version, "kubernetes-version", "", "minor `version` of Kubernetes to emulate, such as 1.35: its feature gates and APIs, with the code of this program (default: this program's own)")
	flags.StringVar(&k.minCompatibility, "min-compatibility-version", "", "oldest minor `version` of Kubernetes that the cluster's parts may have, as for kube-apiserver; some feature gates are on only from a certain one")
	flags.StringVar(&k.gates, "feature-gates", "", "Kubernetes feature `gates`, as A=true,B=false")
	return k
}

func (k *kubernetesFlags) apply() error {
	if err := process.Emulate(k.version, k.minCompatibility); err != nil {
		return err
	}
	return process.SetGates(k.gates)
}

func (flags flagSet) serve(options *app.Options) *kubernetesFlags {
	flags.StringVar(&options.Listen, "listen", options.Listen, "`address` of the web server; an address that is not loopback requires --token-file")
	flags.StringVar(&options.DataDir, "data-dir", "", "`directory` that keeps the cluster (default: a temporary one, removed at exit)")
	flags.BoolVar(&options.SharedDataDir, "allow-shared-data-dir", false, "take a data directory that belongs to another user, or that other users may write")
	flags.controlPlane(options)
	flags.StringVar(&options.SchedulerConfig, "scheduler-config", "", "`file` with a KubeSchedulerConfiguration (default: Kubernetes' own default)")
	flags.IntVar(&options.AnnotationBytes, "annotation-bytes", options.AnnotationBytes, "`bytes` of results in a pod's annotations; 0 writes no annotations")
	flags.Int64Var(&options.ResultsMemory, "results-memory", options.ResultsMemory, "`bytes` of results kept in memory; older ones are read from disk")
	flags.Int64Var(&options.ResultsDisk, "results-disk", options.ResultsDisk, "`bytes` of results kept on disk, in the data directory")
	flags.Int64Var(&options.TimelineBytes, "timeline-bytes", options.TimelineBytes, "`bytes` of the time line on disk, in the data directory; 0 records none")
	flags.StringVar(&options.TokenFile, "token-file", "", "`file` with the token that every request must carry")
	flags.StringSliceVar(&options.Controllers, "controllers", options.Controllers, "`controllers` to run, in the syntax of kube-controller-manager: * for the usual ones, NAME, -NAME")
	flags.BoolVar(&options.NoVirtualNodes, "no-virtual-nodes", false, "do not simulate kubelets: nodes are usable as they are, and bound pods do not run")
	flags.StringVar(&options.Stages, "stages", "", "`file` of kwok Stages that define how nodes and pods behave, instead of the built-in ones")
	flags.StringVar(&options.Devices, "devices", "", "`file` with the devices that nodes publish, for dynamic resource allocation")
	flags.StringVar(&options.NUMA, "numa", "", "`file` that says how nodes are cut into NUMA nodes, for NodeResourceTopologyMatch")
	flags.StringSliceVar(&options.Definitions, "crds", nil, "`plugins` whose custom resource definitions are installed at the start, or all (default: each comes with a configuration that enables its plugin)")
	flags.BoolVar(&options.SessionScheduler, "session-scheduler", false, "also run the session schedulers kube-batch and volcano and the flow scheduler poseidon, for pods that name one of them as their scheduler")
	flags.Var(kueueMode{options}, "kueue", "on installs the kinds of Kueue (kueue.x-k8s.io) and admits jobs and pods by queues, as Kueue does; off leaves them to a Kueue of your own")
	flags.Lookup("kueue").NoOptDefVal = "on"
	flags.BoolVar(&options.Karpenter, "karpenter", false, "run Karpenter's controllers, which add nodes for pods that wait and take them away again, as its NodePools (karpenter.sh) say")
	flags.StringVar(&options.InstanceTypes, "instance-types", "", "`file` of the instance types that Karpenter can buy, with their prices, in the format of its KWOK provider (default: a small set with example prices)")
	flags.StringVar(&options.Import, "import", "", "`path` of a file, directory or archive of objects to import at the start")
	flags.BoolVar(&options.Reschedule, "reschedule", false, "schedule imported pods, and pods of a followed cluster, again instead of keeping them where they were bound")
	flags.BoolVar(&options.Outbound.Anywhere, "allow-outbound", false, "let webhooks, APIServices and extenders call any address, not only those on loopback")
	flags.BoolVar(&options.ActivateImported, "activate-imported", false, "let imported webhooks, APIServices and extenders call the programs that they name, instead of keeping them inactive")
	flags.StringVar(&options.ExampleExtender, "example-extender", "", "loopback `address` at which the example extender answers, for configurations that name it")
	flags.source(&options.Source)
	flags.StringVar(&options.Lessons, "lessons", "", "`directory` with lessons of your own, in addition to the built-in ones")
	flags.StringVar(&options.Lesson, lessonFlag, "", "")
	_ = flags.MarkHidden(lessonFlag) // only a simulator that makes the sandbox of a lesson sets it
	flags.Int64(tieSeedFlag, 0, "choose among nodes with the same total by this `number`, and search nodes one by one, so that another run makes the same decisions (default: random choice, as in Kubernetes)")
	return flags.kubernetes()
}

func (flags flagSet) controlPlane(options *app.Options) {
	flags.StringVar(&options.Kubeconfig, "kubeconfig", "", "kubeconfig `file` of an existing cluster to use instead of starting one: only the scheduler, the results and the web application run here")
	flags.StringVar(&options.KubeContext, "context", "", "`name` of a context of --kubeconfig (default: its current one)")
	flags.StringSliceVar(&options.Etcd.Servers, "etcd-servers", nil, "`addresses` of an existing etcd to keep the cluster in: http://, https:// or unix://")
	flags.StringVar(&options.Etcd.Prefix, "etcd-prefix", "", "`prefix` of all keys in that etcd (default /registry)")
	flags.StringVar(&options.Etcd.CAFile, "etcd-cafile", "", "`file` with the certificate authorities of that etcd")
	flags.StringVar(&options.Etcd.CertFile, "etcd-certfile", "", "`file` with the client certificate for that etcd")
	flags.StringVar(&options.Etcd.KeyFile, "etcd-keyfile", "", "`file` with the key of --etcd-certfile")
}

func (flags flagSet) source(options *following.Options) {
	flags.StringVar(&options.ImportKubeconfig, "import-kubeconfig", "", "kubeconfig `file` of a cluster to import once, after the start; the simulator only reads from it, and never its secrets")
	flags.StringVar(&options.SyncKubeconfig, "sync-kubeconfig", "", "kubeconfig `file` of a cluster to follow: changes there are applied here; the simulator only reads from it, and never its secrets")
	flags.StringVar(&options.Context, "source-context", "", "`context` of that kubeconfig (default: its current one)")
	flags.StringSliceVar(&options.Namespaces, "source-namespaces", nil, "copy only objects in these `namespaces`, and objects without a namespace (default: all)")
	flags.StringVar(&options.Selector, "source-selector", "", "copy only pods with these `labels`")
	flags.Float32Var(&options.QPS, "source-qps", mirror.DefaultQPS, "maximum `number` of requests per second to that cluster")
	flags.BoolVar(&options.Redact, "redact", false, "replace the names, labels and images of that cluster, each one consistently")
}

const (
	tieSeedFlag = "tie-seed"
	lessonFlag  = "lesson"
)

// seed returns nil when the flag is not given, because 0 is a valid seed.
func (flags flagSet) seed() *int64 {
	if !flags.Changed(tieSeedFlag) {
		return nil
	}
	seed, _ := flags.GetInt64(tieSeedFlag) // parsed already
	return &seed
}

func runBench() *cobra.Command {
	options := bench.Options{Load: bench.Plain, Nodes: 1000, Pods: 1000, Pairs: 7, AnnotationBytes: app.DefaultOptions().AnnotationBytes}
	flags := newFlags("bench [flags]",
		"Measures bare against recorded scheduling, in alternating runs, and prints one JSON object.")
	table := flags.Bool("table", false, "measure every load, or that of --load, at 100, 1,000 and 5,000 nodes, or the number of --nodes, without and with annotations, with the number of --pods or as many as fill some seconds, and print a table")
	flags.StringVar((*string)(&options.Load), "load", string(options.Load), "`kind` of cluster and pods: plain, rejecting, spread, antiaffinity, preempting, waiting or batch")
	flags.IntVar(&options.Nodes, "nodes", options.Nodes, "`number` of nodes")
	flags.IntVar(&options.Pods, "pods", options.Pods, "`number` of pods that each run schedules")
	flags.IntVar(&options.Pairs, "pairs", options.Pairs, "`number` of pairs of runs; their median is reported")
	flags.BoolVar(&options.Timeline, "timeline", false, "measures the cost of the time line, too")
	flags.IntVar(&options.AnnotationBytes, "annotation-bytes", options.AnnotationBytes, "`bytes` of results in a pod's annotations; 0 writes no annotations")
	openb := flags.String("openb", "", "`directory` with nodes.csv and pods.csv of the production cluster openb: instead run it in memory, import it into a whole simulator, and print the times and the memory of both")
	paper := flags.String("paper", "", "published `measurement` to repeat instead: kueue runs the load of Kueue's own performance test through the queues in virtual time")
	imported := flags.Bool("import", false, "instead import --nodes nodes, and then --pods pods that all fit, into a whole simulator with a data directory, and print the times, the memory, and the processor time of each part")
	flags.StringVar(&options.CPUProfile, "cpuprofile", "", "`file` for a CPU profile of the recorded runs")
	flags.StringVar(&options.BareCPUProfile, "bare-cpuprofile", "", "`file` for a CPU profile of the bare runs")
	flags.StringVar(&options.MemoryProfile, "memprofile", "", "`file` for a memory profile of the end of the last recorded run")
	return flags.runs(func(ctx context.Context) error {
		if *paper != "" {
			if err := flags.alone("paper", "openb", "import", "table", "load", "nodes", "pods", "pairs", "timeline", "annotation-bytes", "cpuprofile", "bare-cpuprofile", "memprofile"); err != nil {
				return err
			}
			return bench.Paper(ctx, *paper, os.Stdout)
		}
		if *openb != "" {
			if err := flags.alone("openb", "import", "table", "load", "nodes", "pods", "pairs", "timeline", "annotation-bytes", "cpuprofile", "bare-cpuprofile", "memprofile"); err != nil {
				return err
			}
			return bench.Openb(ctx, *openb, os.Stdout)
		}
		if *imported {
			if err := flags.alone("import", "table", "load", "pairs", "timeline", "annotation-bytes", "bare-cpuprofile"); err != nil {
				return err
			}
			return bench.Import(ctx, bench.ImportOptions{
				Nodes: options.Nodes, Pods: options.Pods, CPUProfile: options.CPUProfile, MemoryProfile: options.MemoryProfile,
				Serve: func(ctx context.Context, dataDir string, out io.Writer) error {
					served := app.DefaultOptions()
					served.Listen, served.DataDir = "127.0.0.1:0", dataDir
					served.Logger = textlogger.NewLogger(textlogger.NewConfig(textlogger.Output(os.Stderr)))
					return app.Run(ctx, served, out)
				},
			}, os.Stdout)
		}
		if *table {
			loads, sizes := bench.Loads, bench.Sizes
			if flags.Changed("load") {
				loads = []bench.Load{options.Load}
			}
			if flags.Changed("nodes") {
				sizes = []int{options.Nodes}
			}
			if !flags.Changed("pods") {
				options.Pods = 0
			}
			return bench.Table(ctx, options, loads, sizes, os.Stdout)
		}
		return bench.Run(ctx, options, os.Stdout)
	})
}

// flagSet holds a command under construction, and its flags.
type flagSet struct {
	*pflag.FlagSet
	command   *cobra.Command
	verbosity *int
	// Call sizes only once the flags are parsed.
	sizes func() process.Sizes
}

// newFlags returns a command without anything to run. Its short description is the beginning of
// what it does.
func newFlags(usage, what string) flagSet {
	short := what[:max(0, strings.IndexAny(what, ".,:"))]
	c := &cobra.Command{Use: usage, Long: what, Short: short, DisableFlagsInUseLine: true}
	f := c.Flags()
	return flagSet{
		f, c, f.IntP("v", "v", 0, "log `level`: 0 logs the simulator's own problems, 1 and more also the logs of Kubernetes' components"),
		func() process.Sizes { return process.Server },
	}
}

func (f flagSet) takes(do func(ctx context.Context, args []string) error) *cobra.Command {
	f.command.Args = cobra.ArbitraryArgs
	return f.with(do)
}

// runs returns a command without arguments.
func (f flagSet) runs(do func(ctx context.Context) error) *cobra.Command {
	f.command.Args = noArguments
	return f.with(func(ctx context.Context, _ []string) error { return do(ctx) })
}

// An argument may be a misspelt command.
func noArguments(c *cobra.Command, args []string) error {
	switch {
	case len(args) == 0:
		return nil
	case !c.HasSubCommands():
		return fmt.Errorf("unknown argument %q (see --help)", args[0])
	}
	c.SuggestionsMinimumDistance = 2
	if near := c.SuggestionsFor(args[0]); len(near) > 0 {
		return fmt.Errorf("unknown command %q; did you mean %s? (see --help)", args[0], strings.Join(near, " or "))
	}
	return fmt.Errorf("unknown command %q (see --help)", args[0])
}

func (f flagSet) with(do func(ctx context.Context, args []string) error) *cobra.Command {
	f.command.RunE = func(c *cobra.Command, args []string) error {
		if err := setUpLogging(*f.verbosity); err != nil {
			return err
		}
		go process.Balance(c.Context(), f.sizes())
		return do(c.Context(), args)
	}
	return f.command
}

// without refuses flags that make sense only with the flag other.
func (f flagSet) without(other string, flags ...string) error {
	for _, flag := range flags {
		if f.Changed(flag) {
			return fmt.Errorf("--%s needs --%s (see --help)", flag, other)
		}
	}
	return nil
}

// alone refuses flags that make no sense with the flag this.
func (f flagSet) alone(this string, flags ...string) error {
	for _, flag := range flags {
		if f.Changed(flag) {
			return fmt.Errorf("--%s and --%s exclude each other (see --help)", this, flag)
		}
	}
	return nil
}

// setUpLogging sends Kubernetes' logs to stderr and silences them at level 0.
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

// kueueMode is the flag --kueue, which once was true or false.
type kueueMode struct{ options *app.Options }

var _ pflag.Value = kueueMode{}

func (m kueueMode) String() string {
	switch {
	case m.options == nil:
		return ""
	case m.options.KueueOff:
		return "off"
	case m.options.Kueue:
		return "on"
	}
	return ""
}

func (m kueueMode) Set(value string) error {
	switch value {
	case "on", "true":
		m.options.Kueue, m.options.KueueOff = true, false
	case "off":
		m.options.Kueue, m.options.KueueOff = false, true
	case "", "false":
		m.options.Kueue, m.options.KueueOff = false, false
	default:
		return errors.New("must be on or off")
	}
	return nil
}

func (kueueMode) Type() string { return "on|off" }
