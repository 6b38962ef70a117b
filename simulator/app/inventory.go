package app

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"kube-scheduler-simulator/scheduler/blockfile"
	"kube-scheduler-simulator/scheduler/resultstore"
	"kube-scheduler-simulator/scheduler/supervisor"
	"kube-scheduler-simulator/simulator/host/datadir"
)

// Each start of our own etcd rewrites this file, with new content.
const etcdNote = "etcd-socket"

// A start expects etcdParts and otherParts in a data directory that once had them.
var (
	etcdParts  = []datadir.Part{{Path: "etcd/member/snap/db"}, {Path: "etcd/member/wal"}}
	otherParts = []datadir.Part{{Path: "results", MayBeEmpty: true}, {Path: "scheduler-configuration"}}
)

// After an orderly stop the inventory describes these files. The files of results and etcd's log
// have their own checksums.
var (
	checkedFiles = []string{"etcd/member/snap/db", "scheduler-configuration/*.json", "redaction-salt", "inactive-extenders.json", "shadow-configuration.yaml"}
	sizedFiles   = []string{"etcd/member/wal/*.wal", "results/*.results"}
)

func (s *simulator) ownsEtcd() bool {
	return s.options.Kubeconfig == "" && len(s.options.Etcd.Servers) == 0
}

// checkInventory refuses a data directory that has lost something. It changes nothing.
func (s *simulator) checkInventory(ctx context.Context) error {
	dir := s.prepared.keptDir()
	if dir == "" {
		return nil
	}
	inventory, err := datadir.ReadInventory(dir)
	if err != nil {
		return err
	}
	var expected []datadir.Part
	if s.ownsEtcd() {
		expected = etcdParts
		if inventory == nil && s.etcdHasGone() {
			return &datadir.Damage{Path: filepath.Join(dir, "etcd"), Err: errors.New("is missing, and the results of its cluster are there")}
		}
	}
	_, interrupted, err := s.readResetMark()
	if err != nil {
		return err
	}
	if !interrupted { // by a reset, which may have removed them
		expected = slices.Concat(expected, otherParts)
	}
	if err := inventory.Check(ctx, dir, s.lastStart(), expected); err != nil {
		return err
	}
	s.inventory = inventory
	return nil
}

// checkKept refuses what later steps of the start would refuse, before anything changes.
func (s *simulator) checkKept(ctx context.Context) error {
	dir := s.prepared.keptDir()
	if dir == "" {
		return nil
	}
	if err := resultstore.Check(ctx, s.resultsDir()); err != nil {
		return fmt.Errorf("opening the results: %w", advised(err))
	}
	if err := supervisor.Check(s.configurationDir()); err != nil {
		return fmt.Errorf("starting the scheduler: %w", advised(err))
	}
	kubeconfig := filepath.Join(dir, kubeconfigFile)
	if info, err := os.Lstat(kubeconfig); err == nil && info.IsDir() {
		return &datadir.Damage{Path: kubeconfig, Err: errors.New("is a directory, and a start writes a file of this name; move it away")}
	}
	return nil
}

// kubeconfigFile gives access to our own control plane.
const kubeconfigFile = "kubeconfig"

// etcdHasGone recognizes a data directory from a version without inventories that has lost its
// cluster.
func (s *simulator) etcdHasGone() bool {
	exists := func(pattern string) bool {
		found, _ := filepath.Glob(filepath.Join(s.prepared.dataDir, pattern))
		return len(found) > 0
	}
	return exists(etcdNote) && !exists("etcd") && (exists("results/*.results") || exists("scheduler-configuration/*.json"))
}

// lastStart identifies the latest start of our own etcd; empty when there was none.
func (s *simulator) lastStart() string {
	note, err := os.ReadFile(filepath.Join(s.prepared.dataDir, etcdNote))
	if err != nil {
		return ""
	}
	return string(note)
}

// keepInventory runs once everything has started.
func (s *simulator) keepInventory() {
	dir := s.prepared.keptDir()
	if dir == "" {
		return
	}
	s.started = s.lastStart()
	if err := s.inventory.Keep(dir, slices.Concat(etcdParts, otherParts)); err != nil {
		s.options.Logger.Error(err, "Cannot write the inventory of the data directory")
	}
}

// closeInventory describes the files after an orderly stop. Without a description, a start trusts
// what the files say.
func (s *simulator) closeInventory(ctx context.Context) {
	if s.started == "" || !s.ownsEtcd() || s.lastStart() != s.started {
		return
	}
	err := datadir.Stop(ctx, s.prepared.dataDir, s.started, slices.Concat(etcdParts, otherParts), checkedFiles, sizedFiles)
	if err != nil && ctx.Err() == nil {
		s.options.Logger.Error(err, "Cannot write the inventory of the data directory")
	}
}

func advised(err error) error {
	if e, ok := errors.AsType[*blockfile.UnreadableError](err); ok {
		return &datadir.Damage{Path: e.Path, Err: e.Err, Do: "restore it from a backup, or move it away to start without the results in it; nothing was changed"}
	}
	if e, ok := errors.AsType[*supervisor.UnreadableError](err); ok {
		return &datadir.Damage{Path: e.Path, Err: e.Err, Do: "restore it from a backup, or move it away to start without that revision of the scheduler configuration; nothing was changed"}
	}
	return err
}
