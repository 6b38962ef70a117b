package admission

import (
	"cmp"
	"encoding/json"
	"maps"
	"math"
	"slices"
	"strings"
	"time"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	resourcehelper "k8s.io/component-helpers/resource"
	kueue "sigs.k8s.io/kueue/apis/kueue/v1beta2"
)

type place string

const (
	// outside are workloads that wait for nothing that a cycle could give.
	outside place = "outside"
	// active are in the order of their queue, parked beside it.
	active   place = "active"
	parked   place = "parked"
	reserved place = "reserved"
)

type workload struct {
	object *kueue.Workload
	key    types.NamespacedName

	place place
	// queue is the ClusterQueue in which the workload waits or holds quota; "" outside.
	queue    string
	priority int32
	// since is the queue timestamp.
	since   time.Time
	podSets []podSet
	// uncounted says why the devices of the pods cannot be counted; the zero Reason if they can.
	uncounted Reason
	// shape is what equal workloads have in common; "" until it is needed.
	shape string

	// usage is the quota that is held, and since when.
	usage      amounts
	reservedAt time.Time
	domains    []domainUsage
	// admission is that of the usage.
	admission *kueue.Admission
	// penalty counts as used by the LocalQueue until the workload is admitted; nil for none.
	penalty thousandths
	// assumed means that a Reserve has not been seen in the object yet, and evicting that an
	// Evict has not. replaced means the same of a Replace.
	assumed, evicting, replaced bool

	// last is what the latest cycle said. waits is why the workload is parked or outside.
	last  verdict
	waits Reason
	// progress is where the search for flavors goes on.
	progress progress
}

// verdict is what a cycle said about a workload that it did not admit.
type verdict struct {
	cycle     int64
	condition string
	reason    Reason
}

// progress remembers the flavors at which the latest search stopped.
type progress struct {
	cycle      int64
	generation int64
	// next is the index of the flavor to begin with, by pod set and resource.
	next []map[v1.ResourceName]int
}

// left reports whether flavors are left to try.
func (p progress) left() bool {
	for _, podSet := range p.next {
		for _, index := range podSet {
			if index > 0 {
				return true
			}
		}
	}
	return false
}

type podSet struct {
	name     string
	spec     *v1.PodSpec
	count    int32
	minCount *int32
	topology *kueue.PodSetTopologyRequest
	// each are the requests of one pod that count against quota, and pod those that count on
	// a node.
	each, pod map[v1.ResourceName]int64
}

func (p podSet) total(count int32) map[v1.ResourceName]int64 {
	total := make(map[v1.ResourceName]int64, len(p.each))
	for name, v := range p.each {
		total[name] = v * int64(count)
	}
	return total
}

// read computes the requests of a workload's pod sets: overhead is added, limits stand in for
// missing requests, and LimitRange defaults fill what is still missing.
func (s *State) read(of *workload) {
	w := of.object
	podSets := make([]podSet, 0, len(w.Spec.PodSets))
	of.uncounted = Reason{}
	for i := range w.Spec.PodSets {
		spec := &w.Spec.PodSets[i]
		requests := s.podRequests(w.Namespace, &spec.Template.Spec)
		p := podSet{
			name: string(spec.Name), spec: &spec.Template.Spec, count: spec.Count, minCount: spec.MinCount, topology: spec.TopologyRequest,
			each: s.quotaRequests(requests), pod: make(map[v1.ResourceName]int64, len(requests)),
		}
		if p.name == "" {
			p.name = string(kueue.DefaultPodSetName)
		}
		for name, q := range requests {
			p.pod[name] = valueOf(name, q)
		}
		if why := s.countDevices(w.Namespace, i, p); !why.IsZero() && of.uncounted.IsZero() {
			of.uncounted = why
		}
		podSets = append(podSets, p)
	}
	of.podSets, of.shape = podSets, ""
}

func (s *State) podRequests(namespace string, spec *v1.PodSpec) v1.ResourceList {
	filled := *spec
	filled.InitContainers = s.fillRequests(namespace, spec.InitContainers)
	filled.Containers = s.fillRequests(namespace, spec.Containers)
	return resourcehelper.PodRequests(&v1.Pod{Spec: filled}, resourcehelper.PodResourcesOptions{})
}

func (s *State) fillRequests(namespace string, containers []v1.Container) []v1.Container {
	filled := slices.Clone(containers)
	for i := range filled {
		requests := make(v1.ResourceList)
		maps.Copy(requests, s.defaultRequests(namespace))
		maps.Copy(requests, filled[i].Resources.Limits)
		maps.Copy(requests, filled[i].Resources.Requests)
		filled[i].Resources.Requests = requests
	}
	return filled
}

// quotaRequests turns a pod's requests into those that count against quota.
func (s *State) quotaRequests(requests v1.ResourceList) map[v1.ResourceName]int64 {
	quota := make(map[v1.ResourceName]int64, len(requests))
	for name, q := range requests {
		if slices.ContainsFunc(s.settings.ExcludeResourcePrefixes, func(prefix string) bool { return strings.HasPrefix(string(name), prefix) }) {
			continue
		}
		i := slices.IndexFunc(s.settings.Transformations, func(t Transformation) bool { return t.Input == name })
		if i < 0 {
			quota[name] += valueOf(name, q)
			continue
		}
		transformation := s.settings.Transformations[i]
		if !transformation.Replace {
			quota[name] += valueOf(name, q)
		}
		factor := q.AsApproximateFloat64()
		if by := transformation.MultiplyBy; by != "" {
			multiplier := requests[by]
			factor *= multiplier.AsApproximateFloat64()
		}
		for output, each := range transformation.Outputs {
			amount := factor * each.AsApproximateFloat64()
			if output == v1.ResourceCPU {
				amount *= 1000
			}
			quota[output] += int64(math.Ceil(amount))
		}
	}
	return quota
}

