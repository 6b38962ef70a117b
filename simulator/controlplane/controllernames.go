package controlplane

import (
	"fmt"
	"slices"
	"strings"

	"k8s.io/kubernetes/cmd/kube-controller-manager/app"
	"k8s.io/kubernetes/cmd/kube-controller-manager/names"
)

// externalProvisioner is the one controller here that kube-controller-manager
// has not: it stands in for the provisioners that storage vendors bring.
const externalProvisioner = "external-provisioner"

// bareControllers are those without which objects that scheduling waits for
// would not move: claims that bind, and deletions that finish.
var bareControllers = []string{
	externalProvisioner,
	names.NamespaceController,
	names.PersistentVolumeBinderController,
	names.PersistentVolumeClaimProtectionController,
	names.PersistentVolumeProtectionController,
	names.PodGroupProtectionController,
}

// usualControllers are more that "*" stands for.
var usualControllers = []string{
	names.CronJobController,
	names.DaemonSetController,
	names.DeploymentController,
	names.DeviceTaintEvictionController,
	names.DisruptionController,
	names.EphemeralVolumeController,
	names.GarbageCollectorController,
	names.JobController,
	names.NodeLifecycleController,
	names.PodGarbageCollectorController,
	names.ReplicaSetController,
	names.ReplicationControllerController,
	names.ResourceClaimController,
	names.ResourcePoolStatusRequestController,
	names.ResourceQuotaController,
	names.StatefulSetController,
	names.TaintEvictionController,
	names.TTLAfterFinishedController,
	names.VolumeAttributesClassProtectionController,
}

// unusualControllers run when they are named: nothing in scheduling needs them.
var unusualControllers = []string{
	names.ClusterRoleAggregationController,
	names.EndpointsController,
	names.EndpointSliceController,
	names.EndpointSliceMirroringController,
	names.ServiceAccountController,
	names.TTLController,
	names.ValidatingAdmissionPolicyStatusController,
}

// AllControllers are the names that Options.Controllers may have, sorted, less
// "*" and the older names by which kube-controller-manager knows some of them.
func AllControllers() []string {
	all := slices.Concat(bareControllers, usualControllers, unusualControllers)
	slices.Sort(all)
	return all
}

// ControllersOffByDefault are those that "*" does not stand for.
func ControllersOffByDefault() []string { return slices.Sorted(slices.Values(unusualControllers)) }

// CheckControllers returns what is wrong with a list for Options.Controllers.
func CheckControllers(list []string) error {
	_, err := chooseControllers(list)
	return err
}

// chooseControllers returns the controllers that are on. As with
// kube-controller-manager's flag, the first word on a controller counts, and
// what nobody names is on if there is a "*".
func chooseControllers(list []string) (map[string]bool, error) {
	if len(list) == 0 {
		list = bareControllers
	}
	aliases := app.ControllerAliases()
	all := AllControllers()
	chosen := map[string]bool{}
	star := false
	for _, word := range list {
		if word == "*" {
			star = true
			continue
		}
		name, off := strings.CutPrefix(word, "-")
		if canonical, known := aliases[name]; known {
			name = canonical
		}
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

func unknownController(name string, all []string) error {
	if slices.Contains(app.KnownControllers(), name) {
		return fmt.Errorf("controllers: %s does not run in the simulator; those that do are %s", name, strings.Join(all, ", "))
	}
	return fmt.Errorf("controllers: there is no %q; there are %s", name, strings.Join(all, ", "))
}
