package deschedule

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"kube-scheduler-simulator/simulator/cluster/descheduler"
	"kube-scheduler-simulator/simulator/questions/disruption"
	"kube-scheduler-simulator/simulator/questions/why"
)

// APIVersion and Kind are those of every answer.
const (
	APIVersion = "deschedule.kube-scheduler-simulator/v1"
	Kind       = "Answer"
)

// Answer says what the descheduler would do. Its JSON form is public. Lists are never null. Times are in seconds since the first round begins.
type Answer struct {
	APIVersion string `json:"apiVersion"`
	Kind       string `json:"kind"`
	// Sentence is the answer in English, and stands alone.
	Sentence string  `json:"sentence"`
	Summary  Summary `json:"summary"`
	// Rounds are the runs of the descheduler.
	Rounds []Round `json:"rounds"`
	// Evictions are in the order in which they are made; those of pods that a replacement preempts come last.
	Evictions []Eviction `json:"evictions"`
	// Refused are the evictions that a plugin asks for in vain, in their order.
	Refused []Refused `json:"refused"`
	// Protected are the pods that no plugin of the first round may evict, by the descheduler's reason.
	Protected []Protected `json:"protected"`
	// DryRun is what the descheduler's own dry run would say: what the first round would evict if no replacement were scheduled and no
	// budget were asked.
	DryRun []DryRunEviction `json:"dryRunWouldSay"`
	// Nodes are all nodes, by name.
	Nodes []Node `json:"nodes"`
	// Budgets are the PodDisruptionBudgets that had a say.
	Budgets []disruption.Budget `json:"budgets"`
	// Cost is what the nodes cost, before and without those that become empty; nil if none has a price.
	Cost   *disruption.Cost `json:"cost,omitempty"`
	Judged Judged           `json:"judged"`
	// NotJudged may make the answer another one.
	NotJudged []why.NotJudged `json:"notJudged"`
}

// Summary counts, over all rounds.
type Summary struct {
	// Evicted counts the evictions of the descheduler, and Refused those that it asks for in vain.
	Evicted int `json:"evicted"`
	Refused int `json:"refused"`
	// Moved counts the replacements that land on another node, Back those that land on the node that was left, Pending those that find no
	// node, Gone the pods that no controller creates again, and Ended those that had ended before.
	Moved   int `json:"moved"`
	Back    int `json:"back"`
	Pending int `json:"pending"`
	Gone    int `json:"gone"`
	Ended   int `json:"ended"`
	// Preempted counts the pods that replacements take the place of.
	Preempted int `json:"preempted"`
	// Emptied counts the nodes that have pods that are not of DaemonSets before, and none after.
	Emptied int `json:"emptied"`
	// DryRun counts what the descheduler's own dry run would evict, and Differs is how many evictions of the first round it misses, and has
	// too many of.
	DryRun  int `json:"dryRun"`
	Differs int `json:"differs"`
	// Settles: the last round evicts no pod.
	Settles bool `json:"settles"`
	// Seconds is when the last replacement is ready.
	Seconds int `json:"seconds"`
}

// Round is one run of the descheduler.
type Round struct {
	At      int `json:"at"`
	Evicted int `json:"evicted"`
	// Skipped is why no plugin ran; empty if they did. Failed are the plugins that ended with an error, in the descheduler's words.
	Skipped string   `json:"skipped,omitempty"`
	Failed  []string `json:"failed,omitempty"`
}

// Eviction is that of one pod.
type Eviction struct {
	// Round counts from 1. Profile, Plugin and Reason are whose eviction it is; empty for a pod that is preempted, Reason for most.
	Round   int    `json:"round"`
	Profile string `json:"profile,omitempty"`
	Plugin  string `json:"plugin,omitempty"`
	Reason  string `json:"reason,omitempty"`
	disruption.Eviction
}

// Refused is an eviction that a plugin asks for in vain.
type Refused struct {
	Round     int    `json:"round"`
	Profile   string `json:"profile"`
	Plugin    string `json:"plugin"`
	Namespace string `json:"namespace"`
	Name      string `json:"name"`
	Node      string `json:"node"`
	// By is who refuses it, and Text the budget, or why.
	By   descheduler.By `json:"by"`
	Text string         `json:"text"`
}

// maxProtected bounds the pods of a Protected.
const maxProtected = 10

// Protected are pods that the evictor's filters keep for one reason.
type Protected struct {
	// Text is the descheduler's.
	Text string `json:"text"`
	// Count is how many there are, and Pods the first of them, as namespace/name.
	Count int      `json:"count"`
	Pods  []string `json:"pods"`
}

// DryRunEviction is one that the descheduler's own dry run would name.
type DryRunEviction struct {
	Profile   string `json:"profile"`
	Plugin    string `json:"plugin"`
	Namespace string `json:"namespace"`
	Name      string `json:"name"`
	Node      string `json:"node"`
	// Made: the first round evicts the pod, too.
	Made bool `json:"made"`
}

// Node is a node before the first round and when the last replacement is ready.
type Node struct {
	Name   string `json:"name"`
	Before Use    `json:"before"`
	After  Use    `json:"after"`
}

// Use is what the pods of a node ask for.
type Use struct {
	Pods int `json:"pods"`
	// CPU and Memory are in percent of what the node has to give; nil if it has none.
	CPU    *float64 `json:"cpu,omitempty"`
	Memory *float64 `json:"memory,omitempty"`
}

// Judged says who judged, and what.
type Judged struct {
	Cluster   string      `json:"cluster"`
	At        metav1.Time `json:"at"`
	Scheduler string      `json:"scheduler"`
	// Descheduler is the version of the descheduler, and Plugins are those that the policy enables.
	Descheduler string   `json:"descheduler"`
	Plugins     []string `json:"plugins"`
	// Nodes and Pods are those of the state.
	Nodes int `json:"nodes"`
	Pods  int `json:"pods"`
	// IntervalSeconds, StartSeconds and StopSeconds are the assumptions.
	IntervalSeconds int     `json:"intervalSeconds"`
	StartSeconds    int     `json:"startSeconds"`
	StopSeconds     int     `json:"stopSeconds"`
	Seconds         float64 `json:"seconds"`
	// Note says in English what the answer is not.
	Note string `json:"note"`
}
