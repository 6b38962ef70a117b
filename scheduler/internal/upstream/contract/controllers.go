package contract

// Our files that repeat how kube-controller-manager builds its controllers.
const (
	controllersPackage = "simulator/cluster/controlplane/controllers/kubecontrollers/"
	workloadsFile      = controllersPackage + "workloads.go"
	claimsFile         = controllersPackage + "volumes.go"
	nodesFile          = controllersPackage + "nodes.go"
	devicesFile        = controllersPackage + "devices.go"
	servicesFile       = controllersPackage + "services.go"
	clusterFile        = controllersPackage + "cluster.go"
	builderFile        = controllersPackage + "builder.go"
	configurationFile  = controllersPackage + "configuration.go"
)

const (
	managerPackage = "k8s.io/kubernetes/cmd/kube-controller-manager/app"
	optionsPackage = managerPackage + "/options"
)

// controllerWatches returns the functions of kube-controller-manager that our controllers
// are built like. Names, feature gates and the values of the configuration are not
// here: the tests in upstreamtest compare them.
func controllerWatches() []Watch {
	var out []Watch
	for _, group := range []struct {
		ours  string
		names []string
	}{
		{workloadsFile, []string{
			"newDaemonSetController", "newStatefulSetController", "newReplicaSetController", "newReplicationController",
			"newDeploymentController", "newJobController", "newCronJobController", "newTTLAfterFinishedController",
			"newDisruptionController", "newHorizontalPodAutoscalerController", "newPodGroupProtectionController",
		}},
		{claimsFile, []string{
			"newEphemeralVolumeController", "newPersistentVolumeClaimProtectionController",
			"newPersistentVolumeProtectionController", "newVolumeAttributesClassProtectionController",
		}},
		{nodesFile, []string{"newNodeLifecycleController", "newTaintEvictionController", "newPodGarbageCollectorController", "newTTLController"}},
		{devicesFile, []string{"newResourceClaimController", "newDeviceTaintEvictionController", "newResourcePoolStatusRequestController"}},
		{servicesFile, []string{"newEndpointsController", "newEndpointSliceController", "newEndpointSliceMirroringController"}},
		{clusterFile, []string{
			"newGarbageCollectorController", "garbageCollectorController.Run", "newResourceQuotaController", "newServiceAccountController",
			"newClusterRoleAggregationController", "newValidatingAdmissionPolicyStatusController",
		}},
	} {
		for _, name := range group.names {
			out = append(out, code(managerPackage, name, "it builds the controller with the same arguments", group.ours))
		}
	}
	const controllersFile = "simulator/cluster/controlplane/controllers/controllers.go"
	return append(out,
		code(managerPackage, "newPersistentVolumeBinderController", "buildBinding builds it without plugins", controllersFile),
		code(managerPackage, "newModifiedNamespaceController", "our controller uses the same deleter", "simulator/cluster/controlplane/controllers/namespacedeletion.go"),
		code(managerPackage, "CreateControllerContext", "New and graph build the same clients, informers and REST mapper", builderFile),
		code(managerPackage, "ControllerDescriptor.BuildController", "Build checks feature gates and names the logger as it does", builderFile),
		code(managerPackage, "Run", "all controllers are built before the informers start, and run afterwards", builderFile, controllersFile),
		code(optionsPackage, "NewDefaultComponentConfig", "Configuration starts from the same defaults", configurationFile),
		code(optionsPackage, "NewKubeControllerManagerOptions", "addDefaultsOfFlags repeats its defaults", configurationFile),
		code(optionsPackage, "NodeLifecycleControllerOptions.AddFlags", "addDefaultsOfFlags repeats its defaults", configurationFile),
	)
}
