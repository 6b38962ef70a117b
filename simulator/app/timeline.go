package app

import (
	"cmp"
	"context"
	"errors"
	"path/filepath"
	"time"

	"k8s.io/client-go/rest"

	"kube-scheduler-simulator/scheduler/config"
	"kube-scheduler-simulator/simulator/cluster/controlplane"
	"kube-scheduler-simulator/simulator/cluster/definitions"
	"kube-scheduler-simulator/simulator/cluster/objects"
	"kube-scheduler-simulator/simulator/elsewhere/transfer"
	"kube-scheduler-simulator/simulator/elsewhere/transfer/manifest"
	"kube-scheduler-simulator/simulator/past/timeline"
	"kube-scheduler-simulator/simulator/server"
)

var _ server.Timeline = (*timeline.Timeline)(nil)

func (s *simulator) timelineDir() string { return filepath.Join(s.prepared.dataDir, "timeline") }

// The time line records only our own control plane. An external one does not tell us which user
// changed what.
func (s *simulator) newTimeline() *timeline.Timeline {
	options := timeline.Options{
		Dir:       s.timelineDir(),
		Bytes:     s.options.TimelineBytes,
		Results:   s.store,
		Recording: s.replays.Recording,
		Config:    func() *rest.Config { return s.controlPlane.ClientConfig() },
		Import:    s.importForUndo,
		Configure: func(ctx context.Context, document []byte) error {
			_, err := s.scheduler.Apply(ctx, document)
			return err
		},
		Logger: s.options.Logger.WithName("timeline"),
	}
	if s.options.Kubeconfig == "" {
		options.Follow = func(ctx context.Context, listed func([]timeline.Entry, bool), changed func([]timeline.Entry)) error {
			return s.embedded.FollowStored(ctx, listed, changed)
		}
	}
	return timeline.New(options)
}

func (s *simulator) userWrote(w controlplane.UserWrite) {
	told := timeline.Write{Begun: w.Begun, Verb: cmp.Or(w.ActionVerb, w.Verb), By: timeline.Program(w.UserAgent), Action: w.Action}
	for _, o := range w.Objects {
		told.Objects = append(told.Objects, timeline.Written(o))
	}
	s.timeline.Wrote(told)
}

// The simulator writes some objects because a user of the web application asked for it. The API
// server cannot tell such a write from the simulator's others, so the code that writes calls
// wroteForUser.

// Objects that did not change may be among those written.
func (s *simulator) wroteForUser(begun time.Time, verb string, written ...timeline.Written) {
	s.timeline.Wrote(timeline.Write{Begun: begun, Verb: verb, By: timeline.ByWeb, Objects: written})
}

// The verbs of these steps; see timeline.Step.
const (
	verbActivate = "activate"
	verbInstall  = "install"
	verbJudge    = "judge"
)

type userDefinitions struct {
	*definitions.Cluster
	simulator *simulator
}

var _ server.Definitions = userDefinitions{}

func (d userDefinitions) Keep(ctx context.Context, all []definitions.Definition) error {
	begun := time.Now()
	err := d.Cluster.Keep(ctx, all)
	var written []timeline.Written
	for _, one := range all {
		written = append(written, timeline.Written{Group: objects.Definition.Group, Resource: "customresourcedefinitions", Name: one.Name()})
	}
	d.simulator.wroteForUser(begun, verbInstall, written...)
	return err
}

// importForUndo imports what an undo restores. It is not a step itself.
func (s *simulator) importForUndo(ctx context.Context, src manifest.Source, replace bool) (*transfer.Report, error) {
	mode := transfer.Merge
	if replace {
		mode = transfer.Replace
	}
	run, err := exclusiveTransfer{Cluster: s.transfers, simulator: s}.Begin(src, transfer.ImportOptions{Mode: mode, Untold: true})
	if err != nil {
		return nil, errors.Join(err, src.Close())
	}
	return awaitImport(ctx, run)
}

// resetByUser is a step of the time line.
func (s *simulator) resetByUser(ctx context.Context) (server.Reset, error) {
	told := s.timeline.Begin(timeline.ResetStep, timeline.ByWeb)
	done, err := s.resetAll(ctx)
	if err != nil {
		told(0, 0)
		return done, err
	}
	told(max(done.Deleted, 1), 0)
	return done, nil
}

func (s *simulator) configurationChanged() {
	s.publish()
	if s.scheduler == nil {
		return
	}
	revisions := s.scheduler.Revisions()
	if len(revisions) == 0 {
		return
	}
	newest, found := s.scheduler.Revision(revisions[0].Number)
	if !found {
		return
	}
	by := timeline.BySimulator
	if newest.Source == config.OriginUser {
		by = timeline.ByWeb
	}
	s.timeline.Configured(timeline.Configuration{
		Revision: newest.Number, Document: newest.Document, Summary: newest.Summary, By: by, Failed: newest.State == config.RevisionRolledBack,
	})
}
