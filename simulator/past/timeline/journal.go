package timeline

import (
	"bytes"
	"compress/flate"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"k8s.io/klog/v2"

	"kube-scheduler-simulator/scheduler/blockfile"
	"kube-scheduler-simulator/simulator/host/datadir"
)

const (
	segmentSuffix = ".timeline"
	// A number follows setAsideMark in the name of a file that the journal set aside. The journal
	// never removes such a file.
	setAsideMark = ".damaged-"
	// A segment is about one segmentsPerJournal-th of the journal, but at least statesPerSegment
	// times as large as its initial state, so that changes make up most of the journal.
	segmentsPerJournal = 16
	statesPerSegment   = 4
)

// The caller of a journal guards it; reading needs no guard beyond the copies that span returns.
type journal struct {
	dir      string
	maxBytes int64
	logger   klog.Logger

	segments []*segment
	bytes    int64
	next     uint64 // number of the next segment
	// stateBytes is the size on disk of the newest segment's initial state.
	stateBytes int64

	// state has the latest objects by key, and moment is its number, reached at time.
	state  map[string][]byte
	moment uint64
	time   time.Time

	// The changes that are not written yet.
	buffer      []byte
	first, last time.Time
	count       int
	packer      blockfile.Deflater
}

func newJournal(o Options) journal {
	return journal{
		dir: o.Dir, maxBytes: o.Bytes, logger: o.Logger, next: 1, state: map[string][]byte{},
		packer: blockfile.Deflater{Format: blockFormat, Level: flate.BestSpeed},
	}
}

// mark is a line in a block of marks. Exactly one field is set.
type mark struct {
	Step          *record            `json:"step,omitempty"`
	Configuration *configurationMark `json:"configuration,omitempty"`
	Attempts      *attemptsMark      `json:"attempts,omitempty"`
}

// configurationMark says which scheduler configuration is in force from a moment on.
type configurationMark struct {
	Moment   uint64    `json:"moment"`
	Time     time.Time `json:"time"`
	Revision int       `json:"revision"`
	Document string    `json:"document"`
}

// attemptsMark counts scheduling attempts that ended about a time.
type attemptsMark struct {
	Time          time.Time `json:"time"`
	Scheduled     int       `json:"scheduled"`
	Unschedulable int       `json:"unschedulable"`
}

// load opens the segments, and returns their marks and warnings for the user. It sets damaged
// segments aside.
func (j *journal) load(ctx context.Context) (marks []mark, warnings []string, err error) {
	if err := os.MkdirAll(j.dir, 0o700); err != nil {
		return nil, nil, err
	}
	numbers, err := j.numbers()
	if err != nil {
		return nil, nil, err
	}
	for _, number := range numbers {
		if ctx.Err() != nil {
			return nil, nil, context.Cause(ctx)
		}
		j.next = number + 1
		s, err := openSegment(j.path(number), number)
		if err != nil {
			return nil, nil, err
		}
		if s.torn {
			j.logger.V(1).Info("An unfinished write at the end of the time line was cut off", "file", s.path, "sizeNow", s.size)
		}
		if s.damage == nil && !s.begins() {
			// The program ended while it wrote the initial state: nothing is lost.
			if err := errors.Join(s.file.Close(), os.Remove(s.path)); err != nil {
				return nil, nil, err
			}
			continue
		}
		var found []mark
		if s.damage == nil {
			found, s.damage = s.marks()
		}
		if s.damage != nil {
			aside, err := j.setAside(s)
			if err != nil {
				return nil, nil, err
			}
			j.logger.Error(s.damage, "A part of the time line is damaged and was set aside", "file", s.path, "setAside", aside)
			warnings = append(warnings, fmt.Sprintf("a part of the time line is damaged and was set aside as %s: %v", filepath.Base(aside), s.damage))
			continue
		}
		j.segments = append(j.segments, s)
		j.bytes += s.size
		marks = append(marks, found...)
	}
	if len(j.segments) > 0 {
		newest := j.segments[len(j.segments)-1]
		j.moment = newest.end()
		for _, b := range newest.blocks {
			if b.kind == stateBlock {
				j.stateBytes = b.end()
			}
		}
		j.state, j.time, err = newest.rebuild(j.moment, nil)
		if err != nil {
			return nil, nil, err
		}
	}
	return marks, warnings, nil
}

func (j *journal) path(number uint64) string {
	return filepath.Join(j.dir, fmt.Sprintf("%08d%s", number, segmentSuffix))
}

