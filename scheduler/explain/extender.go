package explain

import (
	"fmt"
	"strings"

	"kube-scheduler-simulator/scheduler/result"
)

// ExtenderFailure is a call to an extender that failed.
type ExtenderFailure struct {
	Extender string              `json:"extender"`
	Verb     result.ExtenderVerb `json:"verb"`
	Message  string              `json:"message"`
	// Ignored: the scheduler went on without the answer.
	Ignored bool `json:"ignored"`
}

func extenderFailures(c *result.Cycle) []ExtenderFailure {
	var out []ExtenderFailure
	for _, call := range c.Extenders {
		if call.Status == "Error" {
			out = append(out, ExtenderFailure{
				Extender: call.Plugin, Verb: call.Verb, Message: strings.Join(call.Reasons, ", "), Ignored: call.Ignored,
			})
		}
	}
	return out
}

// noReason stands for what an extender did not say.
const noReason = "no reason given"

// addExtenders counts the nodes that extenders took out of the search. Those
// that they refused as the nominated node were tried again in it.
func (t *tally) addExtenders(c *result.Cycle) {
	for _, call := range c.Extenders {
		if call.Rejected == nil || call.Nominated {
			continue
		}
		nodes := make([]int, len(call.Rejected.Reasons))
		for _, r := range call.Rejected.ReasonOf {
			nodes[r]++
		}
		for r, reason := range call.Rejected.Reasons {
			said := reason.Reason
			if said == "" {
				said = noReason
			}
			t.add(call.Plugin, nodes[r], said)
		}
	}
}

// fatal returns the failure that ended the cycle, or nil.
func fatal(failures []ExtenderFailure) *ExtenderFailure {
	for i := range failures {
		if !failures[i].Ignored {
			return &failures[i]
		}
	}
	return nil
}

// failuresSentence tells of the failures that did not end the cycle.
func failuresSentence(c *result.Cycle, failures []ExtenderFailure) string {
	var said strings.Builder
	for _, f := range failures {
		switch {
		case f.Ignored:
			fmt.Fprintf(&said, " The extender %s failed at %s and was ignored: %s", f.Extender, f.Verb, f.Message)
		case c.Outcome != result.Error:
			fmt.Fprintf(&said, " The extender %s failed at %s: %s", f.Extender, f.Verb, f.Message)
		}
	}
	return said.String()
}
