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
	policyv1 "k8s.io/api/policy/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/clock"
	karpenter "sigs.k8s.io/karpenter/pkg/apis/v1"
	"sigs.k8s.io/karpenter/pkg/cloudprovider"
	"sigs.k8s.io/karpenter/pkg/controllers/disruption"
	"sigs.k8s.io/karpenter/pkg/controllers/provisioning/scheduling"
	"sigs.k8s.io/karpenter/pkg/controllers/state"
	"sigs.k8s.io/karpenter/pkg/utils/pdb"
	podutils "sigs.k8s.io/karpenter/pkg/utils/pod"

	"kube-scheduler-simulator/simulator/autoscaling/provider"
)

// DepartureQuestion asks whether Karpenter's consolidation could do without nodes.
type DepartureQuestion struct {
	// State is read while CouldGo runs; it must not change. Pods that wait are placed too, as Karpenter does.
	State State
	// Provider says what nodes cost, and what they could be replaced by.
	Provider *provider.Provider
	// Nodes are asked about one by one, each as if alone. Without any, all nodes of Karpenter's are. Each takes tens of ms.
	Nodes []string
	// Now is the time by which the schedules of budgets and the ages of pods are judged.
	Now time.Time
	// asTheyAre takes the NodeClaims of State for all that there are, in the state in which they are.
	asTheyAre bool
}

// Departure is the answer for a node.
type Departure struct {
	Node     string `json:"node"`
	NodePool string `json:"nodePool,omitempty"`
	// Offer is what the node is, with its price; nil if the instance types do not have it.
	Offer *provider.Offer `json:"offer,omitempty"`
	// Outcome is what Karpenter would do about the node. It is nil if the node stays.
	Outcome *Outcome `json:"outcome,omitempty"`
	// Blockers keep Karpenter from asking whether the node is needed. They are in the order in which it checks them.
	Blockers []Blocker `json:"blockers,omitempty"`
	// Otherwise is what Karpenter would do without the blockers; nil if the node stays all the same.
	Otherwise *Outcome `json:"otherwise,omitempty"`
	// Needed says why the node stays, or would stay without the blockers; nil if it goes.
	Needed *Needed `json:"needed,omitempty"`
	// Waits says that consolidateAfter has not passed yet since a pod came or went. The answer is that of the time when it has.
	Waits bool `json:"waits,omitempty"`
}

// Outcome is what Karpenter would do about a node.
type Outcome struct {
	// Replacement is the cheapest node that would be bought instead; nil if the node is only removed.
	Replacement *provider.Offer `json:"replacement,omitempty"`
	// SavesPerHour is in US dollars.
	SavesPerHour float64 `json:"savesPerHour"`
	// Moves are the pods that move, by name.
	Moves []Move `json:"moves"`
}

// Move is a pod that leaves a node.
type Move struct {
	Namespace string `json:"namespace"`
	Name      string `json:"name"`
	// To is a node that exists; empty for the replacement.
	To string `json:"to,omitempty"`
}

// BlockerKind is the kind of a blocker.
type BlockerKind string

const (
	NotManaged      BlockerKind = "notManaged"     // no NodeClaim and no NodePool of Karpenter's has the node
	NotInitialized  BlockerKind = "notInitialized" // Karpenter waits for the node to become ready
	Leaving         BlockerKind = "leaving"        // the node is being deleted
	PoolMissing     BlockerKind = "nodePool"       // its NodePool does not exist, or keeps a fixed number of nodes
	NodeProtected   BlockerKind = "nodeAnnotation" // karpenter.sh/do-not-disrupt on the node
	PodProtected    BlockerKind = "podAnnotation"  // karpenter.sh/do-not-disrupt on a pod
	Budget          BlockerKind = "budget"         // a PodDisruptionBudget
	PoolBudget      BlockerKind = "nodePoolBudget" // the NodePool's own budgets
	Policy          BlockerKind = "policy"         // the NodePool consolidates empty nodes only, or none
	UnknownType     BlockerKind = "unknownType"    // without its type, zone and capacity type the node has no price
	BlockedByOthers BlockerKind = "other"          // Karpenter's own words are all there is
)

