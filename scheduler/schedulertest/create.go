package schedulertest

import (
	"context"
	"encoding/json"
	"fmt"

	v1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	resourcev1 "k8s.io/api/resource/v1"
	schedulingv1beta1 "k8s.io/api/scheduling/v1beta1"
	storagev1 "k8s.io/api/storage/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/kubernetes"
)

// Create creates an object with the client of its kind.
func Create(ctx context.Context, c kubernetes.Interface, o runtime.Object) (err error) {
	options := metav1.CreateOptions{}
	switch o := o.(type) {
	case *v1.Node:
		_, err = c.CoreV1().Nodes().Create(ctx, o, options)
	case *v1.Namespace:
		_, err = c.CoreV1().Namespaces().Create(ctx, o, options)
	case *v1.Pod:
		_, err = c.CoreV1().Pods(o.Namespace).Create(ctx, o, options)
	case *v1.PersistentVolume:
		_, err = c.CoreV1().PersistentVolumes().Create(ctx, o, options)
	case *v1.PersistentVolumeClaim:
		_, err = c.CoreV1().PersistentVolumeClaims(o.Namespace).Create(ctx, o, options)
	case *storagev1.StorageClass:
		_, err = c.StorageV1().StorageClasses().Create(ctx, o, options)
	case *storagev1.CSINode:
		_, err = c.StorageV1().CSINodes().Create(ctx, o, options)
	case *storagev1.CSIDriver:
		_, err = c.StorageV1().CSIDrivers().Create(ctx, o, options)
	case *storagev1.CSIStorageCapacity:
		_, err = c.StorageV1().CSIStorageCapacities(o.Namespace).Create(ctx, o, options)
	case *policyv1.PodDisruptionBudget:
		_, err = c.PolicyV1().PodDisruptionBudgets(o.Namespace).Create(ctx, o, options)
	case *resourcev1.DeviceClass:
		_, err = c.ResourceV1().DeviceClasses().Create(ctx, o, options)
	case *resourcev1.ResourceSlice:
		_, err = c.ResourceV1().ResourceSlices().Create(ctx, o, options)
	case *resourcev1.ResourceClaim:
		_, err = c.ResourceV1().ResourceClaims(o.Namespace).Create(ctx, o, options)
	case *resourcev1.ResourceClaimTemplate:
		_, err = c.ResourceV1().ResourceClaimTemplates(o.Namespace).Create(ctx, o, options)
	case *schedulingv1beta1.PodGroup:
		_, err = c.SchedulingV1beta1().PodGroups(o.Namespace).Create(ctx, o, options)
	default:
		err = createCustom(ctx, c, o)
	}
	return err
}

// createCustom creates a custom resource, which must have its kind and a namespace.
func createCustom(ctx context.Context, c kubernetes.Interface, o runtime.Object) error {
	gvk := o.GetObjectKind().GroupVersionKind()
	accessor, err := meta.Accessor(o)
	if err != nil || gvk.Kind == "" {
		return fmt.Errorf("no client is known for %T", o)
	}
	body, err := json.Marshal(o)
	if err != nil {
		return err
	}
	plural, _ := meta.UnsafeGuessKindToResource(gvk)
	return c.Discovery().RESTClient().Post().
		AbsPath("/apis", gvk.Group, gvk.Version, "namespaces", accessor.GetNamespace(), plural.Resource).
		Body(body).Do(ctx).Error()
}
