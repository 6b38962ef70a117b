package redact

import (
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	k8slabels "k8s.io/apimachinery/pkg/labels"
	utiljson "k8s.io/apimachinery/pkg/util/json"

	"kube-scheduler-simulator/scheduler/result"
	"kube-scheduler-simulator/simulator/cluster/objects"
)

// Cycle returns a redacted copy of a decision. The rules are about its public form, so they list
// what stays: verdicts, scores, amounts, times, the names of plugins, and the reasons that
// Kubernetes' own plugins give. It replaces other reasons, since a plugin may say anything. It
// leaves out what plugins attached, what extenders were asked, and the texts of errors.
func (r *Redactor) Cycle(c *result.Cycle) (*result.Cycle, error) {
	redacted := &result.Cycle{}
	return redacted, r.decision(decisionFields, c, redacted)
}

// Summary returns a redacted copy of a decision in short.
func (r *Redactor) Summary(s result.Summary) (result.Summary, error) {
	redacted := result.Summary{}
	return redacted, r.decision(summaryFields, s, &redacted)
}

func (r *Redactor) decision(known fields, from, to any) error {
	data, err := json.Marshal(from)
	if err != nil {
		return fmt.Errorf("reading a decision: %w", err)
	}
	var public map[string]any
	if err := utiljson.Unmarshal(data, &public); err != nil { // whole numbers stay whole
		return fmt.Errorf("reading a decision: %w", err)
	}
	if data, err = json.Marshal(object(known)(r, public)); err != nil {
		return fmt.Errorf("redacting a decision: %w", err)
	}
	if err := json.Unmarshal(data, to); err != nil {
		return fmt.Errorf("redacting a decision: %w", err)
	}
	return nil
}

var (
	podRef   = object(fields{"namespace": namespace, "name": podName, "uid": uids})
	outcomes = oneOf(string(result.Scheduled), string(result.Unschedulable), string(result.Waiting), string(result.Error))
	statuses = oneOf("Success", "Error", "Unschedulable", "UnschedulableAndUnresolvable", "Wait", "Skip", "Pending")
	points   = oneOf("preEnqueue", "queueSort", "preFilter", "filter", "postFilter", "preScore", "score", "reserve", "permit", "waitOnPermit",
		"preBindPreFlight", "preBind", "bind", "postBind", "unreserve", "podGroupPostFilter", "placementGenerate", "placementScore")
	// ownWords are the records' own: where a requirement comes from, the rule of a term, a
	// strategy, a role.
	ownWords = oneOf("nodeSelector", "nodeAffinity", "addedAffinity", "volume", "storageClass", "claim", "nodeName", "pod", "default", "system",
		"affinity", "antiAffinity", "existingAntiAffinity", result.Preferred, result.ExistingPreferred, result.ExistingRequired,
		result.LeastAllocated, result.MostAllocated, result.RequestedToCapacityRatio, result.BalancedAllocation,
		"container", "init container", "sidecar container")
	normalizations = oneOf(string(result.NotNormalized), string(result.HighestIs100), string(result.LowestIs100), string(result.RangeTo100),
		string(result.SpreadTo100), string(result.OwnNormalization))
	rules = oneOf(string(result.FewestPDBViolations), string(result.LowestHighestPriority), string(result.LowestSumOfPriorities),
		string(result.FewestVictims), string(result.LatestEarliestStartTime), string(result.FirstFound))
	policies        = oneOf("Honor", "Ignore")
	ineligibilities = oneOf(string(result.NeverPreempts), string(result.VictimsTerminating), string(result.IneligibleOtherwise))
	noVictims       = oneOf(string(result.NoPods), string(result.NobodyLower), string(result.NobodyMay), string(result.NotEnough), string(result.DryRunFailed))
	// Only programs write code, such as the name of an event.
	code      = text(func(_ *Redactor, s string) string { return codeLike.FindString(s) })
	codeLike  = regexp.MustCompile(`^[A-Z][A-Za-z]{0,60}(/[A-Z][A-Za-z]{0,60})?$`)
	letters   = text(func(_ *Redactor, s string) string { return stateLike.FindString(s) })
	stateLike = regexp.MustCompile(`^[PRSNE]+$`)
	zones     = text((*Redactor).value)
	numbers   = eachOrNothing(number)
	booleans  = eachOrNothing(boolean)
	reasons   = each(reason)
)

