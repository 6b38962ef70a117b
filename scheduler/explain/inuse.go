package explain

import (
	"strings"

	"kube-scheduler-simulator/scheduler/result"
)

// The statements of this file say where the amounts come from that the nearest node is short of.

// Leaving: of the InUse of a resource on Node, Leaving is held by pods that are terminating.
type Leaving struct {
	Node     string `json:"node"`
	Resource string `json:"resource"`
	InUse    int64  `json:"inUse"`
	Leaving  int64  `json:"leaving"`
	// Pods are some of Count, as namespace/name.
	Pods  []string `json:"pods"`
	Count int      `json:"count"`
}

// PermitHold: Amount of the resource counts as in use on Node for pods that wait for a permit.
type PermitHold struct {
	Node     string `json:"node"`
	Resource string `json:"resource"`
	Amount   int64  `json:"amount"`
	// Pods are some of Count, as namespace/name.
	Pods  []string `json:"pods"`
	Count int      `json:"count"`
}

// Resizing: a pod counts Amount, because its resize from Granted to Asked is not complete.
type Resizing struct {
	Pod      string `json:"pod"`
	Resource string `json:"resource"`
	Amount   int64  `json:"amount"`
	Asked    int64  `json:"asked"`
	Granted  int64  `json:"granted"`
	State    string `json:"state"`
}

// Described: kubectl describe node shows another amount than the InUse that the scheduler counts.
type Described struct {
	Node      string `json:"node"`
	Resource  string `json:"resource"`
	InUse     int64  `json:"inUse"`
	Described int64  `json:"described"`
	// Nominated and Permit: kubectl leaves out pods that are only nominated, or wait for a permit.
	Nominated bool `json:"nominated"`
	Permit    bool `json:"permit"`
	// Resize: kubectl adds up what pods ask for, and the scheduler what they were granted.
	Resize bool `json:"resize"`
}

// Derived: the pod's request for a resource that no node has enough of is more than what one
// container requests.
type Derived struct {
	Pod     string            `json:"pod"`
	Request result.PodRequest `json:"request"`
}

func (s Leaving) english() string {
	verb := "are"
	if s.Count == 1 {
		verb = "is"
	}
	of := func(n int64) string { return amount(Lack{s.Resource, n}) }
	return sprintf("%s of the %s %s in use on %s will be free: %s %s terminating.", of(s.Leaving), of(s.InUse), s.Resource, s.Node, some(s.Pods, s.Count), verb)
}

func (s PermitHold) english() string {
	said := "%s were assigned to %s and count %s there while they wait for a permit."
	if s.Count == 1 {
		said = "%s was assigned to %s and counts %s there while it waits for a permit."
	}
	return sprintf(said, some(s.Pods, s.Count), s.Node, amounts([]Lack{{s.Resource, s.Amount}}))
}

func (s Resizing) english() string {
	return sprintf("%s counts %s %s: %s.", s.Pod, amount(Lack{s.Resource, s.Amount}), s.Resource, resizeText(s.Resource, s.Asked, s.Granted, s.State))
}

func resizeText(name string, asked, granted int64, state string) string {
	if state == result.ResizeInProgress {
		state = "not complete"
	}
	return sprintf("it asked for a resize from %s to %s that is %s", amount(Lack{name, granted}), amount(Lack{name, asked}), state)
}

func (s Described) english() string {
	return sprintf("On %s, kubectl describe shows %s %s and not %s: %s.", s.Node, amount(Lack{s.Resource, s.Described}), s.Resource, amount(Lack{s.Resource, s.InUse}), s.why())
}

func (s Described) why() string {
	var out []string
	if s.Nominated {
		out = append(out, "it leaves out pods that are only nominated")
	}
	if s.Permit {
		out = append(out, "it leaves out pods that wait for a permit")
	}
	if s.Resize {
		out = append(out, "it adds up what pods ask for, whatever they were granted")
	}
	return strings.Join(out, ", ")
}

func (s Derived) english() string {
	return sprintf("%s requests %s %s: %s.", s.Pod, amount(Lack{s.Request.Resource, s.Request.Amount}), s.Request.Resource, derivation(s.Request))
}

