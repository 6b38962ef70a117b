package submit

import (
	"cmp"
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	kueue "sigs.k8s.io/kueue/apis/kueue/v1beta2"

	"kube-scheduler-simulator/simulator/batch/kueue/admission"
	"kube-scheduler-simulator/simulator/batch/kueue/forward"
)

const (
	// horizon is how far runs go.
	horizon = 30 * 24 * time.Hour
	// grace is how long evicted pods stop at most, which is Kubernetes' default.
	grace = 30 * time.Second
	// likely is the share of the runs between the earliest and the latest start.
	likely = 0.8
)

// kin is what workloads have in common: how their names begin, and their queue. Empty fields are no matter.
type kin struct{ alike, queue string }

func (k kin) String() string {
	switch {
	case k.queue == "":
		return "all queues"
	case k.alike == "":
		return "the queue " + k.queue
	}
	return fmt.Sprintf("%s in the queue %s", k.alike, k.queue)
}

// history has the durations of finished workloads, by what they have in common.
type history map[kin][]time.Duration

// historyOf learns from the workloads that have finished.
func historyOf(state *admission.State) history {
	h := history{}
	for _, w := range state.Workloads() {
		finished := meta.FindStatusCondition(w.Status.Conditions, kueue.WorkloadFinished)
		admitted := meta.FindStatusCondition(w.Status.Conditions, kueue.WorkloadAdmitted)
		if finished == nil || finished.Status != metav1.ConditionTrue || admitted == nil || admitted.Status != metav1.ConditionTrue {
			continue
		}
		d := finished.LastTransitionTime.Sub(admitted.LastTransitionTime.Time)
		if d < 0 {
			continue
		}
		for _, of := range kindred(w) {
			h[of] = append(h[of], d)
		}
	}
	for _, list := range h {
		slices.Sort(list)
	}
	return h
}

// kindred are the groups of a workload, those that have most in common first.
func kindred(w *kueue.Workload) []kin {
	prefix := strings.TrimRight(cmp.Or(ownerOf(w), w.Name), "0123456789")
	if at := strings.LastIndexByte(prefix, '-'); at > 0 && at == len(prefix)-1 {
		prefix = prefix[:at]
	}
	queue := w.Namespace + "/" + string(w.Spec.QueueName)
	return []kin{{prefix, queue}, {"", queue}, {}}
}

// ownerOf is the name of a workload's job; empty without one.
func ownerOf(w *kueue.Workload) string {
	if len(w.OwnerReferences) == 0 {
		return ""
	}
	return w.OwnerReferences[0].Name
}

// draw returns a duration of the nearest kin that has run longer than this one has by now. of is the group; known is false
// if none has.
func (h history) draw(w *kueue.Workload, ran time.Duration, random *rand.Rand) (d time.Duration, of kin, known bool) {
	for _, of := range kindred(w) {
		list := h[of]
		at, _ := slices.BinarySearch(list, ran)
		for at < len(list) && list[at] <= ran && ran > 0 {
			at++
		}
		if left := list[at:]; len(left) > 0 {
			return left[random.IntN(len(left))], of, true
		}
	}
	return 0, kin{}, false
}

// forward runs the queues forward, to learn when the jobs that wait start.
func (a *asking) forward(ctx context.Context) {
	var waiting []*job
	for _, j := range a.jobs {
		if j.queue != "" && !j.answer.Quota.Admitted && !hopeless(j) {
			waiting = append(waiting, j)
		}
	}
	if len(waiting) == 0 {
		return
	}
	h := historyOf(a.state)
	used, unknown := map[kin]bool{}, map[string]bool{}
	for _, j := range waiting {
		a.watch(j)
	}
	bounded, cancel := context.WithTimeout(ctx, runsTime)
	defer cancel()
	runs := 0
	for runs < a.q.Runs && bounded.Err() == nil {
		if !a.run(bounded, uint64(runs), waiting, h, used, unknown) {
			break
		}
		runs++
	}
	for _, j := range waiting {
		a.started(j, runs, h, used, unknown)
		a.outlook(j, runs)
	}
}

