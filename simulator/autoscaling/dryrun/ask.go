package dryrun

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/go-logr/logr"
	"go.uber.org/multierr"
	appsv1 "k8s.io/api/apps/v1"
	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"
	karpenter "sigs.k8s.io/karpenter/pkg/apis/v1"
	"sigs.k8s.io/karpenter/pkg/cloudprovider"
	"sigs.k8s.io/karpenter/pkg/controllers/dynamicresources/deviceallocation"
	"sigs.k8s.io/karpenter/pkg/controllers/provisioning"
	"sigs.k8s.io/karpenter/pkg/controllers/provisioning/scheduling"
	"sigs.k8s.io/karpenter/pkg/controllers/state"
	"sigs.k8s.io/karpenter/pkg/events"
	"sigs.k8s.io/karpenter/pkg/operator/options"
	"sigs.k8s.io/karpenter/pkg/state/virtualpods"
	podutils "sigs.k8s.io/karpenter/pkg/utils/pod"
	"sigs.k8s.io/karpenter/pkg/utils/resources"

	"kube-scheduler-simulator/simulator/autoscaling/provider"
)

// Question asks where pods would go.
type Question struct {
	// State is read while Ask runs; it must not change.
	State State
	// Provider says what can be bought. It may serve any number of questions at once.
	Provider *provider.Provider
	// Pods are asked about together, as one of Karpenter's batches: they share new nodes and use up limits. A pod that is bound, or
	// that State has, is asked as if it were not placed yet. All other pods that wait are left out.
	Pods []*v1.Pod
	// Brief leaves out why a pod that gets a node gets no other: Placement.Refused of such pods, and NewNode.Cheaper.
	Brief bool
}

// Ask answers a question. An error means that there is no answer: ctx has ended, or Karpenter failed on what it was given. It may be
// called from any goroutine.
func Ask(ctx context.Context, q Question) (answer *Answer, err error) {
	defer func() {
		if failure := recover(); failure != nil {
			answer, err = nil, fmt.Errorf("asking Karpenter's provisioning: it panicked: %v", failure)
		}
	}()
	ctx = karpenterContext(ctx, q.Provider)
	r, err := newRun(ctx, &q)
	if err != nil {
		return nil, fmt.Errorf("asking Karpenter's provisioning: copying the state: %w", err)
	}
	if err := r.judge(ctx); err != nil {
		return nil, fmt.Errorf("asking Karpenter's provisioning: %w", err)
	}
	r.cost()
	return r.answer, nil
}

// karpenterContext returns a context with Karpenter's options, and without its log. Without a reserved offer, Karpenter need not look for one
// among all offers each time that it adds a pod to a node.
func karpenterContext(ctx context.Context, p *provider.Provider) context.Context {
	ctx = provider.WithOptions(ctx)
	if !p.Reserves() {
		without := *options.FromContext(ctx)
		without.FeatureGates.ReservedCapacity = false
		ctx = options.ToContext(ctx, &without)
	}
	return log.IntoContext(ctx, logr.Discard())
}

// Silent is a recorder that drops all events.
type Silent struct{}

func (Silent) Publish(...events.Event) {}

// run is the work on one question.
type run struct {
	*snapshot
	provider *provider.Provider
	cluster  *state.Cluster
	// asked has copies of the pods of the question, in its order.
	asked []*v1.Pod
	// pools are in the order in which Karpenter tries them.
	pools   []*pool
	daemons []*v1.Pod
	// explained keeps explanations by what a pod wants: the replicas of a workload want the same.
	explained map[string][]Refusal
	// solos is how many further questions may be asked for reasons.
	solos  int
	brief  bool
	answer *Answer
}

// maxSolos bounds the further questions, of which each takes as long as one about a single pod.
const maxSolos = 20

