package stepwise

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	v1 "k8s.io/api/core/v1"
	karpenter "sigs.k8s.io/karpenter/pkg/apis/v1"
	podutils "sigs.k8s.io/karpenter/pkg/utils/pod"

	"kube-scheduler-simulator/simulator/autoscaling/dryrun"
)

// provision decides about all pods that wait, and those of nodes that go.
func (a *Autoscaler) provision(ctx context.Context, w World) error {
	a.batchFrom, a.batchLast, a.decided, a.podsStale = time.Time{}, time.Time{}, a.now(), false
	s, err := a.state(w)
	if err != nil {
		return err
	}
	var pods []*v1.Pod
	for _, pod := range s.Pods {
		m := a.machines[pod.Spec.NodeName]
		going := m != nil && (m.leaving || m.ending != nil) && podutils.IsActive(pod) && podutils.IsReschedulable(pod)
		if a.waiting[pod.UID] != nil || going {
			pods = append(pods, pod)
		}
	}
	if len(pods) == 0 {
		return nil
	}
	answer, err := dryrun.Ask(ctx, dryrun.Question{State: s, Provider: a.cloud(&s), Pods: pods, Brief: true})
	if err != nil {
		return err
	}
	for _, n := range answer.NewNodes {
		if _, err := a.launch(w, n, ForPods, nil); err != nil {
			return err
		}
	}
	for i, p := range answer.Pods {
		a.answered(pods[i], p)
	}
	for i, p := range answer.Pods {
		if m := a.machines[p.Node]; p.Verdict == dryrun.OnExistingNode && m != nil && pods[i].Spec.NodeName == "" {
			m.nominatedUntil = later(m.nominatedUntil, later(a.now(), m.joins).Add(nomination))
		}
	}
	a.podsStale = false // what it bought is no news
	return nil
}

// answered notes what becomes of a pod.
func (a *Autoscaler) answered(pod *v1.Pod, p dryrun.Placement) {
	wait := a.waiting[pod.UID]
	if wait == nil {
		return
	}
	delete(a.answers, pod.UID)
	switch p.Verdict {
	case dryrun.OnNewNode:
		wait.bought = true
		return
	case dryrun.OnExistingNode:
		if m := a.machines[p.Node]; m == nil || m.initialized {
			a.answers[pod.UID] = fmt.Sprintf("the autoscaler finds room on node %s, and so buys none", p.Node)
		}
		return
	}
	a.answers[pod.UID] = refusalOf(p)
	if reason := a.answers[pod.UID]; a.told[pod.UID] != reason {
		a.told[pod.UID] = reason
		e := Event{Kind: Refused, Reason: reason}
		e.about([]string{wait.name})
		a.note(e)
	}
}

// refusalOf says why no NodePool helps a pod.
func refusalOf(p dryrun.Placement) string {
	if len(p.Refused) == 0 {
		return cmp.Or(p.Reason, "no NodePool helps")
	}
	var parts []string
	for _, r := range p.Refused {
		parts = append(parts, fmt.Sprintf("NodePool %s: %s", r.NodePool, r.Reason))
	}
	return strings.Join(parts, "; ")
}

// pollDue returns when disruption looks at the nodes; zero if it would find what it found before.
func (a *Autoscaler) pollDue() time.Time {
	if a.validating != nil {
		return a.validateAt
	}
	if a.settings.KeepNodes || len(a.machines) == 0 {
		return time.Time{}
	}
	var at time.Time
	plan := func(t time.Time) {
		if at.IsZero() || t.Before(at) {
			at = t
		}
	}
	if a.nodesStale {
		plan(a.now())
	}
	if a.lookStale && a.few() {
		plan(later(a.now(), a.lookAt))
	}
	for _, m := range a.machines {
		if t := a.ripe(m); t.After(a.polled) {
			plan(t)
		}
	}
	if a.scheduled() {
		plan(a.polled.Add(scheduledRecheck))
	}
	if at.IsZero() {
		return at
	}
	// The next look at or after that time.
	passed := max(at.Sub(a.polled), polling)
	return a.polled.Add((passed + polling - 1) / polling * polling)
}

// few reports whether few pods wait for nodes that were bought: the look for underutilized nodes comes when the others have theirs.
func (a *Autoscaler) few() bool { return len(a.waiting)-len(a.answers) <= mostWaiting }

// scheduled reports whether what may go depends on the time of the day.
func (a *Autoscaler) scheduled() bool {
	for _, np := range a.pools {
		if slices.ContainsFunc(np.Spec.Disruption.Budgets, func(b karpenter.Budget) bool { return b.Schedule != nil }) {
			return true
		}
	}
	return false
}

// ripe returns when a machine becomes one that may go; zero for never.
func (a *Autoscaler) ripe(m *machine) time.Time {
	t := a.consolidatable(m)
	if t.IsZero() {
		return t
	}
	return later(t, m.nominatedUntil)
}

