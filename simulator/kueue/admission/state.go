package admission

import (
	"time"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"kube-scheduler-simulator/simulator/kueue/api"
)

// State is everything that admission depends on. It follows objects: whoever watches them calls
// a Set method for each version of an object and a Delete method when it is gone. The order of
// the calls does not matter, and a repeated call changes nothing. The State keeps the pointers,
// so nobody may change an object afterwards.
//
// A State is not safe for concurrent use.
type State struct {
	settings Settings
}

// New returns a State without objects.
func New(settings Settings) *State { return &State{settings: settings} }

// Clone returns a State that changes independently. The objects are shared.
func (s *State) Clone() *State { return nil }

// SetClusterQueue follows a ClusterQueue. now is used for workloads whose backoff has ended.
func (s *State) SetClusterQueue(queue *api.ClusterQueue) {}

// DeleteClusterQueue forgets a ClusterQueue. Its workloads wait until it is back.
func (s *State) DeleteClusterQueue(name string) {}

// SetCohort follows a Cohort.
func (s *State) SetCohort(cohort *api.Cohort) {}

// DeleteCohort forgets a Cohort: its members stay together, without its quota and limits.
func (s *State) DeleteCohort(name string) {}

// SetLocalQueue follows a LocalQueue.
func (s *State) SetLocalQueue(queue *api.LocalQueue) {}

// DeleteLocalQueue forgets a LocalQueue.
func (s *State) DeleteLocalQueue(key types.NamespacedName) {}

// SetFlavor follows a ResourceFlavor.
func (s *State) SetFlavor(flavor *api.ResourceFlavor) {}

// DeleteFlavor forgets a ResourceFlavor, which stops every ClusterQueue that names it.
func (s *State) DeleteFlavor(name string) {}

// SetTopology follows a Topology.
func (s *State) SetTopology(topology *api.Topology) {}

// DeleteTopology forgets a Topology, which stops every ClusterQueue with a flavor of it.
func (s *State) DeleteTopology(name string) {}

// SetAdmissionCheck follows an AdmissionCheck.
func (s *State) SetAdmissionCheck(check *api.AdmissionCheck) {}

// DeleteAdmissionCheck forgets an AdmissionCheck, which stops every ClusterQueue that names it.
func (s *State) DeleteAdmissionCheck(name string) {}

// SetNamespace follows the labels of a namespace.
func (s *State) SetNamespace(namespace *v1.Namespace) {}

// DeleteNamespace forgets a namespace.
func (s *State) DeleteNamespace(name string) {}

// SetLimitRange follows a LimitRange, whose bounds a workload's containers must keep.
func (s *State) SetLimitRange(limits *v1.LimitRange) {}

// DeleteLimitRange forgets a LimitRange.
func (s *State) DeleteLimitRange(key types.NamespacedName) {}

// SetNode follows a node, for topology-aware placement.
func (s *State) SetNode(node *v1.Node) {}

// DeleteNode forgets a node.
func (s *State) DeleteNode(name string) {}

// SetPod follows a pod. Pods that Kueue does not place take room on their nodes.
func (s *State) SetPod(pod *v1.Pod) {}

// DeletePod forgets a pod.
func (s *State) DeletePod(key types.NamespacedName) {}

// SetWorkload follows a workload: it queues one that waits, counts the quota of one that has
// reserved it, and lets go of one that has finished. A version from before a decision that this
// State made, and that has not been written yet, does not undo the decision; Forget does.
func (s *State) SetWorkload(workload *api.Workload, now time.Time) {}

// DeleteWorkload forgets a workload and releases its quota.
func (s *State) DeleteWorkload(key types.NamespacedName, now time.Time) {}

// Forget undoes a Reserve that could not be written, and queues the workload again.
func (s *State) Forget(key types.NamespacedName, now time.Time) {}

// Cycle tries one head of every active ClusterQueue, and the workloads whose second pass is due.
// It takes the decisions as carried out: a Reserve counts from now on. It returns nil if there
// is no head.
func (s *State) Cycle(now time.Time) *Record { return nil }

// Review returns what a workload is owed outside of cycles, as Kueue's workload controller
// writes it: its admission checks, its admission once they agree, its eviction by checks, by
// stopped queues, by pods that are not ready in time or by its maximum execution time, and the
// end of a backoff. next is when to ask again even if nothing changes; 0 for never.
func (s *State) Review(key types.NamespacedName, now time.Time) (decisions []Decision, next time.Duration) {
	return nil, 0
}

// Released returns the decision to write once the job of an evicted workload has stopped: it
// takes the reservation away and says whether the workload may be tried again at once.
func (s *State) Released(key types.NamespacedName, now time.Time) []Decision { return nil }

// Pending returns the workloads that wait in a ClusterQueue, in the order of the queue.
func (s *State) Pending(clusterQueue string, now time.Time) []Pending { return nil }

// ClusterQueueStatus returns the status that a controller should write. The times of conditions
// that have not changed are kept.
func (s *State) ClusterQueueStatus(name string, now time.Time) api.ClusterQueueStatus {
	return api.ClusterQueueStatus{}
}

// LocalQueueStatus returns the status that a controller should write.
func (s *State) LocalQueueStatus(key types.NamespacedName, now time.Time) api.LocalQueueStatus {
	return api.LocalQueueStatus{}
}

// CohortStatus returns the status that a controller should write.
func (s *State) CohortStatus(name string) api.CohortStatus { return api.CohortStatus{} }

// Quotas returns the quota of every Cohort and ClusterQueue, each tree from its root down.
func (s *State) Quotas() []NodeQuota { return nil }

// NodeQuota is the quota of one ClusterQueue or Cohort.
type NodeQuota struct {
	// ClusterQueue or Cohort is its name.
	ClusterQueue string `json:"clusterQueue,omitempty"`
	Cohort       string `json:"cohort,omitempty"`
	// Parent is the Cohort above; "" for a root.
	Parent string `json:"parent,omitempty"`
	// Depth is 0 for a root.
	Depth int `json:"depth"`
	// Active is the condition of a ClusterQueue; nil for a Cohort.
	Active *metav1.Condition `json:"active,omitempty"`
	// Share is the weighted share under fair sharing; nil without it.
	Share     *NodeShare      `json:"share,omitempty"`
	Resources []ResourceQuota `json:"resources"`
	// Queued, Parked, Reserving and Admitted count workloads; 0 for a Cohort.
	Queued    int `json:"queued"`
	Parked    int `json:"parked"`
	Reserving int `json:"reserving"`
	Admitted  int `json:"admitted"`
}

// ResourceQuota is the quota of one resource in one flavor, in the unit of ResourceTrial.
type ResourceQuota struct {
	Flavor   string          `json:"flavor"`
	Resource v1.ResourceName `json:"resource"`
	Nominal  int64           `json:"nominal"`
	// BorrowingLimit and LendingLimit are nil without a limit.
	BorrowingLimit *int64 `json:"borrowingLimit,omitempty"`
	LendingLimit   *int64 `json:"lendingLimit,omitempty"`
	// Used is what reserved workloads take; for a Cohort, what its children take from it.
	Used int64 `json:"used"`
	// Borrowed is what Used exceeds the quota by. Lent is the part of the unused nominal
	// quota that others use.
	Borrowed int64 `json:"borrowed,omitempty"`
	Lent     int64 `json:"lent,omitempty"`
	// Available is what could be taken now, and Potential what could be taken if nobody else
	// used anything.
	Available int64 `json:"available"`
	Potential int64 `json:"potential"`
}

// Apply makes the change of d in w.
func (d Decision) Apply(w *api.Workload, now time.Time) {}
