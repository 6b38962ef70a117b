package controlplane

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync/atomic"

	clientv3 "go.etcd.io/etcd/client/v3"
	"golang.org/x/sync/errgroup"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// Reset reports what a reset did.
type Reset struct {
	// Deleted counts the deleted objects, with events.
	Deleted int
}

// Hold refuses every write to the API with a conflict until release, and waits for the writes in
// flight. Holds may overlap. In the first second after the start, Hold waits for the default roles:
// if the API server cannot create them, it exits the process.
func (c *ControlPlane) Hold(ctx context.Context) (release func(), err error) {
	if err := c.startState.wait(ctx); err != nil {
		return nil, err
	}
	return c.gate.hold(ctx)
}

// KeepOut is Hold for the writes to one resource, in any version. Their clients are told why.
func (c *ControlPlane) KeepOut(ctx context.Context, resource schema.GroupResource, why string) (release func(), err error) {
	return c.gate.keepOut(ctx, writesOf(resource), why)
}

// IsNew reports whether the cluster did not exist before Start.
func (c *ControlPlane) IsNew() bool { return c.startState.fresh }

// CanReset returns ErrNoStartState if Reset would. It waits for another Reset.
func (c *ControlPlane) CanReset(ctx context.Context) error {
	if err := c.take(ctx); err != nil {
		return err
	}
	defer c.release()
	if c.startState == nil || c.startState.state == "" {
		return ErrNoStartState
	}
	return nil
}

// Reset restores the state that the API had when the data directory was new: objects that were
// created since are deleted, whatever their finalizers, and built-in objects that were modified
// or deleted are restored. Watches see each change and continue with newer resource versions.
//
// Reset stops the controllers first and restarts them afterwards, so that none of them recreates
// a deleted object. Informers then returns new informers; the users of the earlier ones must
// have stopped. Other writers in this process must have stopped, too, or their last writes may
// follow the reset; Hold keeps them out longer.
//
// It returns ErrNoStartState when that state is unknown. After any other error the cluster may
// be partly reset, and the control plane keeps running. Stop interrupts a Reset.
func (c *ControlPlane) Reset(ctx context.Context) (_ Reset, err error) {
	if err := c.take(ctx); err != nil {
		return Reset{}, fmt.Errorf("reset: %w", err)
	}
	defer c.release()
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	go func() {
		select {
		case <-c.halt:
			cancel(errHalted)
		case <-ctx.Done():
		}
	}()
	if !c.started || c.stopped {
		return Reset{}, errors.New("reset: the control plane is not running")
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
		deleted, err = c.startState.restore(ctx, c.storage.afterDeletions)
	}
	if err != nil {
		err = fmt.Errorf("reset: %w", err)
	}
	if errors.Is(context.Cause(ctx), errHalted) {
		return Reset{Deleted: deleted}, err
	}
	return Reset{Deleted: deleted}, errors.Join(err, c.startControllers())
}

var errHalted = errors.New("the control plane is stopping")

func (s *startState) wait(ctx context.Context) error {
	select {
	case <-s.complete:
		return s.err
	case <-ctx.Done():
		return fmt.Errorf("wait until the API server has created its default roles: %w", context.Cause(ctx))
	}
}

const (
	// Objects may appear in the meantime.
	restoreRounds = 5
	// etcd writes concurrent transactions to disk together.
	restoreWorkers = 512
)

// restore returns how many keys were deleted. It calls makeRoom after the deletions: a full etcd
// refuses to restore what was modified.
func (s *startState) restore(ctx context.Context, makeRoom func(context.Context) error) (deleted int, err error) {
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
			if err := makeRoom(ctx); err != nil {
				return deleted, fmt.Errorf("make room: %w", err)
			}
			return deleted, s.putBack(ctx, differing)
		}
		n, err := s.delete(ctx, surplus)
		deleted += n
		if err != nil {
			return deleted, err
		}
	}
	return deleted, errors.New("another client keeps writing to etcd: is another API server using it?")
}

// compare returns the surplus keys, and the entries that are missing or may have changed.
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

// delete never deletes two keys of a kind at the same revision: a resource version belongs to one
// object, and a watch that continues from there would miss the others.
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
	err := concurrently(ctx, rows, func(ctx context.Context, row []clientv3.Op) error {
		answer, err := s.registry.client.Txn(ctx).Then(row...).Commit()
		if err != nil {
			return fmt.Errorf("delete objects that the start state does not have: %w", err)
		}
		for _, r := range answer.Responses {
			deleted.Add(r.GetResponseDeleteRange().Deleted)
		}
		return nil
	})
	return int(deleted.Load()), err
}

func (s *startState) putBack(ctx context.Context, entries []entry) error {
	return concurrently(ctx, entries, func(ctx context.Context, e entry) error {
		same := clientv3.Compare(clientv3.Value(e.key), "=", e.value)
		_, err := s.registry.client.Txn(ctx).If(same).Else(clientv3.OpPut(e.key, e.value)).Commit()
		if err != nil {
			return fmt.Errorf("restore objects of the start state: %w", err)
		}
		return nil
	})
}

// concurrently returns the first error, after which it makes no further calls.
func concurrently[T any](parent context.Context, items []T, do func(context.Context, T) error) error {
	group, ctx := errgroup.WithContext(parent)
	group.SetLimit(restoreWorkers)
	for _, item := range items {
		if ctx.Err() != nil {
			break
		}
		group.Go(func() error { return do(ctx, item) })
	}
	if err := group.Wait(); err != nil {
		return err
	}
	return context.Cause(parent)
}
