package admission

import (
	"cmp"
	"maps"
	"math"
	"slices"
	"time"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	kueue "sigs.k8s.io/kueue/apis/kueue/v1beta2"
)

// thousandths are amounts in thousandths of each resource's unit, in which Kueue computes what LocalQueues consume. Those that
// a State keeps never change in place.
type thousandths map[v1.ResourceName]int64

// consumption is the decaying average of what a LocalQueue uses.
type consumption struct {
	resources thousandths
	// sampled is when the average was last brought up to date; the zero time if this State never did.
	sampled time.Time
}

// after returns the average once the usage has stayed the same for a while. Both parts are cut to whole thousandths, as Kueue
// does.
func (c consumption) after(elapsed time.Duration, used thousandths, halfLife time.Duration) thousandths {
	fresh := freshPart(elapsed, halfLife)
	average := c.resources.times(1 - fresh)
	average.add(used.times(fresh))
	return average
}

// freshPart is the weight of the usage during elapsed in the average after it. Kueue counts nothing with a half-life of 0.
func freshPart(elapsed, halfLife time.Duration) float64 {
	if halfLife == 0 {
		return 0
	}
	return 1 - math.Pow(0.5, elapsed.Seconds()/halfLife.Seconds())
}

func (t thousandths) times(factor float64) thousandths {
	out := make(thousandths, len(t))
	for name, v := range t {
		out[name] = int64(float64(v) * factor)
	}
	return out
}

func (t thousandths) add(others thousandths) {
	for name, v := range others {
		t[name] = saturatingAdd(t[name], v)
	}
}

// thousandthsOf converts an amount in the unit of ResourceTrial.
func thousandthsOf(name v1.ResourceName, v int64) int64 {
	if name == v1.ResourceCPU {
		return v
	}
	return min(v, math.MaxInt64/1000) * 1000
}

// byResource sums a usage over flavors.
func (a amounts) byResource() thousandths {
	sum := make(thousandths)
	for fr, v := range a {
		sum[fr.resource] = saturatingAdd(sum[fr.resource], thousandthsOf(fr.resource, v))
	}
	return sum
}

// sharesByUsage reports whether a ClusterQueue orders its workloads by what their LocalQueues have used.
func (s *State) sharesByUsage(clusterQueue string) bool {
	queue := s.clusterQueues[clusterQueue]
	return s.settings.AdmissionFairSharing != nil && queue != nil && queue.Spec.AdmissionScope != nil && queue.Spec.AdmissionScope.AdmissionMode == kueue.UsageBasedAdmissionFairSharing
}

// usages are what the LocalQueues of one ClusterQueue have used, weighed. It is nil for a ClusterQueue that does not order by it.
// A LocalQueue of weight 0 goes before all others until it has used anything, and then after them: its usage is NaN or infinite.
type usages map[types.NamespacedName]float64

// usagesOf counts the penalties of workloads that are not admitted yet, so that one LocalQueue cannot have many of its workloads
// admitted before their usage shows.
func (s *State) usagesOf(clusterQueue string) usages {
	if !s.sharesByUsage(clusterQueue) {
		return nil
	}
	penalties := make(map[types.NamespacedName]thousandths)
	if q := s.queues[clusterQueue]; q != nil {
		for _, w := range q.reserved {
			if w.penalty == nil {
				continue
			}
			if penalties[w.localQueue()] == nil {
				penalties[w.localQueue()] = make(thousandths)
			}
			penalties[w.localQueue()].add(w.penalty)
		}
	}
	all := make(usages)
	for key, local := range s.localQueues {
		if string(local.Spec.ClusterQueue) == clusterQueue {
			consumed := maps.Clone(s.consumed[key].resources)
			if consumed == nil {
				consumed = make(thousandths)
			}
			consumed.add(penalties[key])
			all[key] = s.settings.AdmissionFairSharing.weigh(consumed) / weightOf(local.Spec.FairSharing)
		}
	}
	return all
}

// weigh adds up amounts of all resources, in their order, so that the sum is always the same.
func (a *AdmissionFairSharing) weigh(t thousandths) (sum float64) {
	for _, name := range slices.Sorted(maps.Keys(t)) {
		weight, known := a.ResourceWeights[name]
		if !known {
			weight = 1
		}
		sum += weight * float64(t[name]) / 1000
	}
	return sum
}

