package agents

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/google/jsonschema-go/jsonschema"

	"kube-scheduler-simulator/scheduler/result"
)

type decisionsQuestion struct {
	Namespace string `json:"namespace,omitempty"`
	Pod       string `json:"pod,omitempty"`
	Outcome   string `json:"outcome,omitempty"`
	Text      string `json:"text,omitempty"`
	Plugin    string `json:"plugin,omitempty"`
	Reason    string `json:"reason,omitempty"`
	Node      string `json:"node,omitempty"`
	Since     string `json:"since,omitempty"`
	Limit     int    `json:"limit,omitempty"`
	Continue  string `json:"continue,omitempty"`
}

var searchDecisions = tool[decisionsQuestion]{
	name:  "search_decisions",
	title: "Search decisions",
	description: "What has the scheduler decided lately? Use it to find pods: those that are pending, those that a plugin rejects, those that went to a node. " +
		"Lists recorded decisions, newest first; explain_pod then explains one pod. Needs a running simulator.",
	properties: map[string]*jsonschema.Schema{
		"namespace": name("Only pods of this namespace."),
		"pod":       name("Only the pod of this name."),
		"outcome":   {Type: "string", Enum: outcomes(), Description: "Only this outcome."},
		"text":      name("Words that must occur in the pod's name, its owner, the node, or the plugin or reason of a refusal."),
		"plugin":    name("Only decisions in which this plugin rejected nodes or the pod."),
		"reason":    {Type: "string", MinLength: new(1), MaxLength: new(1000), Description: "Only this reason of a plugin, such as Insufficient cpu."},
		"node":      name("Only pods that went to this node, or are nominated to it."),
		"since":     {Type: "string", MaxLength: new(40), Description: "Only decisions since then, such as 2026-01-02T15:04:05Z."},
		"limit":     number("How many. Default: 10.", 1, 50),
		"continue":  {Type: "string", MaxLength: new(1000), Description: "From the end of an earlier answer: the next page."},
	},
	without: true,
	answer: func(ctx context.Context, c *call, in decisionsQuestion) (any, error) {
		list := c.server.options.Decisions
		if list == nil {
			return nil, errors.New(c.server.options.Missing)
		}
		q := result.Query{
			Namespace: in.Namespace, Name: in.Pod, Outcome: result.Outcome(in.Outcome), Text: in.Text, Plugin: in.Plugin,
			Reason: in.Reason, Node: in.Node, Limit: cmp.Or(in.Limit, 10), Continue: in.Continue, Counts: true,
		}
		if in.Since != "" {
			var err error
			if q.Since, err = time.Parse(time.RFC3339, in.Since); err != nil {
				return nil, errors.New("since: want a time such as 2026-01-02T15:04:05Z")
			}
		}
		page, err := list(ctx, q)
		if err != nil {
			return nil, err
		}
		matching := len(page.Items)
		if page.Counts != nil {
			matching = page.Counts.Matching
		}
		c.line("%d matching, %d shown, newest first", matching, len(page.Items))
		if page.Continue != "" {
			c.line("next page: continue %s", page.Continue)
		}
		for i := range page.Items {
			c.decision(&page.Items[i])
		}
		return page, nil
	},
}

func outcomes() []any {
	out := make([]any, len(result.Outcomes))
	for i, o := range result.Outcomes {
		out[i] = string(o)
	}
	return out
}

func (c *call) decision(s *result.Summary) {
	pod, at := s.Pod.Namespace+"/"+s.Pod.Name, word(s.StartTime.UTC().Format(time.RFC3339))
	switch {
	case s.SelectedNode != "":
		c.line("%s %s attempt %d: %s on %s", at, pod, s.Attempt, word(s.Outcome), s.SelectedNode)
	case s.Refusal != nil:
		c.line("%s %s attempt %d: %s: %s", at, pod, s.Attempt, word(s.Outcome), fmt.Sprintf("%s: %s", s.Refusal.Plugin, cmp.Or(s.Refusal.Reason, s.Message)))
	default:
		c.line("%s %s attempt %d: %s: %s", at, pod, s.Attempt, word(s.Outcome), s.Message)
	}
}
