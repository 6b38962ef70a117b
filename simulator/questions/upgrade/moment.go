package upgrade

import (
	"cmp"
	"context"
	"encoding/json"
	"slices"

	v1 "k8s.io/api/core/v1"
	podutil "k8s.io/component-helpers/scheduling/corev1"

	"kube-scheduler-simulator/scheduler/feed"
	"kube-scheduler-simulator/scheduler/versions/proxy"
	"kube-scheduler-simulator/scheduler/versions/wire"
)

// Moment returns the steps that decide about every pod in the state of one moment, given as the operations that make it up.
//
// Both versions decide about each pod that has a node as if it alone were pending; the pod stays where it is, and its volumes and claims stay
// bound. Then they decide about the pending pods by priority, and among equals by age, and each goes where the older version puts it. Moment
// leaves out pods that are being deleted, and those that a kubelet runs from its own files. The caller does not change the objects.
func Moment(ops []feed.Operation) Source {
	var bound, pending []*v1.Pod
	for _, op := range ops {
		pod, ok := op.Set.(*v1.Pod)
		if !ok || pod.DeletionTimestamp != nil || pod.Annotations[v1.MirrorPodAnnotationKey] != "" {
			continue
		}
		if pod.Spec.NodeName != "" {
			bound = append(bound, pod)
		} else {
			pending = append(pending, pod)
		}
	}
	slices.SortStableFunc(pending, func(a, b *v1.Pod) int {
		return cmp.Or(cmp.Compare(podutil.PodPriority(b), podutil.PodPriority(a)), a.CreationTimestamp.Compare(b.CreationTimestamp.Time))
	})
	return func(_ context.Context, do func(Step) error) error {
		for _, op := range ops {
			step, err := stepOf(op)
			if err == nil {
				err = do(step)
			}
			if err != nil {
				return err
			}
		}
		for _, pod := range slices.Concat(bound, pending) {
			placed := pod.Spec.NodeName == ""
			if !placed {
				pod = pod.DeepCopy()
				pod.Status.NominatedNodeName = ""
			}
			data, err := proxy.Encode(pod)
			if err == nil {
				err = do(Step{Decide: data, Place: placed})
			}
			if err != nil {
				return err
			}
		}
		return nil
	}
}

// stepOf returns the step of an operation that changes the state.
func stepOf(op feed.Operation) (Step, error) {
	switch {
	case op.Set != nil:
		data, err := proxy.Encode(op.Set)
		return Step{Set: json.RawMessage(data)}, err
	case op.Delete != nil:
		apiVersion, kind := op.Delete.GVK.ToAPIVersionAndKind()
		return Step{Delete: &wire.Reference{APIVersion: apiVersion, Kind: kind, Namespace: op.Delete.Namespace, Name: op.Delete.Name}}, nil
	case op.Allocate != nil:
		data, err := proxy.Encode(op.Allocate)
		return Step{Allocate: json.RawMessage(data)}, err
	}
	return Step{Release: string(op.Release)}, nil
}
