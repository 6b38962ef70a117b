package noderesourcetopology

import (
	"encoding/binary"
	"fmt"
	"slices"

	"github.com/cespare/xxhash/v2"
	v1 "k8s.io/api/core/v1"
)

// legacyFingerprint is the annotation in which earlier agents report.
const legacyFingerprint = "topology.node.k8s.io/fingerprint"

// The methods of AttributeFingerprintMethod.
const (
	methodAll       = "all"
	methodExclusive = "with-exclusive-resources"
)

// MethodAll says that the fingerprint is of all pods.
const MethodAll = methodAll

// fingerprintOf returns what the agent reports, empty if nothing, and of which pods.
func fingerprintOf(t *NodeResourceTopology) (fingerprint, method string) {
	if reported := t.attribute(AttributeFingerprint); reported != "" {
		if t.attribute(AttributeFingerprintMethod) == methodExclusive {
			return reported, methodExclusive
		}
		return reported, methodAll
	}
	return t.Annotations[legacyFingerprint], methodAll
}

// Fingerprint identifies a set of pods by their namespaces and names, as agents do: the
// xxHash of the sorted hashes. That of a pod is the hash of its name, seeded with the hash of
// its namespace.
func Fingerprint(pods []*v1.Pod) string {
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
