package redact

import (
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
)

var podTemplate = object(fields{"metadata": templateMetadata, "spec": podSpec})

var replicas = object(fields{
	"replicas": number, "readyReplicas": number, "availableReplicas": number, "observedGeneration": number, "updatedReplicas": number,
})

// updates is how a workload replaces its pods.
var updates = object(fields{
	"type":          oneOf("RollingUpdate", "Recreate", "OnDelete"),
	"rollingUpdate": object(fields{"maxUnavailable": numberOrPercentage, "maxSurge": numberOrPercentage, "partition": number}),
})

// onDelete keeps the existing pods of StatefulSets and DaemonSets: without their revisions, which
// are dropped, controllers would take all of them for outdated.
func onDelete(*Redactor, any) any { return map[string]any{"type": "OnDelete"} }

var workload = fields{
	"replicas": number, "selector": selector, "template": podTemplate, "minReadySeconds": number,
	"revisionHistoryLimit": number, "progressDeadlineSeconds": number, "paused": boolean,
	"strategy": updates, "updateStrategy": onDelete, "podManagementPolicy": oneOf("OrderedReady", "Parallel"),
	"ordinals": object(fields{"start": number}),
}

var appKinds = map[string]kind{
	"Deployment": {name: appName, fields: fields{"spec": object(workload), "status": replicas}},
	"ReplicaSet": {name: appName, fields: fields{"spec": object(workload), "status": replicas}},
	"StatefulSet": {name: appName, fields: fields{
		"spec": object(workload.with(fields{"serviceName": services})), "status": replicas,
	}},
	"DaemonSet": {name: appName, fields: fields{"spec": object(workload), "status": object(fields{})}},
}

var jobSpec = object(fields{
	"parallelism": number, "completions": number, "backoffLimit": number, "activeDeadlineSeconds": number, "ttlSecondsAfterFinished": number,
	"completionMode": oneOf("NonIndexed", "Indexed"), "suspend": boolean, "manualSelector": boolean, "selector": selector, "template": podTemplate,
	"podReplacementPolicy": oneOf("TerminatingOrFailed", "Failed"), "backoffLimitPerIndex": number, "maxFailedIndexes": number,
})

var batchKinds = map[string]kind{
	"Job": {name: appName, fields: fields{
		"spec": jobSpec,
		"status": object(fields{
			"active": number, "succeeded": number, "failed": number, "ready": number, "startTime": instant, "completionTime": instant,
			"conditions": conditions(object(fields{
				"type":   oneOf("Complete", "Failed", "Suspended", "SuccessCriteriaMet", "FailureTarget"),
				"status": oneOf("True", "False", "Unknown"), "lastTransitionTime": instant, "lastProbeTime": instant,
			})),
		}),
	}},
	"CronJob": {name: appName, fields: fields{"spec": object(fields{
		"schedule": schedule, "suspend": boolean, "startingDeadlineSeconds": number,
		"concurrencyPolicy":          oneOf("Allow", "Forbid", "Replace"),
		"successfulJobsHistoryLimit": number, "failedJobsHistoryLimit": number,
		"jobTemplate": object(fields{"metadata": templateMetadata, "spec": jobSpec}),
	})}},
}

// sets are the kinds that make jobs and StatefulSets.
var (
	jobSetKinds = map[string]kind{"JobSet": {name: appName, fields: fields{"spec": object(fields{
		"suspend": boolean, "replicatedJobs": each(object(fields{
			"name": podSetName, "replicas": number, "template": object(fields{"metadata": templateMetadata, "spec": jobSpec}),
		})),
		"successPolicy": object(fields{"operator": oneOf("All", "Any"), "targetReplicatedJobs": each(podSetName)}),
		"startupPolicy": object(fields{"startupPolicyOrder": oneOf("AnyOrder", "InOrder")}),
	})}}}
	leaderSetKinds = map[string]kind{"LeaderWorkerSet": {name: appName, fields: fields{"spec": object(fields{
		"replicas": number, "startupPolicy": oneOf("LeaderCreated", "LeaderReady"),
		"leaderWorkerTemplate": object(fields{
			"size": number, "leaderTemplate": podTemplate, "workerTemplate": podTemplate, "restartPolicy": oneOf("RecreateGroupOnPodRestart", "None"),
			"subGroupPolicy": object(fields{"subGroupSize": number, "subGroupPolicyType": oneOf("LeaderWorker", "LeaderExcluded")}),
		}),
	})}}}
)

// appWrapperKinds have objects of other kinds inside, each with the rules of its own kind.
var appWrapperKinds = map[string]kind{"AppWrapper": {name: appName, fields: fields{"spec": object(fields{"suspend": boolean, "components": each(component)})}}}

