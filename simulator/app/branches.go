package app

import (
	"context"
	"io"
	"path/filepath"
	"time"

	"k8s.io/client-go/rest"

	"kube-scheduler-simulator/simulator/cluster/controlplane"
	"kube-scheduler-simulator/simulator/elsewhere/transfer"
	"kube-scheduler-simulator/simulator/host/process"
	"kube-scheduler-simulator/simulator/past/branch"
	"kube-scheduler-simulator/simulator/past/clusterdiff"
	"kube-scheduler-simulator/simulator/server"
)

// keptForBranches is for killing children that do not stop in order. The first step asks them to
// end, so they have had the whole stop for that.
const keptForBranches = 200 * time.Millisecond

// A branch has no branches of its own.
func (s *simulator) openBranches() error {
	if s.options.Branch != "" {
		return nil
	}
	b := branch.New(branch.Options{
		Dir:   filepath.Join(s.prepared.dataDir, "branches"),
		Flags: s.options.BranchFlags,
		// Karpenter acts in a branch as it does here, whether a flag or a user turned it on.
		DataDir: s.prepared.dataDir, Inherited: []string{karpenterSettings},
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
		CheckVersion: process.CanEmulate,
		Past:         s.timeline,
		Leftovers:    controlplane.RemoveLeftovers,
		Logger:       s.options.Logger,
	})
	if err := b.Open(); err != nil {
		return err
	}
	s.branches = b
	s.onStopOf("the branches", keptForBranches, b.Stop)
	return nil
}

// comparedBranches compares branches with each other and with the trunk, which is this simulator.
type comparedBranches struct {
	*branch.Branches
	clusterdiff.Comparer
}

var _ server.Branches = comparedBranches{}

func (s *simulator) comparedBranches() comparedBranches {
	return comparedBranches{s.branches, clusterdiff.Comparer{Parse: s.parse, Access: func(ctx context.Context, name string) (*rest.Config, []byte, error) {
		if name == "" {
			document, err := configuration{s.scheduler}.Current()
			return s.controlPlane.ClientConfig(), document, err
		}
		target, err := s.branches.Target(name)
		if err != nil {
			return nil, nil, err
		}
		document, err := s.branches.Configuration(ctx, name)
		return &rest.Config{Host: target.URL.JoinPath("/kubernetes").String(), BearerToken: target.Token}, document, err
	}}}
}
