package recorder

import (
	"fmt"
	"runtime"
	"strings"
	"testing"
	"time"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/framework"
	"k8s.io/utils/ptr"

	"kube-scheduler-simulator/scheduler/result"
	"kube-scheduler-simulator/scheduler/resultstore"
)

// On 5,000 nodes with 30 pods each, every pod has to preempt, and every node rejects it.
// Some of the victims terminate already; the scheduler evicts the others, so their cycles
// are put again. The memory that the store and the recorder take stays within the store's
// bound.
func TestPreemptionOnManyNodesKeepsTheStoresBound(t *testing.T) {
	if testing.Short() {
		t.Skip("slow; make test-all runs it")
	}
	const nodes, podsPerNode, cycles, bound = 5000, 30, 400, 32 << 20
	r, first, _ := underWay(nodes)
	store := resultstore.New(resultstore.Options{MemoryBytes: bound})
	r.sink = store
	table := first.nodes
	victims := make([][]*v1.Pod, nodes)
	for n := range victims {
		for i := range podsPerNode {
			name := fmt.Sprintf("victim-%04d-%02d", n, i)
			victims[n] = append(victims[n], &v1.Pod{
				ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: name, UID: types.UID(name + "-0123456789abcdef")},
				Spec:       v1.PodSpec{NodeName: table.names[n], Priority: ptr.To(int32(n))},
				Status:     v1.PodStatus{StartTime: ptr.To(metav1.Now())},
			})
			if n%2 == 0 {
				victims[n][i].DeletionTimestamp = ptr.To(metav1.Now())
			}
		}
	}
	one := func(i int) {
		pod := &framework.QueuedPodInfo{PodInfo: &framework.PodInfo{Pod: &v1.Pod{
			ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: fmt.Sprint("p", i), UID: types.UID(fmt.Sprint("p", i))},
		}}}
		c := &cycle{
			recorder: r, profile: first.profile, pod: podOf(pod.Pod), nodes: table, verdicts: r.takeVerdicts(nodes), queue: r.queueOf(pod),
		}
		for n := range int32(nodes) {
			c.verdicts.note(n, fwk.NewStatus(fwk.Unschedulable, strings.Repeat("Insufficient cpu ", 2)).WithPlugin("Fit"))
		}
		preemptor := &v1.Pod{Spec: v1.PodSpec{Priority: ptr.To[int32](1 << 30)}}
		for n := range nodes {
			if n < nodes/10 { // the scheduler looks for that many candidates
				c.preemption.note(preemptor, dryRun{node: table.names[n], victims: victims[n], byPriority: true}, nil)
				continue
			}
			c.preemption.note(preemptor, dryRun{node: table.names[n]}, fwk.NewStatus(fwk.Unschedulable, "Insufficient cpu"))
		}
		c.evictions = r.expectEvictions(c.pod.UID)
		chosen := framework.NewPostFilterResultWithNominatedNode(table.names[i])
		c.evictions.chosen(fwk.NewStatus(fwk.Success), c.preemption.victimsFor(chosen))
		r.deliver(finished{cycle: c, end: ending{at: time.Now(), outcome: result.Unschedulable, nominatedNode: chosen.NominatedNodeName}})
		if victims[i][0].DeletionTimestamp != nil {
			return // the scheduler makes no call
		}
		for _, victim := range victims[i] {
			c.evictions.begin(candidate{pods: victims[i]})
			c.evictions.end(victim, false, nil)
		}
		r.deliver(<-r.finished)
	}
	one(0) // scratch memory
	store.Reset()
	before := heapAlloc()
	for i := range cycles {
		one(i)
	}
	taken := int64(heapAlloc()) - int64(before)
	t.Logf("%d of %d cycles take %d MiB", store.Len(), cycles, taken>>20)
	if store.Len() == cycles {
		t.Fatal("every cycle fits, so the bound was not reached")
	}
	if taken > bound*5/4 {
		t.Errorf("the store takes %d bytes, its bound is %d", taken, bound)
	}
	runtime.KeepAlive(store)
	runtime.KeepAlive(r)
	runtime.KeepAlive(victims)
	runtime.KeepAlive(table)
}

func heapAlloc() uint64 {
	runtime.GC()
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}
