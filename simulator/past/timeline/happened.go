package timeline

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// Happened is a part of the simulator's own past: what there was, and the steps from then on.
type Happened struct {
	// From is the asked moment, or the latest reset after it: then SinceReset is true.
	From, To   Point
	SinceReset bool
	// Start are the objects at From.
	Start []*unstructured.Unstructured
	// Configuration is the scheduler's at From; nil if it is unknown.
	Configuration *MomentConfiguration
	// Events are in the order of their times.
	Events []Event
}

// Event is a step, or a part of one, and what it changed.
type Event struct {
	Time time.Time
	Step Step
	// Ended: the failure of the step ended.
	Ended bool
	// Document is the configuration that the step applied; empty if it is not known any more.
	Document string
	Writes   []ObjectWrite
	// Unknown: the step changed more objects than the time line remembers.
	Unknown bool
}

// ObjectWrite is a change of one object. Before is nil for a new object, and After for a deleted
// one.
type ObjectWrite struct{ Before, After *unstructured.Unstructured }

var (
	// ErrReplaying says that a recording is loaded, which tells nothing of users.
	ErrReplaying = errors.New("a recording is loaded, and does not say which user changed what; unload it first")
	// The error of Happened for a part with too many changes wraps ErrTooMuch.
	ErrTooMuch = errors.New("too much happened")
)

// maxWritten bounds the writes of a Happened.
const maxWritten = 20_000

// Happened tells what happened between two moments; zero values are the oldest one and now.
func (t *Timeline) Happened(ctx context.Context, from, to At) (*Happened, error) {
	if t.opts.Recording() != nil {
		return nil, ErrReplaying
	}
	if err := t.ready(ctx); err != nil {
		return nil, err
	}
	if err := t.settle(ctx); err != nil {
		return nil, err
	}
	p := &recordedSelf{t}
	if from == (At{}) {
		from.Moment = p.line().StartMoment
	}
	if to == (At{}) {
		to.Time = t.now()
	}
	last, err := snapshotOf(ctx, p, to)
	if err != nil {
		return nil, err
	}
	h := &Happened{To: last.Point}
	first, err := snapshotOf(ctx, p, from)
	if err != nil {
		return nil, err
	}
	if last.Moment < first.Moment || last.Time.Before(first.Time) {
		return nil, fmt.Errorf("%w: to is before from", ErrQuery)
	}
	steps := t.between(first.Point, last.Point)
	for i, r := range slices.Backward(steps) {
		if r.Kind == ResetStep {
			if first, err = snapshotOf(ctx, p, At{Moment: r.Moment, Time: r.Time}); err != nil {
				return nil, err
			}
			h.SinceReset, steps = true, steps[i+1:]
			break
		}
	}
	h.From, h.Configuration = first.Point, p.configuration(first)
	if h.Start, err = first.of(ctx, func(string, []byte) bool { return true }); err != nil {
		return nil, err
	}
	return h, t.tellEvents(ctx, h, steps, first)
}

// between returns copies of the steps after one point up to another, by time.
func (t *Timeline) between(from, to Point) []*record {
	t.mu.Lock()
	defer t.mu.Unlock()
	var some []*record
	for _, r := range t.steps {
		inside := r.Moment > from.Moment && r.Moment <= to.Moment
		switch {
		case r.Kind == ConfigurationStep:
			inside = r.Time.After(from.Time) && !r.Time.After(to.Time)
		case r.EndTime != nil:
			inside = inside || r.EndTime.After(from.Time) && !r.EndTime.After(to.Time)
		}
		if inside {
			copied := *r
			copied.Objects, copied.Touched, copied.Writes, copied.known = slices.Clone(r.Objects), slices.Clone(r.Touched), slices.Clone(r.Writes), nil
			some = append(some, &copied)
		}
	}
	slices.SortStableFunc(some, func(a, b *record) int { return a.Time.Compare(b.Time) })
	return some
}

// tellEvents fills in the events of steps.
func (t *Timeline) tellEvents(ctx context.Context, h *Happened, steps []*record, first *snapshot) error {
	byMoment := map[uint64]*record{}
	writes := map[*record][]ObjectWrite{}
	var windows []*window
	for _, r := range steps {
		switch {
		case r.Kind == ImportStep, r.Kind == ChangeStep && len(r.Writes) == 0:
			windows = append(windows, newWindow(r))
		case r.Kind == ChangeStep:
			for _, moment := range r.Writes {
				byMoment[moment] = r
			}
		}
	}
	written := 0
	gone := map[string][]time.Time{} // when nodes were deleted
	err := t.walk(ctx, first, h.To.Moment, func(moment uint64, at time.Time, key string, before, after []byte) error {
		if after == nil {
			gone[key] = append(gone[key], at)
		}
		if r := byMoment[moment]; r != nil {
			w, err := decodeWrite(key, before, after)
			if err != nil {
				return err
			}
			if w != (ObjectWrite{}) {
				writes[r] = append(writes[r], w)
				written++
			}
		}
		for _, w := range windows {
			if moment > w.record.Before && moment <= w.record.Moment && w.note(key, before, after) {
				written++
			}
		}
		if written > maxWritten {
			return fmt.Errorf("%w: the steps of this time changed more than %d objects; choose a shorter part of the time line", ErrTooMuch, maxWritten)
		}
		return nil
	})
	if err != nil {
		return err
	}
	for _, w := range windows {
		if writes[w.record], err = w.writes(); err != nil {
			return err
		}
	}
	for _, r := range steps {
		e := Event{Time: r.Time, Step: r.Step, Writes: writes[r], Unknown: r.Count > len(r.Touched) && r.Kind == ChangeStep}
		if r.Kind == ConfigurationStep {
			e.Document = t.documentOf(r)
		}
		if r.Time.After(h.From.Time) || r.Kind != FailureStep {
			h.Events = append(h.Events, e)
		}
		end := r.EndTime
		nodeGone := end != nil && slices.ContainsFunc(gone[nodePrefix+r.Objects[0].Name], func(at time.Time) bool { return at.Equal(*end) })
		if end != nil && !nodeGone && end.After(h.From.Time) && !end.After(h.To.Time) {
			h.Events = append(h.Events, Event{Time: *end, Step: r.Step, Ended: true})
		}
	}
	slices.SortStableFunc(h.Events, func(a, b Event) int { return a.Time.Compare(b.Time) })
	return nil
}

