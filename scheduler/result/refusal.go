package result

import (
	"cmp"
	"maps"
	"slices"
	"strings"
)

// Refusal says in a line who kept a pod from its place, and with which words: of
// the reasons that plugins and extenders gave for nodes, the one that most nodes
// share; otherwise the answer of the extension point that ended the cycle or, at
// Permit, holds the pod.
type Refusal struct {
	// ExtensionPoint is as in ExtensionPoint.Name.
	ExtensionPoint string `json:"extensionPoint"`
	// Plugin is a plugin, or an extender by its URL prefix.
	Plugin string `json:"plugin"`
	Reason string `json:"reason,omitempty"`
	// Nodes were rejected for this reason; 0 when no node was.
	Nodes int `json:"nodes,omitempty"`
	// Others counts further reasons for which nodes were rejected.
	Others int `json:"others,omitempty"`
}

// FindRefusal returns nil for a pod that was scheduled, and when nobody in
// particular kept it from its place. c is only read.
func FindRefusal(c *Cycle) *Refusal {
	switch c.Outcome {
	case Waiting:
		return answered(c, "Wait")
	case Error:
		return cmp.Or(answered(c, "Error"), extenderFailed(c), nodesRefused(c, Failed))
	case Unschedulable:
		// With a node chosen, what came later ended the cycle.
		if c.SelectedNode == "" {
			if r := nodesRefused(c, Rejected); r != nil {
				return r
			}
		}
		return answered(c, "Unschedulable", "UnschedulableAndUnresolvable", "Pending")
	}
	return nil
}

// answered returns the first answer with one of these statuses, in the order in
// which the extension points run.
func answered(c *Cycle, statuses ...string) *Refusal {
	for _, point := range []struct {
		name    string
		answers []PluginResult
	}{
		{"preFilter", c.PreFilter}, {"preScore", c.PreScore}, {"reserve", c.Reserve}, {"permit", c.Permit}, {"preBind", c.PreBind}, {"bind", c.Bind},
	} {
		for _, a := range point.answers {
			if slices.Contains(statuses, a.Status) {
				return &Refusal{ExtensionPoint: point.name, Plugin: a.Plugin, Reason: strings.Join(a.Reasons, ", ")}
			}
		}
	}
	return nil
}

// extenderFailed returns the first call whose failure ended the cycle.
func extenderFailed(c *Cycle) *Refusal {
	points := map[ExtenderVerb]string{ExtenderFilter: "filter", ExtenderPrioritize: "score", ExtenderPreempt: "postFilter", ExtenderBind: "bind"}
	for _, call := range c.Extenders {
		if call.Status == "Error" && !call.Ignored {
			return &Refusal{ExtensionPoint: points[call.Verb], Plugin: call.Plugin, Reason: strings.Join(call.Reasons, ", ")}
		}
	}
	return nil
}

// said is a reason in the words of who gave it; it may be without words.
type said struct{ plugin, reason string }

// nodesRefused returns the reason that most nodes share. how is the state in
// which their plugin left them; extenders only reject.
func nodesRefused(c *Cycle, how byte) *Refusal {
	nodes := map[said]int{}
	if c.Filter != nil {
		countVerdicts(c.Filter, how, nodes)
	}
	if how == Rejected {
		countRejections(c.Extenders, nodes)
	}
	if len(nodes) == 0 {
		return nil
	}
	most := slices.MinFunc(slices.Collect(maps.Keys(nodes)), func(a, b said) int {
		return cmp.Or(cmp.Compare(nodes[b], nodes[a]), strings.Compare(a.plugin, b.plugin), strings.Compare(a.reason, b.reason))
	})
	return &Refusal{ExtensionPoint: "filter", Plugin: most.plugin, Reason: most.reason, Nodes: nodes[most], Others: len(nodes) - 1}
}

func countVerdicts(f *Filter, how byte, nodes map[said]int) {
	of := make([]int, len(f.Verdicts))
	for _, v := range f.VerdictOf {
		of[v]++
	}
	for v, verdict := range f.Verdicts {
		if verdict.Plugin == "" || !strings.ContainsRune(verdict.States, rune(how)) {
			continue
		}
		for _, reason := range verdict.Reasons {
			nodes[said{verdict.Plugin, reason}] += of[v]
		}
		if len(verdict.Reasons) == 0 {
			nodes[said{plugin: verdict.Plugin}] += of[v]
		}
	}
}

func countRejections(calls []ExtenderCall, nodes map[said]int) {
	for _, call := range calls {
		if call.Rejected == nil || call.Nominated {
			continue
		}
		for i := range call.Rejected.Nodes {
			nodes[said{call.Plugin, call.Rejected.Reason(i).Reason}]++
		}
	}
}
