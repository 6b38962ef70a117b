package submit

import (
	"context"
	"errors"
	"fmt"
	"time"

	v1 "k8s.io/api/core/v1"
	nodev1 "k8s.io/api/node/v1"
	resourcev1 "k8s.io/api/resource/v1"
	schedulingv1 "k8s.io/api/scheduling/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	kueue "sigs.k8s.io/kueue/apis/kueue/v1beta2"

	"kube-scheduler-simulator/simulator/batch/kueue/admission"
	"kube-scheduler-simulator/simulator/batch/kueue/conversion"
	"kube-scheduler-simulator/simulator/batch/kueue/jobs"
	"kube-scheduler-simulator/simulator/questions/why"
)

// ErrNoQueues means that a cluster does not have Kueue's kinds.
var ErrNoQueues = errors.New("the cluster does not have Kueue's kinds")

// Cluster is a cluster that is asked. Nothing that it does changes the cluster. Methods are safe for concurrent use.
type Cluster interface {
	why.Cluster
	// Queues returns a copy of what admission knows of the queues, which the question changes, and the Configuration that
	// they follow. The error is ErrNoQueues for a cluster without them.
	Queues(ctx context.Context) (*admission.State, *Configured, error)
}

// Follow lets a state of admission follow an object, and reports whether it is of a kind that admission reads. Objects of
// Kueue may be of v1beta1.
func Follow(state *admission.State, o runtime.Object, now time.Time) (bool, error) {
	if u, ok := o.(*unstructured.Unstructured); ok {
		typed, err := typedQueue(u)
		if typed == nil || err != nil {
			return false, err
		}
		o = typed
	}
	switch o := o.(type) {
	case *kueue.ClusterQueue:
		state.SetClusterQueue(o)
	case *kueue.Cohort:
		state.SetCohort(o)
	case *kueue.LocalQueue:
		state.SetLocalQueue(o)
	case *kueue.ResourceFlavor:
		state.SetFlavor(o)
	case *kueue.Topology:
		state.SetTopology(o)
	case *kueue.AdmissionCheck:
		state.SetAdmissionCheck(o)
	case *kueue.Workload:
		state.SetWorkload(o, now)
	case *v1.Namespace:
		state.SetNamespace(o)
	case *v1.LimitRange:
		state.SetLimitRange(o)
	case *resourcev1.ResourceClaimTemplate:
		state.SetClaimTemplate(o)
	case *resourcev1.DeviceClass:
		state.SetDeviceClass(o)
	case *v1.Node:
		state.SetNode(o)
	case *v1.Pod:
		state.SetPod(o)
	default:
		return false, nil
	}
	return true, nil
}

// admissionReads are the kinds that admission reads.
var admissionReads = []schema.GroupVersionKind{
	v1.SchemeGroupVersion.WithKind("Namespace"), v1.SchemeGroupVersion.WithKind("LimitRange"), v1.SchemeGroupVersion.WithKind("Node"), v1.SchemeGroupVersion.WithKind("Pod"),
	resourcev1.SchemeGroupVersion.WithKind("ResourceClaimTemplate"), resourcev1.SchemeGroupVersion.WithKind("DeviceClass"),
	kueue.GroupVersion.WithKind("Topology"), kueue.GroupVersion.WithKind("ResourceFlavor"), kueue.GroupVersion.WithKind("AdmissionCheck"), kueue.GroupVersion.WithKind("Cohort"),
	kueue.GroupVersion.WithKind("ClusterQueue"), kueue.GroupVersion.WithKind("LocalQueue"), kueue.GroupVersion.WithKind("Workload"),
}

// StateOf returns what admission would know of a cluster whose queues are not the simulator's own, from its objects, with
// the Configuration in its ConfigMap. The error is ErrNoQueues if it has no objects of Kueue.
func StateOf(ctx context.Context, c why.Cluster, now time.Time) (*admission.State, *Configured, error) {
	settings, configured := configurationOf(ctx, c)
	state, found := admission.New(settings), false
	for _, gvk := range admissionReads {
		all, err := c.List(ctx, gvk, metav1.NamespaceAll)
		if err != nil {
			return nil, nil, err
		}
		for _, o := range all {
			if _, err := Follow(state, o, now); err != nil {
				return nil, nil, fmt.Errorf("reading a %s: %w", gvk.Kind, err)
			}
		}
		found = found || len(all) > 0 && gvk.Group == kueue.GroupVersion.Group
	}
	if !found {
		return nil, nil, ErrNoQueues
	}
	return state, configured, nil
}