// disrupt looks what could be done about nodes, or looks again at what it has found.
func (a *Autoscaler) disrupt(ctx context.Context, w World) error {
	again := a.validating
	for _, m := range a.machines {
		t := a.ripe(m)
		a.lookStale = a.lookStale || t.After(a.polled) && !t.After(a.now())
	}
	a.lookStale = a.lookStale || a.scheduled() && a.now().Sub(a.polled) >= scheduledRecheck
	if a.now().Sub(a.lookAt) > a.lookWait {
		a.lookWait = 0 // it was quiet
	}
	look := again != nil || a.lookStale && !a.now().Before(a.lookAt) && a.few()
	a.validating, a.polled, a.nodesStale = nil, a.now(), false
	if !look && !a.anyEmptyOrDrifted(w) {
		return nil
	}
	s, err := a.state(w)
	if err != nil {
		return err
	}
	s.Pods = slices.DeleteFunc(s.Pods, func(p *v1.Pod) bool { return a.answers[p.UID] != "" })
	q := dryrun.DisruptionQuestion{State: s, Provider: a.cloud(&s), Now: a.now(), Nominated: map[string]bool{}, Again: again, Needless: !look, From: a.lookFrom}
	for name, m := range a.machines {
		q.Nominated[name] = m.nominatedUntil.After(a.now())
	}
	found, rest, err := dryrun.Disrupt(ctx, q)
	if err != nil {
		return err
	}
	if look && again == nil {
		a.lookStale, a.lookFrom = found != nil || rest != "", rest
		a.lookWait = min(max(2*a.lookWait, polling), lookMost)
		if a.lookStale {
			a.lookWait = 0
		}
		a.lookAt = a.now().Add(a.lookWait)
	}
	switch {
	case found == nil && again != nil:
		a.touch() // something has changed meanwhile
		return nil
	case found == nil:
		return nil
	case again == nil && found.Reason != dryrun.ForDrift:
		a.validating, a.validateAt = found, a.now().Add(validation)
		return nil
	}
	a.touch()
	return a.begin(w, found)
}

// anyEmptyOrDrifted reports whether there may be a node that goes whatever the others have.
func (a *Autoscaler) anyEmptyOrDrifted(w World) bool {
	used := map[string]bool{}
	for _, o := range w.List(podKind) {
		if pod := o.(*v1.Pod); podutils.IsReschedulable(pod) {
			used[pod.Spec.NodeName] = true
		}
	}
	for name, m := range a.machines {
		if t := a.ripe(m); !t.IsZero() && !t.After(a.now()) && !used[name] || a.drifted(m) {
			return true
		}
	}
	return false
}

// command is a removal that waits for its replacements.
type command struct {
	reason       string
	machines     map[string]bool
	replacements []*machine
	begun        time.Time
}

// begin carries a command out.
func (a *Autoscaler) begin(w World, found *dryrun.Command) error {
	c := &command{reason: string(found.Reason), machines: map[string]bool{}, begun: a.now()}
	for i, name := range found.Nodes {
		m := a.machines[name]
		c.machines[name], m.leaving = true, true
		if err := a.taint(w, name, true); err != nil {
			return err
		}
		e := Event{Kind: Removing, Node: name, NodePool: m.nodePool(), Reason: c.reason}
		if i == 0 {
			e.SavesPerHour = found.SavesPerHour
		}
		a.note(e)
	}
	for _, n := range found.Replacements {
		m, err := a.launch(w, n, c.reason, found.Nodes)
		if err != nil {
			return err
		}
		c.replacements = append(c.replacements, m)
	}
	for _, name := range found.Places {
		if m := a.machines[name]; m != nil {
			m.nominatedUntil = a.now().Add(nomination)
		}
	}
	a.commands = append(a.commands, c)
	a.touch()
	return nil
}

// due returns when a command goes on, or is given up.
func (c *command) due(a *Autoscaler) (at time.Time, awaited bool) {
	if slices.ContainsFunc(c.replacements, func(m *machine) bool { return !m.initialized }) {
		return c.begun.Add(commandMost), false
	}
	return a.now(), true
}

// carryOn drains the nodes of a command, or gives it up.
func (a *Autoscaler) carryOn(w World, c *command) error {
	a.commands = slices.DeleteFunc(a.commands, func(other *command) bool { return other == c })
	a.touch()
	ready := !slices.ContainsFunc(c.replacements, func(m *machine) bool { return !m.initialized })
	for _, name := range slices.Sorted(maps.Keys(c.machines)) {
		m := a.machines[name]
		if m == nil || m.ending != nil {
			continue
		}
		if ready {
			if err := a.end(w, m, c.reason); err != nil {
				return err
			}
			continue
		}
		m.leaving = false
		a.note(Event{Kind: Kept, Node: name, NodePool: m.nodePool(), Reason: "its replacement did not become ready within " + commandMost.String()})
		if err := a.taint(w, name, false); err != nil {
			return err
		}
	}
	return nil
}