func newRun(ctx context.Context, q *Question) (*run, error) {
	r := &run{provider: q.Provider, explained: map[string][]Refusal{}, solos: maxSolos, brief: q.Brief, answer: &Answer{Prices: q.Provider.Catalog().Prices}}
	of := q.State
	isAsked := map[client.ObjectKey]bool{}
	for i, pod := range q.Pods {
		isAsked[client.ObjectKeyFromObject(pod)] = true
		r.asked = append(r.asked, unplaced(pod, i))
	}
	of.Pods = slices.DeleteFunc(slices.Clone(of.Pods), func(p *v1.Pod) bool { return isAsked[client.ObjectKeyFromObject(p)] })
	r.snapshot = newSnapshot(&of)
	for _, node := range r.nodes.all {
		// Karpenter knows nodes by their provider's ID, and ignores those of its NodePools that have none.
		node.Spec.ProviderID = cmp.Or(node.Spec.ProviderID, "simulated://"+node.Name)
	}
	for i, pod := range r.pods.all {
		pod.UID = cmp.Or(pod.UID, types.UID(fmt.Sprintf("there-%06d", i)))
	}
	if err := r.feed(ctx); err != nil {
		return nil, err
	}
	if err := r.preparePools(ctx); err != nil {
		return nil, err
	}
	r.answer.State = Counts{len(r.nodes.all), len(r.pods.all), len(r.nodePools.all), len(q.Provider.Catalog().Types)}
	return r, nil
}

// unplaced returns a copy of a pod as if it were new. Karpenter keeps what it knows of a pod by its UID.
func unplaced(pod *v1.Pod, i int) *v1.Pod {
	pod = pod.DeepCopy()
	pod.UID = cmp.Or(pod.UID, types.UID(fmt.Sprintf("asked-%06d", i)))
	pod.Spec.NodeName, pod.Status = "", v1.PodStatus{NominatedNodeName: pod.Status.NominatedNodeName}
	return pod
}

// feed gives Karpenter's model of the cluster what its informers would.
func (r *run) feed(ctx context.Context) error {
	r.cluster = state.NewCluster(clock.RealClock{}, r.snapshot, r.provider)
	for _, claim := range r.nodeClaims.all {
		r.cluster.UpdateNodeClaim(claim.DeepCopy())
	}
	for _, node := range r.nodes.all {
		if err := r.cluster.UpdateNode(ctx, node.DeepCopy()); err != nil {
			return fmt.Errorf("node %s: %w", node.Name, err)
		}
	}
	for _, pod := range r.pods.all {
		// UpdateNode has counted the pods of the node. What is left are those that keep others away.
		if podutils.HasRequiredPodAntiAffinity(pod) && r.nodes.byKey[client.ObjectKey{Name: pod.Spec.NodeName}] != nil {
			if err := r.cluster.UpdatePod(ctx, pod); err != nil {
				return fmt.Errorf("pod %s/%s: %w", pod.Namespace, pod.Name, err)
			}
		}
	}
	for _, set := range r.daemonSets.all {
		if err := r.cluster.UpdateDaemonSet(ctx, set); err != nil {
			return fmt.Errorf("DaemonSet %s/%s: %w", set.Namespace, set.Name, err)
		}
		r.daemons = append(r.daemons, r.daemonPod(set))
	}
	return nil
}

// judge fills the answer.
func (r *run) judge(ctx context.Context) error {
	r.answer.Pods = make([]Placement, len(r.asked))
	place := map[types.UID]*Placement{}
	var batch []*v1.Pod
	prov := r.provisioner(r.snapshot)
	for i, pod := range r.asked {
		p := &r.answer.Pods[i]
		p.Namespace, p.Name = pod.Namespace, pod.Name
		if place[pod.UID] != nil {
			return fmt.Errorf("two of the pods have the UID %s", pod.UID)
		}
		place[pod.UID] = p
		if p.Kind, p.Reason = passedOver(pod); p.Kind != "" {
			p.Verdict = NotJudged
		} else if err := prov.Validate(ctx, pod); err != nil {
			p.Verdict, p.Kind, p.Reason = OnNone, Unsupported, said(err)
		} else if r.ready() == 0 {
			p.Verdict, p.Kind, p.Reason = OnNone, NoNodePool, "there is no NodePool that is ready"
			p.Refused = r.refusals(ctx, pod, nil)
		} else {
			batch = append(batch, pod)
		}
	}
	if len(batch) == 0 {
		return nil
	}
	results, err := r.solve(ctx, r.snapshot, r.settle(batch))
	if err != nil {
		return err
	}
	for _, node := range results.ExistingNodes {
		for _, pod := range node.Pods {
			p := place[pod.UID]
			p.Verdict, p.Node = OnExistingNode, node.Name()
		}
	}
	r.addNewNodes(results.NewNodeClaims, place)
	for _, pod := range batch {
		p := place[pod.UID]
		switch p.Verdict {
		case OnExistingNode:
			continue
		case "":
			p.Verdict = OnNone
		}
		if r.brief && p.Verdict != OnNone {
			continue
		}
		p.Refused = r.refusals(ctx, pod, r.bought(p.Node))
		if ctx.Err() != nil {
			return ctx.Err()
		}
	}
	return nil
}

