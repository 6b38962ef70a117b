package dryrun

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	v1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	karpenter "sigs.k8s.io/karpenter/pkg/apis/v1"
	"sigs.k8s.io/karpenter/pkg/controllers/disruption"
	"sigs.k8s.io/karpenter/pkg/controllers/provisioning/scheduling"
	requirements "sigs.k8s.io/karpenter/pkg/scheduling"
	podutils "sigs.k8s.io/karpenter/pkg/utils/pod"

	"kube-scheduler-simulator/simulator/autoscaling/provider"
)

// RoundsQuestion asks what becomes of a cluster that Karpenter is left alone with: pods that wait get nodes, and nodes that drifted or
// are not needed go, until there is nothing left to do.
type RoundsQuestion struct {
	// State is read while Rounds runs; it must not change.
	State State
	// Provider says what nodes cost, and what can be bought.
	Provider *provider.Provider
	// Was are the NodePools as they were when their nodes were bought: nodes that no longer match theirs have drifted.
	Was []*karpenter.NodePool
	// Now is the time by which the schedules of budgets and the ages of pods are judged, in every round.
	Now time.Time
}

// Rounds are what Karpenter would do, each round on what the ones before it left. Time is not in them: a round of Karpenter's takes at
// least 15 s, and consolidateAfter is taken as passed.
type Rounds struct {
	Rounds []Round `json:"rounds"`
	// Nodes, PricePerHour and Unpriced are those at the end, as in Cost.
	Nodes        int     `json:"nodes"`
	PricePerHour float64 `json:"pricePerHour"`
	Unpriced     int     `json:"unpriced"`
	// Moved counts how often a pod left a node. Evicted names those of the pods that have no owner: no controller creates them again.
	Moved   int      `json:"moved"`
	Evicted []string `json:"evicted"`
	// Pending are the pods that have no node at the end, as namespace/name.
	Pending []string `json:"pending"`
	// Complete says that there is nothing left to do. Otherwise the rounds came to their most, or the time ended.
	Complete bool `json:"complete"`
}

// RoundReason is why a round is made.
type RoundReason string

const (
	ForPods          RoundReason = "pods"          // pods waited
	ForEmpty         RoundReason = "empty"         // nodes had no pod that counts
	ForDrift         RoundReason = "drifted"       // a node did not match its NodePool
	ForUnderutilized RoundReason = "underutilized" // nodes were not needed, or others cost less
)

// Round is what Karpenter does at once.
type Round struct {
	Reason RoundReason `json:"reason"`
	// Gone are the nodes that go, and Bought those that come.
	Gone   []string `json:"gone"`
	Bought []Bought `json:"bought"`
	// Moves are the pods that leave a node, by name.
	Moves []Move `json:"moves"`
	// SavesPerHour is in US dollars, and negative if it costs more.
	SavesPerHour float64 `json:"savesPerHour"`
}

// Bought is a node that came.
type Bought struct {
	Name     string `json:"name"`
	NodePool string `json:"nodePool"`
	provider.Offer
}

// MostRounds bounds Rounds.Rounds.
const MostRounds = 60

// Play plays the rounds. When ctx ends, those that were played are the answer, and it is not complete.
func Play(ctx context.Context, q RoundsQuestion) (*Rounds, error) {
	p := newPlay(q)
	if err := p.all(ctx); err != nil {
		return nil, fmt.Errorf("playing Karpenter's rounds: %w", err)
	}
	return p.out, nil
}

// play is a cluster on its way. The objects of the state are never changed, but replaced.
type play struct {
	q     RoundsQuestion
	state State
	out   *Rounds
	// bought are the nodes that came: they match their NodePools.
	bought map[string]bool
	number int
}

func newPlay(q RoundsQuestion) *play {
	return &play{q: q, state: q.State, out: &Rounds{Rounds: []Round{}, Evicted: []string{}, Pending: []string{}}, bought: map[string]bool{}}
}

func (p *play) all(ctx context.Context) error {
	defer p.end()
	for range MostRounds {
		round, err := p.next(ctx)
		if ctx.Err() != nil {
			return nil
		}
		if err != nil {
			return err
		}
		if round == nil {
			p.out.Complete = true
			return nil
		}
		p.out.Rounds = append(p.out.Rounds, *round)
		p.out.Moved += len(round.Moves)
	}
	return nil
}

func (p *play) next(ctx context.Context) (*Round, error) {
	if round, err := p.provision(ctx); round != nil || err != nil {
		return round, err
	}
	return p.disrupt(ctx)
}

