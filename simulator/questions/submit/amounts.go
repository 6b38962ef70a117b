package submit

import (
	"slices"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	resourcehelper "k8s.io/component-helpers/resource"
	kueue "sigs.k8s.io/kueue/apis/kueue/v1beta2"
)

// addRequests adds what all pods of a set ask for.
func addRequests(total v1.ResourceList, set *kueue.PodSet) {
	for name, each := range resourcehelper.PodRequests(&v1.Pod{Spec: set.Template.Spec}, resourcehelper.PodResourcesOptions{}) {
		each.Mul(int64(set.Count))
		sum := total[name]
		sum.Add(each)
		total[name] = sum
	}
}

func mustParse(text string) resource.Quantity {
	q, err := resource.ParseQuantity(text)
	if err != nil {
		return resource.Quantity{}
	}
	return q
}

// amount writes what admission counts as a quantity.
func amount(name v1.ResourceName, v int64) string {
	switch name {
	case v1.ResourceCPU:
		return resource.NewMilliQuantity(v, resource.DecimalSI).String()
	case v1.ResourceMemory, v1.ResourceEphemeralStorage:
		return resource.NewQuantity(v, resource.BinarySI).String()
	}
	return resource.NewQuantity(v, resource.DecimalSI).String()
}

func unstructuredOf(o runtime.Object) (*unstructured.Unstructured, error) {
	if u, ok := o.(*unstructured.Unstructured); ok {
		return u, nil
	}
	content, err := runtime.DefaultUnstructuredConverter.ToUnstructured(o)
	if err != nil {
		return nil, err
	}
	u := &unstructured.Unstructured{Object: content}
	if u.GetKind() == "" {
		u.SetGroupVersionKind(o.GetObjectKind().GroupVersionKind())
	}
	if u.GroupVersionKind().Group == "" {
		u.SetAPIVersion(nativeGroup + "/v1beta1") // the only typed PodGroup
	}
	return u, nil
}

func sorted(list []string) []string {
	slices.Sort(list)
	return list
}
