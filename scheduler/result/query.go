package result

import (
	"time"

	"k8s.io/apimachinery/pkg/types"
)

// Query selects summaries. Zero fields do not restrict.
type Query struct {
	Namespace, Name string
	UID             types.UID
	Outcome         Outcome
	// Text is a list of words. Each must occur, in any case, in the pod's namespace/name, its
	// owner, the selected or nominated node, or the plugin or reason of a refusal.
	Text string
	// Plugin and Reason select by Summary.Refusal, with its further reasons: a plugin or an
	// extender that rejected nodes or the pod, failed, or holds the pod. They do not select
	// scheduled pods.
	Plugin, Reason string
	// Node is the selected or the nominated node.
	Node string
	// RejectedOn is a node that a plugin or an extender of Filter rejected. With it, Plugin is the
	// one that rejected the node, even for a scheduled pod. Only whole cycles know such nodes, and
	// a page reads cycles for a fraction of a second, so it may be short or empty and still have a
	// Continue.
	RejectedOn string
	Profile    string
	// Revision is that of the scheduler configuration.
	Revision int
	// Owner is the form of Owner.String.
	Owner string
	// StartTime must not be before Since, and must be before Until.
	Since, Until time.Time

	// Limit bounds a page; 0 means the store's default, and more than MaxLimit means MaxLimit.
	Limit int
	// Continue is that of the previous page; empty starts at the newest.
	Continue string
	// Counts asks for Page.Counts.
	Counts bool
	// Buckets asks for Counts.Timeline with this many intervals, at most MaxBuckets. It needs
	// Counts, Since and Until.
	Buckets int
}

const (
	// MaxLimit is the longest page of summaries.
	MaxLimit = 5000
	// MaxBuckets is the largest number of intervals in a timeline.
	MaxBuckets = 1000
)

// Page is a list of summaries, newest first.
type Page struct {
	Items []Summary `json:"items"`
	// Continue identifies the next page; empty on the last page.
	Continue string `json:"continue"`
	// Counts is nil when the query did not ask for it.
	Counts *Counts `json:"counts,omitempty"`
	// Read counts the cycles that were read for Query.RejectedOn; 0 without it.
	Read int `json:"read,omitempty"`
}

// Counts describe all summaries that match a query, whatever its limit and its Continue. They
// ignore RejectedOn and the Plugin beside it.
type Counts struct {
	// Matching counts those that match, Kept all in the store.
	Matching int `json:"matching"`
	Kept     int `json:"kept"`
	// Oldest is the start of the oldest kept cycle; nil when none is kept.
	Oldest *time.Time `json:"oldest,omitempty"`
	Facets Facets     `json:"facets"`
	// Timeline is nil when the query did not ask for it.
	Timeline *Timeline `json:"timeline,omitempty"`
}

// Facets count the values of the fields that a query can select by. Each ignores the query's own
// value of its field, so that it shows the alternatives.
type Facets struct {
	Outcome   Facet `json:"outcome"`
	Namespace Facet `json:"namespace"`
	Plugin    Facet `json:"plugin"`
	Reason    Facet `json:"reason"`
	Node      Facet `json:"node"`
	Profile   Facet `json:"profile"`
	Revision  Facet `json:"revision"`
	Owner     Facet `json:"owner"`
}

// Facet counts the values of a field.
type Facet struct {
	// Values are the MaxFacetValues most frequent, in order, and the query's own value if any
	// summary has it.
	Values []FacetValue `json:"values"`
	// Others counts the further values.
	Others int `json:"others"`
}

// MaxFacetValues bounds the values of a facet.
const MaxFacetValues = 20

// FacetValue is a value in the form that a query takes, with the number of summaries that have it.
type FacetValue struct {
	Value string `json:"value"`
	Count int    `json:"count"`
}

// Timeline counts the cycles that started in consecutive intervals of equal length, from the
// query's Since to its Until. Each list has a number per interval.
type Timeline struct {
	Scheduled     []int `json:"scheduled"`
	Unschedulable []int `json:"unschedulable"`
	Waiting       []int `json:"waiting"`
	Error         []int `json:"error"`
}

// Of returns the counts of an outcome; nil for an unknown one.
func (t *Timeline) Of(o Outcome) []int {
	switch o {
	case Scheduled:
		return t.Scheduled
	case Unschedulable:
		return t.Unschedulable
	case Waiting:
		return t.Waiting
	case Error:
		return t.Error
	}
	return nil
}
