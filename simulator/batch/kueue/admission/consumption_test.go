package admission

import (
	"testing"
	"time"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	kueue "sigs.k8s.io/kueue/apis/kueue/v1beta2"
)

// TestWhatAnotherKueueHasSampledCounts: a status that is later than what this State knows is taken over, its own when it comes back is
// not, and a copy goes its own way.
func TestWhatAnotherKueueHasSampledCounts(t *testing.T) {
	w := newWorld(t)
	w.do("settings usage=5m,5m")
	w.do("cq q usage f:10")
	key := types.NamespacedName{Namespace: "ns", Name: "a"}
	says := func(cores string, at time.Time) {
		local := &kueue.LocalQueue{ObjectMeta: metav1.ObjectMeta{Namespace: key.Namespace, Name: key.Name}, Spec: kueue.LocalQueueSpec{ClusterQueue: "q"}}
		local.Status.FairSharing = &kueue.LocalQueueFairSharingStatus{AdmissionFairSharingStatus: &kueue.LocalQueueAdmissionFairSharingStatus{
			ConsumedResources: v1.ResourceList{v1.ResourceCPU: resource.MustParse(cores)}, LastUpdate: metav1.NewTime(at.Truncate(time.Second)),
		}}
		w.state.SetLocalQueue(local)
	}
	old := w.now.Add(-time.Hour)
	says("8", old)
	w.do("consumed a cpu=8")
	says("6", old) // nothing has been sampled here
	w.do("consumed a cpu=6")
	w.now = w.now.Add(700 * time.Millisecond)
	w.do("sample")
	says("1", w.now) // as a status is written, to the second
	w.do("consumed a cpu=6")
	w.do("wait 1m")
	says("4", w.now)
	w.do("consumed a cpu=4")

	copied := w.state.Clone()
	w.do("wait 4m59s300ms") // 5m after the whole second of the status
	w.do("sample")
	w.do("consumed a cpu=2")
	w.state.DeleteLocalQueue(key)
	status := copied.LocalQueueStatus(key, w.now).FairSharing.AdmissionFairSharingStatus
	if got := status.ConsumedResources.Cpu().String(); got != "4" {
		t.Errorf("a copy has consumed %s, want 4", got)
	}
	w.do("localqueue a q")
	w.do("consumed a")
}
