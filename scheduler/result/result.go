// Package result holds the value types of one scheduling cycle: every plugin's answer
// about the pod and about each node that was evaluated, the node that was chosen, and
// the nodes that were not evaluated. It is the hinge between the scheduler, the server
// and the browser.
//
// A Cycle is immutable once it has left its producer. In memory it is
// columnar, so that a cycle over 5,000 nodes stays small; its JSON form is the
// public contract, in canonical order (nodes by name, plugins in the order in
// which they ran).
//
// The package knows neither the scheduler that produced a cycle nor the readers of it.
// It may import k8s.io/apimachinery only.
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
	// Waiting: a node was selected and a Permit plugin holds the pod. The same
	// attempt is published again when the wait has ended.
	Waiting Outcome = "waiting"
	// Error: a plugin, an extender or the API server failed.
	Error Outcome = "error"
)

// Outcomes lists every outcome in the order in which people ask for them.
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

// Pod identifies the pod of a cycle. A recreated pod of the same name has
// another UID, and its attempts are its own.
type Pod struct {
	Namespace string    `json:"namespace"`
	Name      string    `json:"name"`
	UID       types.UID `json:"uid"`
}

// NodeCounts says how far the search went. Total-Evaluated nodes were not
// evaluated, which is not the same as rejected.
type NodeCounts struct {
	// Total is the number of nodes in the scheduler's snapshot.
	Total int `json:"total"`
	// Evaluated nodes met at least one Filter plugin. It is 0 when the pod was
	// rejected before Filter ran.
	Evaluated int `json:"evaluated"`
	// Feasible nodes passed every Filter plugin and every extender.
	Feasible int `json:"feasible"`
	// Wanted is how many feasible nodes the search looks for: when it has found
	// them, it stops. 0 when the search did not start.
	Wanted int `json:"wanted,omitempty"`
}

// Summary is a cycle in a line.
type Summary struct {
	Pod Pod `json:"pod"`
	// Attempt counts the cycles of this pod's UID, from 1.
	Attempt int `json:"attempt"`
	// Profile is the scheduler name under which the pod was tried.
	Profile string `json:"profile"`
	// Revision is the number of the scheduler configuration that the cycle ran under,
	// from 1; 0 when it is not known.
	Revision  int       `json:"revision,omitempty"`
	StartTime time.Time `json:"startTime"`
	// DurationSeconds spans the scheduling cycle and the binding cycle.
	DurationSeconds float64 `json:"durationSeconds"`
	Outcome         Outcome `json:"outcome"`
	SelectedNode    string  `json:"selectedNode,omitempty"`
	NominatedNode   string  `json:"nominatedNode,omitempty"`
	Message         string  `json:"message,omitempty"`
	// Refusal is nil when the pod was scheduled, when no single plugin or extender kept
	// it from its place, and in records of earlier versions.
	Refusal *Refusal   `json:"refusal,omitempty"`
	Nodes   NodeCounts `json:"nodes"`
}

// PluginResult is one plugin's answer at an extension point that is asked once
// per pod.
type PluginResult struct {
	Plugin string `json:"plugin"`
	// Status is the framework's own name of the code: Success, Error,
	// Unschedulable, UnschedulableAndUnresolvable, Wait, Skip or Pending.
	Status          string   `json:"status"`
	Reasons         []string `json:"reasons,omitempty"`
	DurationSeconds float64  `json:"durationSeconds"`

	// Nodes is PreFilter's: the only nodes that the plugin lets Filter see.
	// nil means that it does not restrict them.
	Nodes []string `json:"nodes,omitempty"`
	// NominatedNode is PostFilter's: the node that preemption made room on.
	NominatedNode string `json:"nominatedNode,omitempty"`
	// TimeoutSeconds is Permit's: how long the pod may wait.
	TimeoutSeconds float64 `json:"timeoutSeconds,omitempty"`
}

// ExtensionPoint is one extension point that ran, with the time that all of
// its plugins took together.
type ExtensionPoint struct {
	Name            string  `json:"name"`
	DurationSeconds float64 `json:"durationSeconds"`
}

// Cycle holds everything that is known about one attempt to schedule one pod.
// Extension points that did not run are nil.
type Cycle struct {
	Summary

	Queue *Queue `json:"queue,omitempty"`
	// Hint is nil when opportunistic batching had none.
	Hint *Hint `json:"hint,omitempty"`
	// PodGroup is nil when the pod was tried alone.
	PodGroup *PodGroup `json:"podGroup,omitempty"`

	// ExtensionPoints lists those that ran, in order, with their durations.
	ExtensionPoints []ExtensionPoint `json:"extensionPoints,omitempty"`

	PreEnqueue []PluginResult `json:"preEnqueue,omitempty"`
	PreFilter  []PluginResult `json:"preFilter,omitempty"`
	Filter     *Filter        `json:"filter,omitempty"`
	PostFilter []PluginResult `json:"postFilter,omitempty"`
	// Preemption is nil when no plugin made dry runs.
	Preemption *Preemption    `json:"preemption,omitempty"`
	PreScore   []PluginResult `json:"preScore,omitempty"`
	Score      *Score         `json:"score,omitempty"`
	Reserve    []PluginResult `json:"reserve,omitempty"`
	Permit     []PluginResult `json:"permit,omitempty"`
	PreBind    []PluginResult `json:"preBind,omitempty"`
	Bind       []PluginResult `json:"bind,omitempty"`
	PostBind   []PluginResult `json:"postBind,omitempty"`

	// Claims are the pod's ResourceClaims with the devices that they hold; nil when
	// it has none, or was not bound.
	Claims []ClaimAllocation `json:"claims,omitempty"`

	// Facts are those that plugins attached themselves.
	Facts []Fact `json:"facts,omitempty"`
	// FactsDropped counts the facts beyond the bounds of a cycle.
	FactsDropped int `json:"factsDropped,omitempty"`

	// Extenders are the calls to scheduler extenders, in order. Those to prioritize
	// are made at the same time, and stand in the order of the extenders.
	Extenders []ExtenderCall `json:"extenders,omitempty"`
}

// Size estimates the bytes that c holds in memory, for bounding a store.
// Strings that cycles share (node names, reasons of a verdict) count once
// where they are held per cycle and not at all where they are shared.
func (c *Cycle) Size() int {
	const fixed = 1024
	size := fixed + len(c.Message) + sizeOfFacts(c.Facts) + c.PodGroup.size()
	if c.Filter != nil {
		size += c.Filter.size()
	}
	if c.Score != nil {
		size += c.Score.size()
	}
	for i := range c.Extenders {
		size += c.Extenders[i].size()
	}
	return size
}

var (
	_ json.Marshaler   = (*Filter)(nil)
	_ json.Unmarshaler = (*Filter)(nil)
	_ json.Marshaler   = (*Score)(nil)
	_ json.Unmarshaler = (*Score)(nil)
)