// Blocker keeps Karpenter from asking whether a node is needed.
type Blocker struct {
	Kind BlockerKind `json:"kind"`
	// Object is the name of the NodePool, namespace/name of the pod or the budget, or the node.
	Object string `json:"object"`
	// Pods are those that a budget protects, as namespace/name.
	Pods   []string `json:"pods,omitempty"`
	Reason string   `json:"reason"`
	// Curable says that Otherwise is the answer without it.
	Curable bool `json:"curable"`
}

// NeedKind is the kind of a need.
type NeedKind string

const (
	PodsDoNotFit NeedKind = "podsDoNotFit" // not all of its pods find another node
	SeveralNodes NeedKind = "severalNodes" // they would need more than one new node
	NotCheaper   NeedKind = "notCheaper"   // no node for less holds them
	SpotToSpot   NeedKind = "spotToSpot"   // spot is not replaced by spot, which is behind a gate
	NotWorth     NeedKind = "notWorth"     // the policy Balanced finds too little saved for so many pods moved
)

// Needed says why a node stays.
type Needed struct {
	Kind   NeedKind `json:"kind"`
	Reason string   `json:"reason"`
	// Pods are those without another node, as namespace/name.
	Pods []string `json:"pods,omitempty"`
}

// CouldGo answers a question about nodes, in its order, or by name if it has none. An error means that there is no answer. It may be
// called from any goroutine.
func CouldGo(ctx context.Context, q DepartureQuestion) (all []Departure, err error) {
	defer func() {
		if failure := recover(); failure != nil {
			all, err = nil, fmt.Errorf("asking Karpenter's consolidation: it panicked: %v", failure)
		}
	}()
	ctx = karpenterContext(ctx, q.Provider)
	d, err := newDepartures(ctx, &q)
	if err != nil {
		return nil, fmt.Errorf("asking Karpenter's consolidation: copying the state: %w", err)
	}
	names := q.Nodes
	if len(names) == 0 {
		for name, node := range d.nodes {
			if node.Managed() {
				names = append(names, name)
			}
		}
		slices.Sort(names)
	}
	for _, name := range names {
		one, err := d.answer(ctx, name)
		if err == nil {
			err = ctx.Err()
		}
		if err != nil {
			return nil, fmt.Errorf("asking Karpenter's consolidation about node %s: %w", name, err)
		}
		all = append(all, one)
	}
	return all, nil
}

// departures is the work on one question.
type departures struct {
	*run
	now   clock.Clock
	nodes map[string]*state.StateNode
	waits map[string]bool // NodeClaims whose consolidateAfter has not passed
	types map[string]map[string]*cloudprovider.InstanceType
	rules rules
}

// rules are what NodePools say of the departure of their nodes.
type rules struct {
	pools map[string]*karpenter.NodePool
	// left is how many nodes of a NodePool may go at once, for each reason.
	left map[karpenter.DisruptionReason]map[string]int
}

// At returns a clock that stands at a time.
func At(now time.Time) clock.Clock { return frozen{now: now} }

type frozen struct {
	clock.RealClock
	now time.Time
}

func (f frozen) Now() time.Time                  { return f.now }
func (f frozen) Since(t time.Time) time.Duration { return f.now.Sub(t) }

// at once is Karpenter's validator without the 15 s that it waits.
type atOnce struct{}

func (atOnce) Validate(_ context.Context, c disruption.Command, _ time.Duration) (disruption.Command, error) {
	return c, nil
}

func newDepartures(ctx context.Context, q *DepartureQuestion) (*departures, error) {
	d := &departures{now: At(q.Now), nodes: map[string]*state.StateNode{}, waits: map[string]bool{}}
	d.rules.left = map[karpenter.DisruptionReason]map[string]int{}
	of := q.State
	of.NodePools = defaulted(of.NodePools)
	if !q.asTheyAre {
		of.NodeClaims = d.settledClaims(&of)
	}
	var err error
	if d.run, err = newRun(ctx, &Question{State: of, Provider: q.Provider, Brief: q.asTheyAre}); err != nil {
		return nil, err
	}
	d.replace(d.snapshot, "", d.settle(d.podsOf[""]))
	for _, node := range d.cluster.DeepCopyNodes() {
		d.nodes[node.Name()] = node
	}
	if d.rules.pools, d.types, err = disruption.BuildNodePoolMap(ctx, d.snapshot, d.provider); err != nil {
		return nil, err
	}
	for _, reason := range []karpenter.DisruptionReason{karpenter.DisruptionReasonEmpty, karpenter.DisruptionReasonUnderutilized} {
		if d.rules.left[reason], err = disruption.BuildDisruptionBudgetMapping(ctx, d.cluster, d.now, d.snapshot, d.provider, Silent{}, reason); err != nil {
			return nil, err
		}
	}
	return d, nil
}

