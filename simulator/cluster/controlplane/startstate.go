package controlplane

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"
	clientv3 "go.etcd.io/etcd/client/v3"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/kubernetes/pkg/api/legacyscheme"
)

// ErrNoStartState means that the data come from another program, or from a version that did not
// record the start state, so that the control plane cannot be reset.
var ErrNoStartState = errors.New("the initial state of this cluster is unknown, because its data was not created by this version of the simulator; start with an empty data directory or etcd prefix to be able to reset")

// The start state is what the API server creates in an empty etcd, and what bootstrap adds. Copies
// are in etcd below the same prefix, so that they stay with the data that they belong to.
const (
	// The start state is being created, and no other client has written yet.
	stateBegun = "begun"
	// The copies are complete, except for the default roles.
	stateKnown = "known"
)

type startState struct {
	registry *registry
	// state is empty when the start state is unknown.
	state string
	// etcd was empty before this start.
	fresh bool
	// The revision before the API server started.
	since int64
	// complete is closed when the start state is; then err is valid.
	complete chan struct{}
	err      error
}

// The API server has not started yet.
func beginStartState(ctx context.Context, r *registry) (*startState, error) {
	ctx, cancel := context.WithTimeout(ctx, etcdDialTimeout)
	defer cancel()
	s := &startState{registry: r, complete: make(chan struct{})}
	// At most one key is our own.
	present, revision, err := r.list(ctx, clientv3.WithKeysOnly(), clientv3.WithLimit(2))
	if err != nil {
		return nil, err
	}
	s.since = revision
	answer, err := r.client.Get(ctx, r.stateKey())
	if err != nil {
		return nil, fmt.Errorf("read the start state: %w", err)
	}
	switch {
	case len(answer.Kvs) > 0:
		s.state = string(answer.Kvs[0].Value)
	case len(present) == 0:
		s.state, s.fresh = stateBegun, true
		_, err = r.client.Put(ctx, r.stateKey(), stateBegun)
	}
	if s.state == stateBegun {
		s.since = 0
	}
	return s, err
}

// remember is called before any other client has access: all objects so far belong to the start
// state. A newer API server creates further ones at its first start.
func (s *startState) remember(ctx context.Context) error {
	if s.state == "" {
		return nil
	}
	err := s.copy(ctx, func(e entry) bool { return e.created > s.since })
	if err == nil && s.state == stateBegun {
		_, err = s.registry.client.Put(ctx, s.registry.stateKey(), stateKnown)
		s.state = stateKnown
	}
	if err != nil {
		return fmt.Errorf("remember the start state: %w", err)
	}
	return nil
}

// rememberLate is called after bootstrapRoles. Others may have written by then.
func (s *startState) rememberLate(ctx context.Context) {
	defer close(s.complete)
	if s.state == "" {
		return
	}
	roles := false
	err := s.copy(ctx, func(e entry) bool {
		if s.registry.isOwnService(e.key) {
			return true
		}
		role := s.isDefaultRole(e)
		roles = roles || role
		return role
	})
	// The API server may create its service after the first start was remembered, and the storage
	// may be full by the next. A reset keeps that service anyway.
	if err != nil && (roles || !errors.Is(err, rpctypes.ErrNoSpace)) {
		s.err = fmt.Errorf("remember the start state: %w", err)
	}
}

var roleKinds = []string{"clusterroles", "clusterrolebindings", "roles", "rolebindings"}

const roleLabel = "kubernetes.io/bootstrapping"

func (s *startState) isDefaultRole(e entry) bool {
	if !slices.Contains(roleKinds, s.registry.kind(e.key)) {
		return false
	}
	object, _, err := legacyscheme.Codecs.UniversalDeserializer().Decode([]byte(e.value), nil, nil)
	if err != nil {
		return false
	}
	accessor, err := meta.Accessor(object)
	return err == nil && accessor.GetLabels()[roleLabel] != ""
}

// A little less than etcd's own default.
const copyOps = 100

// copy adds the wanted keys to the start state, and changes no copy.
func (s *startState) copy(ctx context.Context, wanted func(entry) bool) error {
	r := s.registry
	present, _, err := r.list(ctx)
	if err != nil {
		return err
	}
	had, err := s.read(ctx)
	if err != nil {
		return err
	}
	var puts []clientv3.Op
	for _, e := range present {
		if _, has := had[e.key]; !has && !r.isIdentity(e.key) && wanted(e) {
			puts = append(puts, clientv3.OpPut(r.copyOf(e.key), fmt.Sprintf("%d\n%s", e.modified, e.value)))
		}
	}
	for some := range slices.Chunk(puts, copyOps) {
		if _, err := r.client.Txn(ctx).Then(some...).Commit(); err != nil {
			return err
		}
	}
	return nil
}

func (s *startState) read(ctx context.Context) (map[string]entry, error) {
	r := s.registry
	answer, err := r.client.Get(ctx, r.prefix+startStateDir, clientv3.WithPrefix())
	if err != nil {
		return nil, fmt.Errorf("read the start state: %w", err)
	}
	entries := make(map[string]entry, len(answer.Kvs))
	for _, kv := range answer.Kvs {
		e := entry{key: r.prefix + strings.TrimPrefix(string(kv.Key), r.prefix+startStateDir)}
		revision, value, _ := strings.Cut(string(kv.Value), "\n")
		if e.modified, err = strconv.ParseInt(revision, 10, 64); err != nil {
			return nil, fmt.Errorf("read the start state of %s: %w", e.key, err)
		}
		e.value = value
		entries[e.key] = e
	}
	return entries, nil
}

// isIdentity: an API server announces itself by a lease, and renews it all the time.
func (r *registry) isIdentity(key string) bool {
	switch r.kind(key) {
	case "masterleases", "peerserverleases":
		return true
	}
	return strings.HasPrefix(key, r.prefix+"leases/kube-system/apiserver-")
}

// isOwnService: the API server creates its own service some time after it is ready, and again if it
// is deleted.
func (r *registry) isOwnService(key string) bool {
	switch strings.TrimPrefix(key, r.prefix) {
	case "services/specs/default/kubernetes", "services/endpoints/default/kubernetes",
		"endpointslices/default/kubernetes", "ipaddresses/" + ownServiceIP:
		return true
	}
	return false
}
