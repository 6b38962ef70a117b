package autoscale

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"kube-scheduler-simulator/simulator/autoscaling/dryrun"
	"kube-scheduler-simulator/simulator/autoscaling/instances"
	"kube-scheduler-simulator/simulator/questions/why"
)

// APIVersion and Kind are those of every answer.
const (
	APIVersion = "autoscale.kube-scheduler-simulator/v1"
	Kind       = "Answer"
)

// Answer says what the autoscaler would do. Its JSON form is public. Lists are never null.
type Answer struct {
	APIVersion string `json:"apiVersion"`
	Kind       string `json:"kind"`
	// Sentence is the answer in English, and stands alone.
	Sentence string  `json:"sentence"`
	Summary  Summary `json:"summary"`
	// Pods are in the order in which the scheduler tries them.
	Pods []Pod `json:"pods"`
	// NewNodes are those that it would buy.
	NewNodes []dryrun.NewNode `json:"newNodes"`
	// Pools are the NodePools, in the order in which it tries them.
	Pools []dryrun.Pool `json:"pools"`
	Cost  dryrun.Cost   `json:"cost"`
	// Nodes are the answers about those that could go; none if the question does not ask.
	Nodes []dryrun.Departure `json:"nodes"`
	// Rounds are what it would do about the whole cluster; nil if the question does not ask.
	Rounds *dryrun.Rounds `json:"rounds,omitempty"`
	// Before is what it would do without the NodePools of the question; nil if that has none.
	Before *Before `json:"before,omitempty"`
	Judged Judged  `json:"judged"`
	// NotJudged may make the answer another one.
	NotJudged []why.NotJudged `json:"notJudged"`
}

// Before is the answer with the NodePools as they are.
type Before struct {
	Summary Summary       `json:"summary"`
	Pools   []dryrun.Pool `json:"pools"`
	Cost    dryrun.Cost   `json:"cost"`
	// Rounds are nil if the question does not ask.
	Rounds *dryrun.Rounds `json:"rounds,omitempty"`
}

// Summary counts the pods.
type Summary struct {
	Pods int `json:"pods"`
	// NewNode counts those that a new node would hold, ExistingNode those for which the autoscaler finds room on a node that is there, None
	// those that no NodePool helps, and NotJudged those that it does not look at.
	NewNode      int `json:"newNode"`
	ExistingNode int `json:"existingNode"`
	None         int `json:"none"`
	NotJudged    int `json:"notJudged"`
	// Disagreements counts the pods about which autoscaler and scheduler disagree.
	Disagreements int `json:"disagreements"`
}

// Pod is the answer about one pod.
type Pod struct {
	dryrun.Placement
	// Sentence is the answer in English.
	Sentence string `json:"sentence"`
	// Scheduler is what kube-scheduler decides; nil if it does not decide about the pod, or could not be asked in time.
	Scheduler *Scheduler `json:"scheduler,omitempty"`
	// Disagreement is nil if the two agree.
	Disagreement *Disagreement `json:"disagreement,omitempty"`
}

// Scheduler is what kube-scheduler decides about a pod.
type Scheduler struct {
	// Node is where it puts the pod now, and Then where it puts one that finds no node now, when the new nodes are there. Both are empty
	// for a pod that stays pending.
	Node string `json:"node,omitempty"`
	Then string `json:"then,omitempty"`
	// Nominated is the node that it would make room on by preemption.
	Nominated string `json:"nominated,omitempty"`
	// Reasons are why the node that the autoscaler has in mind does not take the pod; of all nodes, if it has none.
	Reasons []why.Reason `json:"reasons"`
}

// DisagreementKind is the kind of a disagreement.
type DisagreementKind string

const (
	// RoomRefused: the autoscaler finds room on a node that exists, and adds none; the scheduler puts the pod nowhere. Neither will act.
	RoomRefused DisagreementKind = "roomRefused"
	// NodeUnneeded: the autoscaler would buy a node for a pod that the scheduler binds to one that exists.
	NodeUnneeded DisagreementKind = "nodeUnneeded"
	// NodeRefused: the autoscaler would buy a node for a pod that the scheduler puts nowhere, the new node included.
	NodeRefused DisagreementKind = "nodeRefused"
	// Preempts: the scheduler makes room by preemption for a pod that the autoscaler would buy a node for. A nominated pod is none of the
	// autoscaler's business any more.
	Preempts DisagreementKind = "preempts"
	// FitsAlready: the scheduler binds a pod to a node that exists, of which the autoscaler says that nothing helps.
	FitsAlready DisagreementKind = "fitsAlready"
)

// Disagreement says how autoscaler and scheduler disagree about a pod.
type Disagreement struct {
	Kind DisagreementKind `json:"kind"`
	// Sentence says in English what comes of it.
	Sentence string `json:"sentence"`
}

// Judged says who judged, and what.
type Judged struct {
	Cluster string      `json:"cluster"`
	At      metav1.Time `json:"at"`
	// Karpenter and Scheduler are versions.
	Karpenter string `json:"karpenter"`
	Scheduler string `json:"scheduler"`
	// Nodes and Pods are those of the state.
	Nodes         int `json:"nodes"`
	Pods          int `json:"pods"`
	InstanceTypes int `json:"instanceTypes"`
	// Prices says where all prices of the answer are from.
	Prices  instances.Source `json:"prices"`
	Seconds float64          `json:"seconds"`
	// Note says in English what the answer is not.
	Note string `json:"note"`
}

// Helped reports whether every pod that waits would have a node: bought, or there already, as far as the scheduler agrees.
func (a *Answer) Helped() bool {
	for i := range a.Pods {
		if s := a.Pods[i].Scheduler; s != nil && s.Node == "" && s.Then == "" && s.Nominated == "" || s == nil && a.Pods[i].Verdict == dryrun.OnNone {
			return false
		}
	}
	return true
}
