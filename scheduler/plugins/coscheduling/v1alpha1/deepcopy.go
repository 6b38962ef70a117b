package v1alpha1

import "k8s.io/apimachinery/pkg/runtime"

var (
	_ runtime.Object = (*PodGroup)(nil)
	_ runtime.Object = (*PodGroupList)(nil)
)

func (g *PodGroup) DeepCopyInto(out *PodGroup) {
	*out = *g
	g.ObjectMeta.DeepCopyInto(&out.ObjectMeta)
	out.Spec.MinResources = g.Spec.MinResources.DeepCopy()
	if g.Spec.ScheduleTimeoutSeconds != nil {
		seconds := *g.Spec.ScheduleTimeoutSeconds
		out.Spec.ScheduleTimeoutSeconds = &seconds
	}
	g.Status.ScheduleStartTime.DeepCopyInto(&out.Status.ScheduleStartTime)
}

// DeepCopy returns a copy.
func (g *PodGroup) DeepCopy() *PodGroup {
	if g == nil {
		return nil
	}
	out := &PodGroup{}
	g.DeepCopyInto(out)
	return out
}

func (g *PodGroup) DeepCopyObject() runtime.Object { return g.DeepCopy() }

func (l *PodGroupList) DeepCopyObject() runtime.Object {
	if l == nil {
		return nil
	}
	out := &PodGroupList{TypeMeta: l.TypeMeta}
	l.ListMeta.DeepCopyInto(&out.ListMeta)
	for i := range l.Items {
		out.Items = append(out.Items, *l.Items[i].DeepCopy())
	}
	return out
}
