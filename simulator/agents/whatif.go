package agents

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/google/jsonschema-go/jsonschema"

	"kube-scheduler-simulator/scheduler/explain"
	"kube-scheduler-simulator/scheduler/result"
	engine "kube-scheduler-simulator/scheduler/whatif/capacity"
	"kube-scheduler-simulator/simulator/questions/hypothesis"
)

// hypothetical are the parts that questions about another state have in common.
type hypothetical struct {
	subject
	Changes       []hypothesis.Change `json:"changes,omitempty"`
	Configuration string              `json:"configuration,omitempty"`
}

func withChanges(properties map[string]*jsonschema.Schema) map[string]*jsonschema.Schema {
	target := func() map[string]*jsonschema.Schema {
		return map[string]*jsonschema.Schema{
			"apiVersion": name("Such as v1 or policy/v1."), "kind": name("Such as Node or Pod."),
			"namespace": name("Default: default."), "name": name("Name of the object."),
		}
	}
	patch := target()
	patch["patch"] = &jsonschema.Schema{Description: "A strategic merge patch: an object."}
	patch["subresource"] = name("resize, where a suggestion says so.")
	properties["changes"] = &jsonschema.Schema{
		Type: "array", MaxItems: new(maxChanges),
		Description: "Hypothetical changes of the cluster, made in order, before the question is asked. Each is exactly one of apply, patch and delete.",
		Items: &jsonschema.Schema{Type: "object", Properties: map[string]*jsonschema.Schema{
			"apply":  {Types: []string{"object", "string"}, Description: "An object to create or change, as JSON or as a string of YAML."},
			"count":  number("With apply: create this many copies.", 1, 1000),
			"patch":  {Type: "object", Properties: patch, Required: []string{"apiVersion", "kind", "name", "patch"}},
			"delete": {Type: "object", Properties: target(), Required: []string{"apiVersion", "kind", "name"}},
		}},
	}
	properties["configuration"] = document("YAML of a KubeSchedulerConfiguration to ask. Default: the one of the cluster.")
	return with(properties, false)
}

// question returns the question, and how many pods it asks for; 0 for one.
func (h hypothetical) question(ctx context.Context) (hypothesis.Question, int, error) {
	q, err := h.subject.question(ctx)
	if err != nil {
		return hypothesis.Question{}, 0, err
	}
	if q.Workload != nil {
		return hypothesis.Question{}, 0, errors.New("this tool asks about a pod or a manifest, not about a workload of the cluster: name one of its pods")
	}
	q.Changes = append(q.Changes, h.Changes...)
	if h.Configuration != "" {
		q.Configuration = hypothesis.Document(h.Configuration)
	}
	return q.Question, q.Replicas, nil
}

type whatIfQuestion struct {
	hypothetical
	Copies int `json:"copies,omitempty"`
}

var whatIf = tool[whatIfQuestion]{
	name:  "what_if",
	title: "What if?",
	description: "Where would this pod go if something were different? Use it to try a change before anybody makes it: another request, a label, a taint, a new node, a deleted pod, another scheduler configuration. " +
		"A pod that runs is asked as if it were not placed yet. Nothing is changed.",
	properties: withChanges(map[string]*jsonschema.Schema{
		"copies": number("How many copies of the pod to place, one after the other. Default: 1, or the replicas of a workload.", 1, hypothesis.MaxCopies),
	}),
	answer: func(ctx context.Context, c *call, in whatIfQuestion) (any, error) {
		q, replicas, err := in.question(ctx)
		if err != nil {
			return nil, err
		}
		if in.Copies == 0 {
			in.Copies = replicas
		}
		a, err := c.cluster.WhatIf(ctx, hypothesis.WhatIf{Question: q, Copies: in.Copies})
		if err != nil {
			return nil, err
		}
		c.decisions(a.Decisions)
		for _, unknown := range a.NotCounted {
			c.line("not counted: %s", unknown)
		}
		if a.Turn != nil {
			c.line("judged: one turn of %s over all of its pods; later turns may decide otherwise", string(a.Turn.Scheduler))
		}
		c.notAsked(a.NotAsked)
		c.asked(a.State)
		return a, nil
	},
}

