package controllers

import (
	"fmt"
	"slices"
	"strings"

	"k8s.io/kubernetes/cmd/kube-controller-manager/names"

	"kube-scheduler-simulator/simulator/cluster/controlplane/controllers/kubecontrollers"
)

// externalProvisioner is a controller that kube-controller-manager does not have. It stands in for the provisioners of storage vendors.
const externalProvisioner = "external-provisioner"

// coschedulingPodGroups is the controller of the PodGroups of the plugin Coscheduling.
const coschedulingPodGroups = "coscheduling-podgroup-controller"

// elasticQuotaStatus is the controller of the ElasticQuotas of the plugin CapacityScheduling.
const elasticQuotaStatus = "elasticquota-controller"

// bareControllers are the controllers that scheduling requires: they bind claims and finish
// deletions.
var bareControllers = []string{
	externalProvisioner,
	names.NamespaceController,
	names.PersistentVolumeBinderController,
	names.PersistentVolumeClaimProtectionController,
	names.PersistentVolumeProtectionController,
	names.PodGroupProtectionController,
}

// usualControllers are the further controllers that "*" stands for.
var usualControllers = []string{
	coschedulingPodGroups,
	names.CronJobController,
	names.DaemonSetController,
	names.DeploymentController,
	names.DeviceTaintEvictionController,
	names.DisruptionController,
	elasticQuotaStatus,
	names.EndpointsController,
	names.EndpointSliceController,
	names.EphemeralVolumeController,
	names.GarbageCollectorController,
	// Without metrics it changes no workload beyond its limits, and says so in conditions.
	names.HorizontalPodAutoscalerController,
	names.JobController,
	names.NodeLifecycleController,
	names.PodGarbageCollectorController,
	names.ReplicaSetController,
	names.ReplicationControllerController,
	names.ResourceClaimController,
	names.ResourcePoolStatusRequestController,
	names.ResourceQuotaController,
	names.ServiceAccountController,
	names.StatefulSetController,
	names.TaintEvictionController,
	names.TTLAfterFinishedController,
	names.VolumeAttributesClassProtectionController,
}

// unusualControllers run only when they are named, because scheduling does not need them.
var unusualControllers = []string{
	names.ClusterRoleAggregationController,
	names.EndpointSliceMirroringController,
	names.TTLController,
	names.ValidatingAdmissionPolicyStatusController,
}

// ownControllers are the controllers that kubecontrollers does not build. buildOwn builds them
// and says why.
var ownControllers = []string{
	coschedulingPodGroups,
	elasticQuotaStatus,
	externalProvisioner,
	names.NamespaceController,
	names.PersistentVolumeBinderController,
}

// All returns the sorted names that a list for Choose may contain, without "*" and without
// the older names that kube-controller-manager accepts for some of them.
func All() []string {
	all := slices.Concat(bareControllers, usualControllers, unusualControllers)
	slices.Sort(all)
	return all
}

// Check validates a list for Choose.
func Check(list []string) error {
	_, err := Choose(list)
	return err
}

// Chosen says by name which controllers run.
type Chosen map[string]bool

// TaintsNodes reports whether new nodes must be tainted not-ready: the chosen controllers
// remove the taint when the node is Ready.
func (c Chosen) TaintsNodes() bool { return c[names.NodeLifecycleController] }

// Choose reads a list in the syntax of kube-controller-manager's flag: a name, an older name,
// "-" before a controller that does not run, and "*" for all usual ones. The first entry for a
// controller counts. An empty list stands for the controllers that scheduling requires.
func Choose(list []string) (Chosen, error) {
	if len(list) == 0 {
		list = bareControllers
	}
	all := All()
	chosen := Chosen{}
	star := false
	for _, word := range list {
		if word == "*" {
			star = true
			continue
		}
		name, off := strings.CutPrefix(word, "-")
		name = kubecontrollers.Canonical(name)
		if !slices.Contains(all, name) {
			return nil, unknownController(name, all)
		}
		if _, said := chosen[name]; !said {
			chosen[name] = !off
		}
	}
	if star {
		for _, name := range slices.Concat(bareControllers, usualControllers) {
			if _, said := chosen[name]; !said {
				chosen[name] = true
			}
		}
	}
	return chosen, nil
}

// kubeNames are the chosen controllers that kubecontrollers builds.
func kubeNames(chosen Chosen) []string {
	return slices.DeleteFunc(All(), func(name string) bool {
		return !chosen[name] || slices.Contains(ownControllers, name)
	})
}

func unknownController(name string, all []string) error {
	if slices.Contains(kubecontrollers.AllInKubernetes(), name) {
		return fmt.Errorf("controllers: %s does not run in the simulator; these controllers do: %s", name, strings.Join(all, ", "))
	}
	return fmt.Errorf("controllers: there is no %q; the controllers are %s", name, strings.Join(all, ", "))
}
