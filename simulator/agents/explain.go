package agents

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/google/jsonschema-go/jsonschema"

	"kube-scheduler-simulator/scheduler/explain"
	"kube-scheduler-simulator/scheduler/whatif"
	"kube-scheduler-simulator/simulator/questions/why"
)

var explainPod = tool[subject]{
	name:  "explain_pod",
	title: "Explain a pod",
	description: "Why is this pod pending, or why does it run on that node? Use it first for every question about a pod. " +
		"Says the verdict, each plugin that rejects nodes with the reason and the numbers, the nearest nodes, what the pod waits for, and the least changes that make it fit. " +
		"With manifest it answers for a pod that does not exist yet: will it fit?",
	properties: with(map[string]*jsonschema.Schema{}, true),
	answer: func(ctx context.Context, c *call, in subject) (any, error) {
		q, err := in.question(ctx)
		if err != nil {
			return nil, err
		}
		a, err := c.cluster.Why(ctx, q)
		if err != nil {
			return nil, err
		}
		c.verdict(a)
		c.reasons(a)
		c.changes(a)
		return a, nil
	},
}

type nodeQuestion struct {
	subject
	Node string `json:"node"`
}

var whyNotNode = tool[nodeQuestion]{
	name:  "why_not_node",
	title: "Why not this node?",
	description: "Why does this pod not go to one particular node? Use it when the user names a node on which they expected the pod. " +
		"Says every plugin that rejects that node with the numbers behind it, and the least change that makes the pod fit there.",
	properties: with(map[string]*jsonschema.Schema{"node": name("Name of the node.")}, false),
	required:   []string{"node"},
	answer: func(ctx context.Context, c *call, in nodeQuestion) (any, error) {
		q, err := in.question(ctx)
		if err != nil {
			return nil, err
		}
		q.Node = in.Node
		a, err := c.cluster.Why(ctx, q)
		if err != nil {
			return nil, err
		}
		c.verdict(a)
		c.reasons(a)
		c.changes(a)
		return a, nil
	},
}

type changeQuestion struct {
	subject
	Node  string `json:"node,omitempty"`
	Limit int    `json:"limit,omitempty"`
}

var leastChange = tool[changeQuestion]{
	name:  "least_change",
	title: "The least change",
	description: "What is the least to change so that this pod fits? Use it when the user asks for a fix. " +
		"Lists changes of the pod, of a node, or evictions, the gentlest first, each tried with the scheduler, with the patch to make: pass the patch to what_if to see all that it does. " +
		"The tool changes nothing; making the change is up to the user.",
	properties: with(map[string]*jsonschema.Schema{
		"node":  name("Only changes that make the pod fit on this node. Default: any node."),
		"limit": number("How many changes are wanted. Default: 10.", 1, 20),
	}, true),
	answer: func(ctx context.Context, c *call, in changeQuestion) (any, error) {
		q, err := in.question(ctx)
		if err != nil {
			return nil, err
		}
		q.Node, q.Limit = in.Node, in.Limit
		a, err := c.cluster.Why(ctx, q)
		if err != nil {
			return nil, err
		}
		c.verdict(a)
		if len(a.Changes) == 0 && (a.Verdict == why.Fits || a.Verdict == why.Runs) {
			c.line("no change is needed")
		} else if len(a.Changes) == 0 {
			c.line("no change was found that makes it fit")
		}
		for i, change := range a.Changes {
			c.line("change %d (%s): %s goes to %s", i+1, word(change.Kind), change.Text, place(c, change.SelectedNode))
			if len(change.Changes) > 0 {
				c.line("  changes: %s", c.json(change.Changes))
			}
		}
		c.lasting(a)
		c.reasons(a)
		return a, nil
	},
}

// place is the name of a node, or says that there is none.
func place(c *call, node string) word {
	if node == "" {
		return "no node"
	}
	return word(c.quote(node))
}

