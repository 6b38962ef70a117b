package timeline

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"slices"
	"strconv"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"kube-scheduler-simulator/simulator/elsewhere/transfer"
)

// past is the source of a time line: the journal, or a recording.
type past interface {
	// line fills in everything but the buckets and steps that Query selects.
	line() Line
	// events calls add with how much happened when, in a part of the line.
	events(from, to time.Time, add func(at time.Time, b Bucket)) error
	steps() []Step
	// at finds a moment. The error is a *NotKeptError if there is none.
	at(ctx context.Context, at At) (Point, error)
	state(ctx context.Context, moment uint64) (*snapshot, error)
	// configuration returns nil if the scheduler's is unknown.
	configuration(*snapshot) *MomentConfiguration
	// decisions counts attempts between two times.
	decisions(from, to time.Time) Decisions
}

type snapshot struct {
	Point
	// objects are encoded: the bytes of an object that did not change are equal.
	objects map[string][]byte
	decode  func(key string, data []byte) (*unstructured.Unstructured, error)
}

// of returns the decoded objects of a kind, sorted by namespace and name.
func (s *snapshot) of(ctx context.Context, keep func(key string, data []byte) bool) ([]*unstructured.Unstructured, error) {
	var all []*unstructured.Unstructured
	for key, data := range s.objects {
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		if !keep(key, data) {
			continue
		}
		u, err := s.decode(key, data)
		if err != nil {
			return nil, err
		}
		all = append(all, u)
	}
	slices.SortFunc(all, func(a, b *unstructured.Unstructured) int {
		return cmp.Or(cmp.Compare(a.GetKind(), b.GetKind()), cmp.Compare(a.GetNamespace(), b.GetNamespace()), cmp.Compare(a.GetName(), b.GetName()))
	})
	return all, nil
}

// Line implements server.Timeline.
func (t *Timeline) Line(ctx context.Context, q Query) (*Line, error) {
	p, err := t.past(ctx)
	if err != nil {
		return nil, err
	}
	line := p.line()
	line.Steps, line.Buckets = []Step{}, []Bucket{}
	from, to, err := q.part(line)
	if err != nil || from.IsZero() {
		return &line, err
	}
	if err := fill(&line, p, q, from, to); err != nil {
		return nil, err
	}
	n := cmp.Or(q.Buckets, DefaultBuckets)
	width := max(to.Sub(from)/time.Duration(n), time.Microsecond)
	for i := range n {
		line.Buckets = append(line.Buckets, Bucket{Time: from.Add(time.Duration(i) * width)})
	}
	return &line, p.events(from, to, func(at time.Time, b Bucket) {
		if at.Before(from) || at.After(to) {
			return
		}
		into := &line.Buckets[min(int(at.Sub(from)/width), n-1)]
		into.Events += b.Events
		into.Scheduled += b.Scheduled
		into.Unschedulable += b.Unschedulable
	})
}

// part returns the times that a query is about; zero ones where nothing is recorded.
func (q Query) part(line Line) (from, to time.Time, err error) {
	if line.Start == nil {
		return from, to, nil
	}
	from, to = *line.Start, *line.End
	if !q.From.IsZero() {
		from = q.From
	}
	if !q.To.IsZero() {
		to = q.To
	}
	if to.Before(from) {
		return from, to, fmt.Errorf("%w: to is before from", ErrQuery)
	}
	return from, to, nil
}

// fill adds the page of steps that a query selects.
func fill(line *Line, p past, q Query, from, to time.Time) error {
	skip := 0
	if q.Continue != "" {
		var err error
		if skip, err = strconv.Atoi(q.Continue); err != nil || skip < 0 {
			return fmt.Errorf("%w: continue does not come from an earlier page", ErrQuery)
		}
	}
	limit := cmp.Or(q.Limit, DefaultSteps)
	for i, s := range p.steps() {
		ended := s.Time
		if s.EndTime != nil {
			ended = *s.EndTime
		} else if s.Kind == FailureStep {
			ended = to
		}
		if i < skip || s.Time.After(to) || ended.Before(from) {
			continue
		}
		if len(line.Steps) == limit {
			line.Continue = strconv.Itoa(i)
			break
		}
		line.Steps = append(line.Steps, s)
	}
	return nil
}