// passedOver returns why Karpenter does not look at a pod.
func passedOver(pod *v1.Pod) (Kind, string) {
	switch {
	case len(pod.Spec.SchedulingGates) > 0:
		names := make([]string, len(pod.Spec.SchedulingGates))
		for i, gate := range pod.Spec.SchedulingGates {
			names[i] = gate.Name
		}
		return Gated, "not looked at: gated by " + strings.Join(names, ", ") + ", so never marked Unschedulable"
	case pod.Status.NominatedNodeName != "":
		return Nominated, "not looked at: the scheduler has nominated node " + pod.Status.NominatedNodeName + " for it"
	case podutils.IsOwnedByDaemonSet(pod):
		return OwnedByNode, "not looked at: a DaemonSet's pod comes with its node"
	case podutils.IsOwnedByNode(pod):
		return OwnedByNode, "not looked at: a static pod comes with its node"
	case podutils.HasDRARequirements(pod):
		return ResourceClaims, "not looked at: Karpenter buys no nodes for ResourceClaims"
	}
	return "", ""
}

func (r *run) provisioner(of *snapshot) *provisioning.Provisioner {
	return provisioning.NewProvisioner(of, Silent{}, r.provider, r.cluster, clock.RealClock{}, deviceallocation.NewController(of), virtualpods.NewVirtualPodCache(of))
}

// solve places pods with the NodePools of a snapshot, by the options that Karpenter's provisioner has.
func (r *run) solve(ctx context.Context, of *snapshot, pods []*v1.Pod) (scheduling.Results, error) {
	s, err := r.provisioner(of).NewScheduler(ctx, pods, r.cluster.DeepCopyNodes().Active(), nil,
		scheduling.DisableReservedCapacityFallback, scheduling.NumConcurrentReconciles(1), scheduling.MinValuesPolicy(options.MinValuesPolicyStrict))
	if err != nil {
		return scheduling.Results{}, err
	}
	results, err := s.Solve(ctx, pods)
	if err != nil {
		return scheduling.Results{}, err
	}
	truncate := false
	for _, claim := range results.NewNodeClaims {
		truncate = truncate || len(claim.InstanceTypeOptions) > scheduling.MaxInstanceTypes
		// Karpenter sorts by price alone, so equal prices stay in the order that they have.
		slices.SortFunc(claim.InstanceTypeOptions, func(a, b *cloudprovider.InstanceType) int { return strings.Compare(a.Name, b.Name) })
	}
	if truncate {
		results = results.TruncateInstanceTypes(ctx, scheduling.MaxInstanceTypes)
	}
	return results, nil
}

// addNewNodes turns what Karpenter would create into nodes, and notes them with their pods.
func (r *run) addNewNodes(claims []*scheduling.NodeClaim, place map[types.UID]*Placement) {
	order := map[string]int{}
	for i, p := range r.pools {
		order[p.Name] = i
	}
	for _, claim := range claims {
		slices.SortFunc(claim.Pods, byName)
	}
	claims = slices.Clone(claims)
	slices.SortFunc(claims, func(a, b *scheduling.NodeClaim) int {
		return cmp.Or(cmp.Compare(order[a.NodePoolName], order[b.NodePoolName]), byName(a.Pods[0], b.Pods[0]))
	})
	numbers := map[string]int{}
	for _, claim := range claims {
		number := 0
		for number == 0 || r.nodes.byKey[client.ObjectKey{Name: numbered(claim.NodePoolName, number)}] != nil {
			numbers[claim.NodePoolName]++
			number = numbers[claim.NodePoolName]
		}
		node := r.newNode(claim, r.pools[order[claim.NodePoolName]], numbered(claim.NodePoolName, number))
		for _, pod := range claim.Pods {
			p := place[pod.UID]
			p.Verdict, p.Node = OnNewNode, node.Name
		}
		r.answer.NewNodes = append(r.answer.NewNodes, node)
	}
}