// compare orders workloads by what their LocalQueues have used, the least first.
func (u usages) compare(a, b *workload) int {
	if u == nil {
		return 0
	}
	x, known := u[a.localQueue()]
	y, both := u[b.localQueue()]
	if !known || !both {
		return 0
	}
	return cmp.Compare(x, y)
}

// of returns the usage of a workload's LocalQueue; nil if it does not count.
func (u usages) of(w *workload) *LocalQueueUsage {
	used, known := u[w.localQueue()]
	if !known {
		return nil
	}
	return &LocalQueueUsage{Namespace: w.key.Namespace, Name: string(w.object.Spec.QueueName), Usage: finite(used), Infinite: math.IsInf(used, 1)}
}

// finite is what of a usage JSON can hold.
func finite(used float64) float64 {
	if math.IsNaN(used) || math.IsInf(used, 0) {
		return 0
	}
	return used
}

// usedIn is what the admitted workloads of a ClusterQueue use, for each of its LocalQueues.
func (s *State) usedIn(clusterQueue string) map[types.NamespacedName]thousandths {
	used := make(map[types.NamespacedName]thousandths)
	q := s.queues[clusterQueue]
	if q == nil {
		return used
	}
	for _, w := range q.reserved {
		key := w.localQueue()
		if local := s.localQueues[key]; !w.admitted() || local == nil || string(local.Spec.ClusterQueue) != clusterQueue {
			continue
		}
		if used[key] == nil {
			used[key] = make(thousandths)
		}
		used[key].add(w.usage.byResource())
	}
	return used
}

// charge counts a workload that has just been admitted. Its penalty, which was pending since it got its quota, becomes part of what
// its LocalQueue has used.
func (s *State) charge(w *workload, now time.Time) {
	w.penalty = nil
	if !s.sharesByUsage(w.queue) {
		return
	}
	key, sharing := w.localQueue(), s.settings.AdmissionFairSharing
	c := s.consumed[key]
	var elapsed time.Duration
	if !c.sampled.IsZero() {
		elapsed = now.Sub(c.sampled)
	}
	c.resources = c.after(elapsed, s.usedIn(w.queue)[key], sharing.HalfLife)
	c.resources.add(w.usage.byResource().times(sharing.entryPart()))
	c.sampled = now
	s.consumed[key] = c
}

// penaltyOf is what a workload counts for from when it gets its quota; nil if it does not count.
func (s *State) penaltyOf(w *workload) thousandths {
	if !s.sharesByUsage(w.queue) {
		return nil
	}
	requests := make(thousandths)
	for _, p := range w.podSets {
		for name, v := range p.total(max(0, p.count-reclaimed(w.object.Status.ReclaimablePods, p.name))) {
			requests[name] = saturatingAdd(requests[name], thousandthsOf(name, v))
		}
	}
	return requests.times(s.settings.AdmissionFairSharing.entryPart())
}

// entryPart is the part of a workload's requests that counts at once: as if it had run for one interval.
func (a *AdmissionFairSharing) entryPart() float64 { return freshPart(a.interval(), a.HalfLife) }

func (a *AdmissionFairSharing) interval() time.Duration {
	return cmp.Or(a.SamplingInterval, defaultSamplingInterval)
}

// Sample brings what the LocalQueues have used up to date, each once in an interval, as long as it takes workloads. Call it again
// after next; 0 means never, because admission does not share by usage. turned means that a ClusterQueue has another head than before.
func (s *State) Sample(now time.Time) (turned bool, next time.Duration) {
	sharing := s.settings.AdmissionFairSharing
	if sharing == nil {
		return false, 0
	}
	next = sharing.interval()
	used := make(map[string]map[types.NamespacedName]thousandths) // by ClusterQueue
	var before []*workload
	sampled := false
	for key, local := range s.localQueues {
		if s.localActive(local).Status != metav1.ConditionTrue {
			continue
		}
		c := s.consumed[key]
		elapsed := now.Sub(c.sampled)
		if !c.sampled.IsZero() && elapsed < sharing.interval() {
			next = min(next, sharing.interval()-elapsed)
			continue
		}
		if !sampled {
			sampled, before = true, s.heads()
		}
		switch {
		case sharing.HalfLife == 0:
			c.resources = nil
		case !c.sampled.IsZero():
			name := string(local.Spec.ClusterQueue)
			if used[name] == nil {
				used[name] = s.usedIn(name)
			}
			c.resources = c.after(elapsed, used[name][key], sharing.HalfLife)
		}
		c.sampled = now
		s.consumed[key] = c
	}
	return sampled && !slices.Equal(before, s.heads()), next
}