// derivation says which containers, running together, request the amount.
func derivation(r result.PodRequest) string {
	of := func(n int64) string { return amount(Lack{r.Resource, n}) }
	each := func(parts []result.RequestPart, between string) string {
		var out []string
		for _, p := range parts {
			out = append(out, sprintf("%s (%s)", p.Container, of(p.Amount)))
		}
		return strings.Join(out, between)
	}
	said := each(r.Parts, " + ")
	switch {
	case r.PodLevel != nil:
		said = of(*r.PodLevel) + " for the pod as a whole, whatever its containers request"
	case r.Init != "" && len(r.Parts) == 2:
		said = sprintf("the init container %s while the sidecar %s runs", each(r.Parts[:1], ""), each(r.Parts[1:], ""))
	case r.Init != "" && len(r.Parts) > 2:
		said = sprintf("the init container %s while the sidecars %s run", each(r.Parts[:1], ""), each(r.Parts[1:], ", "))
	case r.Init != "":
		said = "the init container " + said
	}
	if r.Overhead > 0 {
		said += sprintf(" + %s overhead", of(r.Overhead))
	}
	return said
}

func some(pods []string, count int) string {
	if len(pods) == count && count <= mostNamed {
		return strings.Join(pods, ", ")
	}
	pods = pods[:min(len(pods), mostNamed-1)]
	return sprintf("%s, %d more", strings.Join(pods, ", "), count-len(pods))
}

// inUse says where the amounts of the nearest node come from, and the pod's request.
func inUse(c *result.Cycle, nearest []Operands) []Operands {
	var out []Operands
	for _, s := range nearest {
		if s, ok := s.(Nearest); ok {
			out = append(out, inUseOn(c, s.Node)...)
		}
	}
	return out
}

func resourcesShortOn(c *result.Cycle, node string) []result.ResourceComparison {
	var out []result.ResourceComparison
	for i := range c.Filter.Comparisons {
		if of := &c.Filter.Comparisons[i]; of.Node == node {
			out = append(out, of.Resources...)
		}
	}
	return out
}

func inUseOn(c *result.Cycle, node string) []Operands {
	var out []Operands
	for _, r := range resourcesShortOn(c, node) {
		for _, request := range c.Filter.Requests {
			if request.Resource == r.Name {
				out = append(out, Derived{Pod: c.Pod.Name, Request: request})
			}
		}
		if r.Use != nil {
			out = append(out, holds(node, r)...)
		}
	}
	return out
}

func holds(node string, r result.ResourceComparison) []Operands {
	var out, resizes []Operands
	leaving := Leaving{Node: node, Resource: r.Name, InUse: r.InUse, Leaving: r.Use.Terminating, Pods: []string{}, Count: r.Use.TerminatingPods}
	permits := PermitHold{Node: node, Resource: r.Name, Amount: r.Use.Permit, Pods: []string{}, Count: r.Use.PermitPods}
	described := Described{Node: node, Resource: r.Name, InUse: r.InUse, Described: r.Use.Described, Nominated: r.Use.Nominated > 0, Permit: r.Use.Permit > 0}
	for _, h := range r.Use.Pods {
		name := h.Pod.Namespace + "/" + h.Pod.Name
		if h.Terminating {
			leaving.Pods = append(leaving.Pods, name)
		}
		if h.Permit {
			permits.Pods = append(permits.Pods, name)
		}
		if resize := h.Resize; resize != nil {
			described.Resize = described.Resize || resize.Asked != h.Amount
			resizes = append(resizes, Resizing{Pod: name, Resource: r.Name, Amount: h.Amount, Asked: resize.Asked, Granted: resize.Granted, State: resize.State})
		}
	}
	if leaving.Count > 0 && len(leaving.Pods) > 0 {
		out = append(out, leaving)
	}
	if permits.Count > 0 && len(permits.Pods) > 0 {
		out = append(out, permits)
	}
	out = append(out, resizes...)
	if described.Described != r.InUse && described.why() != "" {
		out = append(out, described)
	}
	return out
}
