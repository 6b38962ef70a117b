// Package kueuetest makes small worlds of queues for tests: the namespace ns, the flavor f, and queues and workloads that
// want cpu. It may import simulator/batch/kueue/admission.
package kueuetest

import (
	"time"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"
	kueue "sigs.k8s.io/kueue/apis/kueue/v1beta2"

	"kube-scheduler-simulator/simulator/batch/kueue/admission"
)

// Begin is a time that tests agree on.
var Begin = time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)

// NewState returns a State with the namespace ns and the flavor f.
func NewState(settings admission.Settings) *admission.State {
	state := admission.New(settings)
	state.SetNamespace(&v1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "ns"}})
	state.SetFlavor(&kueue.ResourceFlavor{ObjectMeta: metav1.ObjectMeta{Name: "f"}})
	return state
}

// Queue adds a ClusterQueue with quota of cpu in the flavor f, and a LocalQueue of its name. change may be nil.
func Queue(state *admission.State, name, cohort, cpu string, change func(*kueue.ClusterQueueSpec)) {
	q := &kueue.ClusterQueue{ObjectMeta: metav1.ObjectMeta{Name: name}, Spec: kueue.ClusterQueueSpec{
		CohortName: kueue.CohortReference(cohort), NamespaceSelector: &metav1.LabelSelector{},
		ResourceGroups: []kueue.ResourceGroup{{CoveredResources: []v1.ResourceName{"cpu"}, Flavors: []kueue.FlavorQuotas{{
			Name: "f", Resources: []kueue.ResourceQuota{{Name: "cpu", NominalQuota: resource.MustParse(cpu)}},
		}}}},
	}}
	if change != nil {
		change(&q.Spec)
	}
	state.SetClusterQueue(q)
	state.SetLocalQueue(&kueue.LocalQueue{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: name}, Spec: kueue.LocalQueueSpec{ClusterQueue: kueue.ClusterQueueReference(name)}})
}

// Workload waits in the LocalQueue of a name with one pod.
func Workload(name, queue, cpu string, priority int32, created time.Time) *kueue.Workload {
	w := &kueue.Workload{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: name, UID: types.UID(name), CreationTimestamp: metav1.NewTime(created)}}
	w.Spec.QueueName, w.Spec.Priority = kueue.LocalQueueName(queue), &priority
	set := kueue.PodSet{Name: kueue.DefaultPodSetName, Count: 1}
	set.Template.Spec.Containers = []v1.Container{{Name: "c", Resources: v1.ResourceRequirements{Requests: v1.ResourceList{v1.ResourceCPU: resource.MustParse(cpu)}}}}
	w.Spec.PodSets = []kueue.PodSet{set}
	return w
}

// Holding was admitted at a time, in the flavor f.
func Holding(name, queue, cpu string, priority int32, at time.Time) *kueue.Workload {
	w := Workload(name, queue, cpu, priority, at)
	w.Status.Admission = &kueue.Admission{ClusterQueue: kueue.ClusterQueueReference(queue), PodSetAssignments: []kueue.PodSetAssignment{{
		Name: kueue.DefaultPodSetName, Count: ptr.To[int32](1), Flavors: map[v1.ResourceName]kueue.ResourceFlavorReference{"cpu": "f"}, ResourceUsage: v1.ResourceList{"cpu": resource.MustParse(cpu)},
	}}}
	for _, c := range []string{kueue.WorkloadQuotaReserved, kueue.WorkloadAdmitted} {
		meta.SetStatusCondition(&w.Status.Conditions, metav1.Condition{Type: c, Status: metav1.ConditionTrue, Reason: c, LastTransitionTime: metav1.NewTime(at)})
	}
	return w
}
