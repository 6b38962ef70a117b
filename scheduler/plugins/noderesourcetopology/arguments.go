package noderesourcetopology

import (
	"errors"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"kube-scheduler-simulator/scheduler/plugins/argument"
)

// Arguments are the NodeResourceTopologyMatchArgs of kubescheduler.config.k8s.io/v1. Unknown values
// of Cache count as its defaults.
type Arguments struct {
	metav1.TypeMeta `json:",inline"`

	// ScoringStrategy is LeastAllocated by default.
	ScoringStrategy *ScoringStrategy `json:"scoringStrategy,omitempty"`
	// CacheResyncPeriodSeconds above 0 switches on the cache that subtracts pods on their way from
	// every zone, and is how often the plugin may compare it with the agents' reports.
	CacheResyncPeriodSeconds int64 `json:"cacheResyncPeriodSeconds,omitempty"`
	// DiscardReservedNodes leaves a node out while a pod is on its way there. It takes
	// precedence over CacheResyncPeriodSeconds.
	DiscardReservedNodes bool           `json:"discardReservedNodes,omitempty"`
	Cache                CacheArguments `json:"cache"`
	// PreemptionMode lets dry runs of preemption give the victims' exclusive resources back
	// to their zones. It is Disabled by default, and needs the cache.
	PreemptionMode string `json:"preemptionMode,omitempty"`
}

type ScoringStrategy struct {
	// Type is MostAllocated, LeastAllocated, BalancedAllocation or LeastNUMANodes.
	Type string `json:"type,omitempty"`
	// Resources are weights; a resource without one has 1. All requested resources count.
	Resources []ResourceWeight `json:"resources,omitempty"`
}

// ResourceWeight is the weight of a resource: 1 if it is less.
type ResourceWeight struct {
	Name   string `json:"name"`
	Weight int64  `json:"weight,omitempty"`
}

// CacheArguments are those of the cache that CacheResyncPeriodSeconds switches on.
type CacheArguments struct {
	// ForeignPodsDetect says which pods of other schedulers make a node unfit until the
	// next comparison: All, None or OnlyExclusiveResources.
	ForeignPodsDetect string `json:"foreignPodsDetect,omitempty"`
	// ResyncMethod says which pods the plugin compares: All, OnlyExclusiveResources, or Autodetect:
	// those that the agent compares.
	ResyncMethod string `json:"resyncMethod,omitempty"`
	// InformerMode Dedicated compares the pods that have started, finished ones included; Shared
	// compares those that run.
	InformerMode string `json:"informerMode,omitempty"`
	// ResyncScope All lets a change of the node's settings count without a comparison;
	// OnlyResources does not.
	ResyncScope string `json:"resyncScope,omitempty"`
}

// The values of CacheArguments and of PreemptionMode.
const (
	All                    = "All"
	None                   = "None"
	OnlyExclusiveResources = "OnlyExclusiveResources"
	OnlyResources          = "OnlyResources"
	Autodetect             = "Autodetect"
	Dedicated              = "Dedicated"
	Shared                 = "Shared"
	Enabled                = "Enabled"
	Disabled               = "Disabled"
)

var strategies = []string{MostAllocated, BalancedAllocation, LeastAllocated, LeastNUMANodes}

var _ runtime.Object = (*Arguments)(nil)

func (a *Arguments) DeepCopyObject() runtime.Object {
	out := *a
	if a.ScoringStrategy != nil {
		out.ScoringStrategy = &ScoringStrategy{Type: a.ScoringStrategy.Type, Resources: slices.Clone(a.ScoringStrategy.Resources)}
	}
	return &out
}

func init() { argument.Register[Arguments](Name, setDefaults) }

func setDefaults(a *Arguments) {
	if a.ScoringStrategy == nil {
		a.ScoringStrategy = &ScoringStrategy{Type: LeastAllocated}
	}
	if len(a.ScoringStrategy.Resources) == 0 {
		a.ScoringStrategy.Resources = []ResourceWeight{{"cpu", 1}, {"memory", 1}}
	}
	for i := range a.ScoringStrategy.Resources {
		if r := &a.ScoringStrategy.Resources[i]; r.Weight == 0 {
			r.Weight = 1
		}
	}
	for _, f := range []struct {
		value  *string
		values []string // the default first
	}{
		{&a.Cache.ForeignPodsDetect, []string{All, None, OnlyExclusiveResources}},
		{&a.Cache.ResyncMethod, []string{Autodetect, All, OnlyExclusiveResources}},
		{&a.Cache.InformerMode, []string{Dedicated, Shared}},
		{&a.Cache.ResyncScope, []string{All, OnlyResources}},
	} {
		if !slices.Contains(f.values, *f.value) {
			*f.value = f.values[0]
		}
	}
	if a.PreemptionMode == "" {
		a.PreemptionMode = Disabled
	}
}

// readArguments returns valid arguments. Mistakes are argument.Errors.
func readArguments(raw runtime.Object) (*Arguments, error) {
	a, err := argument.Typed[Arguments](raw, setDefaults)
	if err != nil {
		return nil, err
	}
	var mistakes []error
	if !slices.Contains(strategies, a.ScoringStrategy.Type) {
		mistakes = append(mistakes, &argument.Error{Field: "scoringStrategy.type", Message: "invalid ScoringStrategyType; it must be one of " + strings.Join(strategies, ", ")})
	}
	if a.PreemptionMode != Enabled && a.PreemptionMode != Disabled {
		mistakes = append(mistakes, &argument.Error{Field: "preemptionMode", Message: "must be Enabled or Disabled"})
	}
	return a, errors.Join(mistakes...)
}

// Validate returns the mistakes in the plugin's arguments as argument.Errors.
func Validate(raw runtime.Object) error {
	_, err := readArguments(raw)
	return err
}
