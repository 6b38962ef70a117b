package timeline

import (
	"bytes"
	"cmp"
	"context"
	"path"
	"slices"
	"strings"
	"time"

	"kube-scheduler-simulator/simulator/cluster/objects"
)

// Write is a request by which a user changed objects.
type Write struct {
	// Begun is when the request came.
	Begun time.Time
	// Verb is that of Step.
	Verb string
	// By is that of Step.
	By string
	// Action is the same for all requests of one action of the user; empty if that is not known.
	Action  string
	Objects []Written
}

// Written names an object that a request changed.
type Written struct {
	Group, Resource, Namespace, Name string
	// After is a revision of etcd before the change, and after those that others made to the object before; 0 if none is
	// known.
	After int64
}

// record is a step with what undo needs of it.
type record struct {
	// Number counts the steps from 1.
	Number uint64 `json:"number"`
	Step
	// Before is the moment before the first change of the step.
	Before uint64 `json:"before"`
	// Touched are all objects of the step, up to maxTouched.
	Touched []ObjectRef `json:"touched,omitempty"`
	// Writes are the moments of the user's own changes, up to maxTouched.
	Writes []uint64 `json:"writes,omitempty"`
	// User: a user did this, and may take it back.
	User bool `json:"user,omitempty"`

	// action is that of its requests, and ended is when the latest of them came.
	action string
	ended  time.Time
	// known are Touched.
	known map[ObjectRef]bool
}

const (
	// maxTouched bounds the objects that a step remembers. An undo cannot take back a step with
	// more.
	maxTouched = 10_000
	// A pause of stepPause between two requests of the same kind ends a step whose action is not
	// known.
	stepPause = time.Second
	// writePatience is how long the changes of a request may take to come. A request that changed
	// nothing has none.
	writePatience = 2 * time.Second
	// recentTime is how long changes wait for requests that end later.
	recentTime = 5 * time.Second
)

type change struct {
	moment uint64
	// at is when the time line heard of it, and revision the one of etcd; 0 if it is not known.
	at       time.Time
	revision int64
	key      string
	deleted  ObjectRef
}

// recents are the latest changes by key. They hold no objects, which would be many on a busy
// cluster.
type recents struct {
	now, earlier map[string][]change
	since        time.Time
}

func (r *recents) note(c change) {
	if r.now == nil || c.at.Sub(r.since) > recentTime {
		r.earlier, r.now, r.since = r.now, map[string][]change{}, c.at
	}
	r.now[c.key] = append(r.now[c.key], c)
}

// of returns the first change of an object after its After, or else after the request began. A change that the time line heard of after that may be
// older than the request: on a busy machine it hears late.
func (r *recents) of(w Written, begun time.Time) (change, bool) {
	for _, key := range w.keys() {
		for _, some := range [][]change{r.earlier[key], r.now[key]} {
			for _, c := range some {
				if known := w.After > 0 && c.revision > 0; known && c.revision > w.After || !known && c.at.After(begun) {
					return c, true
				}
			}
		}
	}
	return change{}, false
}

// keyPrefixes are of the resources whose keys do not begin with their name; see
// SpecialDefaultResourcePrefixes in k8s.io/kubernetes/pkg/kubeapiserver.
var keyPrefixes = map[string]string{"nodes": "minions", "services": "services/specs", "replicationcontrollers": "controllers"}

// Custom resources have their group before the resource.
func (w Written) keys() []string {
	name := path.Join(w.Namespace, w.Name)
	if w.Group == "" {
		return []string{path.Join(cmp.Or(keyPrefixes[w.Resource], w.Resource), name)}
	}
	return []string{path.Join(w.Resource, name), path.Join(w.Group, w.Resource, name)}
}

func (t *Timeline) ref(c change) (ObjectRef, bool) {
	if c.deleted != (ObjectRef{}) {
		return c.deleted, true
	}
	ref, err := refOf(t.journal.state[c.key])
	if err == nil {
		return ref, true
	}
	for _, some := range [][]change{t.recent.earlier[c.key], t.recent.now[c.key]} {
		for _, later := range some {
			if later.deleted != (ObjectRef{}) {
				ref = later.deleted
			}
		}
	}
	return ref, ref != (ObjectRef{})
}

