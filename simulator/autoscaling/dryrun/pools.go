package dryrun

import (
	"context"
	"fmt"
	"strings"

	"github.com/awslabs/operatorpkg/status"
	appsv1 "k8s.io/api/apps/v1"
	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	karpenter "sigs.k8s.io/karpenter/pkg/apis/v1"
	"sigs.k8s.io/karpenter/pkg/cloudprovider"
	"sigs.k8s.io/karpenter/pkg/controllers/provisioning/scheduling"
	requirements "sigs.k8s.io/karpenter/pkg/scheduling"
	"sigs.k8s.io/karpenter/pkg/utils/daemonset"
	nodepoolutils "sigs.k8s.io/karpenter/pkg/utils/nodepool"
	"sigs.k8s.io/karpenter/pkg/utils/resources"

	"kube-scheduler-simulator/simulator/autoscaling/provider"
)

// pool is a NodePool with what its explanations need.
type pool struct {
	*karpenter.NodePool
	// never is why Karpenter does not try the NodePool for any pod; nil if it does.
	never    *Refusal
	template *scheduling.NodeClaimTemplate
	types    []*cloudprovider.InstanceType
	// offers are those of the types; byPrice fills them.
	offers []offered
	// left is what the limits leave to new nodes; nil without limits.
	left v1.ResourceList
	// ofDaemons are the requests of the pods of DaemonSets by instance type. It is filled when it is asked for.
	ofDaemons map[*cloudprovider.InstanceType]v1.ResourceList
}

// preparePools makes the NodePools of the copy such that Karpenter tries those that it would try beside a cloud: its controllers,
// which mark a NodePool as ready, need not run here, and any class of nodes is as good as the provider's.
func (r *run) preparePools(ctx context.Context) error {
	var tried []*karpenter.NodePool
	for _, np := range r.nodePools.all {
		provider.UseClass(np)
		p := &pool{NodePool: np, never: neverTried(ctx, np), ofDaemons: map[*cloudprovider.InstanceType]v1.ResourceList{}}
		if p.never == nil {
			setReady(np)
			p.template = scheduling.NewNodeClaimTemplate(np)
			var err error
			if p.types, err = r.provider.GetInstanceTypes(ctx, np); err != nil {
				return fmt.Errorf("NodePool %s: %w", np.Name, err)
			}
			p.left = r.leftBy(np)
			tried = append(tried, np)
		}
		r.pools = append(r.pools, p)
	}
	byName := map[string]*pool{}
	all := make([]*karpenter.NodePool, len(r.pools))
	for i, p := range r.pools {
		byName[p.Name], all[i] = p, p.NodePool
	}
	nodepoolutils.OrderByWeight(all)
	for i, np := range all {
		r.pools[i] = byName[np.Name]
	}
	r.snapshot = r.withPools(tried)
	return nil
}

// withPools returns the snapshot with other NodePools.
func (c *snapshot) withPools(pools []*karpenter.NodePool) *snapshot {
	other := *c
	other.nodePools.all = pools
	return &other
}

// ready is how many NodePools Karpenter tries.
func (r *run) ready() int { return len(r.nodePools.all) }

func neverTried(ctx context.Context, np *karpenter.NodePool) *Refusal {
	refusal := func(kind Kind, format string, args ...any) *Refusal {
		return &Refusal{NodePool: np.Name, Kind: kind, Reason: fmt.Sprintf(format, args...)}
	}
	if np.DeletionTimestamp != nil {
		return refusal(Deleting, "it is being deleted")
	}
	if nodepoolutils.IsStatic(np) {
		return refusal(Static, "it keeps %d nodes, and grows for no pod", *np.Spec.Replicas)
	}
	if err := np.RuntimeValidate(ctx); err != nil {
		return refusal(Invalid, "Karpenter's validation refuses it: %s", said(err))
	}
	// Ready is False if another condition is, which says why.
	var why []string
	for _, c := range np.Status.Conditions {
		if c.Status == metav1.ConditionFalse && c.Type != status.ConditionReady && c.Type != karpenter.ConditionTypeNodeRegistrationHealthy {
			why = append(why, fmt.Sprintf("%s is False, %s %s", c.Type, c.Reason, c.Message))
		}
	}
	if len(why) > 0 {
		return refusal(NotReady, "it is not ready: %s", strings.Join(why, "; "))
	}
	return nil
}

