package drain

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"kube-scheduler-simulator/simulator/questions/disruption"
	"kube-scheduler-simulator/simulator/questions/why"
)

// APIVersion and Kind are those of every answer.
const (
	APIVersion = "drain.kube-scheduler-simulator/v1"
	Kind       = "Answer"
)

// Answer says what a drain would do. Its JSON form is public. Lists are never null. Times are in seconds since the drain begins.
type Answer struct {
	APIVersion string `json:"apiVersion"`
	Kind       string `json:"kind"`
	// Sentence is the answer in English, and stands alone.
	Sentence string  `json:"sentence"`
	Summary  Summary `json:"summary"`
	// Nodes are in the order in which they are drained.
	Nodes []Node `json:"nodes"`
	// Evictions are by node, and of a node in the order in which they are asked for; those of pods that a replacement preempts come last.
	Evictions []Eviction `json:"evictions"`
	// Budgets are the PodDisruptionBudgets that had a say.
	Budgets []Budget `json:"budgets"`
	// Cost is what the nodes cost; nil if none has a price.
	Cost *Cost `json:"cost,omitempty"`
	// Passed are the nodes that a question for the dearest tried and left, the dearest first.
	Passed []Passed `json:"passed,omitempty"`
	Judged Judged   `json:"judged"`
	// NotJudged may make the answer another one.
	NotJudged []why.NotJudged `json:"notJudged"`
}

// Summary counts.
type Summary struct {
	Nodes int `json:"nodes"`
	// Empty counts the nodes that become empty, of pods that a drain evicts.
	Empty int `json:"empty"`
	// Asked counts the evictions that are asked for, and Evicted those that are made.
	Asked   int `json:"asked"`
	Evicted int `json:"evicted"`
	// Pending counts the replacements that find no node, and Gone the pods that no controller creates again.
	Pending int `json:"pending"`
	Gone    int `json:"gone"`
	// Seconds is when the last replacement is ready and the last node has ended; nil if the drain never ends.
	Seconds *int `json:"seconds,omitempty"`
}

// Cost is what the nodes cost: before the drain, and without the nodes that it empties.
type Cost = disruption.Cost

// Eviction is that of one pod, and Fate what becomes of it.
type (
	Eviction = disruption.Eviction
	Fate     = disruption.Fate
)

const (
	Moves   = disruption.Moves
	Pending = disruption.Pending
	Gone    = disruption.Gone
	Blocked = disruption.Blocked
	Leaves  = disruption.Leaves
	Ended   = disruption.Ended
)

// Budget is a PodDisruptionBudget over time, and Step how many evictions it allows from a time on.
type (
	Budget = disruption.Budget
	Step   = disruption.Step
)

// Passed is a node that could not be emptied along with those that are.
type Passed struct {
	Node string `json:"node"`
	// Text says in English what would become of the drain with it.
	Text string `json:"text"`
}

// NodeOutcome is how the drain of a node ends.
type NodeOutcome string

const (
	// Emptied: all pods that a drain evicts have left.
	Emptied NodeOutcome = "emptied"
	// GivenUp: the time for the node ended, or an eviction failed for good.
	GivenUp NodeOutcome = "givenUp"
	// Stuck: the drain waits for an eviction that no budget will ever allow. No node after it is drained.
	Stuck NodeOutcome = "stuck"
	// Refused: kubectl evicts no pod of the node.
	Refused NodeOutcome = "refused"
	// NotReached: the drain is stuck at an earlier node.
	NotReached NodeOutcome = "notReached"
)

// Node is a node that is to be drained.
type Node struct {
	Name    string      `json:"name"`
	Outcome NodeOutcome `json:"outcome"`
	// Begins and Ends are when the drain of the node does; nil for never.
	Begins *int `json:"begins,omitempty"`
	Ends   *int `json:"ends,omitempty"`
	// Errors are kubectl's, for which it evicts no pod of the node, and Warnings those with which it goes on.
	Errors   []string `json:"errors,omitempty"`
	Warnings string   `json:"warnings,omitempty"`
	// Stay counts the pods that a drain leaves on the node: those of DaemonSets, static ones, and those that the question does not select.
	Stay int `json:"stay"`
}

// Judged says who judged, and what.
type Judged struct {
	Cluster   string      `json:"cluster"`
	At        metav1.Time `json:"at"`
	Scheduler string      `json:"scheduler"`
	// Nodes and Pods are those of the state.
	Nodes int `json:"nodes"`
	Pods  int `json:"pods"`
	// StartSeconds and StopSeconds are the assumptions.
	StartSeconds int     `json:"startSeconds"`
	StopSeconds  int     `json:"stopSeconds"`
	Seconds      float64 `json:"seconds"`
	// Note says in English what the answer is not.
	Note string `json:"note"`
}
