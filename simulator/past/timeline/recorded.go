package timeline

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"kube-scheduler-simulator/simulator/cluster/objects"
	"kube-scheduler-simulator/simulator/past/replay"
)

// A recording of another cluster is a past, too. Its moments count its changes of objects; the
// first one is the end of the initial list. It does not say which user changed what, so its only
// steps are failures of nodes. Its decisions are what happened to pods: they got a node, or the
// scheduler found them unschedulable.

// index holds what queries often need of a recording. Building it reads the recording once.
type index struct {
	recording   *replay.Recording
	first, last Point
	// times are those of the moments from first on.
	times    []time.Time
	failures []Step
	attempts []attemptsMark

	// The latest state that a query needed; reader has just taken the change of moment.
	reader *replay.Reader
	moment uint64
}

func (t *Timeline) recorded(ctx context.Context, r *replay.Recording) (past, error) {
	t.reading.Lock()
	defer t.reading.Unlock()
	if t.index == nil || t.index.recording != r {
		read, err := newIndex(ctx, r)
		if err != nil {
			return nil, err
		}
		t.index = read
	}
	return &recordedOther{t, t.index}, nil
}

func newIndex(ctx context.Context, r *replay.Recording) (*index, error) {
	x := &index{recording: r}
	failing := map[string]int{}
	ready := map[string]bool{}
	count, begun := uint64(0), false
	for reader := r.Read(); ; {
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		c, err := reader.NextEncoded()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, err
		}
		if c.Verb == replay.Begun {
			begun = true
			x.first = Point{count, c.Time}
			x.times = []time.Time{c.Time}
		}
		if c.Before == nil && c.After == nil {
			continue
		}
		count++
		if begun {
			x.times = append(x.times, c.Time)
		}
		switch c.Kind.Kind {
		case objects.Node.Kind:
			x.node(c, count, failing, ready)
		case objects.Pod.Kind:
			if begun {
				x.pod(c)
			}
		}
	}
	if !begun {
		x.first, x.times = Point{count, r.End}, []time.Time{r.End}
	}
	x.last = Point{count, r.End}
	return x, nil
}

// node notes when a node stops being ready, and when it is ready again.
func (x *index) node(c replay.EncodedChange, moment uint64, failing map[string]int, ready map[string]bool) {
	status := ""
	if c.After != nil {
		if u, err := decodeRecorded(c); err == nil {
			status = readiness(u)
		}
	}
	verb := map[string]string{"False": "notReady", "Unknown": "unreachable"}[status]
	at, isFailing := failing[c.Name]
	if isFailing && x.failures[at].Verb != verb {
		x.failures[at].EndTime = &c.Time
		delete(failing, c.Name)
		isFailing = false
	}
	if verb != "" && ready[c.Name] && !isFailing {
		failing[c.Name] = len(x.failures)
		x.failures = append(x.failures, Step{
			Moment: moment, Time: c.Time, Kind: FailureStep, Verb: verb, By: "cluster", Count: 1,
			Objects: []ObjectRef{{APIVersion: c.Kind.APIVersion, Kind: c.Kind.Kind, Name: c.Name}},
		})
	}
	ready[c.Name] = ready[c.Name] && c.After != nil || status == "True"
}

func (x *index) pod(c replay.EncodedChange) {
	before, after := decisionOf(c.Before), decisionOf(c.After)
	m := attemptsMark{Time: c.Time}
	switch {
	case before.node == "" && after.node != "":
		m.Scheduled = 1
	case after.unschedulable != "" && after.unschedulable != before.unschedulable:
		m.Unschedulable = 1
	default:
		return
	}
	x.attempts = append(x.attempts, m)
}

type podDecision struct{ node, unschedulable string }

