package explain

import (
	"strings"

	"kube-scheduler-simulator/scheduler/result"
)

type ExtenderFailure struct {
	Extender string              `json:"extender"`
	Verb     result.ExtenderVerb `json:"verb"`
	Message  string              `json:"message"`
	// Ignored: the scheduler went on without the answer.
	Ignored bool `json:"ignored"`
}

func (f ExtenderFailure) english() string {
	if f.Ignored {
		return sprintf("The extender %s failed at %s and was ignored: %s", f.Extender, f.Verb, f.Message)
	}
	return sprintf("The extender %s failed at %s: %s", f.Extender, f.Verb, f.Message)
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

// fatal returns the failure that ended the cycle, or nil.
func fatal(failures []ExtenderFailure) *ExtenderFailure {
	for i := range failures {
		if !failures[i].Ignored {
			return &failures[i]
		}
	}
	return nil
}

// NodesFromExtender: the extender has no node cache, so the scheduler made the nodes that the
// plugins scored from its answer. These have no pods and no images.
type NodesFromExtender struct {
	Extender string `json:"extender"`
}

func (s NodesFromExtender) english() string {
	return sprintf("The extender %s has no node cache, so the plugins that score were given nodes without their pods and images.", s.Extender)
}

// nodesFromExtender names the last extender that returned whole nodes.
func nodesFromExtender(c *result.Cycle) []Operands {
	if c.Score == nil || c.Score.Facts == nil || !c.Score.Facts.FromExtender {
		return nil
	}
	var out []Operands
	for _, call := range c.Extenders {
		if call.Verb == result.ExtenderFilter && call.WholeNodes && call.Status == "Success" {
			out = []Operands{NodesFromExtender{Extender: call.Plugin}}
		}
	}
	return out
}
