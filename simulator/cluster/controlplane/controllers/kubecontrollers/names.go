package kubecontrollers

import (
	"maps"
	"slices"

	"k8s.io/component-base/featuregate"
	"k8s.io/kubernetes/cmd/kube-controller-manager/names"
)

// Names returns the sorted names of the controllers that Build builds.
func Names() []string { return slices.Sorted(maps.Keys(table)) }

// Gates returns the feature gates that must be enabled for the named controller to run.
func Gates(name string) []featuregate.Feature { return slices.Clone(table[name].gates) }

// Canonical returns the name of the controller that kube-controller-manager also knows by the
// older name. Any other name is returned unchanged.
func Canonical(name string) string {
	if canonical, old := olderNames[name]; old {
		return canonical
	}
	return name
}

// OlderNames returns the older names that kube-controller-manager accepts, with the names that
// replaced them, for all of its controllers.
func OlderNames() map[string]string { return maps.Clone(olderNames) }

// AllInKubernetes returns the sorted names of kube-controller-manager's controllers.
func AllInKubernetes() []string {
	return slices.Sorted(slices.Values(slices.Concat(Names(), notBuilt)))
}

// notBuilt are the controllers of kube-controller-manager that Build does not build.
var notBuilt = []string{
	names.BootstrapSignerController,
	names.CertificateSigningRequestApprovingController,
	names.CertificateSigningRequestCleanerController,
	names.CertificateSigningRequestSigningController,
	names.KubeAPIServerClusterTrustBundlePublisherController,
	names.LegacyServiceAccountTokenCleanerController,
	names.NamespaceController,
	names.NodeIpamController,
	names.PersistentVolumeAttachDetachController,
	names.PersistentVolumeBinderController,
	names.PersistentVolumeExpanderController,
	names.PodCertificateRequestCleanerController,
	names.RootCACertificatePublisherController,
	names.SELinuxWarningController,
	names.ServiceAccountTokenController,
	names.ServiceCIDRController,
	names.StorageVersionGarbageCollectorController,
	names.StorageVersionMigratorController,
	names.TokenCleanerController,
}

var olderNames = map[string]string{
	"bootstrapsigner":                      names.BootstrapSignerController,
	"csrapproving":                         names.CertificateSigningRequestApprovingController,
	"csrcleaner":                           names.CertificateSigningRequestCleanerController,
	"csrsigning":                           names.CertificateSigningRequestSigningController,
	"clusterrole-aggregation":              names.ClusterRoleAggregationController,
	"cronjob":                              names.CronJobController,
	"daemonset":                            names.DaemonSetController,
	"deployment":                           names.DeploymentController,
	"disruption":                           names.DisruptionController,
	"endpointslice":                        names.EndpointSliceController,
	"endpointslicemirroring":               names.EndpointSliceMirroringController,
	"endpoint":                             names.EndpointsController,
	"ephemeral-volume":                     names.EphemeralVolumeController,
	"garbagecollector":                     names.GarbageCollectorController,
	"horizontalpodautoscaling":             names.HorizontalPodAutoscalerController,
	"job":                                  names.JobController,
	"legacy-service-account-token-cleaner": names.LegacyServiceAccountTokenCleanerController,
	"namespace":                            names.NamespaceController,
	"nodeipam":                             names.NodeIpamController,
	"nodelifecycle":                        names.NodeLifecycleController,
	"attachdetach":                         names.PersistentVolumeAttachDetachController,
	"persistentvolume-binder":              names.PersistentVolumeBinderController,
	"pvc-protection":                       names.PersistentVolumeClaimProtectionController,
	"persistentvolume-expander":            names.PersistentVolumeExpanderController,
	"pv-protection":                        names.PersistentVolumeProtectionController,
	"podgc":                                names.PodGarbageCollectorController,
	"replicaset":                           names.ReplicaSetController,
	"replicationcontroller":                names.ReplicationControllerController,
	"resource-claim-controller":            names.ResourceClaimController,
	"resourcequota":                        names.ResourceQuotaController,
	"root-ca-cert-publisher":               names.RootCACertificatePublisherController,
	"serviceaccount":                       names.ServiceAccountController,
	"serviceaccount-token":                 names.ServiceAccountTokenController,
	"statefulset":                          names.StatefulSetController,
	"storage-version-gc":                   names.StorageVersionGarbageCollectorController,
	"svm":                                  names.StorageVersionMigratorController,
	"ttl-after-finished":                   names.TTLAfterFinishedController,
	"ttl":                                  names.TTLController,
	"tokencleaner":                         names.TokenCleanerController,
}
