package contract

import "slices"

// Our files that depend on Kubernetes' code.
const (
	buildFile      = "scheduler/internal/upstream/build.go"
	profilesFile   = "scheduler/internal/upstream/profiles.go"
	queueFile      = "scheduler/internal/upstream/queue.go"
	uncountedFile  = "scheduler/internal/upstream/uncounted.go"
	interfacesFile = "scheduler/internal/upstream/interfaces.go"
	gateFile       = "scheduler/internal/upstream/gate.go"
	tiesFile       = "scheduler/internal/upstream/ties.go"
	formulasFile   = "scheduler/internal/upstream/formulas.go"
	normalizeFile  = "scheduler/internal/upstream/normalize.go"
	spreadFile     = "scheduler/internal/upstream/spread.go"
	affinityFile   = "scheduler/internal/upstream/affinity.go"
	volumesFile    = "scheduler/internal/upstream/volumes.go"
	requestsFile   = "scheduler/internal/upstream/resources.go"
	preScoreFile   = "scheduler/internal/upstream/prescore.go"
	stepperFile    = "scheduler/internal/upstream/stepper.go"
	bindingFile    = "scheduler/internal/upstream/volumebinding.go"
	choiceFile     = "scheduler/internal/upstream/preemptionties.go"
	turnsFile      = "scheduler/simulation/turns.go"
	reuseFile      = "scheduler/simulation/reuse.go"

	capacityFile    = "scheduler/plugins/capacityscheduling/preemption.go"
	scoresRead      = "scheduler/recorder/comparison"
	scoresExplained = "scheduler/explain"
)

const (
	appPackage        = "k8s.io/kubernetes/cmd/kube-scheduler/app"
	queuePackage      = schedulerPackage + "/backend/queue"
	cachePackage      = schedulerPackage + "/backend/cache"
	preemptionPackage = frameworkPackage + "/preemption"
	pluginsPackage    = frameworkPackage + "/plugins/"
)

// Watches returns what our code depends on, except for the interfaces that it
// embeds, which Embedded finds.
func Watches() []Watch {
	return slices.Concat(schedulerWatches(), pluginWatches(), controllerWatches())
}

func code(pkg, name, why string, ours ...string) Watch {
	return Watch{Kind: Code, Package: pkg, Name: name, Ours: ours, Why: why}
}