// decider is for what may be a plugin or an extender, whose name is its address.
var decider = text(func(r *Redactor, s string) string {
	if strings.Contains(s, "/") {
		return r.word(extenderPrefix, s)
	}
	return s
})

const extenderPrefix = "extender"

var extenderName = words(extenderPrefix)

// eachOrNothing is each for lists whose items are found by their index.
func eachOrNothing(item rule) rule {
	return func(r *Redactor, v any) any {
		from, ok := v.([]any)
		if !ok {
			return nil
		}
		out := make([]any, len(from))
		for i, value := range from {
			out[i] = item.apply(r, value)
		}
		return out
	}
}

// workloads are the kinds of owners that are no secret.
var workloads = oneOf("Deployment", "ReplicaSet", "ReplicationController", "StatefulSet", "DaemonSet", "Job", "CronJob", "Workload", "PodGroup")

// ownerRef drops an owner of another kind.
func ownerRef(r *Redactor, v any) any {
	out, ok := object(fields{"kind": workloads, "name": appName})(r, v).(map[string]any)
	if !ok || out["kind"] == nil {
		return nil
	}
	return out
}

func (r *Redactor) selectorText(s string) string {
	parsed, err := metav1.ParseToLabelSelector(s)
	if err != nil {
		return r.word("selector", s)
	}
	out, err := metav1.LabelSelectorAsSelector(r.labelSelector(parsed))
	if err != nil || out.Empty() {
		return r.word("selector", s)
	}
	return out.String()
}

func (r *Redactor) labelSelector(from *metav1.LabelSelector) *metav1.LabelSelector {
	to := &metav1.LabelSelector{MatchLabels: k8slabels.Set{}}
	for key, value := range from.MatchLabels {
		to.MatchLabels[r.labelKey(key)] = r.labelValue(key, value)
	}
	for _, e := range from.MatchExpressions {
		redacted := metav1.LabelSelectorRequirement{Key: r.labelKey(e.Key), Operator: e.Operator}
		for _, value := range e.Values {
			redacted.Values = append(redacted.Values, r.labelValue(e.Key, value))
		}
		to.MatchExpressions = append(to.MatchExpressions, redacted)
	}
	return to
}

// ownReasons are those that Kubernetes' plugins give as they are; see the constants ErrReason in
// k8s.io/kubernetes/pkg/scheduler.
var ownReasons = []string{
	"Too many pods",
	"No preemption victims found for incoming pod",
	"Preemption is not helpful for scheduling",
	"node not found",
	"node(s) did not have enough free storage",
	"node(s) didn't find available persistent volumes to bind",
	"node(s) didn't have free ports for the requested pod ports",
	"node(s) didn't match PersistentVolume's node affinity",
	"node(s) didn't match Pod's node affinity/selector",
	"node(s) didn't match pod affinity rules",
	"node(s) didn't match pod anti-affinity rules",
	"node(s) didn't match pod topology spread constraints",
	"node(s) didn't match pod topology spread constraints (missing required label)",
	"node(s) didn't match the requested node name",
	"node(s) didn't satisfy existing pods anti-affinity rules",
	"node(s) exceed max volume count",
	"node(s) had no available disk",
	"node(s) had no available volume zone",
	"node(s) had unknown conditions",
	"node(s) had untolerated taint(s)",
	"node(s) unavailable due to PersistentVolumeClaim with ReadWriteOncePod access mode already in-use by another pod",
	"node(s) unavailable due to one or more pvc(s) bound to non-existent pv(s)",
	"node(s) were unschedulable",
	"pod has unbound immediate PersistentVolumeClaims",
	"cannot allocate all claims",
	"waiting for minCount pods from a gang to appear in scheduling queue",
	"waiting for minCount pods from a gang to be scheduled",
}

const insufficient = "Insufficient "

var reason = text(func(r *Redactor, s string) string {
	if resource, is := strings.CutPrefix(s, insufficient); is {
		return insufficient + resourceName(r, resource)
	}
	if slices.Contains(ownReasons, s) {
		return s
	}
	return r.word("reason", s)
})

