// Package recordlog keeps numbered records within bounds, in memory and in files that the next
// start reads. When it is full, it drops the oldest ones.
//
// The files are a blockfile.Dir, with a block for each record. The package knows nothing of a record
// but its number. It may import scheduler/blockfile.
package recordlog

import (
	"context"
	"encoding/binary"
	"fmt"
	"iter"
	"slices"
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
	// files are nil without a directory.
	files  *blockfile.Dir[[]byte]
	failed bool
}

// New returns a log that has not started.
func New[K any](options Options[K]) *Log[K] {
	l := &Log[K]{opts: options, format: blockfile.Format{Magic: options.Magic, FieldBytes: 4}}
	if options.Dir != "" {
		l.files = &blockfile.Dir[[]byte]{
			Path: options.Dir, Suffix: options.Suffix, Holds: options.What, Format: l.format,
			Size: l.size, Read: l.read, Repaired: l.repaired, MaxBytes: options.Bytes, FileBytes: options.Bytes / segments,
		}
	}
	return l
}

const segments = 4

// The block's field is the length of the contents, which are the record.
func (l *Log[K]) size(header []byte) (int64, bool) {
	return int64(len(header)) + int64(binary.LittleEndian.Uint32(l.format.Fields(header))), true
}

func (l *Log[K]) read(f *blockfile.File, at int64, header []byte) ([]byte, error) {
	return l.format.Contents(f, at, int(binary.LittleEndian.Uint32(l.format.Fields(header))))
}

func (l *Log[K]) repaired(f *blockfile.Loaded[[]byte]) {
	if f.Torn {
		l.opts.Logger.Info("An unfinished write at the end of a file was cut off", "of", l.opts.What, "file", f.Path, "sizeNow", f.Size)
		return
	}
	l.opts.Logger.Error(f.Damage, "A file is damaged and was set aside", "of", l.opts.What, "file", f.Path, "setAside", f.SetAside)
}

// Start reads the files. A damaged record costs no other one.
func (l *Log[K]) Start() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.files == nil {
		return nil
	}
	files, err := l.files.Load(context.Background())
	if err != nil {
		return fmt.Errorf("reading %s: %w", l.opts.What, err)
	}
	for _, f := range files {
		for _, b := range f.Blocks {
			if number, key, err := l.opts.Read(b.Value); err == nil && number > l.last {
				l.keep(Record[K]{number, key, b.Value})
			}
		}
	}
	return nil
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
	if l.files == nil || l.failed {
		return nil
	}
	if err := l.write(text); err != nil {
		l.opts.Logger.Error(err, "Records are not written to disk any more", "of", l.opts.What)
		l.failed = true
	}
	return nil
}

func (l *Log[K]) write(text []byte) error {
	block := make([]byte, l.format.HeaderSize(), l.format.HeaderSize()+len(text))
	binary.LittleEndian.PutUint32(l.format.Fields(block), uint32(len(text)))
	l.format.Seal(block, text)
	if _, _, err := l.files.Append(append(block, text...)); err != nil {
		return err
	}
	for _, f := range l.files.Excess(0, 1) {
		if err := l.files.Discard(f); err != nil {
			return err
		}
	}
	return nil
}

// Stop closes the files.
func (l *Log[K]) Stop() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.files == nil {
		return nil
	}
	return l.files.Close()
}

// Reset removes all records, in memory and on disk. Numbers go on.
func (l *Log[K]) Reset() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.records, l.total = nil, 0
	if l.files == nil {
		return nil
	}
	return l.files.Clear()
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
