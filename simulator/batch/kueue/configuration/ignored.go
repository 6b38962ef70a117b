package configuration

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// Ignored is a part of a configuration that would change what Kueue does, and does not change what the simulator does.
type Ignored struct {
	// Field is its path, such as featureGates.LocalQueueMetrics.
	Field string `json:"field"`
	Why   Why    `json:"why"`
	// Values are what of the field is meant; empty for all of it.
	Values []string `json:"values,omitempty"`
	// Text is the sentence for the user.
	Text string `json:"text"`
}

// Why says why a part of a configuration has no effect.
type Why string

// The reasons.
const (
	// NotSimulated means that the simulator does not have what the part is about.
	NotSimulated Why = "NotSimulated"
	// EverythingNamed means that the simulator manages whatever names a queue, in every namespace, and nothing else.
	EverythingNamed Why = "EverythingNamed"
	// AlwaysManaged means that the simulator manages the kinds in Values, although the configuration leaves them out.
	AlwaysManaged Why = "AlwaysManaged"
	// GateOff means that Kueue ignores the part, too, because the feature gate in Values is off.
	GateOff Why = "GateOff"
)

func (i Ignored) text() string {
	what := i.Field
	if i.Why == GateOff {
		return fmt.Sprintf("%s has no effect: the feature gate %s is off.", what, strings.Join(i.Values, ", "))
	}
	if len(i.Values) > 0 {
		what += " (" + strings.Join(i.Values, ", ") + ")"
	}
	switch i.Why {
	case EverythingNamed:
		return what + " has no effect: the simulator manages what names a queue, in every namespace."
	case AlwaysManaged:
		return fmt.Sprintf("%s leaves out %s, which the simulator manages nevertheless.", i.Field, strings.Join(i.Values, ", "))
	}
	return what + " has no effect: the simulator does not follow it."
}

// managed are the integrations that the simulator has. It cannot leave any out.
var managed = []string{"batch/job", "pod", "deployment", "statefulset", "jobset.x-k8s.io/jobset", "leaderworkerset.x-k8s.io/leaderworkerset", "workload.codeflare.dev/appwrapper"}

// switches are the feature gates that the simulator follows in either state.
var switches = map[string]bool{"AdmissionFairSharing": true, gateElasticJobs: true, gateDevices: true, gateExtendedDevices: true}

// The feature gates of elastic jobs and of devices in quota, which are off unless a document turns them on.
const (
	gateElasticJobs     = "ElasticJobsViaWorkloadSlices"
	gateDevices         = "DynamicResourceAllocation"
	gateExtendedDevices = "DRAExtendedResources"
)

// gates are the feature gates that the simulator follows, in the only state that it knows.
var gates = map[string]bool{
	"PartialAdmission": true, "FlavorFungibility": true, "PrioritySortingWithinCohort": true, "SchedulingEquivalenceHashing": true, "ReclaimablePods": true,
	"TopologyAwareScheduling": true, "TASProfileMixed": true, "FairSharingPreemptWithinNominal": true, "FairSharingPrioritizeNonBorrowing": true,
	"FlavorFungibilityPreserveScanProgress": true, "RecomputeAssignmentUponPreemptionTargetsOverlap": true, "UnadmittedWorkloadsObservability": true,
	"LendingLimit": true, "ConfigurableResourceTransformations": true, "HierarchicalCohorts": true, "VisibilityOnDemand": true, "LocalQueueDefaulting": true,
	"MultiKueue": false, "ElasticJobsViaWorkloadSlicesWithTAS": false, "PriorityBoost": false, "ConcurrentAdmission": false, "TASBalancedPlacement": false, "TASRespectNodeAffinityPreferred": false,
	"PrioritizePreemptorWorkloads": false, "UnadmittedWorkloadsExplicitStatus": false,
}

// ignoredIn returns what of a document has no effect, by field. The document is right: its values have the types of Kueue's.
func ignoredIn(document map[string]json.RawMessage) (ignored []Ignored) {
	add := func(i Ignored) { ignored = append(ignored, i) }
	gate := func(name string) bool {
		var set map[string]bool
		_ = json.Unmarshal(document["featureGates"], &set) // it is a map of switches, if it is there
		return set[name]
	}
	for name, raw := range document {
		if string(raw) == "null" {
			continue
		}
		switch name {
		case "manageJobsWithoutQueueName":
			if string(raw) == "true" {
				add(Ignored{Field: name, Why: EverythingNamed})
			}
		case "managedJobsNamespaceSelector":
			add(Ignored{Field: name, Why: EverythingNamed})
		case "integrations":
			var sections map[string]json.RawMessage
			var frameworks []string
			if json.Unmarshal(raw, &sections) == nil && sections["frameworks"] != nil {
				_ = json.Unmarshal(sections["frameworks"], &frameworks) // it is a list of strings
			}
			ignored = append(ignored, integrations(sections, frameworks)...)
		case "featureGates":
			var set map[string]bool
			_ = json.Unmarshal(raw, &set) // it is a map of switches
			for gate, on := range set {
				if state, known := gates[gate]; !switches[gate] && (!known || state != on) {
					add(Ignored{Field: name + "." + gate, Why: NotSimulated, Values: []string{fmt.Sprint(on)}})
				}
			}
		case "multiKueue", "objectRetentionPolicies":
			add(Ignored{Field: name, Why: NotSimulated})
		case "resources":
			var sections map[string]json.RawMessage
			if json.Unmarshal(raw, &sections) == nil && sections["deviceClassMappings"] != nil && !gate(gateDevices) {
				add(Ignored{Field: "resources.deviceClassMappings", Why: GateOff, Values: []string{gateDevices}})
			}
		}
	}
	slices.SortFunc(ignored, func(a, b Ignored) int { return cmp.Or(strings.Compare(a.Field, b.Field), cmp.Compare(a.Why, b.Why)) })
	for i := range ignored {
		ignored[i].Text = ignored[i].text()
	}
	return ignored
}

func integrations(sections map[string]json.RawMessage, frameworks []string) (ignored []Ignored) {
	var others, left []string
	for _, name := range frameworks {
		if !slices.Contains(managed, name) {
			others = append(others, name)
		}
	}
	for _, name := range managed {
		if sections["frameworks"] != nil && !slices.Contains(frameworks, name) {
			left = append(left, name)
		}
	}
	if len(others) > 0 {
		ignored = append(ignored, Ignored{Field: "integrations.frameworks", Why: NotSimulated, Values: others})
	}
	if len(left) > 0 {
		ignored = append(ignored, Ignored{Field: "integrations.frameworks", Why: AlwaysManaged, Values: left})
	}
	for _, name := range slices.Sorted(maps.Keys(sections)) {
		if name != "frameworks" {
			ignored = append(ignored, Ignored{Field: "integrations." + name, Why: NotSimulated})
		}
	}
	return ignored
}