func schedulerWatches() []Watch {
	return []Watch{
		// How the scheduler is built.
		{Kind: Calls, Package: appPackage, Name: "Setup", Of: schedulerPackage, Ours: []string{buildFile}, Why: "Parts.options passes the same options"},
		code(appPackage, "Setup", "Build builds the scheduler as it does", buildFile),
		{Kind: Options, Package: schedulerPackage, Name: "Option", Ours: []string{buildFile, profilesFile}, Why: "Build passes them"},
		{Kind: Fields, Package: schedulerPackage, Name: "schedulerOptions", Ours: []string{buildFile, profilesFile}, Why: "Build passes them"},
		{Kind: Fields, Package: schedulerPackage, Name: "Scheduler", Ours: []string{profilesFile}, Why: "Parts.observed replaces what New set"},
		{Kind: Options, Package: runtimePackage, Name: "Option", Ours: []string{profilesFile}, Why: "profiles.build passes all that New passes"},
		{Kind: Fields, Package: runtimePackage, Name: "frameworkOptions", Ours: []string{profilesFile}, Why: "profiles.build passes all that New passes"},
		{Kind: Options, Package: queuePackage, Name: "Option", Ours: []string{queueFile}, Why: "Parts.queue passes all that New passes"},
		{Kind: Fields, Package: queuePackage, Name: "priorityQueueOptions", Ours: []string{queueFile}, Why: "Parts.queue passes all that New passes"},
		code(schedulerPackage, "New", "Parts.observed and Parts.queue repeat its wiring", profilesFile, queueFile),
		code(cachePackage+"/debugger", "CacheDebugger.ListenForSignal", "the context tells New's debugger to end", "scheduler/internal/upstream/discarded.go"),
		code(schedulerPackage, "buildQueueingHintMap", "queueingHints repeats it", queueFile),
		code(schedulerPackage, "defaultQueueingHintFn", "alwaysQueue repeats it", queueFile),
		code(schedulerPackage, "pluginMetricsSamplePercent", "the queue is built with the same", queueFile),
		code(schedulerPackage, "unionedGVKs", "the placeholder's events choose the informers", profilesFile),
		code(schedulerPackage+"/profile", "NewMap", "queueSortRule repeats its rule", profilesFile),
		code(schedulerPackage+"/profile", "cfgValidator.validate", "queueSortRule repeats its rule", profilesFile),
		code(runtimePackage, "NewFramework", "PluginError relies on its wrapping the factory's error, and confine on its calling the factories first", profilesFile, interfacesFile),
		code(runtimePackage, "frameworkImpl.expandMultiPointPlugins", "the meaning of multiPoint is repeated; confine relies on disabled plugins", "scheduler/config", interfacesFile),
		code(runtimePackage, "frameworkImpl.getExtensionPoints", "confine knows all of them", interfacesFile),
		code(runtimePackage, "frameworkImpl.computeBatchablePlugins", "Shape repeats what it asserts", interfacesFile),
		code(runtimePackage, "updatePluginList", "confine leaves a plugin to its refusal", interfacesFile),
		code(runtimePackage, "shouldHaveEnqueueExtensions", "Shape.Requeues repeats it", interfacesFile),
		code(runtimePackage, "frameworkImpl.fillEnqueueExtensions", "Shape repeats what it asserts", interfacesFile),
		code(runtimePackage, "getValidScoreWeights", "a wrapper without the extension point may count", interfacesFile),

		{Kind: Fields, Package: queuePackage, Name: "PriorityQueue", Ours: []string{queueFile}, Why: "QueueTimesOf takes its lock"},
		code(queuePackage, "NewPriorityQueue", "leaveLengths replaces what records the lengths of its parts", uncountedFile),
		code(queuePackage, "newBackoffQueue", "leaveLengths replaces what records their lengths", uncountedFile),
		code(queuePackage, "PriorityQueue.GetPod", "QueueTimesOf reads what it returns", queueFile),

		// A scheduler that takes turns.
		code(queuePackage, "PriorityQueue.Run", "the simulation flushes as often", "scheduler/simulation/engine.go", stepperFile),
		code(queuePackage, "PriorityQueue.flushBackoffQCompleted", "the stepper calls it", stepperFile),
		code(queuePackage, "PriorityQueue.flushUnschedulableEntitiesLeftover", "the stepper calls it", stepperFile),
		code(queuePackage, "PriorityQueue.runPreEnqueuePluginsForPod", "preEnqueueOrder makes its random order irrelevant", stepperFile),
		code(queuePackage, "PriorityQueue.isPodWorthRequeuing", "apart makes its random order irrelevant", stepperFile),
		code(queuePackage, "activeQueue.len", "the stepper calls it", stepperFile),
		code(queuePackage, "activeQueue.unlockedPop", "Ready knows when it waits", stepperFile),
		code(queuePackage, "backoffQueue.lenBackoff", "the stepper calls it", stepperFile),
		code(queuePackage, "backoffQueue.len", "the stepper calls it", stepperFile),
		code(schedulerPackage, "Scheduler.runBindingCycle", "turns knows its first and last steps", turnsFile),
		code(schedulerPackage, "Scheduler.handleBindingCycleError", "turns knows its last step", turnsFile),
		code(runtimePackage, "newWaitingPod", "Released reads its channel, and turns repeats the message of a timeout", stepperFile, turnsFile),
		code(pluginsPackage+"volumebinding", "volumeBinder.BindPodVolumes", "volumeBinder repeats it with another clock", bindingFile),
		code(pluginsPackage+"volumebinding", "volumeBinder.bindAPIUpdate", "volumeBinder calls it", bindingFile),
		code(pluginsPackage+"volumebinding", "volumeBinder.checkBindings", "volumeBinder calls it", bindingFile),

		// The functions that we hook into, and those whose behaviour we rely on.
		code(schedulerPackage, "Scheduler.Run", "Stop relies on the order in which it ends", "scheduler/scheduler.go"),
		code(schedulerPackage, "Scheduler.ScheduleOne", "it calls NextEntity once a turn and skips nil", gateFile, "scheduler/recorder/attach.go"),
		code(schedulerPackage, "Scheduler.scheduleOnePod", "cycles start and end in it", "scheduler/recorder/attach.go"),
		code(schedulerPackage, "Scheduler.schedulePod", "the rows of RunScorePlugins are complete when it returns", tiesFile, "scheduler/recorder/attach.go"),
		code(schedulerPackage, "Scheduler.handleSchedulingFailure", "it ends a cycle", "scheduler/recorder/attach.go"),
		code(schedulerPackage, "Scheduler.bindingCycle", "RunPostBindPlugins is its last call", "scheduler/recorder/framework.go"),
		code(schedulerPackage, "Scheduler.findNodesThatFitPod", "verdicts count from PreFilter's success to scoring", "scheduler/recorder/framework.go"),
		code(schedulerPackage, "Scheduler.evaluateNominatedNode", "the nominated node is filtered before the others", "scheduler/recorder/extender.go"),
		code(schedulerPackage, "Scheduler.findNodesThatPassFilters", "surplus nodes are thrown away", "scheduler/recorder/cycle.go"),
		code(schedulerPackage, "Scheduler.podGroupCycle", "it calls SchedulePod for each member", "scheduler/recorder/podgroup.go"),
		code(runtimePackage, "frameworkImpl.RunFilterPluginsWithNominatedPods", "Filter runs twice where pods are nominated", "scheduler/recorder/points.go", "scheduler/recorder/nominated.go", reuseFile),
		code(runtimePackage, "frameworkImpl.GetNodeHint", "the hint's run of Filter and Score does not count", "scheduler/recorder/framework.go", tiesFile),
		code(schedulerPackage, "addAllEventHandlers", "which changes the scheduler is certain to see", "scheduler/seen.go"),
		code(schedulerPackage, "Scheduler.addPod", "a call of the queue or the cache is the handler's last step", "scheduler/observer.go"),
		code(schedulerPackage, "Scheduler.updatePod", "a call of the queue or the cache is the handler's last step", "scheduler/observer.go"),
		code(schedulerPackage, "Scheduler.deletePod", "a call of the queue or the cache is the handler's last step", "scheduler/observer.go"),
		code(schedulerPackage, "Scheduler.updateNodeInCache", "a call of the queue or the cache is the handler's last step", "scheduler/observer.go"),
		code(schedulerPackage, "newPodInformer", "our transform replaces its own", "scheduler/pods.go"),

		// Formulas.
		code(schedulerPackage, "Scheduler.numFeasibleNodesToFind", "NodesToFind repeats it", formulasFile),
		code(schedulerPackage, "minFeasibleNodesToFind", "NodesToFind repeats it", formulasFile),
		code(schedulerPackage, "minFeasibleNodesPercentageToFind", "NodesToFind repeats it", formulasFile),
		code(schedulerPackage, "prioritizeNodes", "ExtenderScale, and how extenders' scores add up", formulasFile, tiesFile, "scheduler/recorder/extender.go"),
		code(runtimePackage, "frameworkImpl.NormalizeScores", "Normalizer repeats it", normalizeFile),
		code(runtimePackage, "frameworkImpl.normalizeScores", "Normalizer repeats it", normalizeFile),
		code(schedulerPackage, "findNodesThatPassExtenders", "the order and the failures of extenders", "scheduler/extender/extender.go", "scheduler/recorder/extender.go"),
		code(schedulerPackage, "buildExtenders", "ExtenderOrder repeats the order; ignored resources are repeated", formulasFile, "scheduler/config"),
		code(schedulerPackage, "NewHTTPExtender", "ExtenderTimeout repeats the default", formulasFile),
		code(schedulerPackage, "Scheduler.extendersBinding", "the first extender that binds is called", "scheduler/extender/extender.go"),
		code(preemptionPackage, "Evaluator.callExtenders", "VictimlessNode and the candidates that extenders leave", formulasFile, "scheduler/recorder/extender.go"),
		code(preemptionPackage, "pickOneNodeForPreemption", "the rules by which a candidate is chosen", "scheduler/result/preemption.go", choiceFile),
		code(pluginsPackage+"defaultpreemption", "DefaultPreemption.OrderedScoreFuncs", "the rules by which a candidate is chosen", "scheduler/result/preemption.go", choiceFile),
		code(pluginsPackage+"defaultpreemption", "DefaultPreemption.SelectVictimsOnNode", "what a dry run answers", "scheduler/recorder/preemption.go"),
		code(pluginsPackage+"defaultpreemption", "DefaultPreemption.PodGroupPostFilter", "victims of a group are followed through the snapshot", "scheduler/recorder/grouppreemption.go"),
		code(preemptionPackage, "Evaluator.evaluate", "CapacityScheduling decides itself who may preempt, before it", capacityFile),
		code(preemptionPackage, "Evaluator.findCandidates", "CapacityScheduling's dry runs are called from it", capacityFile),
		code(preemptionPackage, "FilterVictimsWithPDBViolation", "CapacityScheduling puts pods back in this order", capacityFile),
		code(cachePackage, "cacheImpl.UpdateSnapshot", "SameNodes: it keeps the slice unless nodes come or go", formulasFile),
		code(cachePackage, "cacheImpl.updateNodeInfoSnapshotList", "SameNodes: it makes a new slice", formulasFile),
		code(cachePackage, "Snapshot.List", "SameNodes: it returns the slice itself", formulasFile),

		// How an API server creates objects.
		code("k8s.io/kubernetes/pkg/kubeapiserver/options", "DefaultOffAdmissionPlugins", "newChain has those of the others that matter to scheduling", "simulator/cluster/storedform"),
		code("k8s.io/apiserver/pkg/registry/rest", "BeforeCreate", "Admission.create prepares what it wants", "simulator/cluster/storedform"),

		// What our API server builds in place of upstream's.
		code("k8s.io/apiserver/pkg/registry/generic/registry", "StorageWithCacher", "cachedBriefly builds the same with another storage", "simulator/cluster/controlplane"),
		code("k8s.io/apiserver/pkg/storage/cacher", "watchCacheHistory.resizeCacheLocked", "it compares the times that hurrying changes", "simulator/cluster/controlplane"),
		code("k8s.io/kubernetes/pkg/kubeapiserver/options", "BuiltInAuthenticationOptions.ApplyTo", "tokenGetter returns the getter that it would make", "simulator/cluster/controlplane"),
		code("k8s.io/kubernetes/plugin/pkg/admission/security/podsecurity", "Plugin.SetExternalKubeInformerFactory", "unwatched answers its lister of pods", "simulator/cluster/controlplane"),
		code("k8s.io/apiserver/pkg/server", "GenericAPIServer.PrepareRun", "lateOpenAPI installs the documents that it would", "simulator/cluster/controlplane"),
		code("k8s.io/kube-openapi/pkg/handler3", "OpenAPIService.buildDiscoveryCacheLocked", "lateOpenAPI serves the same index with another hash", "simulator/cluster/controlplane"),
		code("k8s.io/kube-openapi/pkg/handler3", "OpenAPIService.HandleGroupVersion", "lateOpenAPI allows caching as it does", "simulator/cluster/controlplane"),

		// Texts of errors, in places where only the text tells one case from
		// another.
		{Kind: Text, Package: "k8s.io/kubernetes/plugin/pkg/admission/priority", Name: "Plugin.resolvePriorityClass", Of: "no PriorityClass", Ours: []string{"simulator/elsewhere/transfer"}, Why: "an import tries again while admission does not know the class yet"},
		{Kind: Text, Package: "google.golang.org/grpc", Name: "pickerWrapper.pick", Of: "latest balancer error: ", Ours: []string{"simulator/cluster/controlplane"}, Why: "the reason why etcd cannot be reached follows it"},
		{Kind: Text, Package: "encoding/json", Name: "scanner.pushParseState", Of: "exceeded max depth", Ours: []string{"simulator/elsewhere/transfer"}, Why: "JSON that is nested too deeply"},
		{Kind: Text, Package: "sigs.k8s.io/json/internal/golang/encoding/json", Name: "scanner.pushParseState", Of: "exceeded max depth", Ours: []string{"simulator/elsewhere/transfer"}, Why: "JSON that is nested too deeply"},
		{Kind: Text, Package: "sigs.k8s.io/kwok/pkg/utils/gotpl", Name: "renderer.render", Of: "build template", Ours: []string{"simulator/cluster/virtualnode"}, Why: "a stage whose template cannot be parsed"},
	}
}

