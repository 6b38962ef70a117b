package app

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path/filepath"
	"strconv"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	"kube-scheduler-simulator/simulator/cluster/controlplane"
	"kube-scheduler-simulator/simulator/elsewhere/transfer"
	"kube-scheduler-simulator/simulator/past/branch"
	"kube-scheduler-simulator/simulator/past/clusterdiff"
	"kube-scheduler-simulator/simulator/past/timeline"
	"kube-scheduler-simulator/simulator/server"
)

// keptForBranches is for children that do not stop in order and must be killed. They have had the whole stop for
// that: the first step asks them to end.
const keptForBranches = 200 * time.Millisecond

// openBranches finds the branches of the data directory. A branch has no branches of its own.
func (s *simulator) openBranches() error {
	if s.options.Branch != "" {
		return nil
	}
	b := branch.New(branch.Options{
		Dir:   filepath.Join(s.prepared.dataDir, "branches"),
		Flags: s.options.BranchFlags,
		Present: func(ctx context.Context, w io.Writer) error {
			return s.transfers.Export(ctx, w, transfer.ExportOptions{Format: transfer.JSON})
		},
		Lesson: func(id string) (branch.Start, error) {
			start, err := s.classroom.Start(id)
			return branch.Start(start), err
		},
		CheckConfiguration: func(document []byte) error {
			_, err := s.parse(document)
			return err
		},
		Past:      past{s.timeline},
		Leftovers: controlplane.RemoveLeftovers,
		Logger:    s.options.Logger,
	})
	if err := b.Open(); err != nil {
		return err
	}
	s.branches = b
	s.onStopOf("the branches", keptForBranches, b.Stop)
	return nil
}

// past lets branches continue moments of the time line.
type past struct{ line *timeline.Timeline }

var _ branch.Past = past{}

// WriteState implements branch.Past. A moment is its number, or a time.
func (p past) WriteState(ctx context.Context, moment string, w io.Writer) (int64, time.Time, error) {
	var at timeline.At
	var err error
	if at.Moment, err = strconv.ParseUint(moment, 10, 64); err != nil {
		if at.Time, err = time.Parse(time.RFC3339Nano, moment); err != nil {
			return 0, time.Time{}, fmt.Errorf("%q is neither the number of a moment nor a time: %w", moment, fs.ErrNotExist)
		}
	}
	found, err := p.line.Moment(ctx, at)
	if err == nil {
		err = p.line.Export(ctx, w, timeline.At{Moment: found.Moment, Time: at.Time})
	}
	if missing, ok := errors.AsType[*timeline.NotKeptError](err); ok {
		return 0, time.Time{}, fmt.Errorf("%w: %w", missing, fs.ErrNotExist)
	}
	if err != nil {
		return 0, time.Time{}, err
	}
	if at.Time.IsZero() {
		at.Time = found.Time
	}
	return int64(found.Moment), at.Time, nil
}

// comparedBranches lets the server compare branches with each other and with the trunk.
type comparedBranches struct {
	*branch.Branches
	trunk *simulator
}

var _ server.Branches = comparedBranches{}

// Compare compares two simulators by name; an empty one is the trunk.
func (b comparedBranches) Compare(ctx context.Context, nameA, nameB string) (*clusterdiff.Comparison, error) {
	if nameA == nameB {
		return nil, &branch.Refusal{Reason: branch.Invalid, Message: "compare two different simulators; an empty name is the trunk"}
	}
	var states [2]clusterdiff.State
	for i, name := range []string{nameA, nameB} {
		var err error
		if states[i], err = b.state(ctx, name); err != nil {
			return nil, err
		}
	}
	c := clusterdiff.Compare(states[0], states[1])
	return &c, nil
}

// state reads the state of a simulator that runs.
func (b comparedBranches) state(ctx context.Context, name string) (clusterdiff.State, error) {
	state := clusterdiff.State{Name: name}
	address, document, err := b.access(ctx, name)
	if err != nil {
		return state, err
	}
	client, err := kubernetes.NewForConfig(address)
	if err != nil {
		return state, fmt.Errorf("preparing a client of %s: %w", called(name), err)
	}
	// From the watch cache, which may be a moment behind.
	recent := metav1.ListOptions{ResourceVersion: "0"}
	nodes, err := client.CoreV1().Nodes().List(ctx, recent)
	if err != nil {
		return state, fmt.Errorf("listing the nodes of %s: %w", called(name), err)
	}
	pods, err := client.CoreV1().Pods("").List(ctx, recent)
	if err != nil {
		return state, fmt.Errorf("listing the pods of %s: %w", called(name), err)
	}
	state.Nodes, state.Pods = nodes.Items, pods.Items
	if state.Configuration, err = b.trunk.parse(document); err != nil {
		return state, fmt.Errorf("reading the scheduler configuration of %s: %w", called(name), err)
	}
	return state, nil
}

// access returns how to reach the Kubernetes API of a simulator, and the document of its scheduler configuration.
func (b comparedBranches) access(ctx context.Context, name string) (*rest.Config, []byte, error) {
	if name == "" {
		document, err := configuration{b.trunk.scheduler}.Current()
		return b.trunk.controlPlane.ClientConfig(), document, err
	}
	target, err := b.Target(name)
	if err != nil {
		return nil, nil, err
	}
	document, err := b.Configuration(ctx, name)
	return &rest.Config{Host: target.URL.JoinPath("/kubernetes").String(), BearerToken: target.Token, Timeout: compareTimeout}, document, err
}

// compareTimeout bounds each request to a branch.
const compareTimeout = 30 * time.Second

func called(name string) string {
	if name == "" {
		return "the trunk"
	}
	return "the branch " + name
}
