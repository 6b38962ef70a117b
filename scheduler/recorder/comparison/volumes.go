package comparison

import (
	"slices"
	"strings"

	v1 "k8s.io/api/core/v1"
	fwk "k8s.io/kube-scheduler/framework"

	"kube-scheduler-simulator/scheduler/result"
)

// compareVolumes finds bound persistent volumes whose node affinity excludes the
// node.
func compareVolumes(h fwk.Handle, _ fwk.CycleState, pod *v1.Pod, node fwk.NodeInfo) *result.Comparison {
	core := h.SharedInformerFactory().Core().V1()
	out := &result.Comparison{}
	for _, volume := range pod.Spec.Volumes {
		if volume.PersistentVolumeClaim == nil {
			continue
		}
		claim, err := core.PersistentVolumeClaims().Lister().PersistentVolumeClaims(pod.Namespace).Get(volume.PersistentVolumeClaim.ClaimName)
		if err != nil || claim.Spec.VolumeName == "" {
			continue
		}
		pv, err := core.PersistentVolumes().Lister().Get(claim.Spec.VolumeName)
		if err != nil {
			continue
		}
		terms := zoneTerms(pv, node.Node())
		if pv.Spec.NodeAffinity != nil {
			terms = append(terms, unmetTerms(pv.Spec.NodeAffinity.Required, node.Node(), "volume")...)
		}
		for i := range terms {
			terms[i].Volume, terms[i].Claim = pv.Name, claim.Name
		}
		out.Terms = append(out.Terms, terms...)
	}
	if len(out.Terms) == 0 {
		return nil
	}
	return out
}

// zoneTerms compares the zone and region labels of a volume, which VolumeZone
// reads as sets of values.
func zoneTerms(pv *v1.PersistentVolume, n *v1.Node) []result.TermComparison {
	var out []result.TermComparison
	for _, key := range []string{v1.LabelTopologyZone, v1.LabelTopologyRegion, v1.LabelFailureDomainBetaZone, v1.LabelFailureDomainBetaRegion} {
		value, ok := pv.Labels[key]
		if !ok {
			continue
		}
		wanted := strings.Split(value, "__")
		if actual, has := n.Labels[key]; !has || !slices.Contains(wanted, actual) {
			out = append(out, result.TermComparison{
				Source: "volume", Key: key, Operator: string(v1.NodeSelectorOpIn), Values: wanted, Actual: label(n, key),
			})
		}
	}
	return out
}
