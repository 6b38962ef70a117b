// Package suggest finds what would let a workload in that waits: a change of the workload itself, more quota, the end of
// others, a queue that is resumed. It tries each on a copy of what admission knows, so that what it returns is true of that
// copy: nothing else arrives or ends, and what is evicted stops at once.
//
// It changes nothing but copies. It may import simulator/batch/kueue/admission, simulator/batch/kueue/forward and Kueue's
// API package.
package suggest

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"sort"
	"strings"
	"time"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"
	kueue "sigs.k8s.io/kueue/apis/kueue/v1beta2"

	"kube-scheduler-simulator/simulator/batch/kueue/admission"
	"kube-scheduler-simulator/simulator/batch/kueue/forward"
)

// Kind says what a suggestion changes.
type Kind string

// The kinds. Those for which Own is true change the workload itself, so its submitter can make them.
const (
	// Pods is fewer pods in a pod set: the most that get in.
	Pods Kind = "pods"
	// Flavor lets the pods use a flavor: they tolerate its taints, and select nothing that it does not have.
	Flavor Kind = "flavor"
	// Queue is another LocalQueue of the namespace.
	Queue Kind = "queue"
	// Request is less of one resource for each pod: the most that gets in.
	Request Kind = "request"
	// Priority is the lowest priority that is enough.
	Priority Kind = "priority"
	// Quota is more nominal quota in the workload's own ClusterQueue.
	Quota Kind = "quota"
	// Finish is the end of workloads that hold quota.
	Finish Kind = "finish"
	// Resume starts a stopped LocalQueue or ClusterQueue again.
	Resume Kind = "resume"
)

// Own reports whether the change is one of the workload itself.
func (k Kind) Own() bool {
	switch k {
	case Pods, Flavor, Queue, Request, Priority:
		return true
	}
	return false
}

// Suggestion is a change after which the workload gets quota. Only the fields of its kind are set.
type Suggestion struct {
	Kind Kind `json:"kind"`
	// ClusterQueue, Flavor and Quota are those of the kind quota: the amounts to add. Flavor is also that of the kind
	// flavor, and ClusterQueue that of the kind resume.
	ClusterQueue string            `json:"clusterQueue,omitempty"`
	Flavor       string            `json:"flavor,omitempty"`
	Quota        map[string]string `json:"quota,omitempty"`
	// Workload is that of the kind finish. Others must end with it.
	Workload *admission.Ref  `json:"workload,omitempty"`
	Others   []admission.Ref `json:"others,omitempty"`
	// LocalQueue is that of the kinds queue and resume.
	LocalQueue string `json:"localQueue,omitempty"`
	// PodSet has Count pods, or requests so much of Resource in each, for the kinds pods and request.
	PodSet   string          `json:"podSet,omitempty"`
	Count    int32           `json:"count,omitempty"`
	Resource v1.ResourceName `json:"resource,omitempty"`
	Amount   string          `json:"amount,omitempty"`
	// Tolerations are to be added, and Selectors, keys of node selectors, to be left out, for the kind flavor.
	Tolerations []v1.Toleration `json:"tolerations,omitempty"`
	Selectors   []string        `json:"selectors,omitempty"`
	Priority    *int32          `json:"priority,omitempty"`
}

// String says the change in English, as the condition of "would be admitted if".
func (s Suggestion) String() string {
	switch s.Kind {
	case Pods:
		return fmt.Sprintf("pod set %s had %d pods", s.PodSet, s.Count)
	case Request:
		return fmt.Sprintf("each pod of pod set %s requested %s %s", s.PodSet, s.Amount, s.Resource)
	case Queue:
		return fmt.Sprintf("it were in the LocalQueue %s", s.LocalQueue)
	case Priority:
		return fmt.Sprintf("its priority were %d", *s.Priority)
	case Flavor:
		var how []string
		for _, t := range s.Tolerations {
			how = append(how, fmt.Sprintf("tolerated the taint %s=%s:%s", t.Key, t.Value, t.Effect))
		}
		if len(s.Selectors) > 0 {
			how = append(how, "did not select nodes by "+strings.Join(s.Selectors, ", "))
		}
		return fmt.Sprintf("its pods %s, for flavor %s", strings.Join(how, " and "), s.Flavor)
	case Quota:
		var more []string
		for _, name := range slices.Sorted(maps.Keys(s.Quota)) {
			more = append(more, s.Quota[name]+" "+name)
		}
		return fmt.Sprintf("nominalQuota of flavor %s in ClusterQueue %s were %s more", s.Flavor, s.ClusterQueue, strings.Join(more, ", "))
	case Resume:
		if s.LocalQueue != "" {
			return fmt.Sprintf("LocalQueue %s were resumed", s.LocalQueue)
		}
		return fmt.Sprintf("ClusterQueue %s were resumed", s.ClusterQueue)
	}
	names := []string{s.Workload.Name}
	for _, w := range s.Others {
		names = append(names, w.Name)
	}
	return strings.Join(names, ", ") + " ended"
}

