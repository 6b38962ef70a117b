package standalone

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"time"

	"k8s.io/kubernetes/pkg/scheduler/apis/config"
	frameworkruntime "k8s.io/kubernetes/pkg/scheduler/framework/runtime"

	schedulerconfig "kube-scheduler-simulator/scheduler/config"
	"kube-scheduler-simulator/scheduler/whatif"
	"kube-scheduler-simulator/simulator/cluster/objects"
	"kube-scheduler-simulator/simulator/cluster/virtualnode"
	"kube-scheduler-simulator/simulator/elsewhere/mirror"
	"kube-scheduler-simulator/simulator/questions/ask"
	"kube-scheduler-simulator/simulator/questions/hypothesis"
	"kube-scheduler-simulator/simulator/questions/why"
)

// Options say which cluster to ask. One of File, Recording and Kubeconfig is set.
type Options struct {
	// File is a file, a directory or an archive of objects, as for an import.
	File string
	// Name is how its user calls File; empty for the last element of the path.
	Name string
	// Recording is the file of a recording. At is a time in it in the form of RFC 3339, or the
	// duration since its start; empty means its end.
	Recording, At string
	// Kubeconfig reaches a cluster to list once.
	Kubeconfig mirror.SourceOptions
	// Parse reads a scheduler configuration. It is required.
	Parse func(document []byte) (*schedulerconfig.Configuration, error)
	// Progress, if set, is called with the number of objects that a cluster has sent so far.
	Progress func(objects int)
	// Version is that of Kubernetes' scheduler in this program, for answers.
	Version string
	// OutOfTree are plugins beside Kubernetes'.
	OutOfTree frameworkruntime.Registry
}

// Cluster is a cluster as it was at one moment. Safe for concurrent use.
type Cluster struct {
	*hypothesis.Desk
	name, version string
	state         *state
	reading       *reading
	took          time.Duration
}

var (
	_ ask.Target  = (*Cluster)(nil)
	_ why.Cluster = (*Cluster)(nil)
)

func Open(ctx context.Context, o Options) (*Cluster, error) {
	begun := time.Now()
	r, name, err := o.read(ctx)
	if err != nil {
		return nil, err
	}
	configuration, err := o.configuration(r)
	if err != nil {
		return nil, fmt.Errorf("the scheduler configuration in %s: %w", name, err)
	}
	s, err := newState(ctx, r)
	if err != nil {
		return nil, err
	}
	engine := whatif.New(whatif.Options{
		Source: whatif.Objects(s.list()), OutOfTree: o.OutOfTree, Devices: virtualnode.Slices,
		Configuration: func() *config.KubeSchedulerConfiguration { return configuration.Internal },
	})
	desk, err := hypothesis.New(hypothesis.Options{
		Engine: engine, Parse: o.Parse,
		Admission: func() (hypothesis.Admission, error) { return s.fork() },
		Workloads: r.workloads,
	})
	if err != nil {
		return nil, err
	}
	return &Cluster{Desk: desk, name: name, version: o.Version, state: s, reading: r, took: time.Since(begun)}, nil
}

func (o Options) read(ctx context.Context) (r *reading, name string, err error) {
	switch {
	case o.File != "":
		name = cmp.Or(o.Name, filepath.Base(o.File))
		r, err = readFile(ctx, o.File, o.Name)
		return r, name, err
	case o.Recording != "":
		r, at, err := readRecording(ctx, o.Recording, o.At)
		return r, fmt.Sprintf("%s as of %s", filepath.Base(o.Recording), at.UTC().Format(time.RFC3339)), err
	case o.Kubeconfig.Kubeconfig != "" || o.Kubeconfig.Config != nil:
		r, name, err = readCluster(ctx, o.Kubeconfig, o.Progress)
		return r, fmt.Sprintf("the cluster %q", name), err
	}
	return nil, "", errors.New("there is no cluster to ask")
}

func (o Options) configuration(r *reading) (*schedulerconfig.Configuration, error) {
	if r.configuration == nil {
		return schedulerconfig.Default()
	}
	return o.Parse(r.configuration)
}

func (c *Cluster) Name() string { return c.name }

// Notes say which objects are left out, and why: the first ten, and how many further ones there are.
func (c *Cluster) Notes() (first []string, further int) {
	first = c.reading.notes[:min(10, len(c.reading.notes))]
	return first, len(c.reading.notes) - len(first)
}

func (c *Cluster) Node(_ context.Context, name string) ([]byte, error) {
	node := c.state.objects[key{objects.Node, "", name}]
	if node == nil {
		return nil, &whatif.NotFoundError{ObjectRef: whatif.ObjectRef{GVK: objects.Node.WithVersion("v1"), Name: name}}
	}
	return json.Marshal(node)
}