func (j *journal) numbers() ([]uint64, error) {
	files, err := os.ReadDir(j.dir)
	if err != nil {
		return nil, err
	}
	var numbers []uint64
	for _, file := range files {
		name, is := strings.CutSuffix(file.Name(), segmentSuffix)
		if number, err := strconv.ParseUint(name, 10, 64); is && err == nil {
			numbers = append(numbers, number)
		}
	}
	slices.Sort(numbers)
	return numbers, nil
}

func (j *journal) setAside(s *segment) (string, error) {
	for n := 1; ; n++ {
		name := s.path + setAsideMark + strconv.Itoa(n)
		if _, err := os.Lstat(name); errors.Is(err, fs.ErrNotExist) {
			return name, errors.Join(s.file.Close(), os.Rename(s.path, name), datadir.SyncDir(j.dir))
		}
	}
}

func (s *segment) marks() ([]mark, error) {
	var all []mark
	for _, b := range s.blocks {
		if b.kind != marksBlock {
			continue
		}
		data, err := unpack(s.file, b)
		if err != nil {
			return nil, err
		}
		for line := range bytes.Lines(data) {
			var m mark
			if err := json.Unmarshal(line, &m); err != nil {
				return nil, fmt.Errorf("%w: %w", errDamaged, err)
			}
			all = append(all, m)
		}
	}
	return all, nil
}

type rebuilt struct {
	segment uint64
	moment  uint64
	time    time.Time
	state   map[string][]byte
}

// rebuild returns the state at a moment of the segment, and its time. from is an earlier state of
// the segment, or nil.
func (s *segment) rebuild(moment uint64, from *rebuilt) (map[string][]byte, time.Time, error) {
	file, err := os.Open(s.path)
	if err != nil {
		return nil, time.Time{}, fmt.Errorf("reading the time line: %w", err)
	}
	defer file.Close()
	state, now, at := map[string][]byte{}, s.blocks[0].before, s.blocks[0].last
	if from != nil {
		state, now, at = maps.Clone(from.state), from.moment, from.time
	}
	if from != nil && now == moment {
		return state, at, nil
	}
	for _, b := range s.blocks {
		if b.kind == marksBlock || b.kind == stateBlock && from != nil || b.kind == changesBlock && (b.before+uint64(b.count) <= now || b.before >= moment) {
			continue
		}
		data, err := unpack(file, b)
		if err != nil {
			return nil, time.Time{}, fmt.Errorf("reading the time line in %s: %w", filepath.Base(s.path), err)
		}
		number := b.before
		err = eachEntry(data, b, func(e entry) (bool, error) {
			if b.kind == changesBlock {
				number++
				if number <= now {
					return true, nil // from has it already
				}
				at = e.at
			}
			object, err := e.apply(state[e.key])
			if object == nil {
				delete(state, e.key)
			} else {
				state[e.key] = object
			}
			return err == nil && (b.kind == stateBlock || number < moment), err
		})
		if err != nil {
			return nil, time.Time{}, fmt.Errorf("reading the time line in %s: %w", filepath.Base(s.path), err)
		}
	}
	return state, at, nil
}

// add records a change, and reports whether it is one. value is nil for a deletion; the journal
// copies it.
func (j *journal) add(now time.Time, key string, value []byte) bool {
	before, known := j.state[key]
	if !known && value == nil || known && value != nil && bytes.Equal(before, value) {
		return false
	}
	now = now.Truncate(time.Microsecond)
	if now.Before(j.time) { // times never decrease
		now = j.time
	}
	if j.count == 0 {
		j.first, j.last = now, now
	}
	j.buffer = appendEntry(j.buffer, now.Sub(j.last), key, before, value)
	j.last, j.time = now, now
	j.count++
	j.moment++
	if value == nil {
		delete(j.state, key)
	} else {
		j.state[key] = bytes.Clone(value)
	}
	return true
}

func (j *journal) flush(now time.Time, marks []mark) error {
	if len(j.segments) == 0 {
		return nil
	}
	if j.count > 0 {
		b := block{kind: changesBlock, first: j.first, last: j.last, before: j.moment - uint64(j.count), count: j.count, length: len(j.buffer)}
		if err := j.write(b, j.buffer); err != nil {
			return err
		}
		j.buffer, j.count = j.buffer[:0], 0
	}
	if len(marks) == 0 {
		return nil
	}
	return j.writeMarks(now, marks)
}

func (j *journal) writeMarks(now time.Time, marks []mark) error {
	var lines bytes.Buffer
	encoder := json.NewEncoder(&lines)
	for _, m := range marks {
		if err := encoder.Encode(m); err != nil {
			return err
		}
	}
	return j.write(block{kind: marksBlock, first: now, last: now, before: j.moment, length: lines.Len()}, lines.Bytes())
}