// Wrote takes a user's request that has ended. It does not block.
func (t *Timeline) Wrote(w Write) {
	if !t.Records() {
		return
	}
	// A change gets its time when it arrives, so it is later than the request.
	t.mu.Lock()
	defer t.mu.Unlock()
	t.writes = append(t.writes, w)
	t.match(t.now())
	t.arm()
}

// maxWrites bounds the requests whose changes have not come yet.
const maxWrites = 10_000

// match assigns changes to the requests that wait for theirs.
func (t *Timeline) match(now time.Time) {
	var waiting []Write
	for _, w := range t.writes {
		var found []change
		complete := true
		for _, o := range w.Objects {
			c, came := t.recent.of(o, w.Begun)
			complete = complete && came
			if came {
				found = append(found, c)
			}
		}
		switch {
		case complete || now.Sub(w.Begun) > writePatience && len(found) > 0:
			t.note(w, found, now)
		case now.Sub(w.Begun) <= writePatience && len(waiting) < maxWrites:
			waiting = append(waiting, w)
		}
	}
	t.writes = waiting
}

func (t *Timeline) note(w Write, changes []change, now time.Time) {
	defer t.tell()
	changes = slices.DeleteFunc(changes, func(c change) bool { return t.claimFailure(c, w.By) })
	if len(changes) == 0 {
		return
	}
	r := t.begun(w, now)
	if r == nil {
		r = t.step(record{Step: Step{Kind: ChangeStep, Verb: w.Verb, By: w.By, Moment: changes[0].moment, Time: changes[0].at}, User: true, Before: changes[0].moment - 1})
		r.action = w.Action
	}
	r.ended = now
	for _, c := range changes {
		r.Before = min(r.Before, c.moment-1)
		if c.moment > r.Moment {
			r.Moment, r.Time = c.moment, c.at
		}
		if ref, known := t.ref(c); known {
			r.touch(ref)
		}
		if len(r.Writes) < maxTouched && !slices.Contains(r.Writes, c.moment) {
			r.Writes = append(r.Writes, c.moment)
		}
	}
	t.change(r)
}

// begun returns the step that a request goes on with: the one of the same action, however long ago
// it began, or else the last one if it is of the same kind; nil if there is none.
func (t *Timeline) begun(w Write, now time.Time) *record {
	for _, r := range slices.Backward(t.steps) {
		switch {
		case r.Kind != ChangeStep || !r.User || r.By != w.By || r.Undone:
		case w.Action != "" && r.action == w.Action, w.Action+r.action == "" && r.Verb == w.Verb && now.Sub(r.ended) <= stepPause:
			return r
		}
		if w.Action == "" {
			break
		}
	}
	return nil
}

func (t *Timeline) step(r record) *record {
	t.number++
	r.Number = t.number
	if r.Time.IsZero() && r.Moment == 0 {
		r.Moment, r.Time = t.journal.moment, t.now()
	}
	if r.Objects == nil {
		r.Objects = []ObjectRef{}
	}
	t.steps = append(t.steps, &r)
	t.change(&r)
	return &r
}

// change lets a step be written again.
func (t *Timeline) change(r *record) {
	if !slices.Contains(t.dirty, r) {
		t.dirty = append(t.dirty, r)
	}
	t.arm()
}

func (r *record) touch(ref ObjectRef) {
	if r.known[ref] {
		return
	}
	if r.known == nil {
		r.known = map[ObjectRef]bool{}
	}
	r.known[ref] = true
	r.Count++
	if len(r.Touched) < maxTouched {
		r.Touched = append(r.Touched, ref)
	}
	if len(r.Objects) < maxStepObjects {
		r.Objects = append(r.Objects, ref)
	}
}

// Program returns the program of a user agent, in the form of Step.By.
func Program(userAgent string) string {
	name, _, _ := strings.Cut(userAgent, "/")
	name, _, _ = strings.Cut(strings.TrimSpace(name), " ")
	if name == "Mozilla" {
		return ByWeb
	}
	return cmp.Or(name, "unknown")
}

// The keys of nodes and pods in etcd have these prefixes.
const (
	nodePrefix = "minions/"
	podPrefix  = "pods/"
)