// defaulted returns NodePools with the defaults of their definition, for those that did not come from an API server.
func defaulted(pools []*karpenter.NodePool) []*karpenter.NodePool {
	var all []*karpenter.NodePool
	for _, np := range pools {
		np = np.DeepCopy()
		of := &np.Spec.Disruption
		if of.ConsolidateAfter.Duration == nil && of.ConsolidateAfter.Raw == nil {
			of.ConsolidateAfter = karpenter.MustParseNillableDuration("0s")
		}
		of.ConsolidationPolicy = cmp.Or(of.ConsolidationPolicy, karpenter.ConsolidationPolicyWhenEmptyOrUnderutilized)
		if of.Budgets == nil {
			of.Budgets = []karpenter.Budget{{Nodes: "10%"}}
		}
		all = append(all, np)
	}
	return all
}

// settledClaims returns the NodeClaims as they are when consolidateAfter has passed. A node of a NodePool that has none gets one, as if
// Karpenter had made it.
func (d *departures) settledClaims(of *State) []*karpenter.NodeClaim {
	known := map[string]bool{}
	var all []*karpenter.NodeClaim
	for _, claim := range of.NodeClaims {
		claim = claim.DeepCopy()
		d.waits[claim.Name] = !claim.StatusConditions().Get(karpenter.ConditionTypeConsolidatable).IsTrue()
		claim.StatusConditions().SetTrue(karpenter.ConditionTypeConsolidatable)
		known[claim.Status.ProviderID] = true
		all = append(all, claim)
	}
	for _, node := range of.Nodes {
		id := cmp.Or(node.Spec.ProviderID, "simulated://"+node.Name)
		pool := node.Labels[karpenter.NodePoolLabelKey]
		i := slices.IndexFunc(of.NodePools, func(np *karpenter.NodePool) bool { return np.Name == pool })
		if known[id] || i < 0 {
			continue
		}
		claim := &karpenter.NodeClaim{Spec: *of.NodePools[i].Spec.Template.ToNodeClaim().Spec.DeepCopy()}
		claim.Name, claim.Labels, claim.CreationTimestamp = node.Name, maps.Clone(node.Labels), node.CreationTimestamp
		claim.Status = karpenter.NodeClaimStatus{ProviderID: id, NodeName: node.Name, Capacity: node.Status.Capacity, Allocatable: node.Status.Allocatable}
		claim.StatusConditions().SetTrue(karpenter.ConditionTypeConsolidatable)
		all = append(all, claim)
	}
	return all
}

// replace gives a node other pods in a snapshot. Its lists of all pods stay as they are.
func (d *departures) replace(in *snapshot, node string, pods []*v1.Pod) {
	in.podsOf = maps.Clone(in.podsOf)
	in.podsOf[node] = pods
}

