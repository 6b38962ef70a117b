package etcddata

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"go.etcd.io/etcd/client/pkg/v3/fileutil"
	etcdwal "go.etcd.io/etcd/server/v3/storage/wal"
	"go.etcd.io/etcd/server/v3/storage/wal/walpb"
	"google.golang.org/protobuf/proto"

	"kube-scheduler-simulator/simulator/host/datadir"
)

// wal is what a log says.
type wal struct {
	// last is the index of the last entry.
	last uint64
	// snapshot is the index of the last snapshot: older entries may have been removed.
	snapshot uint64

	begun    bool
	metadata []byte
	// crc continues from file to file.
	crc uint32
}

// readWAL reads all files of a log.
func readWAL(ctx context.Context, dir string, names []string) (wal, error) {
	var w wal
	var previous uint64
	for i, name := range names {
		sequence, _ := walSequence(name)
		if i > 0 && sequence != previous+1 {
			return w, &datadir.Damage{Path: filepath.Join(dir, name), Err: fmt.Errorf("is number %d of etcd's log, and the file before it number %d: files in between are missing", sequence, previous)}
		}
		previous = sequence
		if err := w.readFile(ctx, filepath.Join(dir, name), i == len(names)-1); err != nil {
			return w, damaged(ctx, filepath.Join(dir, name), err)
		}
	}
	if !w.begun || w.metadata == nil {
		return w, &datadir.Damage{Path: filepath.Join(dir, names[0]), Err: errors.New("the beginning of etcd's log is missing")}
	}
	return w, nil
}

// readFile reads one file. newest is true for the last one, which may end in an unfinished
// write.
func (w *wal) readFile(ctx context.Context, path string, newest bool) (err error) {
	file, err := os.Open(path)
	if err != nil {
		return err
	}
	defer file.Close()
	// etcd's code for reading records panics when a record with the right checksum cannot be
	// parsed.
	defer func() {
		if reason := recover(); reason != nil {
			err = fmt.Errorf("etcd's log is damaged: %v", reason)
		}
	}()
	info, err := file.Stat()
	if err == nil && !info.Mode().IsRegular() {
		err = errors.New("is not a regular file")
	}
	if err != nil {
		return err
	}
	decoder := etcdwal.NewDecoder(fileutil.NewFileReader(file))
	decoder.UpdateCRC(w.crc)
	record := &walpb.Record{}
	for ctx.Err() == nil {
		at := decoder.LastOffset()
		err := decoder.Decode(record)
		if errors.Is(err, io.EOF) || newest && errors.Is(err, io.ErrUnexpectedEOF) {
			if at == 0 {
				return errors.New("etcd's log is empty")
			}
			w.crc = decoder.LastCRC()
			return nil
		}
		if err == nil {
			err = w.add(decoder, record)
		}
		if err != nil {
			return fmt.Errorf("etcd's log is damaged at byte %d: %w", at, err)
		}
	}
	return context.Cause(ctx)
}

func (w *wal) add(decoder etcdwal.Decoder, record *walpb.Record) error {
	switch record.GetType() {
	case etcdwal.MetadataType:
		if w.metadata != nil && !bytes.Equal(w.metadata, record.Data) {
			return errors.New("it continues the log of another etcd")
		}
		w.metadata = bytes.Clone(record.Data)
	case etcdwal.CrcType:
		if w.begun && decoder.LastCRC() != 0 && record.GetCrc() != decoder.LastCRC() {
			return errors.New("it does not continue the file before it")
		}
		w.begun = true
		decoder.UpdateCRC(record.GetCrc())
	case etcdwal.EntryType:
		entry := etcdwal.MustUnmarshalEntry(record.Data)
		if w.last > 0 && entry.GetIndex() > w.last+1 {
			return fmt.Errorf("entry %d follows entry %d", entry.GetIndex(), w.last)
		}
		w.last = entry.GetIndex()
	case etcdwal.SnapshotType:
		var snapshot walpb.Snapshot
		if err := proto.Unmarshal(record.Data, &snapshot); err != nil {
			return err
		}
		w.snapshot = snapshot.GetIndex()
		w.last = max(w.last, w.snapshot)
	case etcdwal.StateType:
		etcdwal.MustUnmarshalState(record.Data)
	default:
		return fmt.Errorf("unknown record type %d", record.GetType())
	}
	return nil
}
