package supervisor

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"

	"kube-scheduler-simulator/scheduler/config"
	"kube-scheduler-simulator/scheduler/recorder"
	"kube-scheduler-simulator/scheduler/result"
)

// These bound the number of revisions and the bytes of all documents. The oldest go first, but
// never the running one or the newest.
const (
	maxRevisions     = 1000
	maxRevisionBytes = 64 << 20
)

// revisions keeps the revisions in memory and, given a directory, one file for
// each. It is safe for concurrent use.
type revisions struct {
	dir string

	mu    sync.Mutex
	all   []*revision // in the order of their numbers
	count int         // the highest number so far
	// from is the last reset's revision; cycles of earlier ones are dropped.
	from int
}

type revision struct {
	config.Revision
	// unsaved is true while its file is out of date.
	unsaved bool
}

func newRevisions(dir string) *revisions { return &revisions{dir: dir} }

const extension = ".json"

// load reads the directory. It fails, having changed nothing, when it cannot read a revision's
// file: that may be the one to resume.
func (r *revisions) load() error {
	if r.dir == "" {
		return nil
	}
	if err := os.MkdirAll(r.dir, 0o700); err != nil {
		return &UnreadableError{Path: r.dir, Err: withoutPath(err)}
	}
	entries, err := os.ReadDir(r.dir)
	if err != nil {
		return &UnreadableError{Path: r.dir, Err: withoutPath(err)}
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, e := range entries {
		number, err := strconv.Atoi(strings.TrimSuffix(e.Name(), extension))
		if err != nil || number < 1 || e.Name() != filepath.Base(r.path(number)) {
			continue
		}
		r.count = max(r.count, number)
		one, err := read(r.path(number))
		if err == nil && one.Number != number {
			err = fmt.Errorf("it is revision %d", one.Number)
		}
		if err != nil {
			return &UnreadableError{Path: r.path(number), Err: err}
		}
		r.all = append(r.all, one)
	}
	slices.SortFunc(r.all, func(a, b *revision) int { return a.Number - b.Number })
	r.replaceOlder()
	return nil
}

// Check returns the *UnreadableError with which Start would refuse a directory of revisions. It
// changes nothing.
func Check(dir string) error {
	if _, err := os.Lstat(dir); errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return newRevisions(dir).load()
}

func withoutPath(err error) error {
	if e, ok := errors.AsType[*fs.PathError](err); ok {
		return e.Err
	}
	return err
}

// UnreadableError says that the file of a revision, or the directory, cannot be read.
type UnreadableError struct {
	Path string
	Err  error
}

func (e *UnreadableError) Error() string { return fmt.Sprintf("%s cannot be read: %v", e.Path, e.Err) }

func (e *UnreadableError) Unwrap() error { return e.Err }

func read(path string) (*revision, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, withoutPath(err)
	}
	one := &revision{}
	return one, json.Unmarshal(data, &one.Revision)
}

// replaceOlder marks all running revisions but the newest as replaced: the program may have ended
// between two writes. The caller holds mu.
func (r *revisions) replaceOlder() {
	running := false
	for _, one := range slices.Backward(r.all) {
		if one.State != config.RevisionRunning {
			continue
		}
		if running {
			one.State, one.unsaved = config.RevisionReplaced, true
		}
		running = true
	}
}

func (r *revisions) next() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.count++
	return r.count
}

// add keeps a revision. A running one replaces the previous one.
func (r *revisions) add(one config.Revision) error {
	r.mu.Lock()
	r.all = append(r.all, &revision{Revision: one, unsaved: true})
	r.replaceOlder()
	r.mu.Unlock()
	return errors.Join(r.save(), r.prune())
}

// restart drops all revisions before number, which must have been added already. If
// the program ends before it has removed the files, the next run resumes that
// revision.
func (r *revisions) restart(number int) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.from = number
	var errs []error
	r.all = slices.DeleteFunc(r.all, func(one *revision) bool {
		if one.Number >= number {
			return false
		}
		if r.dir != "" {
			if err := os.Remove(r.path(one.Number)); !errors.Is(err, os.ErrNotExist) {
				errs = append(errs, err)
			}
		}
		return true
	})
	return errors.Join(errs...)
}

func (r *revisions) isForgotten(number int) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return number < r.from
}

func (r *revisions) rollBack(number int, why error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, one := range r.all {
		if one.Number == number {
			one.State, one.Error, one.unsaved = config.RevisionRolledBack, why.Error(), true
		}
	}
}

func (r *revisions) scheduled(number int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, one := range slices.Backward(r.all) {
		if one.Number == number {
			one.PodsScheduled++
			one.unsaved = true
			return
		}
	}
}

func (r *revisions) running() (config.Revision, bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, one := range slices.Backward(r.all) {
		if one.State == config.RevisionRunning {
			return one.Revision, true
		}
	}
	return config.Revision{}, false
}

func (r *revisions) get(number int) (config.Revision, bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, one := range r.all {
		if one.Number == number {
			return one.Revision, true
		}
	}
	return config.Revision{}, false
}

func (r *revisions) list() []config.Revision {
	r.mu.Lock()
	defer r.mu.Unlock()
	out := make([]config.Revision, 0, len(r.all))
	for _, one := range slices.Backward(r.all) {
		listed := one.Revision
		listed.Document = ""
		out = append(out, listed)
	}
	return out
}

// save writes the outdated files, the newest first: if the program ends in between,
// the next run resumes the newest running revision.
func (r *revisions) save() error {
	if r.dir == "" {
		return nil
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	var errs []error
	for _, one := range slices.Backward(r.all) {
		if !one.unsaved {
			continue
		}
		if err := write(r.path(one.Number), one.Revision); err != nil {
			errs = append(errs, fmt.Errorf("writing revision %d: %w", one.Number, err))
			continue
		}
		one.unsaved = false
	}
	return errors.Join(errs...)
}

// write replaces a file as a whole, and waits for the disk.
func write(path string, one config.Revision) error {
	data, err := json.Marshal(one)
	if err != nil {
		return err
	}
	temporary := path + ".new"
	f, err := os.OpenFile(temporary, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	if err := errors.Join(err, f.Sync(), f.Close()); err != nil {
		return err
	}
	if err := os.Rename(temporary, path); err != nil {
		return err
	}
	dir, err := os.Open(filepath.Dir(path))
	if err != nil {
		return err
	}
	return errors.Join(dir.Sync(), dir.Close())
}

// prune drops the oldest revisions beyond the bounds.
func (r *revisions) prune() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	bytes := 0
	for _, one := range r.all {
		bytes += len(one.Document)
	}
	var errs []error
	for len(r.all) > maxRevisions || bytes > maxRevisionBytes {
		oldest := slices.IndexFunc(r.all, func(one *revision) bool { return one.State != config.RevisionRunning })
		if oldest < 0 || oldest == len(r.all)-1 {
			break
		}
		bytes -= len(r.all[oldest].Document)
		if r.dir != "" {
			errs = append(errs, os.Remove(r.path(r.all[oldest].Number)))
		}
		r.all = slices.Delete(r.all, oldest, oldest+1)
	}
	return errors.Join(errs...)
}

func (r *revisions) path(number int) string {
	return filepath.Join(r.dir, fmt.Sprintf("%06d%s", number, extension))
}

type counting struct {
	recorder.Sink
	revisions *revisions
}

func (s counting) Put(c *result.Cycle) {
	if s.revisions.isForgotten(c.Revision) {
		return // its scheduler did not stop in time
	}
	if c.Outcome == result.Scheduled {
		s.revisions.scheduled(c.Revision)
	}
	s.Sink.Put(c)
}
