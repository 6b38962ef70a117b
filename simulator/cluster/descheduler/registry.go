package descheduler

import (
	"sync"

	"sigs.k8s.io/descheduler/pkg/framework/pluginregistry"
	"sigs.k8s.io/descheduler/pkg/framework/plugins/defaultevictor"
	"sigs.k8s.io/descheduler/pkg/framework/plugins/nodeutilization"
	"sigs.k8s.io/descheduler/pkg/framework/plugins/podlifetime"
	"sigs.k8s.io/descheduler/pkg/framework/plugins/removeduplicates"
	"sigs.k8s.io/descheduler/pkg/framework/plugins/removefailedpods"
	"sigs.k8s.io/descheduler/pkg/framework/plugins/removepodshavingtoomanyrestarts"
	"sigs.k8s.io/descheduler/pkg/framework/plugins/removepodsviolatinginterpodantiaffinity"
	"sigs.k8s.io/descheduler/pkg/framework/plugins/removepodsviolatingnodeaffinity"
	"sigs.k8s.io/descheduler/pkg/framework/plugins/removepodsviolatingnodetaints"
	"sigs.k8s.io/descheduler/pkg/framework/plugins/removepodsviolatingtopologyspreadconstraint"
	frameworktypes "sigs.k8s.io/descheduler/pkg/framework/types"
)

// Version is that of the descheduler whose code runs.
const Version = "v0.36.0"

