package comparison

import (
	"slices"
	"strings"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	corev1helpers "k8s.io/component-helpers/scheduling/corev1"
	"k8s.io/component-helpers/scheduling/corev1/nodeaffinity"
	"k8s.io/klog/v2"
	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/apis/config"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/feature"

	"kube-scheduler-simulator/scheduler/recorder"
	"kube-scheduler-simulator/scheduler/result"
)

// scoreImages is ImageLocality's.
func scoreImages(h fwk.Handle) facts {
	return func(_ fwk.CycleState, pod *v1.Pod, scored recorder.Scored) *result.PluginScoreFacts {
		all, err := h.SnapshotSharedLister().NodeInfos().List()
		if err != nil {
			return nil
		}
		out := &result.ImageScore{ClusterNodes: len(all), Images: []result.ScoredImage{}}
		for image := range imagesOf(pod) {
			out.Containers++
			countImage(out, imageName(image), scored.Nodes)
		}
		return &result.PluginScoreFacts{Images: out}
	}
}

func imagesOf(pod *v1.Pod) func(yield func(string) bool) {
	return func(yield func(string) bool) {
		for _, containers := range [][]v1.Container{pod.Spec.InitContainers, pod.Spec.Containers} {
			for i := range containers {
				if !yield(containers[i].Image) {
					return
				}
			}
		}
		for i := range pod.Spec.Volumes {
			if image := pod.Spec.Volumes[i].Image; image != nil && !yield(image.Reference) {
				return
			}
		}
	}
}

// imageName adds the tag latest to a name without a tag, as the plugin does.
func imageName(image string) string {
	if strings.LastIndex(image, ":") <= strings.LastIndex(image, "/") {
		return image + ":latest"
	}
	return image
}

func countImage(to *result.ImageScore, image string, nodes []fwk.NodeInfo) {
	if at := slices.IndexFunc(to.Images, func(i result.ScoredImage) bool { return i.Name == image }); at >= 0 {
		to.Images[at].Times++
		return
	}
	var counted *result.ScoredImage
	for at, node := range nodes {
		state, ok := node.GetImageStates()[image]
		if !ok {
			continue
		}
		if counted == nil {
			to.Images = append(to.Images, result.ScoredImage{
				Name: image, Times: 1, Size: make([]int64, len(nodes)), Nodes: make([]int64, len(nodes)),
			})
			counted = &to.Images[len(to.Images)-1]
		}
		counted.Size[at], counted.Nodes[at] = state.Size, int64(state.NumNodes)
	}
}

// scorePreferences is NodeAffinity's.
func scorePreferences(args runtime.Object) facts {
	var added []preference
	if own, ok := args.(*config.NodeAffinityArgs); ok && own.AddedAffinity != nil {
		added = parsePreferences(own.AddedAffinity.PreferredDuringSchedulingIgnoredDuringExecution, "addedAffinity")
	}
	return func(_ fwk.CycleState, pod *v1.Pod, scored recorder.Scored) *result.PluginScoreFacts {
		terms := added
		if a := pod.Spec.Affinity; a != nil && a.NodeAffinity != nil {
			terms = slices.Concat(added, parsePreferences(a.NodeAffinity.PreferredDuringSchedulingIgnoredDuringExecution, "nodeAffinity"))
		}
		out := &result.PreferenceScore{Terms: []result.Preference{}}
		for _, term := range terms {
			said := term.Preference
			said.Met = make([]bool, len(scored.Nodes))
			for at, node := range scored.Nodes {
				said.Met[at] = term.parsed.Score(node.Node()) != 0
			}
			out.Terms = append(out.Terms, said)
		}
		return &result.PluginScoreFacts{Preferences: out}
	}
}

type preference struct {
	result.Preference
	parsed *nodeaffinity.PreferredSchedulingTerms
}

// parsePreferences leaves out terms that never count.
func parsePreferences(from []v1.PreferredSchedulingTerm, source string) []preference {
	var out []preference
	for _, term := range from {
		parsed, err := nodeaffinity.NewPreferredSchedulingTerms([]v1.PreferredSchedulingTerm{term})
		if err != nil || term.Weight == 0 {
			continue
		}
		p := preference{result.Preference{Source: source, Weight: int64(term.Weight), Requirements: []result.Requirement{}}, parsed}
		for _, requirements := range [][]v1.NodeSelectorRequirement{term.Preference.MatchExpressions, term.Preference.MatchFields} {
			for _, r := range requirements {
				p.Requirements = append(p.Requirements, result.Requirement{Key: r.Key, Operator: string(r.Operator), Values: r.Values})
			}
		}
		out = append(out, p)
	}
	return out
}

// scoreTaints is TaintToleration's.
func scoreTaints(gates feature.Features) facts {
	logger := klog.Background()
	return func(_ fwk.CycleState, pod *v1.Pod, scored recorder.Scored) *result.PluginScoreFacts {
		// The plugin looks only at tolerations of this effect and of all effects, but
		// others do not tolerate the taint either.
		out := &result.TaintScore{Taints: []result.ScoredTaint{}}
		for at, node := range scored.Nodes {
			for i := range node.Node().Spec.Taints {
				taint := &node.Node().Spec.Taints[i]
				if taint.Effect == v1.TaintEffectPreferNoSchedule &&
					!corev1helpers.TolerationsTolerateTaint(logger, pod.Spec.Tolerations, taint, gates.EnableTaintTolerationComparisonOperators) {
					countTaint(out, taint, at, len(scored.Nodes))
				}
			}
		}
		return &result.PluginScoreFacts{Taints: out}
	}
}

func countTaint(to *result.TaintScore, taint *v1.Taint, at, nodes int) {
	known := slices.IndexFunc(to.Taints, func(t result.ScoredTaint) bool { return t.Key == taint.Key && t.Value == taint.Value })
	if known < 0 {
		known = len(to.Taints)
		to.Taints = append(to.Taints, result.ScoredTaint{Key: taint.Key, Value: taint.Value, On: make([]bool, nodes)})
	}
	to.Taints[known].On[at] = true
}
