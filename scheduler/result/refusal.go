package result

import (
	"cmp"
	"slices"
	"strings"
)

// Refusal names the plugin or extender that kept a pod from being scheduled, and its reason: the
// one given for the most nodes, or else the answer of the extension point that ended the cycle or,
// at Permit, holds the pod.
type Refusal struct {
	// ExtensionPoint is a name as in ExtensionPoint.Name.
	ExtensionPoint string `json:"extensionPoint"`
	// Plugin is a plugin, or an extender by its URL prefix.
	Plugin string `json:"plugin"`
	Reason string `json:"reason,omitempty"`
	// Nodes counts the nodes rejected for this reason.
	Nodes int `json:"nodes,omitempty"`
	// Others counts further reasons.
	Others int `json:"others,omitempty"`
	// Further are those reasons, most nodes first, at most MaxFurther of them. Records of earlier
	// versions have none.
	Further []FurtherReason `json:"further,omitempty"`
}

// FurtherReason is a reason for which a plugin or an extender rejected nodes.
type FurtherReason struct {
	Plugin string `json:"plugin"`
	Reason string `json:"reason,omitempty"`
	Nodes  int    `json:"nodes"`
}

// MaxFurther bounds Refusal.Further.
const MaxFurther = 15

// FindRefusal returns nil for a scheduled pod, and when no single plugin or extender refused it. It
// does not change c.
func FindRefusal(c *Cycle) *Refusal {
	switch c.Outcome {
	case Waiting:
		return refusedBy(c, "Wait")
	case Error:
		return cmp.Or(refusedBy(c, "Error"), extenderFailed(c), nodesRefused(c, Failed))
	case Unschedulable:
		// If PreFilter rejected the pod, or a node was chosen, another extension point
		// ended the cycle. The flow scheduler refuses a pod in Permit without choosing a node.
		if point, _ := RejectedBy(c); point != "preFilter" && point != "permit" && c.SelectedNode == "" {
			if r := nodesRefused(c, Rejected); r != nil {
				return r
			}
		}
		return refusedBy(c, rejectedStatuses...)
	}
	return nil
}

var rejectedStatuses = []string{"Unschedulable", "UnschedulableAndUnresolvable", "Pending"}

// RejectedBy returns the first plugin that rejected the pod of c as a whole, with the
// extension point as in ExtensionPoint.Name, or nil.
func RejectedBy(c *Cycle) (extensionPoint string, answer *PluginResult) {
	return firstAnswer(c, rejectedStatuses...)
}

func refusedBy(c *Cycle, statuses ...string) *Refusal {
	point, a := firstAnswer(c, statuses...)
	if a == nil {
		return nil
	}
	return &Refusal{ExtensionPoint: point, Plugin: a.Plugin, Reason: strings.Join(a.Reasons, ", ")}
}

func extenderFailed(c *Cycle) *Refusal {
	points := map[ExtenderVerb]string{ExtenderFilter: "filter", ExtenderPrioritize: "score", ExtenderPreempt: "postFilter", ExtenderBind: "bind"}
	for _, call := range c.Extenders {
		if call.Status == "Error" && !call.Ignored {
			return &Refusal{ExtensionPoint: points[call.Verb], Plugin: call.Plugin, Reason: strings.Join(call.Reasons, ", ")}
		}
	}
	return nil
}

// nodesRefused returns the most common reason of the nodes that a plugin left in
// the given state.
func nodesRefused(c *Cycle, state byte) *Refusal {
	var all []FurtherReason
	for _, r := range rejections(c, state) {
		for _, reason := range r.Reasons {
			all = append(all, FurtherReason{Plugin: r.Plugin, Reason: reason.Reason, Nodes: reason.Nodes})
		}
	}
	if all == nil {
		return nil
	}
	slices.SortStableFunc(all, func(a, b FurtherReason) int {
		return cmp.Or(cmp.Compare(b.Nodes, a.Nodes), strings.Compare(a.Plugin, b.Plugin))
	})
	most, others := all[0], all[1:]
	refusal := &Refusal{ExtensionPoint: "filter", Plugin: most.Plugin, Reason: most.Reason, Nodes: most.Nodes, Others: len(others)}
	if n := min(len(others), MaxFurther); n > 0 {
		refusal.Further = slices.Clone(others[:n])
	}
	return refusal
}