// shapeOf returns what workloads that would be treated alike have in common.
func (w *workload) shapeOf() string {
	if w.shape != "" {
		return w.shape
	}
	type podSetShape struct {
		Each         map[v1.ResourceName]int64
		Count        int32
		MinCount     *int32
		Topology     *kueue.PodSetTopologyRequest
		NodeSelector map[string]string
		Affinity     *v1.Affinity
		Tolerations  []v1.Toleration
	}
	shape := struct {
		Priority int32
		// Replaces are workloads of different jobs, so those that have it are never equal.
		Replaces string
		PodSets  []podSetShape
	}{Priority: w.priority, Replaces: w.object.Annotations[ReplacementFor]}
	for _, p := range w.podSets {
		shape.PodSets = append(shape.PodSets, podSetShape{p.each, p.count, p.minCount, p.topology, p.spec.NodeSelector, p.spec.Affinity, p.spec.Tolerations})
	}
	// A struct of plain values always marshals.
	data, _ := json.Marshal(shape)
	w.shape = string(data)
	return w.shape
}

func (w *workload) ref() Ref {
	return Ref{Namespace: w.key.Namespace, Name: w.key.Name, UID: w.object.UID}
}

func (w *workload) localQueue() types.NamespacedName {
	return types.NamespacedName{Namespace: w.key.Namespace, Name: string(w.object.Spec.QueueName)}
}

// evicted reports whether the workload holds quota only until its job has stopped.
func (w *workload) evicted() bool {
	return w.evicting || meta.IsStatusConditionTrue(w.object.Status.Conditions, kueue.WorkloadEvicted)
}

// usageOf counts the quota of an admission: the requests of the admitted pods that have not been
// reclaimed, in their flavors.
func usageOf(podSets []podSet, admission *kueue.Admission, reclaimable []kueue.ReclaimablePod) amounts {
	usage := make(amounts)
	for i := range admission.PodSetAssignments {
		assigned := &admission.PodSetAssignments[i]
		for name, amount := range heldBy(podSets, assigned, reclaimable) {
			usage.add(amounts{{string(assigned.Flavors[name]), name}: amount})
		}
	}
	return usage
}

// heldBy is the quota that one pod set of an admission holds. It is that of no more pods than are left of the pod set: a job
// may have become smaller since.
func heldBy(podSets []podSet, assigned *kueue.PodSetAssignment, reclaimable []kueue.ReclaimablePod) map[v1.ResourceName]int64 {
	i := slices.IndexFunc(podSets, func(p podSet) bool { return p.name == string(assigned.Name) })
	if i < 0 {
		return nil
	}
	admitted := podSets[i].count
	if assigned.Count != nil {
		admitted = *assigned.Count
	}
	count := min(admitted, max(0, podSets[i].count-reclaimed(reclaimable, string(assigned.Name))))
	held := make(map[v1.ResourceName]int64, len(assigned.Flavors))
	for name := range assigned.Flavors {
		each, known := podSets[i].each[name]
		if name == v1.ResourcePods {
			each, known = 1, true
		}
		if total := assigned.ResourceUsage[name]; !known && admitted > 0 {
			each = valueOf(name, total) / int64(admitted) // of devices that are no longer counted
		}
		held[name] = each * int64(count)
	}
	return held
}

func reclaimed(reclaimable []kueue.ReclaimablePod, name string) int32 {
	for _, r := range reclaimable {
		if string(r.Name) == name {
			return r.Count
		}
	}
	return 0
}

func priorityOf(w *kueue.Workload) int32 {
	if w.Spec.Priority == nil {
		return 0
	}
	return *w.Spec.Priority
}

// queueTimestamp is the creation in whole seconds, or a later eviction that sends the workload to
// the back: by pods that were not ready in time, or by an admission check. Preemption keeps the
// place.
func (s *State) queueTimestamp(w *kueue.Workload) time.Time {
	evicted := meta.FindStatusCondition(w.Status.Conditions, kueue.WorkloadEvicted)
	if evicted == nil || evicted.Status != metav1.ConditionTrue {
		return w.CreationTimestamp.Time
	}
	waits := s.settings.WaitForPodsReady
	if evicted.Reason == reasonPodsReadyTimeout && (waits == nil || !waits.RequeueByCreation) || evicted.Reason == reasonAdmissionCheck {
		return evicted.LastTransitionTime.Time
	}
	return w.CreationTimestamp.Time
}

// compareQueued is the order of a queue, apart from its sticky workload.
func compareQueued(a, b *workload) int {
	if a.priority != b.priority {
		return cmp.Compare(b.priority, a.priority)
	}
	if c := a.since.Compare(b.since); c != 0 {
		return c
	}
	return cmp.Or(cmp.Compare(a.object.UID, b.object.UID), compareKeys(a.key, b.key))
}
