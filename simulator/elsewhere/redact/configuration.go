package redact

import "strings"

// configuration is for a KubeSchedulerConfiguration: its scheduler names and the arguments that
// name labels and resources. Plugins that are not Kubernetes' own keep their names and lose their
// arguments. It drops extenders, which nobody can reach from elsewhere.
var configuration = kind{name: words("object"), fields: fields{
	"parallelism": number, "percentageOfNodesToScore": number, "podInitialBackoffSeconds": number, "podMaxBackoffSeconds": number,
	"profiles": each(object(fields{
		"schedulerName": schedules, "percentageOfNodesToScore": number, "plugins": plugins,
		"pluginConfig": pluginConfig,
	})),
}}

var pluginSet = object(fields{
	"enabled":  each(object(fields{"name": pluginName, "weight": number})),
	"disabled": each(object(fields{"name": pluginName})),
})

var plugins = func() rule {
	all := fields{}
	for _, point := range strings.Fields("preEnqueue queueSort preFilter filter postFilter preScore score reserve permit preBind bind postBind multiPoint placementGenerate placementScore podGroupPostFilter") {
		all[point] = pluginSet
	}
	return object(all)
}()

// pluginName keeps the name: without it the configuration means nothing.
func pluginName(_ *Redactor, v any) any {
	if s, ok := v.(string); ok {
		return s
	}
	return nil
}

var weights = each(object(fields{"name": text(resourceName), "weight": number}))

// arguments are the rules for the arguments of Kubernetes' plugins, and of others that many
// clusters run, by plugin.
var arguments = map[string]fields{
	"Coscheduling":                    {"permitWaitingTimeSeconds": number, "podGroupBackoffSeconds": number, "podGroupRejectPercentage": number},
	"DefaultPreemption":               {"minCandidateNodesPercentage": number, "minCandidateNodesAbsolute": number},
	"DynamicResources":                {"filterTimeout": text((*Redactor).duration)},
	"InterPodAffinity":                {"hardPodAffinityWeight": number, "ignorePreferredTermsOfExistingPods": boolean},
	"NodeAffinity":                    {"addedAffinity": nodeAffinity},
	"NodeResourcesBalancedAllocation": {"resources": weights},
	"NodeResourcesFit": {
		"ignoredResources": each(text(resourceName)), "ignoredResourceGroups": each(drivers),
		"scoringStrategy": object(fields{
			"type": oneOf("LeastAllocated", "MostAllocated", "RequestedToCapacityRatio"), "resources": weights,
			"requestedToCapacityRatio": object(fields{"shape": shape}),
		}),
	},
	"NodeResourceTopologyMatch": {
		"scoringStrategy":          object(fields{"type": oneOf("LeastAllocated", "MostAllocated", "BalancedAllocation", "LeastNUMANodes"), "resources": weights}),
		"cacheResyncPeriodSeconds": number, "discardReservedNodes": boolean, "preemptionMode": oneOf("Enabled", "Disabled"),
		"cache": object(fields{
			"foreignPodsDetect": oneOf("None", "All", "OnlyExclusiveResources"), "resyncMethod": oneOf("Autodetect", "All", "OnlyExclusiveResources"),
			"resyncScope": oneOf("All", "OnlyResources"), "informerMode": oneOf("Shared", "Dedicated"),
		}),
	},
	"PodTopologySpread": {"defaultConstraints": each(spread), "defaultingType": oneOf("System", "List")},
	"VolumeBinding":     {"bindTimeoutSeconds": number, "shape": shape},
}

var shape = each(object(fields{"utilization": number, "score": number}))

func pluginConfig(r *Redactor, v any) any {
	all, ok := v.([]any)
	if !ok {
		return nil
	}
	out := []any{}
	for _, entry := range all {
		from, _ := entry.(map[string]any)
		name, _ := from["name"].(string)
		known, ok := arguments[name]
		if !ok {
			continue
		}
		args := object(known).apply(r, from["args"])
		if args == nil {
			continue
		}
		// The plugin's name implies their kind.
		out = append(out, map[string]any{"name": name, "args": args})
	}
	return out
}