// Answer has what would let a workload in.
type Answer struct {
	// Admits means that the workload gets quota without any change.
	Admits      bool         `json:"admits"`
	Suggestions []Suggestion `json:"suggestions"`
	// Complete means that everything was tried.
	Complete bool `json:"complete"`
}

type Question struct {
	// State is copied, and not changed.
	State    *admission.State
	Workload types.NamespacedName
	Now      time.Time
	// Own asks for changes of the workload itself only.
	Own bool
}

const (
	// tries bounds how many workloads are taken away, one at a time, and flavors and queues that are tried.
	tries = 60
	// most is how many suggestions of each kind are returned.
	most = 5
	// widest is how many times its own request a workload may need in more quota, if others are before it.
	widest = 64
)

// Ask answers a question. ok is false for a workload that is unknown, holds quota or has finished. When ctx ends, it
// returns what it has found.
func Ask(ctx context.Context, q Question) (answer Answer, ok bool) {
	a := &asking{Question: q, ctx: ctx, object: q.State.Workload(q.Workload)}
	if a.object == nil || holds(a.object) || meta.IsStatusConditionTrue(a.object.Status.Conditions, kueue.WorkloadFinished) {
		return Answer{}, false
	}
	answer.Suggestions = []Suggestion{}
	if a.admits(func(*admission.State) {}) {
		answer.Admits, answer.Complete = true, true
		return answer, true
	}
	if local := q.State.LocalQueue(types.NamespacedName{Namespace: a.object.Namespace, Name: string(a.object.Spec.QueueName)}); local != nil {
		a.local, a.queue = local, q.State.ClusterQueue(string(local.Spec.ClusterQueue))
	}
	a.own()
	if !q.Own && a.queue != nil {
		a.resume()
		a.quota()
		a.finish()
	}
	answer.Suggestions = append(answer.Suggestions, a.found...)
	answer.Complete = !a.cut && ctx.Err() == nil
	return answer, true
}

type asking struct {
	Question
	ctx    context.Context
	object *kueue.Workload
	// local and queue are nil if they do not exist.
	local *kueue.LocalQueue
	queue *kueue.ClusterQueue
	found []Suggestion
	// cut means that a bound ended a search.
	cut bool
}

func holds(w *kueue.Workload) bool {
	return meta.IsStatusConditionTrue(w.Status.Conditions, kueue.WorkloadQuotaReserved)
}

// admits reports whether the workload gets quota after a change of a copy.
func (a *asking) admits(change func(*admission.State)) bool {
	state := a.State.Clone()
	change(state)
	how, _ := forward.Admits(a.ctx, state, a.Workload, a.Now)
	return how != nil
}

// admitsAs reports whether the workload gets quota as the suggestion changes it.
func (a *asking) admitsAs(s Suggestion) bool {
	return a.admits(func(state *admission.State) {
		state.SetWorkload(s.Changed(a.object), a.Now)
	})
}

