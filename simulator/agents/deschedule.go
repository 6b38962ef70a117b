package agents

import (
	"context"

	"github.com/google/jsonschema-go/jsonschema"

	"kube-scheduler-simulator/simulator/questions/deschedule"
	"kube-scheduler-simulator/simulator/questions/disruption"
)

// maxPolicyText bounds the policy of a preview, in characters.
const maxPolicyText = 64 << 10

type descheduleQuestion struct {
	Policy string `json:"policy"`
	Rounds int    `json:"rounds"`
}

var previewDeschedule = tool[descheduleQuestion]{
	name:  "preview_deschedule",
	title: "Preview the descheduler",
	description: "What would the descheduler do with this policy? Use it before a DeschedulerPolicy is put into effect or changed. " +
		"Runs the descheduler's own plugins on a copy and carries each eviction out there before the next is decided: says which pods each plugin evicts, who refuses an eviction, " +
		"where each replacement lands or why it stays pending, and what the descheduler's own dry run would say. It evicts nothing.",
	properties: map[string]*jsonschema.Schema{
		"policy": {Type: "string", MinLength: new(1), MaxLength: new(maxPolicyText), Description: "A DeschedulerPolicy of descheduler/v1alpha2, in YAML."},
		"rounds": {Type: "integer", Minimum: new(1.0), Maximum: new(float64(deschedule.MaxRounds)), Description: "How often the descheduler runs, five minutes apart; 1 by default."},
	},
	required: []string{"policy"},
	answer: func(ctx context.Context, c *call, in descheduleQuestion) (any, error) {
		a, err := c.cluster.Deschedule(ctx, deschedule.Question{Policy: in.Policy, Rounds: in.Rounds})
		if err != nil {
			return nil, err
		}
		c.line("%s", a.Sentence)
		// What needs attention comes first: an answer may be cut.
		for _, fate := range []disruption.Fate{disruption.Pending, disruption.Gone, disruption.Moves, disruption.Ended} {
			for _, e := range a.Evictions {
				if e.Fate != fate {
					continue
				}
				by := e.Plugin
				if e.Preempted {
					by = "a replacement, which preempts it"
				}
				c.line("%s/%s: evicted from %s by %s", e.Namespace, e.Name, e.Node, by)
				switch fate {
				case disruption.Pending:
					c.line("  its replacement stays pending")
					for _, r := range e.Reasons {
						c.line("  %s on %s: %s", r.Plugin, counted(r.Count, "node"), r.Text)
					}
				case disruption.Gone:
					c.line("  no controller creates it again")
				case disruption.Moves:
					c.line("  its replacement goes to %s", e.To)
				}
			}
		}
		for _, r := range a.Refused {
			c.line("%s/%s: %s asks for its eviction, refused by %s: %s", r.Namespace, r.Name, r.Plugin, string(r.By), r.Text)
		}
		c.unjudged(a.NotJudged)
		c.line("asked of %s; nothing was changed; pods were taken to be ready %d s after they had a node", c.cluster.Name(), a.Judged.StartSeconds)
		return a, nil
	},
}