// registry returns the descheduler's plugins. The descheduler's own function for it links a fake API server, so this list repeats it, and a
// test compares them. The conversion of policies reads the registry from a variable of the descheduler's.
var registry = sync.OnceValue(func() pluginregistry.Registry {
	r := pluginregistry.NewRegistry()
	add := func(name string, of pluginregistry.PluginUtilities) { r[name] = of }
	add(defaultevictor.PluginName, pluginregistry.PluginUtilities{
		PluginBuilder: defaultevictor.New, PluginType: &defaultevictor.DefaultEvictor{}, PluginArgInstance: &defaultevictor.DefaultEvictorArgs{},
		PluginArgValidator: defaultevictor.ValidateDefaultEvictorArgs, PluginArgDefaulter: defaultevictor.SetDefaults_DefaultEvictorArgs,
	})
	add(nodeutilization.LowNodeUtilizationPluginName, pluginregistry.PluginUtilities{
		PluginBuilder: nodeutilization.NewLowNodeUtilization, PluginType: &nodeutilization.LowNodeUtilization{}, PluginArgInstance: &nodeutilization.LowNodeUtilizationArgs{},
		PluginArgValidator: nodeutilization.ValidateLowNodeUtilizationArgs, PluginArgDefaulter: nodeutilization.SetDefaults_LowNodeUtilizationArgs,
	})
	add(nodeutilization.HighNodeUtilizationPluginName, pluginregistry.PluginUtilities{
		PluginBuilder: nodeutilization.NewHighNodeUtilization, PluginType: &nodeutilization.HighNodeUtilization{}, PluginArgInstance: &nodeutilization.HighNodeUtilizationArgs{},
		PluginArgValidator: nodeutilization.ValidateHighNodeUtilizationArgs, PluginArgDefaulter: nodeutilization.SetDefaults_HighNodeUtilizationArgs,
	})
	add(podlifetime.PluginName, pluginregistry.PluginUtilities{
		PluginBuilder: podlifetime.New, PluginType: &podlifetime.PodLifeTime{}, PluginArgInstance: &podlifetime.PodLifeTimeArgs{},
		PluginArgValidator: podlifetime.ValidatePodLifeTimeArgs, PluginArgDefaulter: podlifetime.SetDefaults_PodLifeTimeArgs,
	})
	add(removeduplicates.PluginName, pluginregistry.PluginUtilities{
		PluginBuilder: removeduplicates.New, PluginType: &removeduplicates.RemoveDuplicates{}, PluginArgInstance: &removeduplicates.RemoveDuplicatesArgs{},
		PluginArgValidator: removeduplicates.ValidateRemoveDuplicatesArgs, PluginArgDefaulter: removeduplicates.SetDefaults_RemoveDuplicatesArgs,
	})
	add(removefailedpods.PluginName, pluginregistry.PluginUtilities{
		PluginBuilder: removefailedpods.New, PluginType: &removefailedpods.RemoveFailedPods{}, PluginArgInstance: &removefailedpods.RemoveFailedPodsArgs{},
		PluginArgValidator: removefailedpods.ValidateRemoveFailedPodsArgs, PluginArgDefaulter: removefailedpods.SetDefaults_RemoveFailedPodsArgs,
	})
	add(removepodshavingtoomanyrestarts.PluginName, pluginregistry.PluginUtilities{
		PluginBuilder: removepodshavingtoomanyrestarts.New, PluginType: &removepodshavingtoomanyrestarts.RemovePodsHavingTooManyRestarts{},
		PluginArgInstance:  &removepodshavingtoomanyrestarts.RemovePodsHavingTooManyRestartsArgs{},
		PluginArgValidator: removepodshavingtoomanyrestarts.ValidateRemovePodsHavingTooManyRestartsArgs,
		PluginArgDefaulter: removepodshavingtoomanyrestarts.SetDefaults_RemovePodsHavingTooManyRestartsArgs,
	})
	add(removepodsviolatinginterpodantiaffinity.PluginName, pluginregistry.PluginUtilities{
		PluginBuilder: removepodsviolatinginterpodantiaffinity.New, PluginType: &removepodsviolatinginterpodantiaffinity.RemovePodsViolatingInterPodAntiAffinity{},
		PluginArgInstance:  &removepodsviolatinginterpodantiaffinity.RemovePodsViolatingInterPodAntiAffinityArgs{},
		PluginArgValidator: removepodsviolatinginterpodantiaffinity.ValidateRemovePodsViolatingInterPodAntiAffinityArgs,
		PluginArgDefaulter: removepodsviolatinginterpodantiaffinity.SetDefaults_RemovePodsViolatingInterPodAntiAffinityArgs,
	})
	add(removepodsviolatingnodeaffinity.PluginName, pluginregistry.PluginUtilities{
		PluginBuilder: removepodsviolatingnodeaffinity.New, PluginType: &removepodsviolatingnodeaffinity.RemovePodsViolatingNodeAffinity{},
		PluginArgInstance:  &removepodsviolatingnodeaffinity.RemovePodsViolatingNodeAffinityArgs{},
		PluginArgValidator: removepodsviolatingnodeaffinity.ValidateRemovePodsViolatingNodeAffinityArgs,
		PluginArgDefaulter: removepodsviolatingnodeaffinity.SetDefaults_RemovePodsViolatingNodeAffinityArgs,
	})
	add(removepodsviolatingnodetaints.PluginName, pluginregistry.PluginUtilities{
		PluginBuilder: removepodsviolatingnodetaints.New, PluginType: &removepodsviolatingnodetaints.RemovePodsViolatingNodeTaints{},
		PluginArgInstance:  &removepodsviolatingnodetaints.RemovePodsViolatingNodeTaintsArgs{},
		PluginArgValidator: removepodsviolatingnodetaints.ValidateRemovePodsViolatingNodeTaintsArgs,
		PluginArgDefaulter: removepodsviolatingnodetaints.SetDefaults_RemovePodsViolatingNodeTaintsArgs,
	})
	add(removepodsviolatingtopologyspreadconstraint.PluginName, pluginregistry.PluginUtilities{
		PluginBuilder: removepodsviolatingtopologyspreadconstraint.New, PluginType: &removepodsviolatingtopologyspreadconstraint.RemovePodsViolatingTopologySpreadConstraint{},
		PluginArgInstance:  &removepodsviolatingtopologyspreadconstraint.RemovePodsViolatingTopologySpreadConstraintArgs{},
		PluginArgValidator: removepodsviolatingtopologyspreadconstraint.ValidateRemovePodsViolatingTopologySpreadConstraintArgs,
		PluginArgDefaulter: removepodsviolatingtopologyspreadconstraint.SetDefaults_RemovePodsViolatingTopologySpreadConstraintArgs,
	})
	pluginregistry.PluginRegistry = r
	return r
})

// extensionPoint is where a profile enables plugins.
type extensionPoint struct {
	// field is the name in a policy.
	field string
	// fits reports whether a plugin may be enabled there.
	fits func(plugin any) bool
}

var (
	atDeschedule  = extensionPoint{"deschedule", is[frameworktypes.DeschedulePlugin]}
	atBalance     = extensionPoint{"balance", is[frameworktypes.BalancePlugin]}
	atFilter      = extensionPoint{"filter", is[frameworktypes.EvictorPlugin]}
	atPreEviction = extensionPoint{"preevictionfilter", is[frameworktypes.EvictorPlugin]}
)

func is[T any](plugin any) bool {
	_, ok := plugin.(T)
	return ok
}