// pluginWatches returns what plugins compare, and what their scores follow from.
func pluginWatches() (out []Watch) {
	for _, group := range []struct {
		why  string
		ours []string
		// of has the name of a package, and then of what it declares.
		of [][]string
	}{
		{"it is read through reflection", []string{spreadFile}, [][]string{
			{"podtopologyspread", "preFilterState", "criticalPaths", "topologySpreadConstraint", "preFilterStateKey", "preFilterState.minMatchNum"},
		}},
		{"it is read through reflection", []string{affinityFile}, [][]string{
			{"interpodaffinity", "preFilterState", "topologyPair", "topologyToMatchedTermCount", "preFilterStateKey"},
		}},
		{"it is read through reflection", []string{requestsFile}, [][]string{
			{"noderesources", "preFilterState", "preFilterStateKey"},
		}},
		{"it is read through reflection", []string{volumesFile}, [][]string{
			{"volumezone", "stateData", "pvTopology", "preFilterStateKey"},
			{"volumebinding", "stateData", "PodVolumeClaims", "stateKey"},
		}},
		{"the comparison repeats it", []string{"scheduler/recorder/comparison"}, [][]string{
			{"podtopologyspread", "PodTopologySpread.Filter"},
			{"interpodaffinity", "InterPodAffinity.Filter", "nodeTopologyMatchesAffinity", "nodePodsSatisfyAffinity", "satisfiesSelfAffinityCheck", "satisfyExistingPodsAntiAffinity", "nodeTopologyConflictsWithAntiAffinity", "nodePodsConflictWithAntiAffinity"},
			{"nodeports", "NodePorts.Filter"},
			{"nodeaffinity", "NodeAffinity.Filter"},
			{"tainttoleration", "TaintToleration.Filter"},
			{"noderesources", "Fit.Filter", "fitsRequest", "shouldDelegateResourceToDRA", "adjustDeltasToAccomodateCacheDiscrepancy"},
			{"volumezone", "VolumeZone.Filter", "translateToGALabel", "topologyLabels"},
			{"volumebinding", "VolumeBinding.Filter", "volumeBinder.FindPodVolumes", "volumeBinder.checkBoundClaims", "volumeBinder.tryTranslatePVToCSI", "volumeBinder.findMatchingVolumes", "byPVCSize.Less", "volumeBinder.checkVolumeProvisions", "volumeBinder.hasEnoughCapacity", "volumeBinder.nodeHasAccess", "volumeLimit"},
			{"dynamicresources", "DynamicResources.Filter"},
		}},
		{"it is read through reflection", []string{preScoreFile}, [][]string{
			{"noderesources", "preScoreState", "preScoreStateKey", "balancedAllocationPreScoreState", "balancedAllocationPreScoreStateKey"},
			{"podtopologyspread", "preScoreState", "preScoreStateKey"},
			{"interpodaffinity", "preScoreState", "preScoreStateKey", "scoreMap"},
			{"dynamicresources", "stateData", "stateKey", "claimStore", "nodeAllocation"},
		}},
		{"the explanation of its scores repeats it", []string{scoresExplained}, [][]string{
			{"noderesources", "leastResourceScorer", "leastRequestedScore", "mostResourceScorer", "mostRequestedScore", "buildRequestedToCapacityRatioScorerFunction", "balancedResourceScorer", "balancedResourceScore"},
			{"helper", "BuildBrokenLinearFunction", "DefaultNormalizeScore"},
			{"imagelocality", "calculatePriority", "minThreshold", "maxContainerThreshold", "scaledImageScore"},
			{"nodeaffinity", "NodeAffinity.Score", "NodeAffinity.NormalizeScore"},
			{"tainttoleration", "TaintToleration.NormalizeScore"},
			{"podtopologyspread", "PodTopologySpread.Score", "PodTopologySpread.NormalizeScore", "scoreForCount", "topologyNormalizingWeight"},
			{"interpodaffinity", "InterPodAffinity.Score", "InterPodAffinity.NormalizeScore"},
			{"volumebinding", "buildScorerFunction"},
			{"dynamicresources", "DynamicResources.NormalizeScore"},
		}},
		{"the inputs of its scores are read as it reads them", []string{scoresRead}, [][]string{
			{"noderesources", "requestedToCapacityRatioScorer", "resourceAllocationScorer.calculateNodeAllocatableRequest", "resourceAllocationScorer.calculateResourceAllocatableRequest"},
			{"imagelocality", "sumImageScores", "normalizedImageName"},
			{"podtopologyspread", "PodTopologySpread.initPreScoreState", "countPodsMatchSelector"},
			{"interpodaffinity", "InterPodAffinity.PreScore", "InterPodAffinity.processExistingPod", "scoreMap.processTerm"},
			{"volumebinding", "VolumeBinding.Score"},
			{"dynamicresources", "DynamicResources.Score"},
		}},
		{"the explanation of its scores repeats it", []string{scoresExplained, scoresRead}, [][]string{
			{"tainttoleration", "TaintToleration.countIntolerableTaintsPreferNoSchedule"},
			{"dynamicresources", "computeScore"},
		}},
	} {
		for _, names := range group.of {
			for _, name := range names[1:] {
				out = append(out, code(pluginsPackage+names[0], name, group.why, group.ours...))
			}
		}
	}
	return out
}
