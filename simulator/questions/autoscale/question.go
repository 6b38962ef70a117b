package autoscale

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	scheduling "k8s.io/component-helpers/scheduling/corev1"
	corev1 "k8s.io/kubernetes/pkg/apis/core/v1"

	"kube-scheduler-simulator/simulator/autoscaling/dryrun"
	"kube-scheduler-simulator/simulator/autoscaling/instances"
	"kube-scheduler-simulator/simulator/questions/hypothesis"
)

// MaxPods bounds the pods of a question.
const MaxPods = 5000

// Question asks what an autoscaler would do.
type Question struct {
	// Pods are asked about; without any, all pods that wait are, and those of Objects.
	Pods []hypothesis.PodName `json:"pods,omitempty"`
	// Objects are documents with pods that do not exist, to be asked about as well, and with NodePools: new ones, and others in place of
	// those of their names. One in YAML may hold several.
	Objects []hypothesis.Document `json:"objects,omitempty"`
	// Namespace is for objects without one; empty means "default".
	Namespace string `json:"namespace,omitempty"`
	// InstanceTypes is a list of types in the format of Karpenter's KWOK provider; empty for those of the simulator, or else a small set that is built in.
	InstanceTypes hypothesis.Document `json:"instanceTypes,omitempty"`
	// InstanceTypesFrom names the list, as the source of the prices.
	InstanceTypesFrom string `json:"instanceTypesFrom,omitempty"`
	// Nodes are nodes of which to say, too, whether they could go. AllNodes asks so about all that the autoscaler has.
	Nodes    []string `json:"nodes,omitempty"`
	AllNodes bool     `json:"allNodes,omitempty"`
	// Rounds asks what would become of the cluster if the autoscaler were left alone with it, until nothing is left to do.
	Rounds bool `json:"rounds,omitempty"`
	// Catalog has the types if InstanceTypes is empty; nil for the built-in ones.
	Catalog *instances.Catalog `json:"-"`
	// OnlyObjects asks about the pods of Objects and no others.
	OnlyObjects bool `json:"-"`
	// alone says that the only pod of Objects may have the name of one that exists. there are pods that count as placed on their nodes.
	alone bool
	there []hypothesis.Document
}

func refuse(format string, args ...any) error {
	return &hypothesis.Refused{Message: fmt.Sprintf(format, args...)}
}

// read adds the objects of the documents to a state, and returns the new pods: those to ask about, and those that count as placed.
func (q *Question) read(ctx context.Context, state *dryrun.State) (pods, placed []*v1.Pod, err error) {
	if pods, err = q.readAll(ctx, "objects", q.Objects, state); err != nil {
		return nil, nil, err
	}
	for _, p := range pods {
		p.Spec.NodeName = ""
		if q.alone {
			stepAside(state, p)
		}
	}
	placed, err = q.readAll(ctx, "changes", q.there, state)
	state.Pods = append(slices.Clone(state.Pods), placed...)
	return pods, placed, err
}

// stepAside makes room for a pod of the name of one that exists: one that waits is asked about in its new form, and beside one that has a node
// another pod gets another name.
func stepAside(state *dryrun.State, p *v1.Pod) {
	i := slices.IndexFunc(state.Pods, func(known *v1.Pod) bool { return known.Namespace == p.Namespace && known.Name == p.Name })
	switch {
	case i < 0:
	case waits(state.Pods[i]):
		state.Pods = slices.Delete(slices.Clone(state.Pods), i, i+1)
	default:
		p.Name += "-asked"
	}
}

func (q *Question) readAll(ctx context.Context, field string, documents []hypothesis.Document, state *dryrun.State) (pods []*v1.Pod, err error) {
	err = hypothesis.EachObject(ctx, field, documents, "NodePool or Pod", func(u *unstructured.Unstructured) error {
		pod, err := q.add(u, state)
		if pod != nil {
			pods = append(pods, pod)
		}
		return err
	})
	return pods, err
}

