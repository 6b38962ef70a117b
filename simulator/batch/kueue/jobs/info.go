package jobs

import (
	"errors"
	"fmt"
	"maps"
	"slices"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation"
	kueue "sigs.k8s.io/kueue/apis/kueue/v1beta2"
	"sigs.k8s.io/kueue/pkg/constants"
)

type Info struct {
	Name                            kueue.PodSetReference
	Count                           int32
	Labels, Annotations, NodeLabels map[string]string
	Tolerations                     []v1.Toleration
	// Gates are those that pods of the set carry until they get their place in a topology.
	Gates []v1.PodSchedulingGate
}

// ErrConflict means that two sources give different values for one key.
var ErrConflict = errors.New("conflict when merging")

// Infos returns what admission gives to each pod set of a workload, in the order of the pod sets. flavor
// returns nil for a flavor that does not exist.
func Infos(w *kueue.Workload, flavor func(name string) *kueue.ResourceFlavor) ([]Info, error) {
	if w.Status.Admission == nil {
		return nil, fmt.Errorf("workload %s/%s has no quota", w.Namespace, w.Name)
	}
	infos := make([]Info, 0, len(w.Spec.PodSets))
	for i, set := range w.Spec.PodSets {
		if i >= len(w.Status.Admission.PodSetAssignments) {
			return nil, fmt.Errorf("pod set %s of workload %s/%s has no quota", set.Name, w.Namespace, w.Name)
		}
		assignment := w.Status.Admission.PodSetAssignments[i]
		info := Info{
			Name: set.Name, Count: set.Count, NodeLabels: map[string]string{},
			Labels:      map[string]string{constants.PodSetLabel: string(set.Name)},
			Annotations: map[string]string{kueue.WorkloadAnnotation: w.Name},
		}
		if Elastic(w) {
			info.Annotations[kueue.WorkloadSliceNameAnnotation] = w.Annotations[kueue.WorkloadSliceNameAnnotation]
		}
		for label, value := range map[string]string{constants.LocalQueueLabel: string(w.Spec.QueueName), constants.ClusterQueueLabel: string(w.Status.Admission.ClusterQueue)} {
			if len(validation.IsValidLabelValue(value)) == 0 {
				info.Labels[label] = value
			}
		}
		if assignment.Count != nil {
			info.Count = *assignment.Count
		}
		seen := map[kueue.ResourceFlavorReference]bool{}
		for _, resource := range slices.Sorted(maps.Keys(assignment.Flavors)) {
			name := assignment.Flavors[resource]
			if seen[name] {
				continue
			}
			seen[name] = true
			f := flavor(string(name))
			if f == nil {
				return nil, fmt.Errorf("flavor %s does not exist", name)
			}
			maps.Copy(info.NodeLabels, f.Spec.NodeLabels)
			info.Tolerations = append(info.Tolerations, f.Spec.Tolerations...)
		}
		if assignment.TopologyAssignment != nil {
			info.Gates = []v1.PodSchedulingGate{{Name: kueue.TopologySchedulingGate}}
			if t := set.TopologyRequest; t == nil || t.Required == nil && t.Preferred == nil && t.Unconstrained == nil {
				info.Annotations[kueue.PodSetUnconstrainedTopologyAnnotation] = "true"
			}
		}
		if err := info.update(w); err != nil {
			return nil, err
		}
		infos = append(infos, info)
	}
	return infos, nil
}

// update adds what admission checks want.
func (info *Info) update(w *kueue.Workload) error {
	for _, check := range w.Status.AdmissionChecks {
		for _, u := range check.PodSetUpdates {
			if u.Name != info.Name {
				continue
			}
			for _, m := range []struct{ into, from map[string]string }{{info.Labels, u.Labels}, {info.Annotations, u.Annotations}, {info.NodeLabels, u.NodeSelector}} {
				if err := merge(m.into, m.from); err != nil {
					return err
				}
			}
			info.Tolerations = append(info.Tolerations, u.Tolerations...)
		}
	}
	return nil
}

func merge(into, from map[string]string) error {
	for key, value := range from {
		if here, exists := into[key]; exists && here != value {
			return fmt.Errorf("%w %s: %s and %s", ErrConflict, key, here, value)
		}
		into[key] = value
	}
	return nil
}

// Inject adds the info to a template or a gated pod. The error is an ErrConflict.
func (info Info) Inject(meta *metav1.ObjectMeta, spec *v1.PodSpec) error {
	for _, m := range []struct {
		into *map[string]string
		from map[string]string
	}{{&meta.Labels, info.Labels}, {&meta.Annotations, info.Annotations}, {&spec.NodeSelector, info.NodeLabels}} {
		if *m.into == nil && len(m.from) > 0 {
			*m.into = map[string]string{}
		}
		if err := merge(*m.into, m.from); err != nil {
			return err
		}
	}
	for _, t := range info.Tolerations {
		if !slices.ContainsFunc(spec.Tolerations, func(here v1.Toleration) bool { return here.MatchToleration(&t) }) {
			spec.Tolerations = append(spec.Tolerations, t)
		}
	}
	for _, gate := range info.Gates {
		if !slices.Contains(spec.SchedulingGates, gate) {
			spec.SchedulingGates = append(spec.SchedulingGates, gate)
		}
	}
	return nil
}
