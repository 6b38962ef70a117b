// Package conversion converts the objects of kueue.x-k8s.io between v1beta1 and v1beta2, as the
// conversion webhook of Kueue does. The other kinds of the group have the same fields in both versions.
//
// It is not a server: the API server of the simulator calls Transport in place of the webhook that the
// definitions name. It may import Kubernetes' API machinery only.
package conversion

import (
	"fmt"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// Group and the versions that Convert knows.
const (
	Group   = "kueue.x-k8s.io"
	V1beta1 = Group + "/v1beta1"
	V1beta2 = Group + "/v1beta2"
)

// Convert returns a copy of an object in the given API version. What one version does not have is lost,
// as in Kueue.
func Convert(in *unstructured.Unstructured, to string) (*unstructured.Unstructured, error) {
	from := in.GetAPIVersion()
	out := in.DeepCopy()
	out.SetAPIVersion(to)
	if from == to {
		return out, nil
	}
	rules, known := kinds[in.GetKind()]
	if !known {
		return nil, fmt.Errorf("objects of kind %q have no conversion", in.GetKind())
	}
	switch {
	case from == V1beta1 && to == V1beta2:
		rules.up(object(out.Object))
	case from == V1beta2 && to == V1beta1:
		rules.down(object(out.Object))
	default:
		return nil, fmt.Errorf("no conversion from %s to %s", from, to)
	}
	return out, nil
}

var kinds = map[string]struct{ up, down func(object) }{
	"ClusterQueue": {clusterQueueUp, clusterQueueDown},
	"LocalQueue":   {localQueueUp, localQueueDown},
	"Cohort":       {same, same},
	"Workload":     {workloadUp, workloadDown},
}

// object is a JSON object. The methods accept nil, and ignore what is not of the expected type: the
// schemas refuse that.
type object map[string]any

func same(object) {}

// at returns the object in a field; nil if there is none.
func (o object) at(fields ...string) object {
	for _, f := range fields {
		inner, _ := o[f].(map[string]any)
		o = inner
	}
	return o
}

// each calls do for the objects in the list of a field.
func (o object) each(field string, do func(object)) {
	list, _ := o[field].([]any)
	for _, item := range list {
		if inner, ok := item.(map[string]any); ok {
			do(inner)
		}
	}
}

func (o object) text(field string) string {
	s, _ := o[field].(string)
	return s
}

func (o object) rename(from, to string) {
	if v, ok := o[from]; ok {
		delete(o, from)
		o[to] = v
	}
}

// replace renames the values of a field.
func (o object) replace(field string, values ...string) {
	for _, old := range values[1:] {
		if o.text(field) == old {
			o[field] = values[0]
		}
	}
}

func clusterQueueUp(o object) {
	spec := o.at("spec")
	spec.rename("cohort", "cohortName")
	spec.at("flavorFungibility").replace("whenCanBorrow", "MayStopSearch", "Borrow")
	spec.at("flavorFungibility").replace("whenCanPreempt", "MayStopSearch", "Preempt")
	if names, ok := spec["admissionChecks"].([]any); ok && len(names) > 0 {
		var checks []any
		for _, name := range names {
			checks = append(checks, map[string]any{"name": name})
		}
		spec["admissionChecksStrategy"] = map[string]any{"admissionChecks": checks}
	}
	delete(spec, "admissionChecks")
	delete(o.at("status"), "pendingWorkloadsStatus")
}

func clusterQueueDown(o object) {
	spec := o.at("spec")
	spec.rename("cohortName", "cohort")
	spec.at("flavorFungibility").replace("whenCanBorrow", "Borrow", "MayStopSearch")
	spec.at("flavorFungibility").replace("whenCanPreempt", "Preempt", "MayStopSearch")
	delete(spec, "concurrentAdmissionPolicy")
}

func localQueueUp(o object) {
	o.at("status").rename("flavorUsage", "flavorsUsage")
	delete(o.at("status"), "flavors")
}

func localQueueDown(o object) { o.at("status").rename("flavorsUsage", "flavorUsage") }

const (
	sourceWorkloadClass = Group + "/workloadpriorityclass"
	sourcePodClass      = "scheduling.k8s.io/priorityclass"
)

func workloadUp(o object) {
	spec, status := o.at("spec"), o.at("status")
	name := spec.text("priorityClassName")
	switch source := spec.text("priorityClassSource"); {
	case name == "":
	case source == sourceWorkloadClass:
		spec["priorityClassRef"] = map[string]any{"group": Group, "kind": "WorkloadPriorityClass", "name": name}
	case source == sourcePodClass:
		spec["priorityClassRef"] = map[string]any{"group": "scheduling.k8s.io", "kind": "PriorityClass", "name": name}
	}
	delete(spec, "priorityClassName")
	delete(spec, "priorityClassSource")
	status.rename("accumulatedPastExexcutionTimeSeconds", "accumulatedPastExecutionTimeSeconds")
	status.at("admission").each("podSetAssignments", func(assignment object) {
		if topology := assignment.at("topologyAssignment"); topology != nil {
			topology["slices"] = slicesOf(topology)
			delete(topology, "domains")
		}
	})
}

func workloadDown(o object) {
	spec, status := o.at("spec"), o.at("status")
	if ref := spec.at("priorityClassRef"); ref != nil {
		spec["priorityClassName"] = ref.text("name")
		spec["priorityClassSource"] = sourcePodClass
		if ref.text("kind") == "WorkloadPriorityClass" {
			spec["priorityClassSource"] = sourceWorkloadClass
		}
		delete(spec, "priorityClassRef")
	}
	delete(spec, "preemptionGates")
	delete(status, "preemptionGates")
	spec.each("podSets", func(set object) { delete(set.at("topologyRequest"), "podsetSliceRequiredTopologyConstraints") })
	status.rename("accumulatedPastExecutionTimeSeconds", "accumulatedPastExexcutionTimeSeconds")
	status.at("admission").each("podSetAssignments", func(assignment object) {
		if topology := assignment.at("topologyAssignment"); topology != nil {
			topology["domains"] = domainsOf(topology)
			delete(topology, "slices")
		}
	})
}

// slicesOf returns the domains of v1beta1 as one slice of v1beta2.
func slicesOf(topology object) []any {
	var values [][]string
	var counts []any
	topology.each("domains", func(domain object) {
		list, _ := domain["values"].([]any)
		for i, v := range list {
			if i == len(values) {
				values = append(values, nil)
			}
			text, _ := v.(string)
			values[i] = append(values[i], text)
		}
		counts = append(counts, domain["count"])
	})
	if len(counts) == 0 {
		return []any{}
	}
	levels := []any{}
	for _, level := range values {
		levels = append(levels, compressed(level))
	}
	return []any{map[string]any{"domainCount": int64(len(counts)), "valuesPerLevel": levels, "podCounts": countsOf(counts)}}
}

// compressed states the common prefix and suffix of values once.
func compressed(values []string) map[string]any {
	first := values[0]
	prefix, suffix := first, first
	equal := true
	for _, v := range values[1:] {
		equal = equal && v == first
		for !strings.HasPrefix(v, prefix) {
			prefix = prefix[:len(prefix)-1]
		}
		for !strings.HasSuffix(v, suffix) {
			suffix = suffix[1:]
		}
	}
	if equal {
		return map[string]any{"universal": first}
	}
	shortest := len(first)
	for _, v := range values {
		shortest = min(shortest, len(v))
	}
	if over := len(prefix) + len(suffix) - shortest; over > 0 {
		suffix = suffix[min(over, len(suffix)):]
	}
	roots := []any{}
	for _, v := range values {
		roots = append(roots, v[len(prefix):len(v)-len(suffix)])
	}
	individual := map[string]any{"roots": roots}
	if prefix != "" {
		individual["prefix"] = prefix
	}
	if suffix != "" {
		individual["suffix"] = suffix
	}
	return map[string]any{"individual": individual}
}

func countsOf(counts []any) map[string]any {
	for _, c := range counts {
		if c != counts[0] {
			return map[string]any{"individual": counts}
		}
	}
	return map[string]any{"universal": counts[0]}
}

// domainsOf is the inverse of slicesOf.
func domainsOf(topology object) []any {
	domains := []any{}
	topology.each("slices", func(slice object) {
		count, _ := slice["domainCount"].(int64)
		counts := slice.at("podCounts")
		each, _ := counts["individual"].([]any)
		for i := range int(count) {
			domain := map[string]any{"count": counts["universal"]}
			if i < len(each) {
				domain["count"] = each[i]
			}
			values := []any{}
			slice.each("valuesPerLevel", func(level object) {
				individual := level.at("individual")
				roots, _ := individual["roots"].([]any)
				if i >= len(roots) {
					values = append(values, level["universal"])
					return
				}
				root, _ := roots[i].(string)
				values = append(values, individual.text("prefix")+root+individual.text("suffix"))
			})
			domain["values"] = values
			domains = append(domains, domain)
		}
	})
	return domains
}
