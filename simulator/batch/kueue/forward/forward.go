package forward

import (
	"context"
	"errors"
	"fmt"
	"time"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	kueue "sigs.k8s.io/kueue/apis/kueue/v1beta2"

	"kube-scheduler-simulator/simulator/batch/kueue/admission"
)

// Never, as Options.Stopping, keeps the quota of evicted workloads for ever.
const Never = time.Duration(-1)

// Options say what runs.
type Options struct {
	// State is changed, so it is a clone if anything else needs it. Required.
	State *admission.State
	// Begin is the first moment.
	Begin time.Time
	// Duration says how long a workload runs after it was admitted. The run asks once for each admission: at Begin for the
	// workloads that run then, by name, and later as each is admitted. If known is false, the workload runs on. A nil
	// Duration knows no end.
	Duration func(w *kueue.Workload, admitted time.Time) (d time.Duration, known bool)
	// Stopping is how long an evicted workload holds its quota; Never for ever.
	Stopping time.Duration
	// Told hears of each event, in order. The run ends when it returns false. Nil hears nothing.
	Told func(Event) (goOn bool)
	// Cycle hears of each cycle, before its events. Nil hears nothing.
	Cycle func(*admission.Record)
}

// What is the kind of an event.
type What string

// The kinds of events. Admission checks agree, and pods are ready, at once.
const (
	// Arrived: the workload came into its queue.
	Arrived What = "Arrived"
	// Reserved: a cycle gave it quota.
	Reserved What = "Reserved"
	// Admitted: it runs.
	Admitted What = "Admitted"
	// Evicted: it holds its quota until it is Released.
	Evicted What = "Evicted"
	// Released: it waits again, or is deactivated.
	Released What = "Released"
	// Replaced: another workload of its job has taken its place. It is no longer in the State.
	Replaced What = "Replaced"
	// Ended: it has finished, and is no longer in the State.
	Ended What = "Ended"
)

type Event struct {
	What What
	At   time.Time
	// Workload is the version after the event.
	Workload *kueue.Workload
	// Head is what the cycle did with the workload, for Reserved, or with the one that evicts it, for Evicted by
	// preemption; nil otherwise.
	Head *admission.Head
}

// Run is a run that goes on. It is for one goroutine.
type Run struct {
	options Options
	now     time.Time
	agenda  agenda
	// running are the workloads that hold quota, with the turn of their admission: an end that was planned before an
	// eviction does not count.
	running map[types.NamespacedName]int
	turn    int
	// pods are the keys of the pods that name a workload, which leave with it.
	pods map[types.NamespacedName][]types.NamespacedName
	// cycles counts those of the moment.
	cycles int
	over   bool
	latest *admission.Record
}

// ErrUnsettled means that cycles would go on for ever at one moment, such as workloads that evict each other.
var ErrUnsettled = errors.New("the queues do not settle")

// New returns a run at its beginning: workloads run and wait as the State has them.
func New(o Options) *Run {
	r := &Run{options: o, now: o.Begin, running: map[types.NamespacedName]int{}, pods: map[types.NamespacedName][]types.NamespacedName{}}
	o.State.EachPod(func(pod *v1.Pod) {
		if name := pod.Annotations[kueue.WorkloadAnnotation]; name != "" {
			owner := types.NamespacedName{Namespace: pod.Namespace, Name: name}
			r.pods[owner] = append(r.pods[owner], types.NamespacedName{Namespace: pod.Namespace, Name: pod.Name})
		}
	})
	for _, w := range o.State.Workloads() {
		r.begin(w)
	}
	return r
}

// begin plans what becomes of a workload that is there at the beginning.
func (r *Run) begin(w *kueue.Workload) {
	key := keyOf(w)
	switch {
	case is(w, kueue.WorkloadFinished):
	case w.Status.Admission == nil || !is(w, kueue.WorkloadQuotaReserved):
		if w.Status.RequeueState != nil || meta.IsStatusConditionFalse(w.Status.Conditions, kueue.WorkloadRequeued) {
			r.plan(r.now, entry{do: review, key: key})
		}
	case is(w, kueue.WorkloadEvicted):
		r.release(key)
	case is(w, kueue.WorkloadAdmitted):
		r.runs(w, meta.FindStatusCondition(w.Status.Conditions, kueue.WorkloadAdmitted).LastTransitionTime.Time)
		r.plan(r.now, entry{do: review, key: key})
	default:
		r.agree(w)
	}
}

// Now is the moment that the run has reached.
func (r *Run) Now() time.Time { return r.now }

// Latest is the newest cycle; nil before the first.
func (r *Run) Latest() *admission.Record { return r.latest }

// Arrive plans the arrival of a workload. Workloads of one moment arrive in the order of the calls.
func (r *Run) Arrive(w *kueue.Workload, at time.Time) { r.plan(at, entry{do: arrive, workload: w}) }

