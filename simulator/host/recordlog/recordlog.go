// Package recordlog keeps numbered records within bounds, in memory and in files that the next
// start reads. When it is full, it drops the oldest ones.
//
// A file is a sequence of blocks of package blockfile, one per record. A start drops a block that
// an abrupt end left unfinished. The package knows nothing of a record but its number. It may
// import scheduler/blockfile.
package recordlog

import (
	"encoding/binary"
	"errors"
	"fmt"
	"iter"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"

	"k8s.io/klog/v2"

	"kube-scheduler-simulator/scheduler/blockfile"
)

// Options of a Log. Queries look at the keys of its records, which have type K.
type Options[K any] struct {
	// What names the records in errors, such as "the admissions". Required, as are Magic, Suffix
	// and Read.
	What string
	// Magic starts each block, and Suffix ends the names of the files.
	Magic, Suffix string
	// Read returns the number and the key of a record in a file. A record that it fails on is left
	// out.
	Read func(text []byte) (number int64, key K, err error)
	// Bytes bounds the records in memory, and those on disk. Required.
	Bytes int64
	// Records bounds their number in memory; 0 for no bound.
	Records int
	// Dir is the directory of the files. The first record creates it if it is missing. Default: no
	// files.
	Dir string
	// Logger receives problems of writing. The log goes on in memory.
	Logger klog.Logger
}

// Record is one record. Its text must not be changed.
type Record[K any] struct {
	Number int64
	Key    K
	Text   []byte
}

// Log is safe for concurrent use.
type Log[K any] struct {
	opts   Options[K]
	format blockfile.Format

	mu sync.Mutex
	// records are sorted by number; total is the sum of their sizes.
	records []Record[K]
	total   int64
	last    int64
	// files are the segments, oldest first, by the number of their first record; file is the last
	// of them.
	files   []segment
	file    *os.File
	written int64
	failed  bool
}

type segment struct {
	first int64
	bytes int64
}

// New returns a log that has not started.
func New[K any](options Options[K]) *Log[K] {
	// The block's field is the length of the contents.
	return &Log[K]{opts: options, format: blockfile.Format{Magic: options.Magic, FieldBytes: 4}}
}

const segments = 4

func (l *Log[K]) path(first int64) string {
	return filepath.Join(l.opts.Dir, fmt.Sprintf("%019d%s", first, l.opts.Suffix))
}

// Start reads the files. Damage costs the later records of the same file.
func (l *Log[K]) Start() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.opts.Dir == "" {
		return nil
	}
	names, err := filepath.Glob(filepath.Join(l.opts.Dir, "*"+l.opts.Suffix))
	if err != nil {
		return err
	}
	slices.Sort(names)
	for _, name := range names {
		first, err := strconv.ParseInt(strings.TrimSuffix(filepath.Base(name), l.opts.Suffix), 10, 64)
		if err != nil {
			continue // not ours
		}
		data, err := os.ReadFile(name)
		if err != nil {
			return fmt.Errorf("reading %s: %w", l.opts.What, err)
		}
		l.files = append(l.files, segment{first, int64(len(data))})
		l.read(data)
	}
	return nil
}

func (l *Log[K]) read(data []byte) {
	for len(data) >= l.format.HeaderSize() {
		header := data[:l.format.HeaderSize()]
		size := int(binary.LittleEndian.Uint32(l.format.Fields(header)))
		if size > len(data)-len(header) || !l.format.Intact(header, data[len(header):len(header)+size]) {
			l.opts.Logger.Info("A file has an unfinished or damaged end, which is left out", "of", l.opts.What, "bytes", len(data))
			return
		}
		text := data[len(header) : len(header)+size]
		data = data[len(header)+size:]
		if number, key, err := l.opts.Read(text); err == nil && number > l.last {
			l.keep(Record[K]{number, key, slices.Clone(text)})
		}
	}
}

