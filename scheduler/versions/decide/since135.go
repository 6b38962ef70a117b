//go:build !kubernetes134

package decide

import (
	"context"

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

func (r *recorded) StoreScheduleResults(context.Context, fwk.PodSignature, string, string, framework.SortedScoredNodes, int64) {
}
