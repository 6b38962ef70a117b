package command

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"

	"kube-scheduler-simulator/scheduler/whatif"
	"kube-scheduler-simulator/scheduler/yamlsource"
	"kube-scheduler-simulator/simulator/app"
	"kube-scheduler-simulator/simulator/elsewhere/mirror"
	"kube-scheduler-simulator/simulator/host/process"
	"kube-scheduler-simulator/simulator/questions/ask"
	"kube-scheduler-simulator/simulator/questions/hypothesis"
	"kube-scheduler-simulator/simulator/questions/standalone"
)

// asking holds the flags that the commands which ask have in common.
type asking struct {
	flags   flagSet
	options app.Options

	file, namespace string
	// changes are made in the order of their flags.
	changes                  []func(context.Context, ask.Target) ([]hypothesis.Change, error)
	schedulerConfig, profile string
	kubernetesVersion        string
	output                   string
	exitCode                 bool

	server, tokenFile     string
	state, recording, at  string
	kubeconfig, inContext string
	qps                   float32
	featureGates          string
}

func newAsking(usage, what string, with []Option) *asking {
	a := &asking{flags: newFlags(usage, what), options: optionsOf(with)}
	// An export may name extenders anywhere. Only --extenders calls them.
	a.options.Outbound.Anywhere = true
	f := a.flags
	f.StringVarP(&a.file, "filename", "f", "", "`file` with the pod, or with a workload whose pods are asked about; - is stdin. Other objects in it are created first")
	f.StringVarP(&a.namespace, "namespace", "n", "default", "`namespace` of objects that name none")
	a.change("change", "`FILE[=N]`: first create the objects of a file, or change those that exist; with =N create N copies of each. This and the next flags may be repeated, and are carried out in their order", a.readChanges)
	a.change("add-node", "`NODE[=N]`: first add N nodes like this one, with all that it brings (default: 1)", a.addNode)
	a.change("patch", "`KIND/[NAMESPACE/]NAME=PATCH`: first patch an object, as kubectl patch does; the patch is JSON or YAML", a.patch)
	a.change("delete", "`KIND/[NAMESPACE/]NAME`: first delete an object", a.delete)
	f.StringVar(&a.schedulerConfig, "scheduler-config", "", "`file` with the KubeSchedulerConfiguration to ask (default: the one of the cluster that is asked, or Kubernetes' own)")
	f.StringVar(&a.profile, "profile", "", "scheduler `name` of the profile to ask (default: the one that the pod names)")
	f.StringVarP(&a.output, "output", "o", "", "`format`: wide, json or yaml (default: tables)")
	f.BoolVar(&a.exitCode, "exit-code", false, "exit with code 2 if the pod, or one of the copies, does not fit")
	a.sources()
	return a
}

// decider adds the flag that says who decides.
func (a *asking) decider() {
	a.flags.StringVar(&a.kubernetesVersion, "kubernetes-version", "", "minor `version` of Kubernetes whose scheduler decides, such as 1.35; make scheduler-1.35 builds it (default: this program's)")
}

// sources adds the flags that say which cluster to ask.
func (a *asking) sources() {
	a.clusters()
	a.flags.StringVar(&a.featureGates, "feature-gates", "", "Kubernetes feature `gates` of the scheduler, as A=true,B=false, when no simulator is asked")
}

// clusters is sources for a command that has gates of its own.
func (a *asking) clusters() {
	f := a.flags
	f.StringVar(&a.server, "server", "http://"+app.DefaultListen, "`address` of the running simulator to ask")
	f.StringVar(&a.tokenFile, "token-file", "", "`file` with the token of that simulator")
	f.StringVar(&a.state, "state", "", "`path` of a file, directory or archive of objects to ask instead of a simulator, such as an export")
	f.StringVar(&a.recording, "recording", "", "`file` of a recording to ask instead of a simulator")
	f.StringVar(&a.at, "at", "", "`time` in the recording, as 2026-01-02T15:04:05Z, or since its start, as 5m (default: its end)")
	f.StringVar(&a.kubeconfig, "kubeconfig", "", "kubeconfig `file` of a cluster to ask instead of a simulator; it is only read, and never its secrets")
	f.StringVar(&a.inContext, "context", "", "`context` of the kubeconfig (default: its current one)")
	f.Float32Var(&a.qps, "qps", mirror.DefaultQPS, "maximum `number` of requests per second to that cluster")
}

