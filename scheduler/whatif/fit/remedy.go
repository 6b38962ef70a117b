package fit

import (
	v1 "k8s.io/api/core/v1"

	"kube-scheduler-simulator/scheduler/explain"
	"kube-scheduler-simulator/scheduler/whatif/newnode"
)

// disturbance ranks remedies: what is ahead disturbs less.
type disturbance int

const (
	// ofPod: the pod itself changes.
	ofPod disturbance = iota
	// ofNode: a node changes.
	ofNode
	// ofCluster: a node joins.
	ofCluster
	// ofOthers: other pods are evicted.
	ofOthers
	// drastic: the pod gives up more than half of a request.
	drastic
)

// remedy is one change that takes an obstacle out of the way. It changes one of the pod,
// the node, the pods on it, and the number of nodes.
type remedy struct {
	// says is the change as data.
	says explain.Operands
	// shape is shared by remedies that differ in amounts, or in the node, only. Of those
	// one is offered.
	shape string
	// detail tells remedies of one shape apart.
	detail      string
	disturbance disturbance
	// cost ranks remedies that disturb alike: what costs less is ahead.
	cost float64

	// pod, node, victims and added are nil, except for what the remedy changes. pod and
	// node may be called more than once, and on several objects.
	pod     func(*v1.PodSpec)
	node    func(*v1.Node)
	victims []*v1.Pod
	added   *newnode.Node
	// inPlace: the API server lets an existing pod change like that.
	inPlace bool
}

// cure is a set of remedies that together take one obstacle out of the way.
type cure []remedy

func (c cure) cost() float64 {
	sum := 0.0
	for _, r := range c {
		sum += r.cost
	}
	return sum
}

// The costs of remedies, by kind. A larger change of the same kind costs more.
const (
	costOfCut         = 10.0 // plus up to 80, by the part of the request that goes
	costOfToleration  = 15.0
	costOfGate        = 5.0
	costOfAcceptance  = 22.0
	costOfSkew        = 20.0 // plus 5 per pod
	costOfRequirement = 25.0
	costOfPort        = 30.0
	costOfPodTerm     = 35.0
	costOfCordon      = 10.0
	costOfLabel       = 20.0
	costOfTaint       = 30.0
	costOfOverwriting = 10.0
	costOfCondition   = 40.0
)
