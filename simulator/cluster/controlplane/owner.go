package controlplane

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"sync"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"
	"go.etcd.io/etcd/client/v3/concurrency"
)

const (
	// In seconds, how long a killed simulator still counts as running.
	ownerLease   = 5
	ownerRetry   = 200 * time.Millisecond
	reownTimeout = 3 * time.Second
	// A stop takes at most so much longer when etcd does not answer.
	revokeTimeout = time.Second
)

// owner is a leased key in an external etcd that keeps a second simulator from using the same
// prefix. Two would schedule the same pods, and a reset of one would empty the other.
type owner struct {
	registry *registry
	self     ownership
	cancel   context.CancelFunc
	running  sync.WaitGroup
}

type ownership struct {
	Host      string    `json:"host"`
	Process   int       `json:"process"`
	Directory string    `json:"directory"`
	Since     time.Time `json:"since"`
}

func (o ownership) String() string {
	return fmt.Sprintf("process %d on %s, data directory %s, since %s", o.Process, o.Host, o.Directory, o.Since.Format(time.RFC3339))
}

// own returns when this process owns the registry's keys. It takes over from a process of the same
// data directory, which we have locked, and waits for the lease of any other. fail is called when
// another simulator has taken over, after etcd could not be reached for the time of a lease.
func own(ctx context.Context, r *registry, dataDir string, fail func(error)) (*owner, error) {
	host, err := os.Hostname()
	if err != nil {
		return nil, fmt.Errorf("read the name of this machine: %w", err)
	}
	o := &owner{registry: r, self: ownership{Host: host, Process: os.Getpid(), Directory: dataDir, Since: time.Now().Truncate(time.Second)}}
	deadline := time.Now().Add((ownerLease + 1) * time.Second)
	for {
		session, other, err := o.try(ctx)
		if err != nil {
			return nil, err
		}
		if session != nil {
			lifetime, cancel := context.WithCancel(context.WithoutCancel(ctx))
			o.cancel = cancel
			o.running.Go(func() { o.keep(lifetime, session, fail) })
			return o, nil
		}
		if time.Now().After(deadline) {
			return nil, fmt.Errorf("another simulator uses the keys below %s (%s): stop it, or choose another prefix with --etcd-prefix", r.prefix, other)
		}
		select {
		case <-time.After(ownerRetry):
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		}
	}
}

// try returns a session, or the owner if there is one.
func (o *owner) try(ctx context.Context) (*concurrency.Session, ownership, error) {
	dial, cancel := context.WithTimeout(ctx, etcdDialTimeout)
	defer cancel()
	key := o.registry.prefix + ownerKey
	answer, err := o.registry.client.Get(dial, key)
	if err != nil {
		return nil, ownership{}, err
	}
	unchanged := clientv3.Compare(clientv3.CreateRevision(key), "=", 0)
	if len(answer.Kvs) > 0 {
		var other ownership
		if err := json.Unmarshal(answer.Kvs[0].Value, &other); err != nil {
			return nil, other, fmt.Errorf("read the key %s: %w", key, err)
		}
		if other.Host != o.self.Host || other.Directory != o.self.Directory {
			return nil, other, nil
		}
		unchanged = clientv3.Compare(clientv3.ModRevision(key), "=", answer.Kvs[0].ModRevision)
	}
	return o.create(ctx, dial, key, unchanged)
}

// ctx bounds the request, and lifetime the lease.
func (o *owner) create(lifetime, ctx context.Context, key string, unchanged clientv3.Cmp) (*concurrency.Session, ownership, error) {
	value, err := json.Marshal(o.self)
	if err != nil {
		return nil, ownership{}, err
	}
	lease, err := o.registry.client.Grant(ctx, ownerLease)
	if err != nil {
		return nil, ownership{}, err
	}
	session, err := concurrency.NewSession(o.registry.client,
		concurrency.WithLease(lease.ID), concurrency.WithTTL(ownerLease), concurrency.WithContext(context.WithoutCancel(lifetime)))
	if err != nil {
		return nil, ownership{}, err
	}
	done, err := o.registry.client.Txn(ctx).If(unchanged).Then(clientv3.OpPut(key, string(value), clientv3.WithLease(lease.ID))).Commit()
	if err == nil && done.Succeeded {
		return session, ownership{}, nil
	}
	o.revoke(session)
	return nil, ownership{}, err
}

// If etcd does not answer, the lease ends by itself.
func (o *owner) revoke(session *concurrency.Session) {
	session.Orphan()
	ctx, cancel := context.WithTimeout(context.Background(), revokeTimeout)
	defer cancel()
	_, _ = o.registry.client.Revoke(ctx, session.Lease())
}

func (o *owner) keep(ctx context.Context, session *concurrency.Session, fail func(error)) {
	for {
		select {
		case <-ctx.Done():
			o.revoke(session)
			return
		case <-session.Done():
		}
		again, err := o.reown(ctx)
		if err != nil {
			fail(err)
			return
		}
		if again == nil {
			return
		}
		session = again
	}
}

// reown returns nil when ctx has ended, and an error when another simulator is the owner.
func (o *owner) reown(ctx context.Context) (*concurrency.Session, error) {
	for ctx.Err() == nil {
		attempt, cancel := context.WithTimeout(ctx, reownTimeout)
		session, other, err := o.try(attempt)
		cancel()
		if session != nil {
			return session, nil
		}
		if err == nil && other != (ownership{}) {
			return nil, fmt.Errorf("another simulator has begun to use the keys below %s (%s)", o.registry.prefix, other)
		}
		select {
		case <-time.After(ownerRetry):
		case <-ctx.Done():
		}
	}
	return nil, nil
}

func (o *owner) release(ctx context.Context) error {
	o.cancel()
	released := make(chan struct{})
	go func() {
		defer close(released)
		o.running.Wait()
	}()
	return waitUntil(ctx, released, "using etcd")
}
