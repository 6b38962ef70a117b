package agents

import (
	"context"

	"github.com/google/jsonschema-go/jsonschema"

	"kube-scheduler-simulator/simulator/questions/drain"
	"kube-scheduler-simulator/simulator/questions/why"
)

// maxDrained bounds the nodes of a preview.
const maxDrained = 20

type drainQuestion struct {
	Node           string   `json:"node"`
	Further        []string `json:"further"`
	TimeoutSeconds int      `json:"timeoutSeconds"`
}

var previewDrain = tool[drainQuestion]{
	name:  "preview_drain",
	title: "Preview a drain",
	description: "What would happen if these nodes were drained? Use it before a node is taken out of service. " +
		"Plays kubectl drain with --force, --ignore-daemonsets and --delete-emptydir-data in virtual time: says when each pod is evicted, which PodDisruptionBudget delays or blocks it, " +
		"where its replacement lands or why it stays pending, and whether the nodes become empty. It evicts nothing.",
	properties: map[string]*jsonschema.Schema{
		"node":           name("Name of the node to drain."),
		"further":        {Type: "array", Items: name("Name of a node."), MaxItems: new(maxDrained), Description: "Nodes to drain after it, in this order."},
		"timeoutSeconds": {Type: "integer", Minimum: new(0.0), Maximum: new(86400.0), Description: "After how long to give up a node; 0 for never."},
	},
	required: []string{"node"},
	answer: func(ctx context.Context, c *call, in drainQuestion) (any, error) {
		a, err := c.cluster.Drain(ctx, drain.Question{Nodes: append([]string{in.Node}, in.Further...), IgnoreDaemonSets: true, DeleteEmptyDirData: true, Force: true, TimeoutSeconds: in.TimeoutSeconds})
		if err != nil {
			return nil, err
		}
		c.line("%s", a.Sentence)
		for _, n := range a.Nodes {
			c.line("node %s: %s", n.Name, string(n.Outcome))
			for _, problem := range n.Errors {
				c.line("  %s", problem)
			}
		}
		// What needs attention comes first: an answer may be cut.
		for _, fate := range []drain.Fate{drain.Blocked, drain.Pending, drain.Gone, drain.Moves} {
			for _, e := range a.Evictions {
				if e.Fate == fate {
					c.eviction(e)
				}
			}
		}
		c.unjudged(a.NotJudged)
		c.line("asked of %s; nothing was changed; pods were taken to be ready %d s after they had a node", c.cluster.Name(), a.Judged.StartSeconds)
		return a, nil
	},
}

func (c *call) eviction(e drain.Eviction) {
	pod := e.Namespace + "/" + e.Name
	switch {
	case e.Error != "":
		c.line("%s: not evicted: %s", pod, e.Error)
	case e.Fate == drain.Blocked:
		c.line("%s: blocked by the PodDisruptionBudget %s", pod, e.Budget)
	case e.Fate == drain.Pending:
		c.line("%s: replacement stays pending", pod)
		for _, r := range e.Reasons {
			c.line("  %s on %s: %s", r.Plugin, counted(r.Count, "node"), r.Text)
		}
	case e.Fate == drain.Gone:
		c.line("%s: goes for good: no controller creates it again", pod)
	case e.Evicted != nil && *e.Evicted > e.Asked:
		c.line("%s: replacement goes to %s, evicted %d s after it was asked for, because of the PodDisruptionBudget %s", pod, e.To, *e.Evicted-e.Asked, e.Budget)
	default:
		c.line("%s: replacement goes to %s", pod, e.To)
	}
}

func (c *call) unjudged(all []why.NotJudged) {
	for _, n := range all {
		c.line("not judged: %s: %s", n.What, n.Text)
	}
}