// remember takes over what the status of a LocalQueue says that it has used: all at first, and later only what another Kueue
// has written since this State counted.
func (s *State) remember(key types.NamespacedName, local *kueue.LocalQueue) {
	sharing := local.Status.FairSharing
	if s.settings.AdmissionFairSharing == nil || sharing == nil || sharing.AdmissionFairSharingStatus == nil {
		return
	}
	status, c := sharing.AdmissionFairSharingStatus, s.consumed[key]
	if !c.sampled.IsZero() {
		if !status.LastUpdate.After(c.sampled) {
			return
		}
		c.sampled = status.LastUpdate.Time
	}
	c.resources = make(thousandths)
	for name, q := range status.ConsumedResources {
		c.resources[name] = q.MilliValue()
	}
	s.consumed[key] = c
}

// consumptionStatus is what the status of a LocalQueue says of what it has used. Without sharing by usage, and before the first
// sample, it stays as it is.
func (s *State) consumptionStatus(key types.NamespacedName) *kueue.LocalQueueFairSharingStatus {
	c := s.consumed[key]
	if s.settings.AdmissionFairSharing == nil || c.sampled.IsZero() {
		return s.localQueues[key].Status.FairSharing
	}
	consumed := make(v1.ResourceList, len(c.resources))
	for name, v := range c.resources {
		consumed[name] = *resource.NewMilliQuantity(v, resource.DecimalSI)
	}
	return &kueue.LocalQueueFairSharingStatus{AdmissionFairSharingStatus: &kueue.LocalQueueAdmissionFairSharingStatus{
		ConsumedResources: consumed, LastUpdate: metav1.NewTime(c.sampled.Truncate(time.Second)),
	}}
}

// usedMore returns, for each of the waiting workloads that stand in order, the workload that goes before it only because its
// LocalQueue has used less; nil where there is none.
func (u usages) usedMore(waiting []*workload) []*UsedMore {
	list := make([]*UsedMore, len(waiting))
	if u == nil {
		return list
	}
	// Of each LocalQueue that has been passed, the workload that priority and age put last.
	last := make(map[types.NamespacedName]*workload)
	var passed []types.NamespacedName
	for i, w := range waiting {
		for _, key := range passed {
			if other := last[key]; u.compare(other, w) < 0 && compareQueued(w, other) < 0 {
				list[i] = u.behind(w, other)
				break
			}
		}
		key := w.localQueue()
		switch other := last[key]; {
		case other == nil:
			last[key], passed = w, append(passed, key)
		case compareQueued(other, w) < 0:
			last[key] = w
		}
	}
	return list
}

// behind says that a workload waits behind one whose LocalQueue has used less.
func (u usages) behind(w, first *workload) *UsedMore {
	return &UsedMore{First: first.ref(), Used: *u.of(w), FirstUsed: *u.of(first)}
}

// localQueues returns what the LocalQueues have used whose workloads a cycle may try, the least first, as many as a reader wants.
func (u usages) localQueues(active []*workload) (list []LocalQueueUsage) {
	if u == nil {
		return nil
	}
	seen := make(map[types.NamespacedName]bool)
	var firsts []*workload
	for _, w := range active {
		if !seen[w.localQueue()] {
			seen[w.localQueue()] = true
			firsts = append(firsts, w)
		}
	}
	slices.SortStableFunc(firsts, u.compare)
	for _, w := range firsts[:min(len(firsts), mostLocalQueues)] {
		if used := u.of(w); used != nil {
			list = append(list, *used)
		}
	}
	return list
}

// mostLocalQueues bounds what a ledger entry says of LocalQueues.
const mostLocalQueues = 8
