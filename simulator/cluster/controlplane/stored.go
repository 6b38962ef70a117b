package controlplane

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"go.etcd.io/etcd/api/v3/mvccpb"
	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"
	clientv3 "go.etcd.io/etcd/client/v3"
)

// StoredEntry is an object as the API server stores it. Its key is that below the prefix, and its
// value is nil after its deletion. Revision is the one of etcd that wrote or deleted it.
type StoredEntry = struct {
	Key      string
	Value    []byte
	Revision int64
}

// For each page etcd counts all keys that follow, so small pages make a long list slow.
const storedPage = 4000

// FollowStored calls listed with everything that the API server stores, some entries at a time and
// done with the last ones, and then changed with each change, in the order of all changes. It calls
// listed again when etcd has dropped changes that it has not passed yet. The callee keeps no value
// and does not change it: values belong to etcd. It returns when ctx ends, or with an error when
// etcd does. The control plane must have started.
//
// A watch of etcd costs much less than one of the API: it has all kinds in one order, and nothing
// is decoded or encoded for it.
func (c *ControlPlane) FollowStored(ctx context.Context, listed func(some []StoredEntry, done bool), changed func([]StoredEntry)) error {
	r := c.startState.registry
	for ctx.Err() == nil {
		revision, err := r.listStored(ctx, listed)
		if err != nil {
			return err
		}
		if err := r.watchStored(ctx, revision+1, changed); err != nil && !errors.Is(err, rpctypes.ErrCompacted) {
			return err
		}
	}
	return context.Cause(ctx)
}

// listStored reads everything at one revision, which it returns.
func (r *registry) listStored(ctx context.Context, listed func(some []StoredEntry, done bool)) (revision int64, err error) {
	from, end := r.prefix, clientv3.GetPrefixRangeEnd(r.prefix)
	for {
		answer, err := r.client.Get(ctx, from, clientv3.WithRange(end), clientv3.WithLimit(storedPage), clientv3.WithRev(revision))
		if err != nil {
			return 0, fmt.Errorf("list what the API server stores: %w", err)
		}
		if revision == 0 {
			revision = answer.Header.Revision
		}
		some := make([]StoredEntry, 0, len(answer.Kvs))
		for _, kv := range answer.Kvs {
			if key, ok := r.storedKey(kv); ok {
				some = append(some, StoredEntry{key, kv.Value, kv.ModRevision})
			}
		}
		listed(some, !answer.More)
		if !answer.More {
			return revision, nil
		}
		from = string(answer.Kvs[len(answer.Kvs)-1].Key) + "\x00"
	}
}

func (r *registry) watchStored(ctx context.Context, revision int64, changed func([]StoredEntry)) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	for answer := range r.client.Watch(ctx, r.prefix, clientv3.WithPrefix(), clientv3.WithRev(revision)) {
		if err := answer.Err(); err != nil {
			return fmt.Errorf("watch what the API server stores: %w", err)
		}
		some := make([]StoredEntry, 0, len(answer.Events))
		for _, e := range answer.Events {
			key, ok := r.storedKey(e.Kv)
			if !ok {
				continue
			}
			entry := StoredEntry{Key: key, Revision: e.Kv.ModRevision}
			if e.Type == clientv3.EventTypePut {
				entry.Value = e.Kv.Value
			}
			some = append(some, entry)
		}
		changed(some)
	}
	return nil
}

// storedKey returns false for our own keys.
func (r *registry) storedKey(kv *mvccpb.KeyValue) (string, bool) {
	key := strings.TrimPrefix(string(kv.Key), r.prefix)
	return key, !strings.HasPrefix(key, ownDir)
}
