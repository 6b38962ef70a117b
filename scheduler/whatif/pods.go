package whatif

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"time"

	v1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	schedulingv1 "k8s.io/api/scheduling/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/component-helpers/storage/ephemeral"
	podutil "k8s.io/kubernetes/pkg/api/pod"
	"k8s.io/kubernetes/pkg/apis/core"
	corev1 "k8s.io/kubernetes/pkg/apis/core/v1"
	"k8s.io/kubernetes/pkg/apis/core/validation"
	"k8s.io/utils/ptr"
)

// Pod returns a pod of the state as Decide expects it: as if it were not placed yet. A pod that is bound, or has been
// nominated to a node by a binding that is under way, no longer counts on its node until a Rollback, and claims that no other pod uses are no longer allocated. The error is a *NotFoundError.
func (t *Trial) Pod(namespace, name string) (*v1.Pod, error) {
	pod, ok := in(t).world.Get(podKind, namespace, name).(*v1.Pod)
	if !ok {
		return nil, &NotFoundError{ObjectRef{GVK: podKind, Namespace: namespace, Name: name}}
	}
	if pod.Spec.NodeName == "" {
		return pod, nil
	}
	if err := t.releaseClaims(pod); err != nil {
		return nil, err
	}
	pending := *pod
	pending.Spec.NodeName = ""
	pending.Status = v1.PodStatus{Phase: v1.PodPending, ResourceClaimStatuses: pod.Status.ResourceClaimStatuses, ExtendedResourceClaimStatus: pod.Status.ExtendedResourceClaimStatus}
	pending.ResourceVersion = in(t).nextVersion()
	return &pending, t.set(&pending)
}

// releaseClaims ends the use of claims by a pod, and their allocation where no other pod uses them.
func (t *Trial) releaseClaims(pod *v1.Pod) error {
	if len(pod.Spec.ResourceClaims) == 0 && pod.Status.ExtendedResourceClaimStatus == nil {
		return nil
	}
	for _, o := range in(t).world.List(claimKind) {
		claim := o.(*resourcev1.ResourceClaim)
		of := func(user resourcev1.ResourceClaimConsumerReference) bool { return user.UID == pod.UID }
		if claim.Namespace != pod.Namespace || !slices.ContainsFunc(claim.Status.ReservedFor, of) {
			continue
		}
		claim = claim.DeepCopy()
		claim.Status.ReservedFor = slices.DeleteFunc(claim.Status.ReservedFor, of)
		if len(claim.Status.ReservedFor) == 0 {
			claim.Status = resourcev1.ResourceClaimStatus{}
		}
		claim.ResourceVersion = in(t).nextVersion()
		if err := t.set(claim); err != nil {
			return err
		}
	}
	return nil
}

// New returns a new pod as Decide expects it: a copy of pod with a name, a UID, the defaults of the API, and the priority of its priority
// class. It has another name if it needs claims and a pod of its name exists. New creates the claims that controllers would create for the pod. What admission plugins of the API server would change is the caller's
// affair. The error is an *InvalidError, or several that are joined.
func (t *Trial) New(pod *v1.Pod) (*v1.Pod, error) {
	pod = pod.DeepCopy()
	if pod.Namespace == "" {
		pod.Namespace = metav1.NamespaceDefault
	}
	switch {
	case pod.Name == "":
		pod.Name = t.unusedName(pod.Namespace, pod.GenerateName)
	case makesClaims(pod) && in(t).world.Get(podKind, pod.Namespace, pod.Name) != nil:
		// Claims have their pod's name. Those of the pod that has it already stay its own.
		pod.Name = t.unusedName(pod.Namespace, pod.Name+"-")
	}
	pod.UID, pod.ResourceVersion = in(t).nextUID(), in(t).nextVersion()
	pod.CreationTimestamp, pod.DeletionTimestamp = metav1.NewTime(in(t).now()), nil
	pod.Spec.NodeName = ""
	pod.Status = v1.PodStatus{Phase: v1.PodPending}
	if err := t.prioritize(pod); err != nil {
		return nil, err
	}
	corev1.SetObjectDefaults_Pod(pod)
	if err := validatePod(pod); err != nil {
		return nil, err
	}
	return pod, t.createClaims(pod)
}

// unusedName returns the name of a pod that does not exist.
func (t *Trial) unusedName(namespace, prefix string) string {
	if prefix == "" {
		prefix = "hypothetical-"
	}
	for i := 1; ; i++ {
		name := prefix + strconv.Itoa(i)
		if in(t).world.Get(podKind, namespace, name) == nil {
			return name
		}
	}
}

// builtInPriorities are the classes that every cluster has.
var builtInPriorities = map[string]int32{"system-cluster-critical": 2000000000, "system-node-critical": 2000001000}