// change adds a flag whose values are changes to make, in the order of all such flags.
func (a *asking) change(name, usage string, read func(context.Context, ask.Target, string) ([]hypothesis.Change, error)) {
	a.flags.Func(name, usage, func(value string) error {
		a.changes = append(a.changes, func(ctx context.Context, target ask.Target) ([]hypothesis.Change, error) {
			changes, err := read(ctx, target, value)
			if err != nil {
				return nil, fmt.Errorf("--%s: %w", name, err)
			}
			return changes, nil
		})
		return nil
	})
}

func (a *asking) readChanges(ctx context.Context, _ ask.Target, value string) ([]hypothesis.Change, error) {
	file, count, err := cutCount(value)
	if err != nil {
		return nil, err
	}
	return ask.ReadChanges(ctx, file, a.namespace, count, os.Stdin)
}

func (a *asking) addNode(ctx context.Context, target ask.Target, value string) ([]hypothesis.Change, error) {
	name, count, err := cutCount(value)
	if err != nil {
		return nil, err
	}
	switch {
	case strings.Contains(name, "="): // no name of a node has an equals sign
		return nil, fmt.Errorf("%q: want a number from 1 to %d", value, whatif.MaxCount)
	case count == nil:
		count = new(1)
	}
	node, err := ask.Node(ctx, target, name)
	if err != nil {
		return nil, err
	}
	return []hypothesis.Change{{Apply: node, Count: count}}, nil
}

// cutCount splits the count off a value, nil if it has none. Only a whole number is a count, since
// the name of a file may have an equals sign.
func cutCount(value string) (rest string, count *int, err error) {
	at := strings.LastIndexByte(value, '=')
	n, wrong := strconv.Atoi(value[at+1:])
	if at < 0 || errors.Is(wrong, strconv.ErrSyntax) {
		return value, nil, nil
	}
	if wrong == nil {
		wrong = whatif.CheckCount(n)
	}
	if wrong != nil {
		return "", nil, fmt.Errorf("%q: want a number from 1 to %d", value, whatif.MaxCount)
	}
	return value[:at], &n, nil
}

func (a *asking) patch(ctx context.Context, _ ask.Target, value string) ([]hypothesis.Change, error) {
	name, text, found := strings.Cut(value, "=")
	if !found {
		return nil, fmt.Errorf("%q has no patch: want KIND/NAME=PATCH", value)
	}
	target, err := ask.ParseTarget(name, a.namespace)
	if err != nil {
		return nil, err
	}
	patch, wrong := yamlsource.ToJSON(ctx, []byte(text), yamlsource.Object)
	if wrong != nil {
		return nil, fmt.Errorf("the patch of %s is neither JSON nor YAML: %w", name, wrong)
	}
	return []hypothesis.Change{{Patch: &hypothesis.Patch{Target: target, Patch: patch}}}, nil
}

func (a *asking) delete(_ context.Context, _ ask.Target, value string) ([]hypothesis.Change, error) {
	target, err := ask.ParseTarget(value, a.namespace)
	if err != nil {
		return nil, err
	}
	return []hypothesis.Change{{Delete: &target}}, nil
}

type subject struct {
	question hypothesis.Question
	// name is the pod's, for people.
	name string
	// replicas is how many pods the file's workload has; 0 for a pod.
	replicas int
}

// ask runs a command after its flags are parsed. do asks, prints the answer, and reports whether
// the answer is yes.
func (a *asking) ask(ctx context.Context, args []string, do func(ask.Target, *subject, ask.Format) (yes bool, err error)) error {
	format, err := ask.ParseFormat(a.output)
	if err != nil {
		return err
	}
	if err := a.checkSubject(args); err != nil {
		return err
	}
	target, err := a.target(ctx, os.Stderr)
	if err != nil {
		return err
	}
	s, err := a.subject(ctx, target, args)
	if err != nil {
		return err
	}
	yes, err := do(target, s, format)
	if err == nil && a.exitCode && !yes {
		return errNo
	}
	return err
}