func (t *Timeline) watchNode(key string, after []byte) {
	name, isNode := strings.CutPrefix(key, nodePrefix)
	if !isNode {
		return
	}
	failure := ""
	if after != nil && (bytes.Contains(after, []byte(objects.AnnotationFailure)) || t.failing[name] != nil) {
		if node, err := decode(after); err == nil {
			failure = failureOf(node, t.failing[name] != nil)
		}
	}
	r := t.failing[name]
	if r != nil && failure == r.Verb {
		return
	}
	if r != nil {
		at := t.journal.time
		r.EndTime = &at
		delete(t.failing, name)
		t.change(r)
	}
	if failure != "" {
		ref := ObjectRef{APIVersion: "v1", Kind: "Node", Name: name}
		t.failing[name] = t.step(record{
			Step:    Step{Kind: FailureStep, Verb: failure, By: BySimulator, Moment: t.journal.moment, Time: t.journal.time, Objects: []ObjectRef{ref}, Count: 1},
			Touched: []ObjectRef{ref}, Before: t.journal.moment - 1,
		})
	}
}

// claimFailure attributes a node's failure to a user, and reports whether the change caused one.
func (t *Timeline) claimFailure(c change, by string) bool {
	name, isNode := strings.CutPrefix(c.key, nodePrefix)
	if !isNode {
		return false
	}
	r := t.failing[name]
	if r == nil || r.Before != c.moment-1 {
		return false
	}
	r.By, r.User = by, true
	t.change(r)
	return true
}

// Step.By is BySimulator when no user did it, and ByWeb for the web application.
const (
	BySimulator = "simulator"
	ByWeb       = "web"
)

// Configuration is a scheduler configuration that was applied.
type Configuration struct {
	Revision          int
	Document, Summary string
	// By is that of Step.
	By string
	// Failed: the scheduler did not start with it, so the one before it stayed.
	Failed bool
}

// Configured takes the newest scheduler configuration. It ignores the one that it knows.
func (t *Timeline) Configured(c Configuration) {
	if !t.Records() {
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.configured == c {
		return
	}
	t.configured = c
	var last configurationMark
	if n := len(t.configurations); n > 0 {
		last = t.configurations[n-1]
	}
	if !c.Failed && last.Revision == c.Revision && last.Document == c.Document {
		return // it was in force before a restart
	}
	now := t.now()
	if last.Revision != 0 {
		t.step(record{
			Step: Step{Moment: t.journal.moment, Time: now, Kind: ConfigurationStep, Verb: "configure", By: c.By, Revision: c.Revision, Summary: c.Summary, Failed: c.Failed},
			User: c.By != BySimulator && !c.Failed && !t.restoring, Before: t.journal.moment,
		})
	}
	if !c.Failed {
		m := configurationMark{Moment: t.journal.moment, Time: now, Revision: c.Revision, Document: c.Document}
		if last.Revision == 0 {
			m.Moment = 0 // the first one has been in force from the start
		}
		t.configurations = append(t.configurations, m)
		t.unwritten = append(t.unwritten, mark{Configuration: &m})
	}
	t.arm()
}

// Begin says that a program, named as in Step, begins an operation on the whole cluster. The caller
// calls done once at its end with Step.Count and Step.Deleted; two zeros say that nothing changed.
func (t *Timeline) Begin(kind StepKind, by string) (done func(count, deleted int)) {
	if !t.Records() {
		return func(int, int) {}
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	before := t.journal.moment
	t.operations++
	end := func(count, deleted int) {
		t.mu.Lock()
		defer t.mu.Unlock()
		t.operations--
		if count+deleted > 0 {
			t.step(record{Step: Step{Kind: kind, Verb: string(kind), By: by, Count: count, Deleted: deleted}, User: by != BySimulator, Before: before})
		}
		t.tell()
	}
	// The last changes of an operation come a moment after its end.
	return func(count, deleted int) { t.opts.Clock.AfterFunc(operationPause, func() { end(count, deleted) }) }
}

const operationPause = 200 * time.Millisecond

// Edits counts what users have changed: objects, once for each step, and each configuration, reset
// and failure as one. Steps that an undo took back do not count. Without a journal it is an error.
func (t *Timeline) Edits(ctx context.Context) (int, error) {
	if !t.Records() {
		return 0, &NotKeptError{Off: true}
	}
	if err := t.ready(ctx); err != nil {
		return 0, err
	}
	if err := t.settle(ctx); err != nil {
		return 0, err
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	edits := 0
	for _, r := range t.steps {
		switch {
		case !r.User || r.Undone || r.Failed:
		case r.Kind == ChangeStep || r.Kind == ImportStep:
			edits += r.Count + r.Deleted
		default:
			edits++
		}
	}
	return edits, nil
}