func (l *Log[K]) keep(r Record[K]) {
	l.records, l.last = append(l.records, r), r.Number
	l.total += int64(len(r.Text))
	drop := 0
	for ; drop < len(l.records)-1 && (l.total > l.opts.Bytes || l.opts.Records > 0 && len(l.records)-drop > l.opts.Records); drop++ {
		l.total -= int64(len(l.records[drop].Text))
	}
	l.records = slices.Delete(l.records, 0, drop)
}

// Append adds the record that encode returns for the next number, which counts from 1 across
// restarts. If encode fails, Append returns its error and adds nothing. Writing costs a system
// call; the file is not synced, so a failing machine loses the latest records.
func (l *Log[K]) Append(encode func(number int64) (key K, text []byte, err error)) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	number := l.last + 1
	key, text, err := encode(number)
	if err != nil {
		return err
	}
	l.keep(Record[K]{number, key, text})
	if l.opts.Dir == "" || l.failed {
		return nil
	}
	if err := l.write(number, text); err != nil {
		l.opts.Logger.Error(err, "Records are not written to disk any more", "of", l.opts.What)
		l.failed = true
	}
	return nil
}

func (l *Log[K]) write(number int64, text []byte) error {
	if l.file == nil || l.written > l.opts.Bytes/segments {
		if err := l.rotate(number); err != nil {
			return err
		}
	}
	block := make([]byte, l.format.HeaderSize(), l.format.HeaderSize()+len(text))
	binary.LittleEndian.PutUint32(l.format.Fields(block), uint32(len(text)))
	l.format.Seal(block, text)
	n, err := l.file.Write(append(block, text...))
	l.written += int64(n)
	l.files[len(l.files)-1].bytes += int64(n)
	return err
}

// rotate begins a file, and removes the oldest ones beyond the bound. Each start begins one,
// because the previous one may have an unfinished end.
func (l *Log[K]) rotate(first int64) error {
	if l.file != nil {
		if err := l.file.Close(); err != nil {
			return err
		}
	}
	if err := os.MkdirAll(l.opts.Dir, 0o700); err != nil {
		return err
	}
	file, err := os.OpenFile(l.path(first), os.O_CREATE|os.O_WRONLY|os.O_TRUNC, 0o600)
	if err != nil {
		return err
	}
	l.file, l.written = file, 0
	l.files = append(l.files, segment{first: first})
	total := int64(0)
	for _, f := range l.files {
		total += f.bytes
	}
	for total > l.opts.Bytes && len(l.files) > 1 {
		if err := os.Remove(l.path(l.files[0].first)); err != nil && !errors.Is(err, os.ErrNotExist) {
			return err
		}
		total -= l.files[0].bytes
		l.files = l.files[1:]
	}
	return nil
}

// Stop closes the file.
func (l *Log[K]) Stop() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.close()
}

func (l *Log[K]) close() error {
	if l.file == nil {
		return nil
	}
	err := l.file.Close()
	l.file = nil
	return err
}

// Reset removes all records, in memory and on disk. Numbers go on.
func (l *Log[K]) Reset() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.records, l.total = nil, 0
	errs := []error{l.close()}
	for _, f := range l.files {
		if err := os.Remove(l.path(f.first)); err != nil && !errors.Is(err, os.ErrNotExist) {
			errs = append(errs, err)
		}
	}
	l.files = nil
	return errors.Join(errs...)
}

// Newest returns the records whose number is below a bound, newest first; below 0 means all. The
// loop's body must not call methods of l.
func (l *Log[K]) Newest(below int64) iter.Seq[Record[K]] {
	return func(yield func(Record[K]) bool) {
		l.mu.Lock()
		defer l.mu.Unlock()
		for _, r := range slices.Backward(l.records) {
			if (below < 0 || r.Number < below) && !yield(r) {
				return
			}
		}
	}
}

// Get returns the text of a record, or nil.
func (l *Log[K]) Get(number int64) []byte {
	l.mu.Lock()
	defer l.mu.Unlock()
	at, found := slices.BinarySearchFunc(l.records, number, func(r Record[K], n int64) int { return int(r.Number - n) })
	if !found {
		return nil
	}
	return l.records[at].Text
}