// setReady marks a NodePool as its controllers would: Ready follows from the other two.
func setReady(np *karpenter.NodePool) {
	conditions := np.StatusConditions()
	conditions.SetTrue(karpenter.ConditionTypeValidationSucceeded)
	conditions.SetTrue(karpenter.ConditionTypeNodeClassReady)
}

// leftBy returns what a NodePool's limits leave, counted as Karpenter does: by the capacity of the nodes that have its label and are
// to stay. A negative quantity says that they are exceeded already.
func (r *run) leftBy(np *karpenter.NodePool) v1.ResourceList {
	if np.Spec.Limits == nil {
		return nil
	}
	left := v1.ResourceList(np.Spec.Limits).DeepCopy()
	for _, node := range r.cluster.DeepCopyNodes().Active() {
		if node.Labels()[karpenter.NodePoolLabelKey] == np.Name {
			left = resources.Subtract(left, node.Capacity())
		}
	}
	return left
}

// daemonPod returns the pod that a DaemonSet would have on a new node: like its youngest one, or else its template, with the affinity of
// the template.
func (r *run) daemonPod(set *appsv1.DaemonSet) *v1.Pod {
	pod := r.cluster.GetDaemonSetPod(set)
	if pod == nil {
		pod = daemonset.PodForDaemonSet(set)
	}
	pod.Spec.Affinity = set.Spec.Template.Spec.Affinity.DeepCopy()
	// Such a pod minds no preference.
	pod.Spec.Tolerations = append(pod.Spec.Tolerations, v1.Toleration{Operator: v1.TolerationOpExists, Effect: v1.TaintEffectPreferNoSchedule})
	return pod
}

// overhead returns the requests of the pods of DaemonSets on a new node of a type, nil for none.
func (p *pool) overhead(daemons []*v1.Pod, of *cloudprovider.InstanceType) v1.ResourceList {
	if len(daemons) == 0 {
		return nil
	}
	known, ok := p.ofDaemons[of]
	if !ok {
		var there []*v1.Pod
		for _, pod := range daemons {
			if p.runs(pod, of) {
				there = append(there, pod)
			}
		}
		if len(there) > 0 {
			known = resources.RequestsForPods(there...)
		}
		p.ofDaemons[of] = known
	}
	return known
}

func (p *pool) runs(daemon *v1.Pod, of *cloudprovider.InstanceType) bool {
	if requirements.Taints(p.template.Spec.Taints).ToleratesPod(daemon) != nil {
		return false
	}
	for _, term := range terms(daemon) {
		if p.template.Requirements.IsCompatible(term, requirements.AllowUndefinedWellKnownLabels) && of.Requirements.Intersects(term) == nil {
			return true
		}
	}
	return false
}

// terms returns what a pod requires of its node's labels: one for each term of its affinity, of which any will do.
func terms(pod *v1.Pod) []requirements.Requirements {
	affinity := pod.Spec.Affinity
	if affinity == nil || affinity.NodeAffinity == nil || affinity.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution == nil {
		return []requirements.Requirements{requirements.NewStrictPodRequirements(pod)}
	}
	var all []requirements.Requirements
	for _, term := range affinity.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution.NodeSelectorTerms {
		one := requirements.NewLabelRequirements(pod.Spec.NodeSelector)
		one.Add(requirements.NewNodeSelectorRequirements(term.MatchExpressions...).Values()...)
		all = append(all, one)
	}
	return all
}

// alone returns a snapshot in which p is the only NodePool.
func (r *run) alone(p *pool) *snapshot { return r.withPools([]*karpenter.NodePool{p.NodePool}) }

var _ client.Reader = (*snapshot)(nil)
