package why

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"kube-scheduler-simulator/scheduler/explain"
	"kube-scheduler-simulator/scheduler/whatif"
	"kube-scheduler-simulator/simulator/questions/hypothesis"
)

// APIVersion and Kind are those of every answer.
const (
	APIVersion = "why.kube-scheduler-simulator/v1"
	Kind       = "Answer"
)

// Verdict is the answer in a word.
type Verdict string

const (
	// Runs: the pod is bound to a node, or every pod of the workload is.
	Runs Verdict = "runs"
	// Fits: the scheduler would place the pod now.
	Fits Verdict = "fits"
	// Waits: the pod needs no change, and something must happen first. Answer.Waits says what.
	Waits Verdict = "waits"
	// DoesNotFit: no node takes the pod as it is.
	DoesNotFit Verdict = "doesNotFit"
	// Unknown: it could not be told; Answer.NotJudged says why.
	Unknown Verdict = "unknown"
)

// Answer is the answer about a pod, or about the pods of a workload. Its JSON form is public; schema.json describes
// it. Lists are never null.
type Answer struct {
	APIVersion string `json:"apiVersion"`
	Kind       string `json:"kind"`

	Verdict Verdict `json:"verdict"`
	// Sentence is the answer in English, and stands alone.
	Sentence string  `json:"sentence"`
	Subject  Subject `json:"subject"`
	// SelectedNode is where the pod runs or would go; empty if it is on no node, or the answer is about several pods.
	SelectedNode string `json:"selectedNode"`
	// Nodes are where the pods that do not run would go, in the order in which they were tried.
	Nodes []string `json:"nodes"`
	// Choice says why this node and no other; nil without a selected node.
	Choice *Choice `json:"choice,omitempty"`
	// Reasons keep the pod from nodes, those of the most nodes first. Of a node that several plugins reject, each has
	// a reason.
	Reasons []Reason `json:"reasons"`
	// Nearest are the nodes that fewest plugins reject, and of those the ones that lack least, at most MaxNearest.
	Nearest []Nearest `json:"nearest"`
	// Waits are what must happen before the pod runs.
	Waits []Wait `json:"waits"`
	// Changes make the pod fit, the gentlest first; each was tried with the scheduler. They are those of the question
	// Fit, with waiting among them.
	Changes []hypothesis.Suggestion `json:"changes"`
	// Autoscaler is what the autoscaler would do about the pod; nil if the question Fit did not ask it.
	Autoscaler *hypothesis.Autoscaler `json:"autoscaler,omitempty"`
	// Lasting are reasons that no change takes away.
	Lasting []Lasting `json:"lasting"`
	// Evicts is what preemption would do; nil if it would do nothing.
	Evicts *Evicts `json:"evicts,omitempty"`
	Judged Judged  `json:"judged"`
	// NotJudged may make the answer another one.
	NotJudged []NotJudged `json:"notJudged"`
}

// Subject is what the answer is about.
type Subject struct {
	Kind      string `json:"kind"`
	Namespace string `json:"namespace"`
	Name      string `json:"name"`
	// Node is the only node that was asked about; empty for all.
	Node string `json:"node,omitempty"`
	// Exists: the object is in the cluster.
	Exists bool `json:"exists"`
	// Created is nil for an object that does not exist.
	Created *metav1.Time `json:"created,omitempty"`
	// Requests are what the pod asks for, by resource.
	Requests map[string]string `json:"requests"`
	Priority int32             `json:"priority"`
	// Reported is what the cluster's own scheduler last said of a pod that it could not place.
	Reported string `json:"reported,omitempty"`
	// Pods count those of a workload; nil for a pod.
	Pods *Pods `json:"pods,omitempty"`
}

// Pods count the pods of a workload.
type Pods struct {
	Wanted int `json:"wanted"`
	// Running counts those that are bound to a node.
	Running int `json:"running"`
	// Pending counts those that exist and are not bound. The missing ones are Wanted - Running - Pending.
	Pending int `json:"pending"`
	// Fit is how many of the pending and the missing ones would fit now, placed one after the other.
	Fit int `json:"fit"`
	// Example is the pod that the answer explains; empty if it does not exist.
	Example string `json:"example,omitempty"`
}

// Choice is why the selected node was chosen.
type Choice struct {
	Feasible  int `json:"feasible"`
	Evaluated int `json:"evaluated"`
	// Total is nil if one node was feasible, or nothing scores.
	Total *int64 `json:"total,omitempty"`
	// Over is the next node, and Margin the lead over it, which Parts add up to; those of the largest difference first.
	Over   string         `json:"over,omitempty"`
	Margin int64          `json:"margin,omitempty"`
	Tied   []string       `json:"tied,omitempty"`
	Parts  []explain.Part `json:"parts,omitempty"`
	// Today is where the scheduler would put a pod that runs, were it not placed yet; empty if it would put it nowhere,
	// and for a pod that does not run.
	Today string `json:"today,omitempty"`
	// Changed says in English what has changed about a pod that runs since it was placed.
	Changed []string `json:"changed,omitempty"`
}