// Changed returns a copy of a workload with the change, which is one of its Own.
func (s Suggestion) Changed(w *kueue.Workload) *kueue.Workload {
	w = w.DeepCopy()
	switch s.Kind {
	case Queue:
		w.Spec.QueueName = kueue.LocalQueueName(s.LocalQueue)
	case Priority:
		w.Spec.Priority = s.Priority
	}
	for i := range w.Spec.PodSets {
		set := &w.Spec.PodSets[i]
		spec := &set.Template.Spec
		switch {
		case s.Kind == Flavor:
			spec.Tolerations = append(spec.Tolerations, s.Tolerations...)
			for _, key := range s.Selectors {
				delete(spec.NodeSelector, key)
			}
		case string(set.Name) != s.PodSet:
		case s.Kind == Pods:
			set.Count, set.MinCount = s.Count, nil
		case s.Kind == Request:
			lower(spec, s.Resource, resource.MustParse(s.Amount))
		}
	}
	return w
}

// lower takes from the largest container what the others leave of an amount.
func lower(spec *v1.PodSpec, name v1.ResourceName, amount resource.Quantity) {
	at, left := -1, amount.DeepCopy()
	for i, c := range spec.Containers {
		if at < 0 || valueOf(name, c.Resources.Requests[name]) > valueOf(name, spec.Containers[at].Resources.Requests[name]) {
			at = i
		}
	}
	if at < 0 {
		return
	}
	for i, c := range spec.Containers {
		if i != at {
			left.Sub(c.Resources.Requests[name])
		}
	}
	resources := &spec.Containers[at].Resources
	if left.Sign() < 0 {
		left = resource.Quantity{}
	}
	resources.Requests[name] = left
	if limit, limited := resources.Limits[name]; limited && limit.Cmp(left) != 0 && name != v1.ResourceCPU && name != v1.ResourceMemory {
		resources.Limits[name] = left // requests and limits of other resources are equal
	}
}

// own looks for changes of the workload itself.
func (a *asking) own() {
	for i := range a.object.Spec.PodSets {
		a.pods(&a.object.Spec.PodSets[i])
	}
	for i := range a.object.Spec.PodSets {
		a.request(&a.object.Spec.PodSets[i])
	}
	a.flavors()
	a.queues()
	if a.queue != nil {
		a.priority()
	}
}

// pods looks for the largest number of pods with which the workload gets in.
func (a *asking) pods(set *kueue.PodSet) {
	change := func(count int32) Suggestion {
		return Suggestion{Kind: Pods, PodSet: string(set.Name), Count: count}
	}
	fewer := sort.Search(max(0, int(set.Count-1)), func(n int) bool { return a.admitsAs(change(set.Count - 1 - int32(n))) })
	if count := set.Count - 1 - int32(fewer); count > 0 && a.admitsAs(change(count)) {
		a.found = append(a.found, change(count))
	}
}

// request looks for the largest request of each resource with which the workload gets in.
func (a *asking) request(set *kueue.PodSet) {
	each := requestsOf(set)
	for _, name := range sorted(each) {
		unit := unitOf(name)
		change := func(units int64) Suggestion {
			return Suggestion{Kind: Request, PodSet: string(set.Name), Resource: name, Amount: quantity(name, units*unit).String()}
		}
		now := each[name] / unit
		less := int64(sort.Search(max(0, int(now-1)), func(n int) bool { return a.admitsAs(change(now - 1 - int64(n))) }))
		if units := now - 1 - less; units > 0 && a.admitsAs(change(units)) {
			a.found = append(a.found, change(units))
		}
	}
}

// flavors tries to tolerate the taints of each flavor of the queue, and to select nothing that it does not have.
func (a *asking) flavors() {
	if a.queue == nil {
		return
	}
	found := 0
	for _, group := range a.queue.Spec.ResourceGroups {
		for _, quotas := range group.Flavors {
			flavor := a.State.Flavor(string(quotas.Name))
			if flavor == nil || found == most {
				continue
			}
			s := Suggestion{Kind: Flavor, Flavor: flavor.Name}
			for _, taint := range flavor.Spec.NodeTaints {
				if !a.tolerated(&taint, flavor) {
					s.Tolerations = append(s.Tolerations, v1.Toleration{Key: taint.Key, Operator: v1.TolerationOpEqual, Value: taint.Value, Effect: taint.Effect})
				}
			}
			for key, value := range flavor.Spec.NodeLabels {
				if slices.ContainsFunc(a.object.Spec.PodSets, func(set kueue.PodSet) bool {
					selected, selects := set.Template.Spec.NodeSelector[key]
					return selects && selected != value
				}) {
					s.Selectors = append(s.Selectors, key)
				}
			}
			slices.Sort(s.Selectors)
			if len(s.Tolerations)+len(s.Selectors) > 0 && a.admitsAs(s) {
				a.found = append(a.found, s)
				found++
			}
		}
	}
}

