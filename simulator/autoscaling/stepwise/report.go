package stepwise

import (
	"slices"
	"strings"
	"time"

	"kube-scheduler-simulator/simulator/autoscaling/instances"
	"kube-scheduler-simulator/simulator/autoscaling/provider"
)

// EventKind is the kind of an event.
type EventKind string

const (
	Bought   EventKind = "bought"   // an instance was launched
	Joined   EventKind = "joined"   // it became a node
	Removing EventKind = "removing" // a node is to go: it takes no further pods
	Kept     EventKind = "kept"     // a node that was to go stays after all
	Removed  EventKind = "removed"  // a node has gone
	Blocked  EventKind = "blocked"  // a PodDisruptionBudget, or a pod that must not be disrupted, holds a drain up
	Refused  EventKind = "refused"  // no NodePool helps a pod
)

// Reasons of events.
const (
	ForPods          = "pods"          // pods wait
	ForEmpty         = "empty"         // no pod that counts is on the node
	ForDrift         = "drifted"       // the node does not match its NodePool
	ForUnderutilized = "underutilized" // the node is not needed, or another costs less
	ForExpired       = "expired"       // expireAfter has passed
	ForDeleted       = "deleted"       // the NodeClaim or the NodePool was deleted
	ForGone          = "gone"          // somebody else deleted the node
)

// Event is something that the autoscaler did or could not do.
type Event struct {
	// AtSeconds is the time since the start.
	AtSeconds float64   `json:"atSeconds"`
	Kind      EventKind `json:"kind"`
	Node      string    `json:"node,omitempty"`
	NodePool  string    `json:"nodePool,omitempty"`
	// Reason is one of the reasons above; for Blocked and Refused it is a sentence without its period.
	Reason string `json:"reason,omitempty"`
	// Offer is what was bought, with its price.
	Offer *provider.Offer `json:"offer,omitempty"`
	// Pods are those that the event is about, as namespace/name, three at most; PodCount counts all.
	Pods     []string `json:"pods,omitempty"`
	PodCount int      `json:"podCount,omitempty"`
	// Replaces are the nodes that a bought node replaces.
	Replaces []string `json:"replaces,omitempty"`
	// SavesPerHour is what a removal saves in US dollars an hour, replacements included.
	SavesPerHour float64 `json:"savesPerHour,omitempty"`
	// Nodes is how many nodes the cluster has after it, those of no NodePool included.
	Nodes int `json:"nodes"`
}

// Report is what the autoscaler did so far.
type Report struct {
	// Events are the first MaxEvents; Omitted counts the others.
	Events  []Event `json:"events"`
	Omitted int     `json:"omitted,omitempty"`
	// Bought and Removed count nodes.
	Bought  int `json:"bought"`
	Removed int `json:"removed"`
	// Evicted counts pods that were evicted, and Lost those of them that nothing creates again.
	Evicted int `json:"evicted"`
	Lost    int `json:"lost"`
	// ToNode are the seconds from when the scheduler found no node for a pod until it had one, of each pod for which a node was bought.
	ToNode []float64 `json:"-"`
	// Unhelped are the pods that wait and get no node, by name.
	Unhelped []Unhelped `json:"unhelped"`
	// Prices says where the prices are from.
	Prices instances.Source `json:"prices"`
}

// Unhelped is a pod that waits, and why.
type Unhelped struct {
	Pod string `json:"pod"`
	// Reason is a sentence without its period.
	Reason string `json:"reason"`
}

// MaxEvents bounds Report.Events.
const MaxEvents = 2000

// mostNamed bounds Event.Pods.
const mostNamed = 3

func (e *Event) about(pods []string) {
	e.PodCount, e.Pods = len(pods), pods[:min(len(pods), mostNamed)]
}

func (a *Autoscaler) note(e Event) {
	if len(a.report.Events) == MaxEvents {
		a.report.Omitted++
		return
	}
	e.AtSeconds, e.Nodes = a.now().Sub(a.start).Seconds(), a.nodes
	// Pods are created at times that differ by microseconds.
	e.AtSeconds = time.Duration(e.AtSeconds * float64(time.Second)).Round(time.Millisecond).Seconds()
	a.report.Events = append(a.report.Events, e)
}

// Report returns what was done so far. It is the caller's.
func (a *Autoscaler) Report() *Report {
	r := a.report
	r.Events, r.ToNode = slices.Clone(r.Events), slices.Clone(r.ToNode)
	r.Unhelped = []Unhelped{}
	for uid, w := range a.waiting {
		if reason := a.answers[uid]; reason != "" {
			r.Unhelped = append(r.Unhelped, Unhelped{w.name, reason})
		}
	}
	slices.SortFunc(r.Unhelped, func(x, y Unhelped) int { return strings.Compare(x.Pod, y.Pod) })
	r.Prices = instances.BuiltInPrices
	if a.settings.Catalog != nil {
		r.Prices = a.settings.Catalog.Prices
	}
	return &r
}

// waits is a pod that the scheduler found no node for.
type waits struct {
	name  string
	since time.Time
	// bought says that a node was bought for it.
	bought bool
}
