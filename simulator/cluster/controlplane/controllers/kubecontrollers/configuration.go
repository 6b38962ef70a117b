package kubecontrollers

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"k8s.io/kube-controller-manager/config/v1alpha1"
	kubectrlmgrconfig "k8s.io/kubernetes/pkg/controller/apis/config"
	"k8s.io/kubernetes/pkg/controller/apis/config/scheme"
	"k8s.io/kubernetes/pkg/controller/garbagecollector"
	garbagecollectorconfig "k8s.io/kubernetes/pkg/controller/garbagecollector/config"
)

const (
	// NeverSilent is how long a node may go without a heartbeat. Virtual nodes send none, so
	// it is practically forever. To make a node fail, users change its Ready condition.
	NeverSilent = 10 * 365 * 24 * time.Hour
	// NodeMonitorPeriod is how often the node lifecycle controller checks all nodes. Each
	// check copies every node, which is most of the work of a large cluster at rest, so it
	// is longer than Kubernetes' 5 s. Changes that users make to a node show at once in its
	// conditions and its NoSchedule taint; only the NoExecute taint waits for the check.
	NodeMonitorPeriod = 16 * time.Second
)

// Configuration returns the configuration of the controllers: the defaults of
// kube-controller-manager, except for NeverSilent and NodeMonitorPeriod.
func Configuration() (kubectrlmgrconfig.KubeControllerManagerConfiguration, error) {
	var versioned v1alpha1.KubeControllerManagerConfiguration
	scheme.Scheme.Default(&versioned)
	var c kubectrlmgrconfig.KubeControllerManagerConfiguration
	if err := scheme.Scheme.Convert(&versioned, &c, nil); err != nil {
		return c, fmt.Errorf("default configuration of the controllers: %w", err)
	}
	addDefaultsOfFlags(&c)
	c.NodeLifecycleController.NodeMonitorGracePeriod.Duration = NeverSilent
	c.NodeLifecycleController.NodeStartupGracePeriod.Duration = NeverSilent
	c.NodeLifecycleController.NodeMonitorPeriod.Duration = NodeMonitorPeriod
	return c, nil
}

// addDefaultsOfFlags sets what only kube-controller-manager's options and flags have defaults
// for.
func addDefaultsOfFlags(c *kubectrlmgrconfig.KubeControllerManagerConfiguration) {
	// Without the rates, the controller would taint one node of each zone and then no other.
	c.NodeLifecycleController.NodeEvictionRate = 0.1
	c.NodeLifecycleController.SecondaryNodeEvictionRate = 0.01
	c.NodeLifecycleController.UnhealthyZoneThreshold = 0.55
	c.NodeLifecycleController.LargeClusterSizeThreshold = 50
	// Without them, the garbage collector would keep every event in memory.
	for r := range garbagecollector.DefaultIgnoredResources() {
		c.GarbageCollectorController.GCIgnoredResources = append(c.GarbageCollectorController.GCIgnoredResources,
			garbagecollectorconfig.GroupResource{Group: r.Group, Resource: r.Resource})
	}
	slices.SortFunc(c.GarbageCollectorController.GCIgnoredResources, func(a, b garbagecollectorconfig.GroupResource) int {
		return cmp.Or(cmp.Compare(a.Group, b.Group), cmp.Compare(a.Resource, b.Resource))
	})
}
