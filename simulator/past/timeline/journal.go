package timeline

import (
	"bytes"
	"compress/flate"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"time"

	"kube-scheduler-simulator/scheduler/blockfile"
)

// A segment is about one segmentsPerJournal-th of the journal, but at least statesPerSegment times as
// large as its initial state, so that changes make up most of the journal.
const (
	segmentSuffix      = ".timeline"
	segmentsPerJournal = 16
	statesPerSegment   = 4
)

// The caller of a journal guards it; reading needs no guard beyond the copies that span returns.
type journal struct {
	files blockfile.Dir[loaded]
	// segments are the files.
	segments []*segment
	warnings []string
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

// loaded is what a start reads of a block.
type loaded struct {
	block
	marks []mark
}

func newJournal(o Options) *journal {
	j := &journal{state: map[string][]byte{}, packer: blockfile.Deflater{Format: blockFormat, Level: flate.BestSpeed}}
	j.files = blockfile.Dir[loaded]{
		Path: o.Dir, Suffix: segmentSuffix, Holds: "the time line", Format: blockFormat, MaxBytes: o.Bytes,
		Size: func(header []byte) (int64, bool) {
			b, ok := decodeHeader(header)
			return b.end(), ok
		},
		Read: readBlock,
		Keep: usable,
		Repaired: func(l *blockfile.Loaded[loaded]) {
			if l.Torn {
				o.Logger.V(1).Info("An unfinished write at the end of the time line was cut off", "file", l.Path, "sizeNow", l.Size)
				return
			}
			o.Logger.Error(l.Damage, "A part of the time line is damaged and was set aside", "file", l.Path, "setAside", l.SetAside)
			j.warnings = append(j.warnings, fmt.Sprintf("a part of the time line is damaged and was set aside as %s: %v", filepath.Base(l.SetAside), l.Damage))
		},
	}
	return j
}

// usable returns the number of blocks before any damage: a change is one of the object before it.
// It returns 0 without the whole initial state; if there is no damage, the program ended while it
// wrote that.
func usable(l *blockfile.Loaded[loaded]) int {
	for _, b := range l.Blocks[:l.Sound] {
		if b.Value.kind != stateBlock {
			return l.Sound
		}
	}
	return 0
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

// load opens the segments, and returns their marks.
func (j *journal) load(ctx context.Context) (marks []mark, err error) {
	files, err := j.files.Load(ctx)
	if err != nil || len(files) == 0 {
		return nil, err
	}
	for _, f := range files {
		s := &segment{File: f.File}
		for _, b := range f.Blocks {
			b.Value.offset = b.At
			s.blocks = append(s.blocks, b.Value.block)
			marks = append(marks, b.Value.marks...)
		}
		j.segments = append(j.segments, s)
	}
	newest := j.newest()
	j.moment = newest.end()
	for _, b := range newest.blocks {
		if b.kind == stateBlock {
			j.stateBytes = b.end()
		}
	}
	j.state, j.time, err = newest.rebuild(ctx, j.moment, nil)
	return marks, err
}

func (j *journal) newest() *segment { return j.segments[len(j.segments)-1] }

type rebuilt struct {
	segment *blockfile.File
	moment  uint64
	time    time.Time
	state   map[string][]byte
}

// rebuild returns the state at a moment of the segment, and its time. from is an earlier state of
// the segment, or nil.
func (s *segment) rebuild(ctx context.Context, moment uint64, from *rebuilt) (map[string][]byte, time.Time, error) {
	file, err := os.Open(s.Path)
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
		if ctx.Err() != nil {
			return nil, time.Time{}, context.Cause(ctx)
		}
		data, err := unpack(file, b)
		if err != nil {
			return nil, time.Time{}, fmt.Errorf("reading the time line in %s: %w", filepath.Base(s.Path), err)
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
			return nil, time.Time{}, fmt.Errorf("reading the time line in %s: %w", filepath.Base(s.Path), err)
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
	if _, b.offset, err = j.files.Append(packed); err != nil {
		return err
	}
	b.packed = len(packed) - blockFormat.HeaderSize()
	s := j.newest()
	s.blocks = append(s.blocks, b)
	return nil
}

func (j *journal) isFull() bool {
	bound := j.files.MaxBytes
	return j.newest().Size >= min(max(bound/segmentsPerJournal, statesPerSegment*j.stateBytes), bound/2)
}

// errTooLarge: the state alone takes half of the journal.
var errTooLarge = errors.New("the objects of the cluster alone need more than half of --timeline-bytes")

// begin begins a segment with the current state and marks, and removes the oldest ones beyond the
// bound.
func (j *journal) begin(now time.Time, marks []mark) (err error) {
	file, err := j.files.Begin()
	if err != nil {
		return err
	}
	j.segments = append(j.segments, &segment{File: file})
	defer func() {
		if err != nil {
			j.segments = j.segments[:len(j.segments)-1]
			err = errors.Join(err, j.files.Discard(file))
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
		if err == nil && file.Size > j.files.MaxBytes/2 {
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
	j.stateBytes = file.Size
	if err := j.writeMarks(now, append(marks, mark{Attempts: &attemptsMark{Time: at}})); err != nil {
		return err
	}
	for _, f := range j.files.Excess(0, 1) {
		if err := j.files.Discard(f); err != nil {
			return err
		}
		j.segments = slices.Delete(j.segments, 0, 1)
	}
	return nil
}

func (j *journal) close() error {
	j.segments = nil
	return errors.Join(j.files.Sync(), j.files.Close())
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
				return nil // lost by damage
			}
			return &segment{s.File, slices.Clone(s.blocks)}
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
			data, err := unpack(s, b)
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
