package jobs

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	v1 "k8s.io/api/core/v1"
	schedulingv1 "k8s.io/api/scheduling/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	kueue "sigs.k8s.io/kueue/apis/kueue/v1beta2"
	controllerconstants "sigs.k8s.io/kueue/pkg/controller/constants"
)

// Surroundings are what a workload takes from the cluster besides its owner. Nil is what does not exist.
type Surroundings interface {
	WorkloadPriorityClass(name string) *kueue.WorkloadPriorityClass
	PriorityClasses() []*schedulingv1.PriorityClass
	// Overhead is that of the pods of a RuntimeClass.
	Overhead(runtimeClass string) v1.ResourceList
	LimitRanges(namespace string) []*v1.LimitRange
}

// NewWorkload returns the workload of an owner, or of several of which this is one.
func NewWorkload(from Surroundings, name string, owner metav1.Object, sets []kueue.PodSet) (*kueue.Workload, error) {
	ref, priority, err := PriorityOf(from, owner.GetLabels(), sets)
	if err != nil {
		return nil, err
	}
	w := &kueue.Workload{
		TypeMeta: metav1.TypeMeta{APIVersion: kueue.GroupVersion.String(), Kind: "Workload"},
		ObjectMeta: metav1.ObjectMeta{
			Namespace: owner.GetNamespace(), Name: name, Finalizers: []string{kueue.ResourceInUseFinalizerName},
			Labels: map[string]string{controllerconstants.JobUIDLabel: string(owner.GetUID())},
		},
		Spec: kueue.WorkloadSpec{QueueName: kueue.LocalQueueName(owner.GetLabels()[controllerconstants.QueueLabel]), PodSets: Adjusted(from, owner.GetNamespace(), sets), Active: ptr.To(true), PriorityClassRef: ref, Priority: priority},
	}
	for name, value := range owner.GetAnnotations() {
		if strings.HasPrefix(name, controllerconstants.ProvReqAnnotationPrefix) { // parameters of a ProvisioningRequest
			metav1.SetMetaDataAnnotation(&w.ObjectMeta, name, value)
		}
	}
	if seconds, err := strconv.ParseInt(owner.GetLabels()[controllerconstants.MaxExecTimeSecondsLabel], 10, 32); err == nil && seconds > 0 {
		w.Spec.MaximumExecutionTimeSeconds = ptr.To(int32(seconds))
	}
	return w, nil
}

// Adjusted returns the pod sets with what their templates leave out.
func Adjusted(from Surroundings, namespace string, sets []kueue.PodSet) []kueue.PodSet {
	ranges := from.LimitRanges(namespace)
	for i := range sets {
		spec := &sets[i].Template.Spec
		var overhead v1.ResourceList
		if spec.RuntimeClassName != nil {
			overhead = from.Overhead(*spec.RuntimeClassName)
		}
		Adjust(spec, overhead, ranges)
	}
	return sets
}

// PriorityOf returns the priority of a workload and the class that it comes from, if any. labels are those of its owner. A
// WorkloadPriorityClass that is missing is an error, as in Kueue.
func PriorityOf(from Surroundings, labels map[string]string, sets []kueue.PodSet) (*kueue.PriorityClassRef, *int32, error) {
	if name := labels[controllerconstants.WorkloadPriorityClassLabel]; name != "" {
		class := from.WorkloadPriorityClass(name)
		if class == nil {
			return nil, nil, fmt.Errorf("the label %s names the WorkloadPriorityClass %s, which does not exist", controllerconstants.WorkloadPriorityClassLabel, name)
		}
		return kueue.NewWorkloadPriorityClassRef(name), ptr.To(class.Value), nil
	}
	classes := from.PriorityClasses()
	for _, set := range sets {
		if at := slices.IndexFunc(classes, func(class *schedulingv1.PriorityClass) bool {
			return class.Name == set.Template.Spec.PriorityClassName
		}); at >= 0 {
			return kueue.NewPodPriorityClassRef(classes[at].Name), ptr.To(classes[at].Value), nil
		}
	}
	if at := slices.IndexFunc(classes, func(class *schedulingv1.PriorityClass) bool { return class.GlobalDefault }); at >= 0 {
		return kueue.NewPodPriorityClassRef(classes[at].Name), ptr.To(classes[at].Value), nil
	}
	return nil, ptr.To(int32(0)), nil
}
