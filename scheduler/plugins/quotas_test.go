package plugins_test

import (
	"testing"
	"time"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	st "k8s.io/kubernetes/pkg/scheduler/testing"

	"kube-scheduler-simulator/scheduler/plugins/capacityscheduling/v1alpha1"
)

// capacityScheduling is a configuration as people have it.
const capacityScheduling = `
apiVersion: kubescheduler.config.k8s.io/v1
kind: KubeSchedulerConfiguration
parallelism: 1
profiles:
- schedulerName: default-scheduler
  plugins:
    multiPoint:
      enabled: [{name: CapacityScheduling}]
    postFilter:
      enabled: [{name: CapacityScheduling}]
      disabled: [{name: "*"}]
`

// quotaOf is the quota of a namespace, in CPUs. Without a max nothing is limited.
func quotaOf(namespace string, min, max int64) *v1alpha1.ElasticQuota {
	cpus := func(n int64) v1.ResourceList {
		return v1.ResourceList{v1.ResourceCPU: *resource.NewQuantity(n, resource.DecimalSI)}
	}
	q := &v1alpha1.ElasticQuota{
		TypeMeta:   metav1.TypeMeta{APIVersion: v1alpha1.ElasticQuotas.GroupVersion().String(), Kind: "ElasticQuota"},
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "quota"},
		Spec:       v1alpha1.ElasticQuotaSpec{Min: cpus(min)},
	}
	if max > 0 {
		q.Spec.Max = cpus(max)
	}
	return q
}

// worker is a pod of a namespace.
func worker(namespace, name, cpu string) *st.PodWrapper {
	return st.MakePod().Name(name).Namespace(namespace).SchedulerName(v1.DefaultSchedulerName).Req(map[v1.ResourceName]string{"cpu": cpu})
}

// TestQuotas tells stories on two nodes with 4 CPUs each.
func TestQuotas(t *testing.T) {
	teams := func(x *theatre) { x.create(quotaOf("a", 4, 6), quotaOf("b", 4, 6)) }
	borrowed := func(x *theatre) {
		teams(x)
		for _, name := range []string{"a-1", "a-2", "a-3"} {
			x.create(worker("a", name, "2").Obj())
			time.Sleep(time.Second) // the last one is the least important
		}
	}
	tell(t, "testdata/capacityscheduling.txt", capacityScheduling, []scene{
		{"a namespace borrows up to its max", func(x *theatre) {
			borrowed(x)
			x.create(worker("a", "a-4", "2").Obj())
			time.Sleep(time.Second)
		}},
		{"what was borrowed is taken back", func(x *theatre) {
			borrowed(x)
			x.create(worker("b", "b-1", "2").Obj())
			time.Sleep(time.Second)
			x.create(worker("b", "b-2", "2").Obj())
			time.Sleep(3 * time.Second)
		}},
		{"priority does not protect a borrower", func(x *theatre) {
			teams(x)
			for _, name := range []string{"a-1", "a-2", "a-3"} {
				x.create(worker("a", name, "2").Priority(1000).Obj())
				time.Sleep(time.Second)
			}
			x.create(worker("b", "b-1", "4").Obj())
			time.Sleep(3 * time.Second)
		}},
		{"above its own min, a pod takes from its own namespace only", func(x *theatre) {
			teams(x)
			x.create(worker("b", "b-1", "4").Obj(), worker("a", "a-1", "4").Obj())
			time.Sleep(time.Second)
			x.create(worker("a", "a-2", "2").Priority(10).Obj())
			time.Sleep(3 * time.Second)
		}},
		{"a namespace without a quota counts nowhere", func(x *theatre) {
			teams(x)
			x.create(worker("other", "o-1", "4").Obj(), worker("a", "a-1", "4").Obj())
			time.Sleep(time.Second)
			x.create(worker("b", "b-1", "2").Priority(10).Obj())
			time.Sleep(time.Second)
		}},
		{"a deleted quota frees what it held", func(x *theatre) {
			borrowed(x)
			x.create(worker("a", "a-4", "2").Obj())
			time.Sleep(time.Second)
			x.deleteCustom("a", v1alpha1.ElasticQuotas, "quota")
			time.Sleep(3 * time.Second)
		}},
		{"a quota that comes later does not know the pods before it", func(x *theatre) {
			x.create(worker("a", "a-1", "4").Obj())
			time.Sleep(time.Second)
			x.create(quotaOf("a", 4, 4))
			time.Sleep(time.Second)
			x.create(worker("a", "a-2", "4").Obj())
			time.Sleep(time.Second)
			x.create(worker("a", "a-3", "1").Obj())
			time.Sleep(time.Second)
		}},
		{"a min above the max", func(x *theatre) {
			x.create(quotaOf("a", 6, 1), worker("a", "a-1", "2").Obj())
			time.Sleep(time.Second)
		}},
	})
}

// TestQuotasWithoutTheDefinition: the scheduler starts, and no namespace has a quota.
func TestQuotasWithoutTheDefinition(t *testing.T) {
	notes := play(t, capacityScheduling, true, func(x *theatre) {
		x.create(node("n1"), worker("a", "plain", "2").Obj())
		time.Sleep(time.Second)
	}, "elasticquotas")
	if len(notes.lines) != 1 || notes.lines[0] != "0s plain: runs." {
		t.Errorf("%q", notes.lines)
	}
}

// TestQuotasAreTheSameUnrecorded: recording changes no decision.
func TestQuotasAreTheSameUnrecorded(t *testing.T) {
	for _, recorded := range []bool{true, false} {
		play(t, capacityScheduling, recorded, func(x *theatre) {
			x.create(node("n1"), node("n2"), quotaOf("a", 4, 6), quotaOf("b", 4, 6))
			for _, name := range []string{"a-1", "a-2", "a-3"} {
				x.create(worker("a", name, "2").Obj())
				time.Sleep(time.Second)
			}
			x.create(worker("b", "b-1", "2").Obj())
			time.Sleep(time.Second)
			x.create(worker("b", "b-2", "2").Obj())
			time.Sleep(5 * time.Second)
			if a, b := len(x.bound("a")), len(x.bound("b")); a != 2 || b != 2 {
				t.Errorf("recorded %v: %d pods of a and %d of b run, want 2 and 2", recorded, a, b)
			}
		})
	}
}
