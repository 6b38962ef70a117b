// Package ledger keeps what the cycles of Kueue's admission did, newest last, within bounds: in memory, and
// in files that the next start reads. When it is full, the oldest entries go.
//
// A file is a sequence of blocks of package blockfile, one per entry, which hold JSON. A block that an
// abrupt end left unfinished is dropped. The package decides nothing. It may import scheduler/blockfile
// and simulator/kueue/admission.
package ledger

import (
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"sync"

	"k8s.io/klog/v2"

	"kube-scheduler-simulator/scheduler/blockfile"
	"kube-scheduler-simulator/simulator/kueue/admission"
)

// DefaultBytes bounds the ledger by default. An entry takes one to a few kilobytes.
const DefaultBytes = 32 << 20

// Options of a Ledger.
type Options struct {
	// Bytes bounds the entries as JSON, in memory and on disk each. Default DefaultBytes.
	Bytes int64
	// Dir is the directory of the files, which Start creates. Default: there are none.
	Dir string
	// Logger receives problems of writing. The ledger goes on in memory.
	Logger klog.Logger
}

// Entry is one cycle.
type Entry struct {
	// ID counts from 1, over restarts.
	ID int64 `json:"id"`
	admission.Record
}

// Ledger is safe for concurrent use.
type Ledger struct {
	opts Options

	mu sync.Mutex
	// entries are in the order of their IDs; total is the sum of their sizes.
	entries []stored
	total   int64
	last    int64
	// files are the segments by the ID of their first entry, the oldest first; file is the last of them.
	files   []segment
	file    *os.File
	written int64
	failed  bool
}

// stored is an entry with what queries look at.
type stored struct {
	id    int64
	text  []byte
	heads []head
}

type head struct {
	namespace, name, clusterQueue string
	outcome                       admission.Outcome
}

type segment struct {
	first int64
	bytes int64
}

// New returns a ledger that has not started.
func New(options Options) *Ledger {
	if options.Bytes <= 0 {
		options.Bytes = DefaultBytes
	}
	return &Ledger{opts: options}
}

// format is that of an entry; its field is the length of the contents.
var format = blockfile.Format{Magic: "KADM1\n", FieldBytes: 4}

// segments is how many files there are when the ledger is full.
const segments = 4

const suffix = ".admissions"

func (l *Ledger) path(first int64) string {
	return filepath.Join(l.opts.Dir, fmt.Sprintf("%019d%s", first, suffix))
}

// Start reads the files. Damage costs the entries behind it in the same file.
func (l *Ledger) Start() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.opts.Dir == "" {
		return nil
	}
	if err := os.MkdirAll(l.opts.Dir, 0o700); err != nil {
		return fmt.Errorf("creating the directory of the admissions: %w", err)
	}
	names, err := filepath.Glob(filepath.Join(l.opts.Dir, "*"+suffix))
	if err != nil {
		return err
	}
	slices.Sort(names)
	for _, name := range names {
		first, err := strconv.ParseInt(filepath.Base(name)[:len(filepath.Base(name))-len(suffix)], 10, 64)
		if err != nil {
			continue // not ours
		}
		data, err := os.ReadFile(name)
		if err != nil {
			return fmt.Errorf("reading the admissions: %w", err)
		}
		l.files = append(l.files, segment{first, int64(len(data))})
		l.read(data)
	}
	return nil
}

func (l *Ledger) read(data []byte) {
	for len(data) >= format.HeaderSize() {
		header := data[:format.HeaderSize()]
		size := int(binary.LittleEndian.Uint32(format.Fields(header)))
		if size > len(data)-len(header) || !format.Intact(header, data[len(header):len(header)+size]) {
			l.opts.Logger.Info("A file of admissions has an unfinished or damaged end, which is left out", "bytes", len(data))
			return
		}
		text := data[len(header) : len(header)+size]
		data = data[len(header)+size:]
		var entry Entry
		if err := json.Unmarshal(text, &entry); err == nil && entry.ID > l.last {
			l.keep(entry, slices.Clone(text))
		}
	}
}

// keep adds an entry, and drops the oldest ones beyond the bound.
func (l *Ledger) keep(entry Entry, text []byte) {
	s := stored{id: entry.ID, text: text}
	for _, h := range entry.Heads {
		s.heads = append(s.heads, head{h.Workload.Namespace, h.Workload.Name, h.ClusterQueue, h.Outcome})
	}
	l.entries, l.last = append(l.entries, s), entry.ID
	l.total += int64(len(text))
	drop := 0
	for ; l.total > l.opts.Bytes && drop < len(l.entries)-1; drop++ {
		l.total -= int64(len(l.entries[drop].text))
	}
	l.entries = slices.Delete(l.entries, 0, drop)
}