// tolerated reports whether a flavor, or every pod set, tolerates a taint.
func (a *asking) tolerated(taint *v1.Taint, flavor *kueue.ResourceFlavor) bool {
	tolerates := func(tolerations []v1.Toleration) bool {
		return slices.ContainsFunc(tolerations, func(t v1.Toleration) bool {
			return (t.Key == taint.Key || t.Key == "") && (t.Effect == "" || t.Effect == taint.Effect) && (t.Operator == v1.TolerationOpExists || t.Value == taint.Value)
		})
	}
	return taint.Effect == v1.TaintEffectPreferNoSchedule || tolerates(flavor.Spec.Tolerations) ||
		!slices.ContainsFunc(a.object.Spec.PodSets, func(set kueue.PodSet) bool { return !tolerates(set.Template.Spec.Tolerations) })
}

// queues tries the other LocalQueues of the namespace, one for each ClusterQueue.
func (a *asking) queues() {
	tried := map[kueue.ClusterQueueReference]bool{}
	if a.local != nil {
		tried[a.local.Spec.ClusterQueue] = true
	}
	for _, local := range a.State.LocalQueues() {
		if local.Namespace != a.object.Namespace || tried[local.Spec.ClusterQueue] {
			continue
		}
		if len(tried) == tries {
			a.cut = true
			return
		}
		tried[local.Spec.ClusterQueue] = true
		if s := (Suggestion{Kind: Queue, LocalQueue: local.Name}); a.admitsAs(s) {
			a.found = append(a.found, s)
		}
	}
}

// priority looks for the lowest priority that is enough, among those just above others'.
func (a *asking) priority() {
	own := ptr.Deref(a.object.Spec.Priority, 0)
	var candidates []int32
	for _, w := range a.State.Workloads() {
		if p := ptr.Deref(w.Spec.Priority, 0); p >= own && p < 1<<30 && w != a.object && !meta.IsStatusConditionTrue(w.Status.Conditions, kueue.WorkloadFinished) {
			candidates = append(candidates, p+1)
		}
	}
	slices.Sort(candidates)
	candidates = slices.Compact(candidates)
	change := func(i int) Suggestion { return Suggestion{Kind: Priority, Priority: &candidates[i]} }
	if i := sort.Search(len(candidates), func(i int) bool { return a.admitsAs(change(i)) }); i < len(candidates) {
		a.found = append(a.found, change(i))
	}
}

func (a *asking) resume() {
	stopped := func(policy *kueue.StopPolicy) bool { return ptr.Deref(policy, kueue.None) != kueue.None }
	if local := a.local.DeepCopy(); stopped(local.Spec.StopPolicy) {
		local.Spec.StopPolicy = nil
		if a.admits(func(s *admission.State) { s.SetLocalQueue(local) }) {
			a.found = append(a.found, Suggestion{Kind: Resume, LocalQueue: local.Name})
		}
	}
	if queue := a.queue.DeepCopy(); stopped(queue.Spec.StopPolicy) {
		queue.Spec.StopPolicy = nil
		if a.admits(func(s *admission.State) { s.SetClusterQueue(queue) }) {
			a.found = append(a.found, Suggestion{Kind: Resume, ClusterQueue: queue.Name})
		}
	}
}

// quota finds how much more nominal quota each flavor would need.
func (a *asking) quota() {
	requests := map[v1.ResourceName]int64{}
	for i := range a.object.Spec.PodSets {
		set := &a.object.Spec.PodSets[i]
		requests[v1.ResourcePods] += int64(set.Count)
		for name, each := range requestsOf(set) {
			requests[name] += each * int64(set.Count)
		}
	}
	found := 0
	for g, group := range a.queue.Spec.ResourceGroups {
		for f, flavor := range group.Flavors {
			if a.ctx.Err() != nil || found == most {
				return
			}
			more := a.enough(g, f, group.CoveredResources, requests)
			if len(more) == 0 {
				continue
			}
			s := Suggestion{Kind: Quota, ClusterQueue: a.queue.Name, Flavor: string(flavor.Name), Quota: map[string]string{}}
			for name, amount := range more {
				if amount > 0 {
					s.Quota[string(name)] = quantity(name, amount).String()
				}
			}
			a.found = append(a.found, s)
			found++
		}
	}
}