var pluginResult = object(fields{
	"plugin": decider, "status": statuses, "reasons": reasons, "durationSeconds": number, "nodes": each(nodeName),
	"nominatedNode": nodeName, "timeoutSeconds": number, "parallel": boolean,
})

var pluginResults = each(pluginResult)

var summaryFields = fields{
	"pod": podRef, "hypothetical": boolean, "owner": ownerRef, "attempt": number, "profile": schedules, "revision": number,
	"startTime": instant, "updates": number, "durationSeconds": number, "outcome": outcomes, "selectedNode": nodeName, "nominatedNode": nodeName,
	"refusal": object(fields{
		"extensionPoint": points, "plugin": decider, "reason": reason, "nodes": number, "others": number,
		"further": each(object(fields{"plugin": decider, "reason": reason, "nodes": number})),
	}),
	"nodes": object(fields{"total": number, "evaluated": number, "feasible": number, "wanted": number}),
}

var cycleTaint = fields{"key": labelKeys, "value": text((*Redactor).value), "effect": oneOf("NoSchedule", "PreferNoSchedule", "NoExecute")}

// labelTerm is for a requirement on a label or on the name of a node, with the node's value.
func labelTerm(r *Redactor, v any) any {
	from, ok := v.(map[string]any)
	if !ok {
		return nil
	}
	key, _ := from["key"].(string)
	value := text(func(r *Redactor, s string) string {
		if key == "metadata.name" {
			return r.word("node", s)
		}
		return r.labelValue(key, s)
	})
	return object(fields{
		"source": ownWords, "volume": volume, "claim": claimName, "term": number, "values": each(value), "actual": value,
		"key": text(func(r *Redactor, s string) string {
			if s == "metadata.name" {
				return s
			}
			return r.labelKey(s)
		}),
		"operator": oneOf("In", "NotIn", "Exists", "DoesNotExist", "Gt", "Lt"),
	})(r, v)
}

// inDomain is for an object about a topology, whose domain is a value of its key.
func inDomain(known fields) rule {
	return func(r *Redactor, v any) any {
		from, ok := v.(map[string]any)
		if !ok {
			return nil
		}
		key, _ := from["topologyKey"].(string)
		value := text(func(r *Redactor, s string) string { return r.labelValue(key, s) })
		domain := value
		if _, several := from["domain"].([]any); several {
			domain = eachOrNothing(value)
		}
		return object(known.with(fields{
			"topologyKey": labelKeys, "domain": domain, "selector": selectors,
			"match":  object(fields{"pod": podRef, "node": nodeName, "domain": value, "all": boolean}),
			"fewest": each(object(fields{"name": value, "nodes": each(nodeName), "nodeCount": number})),
		}))(r, v)
	}
}

var selectors = text((*Redactor).selectorText)

var allocatedDevice = object(fields{"request": deviceNames, "driver": drivers, "pool": words("pool"), "device": deviceNames})

var comparison = object(fields{
	"node": nodeName, "plugin": decider,
	"resources": each(object(fields{"name": text(resourceName), "requested": number, "inUse": number, "allocatable": number})),
	"taint":     object(cycleTaint),
	"tolerated": each(object(cycleTaint.with(fields{"by": toleration}))),
	"terms":     each(labelTerm),
	"podTerms": each(inDomain(fields{
		"rule": ownWords, "selectsNone": boolean, "namespaces": each(namespace), "namespaceCount": number, "namespaceSelector": selectors,
		"pod": podRef, "podNode": nodeName, "pods": number, "first": boolean, "terms": number, "noneMatches": boolean,
	})),
	"spread": each(inDomain(fields{
		"matching": number, "minimum": number, "maximum": number, "here": number, "self": number, "maxSkew": number, "domains": number, "minDomains": number,
		"fewestCount": number, "nodeAffinityPolicy": policies, "nodeTaintsPolicy": policies,
	})),
	"ports": each(object(fields{"protocol": oneOf("TCP", "UDP", "SCTP"), "hostIP": addresses, "port": number})),
	"claims": each(object(fields{
		"claim": claimName, "storageClass": classes, "requested": number, "provisionable": boolean, "largest": number, "volume": volume, "bound": boolean, "missing": boolean,
	})),
	"devices": each(object(fields{
		"resource": text(resourceName), "claim": claimName, "request": deviceNames, "deviceClass": classes, "count": number, "matching": number, "matchingInUse": number, "blocked": boolean,
		"drivers": each(object(fields{"driver": drivers, "onNode": number, "inUse": number})), "allocated": each(allocatedDevice),
	})),
	"alignment": object(fields{
		"role": ownWords, "container": words("container"), "zonesDropped": number,
		"zones": each(object(fields{"zone": zones, "short": each(object(fields{"resource": text(resourceName), "requested": number, "available": number, "absent": boolean}))})),
	}),
	"aligned":     each(object(fields{"role": ownWords, "container": words("container"), "zone": zones})),
	"limits":      each(object(fields{"driver": drivers, "inUse": number, "requested": number, "limit": number, "missing": boolean})),
	"volumes":     each(object(fields{"volume": volume, "claim": claimName, "inUse": boolean, "pod": podRef})),
	"features":    each(object(fields{"name": code, "declared": boolean})),
	"withoutPods": oneOf(string(result.PassesWithoutPods), string(result.RejectsWithoutPods)),
})