func numbered(pool string, number int) string { return fmt.Sprintf("%s-%d", pool, number) }

func byName[P client.Object](a, b P) int {
	return cmp.Or(strings.Compare(a.GetNamespace(), b.GetNamespace()), strings.Compare(a.GetName(), b.GetName()))
}

// bought returns the new node of that name, or nil.
func (r *run) bought(name string) *NewNode {
	for i := range r.answer.NewNodes {
		if r.answer.NewNodes[i].Name == name {
			return &r.answer.NewNodes[i]
		}
	}
	return nil
}

func (r *run) newNode(claim *scheduling.NodeClaim, p *pool, name string) NewNode {
	n := NewNode{Name: name, NodePool: claim.NodePoolName, Types: len(claim.InstanceTypeOptions)}
	for _, pod := range claim.Pods {
		n.Pods = append(n.Pods, pod.Namespace+"/"+pod.Name)
	}
	of, offer := provider.Cheapest(claim.InstanceTypeOptions, claim.Requirements)
	n.Offer = *offer
	requests := resources.RequestsForPods(claim.Pods...)
	n.Requests = resources.Merge(requests, p.overhead(r.daemons, of))
	if !r.brief {
		n.Cheaper = r.cheaper(claim, p, requests, n.PricePerHour)
	}
	n.Node = nodeOf(claim, of, n)
	for i, daemon := range r.daemons {
		if p.runs(daemon, of) {
			n.Daemons = append(n.Daemons, bound(daemon, r.daemonSets.all[i], n.Name))
		}
	}
	n.Claim = claimOf(claim, n.Node)
	return n
}

// claimOf returns the NodeClaim of a new node. Karpenter orders it by maps, and chooses among the values of a label at random; here the label
// has the value that the node has. It changes claim, so it comes last.
func claimOf(claim *scheduling.NodeClaim, node *v1.Node) *karpenter.NodeClaim {
	out := claim.ToNodeClaim()
	out.Labels = maps.Clone(out.Labels)
	for key := range out.Labels {
		if value, has := node.Labels[key]; has {
			out.Labels[key] = value
		}
	}
	for _, r := range out.Spec.Requirements {
		slices.Sort(r.Values)
	}
	slices.SortFunc(out.Spec.Requirements, func(a, b karpenter.NodeSelectorRequirementWithMinValues) int {
		return cmp.Or(strings.Compare(a.Key, b.Key), strings.Compare(string(a.Operator), string(b.Operator)))
	})
	return out
}

// bound returns the pod of a DaemonSet as it would be on a node.
func bound(daemon *v1.Pod, of *appsv1.DaemonSet, node string) *v1.Pod {
	pod := daemon.DeepCopy()
	pod.ObjectMeta = metav1.ObjectMeta{Namespace: of.Namespace, Name: of.Name + "-on-" + node, Labels: daemon.Labels}
	pod.TypeMeta = metav1.TypeMeta{APIVersion: "v1", Kind: "Pod"}
	pod.Spec.NodeName, pod.Status = node, v1.PodStatus{}
	return pod
}

// nodeOf returns a node as Karpenter and the cloud would have made it by the time that it is ready.
func nodeOf(claim *scheduling.NodeClaim, of *cloudprovider.InstanceType, n NewNode) *v1.Node {
	labels := provider.Labels(n.Name, claim.Labels, claim.Requirements, of, n.Offer)
	labels[karpenter.NodeRegisteredLabelKey] = "true"
	labels[karpenter.NodeInitializedLabelKey] = "true"
	return &v1.Node{
		TypeMeta:   metav1.TypeMeta{APIVersion: "v1", Kind: "Node"},
		ObjectMeta: metav1.ObjectMeta{Name: n.Name, Labels: labels},
		Spec:       v1.NodeSpec{Taints: slices.Clone(claim.Spec.Taints)},
		Status:     v1.NodeStatus{Capacity: of.Capacity.DeepCopy(), Allocatable: of.Allocatable().DeepCopy()},
	}
}

// said is an error of Karpenter's in one line. Several in one come in the order of a map, so they are sorted.
func said(err error) string {
	var texts []string
	for _, one := range multierr.Errors(err) {
		texts = append(texts, one.Error())
	}
	slices.Sort(texts)
	return strings.Join(slices.Compact(texts), "; ")
}