// component redacts an object of a kind with rules, and drops any other. The pod sets of those kinds need not be declared.
func component(r *Redactor, v any) any {
	from, _ := v.(map[string]any)
	template, ok := from["template"].(map[string]any)
	if !ok {
		return nil
	}
	u := &unstructured.Unstructured{Object: runtime.DeepCopyJSON(template)}
	if !Covers(u.GroupVersionKind().GroupKind()) {
		return nil
	}
	r.Object(u)
	return map[string]any{"template": u.Object}
}

// schedule keeps a cron expression of numbers, and replaces any other.
var schedule = text(func(_ *Redactor, s string) string {
	for _, c := range s {
		switch {
		case c >= '0' && c <= '9', c == '*', c == '/', c == ',', c == '-', c == ' ':
		default:
			return "0 0 * * *"
		}
	}
	return s
})

// policy is for a pod group, or a group of pod groups.
var policy = object(fields{"basic": nothing, "gang": object(fields{"minCount": number, "minGroupCount": number})})

var group = fields{
	"schedulingPolicy":      policy,
	"schedulingConstraints": object(fields{"topology": each(object(fields{"key": labelKeys}))}),
	"resourceClaims":        podClaims,
	"disruptionMode":        disruption,
	"priorityClassName":     priorityClass, "priority": number, "preemptionPolicy": preemptionPolicy,
}

// disruption was a string before it was an object.
func disruption(r *Redactor, v any) any {
	if s, ok := v.(string); ok {
		return oneOf("Pod", "PodGroup", "Single", "All")(r, s)
	}
	return object(fields{"single": nothing, "all": nothing})(r, v)
}

var groupTemplates = each(object(group.with(fields{"name": appName})))

var schedulingKinds = map[string]kind{
	"PriorityClass": {name: priorityClass, fields: fields{"value": number, "globalDefault": boolean, "preemptionPolicy": preemptionPolicy}},
	"PodGroup": {name: appName, fields: fields{
		"spec": object(group.with(fields{
			"parentCompositePodGroupName": appName,
			"workloadRef":                 object(fields{"workloadName": appName, "templateName": appName}),
		})),
		"status": object(fields{"resourceClaimStatuses": podClaimStatuses}),
	}},
	"CompositePodGroup": {name: appName, fields: fields{
		"spec": object(group.with(fields{
			"parentCompositePodGroupName": appName,
			"workloadRef":                 object(fields{"workloadName": appName, "templateName": appName}),
		})),
	}},
	"Workload": {name: appName, fields: fields{"spec": object(fields{
		"podGroupTemplates": groupTemplates,
		// Kubernetes lets them nest; levels below the first are dropped.
		"compositePodGroupTemplates": each(object(group.with(fields{"name": appName, "podGroupTemplates": groupTemplates}))),
	})}},
}

// batchPluginKinds are those of the plugins Coscheduling and CapacityScheduling.
var batchPluginKinds = map[string]kind{
	"ElasticQuota": {name: words("quota"), fields: fields{
		"spec":   object(fields{"min": amounts(resourceName), "max": amounts(resourceName)}),
		"status": object(fields{"used": amounts(resourceName)}),
	}},
	"PodGroup": {name: appName, fields: fields{
		"spec": object(fields{"minMember": number, "minResources": amounts(resourceName), "scheduleTimeoutSeconds": number}),
		"status": object(fields{
			"phase":   oneOf("Pending", "Scheduling", "Running", "Unknown", "Finished", "Failed"),
			"running": number, "succeeded": number, "failed": number, "scheduleStartTime": instant,
		}),
	}},
}

// sessionKinds are those of the session schedulers kube-batch and Volcano.
var sessionKinds = map[string]kind{
	"PodGroup": {name: appName, fields: fields{
		"spec": object(fields{
			"minMember": number, "minResources": amounts(resourceName), "queue": queueName, "priorityClassName": priorityClass,
			"minTaskMember": byName(roleOf, number),
		}),
		"status": object(fields{
			"phase":   oneOf("Pending", "Inqueue", "Running", "Unknown", "Completed"),
			"running": number, "succeeded": number, "failed": number,
		}),
	}},
	"Queue": {name: queueName, fields: fields{
		"spec": object(fields{
			"weight": number, "priority": number, "reclaimable": boolean, "parent": queueName, "capability": amounts(resourceName),
			"deserved": amounts(resourceName), "guarantee": object(fields{"resource": amounts(resourceName)}),
		}),
		"status": object(fields{"state": oneOf("Open", "Closed", "Closing", "Unknown")}),
	}},
}

// roleOf is the word for the role of a pod within its job, in the group and in the pod's
// annotation.
func roleOf(r *Redactor, role string) string { return r.word("role", role) }

// queueName keeps the names that queues have by default.
var queueName = words("queue", "default", "root")
