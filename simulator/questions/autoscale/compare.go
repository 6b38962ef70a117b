package autoscale

import (
	"fmt"
	"strings"

	"kube-scheduler-simulator/scheduler/result"
	"kube-scheduler-simulator/simulator/autoscaling/dryrun"
	"kube-scheduler-simulator/simulator/questions/why"
)

// blind is what makes most of the difference.
const blind = "The autoscaler knows requests, taints, affinity, spread, ports and volumes, and nothing else of the scheduler's plugins."

// compare fills in what the scheduler decides about a pod, and how that differs from what the autoscaler thinks.
func (p *Pod) compare(t turns) {
	s := &Scheduler{Node: t.first.SelectedNode, Nominated: t.first.NominatedNode, Reasons: []why.Reason{}}
	if t.first.Outcome != result.Scheduled {
		s.Node = ""
	}
	if t.then != nil && t.then.Outcome == result.Scheduled {
		s.Then = t.then.SelectedNode
	}
	p.Scheduler = s
	differ := func(kind DisagreementKind, format string, args ...any) {
		p.Disagreement = &Disagreement{kind, fmt.Sprintf(format, args...)}
	}
	switch {
	case p.Verdict == dryrun.OnExistingNode && s.Node == "" && s.Nominated == "" && s.Then == "":
		s.Reasons = why.ReasonsOf(t.first, p.Node)
		differ(RoomRefused, "The autoscaler finds room on %s and adds no node; the scheduler does not put the pod there: %s. Neither will act. %s", p.Node, reasonText(s.Reasons), blind)
	case p.Verdict == dryrun.OnNewNode && s.Node != "":
		differ(NodeUnneeded, "The autoscaler would buy %s for the pod; the scheduler binds it to %s, and needs no new node. To the autoscaler, a preference is a requirement at first.", p.Node, s.Node)
	case p.Verdict == dryrun.OnNewNode && s.Nominated != "":
		differ(Preempts, "The autoscaler would buy %s for the pod; the scheduler makes room on %s by preemption. Whoever is first decides: of a nominated pod, the autoscaler takes no notice.", p.Node, s.Nominated)
	case p.Verdict == dryrun.OnNewNode && s.Then == "":
		s.Reasons = why.ReasonsOf(t.then, p.Node)
		differ(NodeRefused, "The autoscaler would buy %s for the pod; the scheduler does not put it there: %s. The node would stay without it. %s", p.Node, reasonText(s.Reasons), blind)
	case (p.Verdict == dryrun.OnNone || p.Verdict == dryrun.NotJudged && p.Kind != dryrun.Gated && p.Kind != dryrun.Nominated) && s.Node != "":
		differ(FitsAlready, "The autoscaler helps no further; the scheduler binds the pod to %s, which is there already.", s.Node)
	}
}

// reasonText is the reasons in a few words.
func reasonText(reasons []why.Reason) string {
	var out []string
	for _, r := range reasons {
		out = append(out, r.Plugin+" says "+strings.TrimSuffix(r.Text, "."))
	}
	if len(out) == 0 {
		return "it prefers no node there"
	}
	return strings.Join(out, "; ")
}
