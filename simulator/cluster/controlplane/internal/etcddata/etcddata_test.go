package etcddata

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"go.etcd.io/bbolt"
	"go.etcd.io/etcd/api/v3/mvccpb"
	"go.etcd.io/etcd/server/v3/embed"
	"go.etcd.io/etcd/server/v3/etcdserver/api/v3client"
	"go.etcd.io/etcd/server/v3/storage/schema"
	etcdwal "go.etcd.io/etcd/server/v3/storage/wal"
	"go.uber.org/zap"
	"google.golang.org/protobuf/proto"

	"kube-scheduler-simulator/simulator/host/datadir"
)

// Small, so that the log has several files, and a copy is quick.
func init() { etcdwal.SegmentSizeBytes = 64 << 10 }

// used returns the data of an etcd that has taken snapshots and has stopped in order.
func used(t *testing.T, puts int) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "etcd")
	config := embed.NewConfig()
	config.Dir = dir
	client := url.URL{Scheme: "unix", Path: filepath.Join(t.TempDir(), "socket")}
	config.ListenClientUrls, config.AdvertiseClientUrls = []url.URL{client}, []url.URL{client}
	config.ListenPeerUrls = nil
	config.UnsafeNoFsync = true
	config.SnapshotCount, config.SnapshotCatchUpEntries = 100, 10
	config.TickMs, config.ElectionMs = 10, 50
	config.ZapLoggerBuilder = embed.NewZapLoggerBuilder(zap.NewNop())
	etcd, err := embed.StartEtcd(config)
	if err != nil {
		t.Fatal(err)
	}
	<-etcd.Server.ReadyNotify()
	c := v3client.New(etcd.Server)
	for i := range puts {
		if _, err := c.Put(context.Background(), fmt.Sprint("/registry/", i%100), strings.Repeat("x", 500)); err != nil {
			t.Fatal(err)
		}
	}
	_ = c.Close()
	etcd.Close()
	return dir
}

// readable accepts what used has put.
func readable(_, value []byte) error {
	if string(value) == "noise" {
		return errors.New("it is noise")
	}
	return nil
}

func revisionOf(t *testing.T, key, value string, revision int64) []byte {
	t.Helper()
	data, err := proto.Marshal(&mvccpb.KeyValue{Key: []byte(key), Value: []byte(value), ModRevision: revision})
	if err != nil {
		t.Fatal(err)
	}
	return data
}

func TestCheck(t *testing.T) {
	const puts = 400
	good := used(t, puts)
	names, err := walNames(filepath.Join(good, "member", "wal"))
	if err != nil || len(names) < 3 {
		t.Fatal(names, err)
	}
	older := used(t, 20)
	first, last := "member/wal/"+names[0], "member/wal/"+names[len(names)-1]
	middle := "member/wal/" + names[1]
	const db = "member/snap/db"
	for _, tc := range []struct {
		name   string
		damage func(t *testing.T, dir string)
		// path and want are of the error; there is none if path is empty.
		path, want string
	}{
		{"whole", func(*testing.T, string) {}, "", ""},
		{"new", removes("."), "", ""},
		{"created by a start that was interrupted", func(t *testing.T, dir string) {
			removes(".")(t, dir)
			if err := os.MkdirAll(filepath.Join(dir, "member/snap"), 0o700); err != nil {
				t.Fatal(err)
			}
		}, "", ""},
		{"no snapshots", func(t *testing.T, dir string) {
			paths, _ := filepath.Glob(filepath.Join(dir, "member/snap/*.snap"))
			if len(paths) == 0 {
				t.Fatal("there are no snapshots")
			}
			for _, path := range paths {
				if err := os.Remove(path); err != nil {
					t.Fatal(err)
				}
			}
		}, "", ""},
		{"foreign files", func(t *testing.T, dir string) {
			for _, name := range []string{"README", "member/notes", "member/wal/notes.txt", "member/wal/x.wal", "member/snap/notes"} {
				if err := os.WriteFile(filepath.Join(dir, name), []byte("mine"), 0o600); err != nil {
					t.Fatal(err)
				}
			}
		}, "", ""},

		{"no log", removes("member/wal"), "member/wal", "etcd's log is missing"},
		{"an empty directory of the log", func(t *testing.T, dir string) {
			removes("member/wal")(t, dir)
			if err := os.Mkdir(filepath.Join(dir, "member/wal"), 0o700); err != nil {
				t.Fatal(err)
			}
		}, "member/wal", "etcd's log is missing"},
		{"no database", removes(db), db, "etcd's database is missing"},
		{"no directory of the database", removes("member/snap"), db, "etcd's database is missing"},
		{"an empty database", truncates(db, 0), db, "etcd's database is empty"},
		{"half a database", truncates(db, 8192), db, "should have"},
		{"a database without its beginning", writes(db, 0, make([]byte, 8192)), db, "neither copy of its beginning"},
		{"an older database", copies(older, db), db, "the database is older than the log"},
		{"a database that is a directory", func(t *testing.T, dir string) {
			removes(db)(t, dir)
			if err := os.Mkdir(filepath.Join(dir, db), 0o700); err != nil {
				t.Fatal(err)
			}
		}, db, "is not a regular file"},
		{"a file instead of the directory", func(t *testing.T, dir string) {
			removes(".")(t, dir)
			if err := os.WriteFile(dir, nil, 0o600); err != nil {
				t.Fatal(err)
			}
		}, ".", "is not a directory"},
		{"an empty log file", truncates(last, 0), last, "etcd's log is empty"},
		{"an empty log file in the middle", truncates(middle, 0), middle, "etcd's log is empty"},
		{"a cut log file in the middle", truncates(middle, 10_001), middle, "etcd's log is damaged at byte"},
		{"the end of the log cut off", truncates(last, 100), "member/wal", "the end of the log is missing"},
		{"no newest log file", removes(last), "member/wal", "the end of the log is missing"},
		{"no log file in the middle", removes(middle), "member/wal/" + names[2], "files in between are missing"},
		{"zeros in the log", writes(last, 0, make([]byte, 512)), last, "etcd's log is empty"},
		{"noise in the log", writes(first, 4000, []byte("noise")), first, "etcd's log is damaged at byte"},
		{"another's log", func(t *testing.T, dir string) {
			removes("member/wal")(t, dir)
			if err := os.CopyFS(filepath.Join(dir, "member/wal"), os.DirFS(filepath.Join(older, "member/wal"))); err != nil {
				t.Fatal(err)
			}
		}, "member/wal", "the end of the log is missing"},

		{"a newer etcd's", sets(schema.Cluster.Name(), "clusterVersion", "99.9.0"), db, "etcd 99.9 wrote it"},
		{"a newer etcd's storage", sets(schema.Meta.Name(), "storageVersion", "99.9.0"), db, "etcd 99.9 wrote it"},
		{"a cluster's", sets(schema.Members.Name(), "1234", `{}`), db, "is of an etcd cluster with 2 members"},
		{"a revision without its name", sets(schema.Key.Name(), "short", ""), db, `a revision has the name "short"`},
		{"a revision without its value", sets(schema.Key.Name(), "\x00\x00\x00\x00\x00\x00\x00\x07_\x00\x00\x00\x00\x00\x00\x00\x00", "\xff\xff"), db, "revision 7 cannot be read"},
		{"an object of noise", sets(schema.Key.Name(), "\x00\x00\x00\x00\x00\x00\xff\xff_\x00\x00\x00\x00\x00\x00\x00\x00", string(revisionOf(t, "/registry/pods/p", "noise", 0xffff))), db, "the object /registry/pods/p cannot be read: it is noise"},
		{"an object that was noise once", func(t *testing.T, dir string) {
			sets(schema.Key.Name(), "\x00\x00\x00\x00\x00\x00\xff\xfe_\x00\x00\x00\x00\x00\x00\x00\x00", string(revisionOf(t, "/registry/pods/p", "noise", 0xfffe)))(t, dir)
			sets(schema.Key.Name(), "\x00\x00\x00\x00\x00\x00\xff\xff_\x00\x00\x00\x00\x00\x00\x00\x00", string(revisionOf(t, "/registry/pods/p", "good", 0xffff)))(t, dir)
		}, "", ""},
		{"no position", sets(schema.Meta.Name(), "consistent_index", "short"), db, "the position in the log cannot be read"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), "etcd")
			if err := os.CopyFS(dir, os.DirFS(good)); err != nil {
				t.Fatal(err)
			}
			tc.damage(t, dir)
			err := Check(context.Background(), dir, readable)
			if tc.path == "" {
				if err != nil {
					t.Error(err)
				}
				return
			}
			damage, ok := errors.AsType[*datadir.Damage](err)
			if !ok || damage.Path != filepath.Join(dir, tc.path) || !strings.Contains(err.Error(), tc.want) || strings.Contains(err.Error(), "\n") {
				t.Errorf("it said %v", err)
			}
		})
	}
}

