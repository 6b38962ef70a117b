package simulation

import (
	"fmt"

	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	v1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	resourcev1 "k8s.io/api/resource/v1"
	schedulingv1 "k8s.io/api/scheduling/v1"
	schedulingv1beta1 "k8s.io/api/scheduling/v1beta1"
	storagev1 "k8s.io/api/storage/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	appsdefaults "k8s.io/kubernetes/pkg/apis/apps/v1"
	batchdefaults "k8s.io/kubernetes/pkg/apis/batch/v1"
	coredefaults "k8s.io/kubernetes/pkg/apis/core/v1"
	resourcedefaults "k8s.io/kubernetes/pkg/apis/resource/v1"
	schedulingdefaults "k8s.io/kubernetes/pkg/apis/scheduling/v1"
	groupdefaults "k8s.io/kubernetes/pkg/apis/scheduling/v1beta1"
	storagedefaults "k8s.io/kubernetes/pkg/apis/storage/v1"

	"kube-scheduler-simulator/scheduler/builtin"
	"kube-scheduler-simulator/scheduler/standin"
)

var (
	podKind           = v1.SchemeGroupVersion.WithKind("Pod")
	nodeKind          = v1.SchemeGroupVersion.WithKind("Node")
	namespaceKind     = v1.SchemeGroupVersion.WithKind("Namespace")
	claimKind         = v1.SchemeGroupVersion.WithKind("PersistentVolumeClaim")
	volumeKind        = v1.SchemeGroupVersion.WithKind("PersistentVolume")
	classKind         = storagev1.SchemeGroupVersion.WithKind("StorageClass")
	priorityClassKind = schedulingv1.SchemeGroupVersion.WithKind("PriorityClass")
	budgetKind        = policyv1.SchemeGroupVersion.WithKind("PodDisruptionBudget")
	deploymentKind    = appsv1.SchemeGroupVersion.WithKind("Deployment")
	replicaSetKind    = appsv1.SchemeGroupVersion.WithKind("ReplicaSet")
	statefulSetKind   = appsv1.SchemeGroupVersion.WithKind("StatefulSet")
	daemonSetKind     = appsv1.SchemeGroupVersion.WithKind("DaemonSet")
	jobKind           = batchv1.SchemeGroupVersion.WithKind("Job")
	cronJobKind       = batchv1.SchemeGroupVersion.WithKind("CronJob")
	resourceClaimKind = resourcev1.SchemeGroupVersion.WithKind("ResourceClaim")
	claimTemplateKind = resourcev1.SchemeGroupVersion.WithKind("ResourceClaimTemplate")
	sliceKind         = resourcev1.SchemeGroupVersion.WithKind("ResourceSlice")
	deviceClassKind   = resourcev1.SchemeGroupVersion.WithKind("DeviceClass")
	podGroupKind      = schedulingv1beta1.SchemeGroupVersion.WithKind("PodGroup")
)

type kindInfo struct {
	namespaced bool
	// defaults sets the defaults of the API; nil if there are none that matter.
	defaults func(runtime.Object)
}

func defaultsOf[T any](set func(T)) func(runtime.Object) {
	return func(o runtime.Object) { set(any(o).(T)) }
}

