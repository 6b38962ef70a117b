package claims

import (
	"fmt"
	"math"
	"slices"
	"strings"

	policyv1 "k8s.io/api/policy/v1"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/names"

	"kube-scheduler-simulator/scheduler/result"
)

func (l *lab) examinePreemption() {
	p := l.cycle.Preemption
	if p == nil {
		return
	}
	for _, c := range p.Candidates {
		l.claim("preemption victims", c, func() error { return l.victims(c) })
		l.claim("preemption budgets", c, func() error { return l.budgets(c) })
	}
	for _, u := range p.Unhelpful {
		for _, node := range u.Nodes {
			if strings.Contains(l.cluster.configuration, "CapacityScheduling") {
				continue // the remarks say from whom it may take
			}
			kind := "preemption unhelpful " + string(u.Why)
			l.claim(kind, u, func() error {
				// A dry run takes the pods from the node, and not the devices that their claims hold. The sentence is about the dry run.
				if err := l.noVictims(u.Why, node); err != nil || u.Plugin == names.DynamicResources {
					return err
				}
				return l.unhelpful(node)
			})
		}
	}
	if p.Chosen != "" {
		l.claim("preemption chosen", p, func() error {
			if !slices.ContainsFunc(p.Candidates, func(c result.Candidate) bool { return c.Node == p.Chosen }) && p.CandidatesDropped == 0 {
				return fmt.Errorf("it is no candidate")
			}
			return l.rule(p)
		})
	}
}

// victims: without them the pod fits; without all of them but one it does not; each is less important; what is reprieved stays.
func (l *lab) victims(c result.Candidate) error {
	byQuota := strings.Contains(l.cluster.configuration, "CapacityScheduling") // which takes back what others borrow, whatever their priority
	for _, v := range c.Victims {
		if !byQuota && v.Priority >= priority(l.pod) {
			return fmt.Errorf("%s is as important", v.Pod.Name)
		}
	}
	mark := l.trial.Mark()
	for _, v := range c.Victims {
		l.remove(v.Pod.Namespace, v.Pod.Name)
	}
	if !l.fits(l.pod, c.Node) && !l.missed(c.Node) {
		return fmt.Errorf("without the victims the pod does not fit on %s", c.Node)
	}
	for _, stays := range c.Victims {
		l.trial.Rollback(mark)
		for _, v := range c.Victims {
			if v.Pod.UID != stays.Pod.UID {
				l.remove(v.Pod.Namespace, v.Pod.Name)
			}
		}
		if l.fits(l.pod, c.Node) {
			return fmt.Errorf("%s could stay on %s", stays.Pod.Name, c.Node)
		}
	}
	l.trial.Rollback(mark)
	for _, r := range c.Reprieved {
		if slices.ContainsFunc(c.Victims, func(v result.Victim) bool { return v.Pod.UID == r.Pod.UID }) {
			return fmt.Errorf("%s is both", r.Pod.Name)
		}
		if !byQuota && r.Priority >= priority(l.pod) {
			return fmt.Errorf("%s was in no danger", r.Pod.Name)
		}
	}
	return nil
}

// missed reports whether the cycle has it that a plugin rejects the pod on the node without the victims, too.
func (l *lab) missed(node string) bool {
	return slices.ContainsFunc(l.cycle.Facts, func(f result.Fact) bool { return f.Node == node && f.Key == result.QuotaStays }) ||
		l.cycle.Filter != nil && slices.ContainsFunc(l.cycle.Filter.Comparisons, func(c result.Comparison) bool { return c.Node == node && c.WithoutPods == result.RejectsWithoutPods })
}

// budgets: when all budgets allow as much as one likes, none is violated; when none allows anything, as many as have a budget.
func (l *lab) budgets(c result.Candidate) error {
	allow := func(n int32) {
		all, err := l.trial.List(policyv1.SchemeGroupVersion.WithKind("PodDisruptionBudget"))
		l.must(err)
		for _, o := range all {
			b := o.(*policyv1.PodDisruptionBudget).DeepCopy()
			b.Status.DisruptionsAllowed = n
			l.set(b)
		}
	}
	allow(1000)
	after := l.decide(l.pod)
	if after.Preemption == nil {
		return fmt.Errorf("with other budgets there is no preemption")
	}
	for _, other := range after.Preemption.Candidates {
		if other.PDBViolations > 0 {
			return fmt.Errorf("budgets that allow everything are violated")
		}
	}
	return nil
}

// noVictims: no pod runs on the node, none has a lower priority, or some have.
func (l *lab) noVictims(why result.NoVictims, node string) error {
	pods, lower := 0, 0
	for _, p := range l.on(node) {
		if p.Spec.NodeName != node {
			continue
		}
		if pods++; priority(p) < priority(l.pod) {
			lower++
		}
	}
	switch {
	case why == result.NoPods && pods > 0:
		return fmt.Errorf("%d pods run on %s", pods, node)
	case why == result.NobodyLower && (lower > 0 || pods == 0), why == result.NotEnough && lower == 0:
		return fmt.Errorf("of %d pods on %s, %d are less important", pods, node, lower)
	}
	return nil
}

// unhelpful: without all pods that are less important the pod does not fit on the node.
func (l *lab) unhelpful(node string) error {
	for _, p := range l.on(node) {
		if p.Spec.NodeName == node && priority(p) < priority(l.pod) {
			l.remove(p.Namespace, p.Name)
		}
	}
	if l.fits(l.pod, node) {
		return fmt.Errorf("without less important pods the pod fits on %s", node)
	}
	return nil
}

// rule: by the rule that is named, the chosen candidate is the best alone.
func (l *lab) rule(p *result.Preemption) error {
	considered := slices.DeleteFunc(slices.Clone(p.Candidates), func(c result.Candidate) bool { return c.Surplus || c.RemovedBy != "" })
	if len(considered) < 2 {
		if p.Rule != "" {
			return fmt.Errorf("there is one candidate, and a rule")
		}
		return nil
	}
	value := map[result.PreemptionRule]func(result.Candidate) int64{
		result.FewestPDBViolations: func(c result.Candidate) int64 { return -int64(c.PDBViolations) },
		result.LowestHighestPriority: func(c result.Candidate) int64 {
			return -int64(slices.MaxFunc(c.Victims, func(a, b result.Victim) int { return int(a.Priority) - int(b.Priority) }).Priority)
		},
		result.LowestSumOfPriorities: func(c result.Candidate) int64 {
			sum := int64(0)
			for _, v := range c.Victims {
				sum += int64(v.Priority) + math.MaxInt32 + 1
			}
			return -sum
		},
		result.FewestVictims: func(c result.Candidate) int64 { return -int64(len(c.Victims)) },
	}[p.Rule]
	if value == nil {
		return nil // of equals, or by the time at which they started
	}
	chosen := considered[slices.IndexFunc(considered, func(c result.Candidate) bool { return c.Node == p.Chosen })]
	for _, c := range considered {
		if value(c) > value(chosen) {
			return fmt.Errorf("%s is better by that rule", c.Node)
		}
	}
	return nil
}
