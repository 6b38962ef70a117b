package app

import (
	"context"
	"io"
	"path/filepath"
	"time"

	"kube-scheduler-simulator/simulator/branch"
	"kube-scheduler-simulator/simulator/controlplane"
	"kube-scheduler-simulator/simulator/transfer"
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
		CheckConfiguration: func(document []byte) error {
			_, err := s.parse(document)
			return err
		},
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
