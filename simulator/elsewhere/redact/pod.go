package redact

var requests = object(fields{
	"requests": amounts(resourceName), "limits": amounts(resourceName),
	"claims": each(object(fields{"name": words("claim"), "request": deviceNames})),
})

var container = object(fields{
	"name": words("container"), "image": images, "imagePullPolicy": oneOf("Always", "IfNotPresent", "Never"),
	"resources":     requests,
	"resizePolicy":  each(object(fields{"resourceName": text(resourceName), "restartPolicy": oneOf("NotRequired", "RestartContainer")})),
	"restartPolicy": oneOf("Always", "OnFailure", "Never"),
	"ports": each(object(fields{
		"containerPort": number, "hostPort": number, "hostIP": addresses, "protocol": oneOf("TCP", "UDP", "SCTP"),
	})),
})

// podVolume is for volumes that the scheduler looks at, and drops others, such as ConfigMaps.
func podVolume(r *Redactor, v any) any {
	redacted, _ := object(fields{
		"name":                  words("claim"),
		"persistentVolumeClaim": object(fields{"claimName": claimName, "readOnly": boolean}),
		"ephemeral":             object(fields{"volumeClaimTemplate": object(fields{"metadata": templateMetadata, "spec": claimSpec})}),
		"csi":                   object(fields{"driver": drivers, "readOnly": boolean}),
	}.with(disks))(r, v).(map[string]any)
	if len(redacted) < 2 {
		return nil
	}
	return redacted
}

// disks are volumes that two pods cannot share.
var disks = fields{
	"gcePersistentDisk":    object(fields{"pdName": volume, "readOnly": boolean}),
	"awsElasticBlockStore": object(fields{"volumeID": volume, "readOnly": boolean}),
	"iscsi":                object(fields{"targetPortal": addresses, "iqn": volume, "lun": number, "readOnly": boolean}),
	"rbd":                  object(fields{"monitors": each(addresses), "pool": volume, "image": volume, "readOnly": boolean}),
}

var podTerm = object(fields{
	"topologyKey": labelKeys, "labelSelector": selector, "namespaceSelector": selector, "namespaces": each(namespace),
	"matchLabelKeys": each(labelKeys), "mismatchLabelKeys": each(labelKeys),
})

var podTerms = object(fields{
	"requiredDuringSchedulingIgnoredDuringExecution":  each(podTerm),
	"preferredDuringSchedulingIgnoredDuringExecution": each(object(fields{"weight": number, "podAffinityTerm": podTerm})),
})

var nodeAffinity = object(fields{
	"requiredDuringSchedulingIgnoredDuringExecution":  nodeSelector,
	"preferredDuringSchedulingIgnoredDuringExecution": each(object(fields{"weight": number, "preference": nodeTerm})),
})

var spread = object(fields{
	"maxSkew": number, "minDomains": number, "topologyKey": labelKeys, "labelSelector": selector, "matchLabelKeys": each(labelKeys),
	"whenUnsatisfiable":  oneOf("DoNotSchedule", "ScheduleAnyway"),
	"nodeAffinityPolicy": oneOf("Honor", "Ignore"), "nodeTaintsPolicy": oneOf("Honor", "Ignore"),
})

// podClaims are for pods and pod groups.
var podClaims = each(object(fields{
	"name": words("claim"), "resourceClaimName": claimName, "resourceClaimTemplateName": claimName,
}))

var podClaimStatuses = each(object(fields{"name": words("claim"), "resourceClaimName": claimName}))

var preemptionPolicy = oneOf("Never", "PreemptLowerPriority")

var podSpec = object(fields{
	"containers": each(container), "initContainers": each(container),
	"volumes":       each(podVolume),
	"restartPolicy": oneOf("Always", "OnFailure", "Never"),
	"nodeName":      nodeName, "nodeSelector": labels,
	"affinity":                  object(fields{"nodeAffinity": nodeAffinity, "podAffinity": podTerms, "podAntiAffinity": podTerms}),
	"tolerations":               each(toleration),
	"topologySpreadConstraints": each(spread),
	"schedulerName":             schedules,
	"schedulingGates":           each(object(fields{"name": labelKeys})),
	"priorityClassName":         priorityClass, "priority": number, "preemptionPolicy": preemptionPolicy,
	"runtimeClassName": classes, "overhead": amounts(resourceName),
	"os":                 object(fields{"name": oneOf("linux", "windows")}),
	"serviceAccountName": accounts, "serviceAccount": accounts,
	"resources":       requests,
	"resourceClaims":  podClaims,
	"schedulingGroup": object(fields{"podGroupName": appName}),
	"workloadRef":     object(fields{"name": appName, "podGroup": appName, "podGroupReplicaKey": appName}),
	"hostNetwork":     boolean, "hostPID": boolean, "hostIPC": boolean, "hostUsers": boolean,
	"activeDeadlineSeconds": number, "terminationGracePeriodSeconds": number,
})

// condition is for a condition of a pod. It drops the types that people make up for readiness
// gates, like the gates.
var condition = object(fields{
	"type":               oneOf("PodScheduled", "Ready", "Initialized", "ContainersReady", "PodReadyToStartContainers", "DisruptionTarget", "PodResizePending", "PodResizeInProgress"),
	"status":             oneOf("True", "False", "Unknown"),
	"reason":             oneOf("Unschedulable", "SchedulingGated", "SchedulerError", "PodCompleted", "PreemptionByScheduler"),
	"lastTransitionTime": instant, "lastProbeTime": instant, "observedGeneration": number,
})

func conditions(condition rule) rule {
	return func(r *Redactor, v any) any {
		all, _ := each(condition)(r, v).([]any)
		known := []any{}
		for _, c := range all {
			if c.(map[string]any)["type"] != nil {
				known = append(known, c)
			}
		}
		return known
	}
}

var containerStatuses = each(object(fields{
	"name": words("container"), "image": images, "ready": boolean, "started": boolean, "restartCount": number,
	"allocatedResources": amounts(resourceName), "resources": requests,
}))

var podStatus = object(fields{
	"phase":      oneOf("Pending", "Running", "Succeeded", "Failed", "Unknown"),
	"conditions": conditions(condition), "startTime": instant,
	"qosClass":          oneOf("Guaranteed", "Burstable", "BestEffort"),
	"nominatedNodeName": nodeName,
	"containerStatuses": containerStatuses, "initContainerStatuses": containerStatuses,
	"allocatedResources": amounts(resourceName), "resources": requests,
	"resourceClaimStatuses": podClaimStatuses,
	"extendedResourceClaimStatus": object(fields{
		"resourceClaimName": claimName,
		"requestMappings":   each(object(fields{"containerName": words("container"), "requestName": deviceNames, "resourceName": text(resourceName)})),
	}),
})
