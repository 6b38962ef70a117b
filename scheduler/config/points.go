package config

import (
	"reflect"
	"slices"

	utilfeature "k8s.io/apiserver/pkg/util/feature"
	"k8s.io/component-base/featuregate"
	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/pkg/features"
	"k8s.io/kubernetes/pkg/scheduler/apis/config"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/defaultbinder"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/defaultpreemption"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/deferredpodscheduling"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/dynamicresources"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/gangscheduling"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/imagelocality"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/interpodaffinity"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/names"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/nodeaffinity"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/nodedeclaredfeatures"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/nodename"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/nodeports"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/noderesources"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/nodeunschedulable"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/nodevolumelimits"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/podgrouppodscount"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/podtopologyspread"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/queuesort"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/schedulinggates"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/tainttoleration"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/topologyaware"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/volumebinding"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/volumerestrictions"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/volumezone"
)

type extensionPoint struct {
	name string // as in the configuration API
	set  func(*config.Plugins) *config.PluginSet
	kind reflect.Type // the interface of its plugins
	// weighed: plugins have weights here.
	weighed bool
	// unordered: the order in which plugins are called does not matter here.
	unordered bool
	// gate is the feature gate that enables the extension point. Without it, plugins may be
	// listed but do not run.
	gate featuregate.Feature
}

// extensionPoints returns all extension points in the order in which they run.
func extensionPoints() []extensionPoint {
	return []extensionPoint{
		{name: "preEnqueue", set: func(p *config.Plugins) *config.PluginSet { return &p.PreEnqueue }, kind: reflect.TypeFor[fwk.PreEnqueuePlugin]()},
		{name: "queueSort", set: func(p *config.Plugins) *config.PluginSet { return &p.QueueSort }, kind: reflect.TypeFor[fwk.QueueSortPlugin]()},
		{name: "placementGenerate", set: func(p *config.Plugins) *config.PluginSet { return &p.PlacementGenerate }, kind: reflect.TypeFor[fwk.PlacementGeneratePlugin](), gate: features.TopologyAwareWorkloadScheduling},
		{name: "preFilter", set: func(p *config.Plugins) *config.PluginSet { return &p.PreFilter }, kind: reflect.TypeFor[fwk.PreFilterPlugin]()},
		{name: "filter", set: func(p *config.Plugins) *config.PluginSet { return &p.Filter }, kind: reflect.TypeFor[fwk.FilterPlugin]()},
		{name: "postFilter", set: func(p *config.Plugins) *config.PluginSet { return &p.PostFilter }, kind: reflect.TypeFor[fwk.PostFilterPlugin]()},
		{name: "preScore", set: func(p *config.Plugins) *config.PluginSet { return &p.PreScore }, kind: reflect.TypeFor[fwk.PreScorePlugin](), unordered: true},
		{name: "score", set: func(p *config.Plugins) *config.PluginSet { return &p.Score }, kind: reflect.TypeFor[fwk.ScorePlugin](), weighed: true, unordered: true},
		{name: "reserve", set: func(p *config.Plugins) *config.PluginSet { return &p.Reserve }, kind: reflect.TypeFor[fwk.ReservePlugin]()},
		{name: "permit", set: func(p *config.Plugins) *config.PluginSet { return &p.Permit }, kind: reflect.TypeFor[fwk.PermitPlugin]()},
		{name: "placementScore", set: func(p *config.Plugins) *config.PluginSet { return &p.PlacementScore }, kind: reflect.TypeFor[fwk.PlacementScorePlugin](), weighed: true, unordered: true, gate: features.TopologyAwareWorkloadScheduling},
		{name: "podGroupPostFilter", set: func(p *config.Plugins) *config.PluginSet { return &p.PodGroupPostFilter }, kind: reflect.TypeFor[fwk.PodGroupPostFilterPlugin](), gate: features.GenericWorkload},
		{name: "preBind", set: func(p *config.Plugins) *config.PluginSet { return &p.PreBind }, kind: reflect.TypeFor[fwk.PreBindPlugin]()},
		{name: "bind", set: func(p *config.Plugins) *config.PluginSet { return &p.Bind }, kind: reflect.TypeFor[fwk.BindPlugin]()},
		{name: "postBind", set: func(p *config.Plugins) *config.PluginSet { return &p.PostBind }, kind: reflect.TypeFor[fwk.PostBindPlugin]()},
	}
}

const multiPoint = "multiPoint"

// runningPoints returns the extension points that the feature gates enable, and multiPoint, where
// expand leaves the plugins whose extension points it does not know.
func runningPoints() []extensionPoint {
	return slices.DeleteFunc(allPoints(), func(p extensionPoint) bool { return !p.runs() })
}

func allPoints() []extensionPoint {
	return append(extensionPoints(), extensionPoint{name: multiPoint, weighed: true, unordered: true,
		set: func(p *config.Plugins) *config.PluginSet { return &p.MultiPoint }})
}