var passes = object(fields{
	"nodes": each(nodeName), "plugins": each(decider), "comparisons": each(comparison),
	"resources": each(object(fields{"name": text(resourceName), "requested": number, "inUse": numbers, "allocatable": numbers})),
})

var filter = object(fields{
	"plugins": each(decider), "nodes": each(nodeName), "states": each(letters), "durationSeconds": numbers,
	"reasons":     each(object(fields{"node": nodeName, "plugin": decider, "reasons": reasons, "status": statuses})),
	"comparisons": each(comparison), "passes": passes,
	"nominated": each(object(fields{"node": nodeName, "pods": each(podRef), "podCount": number, "rejected": boolean})),
})

var utilizationShape = each(object(fields{"utilization": number, "score": number}))

var scoreFacts = object(fields{
	"plugin": decider,
	"resources": object(fields{
		"strategy": ownWords, "shape": utilizationShape,
		"resources": each(object(fields{"name": text(resourceName), "weight": number, "requested": number, "inUse": numbers, "allocatable": numbers})),
	}),
	"images": object(fields{"containers": number, "clusterNodes": number, "images": each(object(fields{"name": images, "times": number, "size": numbers, "nodes": numbers}))}),
	"preferences": object(fields{"terms": each(object(fields{
		"source": ownWords, "weight": number, "met": booleans,
		"requirements": each(labelTerm),
	}))}),
	"taints":  object(fields{"taints": each(object(cycleTaint.with(fields{"on": booleans})))}),
	"spread":  object(fields{"source": ownWords, "ignored": booleans, "lowest": number, "highest": number, "constraints": each(inDomain(fields{"maxSkew": number, "domains": number, "matching": numbers}))}),
	"volumes": object(fields{"shape": utilizationShape, "classes": each(object(fields{"storageClass": classes, "requested": numbers, "capacity": numbers}))}),
	"devices": object(fields{"requests": each(object(fields{"claim": claimName, "request": deviceNames, "alternatives": each(deviceNames), "chosen": numbers}))}),
	"podTerms": object(fields{
		"hardWeight": number, "domains": each(inDomain(fields{"sum": numbers})),
		"terms": each(inDomain(fields{"rule": ownWords, "weight": number, "pods": numbers})),
	}),
})

var score = object(fields{
	"plugins": each(object(fields{"name": decider, "weight": number, "normalization": normalizations})),
	"skipped": each(decider), "nodes": each(nodeName), "tied": each(nodeName), "totals": numbers, "durationSeconds": numbers,
	"raw": each(numbers), "normalized": each(numbers), "weighted": each(numbers),
	"extenders": each(object(fields{"name": extenderName, "weight": number})), "answered": each(numbers), "counted": each(numbers),
	"facts": object(fields{"nodes": each(nodeName), "plugins": each(scoreFacts)}),
})

