package result

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"strings"
)

// ExtenderVerb is one of the calls that a scheduler extender answers.
type ExtenderVerb string

const (
	ExtenderFilter     ExtenderVerb = "filter"
	ExtenderPrioritize ExtenderVerb = "prioritize"
	ExtenderPreempt    ExtenderVerb = "preempt"
	ExtenderBind       ExtenderVerb = "bind"
)

// ExtenderVerbs lists the verbs in calling order.
var ExtenderVerbs = []ExtenderVerb{ExtenderFilter, ExtenderPrioritize, ExtenderPreempt, ExtenderBind}

// ExtenderCall is one request to a scheduler extender and its answer. For a prioritize call, its
// effect is in Score.Extenders.
type ExtenderCall struct {
	// Plugin is the extender's URL prefix, its name in the configuration.
	Plugin string `json:"plugin"`
	// Verb is empty, and Status Skip, when the pod requests none of the resources that the extender
	// manages, so that the scheduler did not call it.
	Verb ExtenderVerb `json:"verb,omitempty"`
	// Status is Success when the scheduler could use the answer, Error, or Skip.
	// An extender that rejects every node has succeeded.
	Status string `json:"status"`
	// Reasons hold the error, in the scheduler's words.
	Reasons         []string `json:"reasons,omitempty"`
	DurationSeconds float64  `json:"durationSeconds"`
	// Ignored: the call failed and the scheduler went on, because the extender is ignorable or the
	// verb may fail: prioritize, and filter for a nominated node.
	Ignored bool `json:"ignored,omitempty"`
	// Nominated: the call was about the pod's nominated node, before the search among all nodes.
	Nominated bool `json:"nominated,omitempty"`
	Nodes     int  `json:"nodes,omitempty"`
	// WholeNodes: the request contained whole nodes (and for preempt, whole
	// victims), because the extender is not nodeCacheCapable. Request has only
	// their names.
	WholeNodes bool `json:"wholeNodes,omitempty"`
	// Request and Response are JSON in the terms of k8s.io/kube-scheduler/extender/v1.
	// Response is empty when the call failed.
	Request  string `json:"request,omitempty"`
	Response string `json:"response,omitempty"`
	// Cut: Request, Response or the reasons of Rejected lack entries that were too long. The rest
	// are whole.
	Cut bool `json:"cut,omitempty"`
	// Rejected are the nodes that a filter call rejected; nil when there are none.
	Rejected *ExtenderRejections `json:"rejected,omitempty"`
}

// ExtenderRejections are nodes with the reasons that an extender gave. Its JSON
// is a list of {node, reason, unresolvable} by name.
type ExtenderRejections struct {
	Nodes []string
	// Reasons are distinct; ReasonOf[i] indexes them for Nodes[i].
	Reasons  []ExtenderReason
	ReasonOf []uint16
}

// ExtenderReason says why an extender rejected a node.
type ExtenderReason struct {
	// Reason is empty when the extender left the node out of its answer and gave no
	// reason.
	Reason string `json:"reason"`
	// Unresolvable: removing pods from the node would not help.
	Unresolvable bool `json:"unresolvable,omitempty"`
}

// The bounds of the reasons. The nodes themselves are always kept.
const (
	maxExtenderReasonBytes  = 1 << 10
	maxExtenderReasonsBytes = 256 << 10
	extenderReasonOverhead  = 16
	// ExtenderReasonNotKept stands for a reason beyond the bound of a call.
	ExtenderReasonNotKept = "…"
)

// Reason returns why Nodes[i] was rejected.
func (r *ExtenderRejections) Reason(i int) ExtenderReason { return r.Reasons[r.ReasonOf[i]] }

// ExtenderRejectionsBuilder collects rejections and keeps each distinct reason
// once. The zero value is ready for use.
type ExtenderRejectionsBuilder struct {
	rejections ExtenderRejections
	index      map[ExtenderReason]uint16
	bytes      int
	cut        bool
}

// Add appends a node.
func (b *ExtenderRejectionsBuilder) Add(node string, reason ExtenderReason) {
	if len(reason.Reason) > maxExtenderReasonBytes {
		reason.Reason = strings.ToValidUTF8(reason.Reason[:maxExtenderReasonBytes], "") + "…"
		b.cut = true
	}
	i, known := b.index[reason]
	if !known && b.bytes+len(reason.Reason)+extenderReasonOverhead > maxExtenderReasonsBytes {
		b.cut = true
		reason.Reason = ExtenderReasonNotKept
		i, known = b.index[reason]
	}
	if !known {
		if b.index == nil {
			b.index = map[ExtenderReason]uint16{}
		}
		i = uint16(len(b.rejections.Reasons))
		b.index[reason] = i
		b.rejections.Reasons = append(b.rejections.Reasons, reason)
		b.bytes += len(reason.Reason) + extenderReasonOverhead
	}
	b.rejections.Nodes = append(b.rejections.Nodes, node)
	b.rejections.ReasonOf = append(b.rejections.ReasonOf, i)
}

