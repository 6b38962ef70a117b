package simulation

import (
	"encoding/json"
	"slices"

	jsonpatch "gopkg.in/evanphx/json-patch.v4"
	v1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/klog/v2"
	"k8s.io/kubernetes/pkg/apis/core/v1/helper/qos"

	"kube-scheduler-simulator/scheduler/memory"
)

// noLogger drops what functions of Kubernetes log.
var noLogger = klog.Logger{}

func qosOf(pod *v1.Pod) v1.PodQOSClass { return qos.ComputePodQOS(pod) }

// unsupportedParts refuses objects of supported kinds with fields that a simulation ignores.
func unsupportedParts(o object) error {
	slice, ok := o.(*resourcev1.ResourceSlice)
	if !ok {
		return nil
	}
	waits := func(d resourcev1.Device) bool { return len(d.BindingConditions) > 0 }
	if slices.ContainsFunc(slice.Spec.Devices, waits) {
		return &UnsupportedError{GVK: sliceKind, Name: o.GetName(), What: "binding conditions of devices"}
	}
	return nil
}

// checkUpdate refuses those updates that the API server refuses and that would confuse the
// scheduler.
func (c *control) checkUpdate(before, after object) error {
	was, isPod := before.(*v1.Pod)
	if !isPod {
		return unsupportedParts(after)
	}
	is := after.(*v1.Pod)
	// The node and what a scheduled pod requests are fixed. Gates, tolerations and, in place,
	// resources may change.
	fixed := func(pod *v1.Pod) *v1.PodSpec {
		spec := pod.Spec.DeepCopy()
		spec.SchedulingGates, spec.Tolerations, spec.ActiveDeadlineSeconds, spec.TerminationGracePeriodSeconds = nil, nil, nil, nil
		if len(was.Spec.SchedulingGates) > 0 {
			spec.NodeSelector, spec.Affinity = nil, nil
		}
		for i := range spec.Containers {
			spec.Containers[i].Image = ""
			spec.Containers[i].Resources = v1.ResourceRequirements{}
		}
		for i := range spec.InitContainers {
			spec.InitContainers[i].Image = ""
		}
		return spec
	}
	if !equality.Semantic.DeepEqual(fixed(was), fixed(is)) {
		return apierrors.NewInvalid(podKind.GroupKind(), was.Name, field.ErrorList{field.Forbidden(field.NewPath("spec"), "pod updates may not change fields other than the images, tolerations and resources of containers, and gates")})
	}
	return nil
}

func specChanged(before, after object) bool {
	a, errA := specOf(before)
	b, errB := specOf(after)
	return errA != nil || errB != nil || !equality.Semantic.DeepEqual(a, b)
}

func specOf(o object) (any, error) {
	content, err := runtime.DefaultUnstructuredConverter.ToUnstructured(o)
	return content["spec"], err
}

// applied returns the merge patch that applies an object, without what only a server writes.
func applied(o runtime.Object) ([]byte, error) {
	data, err := json.Marshal(o)
	if err != nil {
		return nil, err
	}
	if _, custom := o.(*unstructured.Unstructured); custom {
		return data, nil
	}
	// A typed object also writes fields that its author left out, as null or empty. Drop those of
	// an empty object.
	empty, err := json.Marshal(memory.Like(o))
	if err != nil {
		return nil, err
	}
	return jsonpatch.CreateMergePatch(empty, data)
}