// enough returns the least amounts that a flavor would need more of; none if no amount is enough.
func (a *asking) enough(group, flavor int, covered []v1.ResourceName, requests map[v1.ResourceName]int64) map[v1.ResourceName]int64 {
	more := map[v1.ResourceName]int64{}
	try := func() bool {
		return a.admits(func(s *admission.State) { s.SetClusterQueue(a.withMore(group, flavor, more)) })
	}
	enough := false
	for times := int64(1); times <= widest && !enough; times *= 2 {
		for _, name := range covered {
			if amount := requests[name]; amount > 0 {
				more[name] = amount * times
			}
		}
		if len(more) == 0 {
			return nil
		}
		enough = try()
	}
	if !enough {
		return nil
	}
	for _, name := range covered {
		unit := unitOf(name)
		units := (more[name] + unit - 1) / unit
		more[name] = unit * int64(sort.Search(int(units), func(n int) bool {
			more[name] = int64(n) * unit
			return try()
		}))
	}
	return more
}

// withMore returns a copy of the queue with more quota in one flavor. A limit on borrowing stays.
func (a *asking) withMore(group, flavor int, more map[v1.ResourceName]int64) *kueue.ClusterQueue {
	queue := a.queue.DeepCopy()
	resources := queue.Spec.ResourceGroups[group].Flavors[flavor].Resources
	for i := range resources {
		if amount := more[resources[i].Name]; amount > 0 {
			resources[i].NominalQuota.Add(*quantity(resources[i].Name, amount))
		}
	}
	return queue
}

// finish looks for workloads any one of whose ends would be enough, those of lower priority first; else for several that
// must end together.
func (a *asking) finish() {
	holders := slices.DeleteFunc(a.State.Workloads(), func(w *kueue.Workload) bool {
		return !holds(w) && !a.State.Holds(keyOf(w)) || meta.IsStatusConditionTrue(w.Status.Conditions, kueue.WorkloadFinished)
	})
	slices.SortStableFunc(holders, func(x, y *kueue.Workload) int {
		return cmp.Or(cmp.Compare(ptr.Deref(x.Spec.Priority, 0), ptr.Deref(y.Spec.Priority, 0)), y.CreationTimestamp.Compare(x.CreationTimestamp.Time))
	})
	if len(holders) > tries {
		holders, a.cut = holders[:tries], true
	}
	without := func(gone []*kueue.Workload) bool {
		return a.admits(func(s *admission.State) {
			for _, w := range gone {
				s.DeleteWorkload(keyOf(w))
			}
		})
	}
	found := 0
	for i := range holders {
		if found < most && without(holders[i:i+1]) {
			a.found = append(a.found, Suggestion{Kind: Finish, Workload: ref(holders[i])})
			found++
		}
	}
	if found > 0 || len(holders) < 2 || !without(holders) {
		return
	}
	needed := slices.Clone(holders[:sort.Search(len(holders), func(n int) bool { return without(holders[:n]) })])
	for i := len(needed) - 2; i >= 0; i-- {
		if rest := slices.Delete(slices.Clone(needed), i, i+1); without(rest) {
			needed = rest
		}
	}
	s := Suggestion{Kind: Finish, Workload: ref(needed[0])}
	for _, w := range needed[1:] {
		s.Others = append(s.Others, *ref(w))
	}
	a.found = append(a.found, s)
}

func ref(w *kueue.Workload) *admission.Ref {
	return &admission.Ref{Namespace: w.Namespace, Name: w.Name, UID: w.UID}
}

func keyOf(w metav1.Object) types.NamespacedName {
	return types.NamespacedName{Namespace: w.GetNamespace(), Name: w.GetName()}
}
