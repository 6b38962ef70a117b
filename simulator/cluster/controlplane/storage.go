package controlplane

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	pb "go.etcd.io/etcd/api/v3/etcdserverpb"
	"go.etcd.io/etcd/server/v3/embed"
	"go.etcd.io/etcd/server/v3/storage/mvcc"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/klog/v2"

	"kube-scheduler-simulator/simulator/host/datadir"
)

const (
	// The part of the quota from which users are warned.
	storageWarning = 0.8
	// How soon a full storage is noticed, and how often room is looked for then.
	storageInterval = 5 * time.Second
	// The part of the database in use below which it is defragmented.
	worthShrinking = 0.9
	// A smaller database is not worth shrinking, if it takes less than smallPart of the quota.
	smallStorage = 64 << 20
	smallPart    = 0.5
)

// storage does what an administrator of etcd does: compact, defragment, disarm. At the quota etcd
// raises an alarm and refuses everything that takes room. The file never shrinks by itself, and the
// API server's compaction is a write, too.
type storage struct {
	etcd   *embed.Etcd
	quota  int64
	logger klog.Logger

	making sync.Mutex
}

// tendStorage makes room in a storage that is nearly full, and whenever it is full.
func (c *ControlPlane) tendStorage(ctx context.Context, e *etcdServer) error {
	s := &storage{etcd: e.server, quota: e.quota, logger: c.opts.Logger}
	for _, alarm := range s.etcd.Server.Alarms() {
		if alarm.GetAlarm() == pb.AlarmType_CORRUPT {
			return &datadir.Damage{Path: c.path("etcd"), Err: errors.New("etcd has raised the alarm that its data are corrupt")}
		}
	}
	if s.isFull() || s.used() >= storageWarning {
		if err := s.makeRoom(ctx, false); err != nil {
			s.logger.Error(err, "Cannot make room in the storage of the cluster")
		}
	}
	tending, cancel := context.WithCancel(context.WithoutCancel(ctx))
	var running sync.WaitGroup
	running.Go(func() { s.tend(tending) })
	c.onStop(func(context.Context) error {
		cancel()
		running.Wait()
		return nil
	})
	c.storage = s
	c.gate.full = s.refusal
	return nil
}

// Users may have deleted objects.
func (s *storage) tend(ctx context.Context) {
	ticker := time.NewTicker(storageInterval)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		}
		if !s.isFull() {
			continue
		}
		if err := s.makeRoom(ctx, false); err != nil && ctx.Err() == nil {
			s.logger.Error(err, "Cannot make room in the storage of the cluster")
		}
	}
}

func (s *storage) used() float64 {
	return float64(s.etcd.Server.Backend().Size()) / float64(s.quota)
}

// isFull is called for each request.
func (s *storage) isFull() bool {
	if s == nil {
		return false
	}
	for _, alarm := range s.etcd.Server.Alarms() {
		if alarm.GetAlarm() == pb.AlarmType_NOSPACE {
			return true
		}
	}
	return false
}

// makeRoom disarms the alarm if there is enough room then. With deleted the caller knows that there
// is: etcd counts what was just deleted as in use until it has written something else, which it
// refuses while it is full. A watch that has not caught up starts over.
func (s *storage) makeRoom(ctx context.Context, deleted bool) error {
	s.making.Lock()
	defer s.making.Unlock()
	server := s.etcd.Server
	_, err := server.Compact(ctx, &pb.CompactionRequest{Revision: server.KV().Rev(), Physical: true})
	if err != nil && !errors.Is(err, mvcc.ErrCompacted) {
		return fmt.Errorf("compact: %w", err)
	}
	// A database full of objects would not shrink, and nothing can be read meanwhile.
	inUse := float64(server.Backend().SizeInUse())
	if deleted || inUse < storageWarning*float64(s.quota) && inUse < worthShrinking*float64(server.Backend().Size()) {
		if err := server.Backend().Defrag(); err != nil {
			return fmt.Errorf("defragment: %w", err)
		}
	}
	if s.used() >= storageWarning {
		return nil
	}
	return s.disarm(ctx)
}

func (s *storage) disarm(ctx context.Context) error {
	for _, alarm := range s.etcd.Server.Alarms() {
		if alarm.GetAlarm() != pb.AlarmType_NOSPACE {
			continue
		}
		_, err := s.etcd.Server.Alarm(ctx, &pb.AlarmRequest{Action: pb.AlarmRequest_DEACTIVATE, MemberID: alarm.GetMemberID(), Alarm: pb.AlarmType_NOSPACE})
		if err != nil {
			return fmt.Errorf("disarm the alarm: %w", err)
		}
	}
	return nil
}

// afterDeletions: a storage that was full need not be now, as tend may have made room.
func (s *storage) afterDeletions(ctx context.Context) error {
	if s == nil || !s.isFull() && s.used() < smallPart && s.etcd.Server.Backend().Size() < smallStorage {
		return nil
	}
	return s.makeRoom(ctx, true)
}

// StorageWarning says that the storage is full, or nearly; empty otherwise, and for an etcd
// elsewhere. It is cheap, and may be called after Start.
func (c *ControlPlane) StorageWarning() string {
	s := c.storage
	if s == nil {
		return ""
	}
	switch used := s.used(); {
	case s.isFull():
		return s.fullMessage()
	case used >= storageWarning:
		return fmt.Sprintf("the storage of the cluster is %.0f%% full (of %s): delete objects, or reset the simulator, before it is full", 100*used, s.quotaText())
	}
	return ""
}

// refusal says why no write that takes room is accepted; empty while they are.
func (s *storage) refusal() string {
	if !s.isFull() {
		return ""
	}
	return s.fullMessage()
}

func (s *storage) fullMessage() string {
	return fmt.Sprintf("the storage of the cluster is full (%s): nothing can be created or changed; delete objects, or reset the simulator", s.quotaText())
}

func (s *storage) quotaText() string {
	return resource.NewQuantity(s.quota, resource.BinarySI).String()
}