// verdict writes what the answer says first.
func (c *call) verdict(a *why.Answer) {
	c.line("verdict: %s", word(a.Verdict))
	c.line("%s", a.Sentence)
	if a.Subject.Node != "" {
		c.line("asked about node %s only", a.Subject.Node)
	}
	if a.Subject.Reported != "" {
		c.line("the cluster's scheduler last said: %s", a.Subject.Reported)
	}
	if p := a.Subject.Pods; p != nil {
		c.line("pods: %d wanted, %d running, %d pending, %d of the rest fit now; explained is %s", p.Wanted, p.Running, p.Pending, p.Fit, cmp.Or(p.Example, a.Subject.Name))
	}
	if a.SelectedNode != "" {
		c.line("node: %s", a.SelectedNode)
	}
	c.choice(a.Choice)
	for _, w := range a.Waits {
		until := word("")
		if w.Until != nil {
			until = word(", until " + w.Until.UTC().Format(time.RFC3339) + " at the latest")
		}
		c.line("waits for %s: %s%s", word(w.For), w.Text, until)
	}
	if e := a.Evicts; e != nil {
		victims := make([]string, len(e.Pods))
		for i, v := range e.Pods {
			victims[i] = v.Namespace + "/" + v.Name + " (priority " + strconv.Itoa(int(v.Priority)) + ")"
		}
		c.line("preemption would evict on %s: %s", e.Node, victims)
		if e.Violations > 0 {
			c.line("  and violate %s", counted(e.Violations, "PodDisruptionBudget"))
		}
	}
	var requests []string
	for _, r := range slices.Sorted(maps.Keys(a.Subject.Requests)) {
		requests = append(requests, r+"="+a.Subject.Requests[r])
	}
	if len(requests) > 0 {
		c.line("the pod requests %s; priority %d", requests, a.Subject.Priority)
	}
	j := a.Judged
	record := word("decided on a copy of the state")
	if j.Record {
		record = "the scheduler's own recorded decision"
	}
	c.line("asked of %s: %s, %s at %s; scheduler %s, kube-scheduler %s, configuration: %s; %s",
		j.Cluster, counted(j.Nodes, "node"), counted(j.Pods, "pod"), word(j.At.UTC().Format(time.RFC3339)), j.Scheduler, j.Version, word(j.Configuration), record)
	for _, n := range a.NotJudged {
		c.line("not judged: %s: %s", n.What, n.Text)
	}
}

func (c *call) choice(choice *why.Choice) {
	if choice == nil {
		return
	}
	c.line("chosen among %d feasible of %d evaluated nodes", choice.Feasible, choice.Evaluated)
	if choice.Over != "" && choice.Total != nil {
		c.line("  total %d, %d more than the next node %s", *choice.Total, choice.Margin, choice.Over)
	}
	if len(choice.Tied) > 0 {
		c.line("  the same total: %s; chance decides", choice.Tied)
	}
	for _, part := range choice.Parts {
		c.line("  %s: %+d", part.Plugin, part.Difference)
	}
	if choice.Today != "" {
		c.line("  today it would go to %s", choice.Today)
	}
	for _, changed := range choice.Changed {
		c.line("  changed since it was placed: %s", changed)
	}
}

// reasons writes who rejects the pod where.
func (c *call) reasons(a *why.Answer) {
	for _, r := range a.Reasons {
		c.line("rejected: %s by %s: %s on %s", counted(r.Count, "node"), r.Plugin, r.Text, r.Nodes)
		for _, d := range r.Details[:min(len(r.Details), 2)] {
			c.line("  on %s: %s", d.Nodes, strings.Join(d.Lines, "; "))
		}
	}
	for _, n := range a.Nearest {
		lacks := make([]string, len(n.Lacks))
		for i, l := range n.Lacks {
			lacks[i] = lack(l)
		}
		if len(lacks) == 0 {
			c.line("nearest: %s, only %s in the way", n.Node, n.Plugins)
		} else {
			c.line("nearest: %s, only %s in the way, lacks %s", n.Node, n.Plugins, lacks)
		}
	}
}

// lack writes an amount with its resource.
func lack(l explain.Lack) string { return why.Amount(l) + " " + l.Resource }

// changes writes the changes in a line each; least_change has their patches.
func (c *call) changes(a *why.Answer) {
	for i, change := range a.Changes {
		c.line("change %d (%s): %s goes to %s", i+1, word(change.Kind), change.Text, place(c, change.SelectedNode))
	}
	c.lasting(a)
}

func (c *call) lasting(a *why.Answer) {
	for _, l := range a.Lasting {
		guarded := word("no change was found against")
		if l.Guarded {
			guarded = "pods that may not be evicted are in the way of"
		}
		c.line("%s %s: %s on %s", guarded, l.Plugin, l.Text, l.Nodes)
	}
}

// asked says what an answer is about.
func (c *call) asked(s whatif.State) {
	c.line("asked of %s: %s, %s; nothing was changed", c.cluster.Name(), counted(s.Nodes, "node"), counted(s.Pods, "pod"))
}

// notAsked says who may decide otherwise.
func (c *call) notAsked(n whatif.NotAsked) {
	for _, who := range []struct {
		names []string
		says  word
	}{
		{n.PermitNotAsked, "Permit plugins, which may make the pod wait, or reject it"},
		{n.ExtendersNotAsked, "extenders, which may reject nodes, or prefer others"},
		{n.AutoscalersNotAsked, "autoscalers, which may add nodes, or remove some"},
		{n.ControllersNotAsked, "controllers, which may create, change or delete pods"},
		{n.GatesNotAsked, "the controllers that open scheduling gates"},
	} {
		if len(who.names) > 0 {
			c.line("not asked: %s: %s", who.says, who.names)
		}
	}
}