// inTree returns the types of Kubernetes' plugins by name. They tell the extension points of a plugin
// without creating one.
func inTree() map[string]reflect.Type {
	return map[string]reflect.Type{
		names.DefaultBinder:                   reflect.TypeFor[*defaultbinder.DefaultBinder](),
		names.DefaultPreemption:               reflect.TypeFor[*defaultpreemption.DefaultPreemption](),
		names.DeferredPodScheduling:           reflect.TypeFor[*deferredpodscheduling.DeferredPodScheduling](),
		names.DynamicResources:                reflect.TypeFor[*dynamicresources.DynamicResources](),
		names.GangScheduling:                  reflect.TypeFor[*gangscheduling.GangScheduling](),
		names.ImageLocality:                   reflect.TypeFor[*imagelocality.ImageLocality](),
		names.InterPodAffinity:                reflect.TypeFor[*interpodaffinity.InterPodAffinity](),
		names.NodeAffinity:                    reflect.TypeFor[*nodeaffinity.NodeAffinity](),
		names.NodeDeclaredFeatures:            reflect.TypeFor[*nodedeclaredfeatures.NodeDeclaredFeatures](),
		names.NodeName:                        reflect.TypeFor[*nodename.NodeName](),
		names.NodePorts:                       reflect.TypeFor[*nodeports.NodePorts](),
		names.NodeResourcesBalancedAllocation: reflect.TypeFor[*noderesources.BalancedAllocation](),
		names.NodeResourcesFit:                reflect.TypeFor[*noderesources.Fit](),
		names.NodeUnschedulable:               reflect.TypeFor[*nodeunschedulable.NodeUnschedulable](),
		names.NodeVolumeLimits:                reflect.TypeFor[*nodevolumelimits.CSILimits](),
		names.PodGroupPodsCount:               reflect.TypeFor[*podgrouppodscount.PodGroupPodsCount](),
		names.PodTopologySpread:               reflect.TypeFor[*podtopologyspread.PodTopologySpread](),
		names.PrioritySort:                    reflect.TypeFor[*queuesort.PrioritySort](),
		names.SchedulingGates:                 reflect.TypeFor[*schedulinggates.SchedulingGates](),
		names.TaintToleration:                 reflect.TypeFor[*tainttoleration.TaintToleration](),
		names.TopologyPlacementGenerator:      reflect.TypeFor[*topologyaware.TopologyPlacement](),
		names.VolumeBinding:                   reflect.TypeFor[*volumebinding.VolumeBinding](),
		names.VolumeRestrictions:              reflect.TypeFor[*volumerestrictions.VolumeRestrictions](),
		names.VolumeZone:                      reflect.TypeFor[*volumezone.VolumeZone](),
	}
}

// registered returns the sorted names of all plugins.
func registered(outOfTree []string) []string {
	all := slices.Clone(outOfTree)
	for name := range inTree() {
		all = append(all, name)
	}
	slices.Sort(all)
	return slices.Compact(all)
}

func (e extensionPoint) runs() bool {
	return e.gate == "" || utilfeature.DefaultFeatureGate.Enabled(e.gate)
}

// expand returns the plugins that run at each extension point, in the order in which they are called
// and with their effective weights, like the framework's ListPlugins (framework/runtime,
// expandMultiPointPlugins). It knows out-of-tree plugins only by the configuration of single
// extension points, and leaves those that multiPoint enables there.
func expand(declared *config.Plugins) *config.Plugins {
	types := inTree()
	expanded := &config.Plugins{}
	for _, p := range declared.MultiPoint.Enabled {
		if _, known := types[p.Name]; !known {
			expanded.MultiPoint.Enabled = append(expanded.MultiPoint.Enabled, p)
		}
	}
	for _, point := range extensionPoints() {
		set := point.set(declared)
		disabled := map[string]bool{}
		for _, p := range set.Disabled {
			disabled[p.Name] = true
		}
		var overridden, fromMultiPoint, rest []config.Plugin
		multiPoint := map[string]bool{}
		if !disabled["*"] {
			for _, p := range declared.MultiPoint.Enabled {
				t, known := types[p.Name]
				if !known || !t.Implements(point.kind) || disabled[p.Name] || multiPoint[p.Name] {
					continue
				}
				multiPoint[p.Name] = true
				if !has(set.Enabled, p.Name) {
					fromMultiPoint = append(fromMultiPoint, point.weigh(p))
				}
			}
		}
		for _, p := range set.Enabled {
			if multiPoint[p.Name] {
				overridden = append(overridden, point.weigh(p))
			} else {
				rest = append(rest, point.weigh(p))
			}
		}
		point.set(expanded).Enabled = slices.Concat(overridden, fromMultiPoint, rest)
	}
	return expanded
}

func (e extensionPoint) weigh(p config.Plugin) config.Plugin {
	switch {
	case !e.weighed:
		p.Weight = 0
	case p.Weight == 0:
		p.Weight = 1
	}
	return p
}

func has(plugins []config.Plugin, name string) bool {
	return slices.ContainsFunc(plugins, func(p config.Plugin) bool { return p.Name == name })
}