// An unfinished write at the end of the log is what a kill leaves.
func TestATornEndOfTheLogIsNoDamage(t *testing.T) {
	dir := used(t, 30)
	names, err := walNames(filepath.Join(dir, "member/wal"))
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(dir, "member/wal", names[len(names)-1])
	w, err := readWAL(context.Background(), filepath.Dir(path), names)
	if err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	end := int64(len(strings.TrimRight(string(data), "\x00")))
	// A record of 2,000 bytes, of which the first ones are written and the later sectors are not.
	overwrite(t, path, end+8-end%8, append([]byte{0xd0, 0x07, 0, 0, 0, 0, 0, 0}, "the beginning of a record"...))
	again, err := readWAL(context.Background(), filepath.Dir(path), names)
	if err != nil || again.last != w.last {
		t.Errorf("%d entries where there were %d, %v", again.last, w.last, err)
	}
}

func TestCheckEndsWithItsContext(t *testing.T) {
	dir := used(t, 1)
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if err := Check(ctx, dir, readable); !errors.Is(err, context.Canceled) {
		t.Errorf("it said %v", err)
	}
}

func removes(name string) func(*testing.T, string) {
	return func(t *testing.T, dir string) {
		if err := os.RemoveAll(filepath.Join(dir, name)); err != nil {
			t.Fatal(err)
		}
	}
}

func truncates(name string, size int64) func(*testing.T, string) {
	return func(t *testing.T, dir string) { truncate(t, filepath.Join(dir, name), size) }
}

func writes(name string, at int64, data []byte) func(*testing.T, string) {
	return func(t *testing.T, dir string) { overwrite(t, filepath.Join(dir, name), at, data) }
}

// copies replaces a file by that of another directory.
func copies(from, name string) func(*testing.T, string) {
	return func(t *testing.T, dir string) {
		data, err := os.ReadFile(filepath.Join(from, name))
		if err == nil {
			err = os.WriteFile(filepath.Join(dir, name), data, 0o600)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
}

// sets writes a key of the database.
func sets(bucket []byte, key, value string) func(*testing.T, string) {
	return func(t *testing.T, dir string) {
		db, err := bbolt.Open(filepath.Join(dir, "member/snap/db"), 0o600, nil)
		if err != nil {
			t.Fatal(err)
		}
		defer db.Close()
		err = db.Update(func(tx *bbolt.Tx) error { return tx.Bucket(bucket).Put([]byte(key), []byte(value)) })
		if err != nil {
			t.Fatal(err)
		}
	}
}
