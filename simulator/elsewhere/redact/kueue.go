package redact

import "strings"

// The names of Kueue's objects. Workloads carry the names of jobs, and so do the labels of pods.
var (
	flavors       = words("flavor")
	clusterQueues = words("queue")
	localQueues   = words("local-queue", "default")
	cohorts       = words("cohort")
	topologies    = words("topology")
	checks        = words("check")
	workloadClass = words("workload-priority")

	requestConfigs    = words("provisioning")
	provisioningClass = words("provisioning-class", "check-capacity.autoscaling.x-k8s.io", "best-effort-atomic-scale-up.autoscaling.x-k8s.io")
)

const kueueGroup = "kueue.x-k8s.io"

// kueueLabels are the labels and annotations that Kueue's admission reads or writes, without the
// domain.
var kueueLabels = map[string]string{
	"queue-name": "local-queue", "local-queue-name": "local-queue", "cluster-queue-name": "queue", "priority-class": "workload-priority",
	"pod-group-name": "app", "prebuilt-workload-name": "app", "podset": "podset",
	"managed": "", "pod-group-pod-index": "", "max-exec-time-seconds": "",
	// Scheduling gates.
	"admission": "", "topology": "",
}

// kueueLabel returns the value of a label of Kueue's, and whether the key is one.
func (r *Redactor) kueueLabel(key, value string) (string, bool) {
	domain, name, _ := strings.Cut(key, "/")
	word, known := kueueLabels[name]
	switch {
	case domain != kueueGroup || !known:
		return "", false
	case word == "":
		return r.value(value), true
	case word == "local-queue" && value == "default", word == "podset" && value == "main":
		return value, true
	}
	return r.word(word, value), true
}

var fairSharing = object(fields{"weight": amount})

var quotaGroups = each(object(fields{
	"coveredResources": each(text(resourceName)),
	"flavors": each(object(fields{"name": flavors, "resources": each(object(fields{
		"name": text(resourceName), "nominalQuota": amount, "borrowingLimit": amount, "lendingLimit": amount,
	}))})),
}))

var stopPolicy = oneOf("None", "Hold", "HoldAndDrain")

var podSetName = words("podset", "main")

// kueueCondition keeps a condition's type and status; messages name objects.
var kueueCondition = object(fields{
	"type":   oneOf("Active", "QuotaReserved", "Admitted", "Evicted", "Preempted", "Requeued", "PodsReady", "Finished", "DeactivationTarget", "WaitingForReplacementPods"),
	"status": oneOf("True", "False", "Unknown"), "reason": kueueReason, "message": blank,
	"lastTransitionTime": instant, "observedGeneration": number,
})

// kueueReason keeps Kueue's reasons. A condition must have one.
func kueueReason(r *Redactor, v any) any {
	if known := oneOf(kueueReasons...)(r, v); known != nil {
		return known
	}
	return "Other"
}

// blank is for a text that must be there, and may name anything.
func blank(*Redactor, any) any { return "" }

var kueueReasons = []string{
	"Ready", "QuotaReserved", "Admitted", "NoReservation", "UnsatisfiedAdmissionChecks", "Preempted", "PodsReadyTimeout", "AdmissionCheck", "ClusterQueueStopped",
	"LocalQueueStopped", "NodeFailures", "Deactivated", "InClusterQueue", "InCohortReclamation", "InCohortReclaimWhileBorrowing", "InCohortFairSharing",
	"Reactivated", "BackoffFinished", "ClusterQueueRestarted", "LocalQueueRestarted", "Started", "Recovered", "WaitForStart", "WaitForRecovery", "Succeeded", "Failed",
	"NoMatchingFlavor", "ExceedsMaxQuota", "WaitingForQuota", "TopologyPlacementFailed", "WaitingForPreemptedWorkloads", "Misconfigured", "Suspended", "PendingEvaluation",
}

var topologyRequest = object(fields{
	"required": labelKeys, "preferred": labelKeys, "unconstrained": boolean, "podIndexLabel": labelKeys,
	"podSetSliceRequiredTopology": labelKeys, "podSetSliceSize": number, "podSetGroupName": words("podset-group"),
})

