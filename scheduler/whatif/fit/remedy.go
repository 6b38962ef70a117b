package fit

import (
	v1 "k8s.io/api/core/v1"

	"kube-scheduler-simulator/scheduler/explain"
	"kube-scheduler-simulator/scheduler/whatif"
	"kube-scheduler-simulator/scheduler/whatif/newnode"
)

// disturbance ranks remedies: what is ahead disturbs less.
type disturbance int

const (
	// ofNone: nothing changes.
	ofNone disturbance = iota
	// ofPod: the pod itself changes.
	ofPod
	// ofNode: a node changes.
	ofNode
	// ofCluster: a node joins.
	ofCluster
	// ofOthers: other pods are evicted.
	ofOthers
	// drastic: the pod gives up more than half of a request.
	drastic
	// ofReplicas: the workload gives up the pod.
	ofReplicas
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
	added   []*newnode.Node
	// size is how much of their node the victims ask for: 1 for all of one resource.
	size float64
	// inPlace: the API server lets an existing pod change like that.
	inPlace bool
	// lasts: the pod's successors need the change, too.
	lasts bool
	// others changes another pod, by a patch.
	others *whatif.Patch
	// claims change claims of the pod.
	claims []whatif.Change
	// parts is nil for a remedy that does one thing, and scale for one without an amount.
	parts *parts
	scale *scale
	// cuts are what a remedy that lowers requests lowers.
	cuts []cut
}

// parts are what a remedy does, of which fewer may be enough.
type parts struct {
	count int
	// only returns the remedy that does only the parts whose indexes are kept, at least one.
	only func(kept []int) remedy
}

// mostParts bounds the parts of which all sets are looked at.
const mostParts = 6

// exceeds reports whether a remedy does what the other one does, or more of the same sort.
func (r remedy) exceeds(o remedy) bool {
	if r.shape == o.shape {
		return o.amount() <= r.amount()
	}
	if r.parts == nil || r.parts.count > mostParts {
		return false
	}
	for set := 1; set < 1<<r.parts.count-1; set++ {
		var kept []int
		for i := range r.parts.count {
			if set&(1<<i) != 0 {
				kept = append(kept, i)
			}
		}
		if part := r.parts.only(kept); part.shape == o.shape && o.amount() <= part.amount() {
			return true
		}
	}
	return false
}

// amount is how much a remedy does, for comparisons with others of its shape. Of requests it is what the pod
// gives up, however much more a node lacks.
func (r remedy) amount() float64 {
	if r.cuts == nil {
		return r.cost
	}
	sum := 0.0
	for _, c := range r.cuts {
		sum += float64(c.from-c.to) / float64(max(c.from, 1))
	}
	return sum
}

// scale is the amount of a remedy. A larger change may be needed for several pods than for one.
type scale struct {
	// step is how many units the remedy is away from no change, and most how far it can go.
	step, most int64
	to         func(step int64) remedy
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
	costOfCut         = 10.0 // plus 80 for all of a request, in the order of result.Shortage
	costOfToleration  = 15.0
	costOfGate        = 5.0
	costOfAcceptance  = 22.0
	costOfPolicy      = 17.0
	costOfMinDomains  = 18.0 // plus 1 per domain
	costOfSkew        = 20.0 // plus 5 per pod
	costOfPreference  = 28.0
	costOfClass       = 33.0
	costOfResize      = 8.0
	costOfPriority    = 12.0
	costOfRequirement = 25.0
	costOfPort        = 30.0
	costOfPodTerm     = 35.0
	costOfCordon      = 10.0
	costOfLabel       = 20.0
	costOfTaint       = 30.0
	costOfOverwriting = 10.0
	costOfCondition   = 40.0
)