func (t *Timeline) documentOf(r *record) string {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, c := range slices.Backward(t.configurations) {
		if c.Revision == r.Revision && !c.Time.After(r.Time) && !r.Failed {
			return c.Document
		}
	}
	return ""
}

// window is a step of which only the beginning and the end are known, and not its own changes: an
// import, or an undo.
type window struct {
	record *record
	// touched is nil for all objects that no controller has made.
	touched map[ObjectRef]bool
	keys    []string
	objects map[string]*windowed
}

// windowed is an object before the step, when it first appeared, and after the step.
type windowed struct{ before, created, after []byte }

func newWindow(r *record) *window {
	w := &window{record: r, objects: map[string]*windowed{}}
	if r.Kind == ImportStep {
		return w
	}
	w.touched = map[ObjectRef]bool{}
	for _, ref := range slices.Concat(r.Touched, r.Objects) {
		w.touched[ref] = true
	}
	return w
}

// note reports whether the object is new to the window.
func (w *window) note(key string, before, after []byte) bool {
	o := w.objects[key]
	isNew := o == nil
	if isNew {
		if w.touched != nil {
			known := after
			if known == nil {
				known = before
			}
			ref, err := refOf(known)
			if err != nil || !w.touched[ref] {
				return false
			}
		}
		o = &windowed{before: before}
		w.objects[key] = o
		w.keys = append(w.keys, key)
	}
	if before == nil {
		o.created = after
	}
	o.after = after
	return isNew
}

func (w *window) writes() ([]ObjectWrite, error) {
	var out []ObjectWrite
	for _, key := range w.keys {
		o := w.objects[key]
		if o.after != nil && o.created != nil { // as its creator wrote it
			o.after = o.created
		}
		both, err := decodeWrite(key, o.before, o.after)
		if err != nil {
			return nil, err
		}
		if both == (ObjectWrite{}) {
			continue
		}
		if object := cmp.Or(both.After, both.Before); w.touched == nil && metav1.GetControllerOfNoCopy(object) != nil {
			continue
		}
		if both.Before != nil && both.After != nil && both.Before.GetUID() != both.After.GetUID() {
			out = append(out, ObjectWrite{Before: both.Before})
			both.Before = nil
		}
		out = append(out, both)
	}
	return out, nil
}

func decodeWrite(key string, before, after []byte) (w ObjectWrite, err error) {
	if w.Before, err = present(key, before); err != nil {
		return w, err
	}
	w.After, err = present(key, after)
	return w, err
}

// present returns nil also for an object that is being deleted: that is what a user's deletion of a
// pod writes, and its node removes the pod later.
func present(key string, data []byte) (*unstructured.Unstructured, error) {
	if data == nil {
		return nil, nil
	}
	u, err := decodeStored(key, data)
	if err != nil || u.GetDeletionTimestamp() != nil {
		return nil, err
	}
	return u, nil
}

// walk calls visit with each change after a snapshot up to a moment.
func (t *Timeline) walk(ctx context.Context, from *snapshot, to uint64, visit func(moment uint64, at time.Time, key string, before, after []byte) error) error {
	state := maps.Clone(from.objects)
	for now := from.Moment; now < to; {
		t.mu.Lock()
		t.flush()
		segment := t.journal.span(now) // it has the next change, too
		oldest, _, _ := t.journal.ends()
		t.mu.Unlock()
		if segment == nil {
			return &NotKeptError{Oldest: &oldest}
		}
		end, err := segment.walk(ctx, now, to, state, visit)
		if err != nil {
			return err
		}
		if end == now {
			return &NotKeptError{Oldest: &oldest} // lost by damage
		}
		now = end
	}
	return nil
}

// walk returns the last moment of the segment that it has visited.
func (s *segment) walk(ctx context.Context, now, to uint64, state map[string][]byte, visit func(moment uint64, at time.Time, key string, before, after []byte) error) (uint64, error) {
	file, err := os.Open(s.Path)
	if err != nil {
		return now, fmt.Errorf("reading the time line: %w", err)
	}
	defer file.Close()
	for _, b := range s.blocks {
		if b.kind != changesBlock || b.before+uint64(b.count) <= now || b.before >= to {
			continue
		}
		if ctx.Err() != nil {
			return now, context.Cause(ctx)
		}
		data, err := unpack(file, b)
		if err == nil {
			number := b.before
			err = eachEntry(data, b, func(e entry) (bool, error) {
				if number++; number <= now {
					return true, nil
				}
				before := state[e.key]
				after, err := e.apply(before)
				if err != nil {
					return false, err
				}
				if after == nil {
					delete(state, e.key)
				} else {
					state[e.key] = after
				}
				now = number
				return number < to, visit(number, e.at, e.key, before, after)
			})
		}
		if err != nil {
			if errors.Is(err, ErrTooMuch) {
				return now, err
			}
			return now, fmt.Errorf("reading the time line in %s: %w", filepath.Base(s.Path), err)
		}
	}
	return now, nil
}