func (d *departures) answer(ctx context.Context, name string) (Departure, error) {
	one := Departure{Node: name}
	node := d.nodes[name]
	if node == nil {
		return one, fmt.Errorf("there is no such node, or Karpenter does not know it yet")
	}
	one.NodePool = node.Labels()[karpenter.NodePoolLabelKey]
	if of := d.types[one.NodePool][node.Labels()[v1.LabelInstanceTypeStable]]; of != nil {
		zone, capacityType := node.Labels()[v1.LabelTopologyZone], node.Labels()[karpenter.CapacityTypeLabelKey]
		if price, ok := of.OfferingPrice(zone, capacityType); ok {
			one.Offer = &provider.Offer{InstanceType: of.Name, Zone: zone, CapacityType: capacityType, PricePerHour: price}
		}
	}
	one.Waits = node.NodeClaim != nil && d.waits[node.NodeClaim.Name]
	copied := *d.snapshot
	d.replace(&copied, name, d.settle(d.podsOf[name]))
	var err error
	if one.Blockers, err = d.blockers(ctx, &copied, node, d.rules); err != nil {
		return one, err
	}
	tried, err := d.try(ctx, &copied, node.DeepCopy(), d.rules)
	if err != nil {
		return one, err
	}
	one.Outcome, one.Needed = tried.outcome, tried.needed
	if tried.blocked == "" {
		one.Blockers = nil
		return one, nil
	}
	if len(one.Blockers) == 0 {
		one.Blockers = []Blocker{{Kind: BlockedByOthers, Object: name, Reason: tried.blocked}}
	}
	by := d.rules
	for found := one.Blockers; len(found) > 0; one.Blockers = append(one.Blockers, found...) {
		if slices.ContainsFunc(found, func(b Blocker) bool { return !b.Curable }) {
			return one, nil
		}
		node, by = d.without(&copied, node, by, found)
		// A blocker may hide another: a budget does not mind a pod that is not evicted anyway.
		if found, err = d.blockers(ctx, &copied, node, by); err != nil {
			return one, err
		}
	}
	if tried, err = d.try(ctx, &copied, node, by); err != nil {
		return one, err
	}
	one.Otherwise, one.Needed = tried.outcome, tried.needed
	if tried.blocked != "" {
		one.Blockers = append(one.Blockers, Blocker{Kind: BlockedByOthers, Object: name, Reason: tried.blocked})
	}
	return one, nil
}

// trial is what Karpenter does about a node: it is blocked, or goes, or is needed.
type trial struct {
	blocked string
	outcome *Outcome
	needed  *Needed
}

func (d *departures) try(ctx context.Context, in *snapshot, node *state.StateNode, by rules) (trial, error) {
	budgets, err := pdb.NewLimits(ctx, in)
	if err != nil {
		return trial{}, err
	}
	prov := d.provisioner(in)
	queue := disruption.NewQueue(in, Silent{}, d.cluster, d.now, prov)
	candidate, err := disruption.NewCandidate(ctx, in, Silent{}, d.now, node, budgets, by.pools, d.types, queue, disruption.GracefulDisruptionClass)
	if err != nil {
		return trial{blocked: said(err)}, nil
	}
	base := disruption.MakeConsolidation(d.now, d.cluster, in, prov, d.provider, Silent{}, queue)
	var method disruption.Method = disruption.NewSingleNodeConsolidation(base, disruption.WithValidator(atOnce{}))
	if candidate.IsEmpty() {
		method = disruption.NewEmptiness(base, disruption.WithValidator(atOnce{}))
	}
	if !method.ShouldDisrupt(ctx, candidate) {
		return trial{blocked: "Karpenter does not consolidate the node"}, nil
	}
	may := maps.Clone(by.left[method.Reason()]) // ComputeCommands counts in it
	if may[candidate.NodePool.Name] == 0 {
		return trial{blocked: "the budgets of the NodePool allow no node to go"}, nil
	}
	commands, err := method.ComputeCommands(ctx, may, candidate)
	if err != nil {
		return trial{}, err
	}
	if len(commands) > 0 {
		return trial{outcome: outcomeOf(commands[0])}, nil
	}
	results, err := disruption.SimulateScheduling(ctx, in, d.cluster, prov, d.now, Silent{}, []scheduling.Options{scheduling.IsConsolidationSimulation}, candidate)
	if err != nil {
		return trial{}, err
	}
	return trial{needed: neededBy(results, candidate)}, nil
}

func outcomeOf(command disruption.Command) *Outcome {
	o := &Outcome{Moves: []Move{}}
	for _, c := range command.Candidates {
		o.SavesPerHour += c.Price
	}
	for _, node := range command.Results.ExistingNodes {
		for _, pod := range node.Pods {
			if pod.Spec.NodeName != "" {
				o.Moves = append(o.Moves, Move{pod.Namespace, pod.Name, node.Name()})
			}
		}
	}
	for _, replacement := range command.Replacements {
		_, o.Replacement = provider.Cheapest(replacement.InstanceTypeOptions, replacement.Requirements)
		o.SavesPerHour -= o.Replacement.PricePerHour
		for _, pod := range replacement.Pods {
			if pod.Spec.NodeName != "" {
				o.Moves = append(o.Moves, Move{pod.Namespace, pod.Name, ""})
			}
		}
	}
	slices.SortFunc(o.Moves, func(a, b Move) int {
		return cmp.Or(strings.Compare(a.Namespace, b.Namespace), strings.Compare(a.Name, b.Name))
	})
	return o
}

