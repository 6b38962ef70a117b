package result

import (
	"iter"
	"slices"
)

// answered lists, in running order, the extension points at which plugins answer for the pod as a
// whole.
var answered = []struct {
	// point is as in ExtensionPoint.Name.
	point string
	of    func(*Cycle) *[]PluginResult
	// rejects: an answer here can end a cycle.
	rejects bool
}{
	{"preEnqueue", func(c *Cycle) *[]PluginResult { return &c.PreEnqueue }, false},
	{"preFilter", func(c *Cycle) *[]PluginResult { return &c.PreFilter }, true},
	{"postFilter", func(c *Cycle) *[]PluginResult { return &c.PostFilter }, false},
	{"preScore", func(c *Cycle) *[]PluginResult { return &c.PreScore }, true},
	{"reserve", func(c *Cycle) *[]PluginResult { return &c.Reserve }, true},
	{"permit", func(c *Cycle) *[]PluginResult { return &c.Permit }, true},
	{"preBindPreFlight", func(c *Cycle) *[]PluginResult { return &c.PreBindPreFlight }, true},
	{"preBind", func(c *Cycle) *[]PluginResult { return &c.PreBind }, true},
	{"bind", func(c *Cycle) *[]PluginResult { return &c.Bind }, true},
	{"postBind", func(c *Cycle) *[]PluginResult { return &c.PostBind }, false},
	{"unreserve", func(c *Cycle) *[]PluginResult { return &c.Unreserve }, false},
}

// Answers yields, by extension point, what the plugins answered for the pod as a whole.
func (c *Cycle) Answers() iter.Seq2[string, []PluginResult] {
	return func(yield func(string, []PluginResult) bool) {
		for _, row := range answered {
			if !yield(row.point, *row.of(c)) {
				return
			}
		}
	}
}

// CopyAnswers copies the lists of answers of another cycle.
func (c *Cycle) CopyAnswers(from *Cycle) {
	for _, row := range answered {
		*row.of(c) = slices.Clone(*row.of(from))
	}
}

// firstAnswer returns the first answer with one of these statuses that could end the cycle, or nil.
func firstAnswer(c *Cycle, statuses ...string) (extensionPoint string, answer *PluginResult) {
	first := func(answers []PluginResult) *PluginResult {
		if i := slices.IndexFunc(answers, func(a PluginResult) bool { return slices.Contains(statuses, a.Status) }); i >= 0 {
			return &answers[i]
		}
		return nil
	}
	for _, row := range answered {
		if row.point == "preBind" { // the wait for a permit comes before
			if a := first(c.PermitWait.answer()); a != nil {
				return "permit", a
			}
		}
		if a := first(*row.of(c)); a != nil && row.rejects {
			return row.point, a
		}
	}
	return "", nil
}