// waiting are the pods that Karpenter would look at.
func (p *play) waiting() (pods []*v1.Pod) {
	for _, pod := range p.state.Pods {
		if kind, _ := passedOver(pod); pod.Spec.NodeName == "" && pod.DeletionTimestamp == nil && kind == "" {
			pods = append(pods, pod)
		}
	}
	return pods
}

// provision gives nodes to pods that wait. It returns nil if nothing can be done for any.
func (p *play) provision(ctx context.Context) (*Round, error) {
	pods := p.waiting()
	if len(pods) == 0 {
		return nil, nil
	}
	answer, err := Ask(ctx, Question{State: p.state, Provider: p.q.Provider, Pods: pods})
	if err != nil {
		return nil, err
	}
	round := &Round{Reason: ForPods, Gone: []string{}, Bought: []Bought{}, Moves: []Move{}}
	names := map[string]string{}
	for _, n := range answer.NewNodes {
		names[n.Name] = p.add(n, round)
	}
	placed := false
	for _, one := range answer.Pods {
		if one.Node == "" {
			continue
		}
		placed = true
		p.place(one.Namespace, one.Name, cmp.Or(names[one.Node], one.Node))
	}
	if !placed {
		return nil, nil
	}
	return round, nil
}

// add adds a node that is bought, under a name that no other has.
func (p *play) add(n NewNode, round *Round) string {
	for {
		p.number++
		name := numbered(n.NodePool, p.number)
		if slices.ContainsFunc(p.state.Nodes, func(node *v1.Node) bool { return node.Name == name }) {
			continue
		}
		node := n.Node.DeepCopy()
		node.Name, node.Labels[v1.LabelHostname] = name, name
		node.Status.Conditions = []v1.NodeCondition{{Type: v1.NodeReady, Status: v1.ConditionTrue}}
		p.state.Nodes = append(slices.Clone(p.state.Nodes), node)
		for _, daemon := range n.Daemons {
			daemon = daemon.DeepCopy()
			daemon.Name, daemon.Spec.NodeName = daemon.Name+"-"+name, name
			p.state.Pods = append(slices.Clone(p.state.Pods), daemon)
		}
		p.bought[name] = true
		round.Bought = append(round.Bought, Bought{name, n.NodePool, n.Offer})
		round.SavesPerHour -= n.PricePerHour
		return name
	}
}

// place puts a pod on a node.
func (p *play) place(namespace, name, node string) {
	i := slices.IndexFunc(p.state.Pods, func(pod *v1.Pod) bool { return pod.Namespace == namespace && pod.Name == name })
	if i < 0 {
		return
	}
	pod := p.state.Pods[i].DeepCopy()
	pod.Spec.NodeName, pod.Status.NominatedNodeName = node, ""
	p.state.Pods = slices.Clone(p.state.Pods)
	p.state.Pods[i] = pod
}

// disrupt does the first thing that Karpenter would do about nodes, in the order of its methods; nil if there is nothing.
func (p *play) disrupt(ctx context.Context) (round *Round, err error) {
	defer func() {
		if failure := recover(); failure != nil {
			round, err = nil, fmt.Errorf("it panicked: %v", failure)
		}
	}()
	ctx = karpenterContext(ctx, p.q.Provider)
	d, err := newDepartures(ctx, &DepartureQuestion{State: p.drifting(), Provider: p.q.Provider, Now: p.q.Now})
	if err != nil {
		return nil, err
	}
	command, method, err := newActing(d, DisruptionQuestion{}, true).first(ctx)
	if command == nil || err != nil {
		return nil, err
	}
	return p.apply(d, *command, reasonOf(method)), nil
}

// interwoven returns the names of nodes in the order in which Karpenter looks at them one by one: those that save most first, of each
// NodePool in turn. Karpenter takes NodePools in any order; here they come by name.
func interwoven(candidates []*disruption.Candidate) (names []string) {
	byPool := map[string][]*disruption.Candidate{}
	for _, c := range candidates {
		byPool[c.NodePool.Name] = append(byPool[c.NodePool.Name], c)
	}
	for _, of := range byPool {
		slices.SortStableFunc(of, func(a, b *disruption.Candidate) int { return cmp.Compare(b.SavingsRatio(), a.SavingsRatio()) })
	}
	for i := range candidates {
		for _, pool := range slices.Sorted(maps.Keys(byPool)) {
			if i < len(byPool[pool]) {
				names = append(names, byPool[pool][i].Name())
			}
		}
	}
	return names
}

func reasonOf(m disruption.Method) RoundReason {
	switch m.Reason() {
	case karpenter.DisruptionReasonEmpty:
		return ForEmpty
	case karpenter.DisruptionReasonDrifted:
		return ForDrift
	}
	return ForUnderutilized
}

