package explain

import (
	"kube-scheduler-simulator/scheduler/result"
)

// PluginPanicked: a call of a plugin, or of an extender, panicked. The scheduler went
// on: the call counted as failed.
type PluginPanicked struct {
	Plugin string `json:"plugin"`
	Call   string `json:"call"`
}

func (s PluginPanicked) english() string {
	return sprintf("%s panicked in %s, and the call counted as failed.", s.Plugin, s.Call)
}

func panicked(c *result.Cycle) []Operands {
	var out []Operands
	for _, p := range c.Panics {
		out = append(out, PluginPanicked{Plugin: p.Plugin, Call: p.Call})
	}
	return out
}
