package redact

import "k8s.io/apimachinery/pkg/runtime/schema"

// kind has the rules for its objects, besides metadata.
type kind struct {
	name   rule
	fields fields
}

func groupKind(group, kind string) schema.GroupKind {
	return schema.GroupKind{Group: group, Kind: kind}
}

// kinds are the kinds that have rules. init fills the variable, because rules for metadata look up
// the kinds of owners in it. A test compares it with the table in simulator/cluster/objects.
var kinds map[schema.GroupKind]kind

func init() {
	kinds = map[schema.GroupKind]kind{}
	for group, all := range map[string]map[string]kind{
		"":                            coreKinds,
		"apps":                        appKinds,
		"autoscaling.x-k8s.io":        autoscalingKinds,
		"batch":                       batchKinds,
		"jobset.x-k8s.io":             jobSetKinds,
		"leaderworkerset.x-k8s.io":    leaderSetKinds,
		karpenterGroup:                karpenterKinds,
		kueueGroup:                    kueueKinds,
		"node.k8s.io":                 {"RuntimeClass": runtimeClass},
		"policy":                      {"PodDisruptionBudget": budget},
		"resource.k8s.io":             deviceKinds,
		"scheduling.k8s.io":           schedulingKinds,
		"scheduling.incubator.k8s.io": sessionKinds,
		"scheduling.sigs.dev":         sessionKinds,
		"scheduling.volcano.sh":       sessionKinds,
		"scheduling.x-k8s.io":         batchPluginKinds,
		"storage.k8s.io":              storageKinds,
		"topology.node.k8s.io":        {"NodeResourceTopology": nodeTopology},
		"workload.codeflare.dev":      appWrapperKinds,
		"kubescheduler.config.k8s.io": {"KubeSchedulerConfiguration": configuration},
	} {
		for name, k := range all {
			kinds[groupKind(group, name)] = k
		}
	}
}

var nodeCondition = object(fields{
	"type":   oneOf("Ready", "MemoryPressure", "DiskPressure", "PIDPressure", "NetworkUnavailable"),
	"status": oneOf("True", "False", "Unknown"), "lastHeartbeatTime": instant, "lastTransitionTime": instant,
})

var nodeStatus = object(fields{
	"capacity": amounts(resourceName), "allocatable": amounts(resourceName),
	"conditions": conditions(nodeCondition),
	"images":     each(object(fields{"names": each(images), "sizeBytes": number})),
	"nodeInfo": object(fields{
		"operatingSystem": oneOf("linux", "windows"), "architecture": oneOf("amd64", "arm64", "arm", "ppc64le", "s390x", "riscv64"),
	}),
	"volumesInUse":     each(words("volume")),
	"declaredFeatures": each(oneOf(nodeFeatures...)),
})

// A node may declare these features, and the scheduler asks for them.
var nodeFeatures = []string{
	"DRANodeAllocatableResources", "DRAOptionalNodeOperations", "InPlacePodLevelResourcesVerticalScaling",
	"InPlacePodVerticalScalingInitContainers", "InPlacePodVerticalScalingMemoryBackedVolumes", "RestartAllContainersOnContainerExits",
	"UserNamespacesHostNetworkSupport", "VolumeBindMountOptions",
}

var coreKinds = map[string]kind{
	"Node": {name: nodeName, fields: fields{
		"spec":   object(fields{"unschedulable": boolean, "taints": each(taint)}),
		"status": nodeStatus,
	}},
	"Namespace": {name: namespace, fields: fields{"status": object(fields{"phase": oneOf("Active", "Terminating")})}},
	"Pod":       {name: podName, fields: fields{"spec": podSpec, "status": podStatus}},
	"PersistentVolume": {name: volume, fields: fields{
		"spec": volumeSpec, "status": object(fields{"phase": oneOf("Pending", "Available", "Bound", "Released", "Failed")}),
	}},
	"PersistentVolumeClaim": {name: claimName, fields: fields{
		"spec": claimSpec,
		"status": object(fields{
			"phase": oneOf("Pending", "Bound", "Lost"), "accessModes": each(accessMode), "capacity": amounts(resourceName),
			"currentVolumeAttributesClassName": classes,
		}),
	}},
	// By default, pods of one service are spread.
	"Service": {name: services, fields: fields{"spec": object(fields{
		"selector": labels, "type": oneOf("ClusterIP", "NodePort", "LoadBalancer"), "clusterIP": oneOf("None"),
		"ports": each(object(fields{"name": words("port"), "port": number, "protocol": oneOf("TCP", "UDP", "SCTP")})),
	})}},
	"ServiceAccount":        {name: accounts, fields: fields{}},
	"ReplicationController": {name: appName, fields: fields{"spec": object(fields{"replicas": number, "minReadySeconds": number, "selector": labels, "template": podTemplate}), "status": replicas}},
	"ResourceQuota": {name: words("quota"), fields: fields{
		"spec": object(fields{
			"hard":   amounts(resourceName),
			"scopes": each(oneOf(quotaScopes...)),
			"scopeSelector": object(fields{"matchExpressions": each(object(fields{
				"scopeName": oneOf(quotaScopes...), "operator": oneOf("In", "NotIn", "Exists", "DoesNotExist"), "values": each(priorityClass),
			}))}),
		}),
	}},
	"LimitRange": {name: words("limits"), fields: fields{"spec": object(fields{"limits": each(object(fields{
		"type": oneOf("Pod", "Container", "PersistentVolumeClaim"),
		"max":  amounts(resourceName), "min": amounts(resourceName), "default": amounts(resourceName),
		"defaultRequest": amounts(resourceName), "maxLimitRequestRatio": amounts(resourceName),
	}))})}},
}

var quotaScopes = []string{"Terminating", "NotTerminating", "BestEffort", "NotBestEffort", "PriorityClass", "CrossNamespacePodAffinity", "VolumeAttributesClass"}

var runtimeClass = kind{name: classes, fields: fields{
	"handler":  words("handler"),
	"overhead": object(fields{"podFixed": amounts(resourceName)}),
	"scheduling": object(fields{
		"nodeSelector": labels, "tolerations": each(toleration),
	}),
}}

var budget = kind{name: words("budget"), fields: fields{
	"spec": object(fields{
		"minAvailable": numberOrPercentage, "maxUnavailable": numberOrPercentage, "selector": selector,
		"unhealthyPodEvictionPolicy": oneOf("IfHealthyBudget", "AlwaysAllow"),
	}),
	"status": object(fields{
		"disruptionsAllowed": number, "currentHealthy": number, "desiredHealthy": number, "expectedPods": number, "observedGeneration": number,
		"disruptedPods": byName((*Redactor).pod, instant),
	}),
}}
