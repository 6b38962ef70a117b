// Package wire defines what this program and the scheduler of another version of Kubernetes tell each other.
//
// The scheduler reads a Request per line from its standard input, and writes an Answer per line to its standard output. It answers
// Begin, Decide and Place with exactly one answer of their own. Before the answer to a later request, it may have answers about
// objects. Its last answer is Done or Failed: without one of these, it died.
//
// Objects travel as JSON, because each version knows other types. The package imports nothing but the standard library, because every
// version compiles it.
package wire

import (
	"encoding/binary"
	"encoding/json"
	"math"
)

// Request is one line to the scheduler. Exactly one field is set.
type Request struct {
	// Begin is the first request, and only that.
	Begin *Begin `json:"begin,omitempty"`
	// Set creates or replaces an object. A pod that has ended is removed.
	Set json.RawMessage `json:"set,omitempty"`
	// Delete removes an object, if it exists.
	Delete *Reference `json:"delete,omitempty"`
	// Allocate notes that a ResourceClaim is being allocated: what it holds is taken, but the claim in the state does not say so yet.
	Allocate json.RawMessage `json:"allocate,omitempty"`
	// Release ends what Allocate noted about the claim with this UID.
	Release string `json:"release,omitempty"`
	// Decide asks for a decision. It does not change the state, unless Place follows.
	Decide *Decide `json:"decide,omitempty"`
	// Place puts a pod on a node.
	Place *Place `json:"place,omitempty"`
}

// Begin says how the scheduler is configured. All fields are optional.
type Begin struct {
	// Configuration is a KubeSchedulerConfiguration in JSON or YAML; the version's own default if it is empty.
	Configuration string `json:"configuration,omitempty"`
	// Gates sets feature gates by name.
	Gates map[string]bool `json:"gates,omitempty"`
	// Emulate is an older minor version, such as 1.35, whose feature gates the scheduler emulates.
	Emulate string `json:"emulate,omitempty"`
}

// Reference names an object.
type Reference struct {
	APIVersion string `json:"apiVersion,omitempty"`
	Kind       string `json:"kind,omitempty"`
	Namespace  string `json:"namespace,omitempty"`
	Name       string `json:"name"`
	UID        string `json:"uid,omitempty"`
}

// Decide names a pod and says how much to tell about its decision.
type Decide struct {
	// Pod is the pod as the scheduling queue has it. If it is bound, the decision is made as if it were not. If the state has a newer version
	// of the same pending pod, plugins that list pods see that one.
	Pod json.RawMessage `json:"pod"`
	// Profile is the profile that decides; by default the one that the pod names.
	Profile string `json:"profile,omitempty"`
	// Table asks for the scores of all nodes in the compact form of Table.
	Table bool `json:"table,omitempty"`
	// Full asks for the nodes and scores of the answer.
	Full bool `json:"full,omitempty"`
	// Every asks for each plugin that rejects a node, rather than the first. It makes the answer slower.
	Every bool `json:"every,omitempty"`
}

// Place names a node, which need not be the decision's. A pod without a start time gets one: later than those of all pods that were placed
// before.
type Place struct {
	Node string `json:"node"`
	// Pod is a pod to place without a decision, so that no plugin reserves anything. Without it, the pod is that of the decision just made.
	Pod json.RawMessage `json:"pod,omitempty"`
}

// Answer is one line from the scheduler. Exactly one field is set.
type Answer struct {
	Started  *Started  `json:"started,omitempty"`
	Object   *Object   `json:"object,omitempty"`
	Decision *Decision `json:"decision,omitempty"`
	Placed   *Placed   `json:"placed,omitempty"`
	Failed   *Failed   `json:"failed,omitempty"`
	Done     *Done     `json:"done,omitempty"`
}

// Started answers Begin.
type Started struct {
	// Version is that of Kubernetes, such as v1.35.4.
	Version string `json:"version"`
	// Minor is its minor version, such as 1.35.
	Minor string `json:"minor"`
	// Configuration is the effective KubeSchedulerConfiguration: what was given, with this version's defaults.
	Configuration json.RawMessage `json:"configuration"`
	Profiles      []Profile       `json:"profiles"`
	// Gates are all feature gates that this version knows, by name.
	Gates []Gate `json:"gates"`
	// ExtendersNotAsked are the extenders of the configuration. No decision asks them.
	ExtendersNotAsked []string `json:"extendersNotAsked,omitempty"`
}

