// Package etcddata reads the files of an etcd that does not run, and says in one line what is
// wrong with them. etcd itself maps its database into memory and trusts it: on damaged files it
// panics in a goroutine of its own, exits the process, waits forever, or begins an empty cluster.
//
// It changes no file, and knows nothing of the API server. It may import etcd's packages for the
// log and the keys, and simulator/host/datadir for the wording.
package etcddata

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"kube-scheduler-simulator/simulator/host/datadir"
)

// files are the paths of a member's files.
type files struct {
	dir, member, snap, wal, db string
}

func filesOf(dir string) files {
	member := filepath.Join(dir, "member")
	snap := filepath.Join(member, "snap")
	return files{dir: dir, member: member, snap: snap, wal: filepath.Join(member, "wal"), db: filepath.Join(snap, "db")}
}

// Check returns nil when etcd can start on dir: it does not exist, an earlier start got no
// further than creating files, or the log and the database are whole and belong together. read
// says whether the value of a key can be read; it is called with each revision, and the last one
// of a key counts. The error is a *datadir.Damage, or that of ctx.
func Check(ctx context.Context, dir string, read func(key, value []byte) error) error {
	f := filesOf(dir)
	for _, path := range []string{f.dir, f.member, f.snap, f.wal} {
		info, err := os.Stat(path)
		switch {
		case errors.Is(err, fs.ErrNotExist):
		case err != nil:
			return &datadir.Damage{Path: path, Err: err}
		case !info.IsDir():
			return &datadir.Damage{Path: path, Err: errors.New("is not a directory")}
		}
	}
	names, err := walNames(f.wal)
	if err != nil {
		return &datadir.Damage{Path: f.wal, Err: err}
	}
	db, err := readDB(ctx, f.db, read)
	if err != nil {
		return damaged(ctx, f.db, err)
	}
	switch {
	case len(names) == 0 && db.index == 0:
		return nil // new, or from a start that was interrupted before it could create the log
	case len(names) == 0:
		return &datadir.Damage{Path: f.wal, Err: errors.New("etcd's log is missing, and its database is there")}
	case db.empty:
		return &datadir.Damage{Path: f.db, Err: errors.New("etcd's database is empty, and its log is there")}
	case !db.exists:
		return &datadir.Damage{Path: f.db, Err: errors.New("etcd's database is missing, and its log is there")}
	}
	log, err := readWAL(ctx, f.wal, names)
	if err != nil {
		return damaged(ctx, f.wal, err)
	}
	return belongTogether(f, log, db)
}

// damaged returns the error of reading path, or of a file in that directory.
func damaged(ctx context.Context, path string, err error) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if d, ok := errors.AsType[*datadir.Damage](err); ok {
		return d
	}
	return &datadir.Damage{Path: path, Err: err}
}

// belongTogether compares the positions of the log and of the database. An entry of the log may
// be missing from the database, because etcd writes it there a moment later.
func belongTogether(f files, log wal, db database) error {
	switch {
	case db.index > log.last:
		return &datadir.Damage{Path: f.wal, Err: fmt.Errorf("etcd's log ends at entry %d, and its database has entry %d: the end of the log is missing", log.last, db.index)}
	case db.index < log.snapshot:
		return &datadir.Damage{Path: f.db, Err: fmt.Errorf("etcd's database ends at entry %d, and its log begins after entry %d: the database is older than the log", db.index, log.snapshot)}
	case db.members > 1:
		return &datadir.Damage{Path: f.db, Err: fmt.Errorf("is of an etcd cluster with %d members, and not of a simulator", db.members)}
	}
	return nil
}

// walNames returns the names of the log's files, in order. Files of other names are not etcd's.
func walNames(dir string) ([]string, error) {
	entries, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var names []string
	for _, e := range entries {
		if _, ok := walSequence(e.Name()); ok {
			names = append(names, e.Name())
		}
	}
	return names, nil
}

// walSequence returns the number of a log file.
func walSequence(name string) (sequence uint64, ok bool) {
	var index uint64
	if !strings.HasSuffix(name, ".wal") {
		return 0, false
	}
	_, err := fmt.Sscanf(name, "%016x-%016x.wal", &sequence, &index)
	return sequence, err == nil
}
