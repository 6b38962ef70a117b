//go:build !kubernetes134

package decide

import (
	"context"

	utilfeature "k8s.io/apiserver/pkg/util/feature"
	"k8s.io/component-base/featuregate"
	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/framework"
)

type (
	plugin           = fwk.Plugin
	scorePlugin      = fwk.ScorePlugin
	preFilterResult  = fwk.PreFilterResult
	nodePluginScores = fwk.NodePluginScores
	claimTracker     = fwk.ResourceClaimTracker
)

// dependencies are the gates that each gate requires.
func dependencies() map[featuregate.Feature][]string {
	out := map[featuregate.Feature][]string{}
	for gate, required := range utilfeature.DefaultMutableFeatureGate.Dependencies() {
		for _, r := range required {
			out[gate] = append(out[gate], string(r))
		}
	}
	return out
}

func (r *recorded) StoreScheduleResults(context.Context, fwk.PodSignature, string, string, framework.SortedScoredNodes, int64) {
}
