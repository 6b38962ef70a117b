package redact

import "regexp"

var zoneLike = regexp.MustCompile(`^node-[0-9]{1,4}$`)

// zoneNames keeps the names that the scheduler reads.
var zoneNames = text(func(r *Redactor, s string) string {
	if zoneLike.MatchString(s) {
		return s
	}
	return r.word("zone", s)
})

// topologySettings are the attributes of a NodeResourceTopology that the scheduler reads, with
// their values. Others go: fingerprints are made from the names of pods.
var topologySettings = map[string]rule{
	"topologyManagerPolicy":       oneOf("none", "best-effort", "restricted", "single-numa-node"),
	"topologyManagerScope":        oneOf("container", "pod"),
	"topologyManagerMaxNUMANodes": text(func(_ *Redactor, s string) string { return shortInteger.FindString(s) }),
}

func topologySetting(r *Redactor, v any) any {
	from, _ := v.(map[string]any)
	name, _ := from["name"].(string)
	known, ok := topologySettings[name]
	if !ok {
		return nil
	}
	value := known.apply(r, from["value"])
	if value == nil {
		return nil
	}
	return map[string]any{"name": name, "value": value}
}

var nodeTopology = kind{name: nodeName, fields: fields{
	"topologyPolicies": each(oneOf("None", "BestEffort", "Restricted", "BestEffortContainerLevel", "BestEffortPodLevel", "RestrictedContainerLevel",
		"RestrictedPodLevel", "SingleNUMANodeContainerLevel", "SingleNUMANodePodLevel")),
	"attributes": each(topologySetting),
	"zones": each(object(fields{
		"name": zoneNames, "type": words("type", "Node"), "parent": zoneNames,
		"costs": each(object(fields{"name": zoneNames, "value": number})),
		"resources": each(object(fields{
			"name": text(resourceName), "capacity": amount, "allocatable": amount, "available": amount,
		})),
	})),
}}
