package kubecontrollers

import (
	"context"

	"k8s.io/component-base/featuregate"
	"k8s.io/kubernetes/cmd/kube-controller-manager/names"
	"k8s.io/kubernetes/pkg/features"
)

// controller says how to build a controller, and which feature gates it needs.
type controller struct {
	build func(b *Builder, ctx context.Context) (Run, error)
	gates []featuregate.Feature
}

// table lists the controllers by name.
var table = map[string]controller{
	names.DaemonSetController:               {build: (*Builder).daemonSet},
	names.StatefulSetController:             {build: (*Builder).statefulSet},
	names.ReplicaSetController:              {build: (*Builder).replicaSet},
	names.ReplicationControllerController:   {build: (*Builder).replicationController},
	names.DeploymentController:              {build: (*Builder).deployment},
	names.JobController:                     {build: (*Builder).job},
	names.CronJobController:                 {build: (*Builder).cronJob},
	names.TTLAfterFinishedController:        {build: (*Builder).ttlAfterFinished},
	names.DisruptionController:              {build: (*Builder).disruption},
	names.HorizontalPodAutoscalerController: {build: (*Builder).horizontalPodAutoscaler},
	names.PodGroupProtectionController:      {build: (*Builder).podGroupProtection, gates: gates(features.GenericWorkload)},

	names.EphemeralVolumeController:                 {build: (*Builder).ephemeralVolume},
	names.PersistentVolumeClaimProtectionController: {build: (*Builder).claimProtection},
	names.PersistentVolumeProtectionController:      {build: (*Builder).volumeProtection},
	names.VolumeAttributesClassProtectionController: {build: (*Builder).attributesClassProtection, gates: gates(features.VolumeAttributesClass)},

	names.NodeLifecycleController:       {build: (*Builder).nodeLifecycle},
	names.TaintEvictionController:       {build: (*Builder).taintEviction, gates: gates(features.SeparateTaintEvictionController)},
	names.PodGarbageCollectorController: {build: (*Builder).podGarbageCollector},
	names.TTLController:                 {build: (*Builder).nodeTTL},

	names.ResourceClaimController:             {build: (*Builder).resourceClaim, gates: gates(features.DynamicResourceAllocation)},
	names.DeviceTaintEvictionController:       {build: (*Builder).deviceTaintEviction, gates: gates(features.DynamicResourceAllocation, features.DRADeviceTaints)},
	names.ResourcePoolStatusRequestController: {build: (*Builder).resourcePoolStatusRequest, gates: gates(features.DRAResourcePoolStatus)},

	names.EndpointsController:              {build: (*Builder).endpoints},
	names.EndpointSliceController:          {build: (*Builder).endpointSlice},
	names.EndpointSliceMirroringController: {build: (*Builder).endpointSliceMirroring},

	names.GarbageCollectorController:                {build: (*Builder).garbageCollector},
	names.ResourceQuotaController:                   {build: (*Builder).resourceQuota},
	names.ServiceAccountController:                  {build: (*Builder).serviceAccount},
	names.ClusterRoleAggregationController:          {build: (*Builder).clusterRoleAggregation},
	names.ValidatingAdmissionPolicyStatusController: {build: (*Builder).validatingAdmissionPolicyStatus},
}

func gates(all ...featuregate.Feature) []featuregate.Feature { return all }