// Append adds the record of a cycle. Writing it costs a system call; the file is not synced, so what a
// failing machine loses are the latest entries.
func (l *Ledger) Append(record *admission.Record) {
	l.mu.Lock()
	defer l.mu.Unlock()
	entry := Entry{l.last + 1, *record}
	text, err := json.Marshal(entry)
	if err != nil {
		l.opts.Logger.Error(err, "A cycle of admission cannot be kept")
		return
	}
	l.keep(entry, text)
	if l.opts.Dir == "" {
		return
	}
	if err := l.write(entry.ID, text); err != nil && !l.failed {
		l.opts.Logger.Error(err, "Admissions are not written to disk any more")
		l.failed = true
	}
}

func (l *Ledger) write(id int64, text []byte) error {
	if l.failed {
		return nil
	}
	if l.file == nil || l.written > l.opts.Bytes/segments {
		if err := l.rotate(id); err != nil {
			return err
		}
	}
	block := make([]byte, format.HeaderSize(), format.HeaderSize()+len(text))
	binary.LittleEndian.PutUint32(format.Fields(block), uint32(len(text)))
	format.Seal(block, text)
	n, err := l.file.Write(append(block, text...))
	l.written += int64(n)
	l.files[len(l.files)-1].bytes += int64(n)
	return err
}

// rotate begins a file, and removes the oldest ones beyond the bound. Each start begins one, because the
// previous one may have an unfinished end.
func (l *Ledger) rotate(first int64) error {
	if l.file != nil {
		if err := l.file.Close(); err != nil {
			return err
		}
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
func (l *Ledger) Stop() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.file == nil {
		return nil
	}
	err := l.file.Close()
	l.file = nil
	return err
}

// Reset removes all entries, in memory and on disk. IDs go on.
func (l *Ledger) Reset() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.entries, l.total = nil, 0
	var errs []error
	if l.file != nil {
		errs = append(errs, l.file.Close())
		l.file = nil
	}
	for _, f := range l.files {
		if err := os.Remove(l.path(f.first)); err != nil && !errors.Is(err, os.ErrNotExist) {
			errs = append(errs, err)
		}
	}
	l.files = nil
	return errors.Join(errs...)
}

// Query selects entries. Empty fields match everything; those that name a head must fit the same head.
type Query struct {
	Namespace, Name, ClusterQueue string
	Outcome                       admission.Outcome
	// Limit bounds the page; 0 means DefaultLimit.
	Limit int
	// Continue is that of the previous page.
	Continue string
}

// The limits of a page.
const (
	DefaultLimit = 100
	MaxLimit     = 1000
)

// Page is a part of the ledger, newest first.
type Page struct {
	Items []json.RawMessage `json:"items"`
	// Continue is the Query's for the next page; "" on the last one.
	Continue string `json:"continue"`
}

// List returns a page. It fails if Continue does not come from an earlier one.
func (l *Ledger) List(q Query) (Page, error) {
	below := int64(-1)
	if q.Continue != "" {
		var err error
		if below, err = strconv.ParseInt(q.Continue, 10, 64); err != nil || below < 0 {
			return Page{}, fmt.Errorf("%q does not come from an earlier page", q.Continue)
		}
	}
	if q.Limit <= 0 {
		q.Limit = DefaultLimit
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	page := Page{Items: []json.RawMessage{}}
	for i := range l.entries {
		s := l.entries[len(l.entries)-1-i]
		if below >= 0 && s.id >= below || !q.fits(s) {
			continue
		}
		if len(page.Items) == q.Limit {
			page.Continue = strconv.FormatInt(below, 10)
			return page, nil
		}
		page.Items = append(page.Items, s.text)
		below = s.id
	}
	return page, nil
}

func (q Query) fits(s stored) bool {
	if q.Namespace == "" && q.Name == "" && q.ClusterQueue == "" && q.Outcome == "" {
		return true
	}
	return slices.ContainsFunc(s.heads, func(h head) bool {
		return (q.Namespace == "" || q.Namespace == h.namespace) && (q.Name == "" || q.Name == h.name) &&
			(q.ClusterQueue == "" || q.ClusterQueue == h.clusterQueue) && (q.Outcome == "" || q.Outcome == h.outcome)
	})
}
