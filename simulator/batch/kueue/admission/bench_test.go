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
	kueue "sigs.k8s.io/kueue/apis/kueue/v1beta2"
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
	s.SetFlavor(&kueue.ResourceFlavor{ObjectMeta: metav1.ObjectMeta{Name: "f"}})
	for i := range 30 {
		name := fmt.Sprintf("q%d", i)
		s.SetClusterQueue(&kueue.ClusterQueue{ObjectMeta: metav1.ObjectMeta{Name: name}, Spec: kueue.ClusterQueueSpec{
			CohortName: kueue.CohortReference(fmt.Sprintf("c%d", i/5)), NamespaceSelector: &metav1.LabelSelector{},
			ResourceGroups: []kueue.ResourceGroup{{CoveredResources: []v1.ResourceName{"cpu"}, Flavors: []kueue.FlavorQuotas{{
				Name: "f", Resources: []kueue.ResourceQuota{{Name: "cpu", NominalQuota: resource.MustParse("20"), BorrowingLimit: ptr.To(resource.MustParse("100"))}},
			}}}},
			Preemption: &kueue.ClusterQueuePreemption{WithinClusterQueue: kueue.PreemptionPolicyLowerPriority, ReclaimWithinCohort: kueue.PreemptionPolicyAny},
		}})
		s.SetLocalQueue(&kueue.LocalQueue{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: name}, Spec: kueue.LocalQueueSpec{ClusterQueue: kueue.ClusterQueueReference(name)}})
	}
	now := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	objects := make(map[types.NamespacedName]*kueue.Workload, count)
	for i := range count {
		name := fmt.Sprintf("w%d", i)
		size := []string{"1", "1", "1", "5", "20"}[i%5]
		o := &kueue.Workload{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: name, UID: types.UID(name), CreationTimestamp: metav1.NewTime(now.Add(time.Duration(i) * time.Second))}}
		o.Spec.QueueName = kueue.LocalQueueName(fmt.Sprintf("q%d", i%30))
		o.Spec.Priority = ptr.To(int32(i % 3))
		o.Spec.PodSets = []kueue.PodSet{podSetOf(size)}
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
					for _, d := range s.Released(key) {
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
			if !meta.IsStatusConditionTrue(o.Status.Conditions, kueue.WorkloadQuotaReserved) {
				continue
			}
			meta.SetStatusCondition(&o.Status.Conditions, metav1.Condition{Type: kueue.WorkloadFinished, Status: metav1.ConditionTrue, Reason: "Succeeded", LastTransitionTime: metav1.NewTime(now)})
			objects[key] = o
			s.SetWorkload(o, now)
		}
	}
}

func podSetOf(cpu string) kueue.PodSet {
	p := kueue.PodSet{Name: kueue.DefaultPodSetName, Count: 1}
	p.Template.Spec.Containers = []v1.Container{{Name: "c", Resources: v1.ResourceRequirements{Requests: v1.ResourceList{v1.ResourceCPU: resource.MustParse(cpu)}}}}
	return p
}
