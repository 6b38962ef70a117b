package claims

import (
	"fmt"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation/field"
	podutil "k8s.io/kubernetes/pkg/api/pod"
	"k8s.io/kubernetes/pkg/apis/apps"
	appsinstall "k8s.io/kubernetes/pkg/apis/apps/install"
	appsvalidation "k8s.io/kubernetes/pkg/apis/apps/validation"
	"k8s.io/kubernetes/pkg/apis/core"
	coreinstall "k8s.io/kubernetes/pkg/apis/core/install"
	corevalidation "k8s.io/kubernetes/pkg/apis/core/validation"
	"k8s.io/kubernetes/pkg/apis/node"
	nodeinstall "k8s.io/kubernetes/pkg/apis/node/install"
	nodevalidation "k8s.io/kubernetes/pkg/apis/node/validation"
	"k8s.io/kubernetes/pkg/apis/policy"
	policyinstall "k8s.io/kubernetes/pkg/apis/policy/install"
	policyvalidation "k8s.io/kubernetes/pkg/apis/policy/validation"
	"k8s.io/kubernetes/pkg/apis/resource"
	resourceinstall "k8s.io/kubernetes/pkg/apis/resource/install"
	resourcevalidation "k8s.io/kubernetes/pkg/apis/resource/validation"
	"k8s.io/kubernetes/pkg/apis/scheduling"
	schedulinginstall "k8s.io/kubernetes/pkg/apis/scheduling/install"
	schedulingvalidation "k8s.io/kubernetes/pkg/apis/scheduling/validation"
	"k8s.io/kubernetes/pkg/apis/storage"
	storageinstall "k8s.io/kubernetes/pkg/apis/storage/install"
	storagevalidation "k8s.io/kubernetes/pkg/apis/storage/validation"

	"kube-scheduler-simulator/scheduler/whatif/livetest"
)

// TestGeneratedObjectsAreValid validates the objects of random clusters as the API server does: what cannot exist proves nothing.
func TestGeneratedObjectsAreValid(t *testing.T) {
	scheme := runtime.NewScheme()
	for _, install := range []func(*runtime.Scheme){
		appsinstall.Install, coreinstall.Install, nodeinstall.Install, policyinstall.Install, resourceinstall.Install, schedulinginstall.Install, storageinstall.Install,
	} {
		install(scheme)
	}
	rounds := *clusters
	if testing.Short() {
		rounds = min(rounds, len(themes))
	}
	for n := range rounds {
		c := generate(*seed + uint64(n))
		t.Run(c.name, func(t *testing.T) {
			livetest.SetGates(t, c.gates)
			for _, o := range c.objects {
				if err := validate(scheme, o); err != nil {
					t.Errorf("%T: %v", o, err)
				}
			}
		})
	}
}

func validate(scheme *runtime.Scheme, o runtime.Object) error {
	if _, custom := o.(*unstructured.Unstructured); custom {
		return nil
	}
	o = o.DeepCopyObject()
	scheme.Default(o)
	internal, err := scheme.UnsafeConvertToVersion(o, runtime.InternalGroupVersioner)
	if err != nil {
		return err
	}
	errs, known := errorsOf(internal)
	if !known {
		return fmt.Errorf("nobody knows how to validate it")
	}
	return errs.ToAggregate()
}

// errorsOf validates an object as it is created, and the statuses that the generator writes as controllers and kubelets update them.
func errorsOf(o runtime.Object) (errs field.ErrorList, known bool) {
	switch o := o.(type) {
	case *core.Namespace:
		return corevalidation.ValidateNamespace(o), true
	case *core.Node:
		return corevalidation.ValidateNode(o), true
	case *core.Pod:
		options := podutil.GetValidationOptionsFromPodSpecAndMeta(&o.Spec, nil, &o.ObjectMeta, nil)
		errs = corevalidation.ValidatePodCreate(o, options)
		o.ResourceVersion = "1"
		before := o.DeepCopy()
		before.Status = core.PodStatus{Phase: core.PodPending}
		return append(errs, corevalidation.ValidatePodStatusUpdate(o, before, options)...), true
	case *core.PersistentVolume:
		return corevalidation.ValidatePersistentVolume(o, corevalidation.ValidationOptionsForPersistentVolume(o, nil)), true
	case *core.PersistentVolumeClaim:
		return corevalidation.ValidatePersistentVolumeClaim(o, corevalidation.ValidationOptionsForPersistentVolumeClaim(o, nil)), true
	case *apps.ReplicaSet:
		return appsvalidation.ValidateReplicaSet(o, podutil.GetValidationOptionsFromPodTemplate(&o.Spec.Template, nil)), true
	case *apps.Deployment:
		return appsvalidation.ValidateDeployment(o, podutil.GetValidationOptionsFromPodTemplate(&o.Spec.Template, nil)), true
	case *apps.StatefulSet:
		return appsvalidation.ValidateStatefulSet(o, appsvalidation.StatefulSetValidationOptions{}, podutil.GetValidationOptionsFromPodTemplate(&o.Spec.Template, nil)), true
	case *node.RuntimeClass:
		return nodevalidation.ValidateRuntimeClass(o), true
	case *policy.PodDisruptionBudget:
		return policyvalidation.ValidatePodDisruptionBudget(o, policyvalidation.PodDisruptionBudgetValidationOptions{}), true
	case *scheduling.PriorityClass:
		return schedulingvalidation.ValidatePriorityClass(o), true
	case *scheduling.PodGroup:
		return schedulingvalidation.ValidatePodGroup(o), true
	case *storage.VolumeAttachment:
		return storagevalidation.ValidateVolumeAttachment(o), true
	case *storage.StorageClass:
		return storagevalidation.ValidateStorageClass(o), true
	case *storage.CSINode:
		return storagevalidation.ValidateCSINode(o), true
	case *storage.CSIDriver:
		return storagevalidation.ValidateCSIDriver(o), true
	case *storage.CSIStorageCapacity:
		return storagevalidation.ValidateCSIStorageCapacity(o, storagevalidation.CSIStorageCapacityValidateOptions{}), true
	case *resource.DeviceClass:
		return resourcevalidation.ValidateDeviceClass(o), true
	case *resource.ResourceSlice:
		return resourcevalidation.ValidateResourceSlice(o), true
	case *resource.ResourceClaim:
		errs = resourcevalidation.ValidateResourceClaim(o)
		o.ResourceVersion = "1"
		before := o.DeepCopy()
		before.Status = resource.ResourceClaimStatus{}
		return append(errs, resourcevalidation.ValidateResourceClaimStatusUpdate(o, before)...), true
	case *resource.ResourceClaimTemplate:
		return resourcevalidation.ValidateResourceClaimTemplate(o), true
	}
	return nil, false
}
