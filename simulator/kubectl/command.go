package kubectl

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"os/signal"
	"slices"
	"syscall"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"golang.org/x/term"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/cli-runtime/pkg/genericclioptions"
	"k8s.io/klog/v2"

	"kube-scheduler-simulator/scheduler/config"
	"kube-scheduler-simulator/scheduler/plugins"
	"kube-scheduler-simulator/scheduler/plugins/argument"
	"kube-scheduler-simulator/simulator/agents"
	"kube-scheduler-simulator/simulator/elsewhere/mirror"
	"kube-scheduler-simulator/simulator/host/process"
	"kube-scheduler-simulator/simulator/host/version"
	"kube-scheduler-simulator/simulator/questions/standalone"
)

// Main runs kubectl-why with the program's arguments, and exits with Yes, No or CannotTell.
func Main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	pflag.CommandLine = pflag.NewFlagSet("kubectl-why", pflag.ContinueOnError)
	err := New(os.Stdin, os.Stdout, os.Stderr).ExecuteContext(ctx)
	stop()
	if err == nil {
		return
	}
	code := CannotTell
	if e, ok := errors.AsType[*ExitError](err); ok {
		code, err = e.Code, e.Err
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "error:", err)
	}
	os.Exit(code)
}

// clusterQPS lets large lists follow each other without a pause.
const clusterQPS = 50

type command struct {
	flags    *genericclioptions.ConfigFlags
	in       io.Reader
	out, err io.Writer

	files                    []string
	node                     string
	outputs                  Outputs
	fit                      bool
	schedulerConfig, profile string
	featureGates             string
	state                    string
	limit                    int
	submit                   bool
}

// New returns the command of kubectl-why.
func New(in io.Reader, out, errs io.Writer) *cobra.Command {
	c := &command{flags: genericclioptions.NewConfigFlags(true), in: in, out: out, err: errs}
	root := &cobra.Command{
		Use:   "kubectl-why (POD | TYPE/NAME | -f FILE)... [flags]",
		Short: "Says why a pod is on its node, why it is pending, or whether it would fit",
		Long: `Says why a pod is on its node, why it is pending, or whether it would fit: which nodes reject it and by which plugin, which
nodes are nearest, which least change makes it fit, whom preemption would evict, and what it waits for.

Kubernetes' own scheduler decides, in this process, on a copy of the cluster's state. The cluster is only read.

Exit code: 0 it runs or fits, 1 it waits or does not fit, 2 it could not be told.`,
		Example: `  kubectl why web-7f9c-t8wn                # why pending, or why there
  kubectl why deployment/web -n shop       # what of its missing pods
  kubectl why -f train.yaml                # before anything is created
  kubectl why --submit -f train.yaml       # would its queue admit it, and when
  kubectl why web-7f9c-t8wn --node node-3  # why not there
  kubectl why web-7f9c-t8wn --fit          # the commands that make it fit`,
		Args: cobra.ArbitraryArgs, SilenceErrors: true, SilenceUsage: true, Version: version.Get().Simulator,
		RunE: func(cmd *cobra.Command, args []string) error { return c.run(cmd.Context(), args) },
	}
	root.SetIn(in)
	root.SetOut(out)
	root.SetErr(errs)
	root.SetFlagErrorFunc(func(_ *cobra.Command, err error) error { return fmt.Errorf("%w (see --help)", err) })
	root.CompletionOptions.DisableDefaultCmd = true
	f := root.PersistentFlags()
	f.StringSliceVarP(&c.files, "filename", "f", nil, "`file`, directory or archive with pods or workloads to ask about before they are created; - is stdin. Other objects in it count as created")
	f.StringVar(&c.node, "node", "", "`name` of the only node to ask about: why not there?")
	f.BoolVar(&c.fit, "fit", false, "also print the commands that make the least changes")
	f.VarP(&c.outputs, "output", "o", Usage)
	f.StringVar(&c.schedulerConfig, "scheduler-config", "", "`file` with the cluster's KubeSchedulerConfiguration (default: Kubernetes' own)")
	f.StringVar(&c.profile, "profile", "", "scheduler `name` of the profile to ask (default: the one that the pod names)")
	f.StringVar(&c.featureGates, "feature-gates", "", "feature `gates` of the cluster's scheduler, as A=true,B=false")
	f.StringVar(&c.state, "state", "", "`path` of a file, directory or archive of objects to ask instead of a cluster")
	f.IntVar(&c.limit, "limit", 0, "the `number` of changes to look for (default 10)")
	f.BoolVar(&c.submit, "submit", false, "ask what would become of the jobs of the files if they were submitted: by Kueue's queues, and then by the scheduler")
	c.flags.AddFlags(f)
	root.AddCommand(c.agents())
	return root
}

