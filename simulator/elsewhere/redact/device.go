package redact

import (
	"regexp"
	"strings"
)

// deviceNames is for devices, pools, requests and counters.
var deviceNames = text((*Redactor).device)

// device keeps the slash between a request and its alternative.
func (r *Redactor) device(name string) string {
	if request, alternative, ok := strings.Cut(name, "/"); ok {
		return r.word("device", request) + "/" + r.word("device", alternative)
	}
	return r.word("device", name)
}

// qualified is for a device's attribute or capacity: an identifier that may have a domain before
// it.
func (r *Redactor) qualified(name string) string {
	domain, id, ok := strings.Cut(name, "/")
	switch {
	case !ok:
		return r.identifier(name)
	case domain == "resource.kubernetes.io":
		return r.labelKeyOrIdentifier(domain, id)
	}
	return r.driver(domain) + "/" + r.identifier(id)
}

func (r *Redactor) labelKeyOrIdentifier(domain, id string) string {
	if id == "pcieRoot" || id == "pciBusID" || id == "numaNode" {
		return domain + "/" + id
	}
	return domain + "/" + r.identifier(id)
}

// identifier is for an identifier in CEL.
func (r *Redactor) identifier(id string) string {
	if celWords[id] {
		return id
	}
	return "a_" + r.bare(id)
}

var (
	versionLike = regexp.MustCompile(`^v?[0-9]+(\.[0-9]+){1,2}$`)
	amountLike  = regexp.MustCompile(`^[0-9]+(\.[0-9]+)?(m|k|M|G|T|P|E|Ki|Mi|Gi|Ti|Pi|Ei)?$`)
	domainLike  = regexp.MustCompile(`^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)+$`)
)

// literal is for a string in a device's attributes, or in an expression on them, which may be any
// sort of word.
func (r *Redactor) literal(s string) string {
	switch {
	case versionLike.MatchString(s), amountLike.MatchString(s) && len(s) < 12:
		return s
	case s == "resource.kubernetes.io":
		return s
	case domainLike.MatchString(s):
		return r.driver(s)
	case strings.Count(s, "/") == 1 && domainLike.MatchString(s[:strings.Index(s, "/")]):
		return r.qualified(s)
	}
	return r.value(s)
}

var version = text(func(r *Redactor, s string) string {
	if versionLike.MatchString(s) {
		return s
	}
	return "0.0.0"
})

var attribute = object(fields{
	"int": number, "bool": boolean, "string": text((*Redactor).literal), "version": version,
	"ints": each(number), "bools": each(boolean), "strings": each(text((*Redactor).literal)), "versions": each(version),
})

var requestPolicy = object(fields{
	"default": amount, "validValues": each(amount), "validRange": object(fields{"min": amount, "max": amount, "step": amount}),
})

var counters = byName((*Redactor).device, object(fields{"value": amount}))

var device = object(fields{
	"name":       deviceNames,
	"attributes": byName((*Redactor).qualified, attribute),
	"capacity":   byName((*Redactor).qualified, object(fields{"value": amount, "requestPolicy": requestPolicy})),
	"consumesCounters": each(object(fields{
		"counterSet": deviceNames, "counters": counters, "compatibilityGroups": each(deviceNames),
	})),
	"nodeName": nodeName, "nodeSelector": nodeSelector, "allNodes": boolean, "taints": each(taint),
	"bindsToNode": boolean, "bindingConditions": each(labelKeys), "bindingFailureConditions": each(labelKeys),
	"allowMultipleAllocations": boolean,
	"nodeAllocatableResources": byName(resourceName, object(fields{
		"mapping":  object(fields{"capacityKey": text((*Redactor).qualified), "capacityMultiplier": amount, "deviceMultiplier": amount}),
		"overhead": object(fields{"perPod": amount, "perContainer": amount}),
	})),
})

var expressions = text((*Redactor).expression)

var deviceSelectors = each(object(fields{"cel": object(fields{"expression": expressions})}))

var deviceRequest = fields{
	"deviceClassName": classes, "selectors": deviceSelectors, "allocationMode": oneOf("ExactCount", "All"), "count": number,
	"adminAccess": boolean, "tolerations": each(toleration),
	"capacity":          object(fields{"requests": amounts((*Redactor).qualified)}),
	"derivedAttributes": each(object(fields{"name": text((*Redactor).qualified), "expression": expressions})),
}

var resourceClaimSpec = object(fields{"devices": object(fields{
	"requests": each(object(fields{
		"name": deviceNames, "exactly": object(deviceRequest), "firstAvailable": each(object(deviceRequest.with(fields{"name": deviceNames}))),
	})),
	"constraints": each(object(fields{
		"requests": each(deviceNames), "matchAttribute": text((*Redactor).qualified), "distinctAttribute": text((*Redactor).qualified),
	})),
})})

var allocation = object(fields{
	"devices": object(fields{"results": each(object(fields{
		"request": deviceNames, "driver": drivers, "pool": poolNames, "device": deviceNames, "adminAccess": boolean,
		"tolerations": each(toleration), "bindingConditions": each(labelKeys), "bindingFailureConditions": each(labelKeys),
		"shareID": uids, "consumedCapacity": amounts((*Redactor).qualified), "skipNodeOperations": boolean,
	}))}),
	"nodeSelector": nodeSelector, "allocationTimestamp": instant,
})

// poolNames are often those of nodes.
var poolNames = words("pool")

func consumer(r *Redactor, v any) any {
	name := podName
	if from, _ := v.(map[string]any); from["resource"] == "podgroups" {
		name = appName
	}
	return object(fields{
		"apiGroup": oneOf("", "scheduling.k8s.io"), "resource": oneOf("pods", "podgroups"), "name": name, "uid": uids,
	})(r, v)
}

var deviceKinds = map[string]kind{
	"DeviceClass": {name: classes, fields: fields{"spec": object(fields{
		"selectors": deviceSelectors, "extendedResourceName": text(resourceName),
	})}},
	"ResourceClaim": {name: claimName, fields: fields{
		"spec":   resourceClaimSpec,
		"status": object(fields{"allocation": allocation, "reservedFor": each(consumer)}),
	}},
	"ResourceClaimTemplate": {name: claimName, fields: fields{"spec": object(fields{"metadata": templateMetadata, "spec": resourceClaimSpec})}},
	"ResourceSlice": {name: words("slice"), fields: fields{"spec": object(fields{
		"driver": drivers, "pool": object(fields{"name": poolNames, "generation": number, "resourceSliceCount": number}),
		"nodeName": nodeName, "nodeSelector": nodeSelector, "allNodes": boolean, "perDeviceNodeSelection": boolean,
		"devices": each(device), "sharedCounters": each(object(fields{"name": deviceNames, "counters": counters})),
		"partitionTypeAttribute": text((*Redactor).qualified), "skipNodeOperations": boolean,
	})}},
	"DeviceTaintRule": {name: words("rule"), fields: fields{"spec": object(fields{
		"deviceSelector": object(fields{"driver": drivers, "pool": poolNames, "device": deviceNames}), "taint": taint,
	})}},
}
