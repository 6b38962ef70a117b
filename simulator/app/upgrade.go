package app

import (
	"context"
	"errors"
	"io"
	"path/filepath"

	"kube-scheduler-simulator/simulator/host/datadir"
	"kube-scheduler-simulator/simulator/host/process"
	"kube-scheduler-simulator/simulator/past/replay"
	"kube-scheduler-simulator/simulator/questions/standalone"
	"kube-scheduler-simulator/simulator/questions/upgrade"
	"kube-scheduler-simulator/simulator/server"
)

// versionsAsked compares the decisions of two versions about the pods of the cluster, or of a file.
type versionsAsked struct {
	*upgrade.Jobs
	simulator *simulator
}

var _ server.Upgrades = versionsAsked{}

func (s *simulator) startUpgrades() {
	s.upgrades = versionsAsked{&upgrade.Jobs{}, s}
	s.onStopOf("the comparison of versions", 0, s.upgrades.Stop)
}

func (v versionsAsked) Start(q upgrade.Question) (upgrade.Job, error) {
	return v.Jobs.Start(v.simulator.hypotheses.doors, "", q, func() {})
}

func (v versionsAsked) StartFile(ctx context.Context, q upgrade.Question, name string, body io.Reader) (upgrade.Job, error) {
	spool, err := datadir.NewNamedSpool(v.simulator.prepared.dataDir, "upgrade")
	if err != nil {
		return upgrade.Job{}, err
	}
	remove := func() {
		if err := spool.Close(); err != nil {
			v.simulator.options.Logger.Error(err, "Cannot remove an upload")
		}
	}
	if _, err = io.Copy(spool, body); err == nil {
		err = ctx.Err()
	}
	if err != nil {
		remove()
		return upgrade.Job{}, err
	}
	name = filepath.Base(name)
	return v.Jobs.Start(upload{spool.Name(), name, v.simulator.standalone()}, name, q, remove)
}

func (s *simulator) standalone() standalone.Options {
	return standalone.Options{Parse: s.parse, OutOfTree: s.prepared.registry, Version: process.Kubernetes()}
}

// upload is a file with the name that its user knows: a recording, or what an import reads.
type upload struct {
	path, name string
	options    standalone.Options
}

func (u upload) Load(ctx context.Context) (*upgrade.Load, error) {
	l, err := standalone.History{File: u.path, Name: u.name}.Load(ctx)
	if errors.Is(err, replay.ErrNotRecording) {
		u.options.File, u.options.Name = u.path, u.name
		var cluster *standalone.Cluster
		if cluster, err = standalone.Open(ctx, u.options); err == nil {
			l, err = cluster.Load(ctx)
		}
	}
	return l, err
}