// drifting returns the state with the NodeClaims of nodes that no longer match their NodePools marked.
func (p *play) drifting() State {
	of := p.state
	var d departures
	d.waits = map[string]bool{}
	of.NodeClaims = d.settledClaims(&of)
	for _, claim := range of.NodeClaims {
		if node := p.node(claim.Status.NodeName); node != nil && !p.bought[node.Name] && p.drifted(node) {
			claim.StatusConditions().SetTrue(karpenter.ConditionTypeDrifted)
		}
	}
	return of
}

func (p *play) node(name string) *v1.Node {
	i := slices.IndexFunc(p.state.Nodes, func(n *v1.Node) bool { return n.Name == name })
	if i < 0 {
		return nil
	}
	return p.state.Nodes[i]
}

// drifted reports whether a node does not match its NodePool any more: by its labels, or because the template has changed otherwise.
func (p *play) drifted(node *v1.Node) bool {
	pool := node.Labels[karpenter.NodePoolLabelKey]
	named := func(np *karpenter.NodePool) bool { return np.Name == pool }
	var np *karpenter.NodePool // the last one of the name counts
	for _, one := range p.state.NodePools {
		if named(one) {
			np = one
		}
	}
	if np == nil {
		return false
	}
	if was := slices.IndexFunc(p.q.Was, named); was >= 0 && p.q.Was[was].Hash() != np.Hash() {
		return true
	}
	wants := requirements.NewNodeSelectorRequirementsWithMinValues(np.Spec.Template.Spec.Requirements...)
	return requirements.NewLabelRequirements(node.Labels).Compatible(wants) != nil
}

// apply carries out a command.
func (p *play) apply(d *departures, command disruption.Command, reason RoundReason) *Round {
	round := &Round{Reason: reason, Gone: []string{}, Bought: []Bought{}, Moves: []Move{}}
	gone := map[string]bool{}
	for _, c := range command.Candidates {
		round.Gone = append(round.Gone, c.Name())
		round.SavesPerHour += c.Price
		gone[c.Name()] = true
	}
	slices.Sort(round.Gone)
	to := map[client.ObjectKey]string{}
	for _, node := range command.Results.ExistingNodes {
		for _, pod := range node.Pods {
			to[client.ObjectKeyFromObject(pod)] = node.Name()
		}
	}
	for _, replacement := range command.Replacements {
		name := p.add(d.newNode(replacement.NodeClaim, d.poolOf(replacement.NodeClaim), ""), round)
		for _, pod := range replacement.Pods {
			to[client.ObjectKeyFromObject(pod)] = name
		}
	}
	for _, pod := range p.state.Pods {
		if !gone[pod.Spec.NodeName] || !podutils.IsReschedulable(pod) {
			continue
		}
		key := client.ObjectKeyFromObject(pod)
		round.Moves = append(round.Moves, Move{pod.Namespace, pod.Name, to[key]})
		if len(pod.OwnerReferences) == 0 {
			p.out.Evicted = append(p.out.Evicted, key.String())
		}
	}
	slices.SortFunc(round.Moves, func(a, b Move) int {
		return cmp.Or(strings.Compare(a.Namespace, b.Namespace), strings.Compare(a.Name, b.Name))
	})
	for key, node := range to {
		p.place(key.Namespace, key.Name, node)
	}
	p.state.Pods = slices.DeleteFunc(slices.Clone(p.state.Pods), func(pod *v1.Pod) bool { return gone[pod.Spec.NodeName] })
	p.state.Nodes = slices.DeleteFunc(slices.Clone(p.state.Nodes), func(n *v1.Node) bool { return gone[n.Name] })
	p.state.NodeClaims = slices.DeleteFunc(slices.Clone(p.state.NodeClaims), func(c *karpenter.NodeClaim) bool { return gone[c.Status.NodeName] })
	return round
}

// poolOf returns the NodePool of a node that is to be bought.
func (r *run) poolOf(claim *scheduling.NodeClaim) *pool {
	i := slices.IndexFunc(r.pools, func(p *pool) bool { return p.Name == claim.NodePoolName })
	return r.pools[i]
}

// end counts what is left.
func (p *play) end() {
	cost := Cost{}
	for _, node := range p.state.Nodes {
		cost.add(node, p.q.Provider.Catalog())
	}
	p.out.Nodes, p.out.PricePerHour, p.out.Unpriced = cost.Nodes, cost.PricePerHour, cost.Unpriced
	for _, pod := range p.waiting() {
		p.out.Pending = append(p.out.Pending, pod.Namespace+"/"+pod.Name)
	}
	slices.Sort(p.out.Pending)
	slices.Sort(p.out.Evicted)
	p.out.Evicted = slices.Compact(p.out.Evicted)
}
