package scenario

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/google/cel-go/common/types"
	"go.yaml.in/yaml/v3"
	v1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	apitypes "k8s.io/apimachinery/pkg/types"
	podutil "k8s.io/kubernetes/pkg/api/v1/pod"

	"kube-scheduler-simulator/simulator/cluster/objects"
	"kube-scheduler-simulator/simulator/scenarios/decoder"
)

// drain empties nodes as kubectl drain does: it cordons all of them, and evicts the pods of one after the other. It leaves the pods of
// DaemonSets, and asks again for an eviction that a PodDisruptionBudget refuses.
type drain struct {
	Node               string      `yaml:"node" doc:"The name of a node."`
	Nodes              *Expression `yaml:"nodes" doc:"CEL: a list of nodes, drained in this order."`
	Force              bool        `yaml:"force" doc:"Also evict pods that no controller creates again. Without it, such a pod is an error."`
	DeleteEmptyDirData bool        `yaml:"deleteEmptyDirData" doc:"Also evict pods with an emptyDir. Without it, such a pod is an error."`
	Timeout            *Duration   `yaml:"timeout" doc:"How much of the cluster's time a node may take."`

	place *yaml.Node
	at    string
	list  *program
}

var budgetGVK = policyv1.SchemeGroupVersion.WithKind("PodDisruptionBudget")

// evictAgain is how long kubectl waits after a refused eviction.
const evictAgain = 5 * time.Second

func (d *drain) Decode(from *decoder.Decoder, n *yaml.Node, at string) {
	d.place, d.at = n, at
	from.Mapping(n, d, at)
}

func (d *drain) check(l *loader) {
	if (d.Node == "") == (d.Nodes == nil) {
		l.Add(d.place, d.at, "want one of node and nodes")
	}
	if d.Nodes != nil {
		d.list = l.expression(*d.Nodes, types.NewListType(nodeType))
	}
}

func (d *drain) describe() string {
	if d.list != nil {
		return d.list.Text
	}
	return d.Node
}

func (d *drain) run(r *run) (string, error) {
	names := []string{d.Node}
	if d.list != nil {
		value, err := r.evaluate(d.list)
		if err != nil {
			return "", err
		}
		names = nil
		for _, n := range nodesOf(value) {
			names = append(names, n.Name)
		}
	}
	if len(names) == 0 {
		return "no node", nil
	}
	for _, name := range names {
		if err := r.cluster.Patch(r.ctx, objects.Node.WithVersion("v1"), "", name, apitypes.StrategicMergePatchType, []byte(`{"spec":{"unschedulable":true}}`)); err != nil {
			return "", err
		}
	}
	evicted := 0
	for _, name := range names {
		n, err := d.empty(r, name)
		if evicted += n; err != nil {
			return "", err
		}
	}
	return fmt.Sprintf("%s evicted from %s", Plural(evicted, "Pod"), strings.Join(names, ", ")), nil
}

// empty evicts the pods of a node, and returns how many.
func (d *drain) empty(r *run, name string) (evicted int, err error) {
	limit := DefaultTimeout
	if d.Timeout != nil {
		limit = d.Timeout.Duration
	}
	for begun := r.cluster.Now(); ; {
		pods, err := d.targets(r, name)
		if err != nil || len(pods) == 0 {
			return evicted, err
		}
		why := ""
		for _, pod := range pods {
			if pod.DeletionTimestamp != nil {
				continue
			}
			refusal, err := evict(r, pod)
			if err != nil {
				return evicted, err
			}
			if refusal == "" {
				evicted++
			} else if why == "" {
				why = refusal
			}
		}
		passed := r.cluster.Now().Sub(begun)
		if passed >= limit {
			if why == "" {
				why = "its pods take longer to go"
			}
			return evicted, &UnmetError{fmt.Sprintf("node %s was not drained within %s: %s", name, limit, why)}
		}
		if left, err := d.targets(r, name); err != nil || len(left) == 0 {
			return evicted, err
		}
		if err := r.advance(min(evictAgain, limit-passed)); err != nil {
			return evicted, err
		}
	}
}

