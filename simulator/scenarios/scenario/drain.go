package scenario

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/google/cel-go/common/types"
	"go.yaml.in/yaml/v3"
	appsv1 "k8s.io/api/apps/v1"
	v1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	apitypes "k8s.io/apimachinery/pkg/types"
	podutil "k8s.io/kubernetes/pkg/api/v1/pod"

	"kube-scheduler-simulator/simulator/cluster/eviction"
	"kube-scheduler-simulator/simulator/cluster/objects"
	"kube-scheduler-simulator/simulator/scenarios/decoder"
)

// drain empties nodes as kubectl drain does: it cordons all of them, and evicts the pods of one after the other. It leaves the pods of
// DaemonSets, asks again for an eviction that a PodDisruptionBudget refuses, and goes on with the next node when one cannot be emptied.
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

var daemonSetGVK = appsv1.SchemeGroupVersion.WithKind("DaemonSet")

const (
	// evictAgain is how long kubectl waits after a refused eviction.
	evictAgain = 5 * time.Second
	// lookAgain is how often kubectl looks whether an evicted pod has gone.
	lookAgain = time.Second
)

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
	daemonSets, err := r.cluster.List(r.ctx, daemonSetGVK)
	if err != nil {
		return "", err
	}
	known := map[string]bool{}
	for _, o := range daemonSets {
		if set, err := meta.Accessor(o); err == nil {
			known[set.GetNamespace()+"/"+set.GetName()] = true
		}
	}
	evicted := 0
	var unmet []string
	for _, name := range names {
		n, failed, err := d.empty(r, name, known)
		if evicted += n; err != nil {
			return "", err
		}
		if failed != "" {
			unmet = append(unmet, failed) // kubectl goes on with the next node
		}
	}
	if len(unmet) > 0 {
		return "", &UnmetError{strings.Join(unmet, "; ")}
	}
	return fmt.Sprintf("%s evicted from %s", Plural(evicted, "Pod"), strings.Join(names, ", ")), nil
}

// target is a pod that a drain evicts.
type target struct {
	*v1.Pod
	// evicted: the API server has taken the eviction, and the drain waits for the pod to go. Until then refused is why not.
	evicted bool
	refused string
	// again is when the eviction is asked for.
	again time.Time
}

// empty evicts the pods of a node, and returns how many. failed says why the node did not become empty.
func (d *drain) empty(r *run, name string, daemonSets map[string]bool) (evicted int, failed string, err error) {
	_, pods, err := r.cluster.State(r.ctx)
	if err != nil {
		return 0, "", err
	}
	rules := eviction.Rules{Force: d.Force, IgnoreDaemonSets: true, DeleteEmptyDirData: d.DeleteEmptyDirData}
	chosen, _, errs := rules.Choose(r.ctx, name, pods, daemonSets)
	if len(errs) > 0 {
		return 0, fmt.Sprintf("node %s: kubectl drain refuses: %s; in a scenario the fields force and deleteEmptyDirData are these flags", name, strings.Join(errs, "; ")), nil
	}
	begun := r.cluster.Now()
	left := make([]*target, 0, len(chosen))
	for i := range chosen {
		left = append(left, &target{Pod: &chosen[i], again: begun})
	}
	end := begun.Add(DefaultTimeout)
	if d.Timeout != nil {
		end = begun.Add(d.Timeout.Duration)
	}
	var never []string
	for {
		if left, err = r.remaining(left); err != nil {
			return evicted, "", err
		}
		now := r.cluster.Now()
		for i := 0; i < len(left) && now.Before(end); i++ {
			t := left[i]
			if t.evicted || t.again.After(now) {
				continue
			}
			refusal, final, err := evict(r, t.Pod)
			switch {
			case err != nil:
				return evicted, "", err
			case final != "":
				never = append(never, fmt.Sprintf("%s is not evicted: %s", t.Name, final))
				left = slices.Delete(left, i, i+1)
				i--
			case refusal != "":
				t.refused, t.again = refusal, now.Add(evictAgain)
			default:
				t.evicted = true
				if t.DeletionTimestamp == nil {
					evicted++
				}
			}
		}
		if left, err = r.remaining(left); err != nil {
			return evicted, "", err
		}
		if len(left) == 0 {
			break
		}
		if !now.Before(end) {
			why := "its pods take longer to go"
			if i := slices.IndexFunc(left, func(t *target) bool { return !t.evicted }); i >= 0 {
				why = left[i].refused
			}
			never = append(never, why)
			return evicted, fmt.Sprintf("node %s was not drained within %s: %s", name, end.Sub(begun), strings.Join(never, "; ")), nil
		}
		if err := r.advance(min(lookAgain, end.Sub(now))); err != nil {
			return evicted, "", err
		}
	}
	if len(never) > 0 {
		return evicted, fmt.Sprintf("node %s was not drained: %s", name, strings.Join(never, "; ")), nil
	}
	return evicted, "", nil
}

// remaining drops the targets that have gone, and takes the others as they are now.
func (r *run) remaining(targets []*target) ([]*target, error) {
	_, pods, err := r.cluster.State(r.ctx)
	if err != nil {
		return nil, err
	}
	there := make(map[apitypes.UID]*v1.Pod, len(pods))
	for _, p := range pods {
		there[p.UID] = p
	}
	return slices.DeleteFunc(targets, func(t *target) bool {
		t.Pod = there[t.UID]
		return t.Pod == nil
	}), nil
}

// evict deletes a pod unless a PodDisruptionBudget refuses it for now, or the API server never evicts it.
func evict(r *run, pod *v1.Pod) (refusal, never string, err error) {
	by, never, err := evictUnless(r, pod)
	if by != "" {
		refusal = fmt.Sprintf("PodDisruptionBudget %s does not allow the eviction of %s", by, pod.Name)
	}
	return refusal, never, err
}

// evictUnless is evict with the budget that refuses, as namespace/name.
func evictUnless(r *run, pod *v1.Pod) (by, never string, err error) {
	of, err := budgetsOf(r, pod)
	if err != nil {
		return "", "", err
	}
	refuses, never := eviction.Refuses(pod, podutil.IsPodReady(pod), of)
	if refuses != nil {
		return refuses.Namespace + "/" + refuses.Name, "", nil
	}
	if never != "" {
		return "", never, nil
	}
	err = r.cluster.Delete(r.ctx, objects.Pod.WithVersion("v1"), pod.Namespace, pod.Name)
	if isNotFound(err) {
		err = nil
	}
	return "", "", err
}

// budgetsOf returns the PodDisruptionBudgets of a pod.
func budgetsOf(r *run, pod *v1.Pod) (of []eviction.Budget, err error) {
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
		if is && eviction.Selects(b, pod) {
			of = append(of, eviction.Of(b))
		}
	}
	return of, nil
}