// run makes one run, and reports whether it came to its end.
func (a *asking) run(ctx context.Context, seed uint64, waiting []*job, h history, used map[kin]bool, unknown map[string]bool) bool {
	random := rand.New(rand.NewPCG(seed, 1))
	open := map[types.NamespacedName]*job{}
	for _, j := range waiting {
		open[j.stops] = j
	}
	started := map[*job]time.Time{}
	victims := map[*job]map[types.NamespacedName]bool{}
	state := a.state.Clone()
	sights := make([]*sight, len(waiting))
	for i, j := range waiting {
		sights[i] = j.watched.look(state, a.now)
	}
	var last *job
	cut := false
	r := forward.New(forward.Options{
		State: state, Begin: a.now, Stopping: time.Duration(random.Int64N(int64(grace))).Round(time.Second),
		Duration: func(w *kueue.Workload, admitted time.Time) (time.Duration, bool) {
			ran := max(0, a.now.Sub(admitted))
			d, of, known := h.draw(w, ran, random)
			switch {
			case len(open) == 0: // it changes no start
			case known:
				used[of] = true
			default:
				unknown[w.Namespace+"/"+w.Name] = true
			}
			return d, known
		},
		Told: func(e forward.Event) bool {
			key := keyOf(e.Workload)
			switch {
			case e.What == forward.Reserved && open[key] != nil:
				last = open[key]
				started[last] = e.At
				delete(open, key)
			case e.What == forward.Evicted && e.Head != nil && open[e.Head.Workload.Key()] != nil:
				j := open[e.Head.Workload.Key()]
				if victims[j] == nil {
					victims[j] = map[types.NamespacedName]bool{}
				}
				victims[j][key] = true
			}
			for _, s := range sights {
				s.hear(e)
			}
			if len(open) == 0 {
				// Half as long again as the starts took, and as long as the runs before: what follows belongs to the picture.
				if e.What == forward.Reserved && started[last] == e.At {
					a.seen = max(a.seen, e.At.Sub(a.now)*3/2)
				}
				cut = e.At.Sub(a.now) >= a.seen
			}
			return !cut
		},
	})
	if a.late != nil {
		r.Arrive(a.late, a.now.Add(later))
	}
	if r.Until(ctx, a.now.Add(horizon)) != nil {
		return false
	}
	for j, at := range started {
		j.starts = append(j.starts, at)
	}
	for _, s := range sights {
		if cut {
			s.end = r.Now()
		}
		s.keep()
	}
	for j, list := range victims {
		for key := range list {
			j.runVictims[key]++
		}
	}
	return true
}

// started fills in when a job starts.
func (a *asking) started(j *job, runs int, h history, used map[kin]bool, unknown map[string]bool) {
	s := &j.answer.Start
	s.Runs, s.Started = runs, len(j.starts)
	for of := range used {
		list := h[of]
		s.RestsOn = append(s.RestsOn, Durations{of.String(), of.alike, of.queue, len(list), list[0].Seconds(), list[len(list)-1].Seconds()})
	}
	slices.SortFunc(s.RestsOn, func(x, y Durations) int { return cmp.Compare(x.Of, y.Of) })
	slices.SortFunc(j.starts, time.Time.Compare)
	s.Earliest, s.Median, s.Latest = nth(j.starts, runs, (1-likely)/2), nth(j.starts, runs, 0.5), nth(j.starts, runs, 1-(1-likely)/2)
	if s.Latest == nil && len(unknown) > 0 {
		names := make([]string, 0, len(unknown))
		for name := range unknown {
			names = append(names, name)
		}
		slices.Sort(names)
		more := ""
		if len(names) > mostBefore {
			more = fmt.Sprintf(" and %d more", len(names)-mostBefore)
			names = names[:mostBefore]
		}
		a.unjudged("the ends of workloads", fmt.Sprintf("Nobody has seen a finished workload like %s%s, so nobody can tell when they end.", strings.Join(names, ", "), more))
	}
	for i := range j.answer.Preempts {
		j.answer.Preempts[i].Runs = runs // evicted before each run begins
	}
	for key, n := range j.runVictims {
		i := slices.IndexFunc(j.answer.Preempts, func(v Victim) bool { return v.Namespace == key.Namespace && v.Name == key.Name })
		if i >= 0 {
			continue
		}
		v := Victim{Namespace: key.Namespace, Name: key.Name, Runs: n}
		if w := a.state.Workload(key); w != nil && w.Spec.Priority != nil {
			v.Priority = *w.Spec.Priority
		}
		j.answer.Preempts = append(j.answer.Preempts, v)
	}
	slices.SortStableFunc(j.answer.Preempts, func(x, y Victim) int {
		return cmp.Or(cmp.Compare(y.Runs, x.Runs), cmp.Compare(x.Namespace, y.Namespace), cmp.Compare(x.Name, y.Name))
	})
}

// nth is the sorted time below which a share of the runs is; nil if in too few of them there is one.
func nth(times []time.Time, runs int, share float64) *metav1.Time {
	i := int(share * float64(runs-1))
	if runs <= 0 || i >= len(times) {
		return nil
	}
	t := metav1.NewTime(times[i].Truncate(time.Second))
	return &t
}
