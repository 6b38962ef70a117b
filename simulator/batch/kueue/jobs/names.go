package jobs

import (
	"crypto/sha1"
	"encoding/hex"
	"strconv"
	"strings"

	batchv1 "k8s.io/api/batch/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"
	kueue "sigs.k8s.io/kueue/apis/kueue/v1beta2"
)

// Annotations of jobs whose names the module keeps in the package of its controller.
const (
	MinParallelism              = "kueue.x-k8s.io/job-min-parallelism"
	CompletionsEqualParallelism = "kueue.x-k8s.io/job-completions-equal-parallelism"
)

const (
	maxName    = 253
	hashLength = 5
)

// NameOf returns the name of the workload of an owner, letter for letter that of Kueue. The UID is left out for owners whose
// name is needed before they exist. more tells several workloads of one owner apart.
func NameOf(kind schema.GroupKind, owner string, uid types.UID, more ...string) string {
	sum := sha1.Sum([]byte(strings.Join(append([]string{kind.Kind, kind.Group, owner, string(uid)}, more...), "\n")))
	name := strings.ToLower(kind.Kind) + "-" + owner
	return name[:min(len(name), maxName-hashLength-1)] + "-" + hex.EncodeToString(sum[:])[:hashLength]
}

// TopologyOf reads the topology request in the annotations of a pod template; nil if there is none. A
// malformed number counts as absent.
func TopologyOf(annotations map[string]string) *kueue.PodSetTopologyRequest {
	request := &kueue.PodSetTopologyRequest{}
	found := false
	set := func(annotation string, to **string) {
		if value, ok := annotations[annotation]; ok {
			*to, found = &value, true
		}
	}
	set(kueue.PodSetRequiredTopologyAnnotation, &request.Required)
	set(kueue.PodSetPreferredTopologyAnnotation, &request.Preferred)
	set(kueue.PodSetSliceRequiredTopologyAnnotation, &request.PodSetSliceRequiredTopology)
	if value, err := strconv.ParseBool(annotations[kueue.PodSetUnconstrainedTopologyAnnotation]); err == nil {
		request.Unconstrained, found = &value, true
	}
	if !found {
		return nil
	}
	if size, err := strconv.ParseInt(annotations[kueue.PodSetSliceSizeAnnotation], 10, 32); err == nil {
		request.PodSetSliceSize = ptr.To(int32(size))
	}
	if group := annotations[kueue.PodSetGroupName]; group != "" {
		request.PodSetGroupName = &group
	}
	return request
}

// indexed adds the label that ranks the pods to a request. Kueue names the label even if the pods ask for no topology, because
// their flavor may have one.
func indexed(request *kueue.PodSetTopologyRequest, label string) *kueue.PodSetTopologyRequest {
	if request == nil {
		request = &kueue.PodSetTopologyRequest{}
	}
	request.PodIndexLabel = &label
	return request
}

var jobIndexLabel = batchv1.JobCompletionIndexAnnotation