// add adds a NodePool to a state, or returns a pod as an API server would store it.
func (q *Question) add(u *unstructured.Unstructured, state *dryrun.State) (*v1.Pod, error) {
	switch gvk := u.GroupVersionKind(); {
	case gvk.Group == dryrun.NodePoolKind.Group && gvk.Kind == dryrun.NodePoolKind.Kind:
		return nil, state.Add(u)
	case gvk == v1.SchemeGroupVersion.WithKind("Pod"):
		pod := &v1.Pod{}
		if err := runtime.DefaultUnstructuredConverter.FromUnstructuredWithValidation(u.Object, pod, true); err != nil {
			return nil, err
		}
		if pod.Namespace == "" {
			pod.Namespace = q.Namespace
		}
		if pod.Name == "" {
			pod.Name = pod.GenerateName + "new"
		}
		pod.Status = v1.PodStatus{}
		corev1.SetObjectDefaults_Pod(pod)
		return pod, nil
	}
	return nil, fmt.Errorf("want a NodePool or a Pod")
}

// catalog returns the instance types that can be bought.
func (q *Question) catalog(ctx context.Context, zones []string) (*instances.Catalog, error) {
	if q.InstanceTypes == nil && q.Catalog != nil {
		return q.Catalog, nil
	}
	if q.InstanceTypes == nil {
		return instances.BuiltIn(zones...), nil
	}
	c, err := instances.Read(ctx, q.InstanceTypes, cmp.Or(q.InstanceTypesFrom, "instanceTypes"))
	if err != nil {
		return nil, refuse("%v", err)
	}
	return c, nil
}

// asked returns the pods that the question is about, in the order in which the scheduler tries them.
func (q *Question) asked(state *dryrun.State, added []*v1.Pod) (pods []*v1.Pod, err error) {
	for _, name := range q.Pods {
		i := slices.IndexFunc(state.Pods, func(p *v1.Pod) bool {
			return p.Name == name.Name && p.Namespace == cmp.Or(name.Namespace, q.Namespace)
		})
		if i < 0 {
			return nil, refuse("pods: there is no pod %s/%s", cmp.Or(name.Namespace, q.Namespace), name.Name)
		}
		pods = append(pods, state.Pods[i])
	}
	if len(q.Pods) == 0 && !q.alone && !q.OnlyObjects {
		for _, p := range state.Pods {
			if waits(p) {
				pods = append(pods, p)
			}
		}
	}
	for _, p := range added {
		if slices.ContainsFunc(state.Pods, func(known *v1.Pod) bool { return known.Namespace == p.Namespace && known.Name == p.Name }) {
			return nil, refuse("objects: there is a pod %s/%s already; name it in pods to ask about it", p.Namespace, p.Name)
		}
		pods = append(pods, p)
	}
	if len(pods) > MaxPods {
		return nil, refuse("pods: %d pods wait; ask about %d at most", len(pods), MaxPods)
	}
	slices.SortStableFunc(pods, before)
	return pods, nil
}

// waits reports whether a pod is there and has no node yet.
func waits(p *v1.Pod) bool {
	return p.Spec.NodeName == "" && p.DeletionTimestamp == nil && (p.Status.Phase == "" || p.Status.Phase == v1.PodPending)
}

// before is the order of the scheduler's queue: by priority, and then the oldest first. New pods come last.
func before(a, b *v1.Pod) int {
	switch {
	case scheduling.PodPriority(a) != scheduling.PodPriority(b):
		return cmp.Compare(scheduling.PodPriority(b), scheduling.PodPriority(a))
	case a.CreationTimestamp.IsZero() != b.CreationTimestamp.IsZero():
		if a.CreationTimestamp.IsZero() {
			return 1
		}
		return -1
	}
	if d := a.CreationTimestamp.Compare(b.CreationTimestamp.Time); d != 0 {
		return d
	}
	return strings.Compare(a.Namespace+"/"+a.Name, b.Namespace+"/"+b.Name)
}
