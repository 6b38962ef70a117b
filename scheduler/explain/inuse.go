package explain

import (
	"fmt"
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

// NominatedHold: Amount of the resource counts as in use on Node for pods that are only nominated
// to it.
type NominatedHold struct {
	Node     string `json:"node"`
	Resource string `json:"resource"`
	Amount   int64  `json:"amount"`
	// Pods are some of Count, as namespace/name.
	Pods  []string `json:"pods"`
	Count int      `json:"count"`
}

// PermitHold: Amount of the resource counts as in use on Node for a pod that waits for a permit.
type PermitHold struct {
	Pod      string `json:"pod"`
	Node     string `json:"node"`
	Resource string `json:"resource"`
	Amount   int64  `json:"amount"`
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

func (Leaving) Kind() Kind       { return "leaving" }
func (NominatedHold) Kind() Kind { return "nominatedHold" }
func (PermitHold) Kind() Kind    { return "permitHold" }
func (Resizing) Kind() Kind      { return "resizing" }
func (Described) Kind() Kind     { return "described" }
func (Derived) Kind() Kind       { return "derived" }

func (s Leaving) english() string {
	verb := "are"
	if s.Count == 1 {
		verb = "is"
	}
	of := func(n int64) string { return amount(Lack{s.Resource, n}) }
	return fmt.Sprintf("%s of the %s %s in use on %s will be free: %s %s terminating.", of(s.Leaving), of(s.InUse), s.Resource, s.Node, some(s.Pods, s.Count), verb)
}

func (s NominatedHold) english() string {
	verb, counts := "are", "count"
	if s.Count == 1 {
		verb, counts = "is", "counts"
	}
	return fmt.Sprintf("%s %s nominated to %s and %s %s %s there.", some(s.Pods, s.Count), verb, s.Node, counts, amount(Lack{s.Resource, s.Amount}), s.Resource)
}

func (s PermitHold) english() string {
	return fmt.Sprintf("%s was assigned to %s and counts %s %s there while it waits for a permit.", s.Pod, s.Node, amount(Lack{s.Resource, s.Amount}), s.Resource)
}

func (s Resizing) english() string {
	return fmt.Sprintf("%s counts %s %s: %s.", s.Pod, amount(Lack{s.Resource, s.Amount}), s.Resource, resizeText(s.Resource, s.Asked, s.Granted, s.State))
}

// resizeText says of a pod what it asks for.
func resizeText(name string, asked, granted int64, state string) string {
	if state == result.ResizeInProgress {
		state = "not complete"
	}
	return fmt.Sprintf("it asked for a resize from %s to %s that is %s", amount(Lack{name, granted}), amount(Lack{name, asked}), state)
}

func (s Described) english() string {
	return fmt.Sprintf("On %s, kubectl describe shows %s %s and not %s: %s.", s.Node, amount(Lack{s.Resource, s.Described}), s.Resource, amount(Lack{s.Resource, s.InUse}), s.why())
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
	return fmt.Sprintf("%s requests %s %s: %s.", s.Pod, amount(Lack{s.Request.Resource, s.Request.Amount}), s.Request.Resource, derivation(s.Request))
}

// derivation says which containers, running together, request the amount.
func derivation(r result.PodRequest) string {
	of := func(n int64) string { return amount(Lack{r.Resource, n}) }
	each := func(parts []result.RequestPart, between string) string {
		var out []string
		for _, p := range parts {
			out = append(out, fmt.Sprintf("%s (%s)", p.Container, of(p.Amount)))
		}
		return strings.Join(out, between)
	}
	said := each(r.Parts, " + ")
	switch {
	case r.PodLevel != nil:
		said = of(*r.PodLevel) + " for the pod as a whole, whatever its containers request"
	case r.Init != "" && len(r.Parts) == 2:
		said = fmt.Sprintf("the init container %s while the sidecar %s runs", each(r.Parts[:1], ""), each(r.Parts[1:], ""))
	case r.Init != "" && len(r.Parts) > 2:
		said = fmt.Sprintf("the init container %s while the sidecars %s run", each(r.Parts[:1], ""), each(r.Parts[1:], ", "))
	case r.Init != "":
		said = "the init container " + said
	}
	if r.Overhead > 0 {
		said += fmt.Sprintf(" + %s overhead", of(r.Overhead))
	}
	return said
}

// some lists pods of count.
func some(pods []string, count int) string {
	if len(pods) == count && count <= mostNamed {
		return strings.Join(pods, ", ")
	}
	pods = pods[:min(len(pods), mostNamed-1)]
	return fmt.Sprintf("%s, %d more", strings.Join(pods, ", "), count-len(pods))
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

func inUseOn(c *result.Cycle, node string) []Operands {
	var out []Operands
	for i := range c.Filter.Comparisons {
		of := &c.Filter.Comparisons[i]
		if of.Node != node {
			continue
		}
		for _, r := range of.Resources {
			for _, request := range c.Filter.Requests {
				if request.Resource == r.Name {
					out = append(out, Derived{Pod: c.Pod.Name, Request: request})
				}
			}
			if r.Use != nil {
				out = append(out, holds(node, r)...)
			}
		}
	}
	return out
}

func holds(node string, r result.ResourceComparison) []Operands {
	var out, resizes, permits []Operands
	leaving := Leaving{Node: node, Resource: r.Name, InUse: r.InUse, Leaving: r.Use.Terminating, Pods: []string{}, Count: r.Use.TerminatingPods}
	nominated := NominatedHold{Node: node, Resource: r.Name, Amount: r.Use.Nominated, Pods: []string{}, Count: r.Use.NominatedPods}
	described := Described{Node: node, Resource: r.Name, InUse: r.InUse, Described: r.Use.Described, Nominated: r.Use.Nominated > 0}
	for _, h := range r.Use.Pods {
		name := h.Pod.Namespace + "/" + h.Pod.Name
		if h.Terminating {
			leaving.Pods = append(leaving.Pods, name)
		}
		if h.Nominated {
			nominated.Pods = append(nominated.Pods, name)
		}
		if h.Permit {
			described.Permit = true
			permits = append(permits, PermitHold{Pod: name, Node: node, Resource: r.Name, Amount: h.Amount})
		}
		if resize := h.Resize; resize != nil {
			described.Resize = described.Resize || resize.Asked != h.Amount
			resizes = append(resizes, Resizing{Pod: name, Resource: r.Name, Amount: h.Amount, Asked: resize.Asked, Granted: resize.Granted, State: resize.State})
		}
	}
	if leaving.Count > 0 && len(leaving.Pods) > 0 {
		out = append(out, leaving)
	}
	if nominated.Count > 0 && len(nominated.Pods) > 0 {
		out = append(out, nominated)
	}
	out = append(append(out, permits...), resizes...)
	if described.Described != r.InUse && described.why() != "" {
		out = append(out, described)
	}
	return out
}