// Reason is why a plugin, or an extender, rejects nodes.
type Reason struct {
	// Plugin is a plugin's name, or an extender's URL prefix.
	Plugin string `json:"plugin"`
	// Text is the plugin's own reason.
	Text string `json:"text"`
	// Count is how many nodes there are; Nodes names them all.
	Count int      `json:"count"`
	Nodes []string `json:"nodes"`
	// Details say what the plugin compared, in English, with numbers; nodes with the same comparison are together.
	Details []Detail `json:"details"`
}

// Detail is what a plugin compared on some nodes.
type Detail struct {
	Nodes []string `json:"nodes"`
	Lines []string `json:"lines"`
}

// Nearest is a node that almost takes the pod.
type Nearest struct {
	Node string `json:"node"`
	// Plugins are still in the way, and Texts are their reasons.
	Plugins []string `json:"plugins"`
	Texts   []string `json:"texts"`
	// Lacks are the amounts of resources that are missing: of CPU in thousandths of a core, of others in their own unit.
	Lacks []explain.Lack `json:"lacks,omitempty"`
}

// WaitsFor is what a pod waits for.
type WaitsFor string

const (
	// ForAttempt: the scheduler has yet to try the pod, or to try it again.
	ForAttempt WaitsFor = "attempt"
	// ForEvictions: pods that preemption has chosen, or that terminate already, must be gone.
	ForEvictions WaitsFor = "evictions"
	// ForGate: a controller must remove a scheduling gate.
	ForGate WaitsFor = "gate"
	// ForGroup: a pod group, or a gang, is not complete.
	ForGroup WaitsFor = "group"
	// ForQuota: an elastic quota has no room. Name is its namespace.
	ForQuota WaitsFor = "quota"
	// ForKueue: Kueue has not admitted the workload.
	ForKueue WaitsFor = "kueue"
	// ForController: the workload's controller has yet to create pods.
	ForController WaitsFor = "controller"
)

// Wait is something that must happen before the pod runs.
type Wait struct {
	For  WaitsFor `json:"for"`
	Name string   `json:"name,omitempty"`
	Text string   `json:"text"`
	// Until is when the wait ends at the latest; nil if nobody can tell.
	Until *metav1.Time `json:"until,omitempty"`
}

// Lasting is a reason that no change of the pod, of a node, and no eviction that may be made takes away.
type Lasting struct {
	Plugin string `json:"plugin"`
	Text   string `json:"text"`
	// Guarded: pods that may not be evicted are in the way.
	Guarded bool     `json:"guarded,omitempty"`
	Nodes   []string `json:"nodes"`
}

// Evicts is what preemption would do.
type Evicts struct {
	Node string   `json:"node"`
	Pods []Victim `json:"pods"`
	// Violations counts the PodDisruptionBudgets that the evictions would violate.
	Violations int `json:"violations,omitempty"`
}

// Victim is a pod that would be evicted.
type Victim struct {
	Namespace string `json:"namespace"`
	Name      string `json:"name"`
	Priority  int32  `json:"priority"`
}

// Judged says who judged, and what.
type Judged struct {
	// Cluster names it, for people.
	Cluster string `json:"cluster"`
	// Scheduler is the name of the profile, and Version that of the kube-scheduler that judged.
	Scheduler string `json:"scheduler"`
	Version   string `json:"version"`
	// Configuration says whose it is: "default", "cluster" (the one of the simulator or of the export that was asked)
	// or "file".
	Configuration string `json:"configuration"`
	whatif.State
	At metav1.Time `json:"at"`
	// Seconds is how long the answer took, without ReadSeconds, which reading the cluster's lists took; 0 if they were
	// there already.
	Seconds     float64 `json:"seconds"`
	ReadSeconds float64 `json:"readSeconds,omitempty"`
	// After are what was asked about before and counts as placed.
	After []string `json:"after,omitempty"`
	// Record: the answer is the scheduler's own decision, which the simulator recorded, and not a decision on a copy.
	Record bool `json:"record,omitempty"`
}

// NotJudged is something that was left out.
type NotJudged struct {
	// What was left out, as a noun: a kind of objects, a plugin, a gate.
	What string `json:"what"`
	// Text says it in a sentence, with what that does to the answer.
	Text string `json:"text"`
}

// Question asks about a pod, or about the pods of a workload.
type Question struct {
	// Question has the pod or its name, unless Workload is set.
	hypothesis.Question
	// Workload is a Deployment, a StatefulSet, a DaemonSet, a Job, a ReplicaSet or a ReplicationController of the cluster.
	Workload *Workload `json:"workload,omitempty"`
	// Replicas is how many pods a workload that does not exist wants, with Pod as its template; 0 for a pod. Kind is
	// the workload's.
	Replicas int    `json:"replicas,omitempty"`
	Kind     string `json:"kind,omitempty"`
	// After names what Changes have placed before, for the answer.
	After []string `json:"after,omitempty"`
	// Node is the only node to ask about: why not there? Empty for all.
	Node string `json:"node,omitempty"`
	// NoChanges leaves out the search for changes that make the pod fit, which takes most of the time.
	NoChanges bool `json:"noChanges,omitempty"`
	// Limit is how many changes are wanted; 0 means fit.DefaultLimit.
	Limit int `json:"limit,omitempty"`
}

// Workload names one. An empty Namespace means "default".
type Workload struct {
	Kind      string `json:"kind"`
	Namespace string `json:"namespace"`
	Name      string `json:"name"`
}
