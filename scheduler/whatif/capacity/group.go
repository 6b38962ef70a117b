package capacity

import (
	"context"
	"errors"
	"fmt"

	v1 "k8s.io/api/core/v1"
	schedulingv1beta1 "k8s.io/api/scheduling/v1beta1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"

	"kube-scheduler-simulator/scheduler/plugins/coscheduling/v1alpha1"
	"kube-scheduler-simulator/scheduler/whatif"
)

// Group is the PodGroup that the counted pods join, of Kubernetes or of the plugin Coscheduling. None of its members runs before there
// is room for as many as it needs.
type Group struct {
	Name string `json:"name"`
	// Minimum is how many members the group needs.
	Minimum int `json:"minimum"`
	// Bound is how many members have a node already.
	Bound int `json:"bound"`
	// Places is how many more members there is room for. Fits is 0 if they and the bound ones are too few.
	Places int `json:"places"`
}

type gang struct {
	Group
	// together: the members need nodes that have something in common, so they are decided about at once.
	together bool
	// siblings: the scheduler tries a member only if Minimum members exist.
	siblings bool
}

// counted returns the group for an answer; nil if g is.
func (g *gang) counted() *Group {
	if g == nil {
		return nil
	}
	return &g.Group
}

// startsWith reports whether the group runs with so many more members.
func (g *gang) startsWith(places int) bool { return g.Bound+places >= g.Minimum }

// lacks returns how many more members the group needs to start; 0 if g is nil.
func (g *gang) lacks() int {
	if g == nil {
		return 0
	}
	return max(g.Minimum-g.Bound, 0)
}

// gangOf returns the group of the pod; nil if it belongs to none that the scheduler knows.
func gangOf(t *whatif.Trial, pod *v1.Pod) (*gang, error) {
	if name := whatif.GroupName(pod); name != "" {
		return nativeGang(t, pod, name)
	}
	name := pod.Labels[v1alpha1.PodGroupLabel]
	if name == "" {
		return nil, nil
	}
	if _, err := t.List(v1alpha1.PodGroupKind); err != nil {
		return nil, nil // the plugin is not enabled
	}
	o, err := t.Get(v1alpha1.PodGroupKind, pod.Namespace, name)
	if missing := (*whatif.NotFoundError)(nil); errors.As(err, &missing) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	group := &v1alpha1.PodGroup{}
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(o.(*unstructured.Unstructured).Object, group); err != nil {
		return nil, fmt.Errorf("reading the PodGroup %s/%s: %w", pod.Namespace, name, err)
	}
	out := &gang{Group: Group{Name: name, Minimum: int(group.Spec.MinMember)}, siblings: true}
	out.countBound(t, func(p *v1.Pod) bool { return p.Namespace == pod.Namespace && p.Labels[v1alpha1.PodGroupLabel] == name })
	return out, nil
}

func nativeGang(t *whatif.Trial, pod *v1.Pod, name string) (*gang, error) {
	o, err := t.Get(schedulingv1beta1.SchemeGroupVersion.WithKind("PodGroup"), pod.Namespace, name)
	if err != nil {
		return nil, err
	}
	spec := o.(*schedulingv1beta1.PodGroup).Spec
	out := &gang{Group: Group{Name: name}, together: spec.SchedulingConstraints != nil && len(spec.SchedulingConstraints.Topology) > 0}
	if gang := spec.SchedulingPolicy.Gang; gang != nil {
		out.Minimum = int(gang.MinCount)
	}
	out.countBound(t, func(p *v1.Pod) bool { return p.Namespace == pod.Namespace && whatif.GroupName(p) == name })
	return out, nil
}

func (g *gang) countBound(t *whatif.Trial, isMember func(*v1.Pod) bool) {
	for _, p := range t.Pods() {
		if p.Spec.NodeName != "" && isMember(p) {
			g.Bound++
		}
	}
}

// place places pods like this one, at most so many, and returns their nodes. It places them also if they are too few for their group, which
// may be nil.
func (g *gang) place(ctx context.Context, t *whatif.Trial, pod *v1.Pod, profile string, most int) ([]string, error) {
	switch {
	case g != nil && g.together:
		return g.placeTogether(ctx, t, pod, profile, most)
	case g != nil && g.siblings:
		if err := g.awaitSiblings(ctx, t, pod); err != nil {
			return nil, err
		}
	}
	return t.Fill(ctx, pod, profile, most)
}

// placeTogether places as many as the group lacks in one cycle, and further ones one by one.
func (g *gang) placeTogether(ctx context.Context, t *whatif.Trial, pod *v1.Pod, profile string, most int) (placed []string, err error) {
	next := min(max(g.Minimum-g.Bound, 1), most)
	for next > 0 {
		more, err := t.FillGroup(ctx, pod, profile, next)
		if err != nil || len(more) == 0 {
			return placed, err
		}
		placed = append(placed, more...)
		next = min(1, most-len(placed))
	}
	return placed, nil
}

// awaitSiblings creates as many pending members as the group needs.
func (g *gang) awaitSiblings(ctx context.Context, t *whatif.Trial, pod *v1.Pod) error {
	if g.Minimum == 0 {
		return nil
	}
	sibling, err := t.Another(pod)
	if err == nil {
		_, err = t.Await(ctx, sibling, g.Minimum)
	}
	return err
}