// kinds are the built-in kinds that a simulation supports. Plugins read those without a controller
// here, or objects refer to them.
var kinds = map[schema.GroupVersionKind]kindInfo{
	podKind:           {true, defaultsOf(coredefaults.SetObjectDefaults_Pod)},
	nodeKind:          {false, defaultsOf(coredefaults.SetObjectDefaults_Node)},
	namespaceKind:     {false, defaultsOf(coredefaults.SetObjectDefaults_Namespace)},
	claimKind:         {true, defaultsOf(coredefaults.SetObjectDefaults_PersistentVolumeClaim)},
	volumeKind:        {false, defaultsOf(coredefaults.SetObjectDefaults_PersistentVolume)},
	classKind:         {false, defaultsOf(storagedefaults.SetObjectDefaults_StorageClass)},
	priorityClassKind: {false, defaultsOf(schedulingdefaults.SetObjectDefaults_PriorityClass)},
	budgetKind:        {true, nil},
	deploymentKind:    {true, defaultsOf(appsdefaults.SetObjectDefaults_Deployment)},
	replicaSetKind:    {true, defaultsOf(appsdefaults.SetObjectDefaults_ReplicaSet)},
	statefulSetKind:   {true, defaultsOf(appsdefaults.SetObjectDefaults_StatefulSet)},
	daemonSetKind:     {true, defaultsOf(appsdefaults.SetObjectDefaults_DaemonSet)},
	jobKind:           {true, defaultsOf(batchdefaults.SetObjectDefaults_Job)},
	cronJobKind:       {true, defaultsOf(batchdefaults.SetObjectDefaults_CronJob)},
	resourceClaimKind: {true, defaultsOf(resourcedefaults.SetObjectDefaults_ResourceClaim)},
	claimTemplateKind: {true, defaultsOf(resourcedefaults.SetObjectDefaults_ResourceClaimTemplate)},
	sliceKind:         {false, defaultsOf(resourcedefaults.SetObjectDefaults_ResourceSlice)},
	podGroupKind:      {true, defaultsOf(groupdefaults.SetObjectDefaults_PodGroup)},

	deviceClassKind: {false, nil},
	schedulingv1beta1.SchemeGroupVersion.WithKind("Workload"):   {true, nil},
	storagev1.SchemeGroupVersion.WithKind("CSINode"):            {false, nil},
	storagev1.SchemeGroupVersion.WithKind("CSIDriver"):          {false, defaultsOf(storagedefaults.SetObjectDefaults_CSIDriver)},
	storagev1.SchemeGroupVersion.WithKind("CSIStorageCapacity"): {true, nil},
	storagev1.SchemeGroupVersion.WithKind("VolumeAttachment"):   {false, nil},
	v1.SchemeGroupVersion.WithKind("Service"):                   {true, defaultsOf(coredefaults.SetObjectDefaults_Service)},
	v1.SchemeGroupVersion.WithKind("ConfigMap"):                 {true, nil},
	v1.SchemeGroupVersion.WithKind("Secret"):                    {true, nil},
	v1.SchemeGroupVersion.WithKind("ServiceAccount"):            {true, nil},
}

// Supports reports whether every simulation has a kind.
func Supports(gvk schema.GroupVersionKind) bool {
	_, known := kinds[gvk]
	return known
}

// Defaulted returns an object as a typed one with the defaults of the API, and a node with those of
// its kubelet; nil if no simulation has its kind.
func Defaulted(u *unstructured.Unstructured) (runtime.Object, error) {
	info, known := kinds[u.GroupVersionKind()]
	if !known {
		return nil, nil
	}
	into, err := builtin.Scheme.New(u.GroupVersionKind())
	if err != nil {
		return nil, err
	}
	if err := runtime.DefaultUnstructuredConverter.FromUnstructuredWithValidation(u.Object, into, true); err != nil {
		return nil, err
	}
	if info.defaults != nil {
		info.defaults(into)
	}
	if node, ok := into.(*v1.Node); ok {
		standin.Complete(node)
	}
	return into, nil
}

// kindOf also supports kinds that Kubernetes' client library does not know, if a plugin or a
// scheduler of Options.Beside reads them. Its error is an *UnsupportedError.
func (c *cluster) kindOf(gvk schema.GroupVersionKind) (kindInfo, error) {
	if info, known := kinds[gvk]; known {
		return info, nil
	}
	if namespaced, custom := c.custom[gvk]; custom {
		return kindInfo{namespaced: namespaced}, nil
	}
	if !builtin.Is(gvk) && c.world.Read(gvk) {
		return kindInfo{namespaced: true}, nil
	}
	return kindInfo{}, &UnsupportedError{GVK: gvk, What: fmt.Sprintf("kind %s of %s", gvk.Kind, gvk.GroupVersion())}
}
