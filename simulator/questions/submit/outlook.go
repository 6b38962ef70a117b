package submit

import (
	"cmp"
	"context"
	"slices"
	"time"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	kueue "sigs.k8s.io/kueue/apis/kueue/v1beta2"

	"kube-scheduler-simulator/simulator/batch/kueue/admission"
	"kube-scheduler-simulator/simulator/batch/kueue/forward"
)

const (
	// mostLanes bounds Outlook.Lanes.
	mostLanes = 14
	// points is how many Reach.Points there are.
	points = 48
)

// watched is what the runs are watched for, beside the start of the job that waits: its ClusterQueue.
type watched struct {
	clusterQueue, flavor string
	// own are the workloads of the job.
	own []types.NamespacedName
	// resource is empty if no flavor was tried.
	resource v1.ResourceName
	lanes    []*lane
	sights   []*sight
}

// lane is a workload of the ClusterQueue.
type lane struct {
	Lane
	key types.NamespacedName
	// times are its ends, if it holds quota, and its starts if it waits.
	times []time.Time
}

// sight is what one run shows of what is watched.
type sight struct {
	*watched
	state   *admission.State
	steps   []step
	times   map[types.NamespacedName]time.Time
	evicted map[types.NamespacedName]bool
	// end is when the run was cut; zero for one that came to its end.
	end time.Time
}

// step is what is in reach of the job from a time on, what it holds itself included.
type step struct {
	at    time.Time
	value int64
}

// watch begins to watch the ClusterQueue of a job that waits.
func (a *asking) watch(j *job) {
	q := j.answer.Quota
	w := &watched{clusterQueue: q.ClusterQueue, own: j.keys}
	j.watched = w
	if len(q.Resources) > 0 {
		room := tightest(q.Resources)
		w.flavor, w.resource = room.Flavor, v1.ResourceName(room.Resource)
	}
	if a.state.ClusterQueue(q.ClusterQueue) == nil {
		return
	}
	for _, held := range a.state.Workloads() {
		if a.state.Holds(keyOf(held)) && held.Status.Admission != nil && string(held.Status.Admission.ClusterQueue) == q.ClusterQueue {
			w.lanes = append(w.lanes, w.laneOf(held, 0))
		}
	}
	for i, p := range a.state.Pending(q.ClusterQueue, a.now) {
		if waits := a.state.Workload(p.Workload.Key()); waits != nil {
			l := w.laneOf(waits, i+1)
			l.Self = l.key == j.stops
			w.lanes = append(w.lanes, l)
		}
	}
}

func (w *watched) laneOf(of *kueue.Workload, position int) *lane {
	l := &lane{key: keyOf(of), Lane: Lane{Namespace: of.Namespace, Name: of.Name, Job: ownerOf(of), Position: position}}
	if w.resource != "" {
		total := v1.ResourceList{}
		for i := range of.Spec.PodSets {
			addRequests(total, &of.Spec.PodSets[i])
		}
		asks := total[w.resource]
		l.Asks = asks.String()
	}
	return l
}

// look begins to watch one run.
func (w *watched) look(state *admission.State, now time.Time) *sight {
	s := &sight{watched: w, state: state, times: map[types.NamespacedName]time.Time{}, evicted: map[types.NamespacedName]bool{}}
	s.measure(now)
	return s
}

func (s *sight) measure(now time.Time) {
	if s.resource == "" {
		return
	}
	value := s.state.Available(s.clusterQueue, s.flavor, s.resource)
	for _, key := range s.own {
		value += s.state.Uses(key, s.flavor, s.resource)
	}
	if last := len(s.steps) - 1; last < 0 || s.steps[last].value != value {
		s.steps = append(s.steps, step{now, value})
	}
}

// hear takes up an event of the run.
func (s *sight) hear(e forward.Event) {
	s.measure(e.At)
	key := keyOf(e.Workload)
	if _, known := s.times[key]; known || s.evicted[key] {
		return
	}
	at := slices.IndexFunc(s.lanes, func(l *lane) bool { return l.key == key })
	switch {
	case at < 0:
	case e.What == forward.Evicted && s.lanes[at].Position == 0:
		s.evicted[key] = true
	case e.What == forward.Ended && s.lanes[at].Position == 0, e.What == forward.Reserved && s.lanes[at].Position > 0:
		s.times[key] = e.At
	}
}

// keep adds what a run that came to its end has shown.
func (s *sight) keep() {
	s.state = nil
	for _, l := range s.lanes {
		if at, is := s.times[l.key]; is {
			l.times = append(l.times, at)
		}
		if s.evicted[l.key] {
			l.Evicted++
		}
	}
	s.sights = append(s.sights, s)
}

// outlook fills in what the runs have shown.
func (a *asking) outlook(j *job, runs int) {
	w := j.watched
	if runs == 0 || a.state.ClusterQueue(w.clusterQueue) == nil {
		return
	}
	out := &Outlook{Until: metav1.NewTime(a.now.Add(a.span(j)).Truncate(time.Second)), Lanes: []Lane{}}
	j.answer.Outlook = out
	for _, l := range w.lanes {
		slices.SortFunc(l.times, time.Time.Compare)
		counted := runs - l.Evicted
		l.Earliest, l.Latest = nth(l.times, counted, (1-likely)/2), nth(l.times, counted, 1-(1-likely)/2)
	}
	slices.SortStableFunc(w.lanes, func(x, y *lane) int {
		return cmp.Or(cmp.Compare(x.Position, y.Position), compareEnds(x.Earliest, y.Earliest), cmp.Compare(x.Name, y.Name))
	})
	for _, l := range shown(w.lanes) {
		out.Lanes = append(out.Lanes, l.Lane)
	}
	if w.resource != "" {
		out.Reach = a.reach(j, out.Until.Time)
	}
}