// neededBy says why Karpenter found nothing to do about a node.
func neededBy(results scheduling.Results, candidate *disruption.Candidate) *Needed {
	n := &Needed{}
	for pod := range results.PodErrors {
		if !podutils.IsProvisionable(pod) {
			n.Pods = append(n.Pods, pod.Namespace+"/"+pod.Name)
		}
	}
	slices.Sort(n.Pods)
	spot := candidate.Labels()[karpenter.CapacityTypeLabelKey] == karpenter.CapacityTypeSpot
	switch {
	case len(n.Pods) > 0:
		n.Kind, n.Reason = PodsDoNotFit, "no other node and no new one takes "+strings.Join(n.Pods, ", ")
	case len(results.NewNodeClaims) > 1:
		n.Kind, n.Reason = SeveralNodes, fmt.Sprintf("its pods, with those that wait, would need %d new nodes", len(results.NewNodeClaims))
	case len(results.NewNodeClaims) == 1 && spot && results.NewNodeClaims[0].Requirements.Get(karpenter.CapacityTypeLabelKey).Has(karpenter.CapacityTypeSpot):
		n.Kind, n.Reason = SpotToSpot, "Karpenter replaces no spot node by another one while its gate SpotToSpotConsolidation is off"
	case len(results.NewNodeClaims) == 1:
		n.Kind, n.Reason = NotCheaper, "no node for less holds its pods"
	default:
		n.Kind, n.Reason = NotWorth, "the NodePool's policy finds too little saved for the pods that would move"
	}
	return n
}

// blockers returns what keeps Karpenter from asking whether a node is needed. Unlike Karpenter, which stops at the first, it looks at
// all of them.
func (d *departures) blockers(ctx context.Context, in *snapshot, node *state.StateNode, by rules) (all []Blocker, err error) {
	add := func(kind BlockerKind, curable bool, object, format string, args ...any) {
		all = append(all, Blocker{Kind: kind, Object: object, Reason: fmt.Sprintf(format, args...), Curable: curable})
	}
	name, pool := node.Name(), by.pools[node.Labels()[karpenter.NodePoolLabelKey]]
	switch {
	case node.NodeClaim == nil || node.Labels()[karpenter.NodePoolLabelKey] == "":
		add(NotManaged, false, name, "the node is not Karpenter's")
	case node.Node == nil || !node.Initialized():
		add(NotInitialized, false, name, "the node is not initialized yet")
	case node.MarkedForDeletion():
		add(Leaving, false, name, "the node is being deleted")
	case pool == nil || pool.Spec.Replicas != nil:
		add(PoolMissing, false, node.Labels()[karpenter.NodePoolLabelKey], "its NodePool does not exist, or keeps a fixed number of nodes")
	}
	if len(all) > 0 {
		return all, nil
	}
	if node.Annotations()[karpenter.DoNotDisruptAnnotationKey] == "true" {
		add(NodeProtected, true, name, "the node has the annotation %s", karpenter.DoNotDisruptAnnotationKey)
	}
	var moving []*v1.Pod
	for _, pod := range in.podsOf[name] {
		if podutils.IsReschedulable(pod) {
			moving = append(moving, pod)
		}
		if !podutils.IsDisruptable(pod, d.now, Silent{}) {
			add(PodProtected, true, pod.Namespace+"/"+pod.Name, "the pod has the annotation %s", karpenter.DoNotDisruptAnnotationKey)
		}
	}
	if err := d.addBudgets(ctx, in, name, &all); err != nil {
		return nil, err
	}
	of := pool.Spec.Disruption
	empty := len(moving) == 0
	reason := karpenter.DisruptionReasonUnderutilized
	if empty {
		reason = karpenter.DisruptionReasonEmpty
	}
	switch {
	case of.ConsolidateAfter.Duration == nil:
		add(Policy, true, pool.Name, "the NodePool consolidates no nodes: consolidateAfter is Never")
	case of.ConsolidationPolicy == karpenter.ConsolidationPolicyWhenEmpty && !empty:
		add(Policy, true, pool.Name, "the NodePool consolidates empty nodes only: consolidationPolicy is WhenEmpty")
	}
	if by.left[reason][pool.Name] == 0 {
		add(PoolBudget, true, pool.Name, "the budgets of the NodePool allow no node to go now for being %s", strings.ToLower(string(reason)))
	}
	for _, key := range []string{v1.LabelTopologyZone, karpenter.CapacityTypeLabelKey} {
		if node.Labels()[key] == "" && !empty {
			add(UnknownType, false, name, "the node has no label %s, and so no price", key)
		}
	}
	if kind := node.Labels()[v1.LabelInstanceTypeStable]; d.types[pool.Name][kind] == nil && !empty {
		add(UnknownType, false, name, "there is no instance type %q, and so no price", kind)
	}
	return all, nil
}

