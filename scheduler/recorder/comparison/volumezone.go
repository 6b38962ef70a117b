package comparison

import (
	"iter"
	"slices"

	v1 "k8s.io/api/core/v1"
	fwk "k8s.io/kube-scheduler/framework"

	"kube-scheduler-simulator/scheduler/internal/upstream"
	"kube-scheduler-simulator/scheduler/recorder"
	"kube-scheduler-simulator/scheduler/result"
)

// compareVolumeZones is VolumeZone's. Nearest are the nodes that are outside the zone
// or region of the fewest volumes.
func compareVolumeZones(h fwk.Handle) begin {
	claims := h.SharedInformerFactory().Core().V1().PersistentVolumeClaims().Lister()
	return func(state fwk.CycleState, pod *v1.Pod) recorder.Comparing {
		c := &volumeZones{wanted: upstream.VolumeTopologies(state), claims: map[string]string{}}
		for i := range pod.Spec.Volumes {
			v := pod.Spec.Volumes[i].PersistentVolumeClaim // The plugin ignores ephemeral volumes.
			if v == nil {
				continue
			}
			if claim, err := claims.PersistentVolumeClaims(pod.Namespace).Get(v.ClaimName); err == nil {
				c.claims[claim.Spec.VolumeName] = v.ClaimName
			}
		}
		return c
	}
}

type volumeZones struct {
	wanted []upstream.VolumeTopology
	claims map[string]string
}

// stableLabels are the node labels that replace a volume's label which the node lacks.
var stableLabels = map[string]string{
	v1.LabelFailureDomainBetaZone:   v1.LabelTopologyZone,
	v1.LabelFailureDomainBetaRegion: v1.LabelTopologyRegion,
	v1.LabelTopologyZone:            v1.LabelTopologyZone,
	v1.LabelTopologyRegion:          v1.LabelTopologyRegion,
}

func (c *volumeZones) Distance(_ fwk.CycleState, node fwk.NodeInfo, _ *fwk.Status) float64 {
	outside := 0
	for range c.outside(node.Node()) {
		outside++
	}
	return float64(outside)
}

func (c *volumeZones) Compare(_ fwk.CycleState, node fwk.NodeInfo, out *result.Comparison) bool {
	for term := range c.outside(node.Node()) {
		out.Terms = append(out.Terms, term)
	}
	return len(out.Terms) > 0
}

// Passed fills in nothing for a node without labels of zones and regions.
func (c *volumeZones) Passed(_ fwk.CycleState, node fwk.NodeInfo, out *result.Comparison) bool {
	for term := range c.zones(node.Node()) {
		out.Terms = append(out.Terms, term)
	}
	return true
}

func (c *volumeZones) outside(n *v1.Node) iter.Seq[result.TermComparison] {
	return func(yield func(result.TermComparison) bool) {
		for term := range c.zones(n) {
			if (term.Actual == nil || !slices.Contains(term.Values, *term.Actual)) && !yield(term) {
				return
			}
		}
	}
}

// A node without any label of zones or regions is in all of them.
func (c *volumeZones) zones(n *v1.Node) iter.Seq[result.TermComparison] {
	return func(yield func(result.TermComparison) bool) {
		zoned := false
		for key := range stableLabels {
			_, has := n.Labels[key]
			zoned = zoned || has
		}
		if !zoned {
			return
		}
		for i := range c.wanted {
			wanted := &c.wanted[i]
			key := wanted.Key
			if _, labelled := n.Labels[key]; !labelled {
				key = stableLabels[key]
			}
			if !yield(result.TermComparison{
				Source: "volume", Volume: wanted.Volume, Claim: c.claims[wanted.Volume],
				Key: key, Operator: string(v1.NodeSelectorOpIn), Values: wanted.Values, Actual: label(n, key),
			}) {
				return
			}
		}
	}
}
