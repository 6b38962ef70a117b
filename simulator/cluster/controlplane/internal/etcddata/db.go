package etcddata

import (
	"bytes"
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"slices"

	"go.etcd.io/etcd/api/v3/mvccpb"
	"go.etcd.io/etcd/api/v3/version"
	"go.etcd.io/etcd/server/v3/storage/schema"
	"google.golang.org/protobuf/proto"
	versions "k8s.io/apimachinery/pkg/util/version"

	"kube-scheduler-simulator/simulator/host/datadir"
)

// database is what a database says.
type database struct {
	exists, empty bool
	// index is that of the last entry of the log that it contains; 0 in a new one.
	index uint64
	// members is the number of members of the cluster.
	members int

	read func(key, value []byte) error
	// unreadable says why the last revision of a key cannot be read.
	unreadable map[string]error
}

// readDB reads a whole database: the pages, and what etcd reads from them at the start.
func readDB(ctx context.Context, path string, read func(key, value []byte) error) (database, error) {
	file, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return database{}, nil
	}
	if err != nil {
		return database{}, err
	}
	defer file.Close()
	info, err := file.Stat()
	if err == nil && !info.Mode().IsRegular() {
		err = errors.New("is not a regular file")
	}
	if err != nil {
		return database{}, err
	}
	if info.Size() == 0 {
		return database{exists: true, empty: true}, nil
	}
	d := database{exists: true, read: read, unreadable: map[string]error{}}
	err = readPages(ctx, file, info.Size(), d.see)
	if newer, ok := errors.AsType[*newerError](err); ok {
		return d, &datadir.Damage{Path: path, Err: newer, Do: "use the version of the simulator that wrote it, or start with another data directory"}
	}
	if err != nil {
		return d, fmt.Errorf("etcd's database is damaged: %w", err)
	}
	for _, key := range slices.Sorted(maps.Keys(d.unreadable)) {
		return d, fmt.Errorf("etcd's database is damaged: the object %s cannot be read: %w", key, d.unreadable[key])
	}
	return d, nil
}

// see is called with each key of each bucket.
func (d *database) see(bucket, key, value []byte) error {
	switch string(bucket) {
	case string(schema.Key.Name()):
		return d.seeRevision(key, value)
	case string(schema.Meta.Name()):
		return d.seeMeta(key, value)
	case string(schema.Cluster.Name()):
		if bytes.Equal(key, schema.ClusterClusterVersionKeyName) {
			return notNewer(value)
		}
	case string(schema.Members.Name()):
		d.members++
		if !json.Valid(value) {
			return errors.New("the members of the cluster cannot be read")
		}
	}
	return nil
}

func (d *database) seeMeta(key, value []byte) error {
	switch {
	case bytes.Equal(key, schema.MetaConsistentIndexKeyName):
		if len(value) != 8 {
			return errors.New("the position in the log cannot be read")
		}
		d.index = binary.BigEndian.Uint64(value)
	case bytes.Equal(key, schema.MetaStorageVersionName):
		return notNewer(value)
	case bytes.Equal(key, schema.MetaConfStateName):
		if !json.Valid(value) {
			return errors.New("the members of the cluster cannot be read")
		}
	}
	return nil
}

// A key of the bucket of revisions is 8 bytes, '_' and 8 bytes; a deletion has 't' at the end.
const (
	revisionBytes  = 8 + 1 + 8
	deletedMark    = 't'
	revisionMiddle = '_'
)

func (d *database) seeRevision(key, value []byte) error {
	deleted := len(key) == revisionBytes+1 && key[revisionBytes] == deletedMark
	if len(key) != revisionBytes && !deleted || key[8] != revisionMiddle {
		return fmt.Errorf("a revision has the name %q", key)
	}
	revision := int64(binary.BigEndian.Uint64(key))
	var kv mvccpb.KeyValue
	if err := proto.Unmarshal(value, &kv); err != nil {
		return fmt.Errorf("revision %d cannot be read: %w", revision, err)
	}
	if len(kv.GetKey()) == 0 || !deleted && kv.GetModRevision() != revision {
		return fmt.Errorf("revision %d cannot be read: it is one of %q at revision %d", revision, kv.GetKey(), kv.GetModRevision())
	}
	// Revisions come in their order.
	delete(d.unreadable, string(kv.GetKey()))
	if deleted {
		return nil
	}
	if err := d.read(kv.GetKey(), kv.GetValue()); err != nil {
		d.unreadable[string(kv.GetKey())] = err
	}
	return nil
}

// notNewer fails when a version of etcd is newer than ours, apart from the patch.
func notNewer(written []byte) error {
	v, err := versions.ParseGeneric(string(written))
	if err != nil {
		return fmt.Errorf("the version of etcd cannot be read: %w", err)
	}
	ours := versions.MustParseGeneric(version.Version)
	if v.WithPatch(0).GreaterThan(ours) {
		return &newerError{written: v, ours: ours}
	}
	return nil
}

// newerError says that a newer etcd has written the database.
type newerError struct{ written, ours *versions.Version }

func (e *newerError) Error() string {
	return fmt.Sprintf("etcd %d.%d wrote it, and this simulator has etcd %d.%d", e.written.Major(), e.written.Minor(), e.ours.Major(), e.ours.Minor())
}
