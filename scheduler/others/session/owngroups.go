package session

import (
	"cmp"
	"encoding/json"
	"slices"
	"strconv"
	"strings"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
)

// OwnGroup is a PodGroup that Volcano's controller makes for pods that name none, one for each controller, or for each
// pod without one. Volcano ignores the pods until they name it.
type OwnGroup struct {
	Group *PodGroup
	// Pods are to be annotated with the group's name.
	Pods []*v1.Pod
}

// ownGroups returns the groups to make. annotations returns those of a pod's controller; nil if there are none.
func ownGroups(pods []*v1.Pod, annotations func(namespace string, owner *metav1.OwnerReference) map[string]string) []OwnGroup {
	var without []*v1.Pod
	for _, p := range pods {
		if p.Spec.SchedulerName == string(Volcano) && p.Annotations[GroupAnnotation] == "" && p.DeletionTimestamp == nil && p.Spec.NodeName == "" {
			without = append(without, p)
		}
	}
	slices.SortFunc(without, func(a, b *v1.Pod) int {
		return cmp.Or(strings.Compare(a.Namespace, b.Namespace), strings.Compare(a.Name, b.Name))
	})
	var out []OwnGroup
	for _, p := range without {
		owner := metav1.GetControllerOf(p)
		if owner == nil {
			owner = metav1.NewControllerRef(p, v1.SchemeGroupVersion.WithKind("Pod"))
		}
		name := "podgroup-" + string(owner.UID)
		at := slices.IndexFunc(out, func(g OwnGroup) bool { return g.Group.Namespace == p.Namespace && g.Group.Name == name })
		if at < 0 {
			at = len(out)
			out = append(out, OwnGroup{Group: newOwnGroup(p, owner, name, annotations)})
		}
		out[at].Pods = append(out[at].Pods, p)
	}
	return out
}

func newOwnGroup(p *v1.Pod, owner *metav1.OwnerReference, name string, annotations func(string, *metav1.OwnerReference) map[string]string) *PodGroup {
	least := 1
	if owner.UID != p.UID && annotations != nil {
		if n, err := strconv.Atoi(annotations(p.Namespace, owner)[VolcanoMinMemberAnnotation]); err == nil && n > 0 {
			least = n
		}
	}
	owner.BlockOwnerDeletion = ptr.To(false)
	g := &PodGroup{
		ObjectMeta: metav1.ObjectMeta{Namespace: p.Namespace, Name: name, OwnerReferences: []metav1.OwnerReference{*owner}},
		Spec: PodGroupSpec{
			MinMember: int32(least), Queue: cmp.Or(p.Annotations[QueueAnnotation], DefaultQueue), PriorityClassName: p.Spec.PriorityClassName, MinResources: v1.ResourceList{},
		},
	}
	g.SetGroupVersionKind(Volcano.GroupVersions()[0].WithKind(PodGroupKind))
	_, request := requests(p)
	for resourceName, q := range request {
		g.Spec.MinResources[resourceName] = times(q, least)
	}
	return g
}

func times(q resource.Quantity, n int) resource.Quantity {
	out := q.DeepCopy()
	out.Mul(int64(n))
	return out
}

func (g OwnGroup) Annotate(p *v1.Pod) ([]byte, error) {
	return json.Marshal(map[string]any{"metadata": map[string]any{"uid": p.UID, "annotations": map[string]string{GroupAnnotation: g.Group.Name}}})
}
