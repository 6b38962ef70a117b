package autoscale

import (
	"context"
	"slices"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"kube-scheduler-simulator/simulator/autoscaling/dryrun"
	"kube-scheduler-simulator/simulator/autoscaling/instances"
	"kube-scheduler-simulator/simulator/questions/hypothesis"
)

// helpTime bounds what Help adds to the time of another answer.
const helpTime = 5 * time.Second

// Help adds what the autoscaler would do to an answer about a pod that no node takes. Without a catalog, it buys the built-in instance types. It adds nothing in a cluster without NodePools, for a
// question about one node, and to one with changes or a configuration that the autoscaler does not have. An autoscaler that cannot be
// asked is no reason to lose the rest of the answer, so there is no error.
func Help(ctx context.Context, c Cluster, catalog *instances.Catalog, q hypothesis.Fit, answer *hypothesis.FitAnswer) {
	if answer == nil || answer.Fits || q.Node != "" || q.Configuration != nil || q.Profile != "" {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, helpTime)
	defer cancel()
	pools, err := c.List(ctx, dryrun.NodePoolKind, metav1.NamespaceAll)
	if err != nil || len(pools) == 0 {
		return
	}
	asked := Question{Catalog: catalog, alone: true}
	if q.PodRef != nil {
		asked.Pods = []hypothesis.PodName{*q.PodRef}
	} else {
		asked.Objects = []hypothesis.Document{q.Pod}
	}
	for _, change := range q.Changes {
		if change.Apply == nil || change.Count != nil {
			return
		}
		asked.there = append(asked.there, change.Apply)
	}
	found, err := Ask(ctx, c, asked)
	if err != nil || len(found.Pods) != 1 {
		return
	}
	answer.Autoscaler = found.short()
}

// short is the answer about the only pod.
func (a *Answer) short() *hypothesis.Autoscaler {
	p := &a.Pods[0]
	out := &hypothesis.Autoscaler{Verdict: string(p.Verdict), Text: p.Sentence, By: "Karpenter " + a.Judged.Karpenter, Prices: pricesFrom(a.Judged)}
	if p.Verdict == dryrun.OnNone {
		for _, r := range p.Refused {
			out.Refused = append(out.Refused, hypothesis.RefusedPool{NodePool: r.NodePool, Reason: r.Reason})
		}
	}
	if i := slices.IndexFunc(a.NewNodes, func(n dryrun.NewNode) bool { return n.Name == p.Node }); i >= 0 {
		n := a.NewNodes[i]
		out.Node = &hypothesis.BoughtNode{NodePool: n.NodePool, InstanceType: n.InstanceType, Zone: n.Zone, CapacityType: n.CapacityType, PricePerHour: n.PricePerHour}
	}
	if d := p.Disagreement; d != nil {
		out.Disagreement, out.DisagreementText = string(d.Kind), d.Sentence
	}
	return out
}