// prioritize sets the priority of a pod as the admission plugin Priority does.
func (t *Trial) prioritize(pod *v1.Pod) error {
	if pod.Spec.Priority != nil {
		return nil
	}
	if priority, known := builtInPriorities[pod.Spec.PriorityClassName]; known {
		pod.Spec.Priority = &priority
		return nil
	}
	for _, o := range in(t).world.List(priorityClassKind) {
		class := o.(*schedulingv1.PriorityClass)
		if pod.Spec.PriorityClassName == class.Name || pod.Spec.PriorityClassName == "" && class.GlobalDefault {
			pod.Spec.PriorityClassName, pod.Spec.Priority = class.Name, ptr.To(class.Value)
			if pod.Spec.PreemptionPolicy == nil {
				pod.Spec.PreemptionPolicy = class.PreemptionPolicy
			}
			return nil
		}
	}
	if pod.Spec.PriorityClassName != "" {
		return &InvalidError{Path: "spec.priorityClassName", Message: fmt.Sprintf("the state has no PriorityClass %q", pod.Spec.PriorityClassName)}
	}
	pod.Spec.Priority = ptr.To[int32](0)
	return nil
}

func validatePod(pod *v1.Pod) error {
	internal := &core.Pod{}
	if err := corev1.Convert_v1_Pod_To_core_Pod(pod, internal, nil); err != nil {
		return &InvalidError{Message: err.Error()}
	}
	return invalid(validation.ValidatePodCreate(internal, podutil.GetValidationOptionsFromPodSpecAndMeta(&internal.Spec, nil, &internal.ObjectMeta, nil)))
}

// invalid returns an *InvalidError for each error, joined, or nil.
func invalid(list field.ErrorList) error {
	var errs []error
	for _, err := range list {
		errs = append(errs, &InvalidError{Path: err.Field, Message: err.ErrorBody()})
	}
	return errors.Join(errs...)
}

// createClaims creates the claims that controllers create for a new pod: for its ephemeral volumes, and from templates of
// resource claims.
func (t *Trial) createClaims(pod *v1.Pod) error {
	owners := []metav1.OwnerReference{*metav1.NewControllerRef(pod, v1.SchemeGroupVersion.WithKind("Pod"))}
	for i := range pod.Spec.Volumes {
		volume := &pod.Spec.Volumes[i]
		if volume.Ephemeral == nil || volume.Ephemeral.VolumeClaimTemplate == nil {
			continue
		}
		template := volume.Ephemeral.VolumeClaimTemplate
		claim := &v1.PersistentVolumeClaim{ObjectMeta: *template.ObjectMeta.DeepCopy(), Spec: *template.Spec.DeepCopy(), Status: v1.PersistentVolumeClaimStatus{Phase: v1.ClaimPending}}
		claim.Name, claim.OwnerReferences = ephemeral.VolumeClaimName(pod, volume), owners
		if err := t.create(claim, pod.Namespace); err != nil {
			return err
		}
	}
	for i := range pod.Spec.ResourceClaims {
		from := &pod.Spec.ResourceClaims[i]
		if from.ResourceClaimTemplateName == nil {
			continue
		}
		template, ok := in(t).world.Get(claimTemplateKind, pod.Namespace, *from.ResourceClaimTemplateName).(*resourcev1.ResourceClaimTemplate)
		if !ok {
			return &InvalidError{
				Path:    fmt.Sprintf("spec.resourceClaims[%d].resourceClaimTemplateName", i),
				Message: fmt.Sprintf("the state has no ResourceClaimTemplate %q", *from.ResourceClaimTemplateName),
			}
		}
		claim := &resourcev1.ResourceClaim{ObjectMeta: *template.Spec.ObjectMeta.DeepCopy(), Spec: *template.Spec.Spec.DeepCopy()}
		claim.Name, claim.OwnerReferences = pod.Name+"-"+from.Name, owners
		if err := t.create(claim, pod.Namespace); err != nil {
			return err
		}
		pod.Status.ResourceClaimStatuses = append(pod.Status.ResourceClaimStatuses, v1.PodResourceClaimStatus{Name: from.Name, ResourceClaimName: &claim.Name})
	}
	return nil
}

func (t *Trial) create(o runtime.Object, namespace string) error {
	accessor := accessorOf(o)
	accessor.SetNamespace(namespace)
	accessor.SetUID(in(t).nextUID())
	accessor.SetResourceVersion(in(t).nextVersion())
	accessor.SetCreationTimestamp(metav1.NewTime(in(t).now()))
	return t.set(o)
}

// firstVersion is later than any version of an API server.
const firstVersion = 1 << 62

// nextVersion returns the resource version of a hypothetical object. It is newer than all others, because caches of plugins
// ignore versions that are not.
func (r *Replica) nextVersion() string {
	r.made++
	return strconv.FormatInt(firstVersion+r.made, 10)
}

func (r *Replica) nextUID() types.UID {
	r.made++
	return types.UID(fmt.Sprintf("hypothetical-%d", r.made))
}

func (r *Replica) now() time.Time {
	if r.options.Clock != nil {
		return r.options.Clock()
	}
	return time.Now()
}