func (c *command) run(ctx context.Context, args []string) error {
	if err := c.outputs.Check(); err != nil {
		return err
	}
	namespace, _, err := c.flags.ToRawKubeConfigLoader().Namespace()
	if err != nil && c.state == "" {
		return err
	}
	if namespace == "" {
		namespace = "default"
	}
	if c.submit {
		return c.runSubmit(ctx, args, namespace)
	}
	questions, err := Questions(ctx, args, c.files, namespace, c.in)
	if err != nil {
		return err
	}
	var configuration []byte
	if c.schedulerConfig != "" {
		if configuration, err = os.ReadFile(c.schedulerConfig); err != nil {
			return fmt.Errorf("reading the scheduler configuration: %w", err)
		}
	}
	for i := range questions {
		questions[i].Node, questions[i].Profile, questions[i].Limit, questions[i].Configuration = c.node, c.profile, c.limit, configuration
	}
	cluster, err := c.open(ctx)
	if err != nil {
		return err
	}
	answers, err := AskAll(ctx, cluster, questions)
	if err != nil {
		return err
	}
	if err := c.outputs.Print(c.out, answers, c.fit); err != nil {
		return err
	}
	return exit(Code(answers))
}

func (c *command) open(ctx context.Context) (*standalone.Cluster, error) {
	klog.SetOutput(io.Discard)
	klog.LogToStderr(false)
	if err := process.SetGates(c.featureGates); err != nil {
		return nil, err
	}
	o := standalone.Options{
		File: c.state, OutOfTree: plugins.Registry(), Version: process.Kubernetes(),
		Parse: func(document []byte) (*config.Configuration, error) { return Parse(ctx, document) },
	}
	if c.state == "" {
		client, err := c.flags.ToRESTConfig()
		if err != nil {
			return nil, err
		}
		raw, err := c.flags.ToRawKubeConfigLoader().RawConfig()
		if err != nil {
			return nil, err
		}
		name := raw.CurrentContext
		if *c.flags.Context != "" {
			name = *c.flags.Context
		}
		o.Kubeconfig = mirror.SourceOptions{Config: client, Context: name, QPS: clusterQPS}
	}
	show := c.progress()
	o.Progress = show.read
	cluster, err := standalone.Open(ctx, o)
	show.end()
	return cluster, err
}

// Parse reads a scheduler configuration that may enable the simulator's own plugins.
func Parse(ctx context.Context, document []byte) (*config.Configuration, error) {
	return config.ParseWith(document, config.Options{
		OutOfTree: slices.Sorted(maps.Keys(plugins.Registry())),
		Arguments: func(plugin string, args runtime.Object) []*argument.Error { return plugins.Validate(ctx, plugin, args) },
	})
}

// progress shows how far reading is, on a terminal.
type progress struct {
	w     io.Writer
	last  time.Time
	begun time.Time
	shown bool
}

const progressInterval = 200 * time.Millisecond

func (c *command) progress() *progress {
	p := &progress{begun: time.Now()}
	if f, ok := c.err.(*os.File); ok && term.IsTerminal(int(f.Fd())) {
		p.w = f
	}
	return p
}

func (p *progress) read(objects int) {
	if p.w == nil || time.Since(p.last) < progressInterval {
		return
	}
	p.last, p.shown = time.Now(), true
	fmt.Fprintf(p.w, "\rreading the cluster: %d objects, %.1f s ", objects, time.Since(p.begun).Seconds())
}

func (p *progress) end() {
	if p.shown {
		fmt.Fprint(p.w, "\r\x1b[K")
	}
}

// agents serves agents over stdio. Each call reads the cluster anew.
func (c *command) agents() *cobra.Command {
	return &cobra.Command{
		Use: "mcp", Short: "Answers agents over stdio, by the Model Context Protocol; it only reads",
		Args: cobra.NoArgs, SilenceErrors: true, SilenceUsage: true,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return agents.New(agents.Options{
				Open:    func(ctx context.Context) (agents.Cluster, error) { return c.open(ctx) },
				Missing: "kubectl-why reads a cluster once for each question. A running simulator records decisions, runs queues and plays scenarios: ask its own server.",
				Version: version.Get().Simulator,
			}).Serve(cmd.Context(), c.in, c.out)
		},
	}
}
