package comparison

import (
	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	utilfeature "k8s.io/apiserver/pkg/util/feature"
	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/apis/config"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/feature"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/names"

	"kube-scheduler-simulator/scheduler/recorder"
	"kube-scheduler-simulator/scheduler/result"
)

type facts func(state fwk.CycleState, pod *v1.Pod, scored recorder.Scored) *result.PluginScoreFacts

type scorer struct {
	facts
	rule result.Normalization
}

var _ recorder.Scorer = scorer{}

func (s scorer) Normalization() result.Normalization { return s.rule }

func (s scorer) Facts(state fwk.CycleState, pod *v1.Pod, scored recorder.Scored) *result.PluginScoreFacts {
	return s.facts(state, pod, scored)
}

// Scorer returns the scorer of a plugin, or nil for an unknown plugin.
func (InTree) Scorer(plugin string, args runtime.Object, h fwk.Handle) recorder.Scorer {
	gates := feature.NewSchedulerFeaturesFromGates(utilfeature.DefaultFeatureGate)
	switch plugin {
	case names.NodeResourcesFit:
		return scorer{scoreFit(args), result.NotNormalized}
	case names.NodeResourcesBalancedAllocation:
		return scorer{scoreBalance(args), result.NotNormalized}
	case names.ImageLocality:
		return scorer{scoreImages(h), result.NotNormalized}
	case names.NodeAffinity:
		return scorer{scorePreferences(args), result.HighestIs100}
	case names.TaintToleration:
		return scorer{scoreTaints(gates), result.LowestIs100}
	case names.PodTopologySpread:
		return scorer{scoreSpread(args), result.SpreadTo100}
	case names.InterPodAffinity:
		return scorer{scorePodTerms(args, h), result.RangeTo100}
	case names.VolumeBinding:
		return scorer{scoreVolumes(args, gates), result.NotNormalized}
	case names.DynamicResources:
		return scorer{scoreDevices(gates), result.HighestIs100}
	}
	return nil
}

// shapeOf returns the points of a shape, whose scores are from 0 to 10 in the arguments.
func shapeOf(points []config.UtilizationShapePoint) []result.ShapePoint {
	const scale = fwk.MaxScore / config.MaxCustomPriorityScore
	var out []result.ShapePoint
	for _, p := range points {
		out = append(out, result.ShapePoint{Utilization: int64(p.Utilization), Score: int64(p.Score) * scale})
	}
	return out
}