// Until runs until a moment, or until nothing more can happen. It returns ErrUnsettled, or the error of ctx. The run
// can go on after it.
func (r *Run) Until(ctx context.Context, end time.Time) error {
	for !r.over {
		if err := r.settle(ctx); err != nil {
			return err
		}
		if r.over || len(r.agenda.entries) == 0 || r.agenda.entries[0].at.After(end) {
			break
		}
		if r.pass(r.agenda.entries[0].at) {
			continue
		}
		for !r.over && len(r.agenda.entries) > 0 && !r.agenda.entries[0].at.After(r.now) {
			r.happens(r.agenda.next())
		}
	}
	return nil
}

// pass lets time go by until a moment. It stops on the way, and returns true, where another workload has become the first of its
// queue because of what LocalQueues use: cycles may admit it. Nothing is sampled after the last entry of the agenda.
func (r *Run) pass(to time.Time) (turned bool) {
	for {
		turned, next := r.options.State.Sample(r.now)
		at := r.now.Add(next)
		switch {
		case turned:
			return true
		case next == 0 || at.After(to):
			r.at(to)
			return false
		}
		r.at(at)
	}
}

func (r *Run) at(moment time.Time) {
	if moment.After(r.now) {
		r.now, r.cycles = moment, 0
	}
}

// Settle runs what happens at the present moment.
func (r *Run) Settle(ctx context.Context) error { return r.Until(ctx, r.now) }

// settle runs cycles until one more would only repeat the latest.
func (r *Run) settle(ctx context.Context) error {
	for idle := 0; !r.over; {
		if err := ctx.Err(); err != nil {
			return context.Cause(ctx)
		}
		record := r.options.State.Cycle(r.now)
		if record == nil {
			return nil
		}
		r.latest = record
		if r.options.Cycle != nil {
			r.options.Cycle(record)
		}
		if r.cycles++; r.cycles > mostCycles {
			return fmt.Errorf("%w: %d cycles at %s", ErrUnsettled, mostCycles, r.now.UTC().Format(time.RFC3339Nano))
		}
		changed, flavors := r.carryOut(record)
		switch {
		case changed:
			idle = 0
		case idle >= 2*flavors:
			return nil
		default:
			idle++
		}
	}
	return nil
}

// mostCycles bounds the cycles of one moment. Each admits, parks or evicts a workload, or tries further flavors.
const mostCycles = 200_000

// carryOut makes the decisions of a cycle. changed is false if another cycle would do the same again, unless it begins
// at another flavor: flavors is how many there are to begin at, 0 if every search begins at the first.
func (r *Run) carryOut(record *admission.Record) (changed bool, flavors int) {
	var by map[types.NamespacedName]*admission.Head
	heads := map[types.NamespacedName]*admission.Head{}
	for i := range record.Heads {
		h := &record.Heads[i]
		heads[h.Workload.Key()] = h
		changed = changed || h.Parked
		flavors = max(flavors, left(h))
		if h.Outcome != admission.Preempting {
			continue
		}
		for _, v := range h.Victims {
			if by == nil {
				by = map[types.NamespacedName]*admission.Head{}
			}
			by[v.Workload.Key()] = h
		}
	}
	for _, d := range record.Decisions {
		key := d.Workload.Key()
		switch d.Verb {
		case admission.Reserve:
			changed = true
			w := r.apply(d)
			r.tell(Event{What: Reserved, Workload: w, Head: heads[key]})
			r.agree(w)
		case admission.Replace:
			changed = true
			r.replace(d)
		case admission.Evict:
			changed = true
			r.evict(d, by[key])
		}
		// What a refusal writes into the conditions changes no cycle.
	}
	return changed, flavors
}

// left is how many flavors a search that stopped early has; 0 if it tried the last.
func left(h *admission.Head) (flavors int) {
	for _, set := range h.PodSets {
		for _, group := range set.Groups {
			if group.More {
				flavors = max(flavors, group.From+len(group.Flavors)+len(group.Untried))
			}
		}
	}
	return flavors
}

// replace ends a workload whose pods go on running for another one of their job.
func (r *Run) replace(d admission.Decision) {
	w := r.apply(d)
	delete(r.running, keyOf(w))
	r.options.State.DeleteWorkload(keyOf(w))
	r.tell(Event{What: Replaced, Workload: w})
}

func (r *Run) evict(d admission.Decision, by *admission.Head) {
	w := r.apply(d)
	key := keyOf(w)
	delete(r.running, key)
	r.tell(Event{What: Evicted, Workload: w, Head: by})
	r.release(key)
}

// release plans the end of an evicted workload.
func (r *Run) release(key types.NamespacedName) {
	if r.options.Stopping != Never {
		r.plan(r.now.Add(r.options.Stopping), entry{do: release, key: key})
	}
}

// agree lets the checks of a workload that has reserved quota agree, and its pods be ready.
func (r *Run) agree(w *kueue.Workload) {
	if len(w.Status.AdmissionChecks) > 0 {
		w = r.change(w, func(w *kueue.Workload) {
			for i := range w.Status.AdmissionChecks {
				w.Status.AdmissionChecks[i].State = kueue.CheckStateReady
			}
		})
	}
	if !is(w, kueue.WorkloadAdmitted) {
		r.review(keyOf(w))
		return
	}
	r.admitted(w)
}

