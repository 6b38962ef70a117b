package admission

import (
	"fmt"
	"testing"
	"time"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"

	"kube-scheduler-simulator/simulator/batch/kueue/api"
)

// BenchmarkAdmission admits 15,000 workloads over 30 ClusterQueues in 6 cohorts and finishes them,
// with every decision written to its object and fed back. Kueue publishes about 43 admissions per
// second for this size, API server included.
func BenchmarkAdmission(b *testing.B) {
	for _, fair := range []bool{false, true} {
		b.Run(fmt.Sprintf("fair=%t", fair), func(b *testing.B) {
			admitted := 0
			for b.Loop() {
				admitted += admitMany(b, fair, 15000)
			}
			b.ReportMetric(float64(admitted)/b.Elapsed().Seconds(), "admissions/s")
		})
	}
}

func admitMany(b *testing.B, fair bool, count int) int {
	settings := Settings{}
	if fair {
		settings.FairSharing = &FairSharing{}
	}
	s := New(settings)
	s.SetFlavor(&api.ResourceFlavor{ObjectMeta: metav1.ObjectMeta{Name: "f"}})
	for i := range 30 {
		name := fmt.Sprintf("q%d", i)
		s.SetClusterQueue(&api.ClusterQueue{ObjectMeta: metav1.ObjectMeta{Name: name}, Spec: api.ClusterQueueSpec{
			CohortName: fmt.Sprintf("c%d", i/5), NamespaceSelector: &metav1.LabelSelector{},
			ResourceGroups: []api.ResourceGroup{{CoveredResources: []v1.ResourceName{"cpu"}, Flavors: []api.FlavorQuotas{{
				Name: "f", Resources: []api.ResourceQuota{{Name: "cpu", NominalQuota: resource.MustParse("20"), BorrowingLimit: ptr.To(resource.MustParse("100"))}},
			}}}},
			Preemption: &api.ClusterQueuePreemption{WithinClusterQueue: api.PreemptionLowerPriority, ReclaimWithinCohort: api.PreemptionAny},
		}})
		s.SetLocalQueue(&api.LocalQueue{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: name}, Spec: api.LocalQueueSpec{ClusterQueue: name}})
	}
	now := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	objects := make(map[types.NamespacedName]*api.Workload, count)
	for i := range count {
		name := fmt.Sprintf("w%d", i)
		size := []string{"1", "1", "1", "5", "20"}[i%5]
		o := &api.Workload{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: name, UID: types.UID(name), CreationTimestamp: metav1.NewTime(now.Add(time.Duration(i) * time.Second))}}
		o.Spec.QueueName = fmt.Sprintf("q%d", i%30)
		o.Spec.Priority = ptr.To(int32(i % 3))
		o.Spec.PodSets = []api.PodSet{podSetOf(size)}
		objects[types.NamespacedName{Namespace: "ns", Name: name}] = o
		s.SetWorkload(o, now)
	}
	admitted := 0
	var running []types.NamespacedName
	for {
		now = now.Add(time.Millisecond)
		record := s.Cycle(now)
		if record == nil && len(running) == 0 {
			return admitted
		}
		if record != nil {
			for _, d := range record.Decisions {
				key := d.Workload.Key()
				o := objects[key].DeepCopy()
				d.Apply(o, now)
				objects[key] = o
				s.SetWorkload(o, now)
				switch d.Verb {
				case Reserve:
					admitted++
					running = append(running, key)
				case Evict:
					for _, d := range s.Released(key, now) {
						o := objects[key].DeepCopy()
						d.Apply(o, now)
						objects[key] = o
						s.SetWorkload(o, now)
					}
				}
			}
		}
		// A fifth of what runs ends after each cycle.
		for range (len(running) + 4) / 5 {
			key := running[0]
			running = running[1:]
			o := objects[key].DeepCopy()
			if !meta.IsStatusConditionTrue(o.Status.Conditions, api.WorkloadQuotaReserved) {
				continue
			}
			meta.SetStatusCondition(&o.Status.Conditions, metav1.Condition{Type: api.WorkloadFinished, Status: metav1.ConditionTrue, Reason: "Succeeded", LastTransitionTime: metav1.NewTime(now)})
			objects[key] = o
			s.SetWorkload(o, now)
		}
	}
}

func podSetOf(cpu string) api.PodSet {
	p := api.PodSet{Name: api.DefaultPodSetName, Count: 1}
	p.Template.Spec.Containers = []v1.Container{{Name: "c", Resources: v1.ResourceRequirements{Requests: v1.ResourceList{v1.ResourceCPU: resource.MustParse(cpu)}}}}
	return p
}
