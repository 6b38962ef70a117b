package admission

import (
	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	kueue "sigs.k8s.io/kueue/apis/kueue/v1beta2"
)

// These methods return the objects that a State follows, as the caller set them. Callers must not change them.

// Workload returns nil for one that is unknown.
func (s *State) Workload(key types.NamespacedName) *kueue.Workload {
	if w := s.workloads[key]; w != nil {
		return w.object
	}
	return nil
}

// Workloads returns all, those that have finished included, by namespace and name.
func (s *State) Workloads() []*kueue.Workload {
	keys := sortedKeys(s.workloads, compareKeys)
	list := make([]*kueue.Workload, len(keys))
	for i, key := range keys {
		list[i] = s.workloads[key].object
	}
	return list
}

// LocalQueue returns nil for one that is unknown.
func (s *State) LocalQueue(key types.NamespacedName) *kueue.LocalQueue { return s.localQueues[key] }

// LocalQueues returns all, by namespace and name.
func (s *State) LocalQueues() []*kueue.LocalQueue {
	keys := sortedKeys(s.localQueues, compareKeys)
	list := make([]*kueue.LocalQueue, len(keys))
	for i, key := range keys {
		list[i] = s.localQueues[key]
	}
	return list
}

// ClusterQueue returns nil for one that is unknown.
func (s *State) ClusterQueue(name string) *kueue.ClusterQueue { return s.clusterQueues[name] }

// Flavor returns nil for one that is unknown.
func (s *State) Flavor(name string) *kueue.ResourceFlavor { return s.flavors[name] }

// EachPod calls visit with each pod that is on a node, in no order.
func (s *State) EachPod(visit func(*v1.Pod)) {
	for _, pod := range s.pods {
		visit(pod)
	}
}

// Holds reports whether a workload holds quota, which the object may not say yet.
func (s *State) Holds(key types.NamespacedName) bool {
	w := s.workloads[key]
	return w != nil && w.place == reserved
}

// Settling reports whether a decision of the State has not come back in an object yet.
func (s *State) Settling() bool {
	for _, w := range s.workloads {
		if w.assumed || w.evicting {
			return true
		}
	}
	return false
}