// Profile is a profile with all plugins that run, in their order.
type Profile struct {
	Name   string           `json:"name"`
	Points []ExtensionPoint `json:"points"`
	// Args are the arguments of each plugin that has some, with this version's defaults.
	Args map[string]json.RawMessage `json:"args,omitempty"`
}

// ExtensionPoint has a name as in the configuration, such as preFilter.
type ExtensionPoint struct {
	Name    string   `json:"name"`
	Plugins []Plugin `json:"plugins"`
}

// Plugin has a weight if it scores.
type Plugin struct {
	Name   string `json:"name"`
	Weight int32  `json:"weight,omitempty"`
}

// Gate is a feature gate.
type Gate struct {
	Name    string `json:"name"`
	Default bool   `json:"default"`
	On      bool   `json:"on"`
	Locked  bool   `json:"locked,omitempty"`
	// Stage is ALPHA, BETA, DEPRECATED or empty, which means that it is generally available.
	Stage string `json:"stage,omitempty"`
	// Requires are gates that must be on if this one is. Kubernetes 1.34 knows of none.
	Requires []string `json:"requires,omitempty"`
}

// Object says what this version does not know about an object that Set or Decide gave it.
type Object struct {
	Reference
	// Unserved: this version has no such kind, and has ignored the object.
	Unserved bool `json:"unserved,omitempty"`
	// ReadAs: this version's scheduler reads the kind in another apiVersion only, and has ignored the object.
	ReadAs string `json:"readAs,omitempty"`
	// Unknown are the paths of the fields that this version has ignored.
	Unknown []string `json:"unknown,omitempty"`
}

// Decision answers Decide.
type Decision struct {
	Pod Reference `json:"pod"`
	// Nodes counts the nodes of the cluster, and Feasible those that fit.
	Nodes    int `json:"nodes"`
	Feasible int `json:"feasible"`
	// Best are the nodes that share the best total, by name. The scheduler chooses among them at random. Without Full, there
	// are BestShown at most. It is empty if no node fits.
	Best []string `json:"best,omitempty"`
	// BestCount is the number of all of them, and BestDigest identifies the set.
	BestCount  int    `json:"bestCount,omitempty"`
	BestDigest string `json:"bestDigest,omitempty"`
	// Unscored says why there are no scores although the pod fits: because it is the only feasible node, the pod's nominated node, or
	// because no plugin scores.
	Unscored Unscored `json:"unscored,omitempty"`
	// Status says why no node was chosen. It is nil if one was.
	Status *Status `json:"status,omitempty"`
	// PreEnqueue are the plugins that would keep the pod out of the queue.
	PreEnqueue []Status `json:"preEnqueue,omitempty"`
	// PreFilter is the answer of PreFilter, unless it is a success.
	PreFilter *Status `json:"preFilter,omitempty"`
	// Restricted: PreFilter plugins let only Restriction's nodes be filtered.
	Restricted []string `json:"restricted,omitempty"`
	// Rejections are the verdicts that reject nodes, each with its nodes, in the order of plugin, code and reasons.
	Rejections []Rejection `json:"rejections,omitempty"`
	// Digest identifies all that plugins answered about nodes: verdicts, messages and scores.
	Digest string `json:"digest"`
	// SkippedFilter and SkippedScore are the plugins that had nothing to say about this pod.
	SkippedFilter []string `json:"skippedFilter,omitempty"`
	SkippedScore  []string `json:"skippedScore,omitempty"`
	// Table is set with Table, and Scores with Full, if nodes were scored.
	Table  *Table  `json:"table,omitempty"`
	Scores *Scores `json:"scores,omitempty"`
	// Preemption is set if no node fits and PostFilter ran.
	Preemption *Preemption `json:"preemption,omitempty"`
}

// BestShown bounds the names in Decision.Best without Full.
const BestShown = 8

// Unscored is why the nodes that fit have no scores.
type Unscored string

const (
	OnlyFeasible Unscored = "onlyFeasible"
	Nominated    Unscored = "nominated"
	NoScores     Unscored = "noScores"
)