// decisions writes where copies of a pod go, and why the first one without a node finds none.
func (c *call) decisions(all []explain.Explained) {
	var nodes []string
	of := map[string]int{}
	var first *explain.Explained
	for i, d := range all {
		if d.Outcome != result.Scheduled {
			if first == nil {
				first = &all[i]
			}
			continue
		}
		if of[d.SelectedNode]++; of[d.SelectedNode] == 1 {
			nodes = append(nodes, d.SelectedNode)
		}
	}
	switch {
	case len(all) == 0:
		c.line("nothing was decided")
	case len(all) == 1 && first == nil:
		c.line("would go to %s: %d feasible of %s", nodes[0], all[0].Nodes.Feasible, counted(all[0].Nodes.Evaluated, "evaluated node"))
		c.scores(all[0].Cycle)
		for _, remark := range all[0].Explanation.Remarks {
			c.line("%s", remark)
		}
		c.rejections(all[0].Cycle)
	case len(all) > 1:
		placed := 0
		for _, n := range of {
			placed += n
		}
		c.line("%d of %d copies would find a node", placed, len(all))
		for _, node := range nodes {
			c.line("  %s: %d", node, of[node])
		}
	}
	if first == nil {
		return
	}
	c.line("would find no node: %s", first.Explanation.Sentence)
	c.victims(first.Cycle)
	c.rejections(first.Cycle)
}

// scores writes the best totals.
func (c *call) scores(of *result.Cycle) {
	if of.Score == nil {
		return
	}
	type total struct {
		node string
		is   int64
	}
	var totals []total
	for i, node := range of.Score.Nodes.All() {
		totals = append(totals, total{node, of.Score.Totals.At(i)})
	}
	slices.SortStableFunc(totals, func(a, b total) int { return int(b.is - a.is) })
	for _, t := range totals[:min(len(totals), 3)] {
		c.line("  total %d: %s", t.is, t.node)
	}
}

// rejections writes which plugin rejects which nodes for which reason, and what it compared on one.
func (c *call) rejections(of *result.Cycle) {
	if of.Filter == nil {
		return
	}
	for _, plugin := range of.Filter.Plugins {
		var reasons []string
		nodes := map[string][]string{}
		for _, r := range explain.RejectedBy(of, plugin) {
			reason := strings.Join(r.Reasons, ", ")
			if nodes[reason] == nil {
				reasons = append(reasons, reason)
			}
			nodes[reason] = append(nodes[reason], r.Node)
		}
		for _, reason := range reasons {
			on := nodes[reason]
			c.line("rejected: %s by %s: %s on %s", counted(len(on), "node"), plugin, reason, on)
			if lines := explain.Compared(of, on[0], plugin); len(lines) > 0 {
				c.line("  on %s: %s", on[0], strings.Join(lines, "; "))
			}
		}
	}
	for _, call := range of.Extenders {
		if call.Rejected != nil {
			c.line("rejected by the extender %s: %s", call.Plugin, call.Rejected.Nodes)
		}
	}
}

// victims names the pods that preemption would evict.
func (c *call) victims(of *result.Cycle) {
	if said := explain.PreemptionVerdict(of); said != "" {
		c.line("%s", said)
	}
	if of.Preemption == nil || of.Preemption.Chosen == "" {
		return
	}
	for _, candidate := range of.Preemption.Candidates {
		if candidate.Node != of.Preemption.Chosen {
			continue
		}
		victims := make([]string, len(candidate.Victims))
		for i, v := range candidate.Victims {
			victims[i] = fmt.Sprintf("%s/%s (priority %d)", v.Pod.Namespace, v.Pod.Name, v.Priority)
		}
		c.line("preemption would evict on %s: %s", candidate.Node, victims)
	}
}

type capacityQuestion struct {
	hypothetical
	Limit     int    `json:"limit,omitempty"`
	NodesLike string `json:"nodesLike,omitempty"`
	For       int    `json:"for,omitempty"`
}

