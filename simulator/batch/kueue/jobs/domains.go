package jobs

import (
	"k8s.io/utils/ptr"

	"kube-scheduler-simulator/simulator/batch/kueue/api"
)

// Domain is a part of a topology in which pods have a place.
type Domain struct {
	// Selector has the node labels of the domain.
	Selector map[string]string
	Pods     int32
}

// Domains writes out a topology assignment, in its order.
func Domains(assignment *api.TopologyAssignment) (domains []Domain) {
	for _, slice := range assignment.Slices {
		for i := range int(slice.DomainCount) {
			d := Domain{Selector: map[string]string{}, Pods: ptr.Deref(slice.PodCounts.Universal, 0)}
			if i < len(slice.PodCounts.Individual) {
				d.Pods = slice.PodCounts.Individual[i]
			}
			for level, values := range slice.ValuesPerLevel {
				if level >= len(assignment.Levels) {
					break
				}
				value := ptr.Deref(values.Universal, "")
				if each := values.Individual; each != nil && i < len(each.Roots) {
					value = ptr.Deref(each.Prefix, "") + each.Roots[i] + ptr.Deref(each.Suffix, "")
				}
				d.Selector[assignment.Levels[level]] = value
			}
			domains = append(domains, d)
		}
	}
	return domains
}
