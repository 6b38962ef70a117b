package admission

import (
	"time"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
)

// Record is the ledger entry of one cycle, or of a problem. It shares nothing with the State that made it, so it
// may be kept.
type Record struct {
	// Cycle counts from 1 in each State.
	Cycle int64     `json:"cycle"`
	Time  time.Time `json:"time"`
	// Heads are in the order in which they were processed. Those that were refused before any
	// flavor was tried come last.
	Heads []Head `json:"heads"`
	// Problem is set in an entry of its own, which has no heads: what keeps the controllers from doing
	// what admission decided.
	Problem *Problem `json:"problem,omitempty"`
	// Decisions are what the caller has to write, in order. The ledger leaves them out: each
	// is said by the head that it follows from.
	Decisions []Decision `json:"-"`
}

// Problem is an error of the controllers, once for each cause.
type Problem struct {
	// Kind, Namespace and Name are of the object that they cannot go on with.
	Kind      string `json:"kind"`
	Namespace string `json:"namespace,omitempty"`
	Name      string `json:"name"`
	// Workload names the object's workload; empty if it has none.
	Workload string `json:"workload,omitempty"`
	Message  string `json:"message"`
	// Count is how often the controllers have tried in vain, Since when they first did.
	Count int       `json:"count"`
	Since time.Time `json:"since"`
	// Over means that they succeeded in the end.
	Over bool `json:"over,omitempty"`
}

type Ref struct {
	Namespace string    `json:"namespace"`
	Name      string    `json:"name"`
	UID       types.UID `json:"uid,omitempty"`
}

func (r Ref) Key() types.NamespacedName {
	return types.NamespacedName{Namespace: r.Namespace, Name: r.Name}
}

// Outcome is what a cycle did with a head.
type Outcome string

// The outcomes.
const (
	// Reserved means that the workload got its quota. It is admitted once its checks agree,
	// at once without any.
	Reserved Outcome = "Reserved"
	// Preempting means that workloads are evicted for it. It holds no quota yet.
	Preempting Outcome = "Preempting"
	// Skipped means that a flavor was found, and another head took the quota first.
	Skipped Outcome = "Skipped"
	// Refused means that no flavor was found, or that none was looked for.
	Refused Outcome = "Refused"
	// Blocked means that the head waits until the pods of admitted workloads are ready.
	Blocked Outcome = "Blocked"
)

// Head is what one cycle did with one workload.
type Head struct {
	Workload     Ref    `json:"workload"`
	LocalQueue   string `json:"localQueue"`
	ClusterQueue string `json:"clusterQueue"`
	// Cohorts are those above the ClusterQueue, the nearest first; empty without a cohort.
	Cohorts  []string `json:"cohorts,omitempty"`
	Priority int32    `json:"priority"`
	// QueuedSince orders workloads of one priority.
	QueuedSince time.Time `json:"queuedSince"`
	// LocalQueues are those of the ClusterQueue with workloads to try, the one that has used least first, at most 8; empty if they
	// are not ordered by it. The head is of one that has used least.
	LocalQueues []LocalQueueUsage `json:"localQueues,omitempty"`
	// Order is the place in the order of processing, from 1; 0 if no flavor was looked for.
	Order int `json:"order,omitempty"`
	// Borrowing is the height of the lowest subtree that can hold the workload within its
	// quota: 0 the ClusterQueue, 1 its Cohort, and so on.
	Borrowing int `json:"borrowing"`
	// Shares are those that fair sharing ordered by; nil without fair sharing.
	Shares []NodeShare `json:"shares,omitempty"`
	// PodSets are the searches for flavors; empty if none was looked for.
	PodSets []PodSetSearch `json:"podSets,omitempty"`
	// Replaces is the workload of the same job in whose place this one comes. The searches are for what this one has more.
	Replaces *Ref `json:"replaces,omitempty"`
	// Counts are the pods for which quota was found where they are fewer than asked for.
	Counts map[string]int32 `json:"counts,omitempty"`
	// Victims are evicted for the workload. For Skipped heads they are those that it would
	// have evicted.
	Victims []Victim `json:"victims,omitempty"`
	// SpareCandidates counts the candidates that were left alone.
	SpareCandidates int     `json:"spareCandidates,omitempty"`
	Outcome         Outcome `json:"outcome"`
	// Condition is the reason of the workload's condition QuotaReserved.
	Condition string `json:"condition"`
	// Reason says the outcome as data. It is empty for Reserved.
	Reason Reason `json:"reason,omitzero"`
	// Parked means that the workload waits for an event rather than for the next cycle.
	Parked bool `json:"parked,omitempty"`
	// ParkedEquals are workloads of the same shape that were parked along, untried.
	ParkedEquals []Ref `json:"parkedEquals,omitempty"`
	// Reserves is the quota that was kept for the workload for the rest of the cycle,
	// although it found no victims.
	Reserves []Amount `json:"reserves,omitempty"`
}