var capacity = tool[capacityQuestion]{
	name:  "capacity",
	title: "How many more?",
	description: "How many more of this pod fit, where, and what stops the next one? Use it for questions about room, and before a scale-up. " +
		"With nodesLike and for it also counts the new nodes that are needed.",
	properties: withChanges(map[string]*jsonschema.Schema{
		"limit":     number("How many pods end the count. Default: 1000.", 1, engine.MaxLimit),
		"nodesLike": name("Name of a node: count how many more nodes like it are needed."),
		"for":       number("With nodesLike: how many pods are wanted. Default: 1.", 1, engine.MaxLimit),
	}),
	answer: func(ctx context.Context, c *call, in capacityQuestion) (any, error) {
		q, _, err := in.question(ctx)
		if err != nil {
			return nil, err
		}
		asked := hypothesis.Capacity{Question: q, Limit: in.Limit}
		switch {
		case in.NodesLike != "":
			asked.NodesNeeded = &engine.NodesNeeded{Like: in.NodesLike, For: max(in.For, 1)}
		case in.For != 0:
			return nil, errors.New("for needs nodesLike")
		}
		a, err := c.cluster.Capacity(ctx, asked)
		if err != nil {
			return nil, err
		}
		c.capacity(a)
		return a, nil
	},
}

func (c *call) capacity(a *engine.Answer) {
	if a.Complete {
		c.line("%d more fit", a.Fits)
	} else {
		c.line("%d more fit, and perhaps further ones: the count ended there", a.Fits)
	}
	if g := a.Group; g != nil && g.Minimum > 1 {
		c.line("the PodGroup %s needs %d members before any of them runs, has %d, and there is room for %d more", g.Name, g.Minimum, g.Bound, g.Places)
	}
	if n := a.NodesNeeded; n != nil {
		switch {
		case n.Enough && n.PricePerHour != nil:
			c.line("%s like %s make room for %d, for $%.4g more an hour", counted(n.Nodes, "more node"), n.Like, n.For, float64(n.Nodes)**n.PricePerHour)
		case n.Enough:
			c.line("%s like %s make room for %d", counted(n.Nodes, "more node"), n.Like, n.For)
		case n.Unknown:
			c.line("%s like %s make room for %d, not for %d; whether further ones would help is not known", counted(n.Nodes, "more node"), n.Like, n.Fits, n.For)
		default:
			c.line("%s like %s make room for %d, not for %d, and further ones would not help", counted(n.Nodes, "more node"), n.Like, n.Fits, n.For)
		}
		for _, s := range n.Stopped {
			c.line("  one more is rejected by %s: %s", s.Plugin, s.Reason)
		}
		for _, unknown := range n.NotCounted {
			c.line("not counted: %s", unknown)
		}
	}
	for _, s := range a.Stopped {
		c.line("the next one is rejected on %s by %s: %s on %s", counted(len(s.Nodes), "node"), s.Plugin, s.Reason, s.Nodes)
	}
	for _, r := range a.Resources {
		c.line("then free of %s: %s of %s, %s of it where something else rejects the pod",
			r.Name, lack(explain.Lack{Resource: r.Name, Amount: r.Free}), lack(explain.Lack{Resource: r.Name, Amount: r.Allocatable}), lack(explain.Lack{Resource: r.Name, Amount: r.Stranded}))
	}
	if cost := a.Cost; cost != nil {
		c.line("the nodes cost $%.4g an hour, of which $%.4g is for what no pod requests, and then $%.4g; %s without a price left out", cost.PerHour, cost.UnusedPerHour, cost.ThenUnusedPerHour, counted(cost.Unpriced, "node"))
		if cost.PerPodHour != nil {
			c.line("one of the pods takes $%.4g an hour of the price of its node", *cost.PerPodHour)
		}
	}
	c.notAsked(a.NotAsked)
	c.asked(a.State)
	nodes := slices.SortedStableFunc(slices.Values(a.Nodes), func(a, b engine.Node) int { return b.Count - a.Count })
	for _, n := range nodes {
		c.line("%s takes %d", n.Name, n.Count)
	}
}
