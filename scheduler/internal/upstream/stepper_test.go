package upstream

import (
	"testing"

	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/framework"
)

// TestApart checks that the registrations match the same events as before, and each event once at
// most.
func TestApart(t *testing.T) {
	masks := []fwk.ActionType{
		fwk.Add, fwk.Delete, fwk.Update, fwk.All, fwk.Add | fwk.Update, fwk.Add | fwk.Delete, fwk.UpdatePodLabel | fwk.Delete,
		fwk.Add | fwk.UpdateNodeLabel | fwk.UpdateNodeTaint, fwk.UpdatePodScaleDown | fwk.UpdatePodLabel | fwk.Add,
	}
	updates := map[fwk.EventResource][]fwk.ActionType{
		fwk.Node:           {fwk.UpdateNodeAllocatable, fwk.UpdateNodeLabel, fwk.UpdateNodeTaint, fwk.UpdateNodeCondition, fwk.UpdateNodeAnnotation},
		fwk.AssignedPod:    {fwk.Update, fwk.UpdatePodLabel, fwk.UpdatePodScaleDown, fwk.UpdatePodToleration},
		fwk.UnscheduledPod: {fwk.Update, fwk.UpdatePodSchedulingGatesEliminated},
		fwk.TargetPod:      {fwk.Update, fwk.UpdatePodGeneratedResourceClaim},
		fwk.StorageClass:   {fwk.Update},
	}
	for resource, particular := range updates {
		for _, mask := range masks {
			whole := fwk.ClusterEvent{Resource: resource, ActionType: mask}
			parts := apart([]fwk.ClusterEvent{whole})
			for _, happens := range append([]fwk.ActionType{fwk.Add, fwk.Delete}, particular...) {
				event := fwk.ClusterEvent{Resource: resource, ActionType: happens}
				matches := 0
				for _, part := range parts {
					if framework.MatchClusterEvents(part, event) {
						matches++
					}
				}
				want := 0
				if framework.MatchClusterEvents(whole, event) {
					want = 1
				}
				if matches != want {
					t.Errorf("%s %v: %d of the parts match %v, not %d", resource, mask, matches, happens, want)
				}
			}
		}
	}
}
