package session

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
)

// Example 14, Volcano: its controller makes one group for the pods of a ReplicaSet. The group goes from Pending to Inqueue, and
// then each pod is bound as it fits. Until the pods name the group, sessions ignore them.
func TestVolcanoMakesAGroup(t *testing.T) {
	s := newStage(t, Volcano, "")
	s.node("n1", 8)
	owner := metav1.OwnerReference{APIVersion: "apps/v1", Kind: "ReplicaSet", Name: "web", UID: "web", Controller: ptr.To(true)}
	for _, name := range []string{"web-a", "web-b", "web-c"} {
		p := s.pod(name, 4, "")
		p.OwnerReferences, p.Annotations = []metav1.OwnerReference{owner}, map[string]string{QueueAnnotation: "default"}
	}
	out := s.run()
	if len(out.OwnGroups) != 1 || len(out.Binds) > 0 {
		t.Fatalf("%d groups, %d bound", len(out.OwnGroups), len(out.Binds))
	}
	g := out.OwnGroups[0]
	cpu := g.Group.Spec.MinResources["cpu"]
	got := []any{g.Group.Name, g.Group.Spec.MinMember, g.Group.Spec.Queue, cpu.String(), len(g.Pods), g.Group.OwnerReferences[0].Name}
	if diff := cmp.Diff([]any{"podgroup-web", int32(1), "default", "4", 3, "web"}, got); diff != "" {
		t.Fatal(diff)
	}
	g.Group.ObjectMeta = s.meta("default", g.Group.Name)
	s.objects.Groups = append(s.objects.Groups, g.Group)
	for _, p := range s.pods {
		p.Annotations[GroupAnnotation] = g.Group.Name
	}
	out = s.run()
	if len(out.OwnGroups) > 0 {
		t.Errorf("another group: %+v", out.OwnGroups)
	}
	s.apply(out)
	if phase := s.objects.Groups[0].Status.Phase; len(out.Binds) != 2 || phase != PhaseRunning {
		t.Errorf("%d bound, the group is %s", len(out.Binds), phase)
	}
}

// The minimum of a group is its controller's to say; a pod without a controller has a group of its own.
func TestTheMinimumOfAnOwnGroup(t *testing.T) {
	s := newStage(t, Volcano, "")
	s.pod("owned", 1, "").OwnerReferences = []metav1.OwnerReference{{Kind: "Job", Name: "job", UID: "job", Controller: ptr.To(true)}}
	alone := s.pod("alone", 1, "")
	s.pod("bound", 1, "n1")
	got := map[string]int32{}
	for _, g := range ownGroups(s.pods, func(_ string, owner *metav1.OwnerReference) map[string]string {
		return map[string]string{VolcanoMinMemberAnnotation: "4"}
	}) {
		cpu := g.Group.Spec.MinResources["cpu"]
		if cpu.Value() != int64(g.Group.Spec.MinMember) {
			t.Errorf("%s reserves %s CPUs for %d pods", g.Group.Name, cpu.String(), g.Group.Spec.MinMember)
		}
		got[g.Group.Name] = g.Group.Spec.MinMember
	}
	if diff := cmp.Diff(map[string]int32{"podgroup-job": 4, "podgroup-" + string(alone.UID): 1}, got); diff != "" {
		t.Error(diff)
	}
}
