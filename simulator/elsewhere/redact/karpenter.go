package redact

import "regexp"

const karpenterGroup = "karpenter.sh"

// karpenterLabels are the labels, annotations and taints that Karpenter reads or writes, without the domain.
var karpenterLabels = []string{"nodepool", "capacity-type", "initialized", "registered", "unregistered", "do-not-disrupt", "disrupted"}

var (
	capacityTypes = oneOf("on-demand", "spot", "reserved")
	nodePools     = words("nodepool")
	nodesOrShare  = matching(`^[0-9]{1,4}%?$`)
	// A duration of Karpenter's may be Never.
	durations = matching(`^(Never|([0-9]+(s|m|h))+)$`)
	cron      = matching(`^[0-9A-Z@a-z*,/ -]{1,100}$`)
)

// matching shows a text that matches a pattern, which must be too narrow to hold a name.
func matching(pattern string) rule {
	form := regexp.MustCompile(pattern)
	return text(func(_ *Redactor, s string) string {
		if form.MatchString(s) {
			return s
		}
		return ""
	})
}

// karpenterLabel returns the value of a label of Karpenter's, and whether the key is one whose values are names or words.
func (r *Redactor) karpenterLabel(key, value string) (string, bool) {
	var of rule
	switch key {
	case karpenterGroup + "/nodepool":
		of = nodePools
	case karpenterGroup + "/capacity-type":
		of = capacityTypes
	default:
		return "", false
	}
	shown, _ := of(r, value).(string)
	return shown, true
}

// poolRequirement is a requirement that may say how many values are to be left.
func poolRequirement(r *Redactor, v any) any {
	shown, ok := onLabels(r, v).(map[string]any)
	if !ok {
		return nil
	}
	if least := number(r, v.(map[string]any)["minValues"]); least != nil {
		shown["minValues"] = least
	}
	return shown
}

// nodeClass is the same for every NodePool: a class configures a cloud.
func nodeClass(*Redactor, any) any {
	return map[string]any{"group": "karpenter.kwok.sh", "kind": "KWOKNodeClass", "name": "default"}
}

// karpenterKinds leave out NodeClaims, which say nothing that their nodes do not say, but for the cloud's names of machines.
var karpenterKinds = map[string]kind{"NodePool": {name: nodePools, fields: fields{"spec": object(fields{
	"weight": number, "replicas": number, "limits": amounts(resourceName),
	"disruption": object(fields{
		"consolidateAfter": durations, "consolidationPolicy": oneOf("WhenEmpty", "WhenEmptyOrUnderutilized", "Balanced"),
		"budgets": each(object(fields{"nodes": nodesOrShare, "schedule": cron, "duration": durations, "reasons": each(oneOf("Empty", "Underutilized", "Drifted"))})),
	}),
	"template": object(fields{
		"metadata": object(fields{"labels": labels}),
		"spec": object(fields{
			"requirements": each(poolRequirement), "taints": each(taint), "startupTaints": each(taint),
			"expireAfter": durations, "terminationGracePeriod": durations, "nodeClassRef": nodeClass,
		}),
	}),
})}}}
