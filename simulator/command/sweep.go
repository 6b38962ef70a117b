package command

import (
	"context"
	"errors"
	"fmt"
	"github.com/spf13/cobra"
	"os"
	"time"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/metadata"

	"kube-scheduler-simulator/simulator/command/fanout"
	"kube-scheduler-simulator/simulator/command/runner"
	"kube-scheduler-simulator/simulator/host/kubeconfig"
)

// The pods of a sweep set shareFlag; users do not.
const shareFlag = "share"

// clusterLook is the pause between two reads of the Job of a sweep.
const clusterLook = 2 * time.Second

type sweepInCluster struct {
	on, abandon         bool
	kubeconfig, context string
	requests            map[string]string
	o                   fanout.Options
}

func (c *sweepInCluster) add(flags flagSet) {
	flags.BoolVar(&c.on, "kubernetes", false, "run the sweep in a Kubernetes cluster, as an Indexed Job whose pods each take a share; the Job goes on when this command ends, and the same command comes back to it")
	flags.StringVar(&c.o.Image, "image", "", "`image` of the simulator for the pods, required to make the Job")
	flags.StringVar(&c.kubeconfig, "kubeconfig", "", "kubeconfig `file` of the cluster")
	flags.StringVar(&c.context, "context", "", "`name` of a context of --kubeconfig (default: its current one)")
	flags.StringVar(&c.o.Namespace, "namespace", "", "`namespace` of the Job (default: that of the context)")
	flags.StringVar(&c.o.ServiceAccount, "service-account", "simulator-sweep", "`name` of the ServiceAccount of the pods")
	flags.IntVar(&c.o.Parallelism, "parallelism", 8, "`number` of pods at the same time; each does --workers runs at the same time, here 1 by default")
	flags.IntVar(&c.o.Shares, "shares", 0, "`number` of shares into which the runs are cut (default: 4 for each pod at the same time)")
	flags.IntVar(&c.o.Retries, "retries", 3, "`number` of times that a share is tried again after it failed; evictions do not count")
	flags.StringToStringVar(&c.requests, "requests", nil, "`resources` that each pod requests, such as memory=1Gi; its memory is limited to the same (default: cpu=1,memory=512Mi)")
	flags.BoolVar(&c.o.CleanUp, "clean-up", false, "remove the Job and its ConfigMaps when all outcomes are here (default: a week later)")
	flags.BoolVar(&c.abandon, "abandon", false, "remove the Job of the sweep and its ConfigMaps, and do nothing else")
}

// flagsInCluster make no sense for a sweep on this machine.
var flagsInCluster = []string{"image", "kubeconfig", "context", "namespace", "service-account", "parallelism", "shares", "retries", "requests", "clean-up", "abandon"}

func sweepParameters(with []Option) *cobra.Command {
	r := newRunning("sweep FILE [flags]",
		"Runs a scenario under all values of some parameters and prints the best. An interrupted sweep goes on when the same command is given again.", with)
	o := runner.SweepOptions{}
	r.flags.StringVar(&o.State, "state", "", "`file` that holds the runs that have ended (default: FILE.runs)")
	r.flags.StringVarP(&o.File, "output", "o", "", "`file` for the outcomes of all values in JSON")
	cluster := sweepInCluster{}
	cluster.add(r.flags)
	share := r.flags.String(shareFlag, "", "")
	_ = r.flags.MarkHidden(shareFlag) // only the pods of a sweep set it
	return r.flags.takes(func(ctx context.Context, files []string) error {
		var err error
		if o.Options, err = r.options(); err != nil {
			return wrong(err)
		}
		if *share != "" {
			return sharedOut(fanout.Share(ctx, *share, os.Getenv, o.Options))
		}
		if len(files) != 1 {
			return wrong(errors.New("want one sweep file (see --help)"))
		}
		if !cluster.on {
			if err := r.flags.without("kubernetes", flagsInCluster...); err != nil {
				return wrong(err)
			}
			return ended(true, runner.Sweep(ctx, files[0], o))
		}
		cluster.o.SweepOptions, cluster.o.EngineFlags = o, []string{"--engine=" + *r.engine}
		if r.flags.Changed("time-limit") {
			cluster.o.EngineFlags = append(cluster.o.EngineFlags, "--time-limit="+r.limit.String())
		}
		if !r.flags.Changed("workers") {
			cluster.o.Workers = 1
		}
		if err := cluster.connect(); err != nil {
			return wrong(err)
		}
		if cluster.abandon {
			return ended(true, fanout.Abandon(ctx, files[0], cluster.o))
		}
		return ended(true, fanout.Sweep(ctx, files[0], cluster.o))
	})
}

// connect reads the kubeconfig, but does not contact the cluster.
func (c *sweepInCluster) connect() error {
	switch {
	case c.kubeconfig == "":
		return errors.New("--kubernetes needs --kubeconfig (see --help)")
	case c.o.Parallelism < 1:
		return errors.New("--parallelism: want at least 1")
	case c.o.Shares < 0 || c.o.Shares > fanout.MaxShares:
		return fmt.Errorf("--shares: want 1 to %d", fanout.MaxShares)
	case c.o.Retries < 0:
		return errors.New("--retries: want at least 0")
	}
	c.o.Requests = v1.ResourceList{v1.ResourceCPU: resource.MustParse("1"), v1.ResourceMemory: resource.MustParse("512Mi")}
	for name, text := range c.requests {
		quantity, err := resource.ParseQuantity(text)
		if err != nil {
			return fmt.Errorf("--requests: %s=%s: %w", name, text, err)
		}
		c.o.Requests[v1.ResourceName(name)] = quantity
	}
	config, namespace, err := kubeconfig.LoadWithNamespace(c.kubeconfig, c.context)
	if err != nil {
		return fmt.Errorf("--kubeconfig %s: %w", c.kubeconfig, err)
	}
	if c.o.Namespace == "" {
		c.o.Namespace = namespace
	}
	if c.o.Client, err = kubernetes.NewForConfig(config); err != nil {
		return fmt.Errorf("--kubeconfig %s: %w", c.kubeconfig, err)
	}
	if c.o.Metadata, err = metadata.NewForConfig(config); err != nil {
		return fmt.Errorf("--kubeconfig %s: %w", c.kubeconfig, err)
	}
	c.o.Interval, c.o.Notes = clusterLook, os.Stderr
	return nil
}

// sharedOut gives the end of a share its exit code, by which the Job decides whether to try again.
func sharedOut(err error) error {
	if _, hopeless := errors.AsType[*fanout.HopelessError](err); hopeless {
		return wrong(err)
	}
	return err
}
