package suggest_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"
	kueue "sigs.k8s.io/kueue/apis/kueue/v1beta2"

	"kube-scheduler-simulator/simulator/batch/kueue/admission"
	"kube-scheduler-simulator/simulator/batch/kueue/suggest"
)

var begin = time.Unix(1_000_000, 0)

func workload(name string, cores int64, age time.Duration) *kueue.Workload {
	return &kueue.Workload{
		ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: name, UID: types.UID(name), CreationTimestamp: metav1.NewTime(begin.Add(-age))},
		Spec: kueue.WorkloadSpec{QueueName: "lq", Priority: ptr.To[int32](0), PodSets: []kueue.PodSet{{Name: "main", Count: 1, Template: v1.PodTemplateSpec{Spec: v1.PodSpec{
			Containers: []v1.Container{{Resources: v1.ResourceRequirements{Requests: v1.ResourceList{v1.ResourceCPU: *resource.NewQuantity(cores, resource.DecimalSI)}}}},
		}}}}},
	}
}

// TestEverySuggestionIsEnough: with 4 cores of which 3 are held, a workload that asks for 2 gets in with one
// core more, or when the holder has finished; one behind it that asks for 1 does, too.
func TestEverySuggestionIsEnough(t *testing.T) {
	queue := &kueue.ClusterQueue{ObjectMeta: metav1.ObjectMeta{Name: "cq"}, Spec: kueue.ClusterQueueSpec{
		NamespaceSelector: &metav1.LabelSelector{}, QueueingStrategy: kueue.StrictFIFO,
		ResourceGroups: []kueue.ResourceGroup{{CoveredResources: []v1.ResourceName{v1.ResourceCPU}, Flavors: []kueue.FlavorQuotas{{Name: "f", Resources: []kueue.ResourceQuota{{Name: v1.ResourceCPU, NominalQuota: resource.MustParse("4")}}}}}},
	}}
	state := admission.New(admission.Settings{})
	state.SetNamespace(&v1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "ns"}})
	state.SetFlavor(&kueue.ResourceFlavor{ObjectMeta: metav1.ObjectMeta{Name: "f"}})
	state.SetClusterQueue(queue)
	state.SetLocalQueue(&kueue.LocalQueue{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "lq"}, Spec: kueue.LocalQueueSpec{ClusterQueue: "cq"}})
	holder := workload("holder", 3, 3*time.Minute)
	state.SetWorkload(holder, begin)
	if r := state.Cycle(begin); r == nil || r.Heads[0].Outcome != admission.Reserved {
		t.Fatalf("the holder did not get its quota: %+v", r)
	}
	state.SetWorkload(workload("head", 2, 2*time.Minute), begin)
	state.SetWorkload(workload("behind", 1, time.Minute), begin)
	for _, c := range []struct {
		name  string
		cores int64
		quota string
	}{{"head", 2, "1"}, {"behind", 1, ""}} {
		got := suggest.Ask(t.Context(), suggest.Question{
			State: state, Workload: types.NamespacedName{Namespace: "ns", Name: c.name}, Queue: queue, Holders: []*kueue.Workload{holder}, Now: begin,
			Requests: map[v1.ResourceName]int64{v1.ResourceCPU: c.cores * 1000},
		})
		want := suggest.Answer{Complete: true, Suggestions: []suggest.Suggestion{{Kind: suggest.Finish, Workload: &admission.Ref{Namespace: "ns", Name: "holder", UID: "holder"}}}}
		if c.quota != "" {
			want.Suggestions = append([]suggest.Suggestion{{Kind: suggest.Quota, ClusterQueue: "cq", Flavor: "f", Quota: map[string]string{"cpu": c.quota}}}, want.Suggestions...)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s: %s", c.name, diff)
		}
	}
}
