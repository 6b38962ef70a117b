package upstream

import (
	"k8s.io/component-helpers/nodedeclaredfeatures"
	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/names"
)

// RequestedResources returns the pod's requests as NodeResourcesFit added them up in
// PreFilter. They belong to the plugin: do not change them. It reports false when the
// plugin did not run.
func RequestedResources(state fwk.CycleState) (framework.Resource, bool) {
	return valueOf[framework.Resource](field(stateOf(state, names.NodeResourcesFit), "Resource"))
}

// NeededFeatures returns the features of nodes that NodeDeclaredFeatures found in
// PreFilter that the pod needs. It reports false when the plugin did not run.
func NeededFeatures(state fwk.CycleState) (nodedeclaredfeatures.FeatureSet, bool) {
	return valueOf[nodedeclaredfeatures.FeatureSet](field(stateOf(state, names.NodeDeclaredFeatures), "reqs"))
}
