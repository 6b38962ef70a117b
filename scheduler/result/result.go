// Package result holds the value types of one scheduling cycle: every plugin's answer
// for the pod and for each evaluated node, the chosen node, and the nodes that were
// not evaluated. It is the hinge between the scheduler, the server and the browser.
//
// A Cycle is immutable once its producer has handed it out. In memory it is
// columnar, so that a cycle over 5,000 nodes stays small; its JSON form is the
// public contract, in canonical order (nodes by name, plugins in the order in which
// they ran).
//
// The package knows nothing of the scheduler that produced a cycle or of its readers.
// It may import only k8s.io/apimachinery.
package result

import (
	"encoding/json"
	"time"

	"k8s.io/apimachinery/pkg/types"
)

// Outcome says how a cycle ended.
type Outcome string

const (
	// Scheduled: the pod was bound to SelectedNode.
	Scheduled Outcome = "scheduled"
	// Unschedulable: no node fits, or a plugin rejected the pod.
	Unschedulable Outcome = "unschedulable"
	// Waiting: a node was selected and a Permit plugin holds the pod. The recorder publishes the
	// attempt again when the wait ends.
	Waiting Outcome = "waiting"
	// Error: a plugin, an extender or the API server failed.
	Error Outcome = "error"
)

// Outcomes lists every outcome, in the order for display.
var Outcomes = []Outcome{Scheduled, Unschedulable, Waiting, Error}

// Valid reports whether o is one of Outcomes.
func (o Outcome) Valid() bool {
	for _, known := range Outcomes {
		if o == known {
			return true
		}
	}
	return false
}

// Pod identifies the pod of a cycle. A recreated pod of the same name has a
// different UID and its own attempts.
type Pod struct {
	Namespace string    `json:"namespace"`
	Name      string    `json:"name"`
	UID       types.UID `json:"uid"`
}

// Owner is the workload that a pod belongs to.
type Owner struct {
	Kind string `json:"kind"`
	Name string `json:"name"`
}

// String returns the form that Query.Owner has, such as Deployment/web; it is empty for nil.
func (o *Owner) String() string {
	if o == nil {
		return ""
	}
	return o.Kind + "/" + o.Name
}

// NodeCounts says how far the search went. Total-Evaluated nodes were not
// evaluated, which is not the same as rejected.
type NodeCounts struct {
	// Total is the number of nodes in the scheduler's snapshot.
	Total int `json:"total"`
	// Evaluated counts the nodes for which at least one Filter plugin ran. It is 0 when a plugin
	// rejected the pod before Filter, unless the cycle is hypothetical.
	Evaluated int `json:"evaluated"`
	// Feasible counts the nodes that passed every Filter plugin and every extender.
	Feasible int `json:"feasible"`
	// Wanted is the number of feasible nodes at which the search stops: 1 when nothing scores
	// nodes, and when the node that was tried first fits; 0 when the search did not start.
	Wanted int `json:"wanted,omitempty"`
}

// Summary is one line about a cycle.
type Summary struct {
	Pod Pod `json:"pod"`
	// Hypothetical: the cycle ran on a copy of the state. It placed and evicted no pod, evaluated
	// every node, and notes every plugin that rejects a node. The pod may not exist. Outcome is
	// what it would be as far as Filter, Score and PostFilter decide it.
	Hypothetical bool `json:"hypothetical,omitempty"`
	// Owner is the pod's controller, or the Deployment behind its ReplicaSet. It is nil when the
	// pod has none, and in records of earlier versions.
	Owner *Owner `json:"owner,omitempty"`
	// Attempt counts the cycles of this pod's UID, from 1.
	Attempt int `json:"attempt"`
	// Profile is the scheduler name of the profile that tried the pod.
	Profile string `json:"profile"`
	// Revision is the number of the scheduler configuration that the cycle ran under,
	// from 1; 0 when it is unknown.
	Revision  int       `json:"revision,omitempty"`
	StartTime time.Time `json:"startTime"`
	// Updates counts how often the recorder published the attempt again, after a wait for a permit
	// or the eviction of victims.
	Updates int `json:"updates,omitempty"`
	// DurationSeconds spans the scheduling cycle and the binding cycle.
	DurationSeconds float64 `json:"durationSeconds"`
	Outcome         Outcome `json:"outcome"`
	SelectedNode    string  `json:"selectedNode,omitempty"`
	NominatedNode   string  `json:"nominatedNode,omitempty"`
	Message         string  `json:"message,omitempty"`
	// Refusal is nil when the pod was scheduled, when no single plugin or extender kept
	// it from being scheduled, and in records of earlier versions.
	Refusal *Refusal   `json:"refusal,omitempty"`
	Nodes   NodeCounts `json:"nodes"`
}