// Moment implements server.Timeline.
func (t *Timeline) Moment(ctx context.Context, at At) (*Moment, error) {
	p, s, err := t.snapshot(ctx, at)
	if err != nil {
		return nil, err
	}
	m := &Moment{Point: s.Point, Configuration: p.configuration(s), Source: p.line().Source}
	if err := t.draw(ctx, m, s); err != nil {
		return nil, err
	}
	return m, nil
}

func (t *Timeline) snapshot(ctx context.Context, at At) (past, *snapshot, error) {
	p, err := t.past(ctx)
	if err != nil {
		return nil, nil, err
	}
	s, err := snapshotOf(ctx, p, at)
	return p, s, err
}

func snapshotOf(ctx context.Context, p past, at At) (*snapshot, error) {
	point, err := p.at(ctx, at)
	if err != nil {
		return nil, err
	}
	s, err := p.state(ctx, point.Moment)
	if err != nil {
		return nil, err
	}
	if !at.Time.IsZero() {
		s.Time = at.Time
		if end := p.line().End; end != nil && end.Before(s.Time) {
			s.Time = *end
		}
	}
	return s, nil
}

// Export implements server.Timeline.
func (t *Timeline) Export(ctx context.Context, w io.Writer, at At) error {
	p, s, err := t.snapshot(ctx, at)
	if err != nil {
		return err
	}
	all, err := s.of(ctx, func(string, []byte) bool { return true })
	if err != nil {
		return err
	}
	var document []byte
	if c := p.configuration(s); c != nil {
		document = []byte(c.Document)
	}
	return transfer.WriteObjects(w, all, document)
}

// Decision implements server.Timeline.
func (t *Timeline) Decision(ctx context.Context, a Attempt) (*Point, error) {
	cycle, err := t.opts.Results.Get(a.UID, a.Number)
	if err != nil {
		return nil, fmt.Errorf("reading a result: %w", err)
	}
	if cycle == nil {
		return nil, ErrUnknownResult
	}
	own, err := t.own(ctx)
	if err != nil {
		return nil, err
	}
	point, err := own.at(ctx, At{Time: cycle.StartTime})
	if err != nil {
		return nil, err
	}
	return &Point{point.Moment, cycle.StartTime}, nil
}

// past is the loaded recording, or the simulator's own past.
func (t *Timeline) past(ctx context.Context) (past, error) {
	if r := t.opts.Recording(); r != nil {
		return t.recorded(ctx, r)
	}
	t.reading.Lock()
	t.index = nil // of one that was unloaded
	t.reading.Unlock()
	return t.own(ctx)
}

func (t *Timeline) own(ctx context.Context) (past, error) {
	if err := t.ready(ctx); err != nil {
		return nil, err
	}
	return &recordedSelf{t}, nil
}

type recordedSelf struct{ t *Timeline }

var _ past = (*recordedSelf)(nil)

func (p *recordedSelf) line() Line {
	p.t.mu.Lock()
	defer p.t.mu.Unlock()
	l := Line{Recording: p.t.Records(), Bytes: p.t.journal.files.Bytes(), LimitBytes: p.t.opts.Bytes}
	if oldest, newest, ok := p.t.journal.ends(); ok {
		// Until now, and not only until the last change.
		now := p.t.now()
		if now.Before(newest.Time) {
			now = newest.Time
		}
		l.Start, l.End, l.StartMoment, l.EndMoment = &oldest.Time, &now, oldest.Moment, newest.Moment
	}
	return l
}

func (p *recordedSelf) events(from, to time.Time, add func(time.Time, Bucket)) error {
	p.t.mu.Lock()
	defer p.t.mu.Unlock()
	for _, s := range p.t.journal.segments {
		for _, b := range s.blocks {
			if b.kind == changesBlock {
				add(b.last, Bucket{Events: b.count})
			}
		}
	}
	if p.t.journal.count > 0 {
		add(p.t.journal.last, Bucket{Events: p.t.journal.count})
	}
	for _, m := range p.t.attempts {
		add(m.Time, Bucket{Scheduled: m.Scheduled, Unschedulable: m.Unschedulable})
	}
	return nil
}

func (p *recordedSelf) steps() []Step {
	p.t.mu.Lock()
	defer p.t.mu.Unlock()
	all := make([]Step, 0, len(p.t.steps))
	for _, r := range p.t.steps {
		s := r.Step
		s.Objects = slices.Clone(s.Objects)
		all = append(all, s)
	}
	slices.SortStableFunc(all, func(a, b Step) int { return a.Time.Compare(b.Time) })
	return all
}

