package jobs

import (
	"crypto/sha1"
	"encoding/hex"
	"strconv"
	"strings"

	batchv1 "k8s.io/api/batch/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"

	"kube-scheduler-simulator/simulator/batch/kueue/api"
)

// DefaultQueue is the local queue of jobs that name none, where it exists.
const DefaultQueue = "default"

// Annotations of jobs and pods.
const (
	MinParallelism              = api.GroupName + "/job-min-parallelism"
	CompletionsEqualParallelism = api.GroupName + "/job-completions-equal-parallelism"

	GroupTotalCount    = api.GroupName + "/pod-group-total-count"
	GroupFastAdmission = api.GroupName + "/pod-group-fast-admission"
	GroupServing       = api.GroupName + "/pod-group-serving"
	RetriableInGroup   = api.GroupName + "/retriable-in-group"
	RoleHash           = api.GroupName + "/role-hash"

	RequiredTopology      = api.GroupName + "/podset-required-topology"
	PreferredTopology     = api.GroupName + "/podset-preferred-topology"
	UnconstrainedTopology = api.GroupName + "/podset-unconstrained-topology"
	SliceTopology         = api.GroupName + "/podset-slice-required-topology"
	SliceSize             = api.GroupName + "/podset-slice-size"
	PodSetGroup           = api.GroupName + "/podset-group-name"
)

const (
	maxName    = 253
	hashLength = 5
)

// NameOf returns the name of the workload of an owner. kind is in lower case. Kueue leaves the UID out for
// owners whose name is needed before they exist.
func NameOf(kind, owner, group string, uid types.UID) string {
	sum := sha1.New()
	for _, part := range []string{kind, group, owner, string(uid)} {
		sum.Write([]byte(part + "\n"))
	}
	name := kind + "-" + owner
	if longest := maxName - hashLength - 1; len(name) > longest {
		name = strings.TrimRight(name[:longest], "-.")
	}
	return name + "-" + hex.EncodeToString(sum.Sum(nil))[:hashLength]
}

// TopologyOf reads the topology request in the annotations of a pod template; nil if there is none. A
// malformed number counts as absent.
func TopologyOf(annotations map[string]string) *api.PodSetTopologyRequest {
	request := &api.PodSetTopologyRequest{}
	found := false
	set := func(annotation string, to **string) {
		if value, ok := annotations[annotation]; ok {
			*to, found = &value, true
		}
	}
	set(RequiredTopology, &request.Required)
	set(PreferredTopology, &request.Preferred)
	set(SliceTopology, &request.PodSetSliceRequiredTopology)
	if value, err := strconv.ParseBool(annotations[UnconstrainedTopology]); err == nil {
		request.Unconstrained, found = &value, true
	}
	if !found {
		return nil
	}
	if size, err := strconv.ParseInt(annotations[SliceSize], 10, 32); err == nil {
		request.PodSetSliceSize = ptr.To(int32(size))
	}
	if group := annotations[PodSetGroup]; group != "" {
		request.PodSetGroupName = &group
	}
	return request
}

// indexed returns the request with the label that ranks the pods.
func indexed(request *api.PodSetTopologyRequest, label string) *api.PodSetTopologyRequest {
	if request != nil {
		request.PodIndexLabel = &label
	}
	return request
}

var jobIndexLabel = batchv1.JobCompletionIndexAnnotation