func (a *asking) checkSubject(args []string) error {
	switch {
	case len(args) > 1:
		return fmt.Errorf("unknown argument %q (see --help)", args[1])
	case (len(args) == 1) == (a.file != ""):
		return errors.New("name either a pod of the cluster, as [NAMESPACE/]NAME, or a file with -f (see --help)")
	}
	return nil
}

func (a *asking) subject(ctx context.Context, target ask.Target, args []string) (s *subject, err error) {
	s = &subject{}
	if a.file == "" {
		namespace, name, both := strings.Cut(args[0], "/")
		if !both {
			namespace, name = a.namespace, args[0]
		}
		s.question.PodRef, s.name = &hypothesis.PodName{Namespace: namespace, Name: name}, namespace+"/"+name
	} else {
		read, err := ask.ReadSubject(ctx, a.file, a.namespace, os.Stdin)
		if err != nil {
			return nil, err
		}
		s.question.Pod, s.question.Changes, s.name, s.replicas = read.Pod, read.Beside, read.Name, read.Replicas
	}
	if err := a.complete(ctx, target, &s.question); err != nil {
		return nil, err
	}
	return s, nil
}

// complete adds what the flags say beside the pod.
func (a *asking) complete(ctx context.Context, target ask.Target, q *hypothesis.Question) (err error) {
	for _, read := range a.changes {
		changes, err := read(ctx, target)
		if err != nil {
			return err
		}
		q.Changes = append(q.Changes, changes...)
	}
	if a.schedulerConfig != "" {
		if q.Configuration, err = os.ReadFile(a.schedulerConfig); err != nil {
			return fmt.Errorf("reading the scheduler configuration: %w", err)
		}
	}
	q.Profile, q.KubernetesVersion = a.profile, a.kubernetesVersion
	return nil
}

func (a *asking) target(ctx context.Context, notes io.Writer) (ask.Target, error) {
	var sources []string
	for _, flag := range []string{"server", "state", "recording", "kubeconfig"} {
		if a.flags.Changed(flag) {
			sources = append(sources, "--"+flag)
		}
	}
	if len(sources) > 1 {
		return nil, fmt.Errorf("%s exclude each other", strings.Join(sources, " and "))
	}
	isRemote := a.state == "" && a.recording == "" && a.kubeconfig == ""
	for _, pair := range []struct {
		flag, needs string
		given       bool
	}{
		{"at", "--recording", a.recording != ""},
		{"context", "--kubeconfig", a.kubeconfig != ""},
		{"qps", "--kubeconfig", a.kubeconfig != ""},
		{"token-file", "a running simulator", isRemote},
		{"feature-gates", "--state, --recording or --kubeconfig, as a running simulator has its own", !isRemote},
	} {
		if a.flags.Changed(pair.flag) && !pair.given {
			return nil, fmt.Errorf("--%s needs %s (see --help)", pair.flag, pair.needs)
		}
	}
	if isRemote {
		token, err := app.ReadToken(a.tokenFile)
		if err != nil {
			return nil, err
		}
		return ask.NewClient(a.server, token)
	}
	return a.standalone(ctx, notes)
}

func (a *asking) standalone(ctx context.Context, notes io.Writer) (*standalone.Cluster, error) {
	if err := process.SetGates(a.featureGates); err != nil {
		return nil, err
	}
	return a.open(ctx, notes)
}

// open reads the cluster as it is now.
func (a *asking) open(ctx context.Context, notes io.Writer) (*standalone.Cluster, error) {
	plugins, err := a.options.Registry()
	if err != nil {
		return nil, err
	}
	cluster, err := standalone.Open(ctx, standalone.Options{
		File: a.state, Recording: a.recording, At: a.at,
		Kubeconfig: mirror.SourceOptions{Kubeconfig: a.kubeconfig, Context: a.inContext, QPS: a.qps},
		Parse:      a.options.ParseConfiguration, OutOfTree: plugins, Version: process.Kubernetes(),
	})
	if err != nil {
		return nil, err
	}
	first, further := cluster.Notes()
	for _, note := range first {
		fmt.Fprintln(notes, "simulator:", note)
	}
	if further > 0 {
		fmt.Fprintf(notes, "simulator: %d more objects were left out\n", further)
	}
	return cluster, nil
}
