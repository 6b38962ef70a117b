package dryrun

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	v1 "k8s.io/api/core/v1"
	"sigs.k8s.io/karpenter/pkg/cloudprovider"
	"sigs.k8s.io/karpenter/pkg/controllers/disruption"
	"sigs.k8s.io/karpenter/pkg/controllers/provisioning"
	podutils "sigs.k8s.io/karpenter/pkg/utils/pod"
	"sigs.k8s.io/karpenter/pkg/utils/resources"

	"kube-scheduler-simulator/simulator/autoscaling/provider"
)

// DisruptionQuestion asks what Karpenter's disruption would do about the nodes at one time. Unlike the other questions it takes the
// NodeClaims of State as they are: only those count whose conditions say so, and a node without one is not Karpenter's.
type DisruptionQuestion struct {
	// State is read while Disrupt runs; it must not change.
	State State
	// Provider says what nodes cost, and what they could be replaced by.
	Provider *provider.Provider
	// Now is the time by which the schedules of budgets and the ages of pods and nodes are judged.
	Now time.Time
	// Nominated are nodes that are expected to get a pod soon. They stay.
	Nominated map[string]bool
	// Again asks whether an earlier command still holds: whether Karpenter would still remove the same nodes for the same reason. Of empty nodes, it
	// may be some.
	Again *Command
	// From is the node with which to go on where the question before stopped; empty for the first one.
	From string
	// Needless asks about empty and drifted nodes only.
	Needless bool
}

// Command is what Karpenter does about nodes at once.
type Command struct {
	Reason RoundReason
	// Nodes are the nodes that go, by name.
	Nodes []string
	// Replacements are bought before they go. Their names are not those of nodes that exist.
	Replacements []NewNode
	// Places are the nodes that exist and that are to take pods.
	Places []string
	// SavesPerHour is in US dollars.
	SavesPerHour float64
	// several says that it is one about several nodes that are not empty, which Karpenter judges otherwise than each.
	several bool
}

// mostSimulated bounds the underutilized nodes that are simulated for one question, each alone. With 300 nodes each takes up to 70 ms.
// Karpenter stops after three minutes and starts over.
const mostSimulated = 25

// Disrupt returns the first thing that Karpenter's disruption would do, in the order of its methods, without the 15 s after which it
// looks again; nil if there is nothing. rest is the node at which it stopped, because it has simulated enough; empty if it saw all. It may
// be called from any goroutine.
func Disrupt(ctx context.Context, q DisruptionQuestion) (command *Command, rest string, err error) {
	return disrupt(ctx, q, false)
}

func disrupt(ctx context.Context, q DisruptionQuestion, thorough bool) (command *Command, rest string, err error) {
	defer func() {
		if failure := recover(); failure != nil {
			command, rest, err = nil, "", fmt.Errorf("asking Karpenter's disruption: it panicked: %v", failure)
		}
	}()
	ctx = karpenterContext(ctx, q.Provider)
	d, err := newDepartures(ctx, &DepartureQuestion{State: q.State, Provider: q.Provider, Now: q.Now, asTheyAre: true})
	if err != nil {
		return nil, "", fmt.Errorf("asking Karpenter's disruption: copying the state: %w", err)
	}
	a := newActing(d, q, thorough)
	found, method, err := a.first(ctx)
	if err != nil {
		return nil, "", fmt.Errorf("asking Karpenter's disruption: %w", err)
	}
	if found != nil {
		command = a.commandOf(found, method)
	}
	return command, a.rest, nil
}

// acting is the work on a DisruptionQuestion.
type acting struct {
	*departures
	q     DisruptionQuestion
	prov  *provisioning.Provisioner
	queue *disruption.Queue
	// free is what is left on nodes, by name; filled when it is asked for.
	free map[string]v1.ResourceList
	// thorough asks Karpenter about each node, however hopeless.
	thorough bool
	rest     string
}

func newActing(d *departures, q DisruptionQuestion, thorough bool) *acting {
	for name := range d.nodes {
		d.replace(d.snapshot, name, d.settle(d.podsOf[name]))
	}
	a := &acting{departures: d, q: q, prov: d.provisioner(d.snapshot), thorough: thorough}
	a.queue = disruption.NewQueue(d.snapshot, Silent{}, d.cluster, d.now, a.prov)
	return a
}

// hopeless reports whether Karpenter's answer about a node alone is known: it stays. Some of its pods are too large for what is left on
// each other node, and no instance type for less holds these. Simulating takes thousands of times as long.
func (a *acting) hopeless(c *disruption.Candidate) bool {
	if c.Price <= 0 {
		return false
	}
	if a.free == nil {
		a.free = map[string]v1.ResourceList{}
		for name, node := range a.nodes {
			a.free[name] = node.Available()
		}
	}
	var tooLarge []*v1.Pod
	for _, pod := range a.podsOf[c.Name()] {
		if !podutils.IsReschedulable(pod) {
			continue
		}
		requests, fits := resources.RequestsForPods(pod), false
		for name, free := range a.free {
			if fits = name != c.Name() && resources.Fits(requests, free); fits {
				break
			}
		}
		if !fits {
			tooLarge = append(tooLarge, pod)
		}
	}
	if len(tooLarge) == 0 {
		return false
	}
	requests := resources.RequestsForPods(tooLarge...)
	for _, types := range a.types {
		for _, t := range types {
			cheaper := slices.ContainsFunc(t.Offerings, func(o *cloudprovider.Offering) bool { return o.Available && o.Price < c.Price })
			if cheaper && resources.Fits(requests, t.Allocatable()) {
				return false
			}
		}
	}
	return true
}