func (r *Run) admitted(w *kueue.Workload) {
	w = r.change(w, func(w *kueue.Workload) {
		meta.SetStatusCondition(&w.Status.Conditions, metav1.Condition{Type: kueue.WorkloadPodsReady, Status: metav1.ConditionTrue, Reason: "Started", LastTransitionTime: metav1.NewTime(r.now)})
	})
	r.tell(Event{What: Admitted, Workload: w})
	r.runs(w, r.now)
	if w.Spec.MaximumExecutionTimeSeconds != nil {
		r.review(keyOf(w))
	}
}

// runs plans the end of a workload.
func (r *Run) runs(w *kueue.Workload, admitted time.Time) {
	r.turn++
	r.running[keyOf(w)] = r.turn
	if r.options.Duration == nil {
		return
	}
	if d, known := r.options.Duration(w, admitted); known {
		at := admitted.Add(d)
		if at.Before(r.now) {
			at = r.now
		}
		r.plan(at, entry{do: end, key: keyOf(w), turn: r.turn})
	}
}

// happens carries out an entry of the agenda.
func (r *Run) happens(e entry) {
	switch e.do {
	case arrive:
		r.options.State.SetWorkload(e.workload, r.now)
		r.tell(Event{What: Arrived, Workload: e.workload})
	case end:
		if r.running[e.key] != e.turn {
			return // evicted since
		}
		w := r.options.State.Workload(e.key)
		delete(r.running, e.key)
		r.leave(w)
		r.options.State.DeleteWorkload(e.key)
		r.tell(Event{What: Ended, Workload: w})
	case release:
		for _, d := range r.options.State.Released(e.key) {
			w := r.apply(d)
			r.leave(w)
			r.tell(Event{What: Released, Workload: w})
			r.review(e.key)
		}
	case review:
		r.review(e.key)
	}
}

// leave lets the pods of a workload go.
func (r *Run) leave(w *kueue.Workload) {
	for _, pod := range r.pods[types.NamespacedName{Namespace: w.Namespace, Name: admission.NameInPods(w)}] {
		r.options.State.DeletePod(pod)
	}
}

// review carries out what a workload is owed outside of cycles, until nothing is left.
func (r *Run) review(key types.NamespacedName) {
	for {
		decisions, next := r.options.State.Review(key, r.now)
		if next > 0 {
			r.plan(r.now.Add(next), entry{do: review, key: key})
		}
		again := false
		for _, d := range decisions {
			switch d.Verb {
			case admission.Refuse:
			case admission.Evict:
				r.evict(d, nil)
			case admission.Admit:
				r.admitted(r.apply(d))
			case admission.SyncChecks:
				w := r.apply(d)
				if w.Status.Admission != nil {
					r.agree(w)
				}
			default:
				r.apply(d)
				again = true
			}
		}
		if !again {
			return
		}
	}
}

// apply makes a decision's change in the State's view of the object.
func (r *Run) apply(d admission.Decision) *kueue.Workload {
	return r.change(r.options.State.Workload(d.Workload.Key()), func(w *kueue.Workload) { d.Apply(w, r.now) })
}

// change changes the status of a workload, or replaces fields of its spec. The pod sets, which are most of it, are shared.
func (r *Run) change(w *kueue.Workload, do func(*kueue.Workload)) *kueue.Workload {
	changed := *w
	changed.Status = *w.Status.DeepCopy()
	do(&changed)
	r.options.State.SetWorkload(&changed, r.now)
	return &changed
}

func (r *Run) tell(e Event) {
	e.At = r.now
	if r.options.Told != nil && !r.options.Told(e) {
		r.over = true
	}
}

// Admits reports whether a workload gets quota at once, at most after the workloads that are evicted for it have
// stopped: nothing else arrives or ends. how is the cycle's head; nil if it gets none. evicted are those that stop on
// the way, for any workload, in order. It changes the State.
func Admits(ctx context.Context, state *admission.State, key types.NamespacedName, now time.Time) (how *admission.Head, evicted []admission.Ref) {
	r := New(Options{State: state, Begin: now, Told: func(e Event) bool {
		switch e.What {
		case Evicted:
			evicted = append(evicted, admission.Ref{Namespace: e.Workload.Namespace, Name: e.Workload.Name, UID: e.Workload.UID})
		case Reserved:
			if keyOf(e.Workload) == key {
				how = e.Head
			}
		}
		return how == nil
	}})
	_ = r.Settle(ctx) // a run that ends early admits nothing
	return how, evicted
}

func is(w *kueue.Workload, condition string) bool {
	return meta.IsStatusConditionTrue(w.Status.Conditions, condition)
}

func keyOf(w *kueue.Workload) types.NamespacedName {
	return types.NamespacedName{Namespace: w.Namespace, Name: w.Name}
}
