package controlplane

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"
	"sync/atomic"

	clientv3 "go.etcd.io/etcd/client/v3"
)

// Reset is what a reset has done.
type Reset struct {
	// Deleted is the number of objects that were deleted, events among them.
	Deleted int
}

// Hold refuses every write to the API with a conflict until release is called,
// and returns when those that were under way have ended. Reads and watches go on.
// It may be held more than once. In the first second after the start it waits until
// the API server has made its default roles, which ends the process when it cannot.
func (c *ControlPlane) Hold(ctx context.Context) (release func(), err error) {
	if err := c.startState.wait(ctx); err != nil {
		return nil, err
	}
	return c.gate.hold(ctx)
}

// CanReset returns ErrNoStartState where Reset would.
func (c *ControlPlane) CanReset() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.startState == nil || c.startState.state == "" {
		return ErrNoStartState
	}
	return nil
}

// Reset makes everything in the API as it was when the data directory was new:
// what was created since is gone, whatever its finalizers say, and what the API
// server made by itself and somebody changed or deleted is there again. Watches
// are told of each object; they go on, with ever newer resource versions.
//
// The controllers end before and begin anew after it, so that none of them
// brings back what has gone: Informers returns others than before, and who uses
// the earlier ones must have ended. So must who else writes from this process, or
// its last writes may come after the reset; Hold keeps all out for longer.
//
// It is ErrNoStartState when that state is not known. After any other error the
// cluster may be in between, and the control plane runs on. A Stop waits.
func (c *ControlPlane) Reset(ctx context.Context) (_ Reset, err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.started || c.stopped {
		return Reset{}, errors.New("reset: the control plane does not run")
	}
	if c.startState.state == "" {
		return Reset{}, ErrNoStartState
	}
	release, err := c.Hold(ctx)
	if err != nil {
		return Reset{}, fmt.Errorf("reset: %w", err)
	}
	defer release()

	deleted := 0
	err = c.controllers.Stop(ctx)
	if err == nil {
		deleted, err = c.startState.restore(ctx)
	}
	if err != nil {
		err = fmt.Errorf("reset: %w", err)
	}
	return Reset{Deleted: deleted}, errors.Join(err, c.startControllers())
}

// wait returns when the start state is complete.
func (s *startState) wait(ctx context.Context) error {
	select {
	case <-s.complete:
		return s.err
	case <-ctx.Done():
		return fmt.Errorf("wait until the API server has made its default roles: %w", context.Cause(ctx))
	}
}

const (
	// restoreRounds bounds how often what came meanwhile is deleted, too.
	restoreRounds = 5
	// restoreWorkers is how many transactions are under way at a time: etcd
	// writes them to disk together.
	restoreWorkers = 512
)

// restore brings the start state back, and returns how many keys were deleted.
func (s *startState) restore(ctx context.Context) (deleted int, err error) {
	want, err := s.read(ctx)
	if err != nil {
		return 0, err
	}
	for range restoreRounds {
		present, _, err := s.registry.list(ctx, clientv3.WithKeysOnly())
		if err != nil {
			return deleted, err
		}
		surplus, differing := s.compare(want, present)
		if len(surplus) == 0 {
			return deleted, s.putBack(ctx, differing)
		}
		n, err := s.delete(ctx, surplus)
		deleted += n
		if err != nil {
			return deleted, err
		}
	}
	return deleted, errors.New("somebody else keeps writing to etcd: is there another API server on it?")
}

// compare returns the keys that are too many, and what is not there or may have
// changed.
func (s *startState) compare(want map[string]entry, present []entry) (surplus []string, differing []entry) {
	unseen := maps.Clone(want)
	for _, e := range present {
		w, keep := want[e.key]
		delete(unseen, e.key)
		switch {
		case keep && w.modified != e.modified:
			differing = append(differing, w)
		case !keep && !s.registry.isIdentity(e.key) && !s.registry.isOwnService(e.key):
			surplus = append(surplus, e.key)
		}
	}
	return surplus, slices.AppendSeq(differing, maps.Values(unseen))
}

// delete deletes keys, no two of one kind at the same revision: the API server
// takes it for granted that a resource version is that of one object, and a watch
// that it cuts and that goes on from there would miss the others.
func (s *startState) delete(ctx context.Context, keys []string) (int, error) {
	var rows [][]clientv3.Op
	of := map[string]int{}
	for _, key := range keys {
		kind := s.registry.kind(key)
		row := of[kind]
		for row < len(rows) && len(rows[row]) == copyOps {
			row++
		}
		of[kind] = row + 1
		if row == len(rows) {
			rows = append(rows, nil)
		}
		rows[row] = append(rows[row], clientv3.OpDelete(key))
	}
	var deleted atomic.Int64
	err := atOnce(ctx, rows, func(ctx context.Context, row []clientv3.Op) error {
		answer, err := s.registry.client.Txn(ctx).Then(row...).Commit()
		if err != nil {
			return fmt.Errorf("delete what was not there at the start: %w", err)
		}
		for _, r := range answer.Responses {
			deleted.Add(r.GetResponseDeleteRange().Deleted)
		}
		return nil
	})
	return int(deleted.Load()), err
}

// putBack writes what does differ.
func (s *startState) putBack(ctx context.Context, entries []entry) error {
	return atOnce(ctx, entries, func(ctx context.Context, e entry) error {
		same := clientv3.Compare(clientv3.Value(e.key), "=", e.value)
		_, err := s.registry.client.Txn(ctx).If(same).Else(clientv3.OpPut(e.key, e.value)).Commit()
		if err != nil {
			return fmt.Errorf("put back what was there at the start: %w", err)
		}
		return nil
	})
}

// atOnce calls do for all, some at a time, and returns its first error, after
// which it is not called any more.
func atOnce[T any](ctx context.Context, all []T, do func(context.Context, T) error) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	var next atomic.Int64
	var workers sync.WaitGroup
	for range min(restoreWorkers, len(all)) {
		workers.Go(func() {
			for ctx.Err() == nil {
				i := int(next.Add(1)) - 1
				if i >= len(all) {
					return
				}
				if err := do(ctx, all[i]); err != nil {
					cancel(err)
				}
			}
		})
	}
	workers.Wait()
	return context.Cause(ctx)
}