var (
	victim = object(fields{
		"pod": podRef, "priority": number, "startTime": instant, "node": nodeName, "podGroup": appName,
	})
	evictions = object(fields{
		"victims": number, "deleted": number, "released": number, "terminating": number, "failed": number, "done": boolean, "durationSeconds": number,
		"failures": each(object(fields{"pod": podRef})),
	})
	preemption = object(fields{
		"candidates": each(object(fields{
			"node": nodeName, "victims": each(victim), "victimsDropped": number, "reprieved": each(victim), "reprievedDropped": number, "pdbViolations": number,
			"changedBy": decider, "removedBy": decider, "surplus": boolean,
		})),
		"candidatesDropped": number, "ineligible": ineligibilities, "chosen": nodeName, "rule": rules, "evictions": evictions,
		"unhelpful": each(object(fields{"why": noVictims, "status": statuses, "plugin": decider, "reasons": reasons, "nodes": each(nodeName)})),
	})
	podGroup = object(fields{
		"namespace": namespace, "name": appName, "workload": appName, "template": appName, "minCount": number, "topologyKey": labelKeys,
		"members": each(podRef), "memberCount": number, "alreadyScheduled": number, "outcome": outcomes,
		"placements": each(object(fields{
			"name": words("placement"), "nodes": number, "tried": number, "assigned": number, "status": statuses, "plugin": decider, "reasons": reasons,
			"blockedBy": each(object(fields{"plugin": decider, "members": number, "reasons": reasons})),
			"scores":    byName(func(_ *Redactor, plugin string) string { return plugin }, number), "total": number,
		})),
		"placementCount": number, "placement": number, "chosen": number, "postFilter": pluginResults,
		"preemption": object(fields{
			"helpful": boolean, "victims": each(victim), "victimCount": number, "reprieved": each(victim), "reprievedCount": number, "evictions": evictions,
		}),
	})
	hint = object(fields{"node": nodeName, "used": boolean})
)

// requeue is for the event that brought a pod back. The name is of the event's object.
func requeue(r *Redactor, v any) any {
	from, ok := v.(map[string]any)
	if !ok {
		return nil
	}
	name := appName
	switch from["kind"] {
	case objects.Pod.Kind:
		name = podName
	case objects.Node.Kind:
		name = nodeName
	}
	return object(fields{"time": instant, "event": code, "kind": code, "namespace": namespace, "name": name, "plugin": decider})(r, v)
}

var decisionFields = summaryFields.with(fields{
	"queue": object(fields{
		"addedTime": instant, "initialAttemptTime": instant, "attempts": number, "rejectedBy": each(decider), "backoffUntil": instant, "flushed": boolean,
		"requeuedBy": requeue,
	}),
	"hint": hint, "nomination": hint, "podGroup": podGroup,
	"extensionPoints": each(object(fields{"name": points, "durationSeconds": number})),
	"preEnqueue":      pluginResults, "preFilter": pluginResults,
	"preFilterExtensions": each(object(fields{"plugin": decider, "point": points, "added": number, "removed": number, "failed": number, "durationSeconds": number})),
	"filter":              filter, "postFilter": pluginResults, "preemption": preemption, "preScore": pluginResults, "score": score,
	"reserve": pluginResults, "permit": pluginResults,
	"permitWait":       object(fields{"plugins": each(decider), "durationSeconds": number, "status": statuses, "plugin": decider, "timedOut": boolean, "reasons": reasons}),
	"preBindPreFlight": pluginResults, "preBind": pluginResults, "bind": pluginResults, "postBind": pluginResults, "unreserve": pluginResults,
	"claims":       each(object(fields{"name": words("claim"), "claim": claimName, "devices": each(allocatedDevice)})),
	"factsDropped": number,
	"extenders": each(object(fields{
		"plugin": extenderName, "verb": oneOf(string(result.ExtenderFilter), string(result.ExtenderPrioritize), string(result.ExtenderPreempt), string(result.ExtenderBind)),
		"status": statuses, "reasons": reasons, "durationSeconds": number, "ignored": boolean, "nominated": boolean, "nodes": number, "wholeNodes": boolean, "cut": boolean,
		"rejected": each(object(fields{"node": nodeName, "reason": reason, "unresolvable": boolean})),
	})),
	"panics": each(object(fields{"plugin": decider, "call": code, "count": number})),
})