// targets returns the pods of a node that a drain evicts, by namespace and name.
func (d *drain) targets(r *run, node string) (targets []*v1.Pod, err error) {
	_, pods, err := r.cluster.State(r.ctx)
	if err != nil {
		return nil, err
	}
	var unowned, local []string
	for _, pod := range pods {
		owner := metav1.GetControllerOf(pod)
		if pod.Spec.NodeName != node || owner != nil && owner.Kind == "DaemonSet" || pod.Annotations[v1.MirrorPodAnnotationKey] != "" {
			continue
		}
		targets = append(targets, pod)
		if podutil.IsPodTerminal(pod) {
			continue
		}
		if owner == nil {
			unowned = append(unowned, pod.Name)
		}
		if slices.ContainsFunc(pod.Spec.Volumes, func(v v1.Volume) bool { return v.EmptyDir != nil }) {
			local = append(local, pod.Name)
		}
	}
	var wrong []error
	if len(unowned) > 0 && !d.Force {
		wrong = append(wrong, fmt.Errorf("no controller creates %s again; to evict such pods, set force", strings.Join(unowned, ", ")))
	}
	if len(local) > 0 && !d.DeleteEmptyDirData {
		wrong = append(wrong, fmt.Errorf("%s would lose an emptyDir; to evict such pods, set deleteEmptyDirData", strings.Join(local, ", ")))
	}
	if len(wrong) > 0 {
		return nil, fmt.Errorf("draining node %s: %w", node, errors.Join(wrong...))
	}
	return targets, nil
}

// evict deletes a pod if its PodDisruptionBudget allows it, by the rules of the API server's eviction. Otherwise it says which does not.
func evict(r *run, pod *v1.Pod) (refusal string, err error) {
	budget, err := budgetOf(r, pod)
	if err != nil {
		return "", err
	}
	if budget != nil && !podutil.IsPodTerminal(pod) && !allows(budget, pod) {
		return fmt.Sprintf("PodDisruptionBudget %s/%s does not allow the eviction of %s", budget.Namespace, budget.Name, pod.Name), nil
	}
	err = r.cluster.Delete(r.ctx, objects.Pod.WithVersion("v1"), pod.Namespace, pod.Name)
	if isNotFound(err) {
		err = nil
	}
	return "", err
}

func allows(b *policyv1.PodDisruptionBudget, pod *v1.Pod) bool {
	if !podutil.IsPodReady(pod) {
		if p := b.Spec.UnhealthyPodEvictionPolicy; p != nil && *p == policyv1.AlwaysAllow {
			return true
		}
		if b.Status.CurrentHealthy >= b.Status.DesiredHealthy && b.Status.DesiredHealthy > 0 {
			return true
		}
	}
	return b.Status.ObservedGeneration >= b.Generation && b.Status.DisruptionsAllowed > 0
}

// budgetOf returns the PodDisruptionBudget of a pod, or nil. The API server evicts no pod that has two.
func budgetOf(r *run, pod *v1.Pod) (budget *policyv1.PodDisruptionBudget, err error) {
	list, err := r.cluster.List(r.ctx, budgetGVK)
	if err != nil {
		return nil, err
	}
	for _, o := range list {
		b, is := o.(*policyv1.PodDisruptionBudget)
		if u, other := o.(*unstructured.Unstructured); other {
			b, is = &policyv1.PodDisruptionBudget{}, true
			if err := runtime.DefaultUnstructuredConverter.FromUnstructured(u.Object, b); err != nil {
				return nil, err
			}
		}
		if !is || b.Namespace != pod.Namespace {
			continue
		}
		selector, err := metav1.LabelSelectorAsSelector(b.Spec.Selector)
		if err != nil || !selector.Matches(labels.Set(pod.Labels)) {
			continue
		}
		if budget != nil {
			return nil, fmt.Errorf("pod %s has two PodDisruptionBudgets, %s and %s, so the API server does not evict it", pod.Name, budget.Name, b.Name)
		}
		budget = b
	}
	return budget, nil
}
