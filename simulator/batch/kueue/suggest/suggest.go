// Package suggest finds what would let a workload in that waits: more quota, or the end of another workload.
// It tries each on a copy of what admission knows, so that what it returns is true of that copy.
//
// It changes nothing but copies. It may import simulator/batch/kueue/admission and Kueue's API package.
package suggest

import (
	"cmp"
	"context"
	"slices"
	"time"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/types"
	kueue "sigs.k8s.io/kueue/apis/kueue/v1beta2"

	"kube-scheduler-simulator/simulator/batch/kueue/admission"
)

// Kind says what a suggestion changes.
type Kind string

// The kinds.
const (
	// Quota is more nominal quota in the workload's own ClusterQueue.
	Quota Kind = "quota"
	// Finish is the end of a workload that holds quota.
	Finish Kind = "finish"
)

// Suggestion is a change after which the workload gets quota.
type Suggestion struct {
	Kind Kind `json:"kind"`
	// ClusterQueue, Flavor and Quota are those of the kind quota: the amounts to add.
	ClusterQueue string            `json:"clusterQueue,omitempty"`
	Flavor       string            `json:"flavor,omitempty"`
	Quota        map[string]string `json:"quota,omitempty"`
	// Workload is that of the kind finish.
	Workload *admission.Ref `json:"workload,omitempty"`
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
	// Queue is the workload's ClusterQueue, Pods and Requests what it asks for, per resource, in the units of
	// admission.
	Queue    *kueue.ClusterQueue
	Requests map[v1.ResourceName]int64
	Holders  []*kueue.Workload
	Now      time.Time
}

const (
	// cycles is how many cycles a copy runs: enough for workloads that stand before the one in question.
	cycles = 100
	// step is the time between them. Kueue brings waiting workloads back a second after a change.
	step = 2 * time.Second
	// tries bounds how many workloads are taken away, one at a time.
	tries = 200
	// most is how many suggestions of each kind are returned.
	most = 5
)

// Ask answers a question. When ctx ends, it returns what it has found.
func Ask(ctx context.Context, q Question) Answer {
	answer := Answer{Suggestions: []Suggestion{}}
	if q.admits(func(*admission.State) {}) {
		answer.Admits, answer.Complete = true, true
		return answer
	}
	answer.Suggestions = append(answer.Suggestions, q.quota(ctx)...)
	finish, complete := q.finish(ctx)
	answer.Suggestions = append(answer.Suggestions, finish...)
	answer.Complete = complete && ctx.Err() == nil
	return answer
}

// admits reports whether the workload gets quota after a change of a copy.
func (q Question) admits(change func(*admission.State)) bool {
	state, now := q.State.Clone(), q.Now
	change(state)
	for range cycles {
		now = now.Add(step)
		record := state.Cycle(now)
		if record == nil {
			return false
		}
		moved := false
		for _, h := range record.Heads {
			if h.Outcome == admission.Reserved {
				moved = true
				if h.Workload.Key() == q.Workload {
					return true
				}
			}
			moved = moved || !h.Parked && h.Outcome == admission.Skipped || slices.ContainsFunc(h.PodSets, func(s admission.PodSetSearch) bool {
				return slices.ContainsFunc(s.Groups, func(g admission.GroupSearch) bool { return g.More })
			}) || h.Parked
		}
		if !moved {
			return false
		}
	}
	return false
}

// quota returns how much more nominal quota each flavor would need.
func (q Question) quota(ctx context.Context) (out []Suggestion) {
	for g, group := range q.Queue.Spec.ResourceGroups {
		for f, flavor := range group.Flavors {
			if ctx.Err() != nil || len(out) == most {
				return out
			}
			more := map[v1.ResourceName]int64{}
			for _, r := range group.CoveredResources {
				if amount := q.Requests[r]; amount > 0 {
					more[r] = amount
				}
			}
			try := func() bool {
				return q.admits(func(s *admission.State) { s.SetClusterQueue(q.withMore(g, f, more)) })
			}
			if len(more) == 0 || !try() {
				continue
			}
			for _, r := range group.CoveredResources {
				if more[r] == 0 {
					continue
				}
				unit := unitOf(r)
				least, enough := int64(0), (more[r]+unit-1)/unit
				for least < enough {
					middle := (least + enough) / 2
					if more[r] = middle * unit; try() {
						enough = middle
					} else {
						least = middle + 1
					}
				}
				more[r] = enough * unit
			}
			s := Suggestion{Kind: Quota, ClusterQueue: q.Queue.Name, Flavor: string(flavor.Name), Quota: map[string]string{}}
			for r, amount := range more {
				if amount > 0 {
					s.Quota[string(r)] = quantity(r, amount).String()
				}
			}
			out = append(out, s)
		}
	}
	return out
}

// unitOf is the smallest amount that is suggested, in the units of admission: a core, a mebibyte or a piece.
func unitOf(r v1.ResourceName) int64 {
	switch r {
	case v1.ResourceCPU:
		return 1000
	case v1.ResourceMemory, v1.ResourceEphemeralStorage:
		return 1 << 20
	}
	return 1
}

func quantity(r v1.ResourceName, amount int64) *resource.Quantity {
	switch r {
	case v1.ResourceCPU:
		return resource.NewMilliQuantity(amount, resource.DecimalSI)
	case v1.ResourceMemory, v1.ResourceEphemeralStorage:
		return resource.NewQuantity(amount, resource.BinarySI)
	}
	return resource.NewQuantity(amount, resource.DecimalSI)
}

// withMore returns a copy of the queue with more quota in one flavor. A limit on borrowing stays.
func (q Question) withMore(group, flavor int, more map[v1.ResourceName]int64) *kueue.ClusterQueue {
	queue := q.Queue.DeepCopy()
	queue.Generation++
	resources := queue.Spec.ResourceGroups[group].Flavors[flavor].Resources
	for i := range resources {
		if amount := more[resources[i].Name]; amount > 0 {
			resources[i].NominalQuota.Add(*quantity(resources[i].Name, amount))
		}
	}
	return queue
}

// finish returns the workloads any one of whose ends would be enough, those of lower priority first.
func (q Question) finish(ctx context.Context) (out []Suggestion, complete bool) {
	holders := slices.Clone(q.Holders)
	slices.SortFunc(holders, func(a, b *kueue.Workload) int {
		return cmp.Or(cmp.Compare(priority(a), priority(b)), b.CreationTimestamp.Compare(a.CreationTimestamp.Time), cmp.Compare(a.Name, b.Name))
	})
	for i, w := range holders {
		if len(out) == most {
			return out, true
		}
		if i == tries || ctx.Err() != nil {
			return out, false
		}
		key := types.NamespacedName{Namespace: w.Namespace, Name: w.Name}
		if q.admits(func(s *admission.State) { s.DeleteWorkload(key) }) {
			out = append(out, Suggestion{Kind: Finish, Workload: &admission.Ref{Namespace: w.Namespace, Name: w.Name, UID: w.UID}})
		}
	}
	return out, true
}

func priority(w *kueue.Workload) int32 {
	if w.Spec.Priority == nil {
		return 0
	}
	return *w.Spec.Priority
}
