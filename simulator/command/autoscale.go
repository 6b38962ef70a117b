package command

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"kube-scheduler-simulator/simulator/kubectl"
	"kube-scheduler-simulator/simulator/questions/ask"
	"kube-scheduler-simulator/simulator/questions/autoscale"
	"kube-scheduler-simulator/simulator/questions/hypothesis"
)

// autoscaleFlags are the flags of the question alone.
type autoscaleFlags struct {
	dryRun                bool
	files, nodes          []string
	allNodes, rounds      bool
	instanceTypes, output string
}

// autoscaleNodes asks what Karpenter would do. It buys nothing.
func autoscaleNodes(with []Option) *cobra.Command {
	a := &asking{flags: newFlags("autoscale --dry-run [POD...] [flags]",
		"Says what Karpenter would do about the pods that wait, and what the scheduler would make of it: which pods a new node helps, which type at what price, why each NodePool does not help the others, and where the two disagree. "+
			"Nothing is bought or changed. Exit code: 0 every pod that waits would have a node, 1 one would not, 2 it could not be told."), options: optionsOf(with)}
	a.options.Outbound.Anywhere = true
	f := a.flags
	var o autoscaleFlags
	f.BoolVar(&o.dryRun, "dry-run", false, "ask, and buy nothing; required")
	f.StringSliceVarP(&o.files, "filename", "f", nil, "`file` with NodePools, in place of those of their names, and with pods to ask about; - is stdin. May be repeated")
	f.StringVarP(&a.namespace, "namespace", "n", "default", "`namespace` of pods whose names have none")
	f.StringVar(&o.instanceTypes, "instance-types", "", "`file` of instance types in the format of Karpenter's KWOK provider (default: a small set with example prices)")
	f.StringSliceVar(&o.nodes, "node", nil, "`node` of which to say whether it could go. May be repeated")
	f.BoolVar(&o.allNodes, "nodes", false, "say of every node of Karpenter's whether it could go")
	f.BoolVar(&o.rounds, "rounds", false, "say, too, what would become of the cluster if Karpenter were left alone with it")
	f.StringVarP(&o.output, "output", "o", "text", "`format`: text, json or yaml")
	a.sources()
	return f.takes(func(ctx context.Context, args []string) error {
		code, err := a.autoscale(ctx, o, args)
		if err != nil {
			return &exitError{code: kubectl.CannotTell, err: err}
		}
		if code != kubectl.Yes {
			return &exitError{code: code}
		}
		return nil
	})
}

func (a *asking) autoscale(ctx context.Context, o autoscaleFlags, pods []string) (code int, err error) {
	if !o.dryRun {
		return 0, errors.New("this only asks, with --dry-run; it buys no node")
	}
	q := autoscale.Question{Namespace: a.namespace, Nodes: o.nodes, AllNodes: o.allNodes, Rounds: o.rounds}
	for _, pod := range pods {
		namespace, name, found := strings.Cut(strings.TrimPrefix(pod, "pod/"), "/")
		if !found {
			namespace, name = "", namespace
		}
		q.Pods = append(q.Pods, hypothesis.PodName{Namespace: namespace, Name: name})
	}
	for _, file := range o.files {
		documents, err := ask.ReadDocuments(ctx, file, os.Stdin)
		if err != nil {
			return 0, err
		}
		q.Objects = append(q.Objects, documents...)
	}
	if o.instanceTypes != "" {
		if q.InstanceTypes, err = os.ReadFile(o.instanceTypes); err != nil {
			return 0, fmt.Errorf("reading instance types: %w", err)
		}
		q.InstanceTypesFrom = filepath.Base(o.instanceTypes)
	}
	target, err := a.target(ctx, os.Stderr)
	if err != nil {
		return 0, err
	}
	return kubectl.Autoscale(ctx, os.Stdout, target, q, o.output)
}
