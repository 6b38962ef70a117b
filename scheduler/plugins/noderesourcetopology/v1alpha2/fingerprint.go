package v1alpha2

import (
	"encoding/binary"
	"fmt"
	"slices"

	"github.com/cespare/xxhash/v2"
	v1 "k8s.io/api/core/v1"
)

// LegacyFingerprint is the annotation in which earlier agents report.
const LegacyFingerprint = "topology.node.k8s.io/fingerprint"

// The values of AttributeFingerprintMethod: which pods the fingerprint is of.
const (
	MethodAll       = "all"
	MethodExclusive = "with-exclusive-resources"
)

// Fingerprint returns what the agent reports, empty if nothing, and of which pods.
func (t *NodeResourceTopology) Fingerprint() (fingerprint, method string) {
	if reported := t.Attribute(AttributeFingerprint); reported != "" {
		if t.Attribute(AttributeFingerprintMethod) == MethodExclusive {
			return reported, MethodExclusive
		}
		return reported, MethodAll
	}
	return t.Annotations[LegacyFingerprint], MethodAll
}

// FingerprintOf identifies a set of pods by their namespaces and names, as agents do: the
// xxHash of the sorted hashes. That of a pod is the hash of its name, seeded with the hash of
// its namespace.
func FingerprintOf(pods []*v1.Pod) string {
	hashes := make([]uint64, len(pods))
	for i, pod := range pods {
		h := xxhash.NewWithSeed(xxhash.Sum64String(pod.Namespace))
		_, _ = h.WriteString(pod.Name) // it never fails
		hashes[i] = h.Sum64()
	}
	slices.Sort(hashes)
	all := make([]byte, 0, 8*len(hashes))
	for _, h := range hashes {
		all = binary.LittleEndian.AppendUint64(all, h)
	}
	return fmt.Sprintf("pfp0v001%016x", xxhash.Sum64(all))
}