func decisionOf(pod []byte) podDecision {
	var p struct {
		Spec   struct{ NodeName string }
		Status struct {
			Conditions []struct{ Type, Status, Message string }
		}
	}
	if pod == nil || json.Unmarshal(pod, &p) != nil {
		return podDecision{}
	}
	d := podDecision{node: p.Spec.NodeName}
	for _, c := range p.Status.Conditions {
		if c.Type == "PodScheduled" && c.Status == "False" {
			d.unschedulable = "unschedulable " + c.Message
		}
	}
	return d
}

func decodeRecorded(c replay.EncodedChange) (*unstructured.Unstructured, error) {
	object, err := decodeJSON(c.After)
	if err != nil {
		return nil, err
	}
	u := &unstructured.Unstructured{Object: object}
	u.SetGroupVersionKind(c.Kind.GVK())
	return u, nil
}

type recordedOther struct {
	t *Timeline
	x *index
}

var _ past = (*recordedOther)(nil)

func (p *recordedOther) line() Line {
	return Line{
		Recording: p.t.Records(), Start: &p.x.first.Time, End: &p.x.last.Time, StartMoment: p.x.first.Moment, EndMoment: p.x.last.Moment, Source: OfReplay,
	}
}

func (p *recordedOther) events(from, to time.Time, add func(time.Time, Bucket)) error {
	for _, at := range p.x.times[1:] {
		add(at, Bucket{Events: 1})
	}
	for _, m := range p.x.attempts {
		add(m.Time, Bucket{Scheduled: m.Scheduled, Unschedulable: m.Unschedulable})
	}
	return nil
}

func (p *recordedOther) steps() []Step { return slices.Clone(p.x.failures) }

func (p *recordedOther) at(_ context.Context, at At) (Point, error) {
	if at.Moment == 0 {
		n, _ := slices.BinarySearchFunc(p.x.times, at.Time, func(t, wanted time.Time) int {
			if t.After(wanted) {
				return 1
			}
			return -1
		})
		if n == 0 {
			return Point{}, &NotKeptError{Oldest: &p.x.first}
		}
		return Point{p.x.first.Moment + uint64(n-1), p.x.times[n-1]}, nil
	}
	if at.Moment < p.x.first.Moment || at.Moment > p.x.last.Moment {
		return Point{}, &NotKeptError{Oldest: &p.x.first}
	}
	return Point{at.Moment, p.x.times[at.Moment-p.x.first.Moment]}, nil
}

func (p *recordedOther) state(ctx context.Context, moment uint64) (*snapshot, error) {
	p.t.reading.Lock()
	defer p.t.reading.Unlock()
	x := p.x
	if x.reader == nil || x.moment > moment {
		x.reader, x.moment = x.recording.Read(), 0
	}
	for x.moment < moment {
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		c, err := x.reader.NextEncoded()
		if err != nil {
			x.reader = nil
			return nil, fmt.Errorf("reading the recording: %w", err)
		}
		if c.Before != nil || c.After != nil {
			x.moment++
		}
	}
	kinds := map[string]replay.Kind{}
	s := &snapshot{Point: Point{moment, x.times[moment-x.first.Moment]}, objects: map[string][]byte{}}
	for _, c := range x.reader.Existing() {
		key := c.Kind.APIVersion + "/" + c.Kind.Resource + "/" + c.Namespace + "/" + c.Name
		switch c.Kind.Kind { // as in the journal
		case objects.Node.Kind:
			key = nodePrefix + c.Name
		case objects.Pod.Kind:
			key = podPrefix + c.Namespace + "/" + c.Name
		}
		kinds[key], s.objects[key] = c.Kind, c.After
	}
	s.decode = func(key string, data []byte) (*unstructured.Unstructured, error) {
		return decodeRecorded(replay.EncodedChange{Kind: kinds[key], After: data})
	}
	return s, nil
}

func (p *recordedOther) configuration(*snapshot) *MomentConfiguration { return nil }

func (p *recordedOther) decisions(from, to time.Time) Decisions { return sum(p.x.attempts, from, to) }