func (a *acting) methods() []disruption.Method {
	base := disruption.MakeConsolidation(a.now, a.cluster, a.snapshot, a.prov, a.provider, Silent{}, a.queue)
	return []disruption.Method{
		disruption.NewEmptiness(base, disruption.WithValidator(atOnce{})),
		disruption.NewDrift(a.snapshot, a.cluster, a.prov, Silent{}, a.now),
		disruption.NewMultiNodeConsolidation(base, disruption.WithValidator(atOnce{})),
		disruption.NewSingleNodeConsolidation(base, disruption.WithValidator(atOnce{})),
	}
}

// candidates returns the nodes that a method may do something about, by name.
func (a *acting) candidates(ctx context.Context, method disruption.Method) ([]*disruption.Candidate, map[string]disruption.NodePoolTotals, error) {
	all, totals, err := disruption.GetCandidatesWithTotals(ctx, a.cluster, a.snapshot, Silent{}, a.now, a.provider, method.ShouldDisrupt, method.Class(), a.queue, nil)
	slices.SortFunc(all, func(x, y *disruption.Candidate) int { return strings.Compare(x.Name(), y.Name()) })
	return all, totals, err
}

// first returns the first thing that Karpenter would do, and the method that does it; nil if there is nothing.
func (a *acting) first(ctx context.Context) (*disruption.Command, disruption.Method, error) {
	for _, method := range a.methods() {
		again := a.q.Again
		if a.q.Needless && reasonOf(method) == ForUnderutilized {
			continue
		}
		if again != nil && (reasonOf(method) != again.Reason || again.Reason == ForUnderutilized && isSeveral(method) != again.several) {
			continue
		}
		command, err := a.by(ctx, method)
		if err != nil {
			return nil, nil, err
		}
		if command == nil {
			continue
		}
		if again != nil && again.Reason != ForEmpty && !slices.Equal(namesOf(command), again.Nodes) {
			return nil, nil, nil
		}
		return command, method, nil
	}
	return nil, nil, nil
}

func isSeveral(m disruption.Method) bool {
	_, several := m.(*disruption.MultiNodeConsolidation)
	return several
}

// namesOf are the nodes that a command removes, by name.
func namesOf(c *disruption.Command) (names []string) {
	for _, candidate := range c.Candidates {
		names = append(names, candidate.Name())
	}
	slices.Sort(names)
	return names
}

// by returns the first thing that a method would do.
func (a *acting) by(ctx context.Context, method disruption.Method) (*disruption.Command, error) {
	candidates, totals, err := a.candidates(ctx, method)
	if err != nil {
		return nil, err
	}
	candidates = slices.DeleteFunc(candidates, func(c *disruption.Candidate) bool {
		return a.q.Nominated[c.Name()] || a.q.Again != nil && !slices.Contains(a.q.Again.Nodes, c.Name())
	})
	if len(candidates) == 0 {
		return nil, nil
	}
	may, err := disruption.BuildDisruptionBudgetMapping(ctx, a.cluster, a.now, a.snapshot, a.provider, Silent{}, method.Reason())
	if err != nil {
		return nil, err
	}
	ask := func(method disruption.Method, candidates ...*disruption.Candidate) (*disruption.Command, error) {
		if balanced, ok := method.(disruption.NodePoolTotalsSetter); ok {
			balanced.SetNodePoolTotals(totals)
		}
		commands, err := method.ComputeCommands(ctx, maps.Clone(may), candidates...)
		if err == nil {
			err = ctx.Err()
		}
		for _, c := range commands {
			if c.Decision() != disruption.NoOpDecision {
				return &c, err
			}
		}
		return nil, err
	}
	if _, single := method.(*disruption.SingleNodeConsolidation); !single {
		return ask(method, candidates...)
	}
	byName := map[string]*disruption.Candidate{}
	for _, c := range candidates {
		byName[c.Name()] = c
	}
	names, simulated := interwoven(candidates), 0
	if i := slices.Index(names, a.q.From); i > 0 {
		names = slices.Concat(names[i:], names[:i])
	}
	for _, name := range names {
		if !a.thorough && a.hopeless(byName[name]) {
			continue
		}
		if simulated++; simulated > mostSimulated && !a.thorough {
			a.rest = name
			break
		}
		// A method remembers that it found nothing.
		if command, err := ask(a.methods()[3], byName[name]); command != nil || err != nil {
			return command, err
		}
	}
	return nil, nil
}

func (a *acting) commandOf(c *disruption.Command, method disruption.Method) *Command {
	out := &Command{Reason: reasonOf(method), Nodes: namesOf(c), several: isSeveral(method)}
	for _, candidate := range c.Candidates {
		out.SavesPerHour += candidate.Price
	}
	for _, node := range c.Results.ExistingNodes {
		if slices.ContainsFunc(node.Pods, func(p *v1.Pod) bool { return p.Spec.NodeName != "" }) {
			out.Places = append(out.Places, node.Name())
		}
	}
	slices.Sort(out.Places)
	for i, r := range c.Replacements {
		n := a.newNode(r.NodeClaim, a.poolOf(r.NodeClaim), numbered("replacement", i+1))
		out.Replacements = append(out.Replacements, n)
		out.SavesPerHour -= n.PricePerHour
	}
	return out
}