// kueueKinds are Kueue's. They leave out where pods of a workload go, by the names of topology
// domains: pods carry it as node selectors.
var kueueKinds = map[string]kind{
	"ClusterQueue": {name: clusterQueues, fields: fields{"spec": object(fields{
		"resourceGroups": quotaGroups, "cohortName": cohorts, "queueingStrategy": oneOf("StrictFIFO", "BestEffortFIFO"), "namespaceSelector": selector,
		"flavorFungibility": object(fields{
			"whenCanBorrow": oneOf("MayStopSearch", "TryNextFlavor"), "whenCanPreempt": oneOf("MayStopSearch", "TryNextFlavor"),
			"preference": oneOf("BorrowingOverPreemption", "PreemptionOverBorrowing"),
		}),
		"preemption": object(fields{
			"withinClusterQueue": oneOf("Never", "LowerPriority", "LowerOrNewerEqualPriority"), "reclaimWithinCohort": oneOf("Never", "LowerPriority", "Any"),
			"borrowWithinCohort": object(fields{"policy": oneOf("Never", "LowerPriority"), "maxPriorityThreshold": number}),
		}),
		"admissionChecksStrategy": object(fields{"admissionChecks": each(object(fields{"name": checks, "onFlavors": each(flavors)}))}),
		"stopPolicy":              stopPolicy, "fairSharing": fairSharing,
	})}},
	"LocalQueue":     {name: localQueues, fields: fields{"spec": object(fields{"clusterQueue": clusterQueues, "stopPolicy": stopPolicy, "fairSharing": fairSharing})}},
	"Cohort":         {name: cohorts, fields: fields{"spec": object(fields{"parentName": cohorts, "resourceGroups": quotaGroups, "fairSharing": fairSharing})}},
	"ResourceFlavor": {name: flavors, fields: fields{"spec": object(fields{"nodeLabels": labels, "nodeTaints": each(taint), "tolerations": each(toleration), "topologyName": topologies})}},
	"Topology":       {name: topologies, fields: fields{"spec": object(fields{"levels": each(object(fields{"nodeLabel": labelKeys}))})}},
	"AdmissionCheck": {name: checks, fields: fields{"spec": object(fields{
		"controllerName": words("controller", kueueGroup+"/provisioning-request"),
		"parameters":     object(fields{"apiGroup": oneOf(kueueGroup), "kind": oneOf("ProvisioningRequestConfig"), "name": requestConfigs}),
	})}},
	"ProvisioningRequestConfig": {name: requestConfigs, fields: fields{"spec": object(fields{
		"provisioningClassName": provisioningClass, "managedResources": each(text(resourceName)),
		"retryStrategy":     object(fields{"backoffLimitCount": number, "backoffBaseSeconds": number, "backoffMaxSeconds": number}),
		"podSetMergePolicy": oneOf("IdenticalPodTemplates", "IdenticalWorkloadSchedulingRequirements"),
	})}},
	"WorkloadPriorityClass": {name: workloadClass, fields: fields{
		"value": number,
	}},
	"Workload": {name: appName, fields: fields{
		"spec": object(fields{
			"queueName": localQueues, "priority": number, "active": boolean, "maximumExecutionTimeSeconds": number,
			"podSets": each(object(fields{"name": podSetName, "count": number, "minCount": number, "template": podTemplate, "topologyRequest": topologyRequest})),
		}),
		"status": object(fields{
			"conditions": conditions(kueueCondition),
			"admission": object(fields{"clusterQueue": clusterQueues, "podSetAssignments": each(object(fields{
				"name": podSetName, "flavors": byName(resourceName, flavors), "resourceUsage": amounts(resourceName), "count": number,
			}))}),
			"reclaimablePods": each(object(fields{"name": podSetName, "count": number})),
			"admissionChecks": each(object(fields{"name": checks, "state": oneOf("Pending", "Ready", "Retry", "Rejected"), "message": blank, "lastTransitionTime": instant})),
		}),
	}},
}

// autoscalingKinds are those by which Kueue asks an autoscaler.
var autoscalingKinds = map[string]kind{"ProvisioningRequest": {name: appName, fields: fields{
	"spec": object(fields{
		"provisioningClassName": provisioningClass,
		"podSets":               each(object(fields{"podTemplateRef": object(fields{"name": appName}), "count": number})),
	}),
	"status": object(fields{"conditions": conditions(object(fields{
		"type":   oneOf("Accepted", "BookingExpired", "CapacityRevoked", "Provisioned", "Failed"),
		"status": oneOf("True", "False", "Unknown"), "reason": kueueReason, "message": blank, "lastTransitionTime": instant, "observedGeneration": number,
	}))}),
}}}