func (p *recordedSelf) at(_ context.Context, at At) (Point, error) {
	t := p.t
	t.mu.Lock()
	defer t.mu.Unlock()
	oldest, newest, ok := t.journal.ends()
	if !ok {
		return Point{}, &NotKeptError{Off: !t.Records()}
	}
	if at.Moment == 0 {
		if !at.Time.Before(newest.Time) {
			return newest, nil
		}
		t.flush() // so that the blocks have everything
		point, found, err := t.journal.momentAt(at.Time)
		if err != nil {
			return Point{}, err
		}
		if !found {
			return Point{}, &NotKeptError{Oldest: &oldest}
		}
		return point, nil
	}
	if at.Moment < oldest.Moment || at.Moment > newest.Moment {
		return Point{}, &NotKeptError{Oldest: &oldest}
	}
	return Point{Moment: at.Moment}, nil // state knows the time
}

func (p *recordedSelf) state(ctx context.Context, moment uint64) (*snapshot, error) {
	t := p.t
	t.mu.Lock()
	oldest, newest, _ := t.journal.ends()
	if moment == newest.Moment {
		s := &snapshot{Point: newest, objects: maps.Clone(t.journal.state), decode: decodeStored}
		t.mu.Unlock()
		return s, nil
	}
	t.flush()
	segment := t.journal.span(moment)
	from := t.latest
	t.mu.Unlock()
	if segment == nil {
		return nil, &NotKeptError{Oldest: &oldest}
	}
	if from != nil && (from.segment != segment.File || from.moment > moment) {
		from = nil
	}
	state, at, err := segment.rebuild(ctx, moment, from)
	if err != nil {
		return nil, err
	}
	t.mu.Lock()
	latest := &rebuilt{segment.File, moment, at, state}
	t.latest = latest
	t.mu.Unlock()
	// People look at several moments in a row, and then at none.
	t.opts.Clock.AfterFunc(latestTime, func() {
		t.mu.Lock()
		defer t.mu.Unlock()
		if t.latest == latest {
			t.latest = nil
		}
	})
	return &snapshot{Point: Point{moment, at}, objects: state, decode: decodeStored}, nil
}

// The latest state that a query needed stays in memory that long.
const latestTime = time.Minute

func decodeStored(_ string, data []byte) (*unstructured.Unstructured, error) { return decode(data) }

func (p *recordedSelf) configuration(s *snapshot) *MomentConfiguration {
	p.t.mu.Lock()
	defer p.t.mu.Unlock()
	for i, c := range slices.Backward(p.t.configurations) {
		// The oldest has been in force since before the first moment that is kept.
		if i == 0 || !c.Time.After(s.Time) {
			return &MomentConfiguration{Revision: c.Revision, Document: c.Document}
		}
	}
	return nil
}

func (p *recordedSelf) decisions(from, to time.Time) Decisions {
	p.t.mu.Lock()
	defer p.t.mu.Unlock()
	return sum(p.t.attempts, from, to)
}

// sum counts the attempts after one time up to another.
func sum(attempts []attemptsMark, from, to time.Time) Decisions {
	var d Decisions
	for _, m := range attempts {
		if m.Time.After(from) && !m.Time.After(to) {
			d.Scheduled += m.Scheduled
			d.Unschedulable += m.Unschedulable
		}
	}
	return d
}

// WriteState writes the state at a moment in the format of an export. The moment is a number or a
// time. It returns the number of that moment, and its time or the time that the caller named. The
// error wraps fs.ErrNotExist when the moment is gone.
func (t *Timeline) WriteState(ctx context.Context, moment string, w io.Writer) (int64, time.Time, error) {
	var at At
	var err error
	if at.Moment, err = strconv.ParseUint(moment, 10, 64); err != nil {
		if at.Time, err = time.Parse(time.RFC3339Nano, moment); err != nil {
			return 0, time.Time{}, fmt.Errorf("%q is neither the number of a moment nor a time: %w", moment, fs.ErrNotExist)
		}
	}
	found, err := t.Moment(ctx, at)
	if err == nil {
		err = t.Export(ctx, w, At{Moment: found.Moment, Time: found.Time})
	}
	if missing, ok := errors.AsType[*NotKeptError](err); ok {
		return 0, time.Time{}, fmt.Errorf("%w: %w", missing, fs.ErrNotExist)
	}
	if err != nil {
		return 0, time.Time{}, err
	}
	return int64(found.Moment), found.Time, nil
}