// addBudgets adds the PodDisruptionBudgets that allow no eviction of a pod of the node.
func (d *departures) addBudgets(ctx context.Context, in *snapshot, node string, all *[]Blocker) error {
	limits, err := pdb.NewLimits(ctx, in)
	if err != nil {
		return err
	}
	by := map[string]*Blocker{}
	for _, pod := range in.podsOf[node] {
		keys, may := limits.CanEvictPods([]*v1.Pod{pod}, d.now, Silent{})
		if may {
			continue
		}
		for _, key := range keys {
			b := by[key.String()]
			if b == nil {
				b = &Blocker{Kind: Budget, Object: key.String(), Curable: true, Reason: "the PodDisruptionBudget allows no eviction"}
				by[key.String()] = b
			}
			if len(keys) > 1 {
				b.Reason = "the pod has several PodDisruptionBudgets, and cannot be evicted"
			}
			b.Pods = append(b.Pods, pod.Namespace+"/"+pod.Name)
		}
	}
	for _, key := range slices.Sorted(maps.Keys(by)) {
		slices.Sort(by[key].Pods)
		*all = append(*all, *by[key])
	}
	return nil
}

// without takes the blockers from a snapshot, and returns the node and the rules without them.
func (d *departures) without(in *snapshot, node *state.StateNode, by rules, blockers []Blocker) (*state.StateNode, rules) {
	freed := node.DeepCopy()
	relaxed := rules{maps.Clone(by.pools), map[karpenter.DisruptionReason]map[string]int{}}
	for reason, counts := range by.left {
		relaxed.left[reason] = maps.Clone(counts)
	}
	pods := slices.Clone(in.podsOf[node.Name()])
	for _, b := range blockers {
		switch b.Kind {
		case NodeProtected:
			delete(freed.Node.Annotations, karpenter.DoNotDisruptAnnotationKey)
			delete(freed.NodeClaim.Annotations, karpenter.DoNotDisruptAnnotationKey)
		case PodProtected:
			for i, pod := range pods {
				if pod.Namespace+"/"+pod.Name == b.Object {
					pods[i] = pod.DeepCopy()
					delete(pods[i].Annotations, karpenter.DoNotDisruptAnnotationKey)
				}
			}
		case Budget:
			in.budgets.all = slices.DeleteFunc(slices.Clone(in.budgets.all), func(p *policyv1.PodDisruptionBudget) bool {
				return types.NamespacedName{Namespace: p.Namespace, Name: p.Name}.String() == b.Object
			})
		case PoolBudget:
			for reason := range relaxed.left {
				relaxed.left[reason][b.Object] = max(1, relaxed.left[reason][b.Object])
			}
		case Policy:
			relaxed.pools[b.Object] = relaxed.pools[b.Object].DeepCopy()
			of := &relaxed.pools[b.Object].Spec.Disruption
			of.ConsolidateAfter = karpenter.MustParseNillableDuration("0s")
			of.ConsolidationPolicy = karpenter.ConsolidationPolicyWhenEmptyOrUnderutilized
		}
	}
	d.replace(in, node.Name(), pods)
	return freed, relaxed
}