// span is how far the picture goes: half as far again as the latest start of the job.
func (a *asking) span(j *job) time.Duration {
	if len(j.starts) == 0 {
		return time.Hour
	}
	start := j.starts[len(j.starts)-1]
	if s := j.answer.Start; s.Latest != nil {
		start = s.Latest.Time
	}
	return max(time.Minute, start.Sub(a.now)*3/2)
}

func compareEnds(x, y *metav1.Time) int {
	switch {
	case x == nil && y == nil:
		return 0
	case x == nil:
		return 1
	case y == nil:
		return -1
	}
	return x.Compare(y.Time)
}

// shown are at most mostLanes: the job's own, and before it as many that hold quota as that wait.
func shown(lanes []*lane) (out []*lane) {
	first := slices.IndexFunc(lanes, func(l *lane) bool { return l.Position > 0 })
	if len(lanes) <= mostLanes || first < 0 {
		return lanes[:min(len(lanes), mostLanes)]
	}
	holds, waits := lanes[:first], lanes[first:]
	few := min(len(holds), max(mostLanes/2, mostLanes-len(waits)))
	out = append(out, holds[:few]...)
	for _, l := range waits {
		if l.Self || len(out) < mostLanes-1 {
			out = append(out, l)
		}
	}
	return out
}

// reach says what was in reach of the job's ClusterQueue in each interval of the picture.
func (a *asking) reach(j *job, until time.Time) *Reach {
	w := j.watched
	out := &Reach{ClusterQueue: w.clusterQueue, Flavor: w.flavor, Resource: string(w.resource), Points: []ReachPoint{}}
	room := tightest(j.answer.Quota.Resources)
	out.Needs = room.Asks
	each := until.Sub(a.now) / points
	for i := range points {
		from := a.now.Add(time.Duration(i) * each)
		var values []int64
		for _, s := range w.sights {
			if s.end.IsZero() || s.end.After(from) {
				values = append(values, s.most(from, from.Add(each)))
			}
		}
		if len(values) == 0 {
			break
		}
		slices.Sort(values)
		at := func(share float64) string {
			return amount(w.resource, max(0, values[int(share*float64(len(values)-1))]))
		}
		out.Points = append(out.Points, ReachPoint{At: metav1.NewTime(from.Truncate(time.Second)), Low: at((1 - likely) / 2), Median: at(0.5), High: at(1 - (1-likely)/2)})
	}
	return out
}

// most is the most that was in reach in an interval, without its end.
func (s *sight) most(from, to time.Time) int64 {
	at, _ := slices.BinarySearchFunc(s.steps, from, func(x step, t time.Time) int { return x.at.Compare(t) })
	for at < len(s.steps) && s.steps[at].at.Equal(from) {
		at++
	}
	most := s.steps[max(0, at-1)].value
	for ; at < len(s.steps) && s.steps[at].at.Before(to); at++ {
		most = max(most, s.steps[at].value)
	}
	return most
}

// inReach counts the pods that there is room for now.
func (a *asking) inReach(ctx context.Context, j *job) {
	out := &InReach{Pods: j.answer.Subject.Pods, Nodes: j.answer.Nodes.Fit}
	j.answer.InReach = out
	if t := j.answer.Topology; t != nil {
		most := 0
		for _, d := range t.Domains {
			most = max(most, d.Fit)
		}
		out.Topology = &most
	}
	if len(j.keys) > 1 {
		for _, key := range j.keys {
			if a.reserved[key] {
				out.Quota++
			}
		}
		return
	}
	w := a.state.Workload(j.stops)
	if w == nil {
		return
	}
	if j.answer.Quota.Admitted {
		for _, set := range j.answer.Quota.PodSets {
			out.Quota += int(set.Count)
		}
		return
	}
	out.Quota = a.podsByQuota(ctx, j, w)
}

// podsByQuota counts the pods that fit into the queue's unused quota if nothing else waits: as many of the largest pod set as
// fit beside all pods of the others.
func (a *asking) podsByQuota(ctx context.Context, j *job, w *kueue.Workload) int {
	alone := j.before.Clone() // since then, the job may have evicted others
	for _, other := range alone.Workloads() {
		if !alone.Holds(keyOf(other)) {
			alone.DeleteWorkload(keyOf(other))
		}
	}
	largest, others := 0, 0
	for i, set := range w.Spec.PodSets {
		if set.Count > w.Spec.PodSets[largest].Count {
			largest = i
		}
		others += int(set.Count)
	}
	all := int(w.Spec.PodSets[largest].Count)
	others -= all
	fits := func(n int) bool {
		fewer := freshOf(w)
		fewer.Spec.PodSets[largest].Count, fewer.Spec.PodSets[largest].MinCount = int32(n), nil
		state := alone.Clone()
		state.SetWorkload(fewer, a.now)
		how, evicted := forward.Admits(ctx, state, j.stops, a.now)
		return how != nil && len(evicted) == 0
	}
	low, high := 0, all
	for low < high {
		if n := (low + high + 1) / 2; fits(n) {
			low = n
		} else {
			high = n - 1
		}
	}
	if low == 0 {
		return 0
	}
	return low + others
}
