package whatif

import (
	"context"

	v1 "k8s.io/api/core/v1"
)

// Fill places pods like this one, one after the other, each where the scheduler would put it on the
// state that the ones before it left. It ends when one finds no node, or when most are placed. It
// returns the nodes, in the order of the pods. Each pod is a copy with a name and a UID of its own.
// profile is as in Question. On an error, the pods that were placed stay placed.
func (t *Trial) Fill(ctx context.Context, pod *v1.Pod, profile string, most int) ([]string, error) {
	var out []string
	for len(out) < most {
		next, err := t.copyOf(pod)
		if err != nil {
			return out, err
		}
		node, err := t.Choose(ctx, next, profile)
		if err != nil || node == "" {
			return out, err
		}
		if err := t.Place(ctx, next, profile, node); err != nil {
			return out, err
		}
		out = append(out, node)
	}
	return out, nil
}

// copyOf returns a pod like this one that does not exist yet.
func (t *Trial) copyOf(pod *v1.Pod) (*v1.Pod, error) {
	next := pod.DeepCopy()
	next.Name, next.GenerateName, next.UID = "", pod.Name+"-", ""
	return t.New(next)
}