// Rejections returns the added rejections, or nil if there are none, and whether
// reasons were cut. The builder must not be used afterwards.
func (b *ExtenderRejectionsBuilder) Rejections() (r *ExtenderRejections, cut bool) {
	if len(b.rejections.Nodes) == 0 {
		return nil, false
	}
	return &b.rejections, b.cut
}

type extenderRejectionJSON struct {
	Node string `json:"node"`
	ExtenderReason
}

var (
	_ json.Marshaler   = (*ExtenderRejections)(nil)
	_ json.Unmarshaler = (*ExtenderRejections)(nil)
)

// MarshalJSON writes the public form, nodes by name.
func (r *ExtenderRejections) MarshalJSON() ([]byte, error) {
	out := make([]extenderRejectionJSON, 0, len(r.Nodes))
	for _, i := range sortedIndex(r.Nodes) {
		out = append(out, extenderRejectionJSON{Node: r.Nodes[i], ExtenderReason: r.Reason(i)})
	}
	return json.Marshal(out)
}

// UnmarshalJSON reads the public form.
func (r *ExtenderRejections) UnmarshalJSON(data []byte) error {
	var in []extenderRejectionJSON
	if err := json.Unmarshal(data, &in); err != nil {
		return err
	}
	index := map[ExtenderReason]uint16{}
	out := ExtenderRejections{}
	for _, entry := range in {
		i, known := index[entry.ExtenderReason]
		if !known {
			if len(out.Reasons) > math.MaxUint16 {
				return errors.New("an extender's rejections have too many reasons")
			}
			i = uint16(len(out.Reasons))
			index[entry.ExtenderReason] = i
			out.Reasons = append(out.Reasons, entry.ExtenderReason)
		}
		out.Nodes = append(out.Nodes, entry.Node)
		out.ReasonOf = append(out.ReasonOf, i)
	}
	*r = out
	return nil
}

// ScoreExtender holds an extender's scores. Extenders have no normalized score: the answer × Weight
// counts.
type ScoreExtender struct {
	Name string
	// Weight is the configured weight, scaled to the scores of plugins (× MaxScore ÷
	// MaxExtenderPriority).
	Weight int64
	// Answered and Counted have a value per node of the Score. Counted is Answered × Weight, 0 for
	// nodes in Unscored.
	Answered, Counted Column
	// Unscored are nodes for which the extender's answer had no score. It counts as 0.
	Unscored []string
}

// scoreExtenderJSON is an extender's column head in the public form of Score.
type scoreExtenderJSON struct {
	Name   string `json:"name"`
	Weight int64  `json:"weight"`
}

// extendersJSON is the extenders' part of the public form of Score. Rows are
// nodes; an answer is null where the extender gave the node no score.
type extendersJSON struct {
	Extenders []scoreExtenderJSON `json:"extenders,omitempty"`
	Answered  [][]*int64          `json:"answered,omitempty"`
	Counted   [][]int64           `json:"counted,omitempty"`
}

// publicExtenders returns the public form, with nodes in the given order.
func (s *Score) publicExtenders(order []int) extendersJSON {
	if len(s.Extenders) == 0 {
		return extendersJSON{}
	}
	out := extendersJSON{Answered: make([][]*int64, len(order)), Counted: make([][]int64, len(order))}
	for _, e := range s.Extenders {
		out.Extenders = append(out.Extenders, scoreExtenderJSON{Name: e.Name, Weight: e.Weight})
		unscored := make(map[string]bool, len(e.Unscored))
		for _, node := range e.Unscored {
			unscored[node] = true
		}
		for at, i := range order {
			answer := new(int64)
			*answer = e.Answered.At(i)
			if unscored[s.Nodes.At(i)] {
				answer = nil
			}
			out.Answered[at] = append(out.Answered[at], answer)
			out.Counted[at] = append(out.Counted[at], e.Counted.At(i))
		}
	}
	return out
}

func (in extendersJSON) scoreExtenders(nodes []string) ([]ScoreExtender, error) {
	if len(in.Extenders) == 0 {
		return nil, nil
	}
	counted, err := columns(in.Counted, len(nodes), len(in.Extenders))
	if err != nil {
		return nil, fmt.Errorf("score counted: %w", err)
	}
	if len(in.Answered) != len(nodes) {
		return nil, fmt.Errorf("score answered: %d rows for %d nodes", len(in.Answered), len(nodes))
	}
	out := make([]ScoreExtender, len(in.Extenders))
	for e, head := range in.Extenders {
		out[e] = ScoreExtender{Name: head.Name, Weight: head.Weight, Counted: counted[e]}
		answered := make([]int64, len(nodes))
		for i, row := range in.Answered {
			if len(row) != len(in.Extenders) {
				return nil, fmt.Errorf("score answered: row %d has %d values for %d extenders", i, len(row), len(in.Extenders))
			}
			if row[e] == nil {
				out[e].Unscored = append(out[e].Unscored, nodes[i])
				continue
			}
			answered[i] = *row[e]
		}
		out[e].Answered = NewColumn(answered)
	}
	return out, nil
}