// typedQueue returns nil for an object that is not Kueue's.
func typedQueue(u *unstructured.Unstructured) (runtime.Object, error) {
	if u.GroupVersionKind().Group != kueue.GroupVersion.Group {
		return nil, nil
	}
	var o runtime.Object
	switch u.GetKind() {
	case "ClusterQueue":
		o = &kueue.ClusterQueue{}
	case "Cohort":
		o = &kueue.Cohort{}
	case "LocalQueue":
		o = &kueue.LocalQueue{}
	case "ResourceFlavor":
		o = &kueue.ResourceFlavor{}
	case "Topology":
		o = &kueue.Topology{}
	case "AdmissionCheck":
		o = &kueue.AdmissionCheck{}
	case "Workload":
		o = &kueue.Workload{}
	case "WorkloadPriorityClass":
		o = &kueue.WorkloadPriorityClass{}
	default:
		return nil, nil
	}
	switch u.GetKind() {
	case "ClusterQueue", "Cohort", "LocalQueue", "Workload":
		converted, err := conversion.Convert(u, kueue.GroupVersion.String())
		if err != nil {
			return nil, err
		}
		u = converted
	}
	return o, runtime.DefaultUnstructuredConverter.FromUnstructured(u.Object, o)
}

// surroundings are those of a cluster at one moment.
type surroundings struct {
	classes    []*kueue.WorkloadPriorityClass
	priorities []*schedulingv1.PriorityClass
	runtimes   []*nodev1.RuntimeClass
	ranges     []*v1.LimitRange
}

var _ jobs.Surroundings = (*surroundings)(nil)

// surroundingsOf reads them. What a cluster does not let one read counts as not there.
func surroundingsOf(ctx context.Context, c Cluster, beside []*unstructured.Unstructured) *surroundings {
	s := &surroundings{ranges: listed[*v1.LimitRange](ctx, c, v1.SchemeGroupVersion.WithKind("LimitRange"), nil)}
	s.priorities = listed[*schedulingv1.PriorityClass](ctx, c, schedulingv1.SchemeGroupVersion.WithKind("PriorityClass"), nil)
	s.runtimes = listed[*nodev1.RuntimeClass](ctx, c, nodev1.SchemeGroupVersion.WithKind("RuntimeClass"), nil)
	s.classes = listed[*kueue.WorkloadPriorityClass](ctx, c, kueue.GroupVersion.WithKind("WorkloadPriorityClass"), beside)
	return s
}

// listed returns the objects of a kind in all namespaces, and those beside.
func listed[T runtime.Object](ctx context.Context, c Cluster, gvk schema.GroupVersionKind, beside []*unstructured.Unstructured) (out []T) {
	all, err := c.List(ctx, gvk, metav1.NamespaceAll)
	if err != nil {
		return nil
	}
	for _, u := range beside {
		if u.GroupVersionKind().GroupKind() == gvk.GroupKind() {
			all = append(all, u)
		}
	}
	for _, o := range all {
		if u, ok := o.(*unstructured.Unstructured); ok {
			if typed, err := typedQueue(u); err == nil && typed != nil {
				o = typed
			}
		}
		if typed, ok := o.(T); ok {
			out = append(out, typed)
		}
	}
	return out
}

func (s *surroundings) WorkloadPriorityClass(name string) *kueue.WorkloadPriorityClass {
	for _, class := range s.classes {
		if class.Name == name {
			return class
		}
	}
	return nil
}

func (s *surroundings) PriorityClasses() []*schedulingv1.PriorityClass { return s.priorities }

func (s *surroundings) Overhead(runtimeClass string) v1.ResourceList {
	for _, class := range s.runtimes {
		if class.Name == runtimeClass && class.Overhead != nil {
			return class.Overhead.PodFixed
		}
	}
	return nil
}

func (s *surroundings) LimitRanges(namespace string) (out []*v1.LimitRange) {
	for _, r := range s.ranges {
		if r.Namespace == namespace {
			out = append(out, r)
		}
	}
	return out
}