func (j *journal) write(b block, data []byte) error {
	packed, err := pack(&j.packer, b, data)
	if err != nil {
		return err
	}
	if err := j.segments[len(j.segments)-1].append(b, packed); err != nil {
		return err
	}
	j.bytes += int64(len(packed))
	return nil
}

func (j *journal) isFull() bool {
	newest := j.segments[len(j.segments)-1]
	return newest.size >= min(max(j.maxBytes/segmentsPerJournal, statesPerSegment*j.stateBytes), j.maxBytes/2)
}

// errTooLarge: the state alone takes half of the journal.
var errTooLarge = errors.New("the objects of the cluster alone need more than half of --timeline-bytes")

// begin begins a segment with the current state and marks, and removes the oldest ones beyond the
// bound.
func (j *journal) begin(now time.Time, marks []mark) (err error) {
	path := j.path(j.next)
	file, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	s := &segment{path: path, number: j.next, file: file}
	j.next++
	j.segments = append(j.segments, s)
	defer func() {
		if err != nil {
			j.bytes -= s.size
			j.segments = j.segments[:len(j.segments)-1]
			err = errors.Join(err, file.Close(), os.Remove(path))
		}
	}()
	at := now.Truncate(time.Microsecond)
	if at.Before(j.time) {
		at = j.time
	}
	var data []byte
	count := 0
	put := func() error {
		err := j.write(block{kind: stateBlock, first: at, last: at, before: j.moment, count: count, length: len(data)}, data)
		data, count = data[:0], 0
		if err == nil && s.size > j.maxBytes/2 {
			return errTooLarge
		}
		return err
	}
	for _, key := range slices.Sorted(maps.Keys(j.state)) {
		data = appendEntry(data, 0, key, nil, j.state[key])
		count++
		if len(data) >= flushBytes {
			if err := put(); err != nil {
				return err
			}
		}
	}
	if err := put(); err != nil {
		return err
	}
	j.stateBytes = s.size
	if err := j.writeMarks(now, append(marks, mark{Attempts: &attemptsMark{Time: at}})); err != nil {
		return err
	}
	for j.bytes > j.maxBytes && len(j.segments) > 1 {
		oldest := j.segments[0]
		if err := errors.Join(oldest.file.Close(), os.Remove(oldest.path)); err != nil {
			return err
		}
		j.bytes -= oldest.size
		j.segments = slices.Delete(j.segments, 0, 1)
	}
	return nil
}

func (j *journal) close() error {
	var err error
	for i, s := range j.segments {
		if i == len(j.segments)-1 {
			err = s.file.Sync()
		}
		err = errors.Join(err, s.file.Close())
	}
	j.segments = nil
	return err
}

// ends returns the oldest and the newest moment; false when the journal has no segment.
func (j *journal) ends() (oldest, newest Point, ok bool) {
	if len(j.segments) == 0 {
		return Point{}, Point{}, false
	}
	first := j.segments[0]
	return Point{first.first(), first.blocks[0].last}, Point{j.moment, j.time}, true
}

// span returns a copy of the segment that has a moment; nil when none does. The journal does not
// change the copy.
func (j *journal) span(moment uint64) *segment {
	for _, s := range slices.Backward(j.segments) {
		if s.first() <= moment {
			if moment > s.end() {
				return nil // between a segment that was set aside and the next
			}
			return &segment{path: s.path, number: s.number, blocks: slices.Clone(s.blocks)}
		}
	}
	return nil
}

// momentAt returns the latest moment at or before a time.
func (j *journal) momentAt(at time.Time) (Point, bool, error) {
	for _, s := range slices.Backward(j.segments) {
		if s.blocks[0].last.After(at) {
			continue
		}
		found := Point{s.first(), s.blocks[0].last}
		for _, b := range slices.Backward(s.blocks) {
			if b.kind != changesBlock || b.first.After(at) {
				continue
			}
			if !b.last.After(at) {
				return Point{b.before + uint64(b.count), b.last}, true, nil
			}
			data, err := unpack(s.file, b)
			if err != nil {
				return Point{}, false, err
			}
			found.Moment = b.before
			err = eachEntry(data, b, func(e entry) (bool, error) {
				if e.at.After(at) {
					return false, nil
				}
				found.Moment, found.Time = found.Moment+1, e.at
				return true, nil
			})
			return found, true, err
		}
		return found, true, nil
	}
	return Point{}, false, nil
}
