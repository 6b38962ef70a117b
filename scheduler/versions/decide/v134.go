//go:build kubernetes134

package decide

import (
	"k8s.io/component-base/featuregate"
	"k8s.io/kubernetes/pkg/scheduler/framework"
)

type (
	plugin           = framework.Plugin
	scorePlugin      = framework.ScorePlugin
	preFilterResult  = framework.PreFilterResult
	nodePluginScores = framework.NodePluginScores
	claimTracker     = framework.ResourceClaimTracker
)

// dependencies are not known in this version.
func dependencies() map[featuregate.Feature][]string { return nil }