// NodeShare is the share of a ClusterQueue or Cohort at one step of the tournament.
type NodeShare struct {
	// Node is a ClusterQueue for the first entry, and a Cohort for the others.
	Node string `json:"node"`
	// Share is in thousandths of what the parent could lend, divided by the weight.
	Share float64 `json:"share"`
	// Infinite means that the weight is 0 and the node borrows; Share is then unweighted.
	Infinite bool `json:"infinite,omitempty"`
	// WithinNominal means that the node would not borrow what is requested.
	WithinNominal bool `json:"withinNominal,omitempty"`
}

type PodSetSearch struct {
	Name  string `json:"name"`
	Count int32  `json:"count"`
	// Groups are the resource groups that were searched, in the order of the resources'
	// names.
	Groups []GroupSearch `json:"groups,omitempty"`
	// Reason says why there is no flavor for reasons other than a flavor's own.
	Reason Reason `json:"reason,omitzero"`
	// Topology is where the pods go; empty without topology-aware placement.
	Topology []DomainPods `json:"topology,omitempty"`
}

type GroupSearch struct {
	Resources []v1.ResourceName `json:"resources"`
	// From is the index of the flavor at which the search began: one after that at which the
	// previous attempt stopped.
	From int `json:"from"`
	// Flavors are those that were tried, in order.
	Flavors []FlavorTrial `json:"flavors"`
	// Chosen is the flavor with the best verdict; "" if none can do.
	Chosen string `json:"chosen,omitempty"`
	// More means that flavors are left, so the next attempt begins there.
	More bool `json:"more,omitempty"`
	// Untried are the flavors after the one at which the search stopped.
	Untried []string `json:"untried,omitempty"`
}

// Mode is the verdict on a flavor. A later one is better.
type Mode string

// The modes, from the worst to the best. NoCandidates lacks unused quota and would evict, and
// there is no workload to evict. Preempt evicts one of its own ClusterQueue, Reclaim only others.
const (
	NoFit        Mode = "NoFit"
	NoCandidates Mode = "NoCandidates"
	Preempt      Mode = "Preempt"
	Reclaim      Mode = "Reclaim"
	Fit          Mode = "Fit"
)

type FlavorTrial struct {
	Flavor string `json:"flavor"`
	Mode   Mode   `json:"mode"`
	// Borrowing is the highest level of its resources, as described at Head; 0 for NoFit.
	Borrowing int `json:"borrowing"`
	// Reasons say why the flavor does not fit cleanly.
	Reasons []Reason `json:"reasons,omitempty"`
	// Resources are the numbers; empty if taints, affinity or topology refused the flavor.
	Resources []ResourceTrial `json:"resources,omitempty"`
}

// ResourceTrial are the numbers by which a flavor was judged, in the resource's unit: thousandths
// of a core for cpu, bytes or pieces for the others.
type ResourceTrial struct {
	Resource v1.ResourceName `json:"resource"`
	// Requested is for all pods of the pod set. Earlier is what pods sets before it took.
	Requested int64 `json:"requested"`
	Earlier   int64 `json:"earlier,omitempty"`
	Nominal   int64 `json:"nominal"`
	Used      int64 `json:"used"`
	// Available is what may be taken now, borrowed quota included. It is negative after a cut.
	Available int64 `json:"available"`
	// Potential is what the ClusterQueue could take if no other one used anything.
	Potential int64 `json:"potential"`
	Mode      Mode  `json:"mode"`
	Borrowing int   `json:"borrowing"`
}

// Amount is a quantity of one resource in one flavor, in the unit of ResourceTrial.
type Amount struct {
	Flavor   string          `json:"flavor"`
	Resource v1.ResourceName `json:"resource"`
	Value    int64           `json:"value"`
}

type Victim struct {
	Workload     Ref    `json:"workload"`
	ClusterQueue string `json:"clusterQueue"`
	Priority     int32  `json:"priority"`
	// Reason is that of the condition Preempted, such as InCohortReclamation.
	Reason string `json:"reason"`
	// AlreadyEvicted means that another cycle evicted it, and its pods have not ended yet.
	AlreadyEvicted bool `json:"alreadyEvicted,omitempty"`
	// Frees is what it uses of the flavors and resources that are short.
	Frees []Amount `json:"frees,omitempty"`
	// Used is what its LocalQueue has used, if that orders the candidates of its ClusterQueue: the most is evicted first.
	Used *LocalQueueUsage `json:"used,omitempty"`
}

// LocalQueueUsage is what a LocalQueue has used, for admission fair sharing.
type LocalQueueUsage struct {
	Namespace string `json:"namespace"`
	Name      string `json:"name"`
	// Usage adds up the decaying averages of all resources, in cores, bytes or pieces times the weights of the resources, divided
	// by the weight of the LocalQueue. Workloads that have quota and are not admitted yet count in advance.
	Usage float64 `json:"usage"`
	// Infinite means that the weight of the LocalQueue is 0 and it has used something; Usage is then 0.
	Infinite bool `json:"infinite,omitempty"`
}

type DomainPods struct {
	// Values are the domain's node labels, from the widest level to the narrowest.
	Values []string `json:"values"`
	Pods   int32    `json:"pods"`
}