// Status is the answer of a plugin that is not a success. Plugin is empty in what several plugins said.
type Status struct {
	Plugin  string   `json:"plugin,omitempty"`
	Code    string   `json:"code"`
	Reasons []string `json:"reasons,omitempty"`
}

// Rejection is a verdict and the nodes that have it.
type Rejection struct {
	Status
	Count int `json:"count"`
	// Nodes are set with Full, by name.
	Nodes []string `json:"nodes,omitempty"`
	// Digest identifies the set of nodes.
	Digest string `json:"digest"`
	// Further: with Every, another plugin rejects these nodes before this one does.
	Further bool `json:"further,omitempty"`
}

// Table has a column for each plugin that scored: what the scheduler adds up, which is Normalized × weight in Scores. A column has a value for each
// node of the cluster, by name.
type Table struct {
	Plugins []Plugin `json:"plugins"`
	Columns []Column `json:"columns"`
}

// Column holds values of 4 bytes each, the lowest first.
type Column []byte

// Unscorable is the value of a node that was not scored.
const Unscorable = math.MinInt32

// NewColumn returns a column for a number of nodes, none of which was scored.
func NewColumn(nodes int) Column {
	c := make(Column, 4*nodes)
	for i := range nodes {
		c.Set(i, Unscorable)
	}
	return c
}

// Set sets the value of a node. Values beyond 32 bits become the nearest one.
func (c Column) Set(i int, value int64) {
	binary.LittleEndian.PutUint32(c[4*i:], uint32(int32(max(math.MinInt32, min(value, math.MaxInt32)))))
}

// At returns the value of a node.
func (c Column) At(i int) int64 { return int64(int32(binary.LittleEndian.Uint32(c[4*i:]))) }

// Len returns the number of nodes.
func (c Column) Len() int { return len(c) / 4 }

// Scores are a table: a row for each feasible node and a column for each plugin.
type Scores struct {
	Plugins []Plugin `json:"plugins"`
	Nodes   []string `json:"nodes"`
	// Raw is what Score returned, Normalized what NormalizeScore made of it, and Totals the sums of Normalized, weighted.
	Raw        [][]int64 `json:"raw"`
	Normalized [][]int64 `json:"normalized"`
	Totals     []int64   `json:"totals"`
}

// Preemption is what PostFilter answered.
type Preemption struct {
	// Status is PostFilter's answer, unless it is a success.
	Status *Status `json:"status,omitempty"`
	// Node is the node that the pod is nominated for, and Victims the pods that would be evicted there, by namespace and name.
	Node    string      `json:"node,omitempty"`
	Victims []Reference `json:"victims,omitempty"`
	// Candidates are the nodes where a dry run found victims, by name, with Full.
	Candidates []Candidate `json:"candidates,omitempty"`
}

// Candidate is a node where evicting the victims would help.
type Candidate struct {
	Node          string      `json:"node"`
	Victims       []Reference `json:"victims"`
	PDBViolations int         `json:"pdbViolations,omitempty"`
}

// Placed answers Place.
type Placed struct {
	// Status is Reserve's answer, unless it is a success. The pod is on the node nevertheless, without what Reserve hands out.
	Status *Status `json:"status,omitempty"`
	// Unasked: there was no decision, or it does not allow the node, so no plugin reserved anything.
	Unasked bool `json:"unasked,omitempty"`
}

// Failed ends the answers: the scheduler can't go on.
type Failed struct {
	Kind    Failure `json:"kind"`
	Message string  `json:"message"`
	// Names are the plugins of UnknownPlugins, and the gates of UnknownGates.
	Names []string `json:"names,omitempty"`
}

// Failure is what went wrong.
type Failure string

const (
	// BadConfiguration: this version does not accept the configuration.
	BadConfiguration Failure = "badConfiguration"
	// UnknownPlugins: the configuration names plugins that this version lacks.
	UnknownPlugins Failure = "unknownPlugins"
	// UnknownGates: this version lacks feature gates.
	UnknownGates Failure = "unknownGates"
	// BadGates: this version refuses the gates, or the emulated version.
	BadGates Failure = "badGates"
	// BadRequest: a request makes no sense to this version.
	BadRequest Failure = "badRequest"
	// Internal: a plugin or the scheduler failed in a way that it never should.
	Internal Failure = "internal"
)

// Done ends the answers after the last request.
type Done struct {
	Decisions int `json:"decisions"`
}