// PluginResult is one plugin's answer at an extension point that runs once per pod.
type PluginResult struct {
	Plugin string `json:"plugin"`
	// Status is the framework's name of the status code: Success, Error,
	// Unschedulable, UnschedulableAndUnresolvable, Wait, Skip or Pending.
	Status  string   `json:"status"`
	Reasons []string `json:"reasons,omitempty"`
	// DurationSeconds is always measured.
	DurationSeconds float64 `json:"durationSeconds"`

	// Nodes, of PreFilter, are the only nodes that the plugin lets Filter see; nil means all.
	Nodes []string `json:"nodes,omitempty"`
	// NominatedNode, of PostFilter, is the node on which preemption made room.
	NominatedNode string `json:"nominatedNode,omitempty"`
	// TimeoutSeconds, of Permit, is how long the pod may wait.
	TimeoutSeconds float64 `json:"timeoutSeconds,omitempty"`
	// Parallel, of PreBindPreFlight: the plugin's PreBind may run beside those of
	// its neighbours.
	Parallel bool `json:"parallel,omitempty"`
}

// ExtensionPoint is one extension point that ran, with the total time of its
// plugins.
type ExtensionPoint struct {
	Name            string  `json:"name"`
	DurationSeconds float64 `json:"durationSeconds"`
}

// Cycle is the complete record of one attempt to schedule one pod. Extension points
// that did not run are nil.
type Cycle struct {
	Summary

	Queue *Queue `json:"queue,omitempty"`
	// Hint is nil when opportunistic batching had none.
	Hint *Hint `json:"hint,omitempty"`
	// Nomination is nil when the pod had no nominated node at the start of the cycle.
	Nomination *Nomination `json:"nomination,omitempty"`
	// PodGroup is nil when the pod was not scheduled as part of a group.
	PodGroup *PodGroup `json:"podGroup,omitempty"`

	// ExtensionPoints lists those that ran, in order, with their durations.
	ExtensionPoints []ExtensionPoint `json:"extensionPoints,omitempty"`

	PreEnqueue          []PluginResult   `json:"preEnqueue,omitempty"`
	PreFilter           []PluginResult   `json:"preFilter,omitempty"`
	PreFilterExtensions []ExtensionCalls `json:"preFilterExtensions,omitempty"`
	Filter              *Filter          `json:"filter,omitempty"`
	PostFilter          []PluginResult   `json:"postFilter,omitempty"`
	// Preemption is nil when no plugin made dry runs.
	Preemption *Preemption    `json:"preemption,omitempty"`
	PreScore   []PluginResult `json:"preScore,omitempty"`
	Score      *Score         `json:"score,omitempty"`
	Reserve    []PluginResult `json:"reserve,omitempty"`
	Permit     []PluginResult `json:"permit,omitempty"`
	// PermitWait is nil when the pod did not wait.
	PermitWait *PermitWait `json:"permitWait,omitempty"`
	// PreBindPreFlight says which PreBind plugins have work to do. The scheduler asks before the
	// wait for a permit.
	PreBindPreFlight []PluginResult `json:"preBindPreFlight,omitempty"`
	// PreBind has the plugins in their order. Those that answered Skip in PreBindPreFlight keep
	// that answer, because their PreBind was not called.
	PreBind  []PluginResult `json:"preBind,omitempty"`
	Bind     []PluginResult `json:"bind,omitempty"`
	PostBind []PluginResult `json:"postBind,omitempty"`
	// Unreserve has the Reserve plugins in reverse, as called, when the pod lost its place again.
	// Unreserve has no answer, so each Status is Success.
	Unreserve []PluginResult `json:"unreserve,omitempty"`

	// Claims are the pod's ResourceClaims with the devices that they hold; nil when
	// the pod has none or was not bound.
	Claims []ClaimAllocation `json:"claims,omitempty"`

	Facts []Fact `json:"facts,omitempty"`
	// FactsDropped counts the facts beyond the bounds of a cycle.
	FactsDropped int `json:"factsDropped,omitempty"`

	// Extenders are the calls to scheduler extenders, in order. The prioritize calls run
	// concurrently; they are in the order of the extenders.
	Extenders []ExtenderCall `json:"extenders,omitempty"`

	// Panics are the calls of plugins and extenders that panicked, at most MaxPanics.
	Panics []Panic `json:"panics,omitempty"`
}

var (
	_ json.Marshaler   = (*Filter)(nil)
	_ json.Unmarshaler = (*Filter)(nil)
	_ json.Marshaler   = (*Score)(nil)
	_ json.Unmarshaler = (*Score)(nil)
)
