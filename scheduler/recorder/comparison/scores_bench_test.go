package comparison

import (
	"fmt"
	"testing"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/apis/config"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/names"

	"kube-scheduler-simulator/scheduler/recorder"
	"kube-scheduler-simulator/scheduler/result"
)

// BenchmarkScoreFacts reads the inputs of a plugin's scores as once per cycle, beside the
// Score calls for the 500 feasible nodes that a cluster of 1,000 has.
func BenchmarkScoreFacts(b *testing.B) {
	amounts := v1.ResourceList{v1.ResourceCPU: resource.MustParse("500m"), v1.ResourceMemory: resource.MustParse("256Mi")}
	specs := []config.ResourceSpec{{Name: "cpu", Weight: 1}, {Name: "memory", Weight: 1}}
	for plugin, args := range map[string]runtime.Object{
		names.NodeResourcesFit:                &config.NodeResourcesFitArgs{ScoringStrategy: &config.ScoringStrategy{Type: config.LeastAllocated, Resources: specs}},
		names.NodeResourcesBalancedAllocation: &config.NodeResourcesBalancedAllocationArgs{Resources: specs},
		names.ImageLocality:                   nil,
		names.TaintToleration:                 nil,
		names.PodTopologySpread:               &config.PodTopologySpreadArgs{DefaultingType: config.SystemDefaulting},
		names.InterPodAffinity:                &config.InterPodAffinityArgs{HardPodAffinityWeight: 1},
	} {
		c := &cluster{args: args, pod: pod("p", ""), dra: manager}
		c.pod.Labels["app"] = "web"
		c.pod.Spec.Containers = []v1.Container{{Image: "web:1", Resources: v1.ResourceRequirements{Requests: amounts}}}
		selector := &metav1.LabelSelector{MatchLabels: map[string]string{"app": "web"}}
		c.pod.Spec.TopologySpreadConstraints = []v1.TopologySpreadConstraint{{TopologyKey: v1.LabelHostname, MaxSkew: 1, WhenUnsatisfiable: v1.ScheduleAnyway, LabelSelector: selector}}
		c.pod.Spec.Affinity = &v1.Affinity{PodAffinity: &v1.PodAffinity{PreferredDuringSchedulingIgnoredDuringExecution: []v1.WeightedPodAffinityTerm{
			{Weight: 10, PodAffinityTerm: v1.PodAffinityTerm{TopologyKey: v1.LabelTopologyZone, LabelSelector: selector}},
		}}}
		for i := range 500 {
			name := fmt.Sprint("n", i)
			c.nodes = append(c.nodes, &v1.Node{
				ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{v1.LabelHostname: name, v1.LabelTopologyZone: fmt.Sprint("z", i%3)}},
				Status: v1.NodeStatus{
					Allocatable: v1.ResourceList{v1.ResourceCPU: resource.MustParse("32"), v1.ResourceMemory: resource.MustParse("128Gi"), v1.ResourcePods: resource.MustParse("110")},
					Images:      []v1.ContainerImage{{Names: []string{"web:1"}, SizeBytes: 1 << 28}},
				},
			})
			for j := range 8 {
				on := pod(fmt.Sprint("on-", i, "-", j), name)
				on.Labels["app"] = "web"
				on.Spec.Containers = c.pod.Spec.Containers
				c.placed = append(c.placed, on)
			}
		}
		b.Run(plugin, func(b *testing.B) { benchmarkFacts(b, plugin, c) })
	}
}

func benchmarkFacts(b *testing.B, plugin string, c *cluster) {
	t := &testing.T{}
	s := build(b.Context(), t, plugin, c)
	state, nodes := s.feasible(b.Context(), t)
	if status := s.framework.RunPreScorePlugins(b.Context(), state, c.pod, nodes); !status.IsSuccess() || t.Failed() {
		b.Fatal(status)
	}
	answer, status := s.framework.RunScorePlugins(b.Context(), state, c.pod, nodes)
	if !status.IsSuccess() {
		b.Fatal(status)
	}
	scored := recorder.Scored{Nodes: nodes[:result.MaxScoreFacts], Count: len(nodes), All: func(yield func(string, int64) bool) {
		for _, row := range answer {
			if !yield(row.Name, row.RawScores[0].Score) {
				return
			}
		}
	}}
	b.Run("facts", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			if s.scorer.Facts(state, c.pod, scored) == nil {
				b.Fatal("no facts")
			}
		}
	})
	b.Run("scores", func(b *testing.B) {
		for b.Loop() {
			if _, status := s.framework.RunScorePlugins(b.Context(), state, c.pod, []fwk.NodeInfo(nodes)); !status.IsSuccess() {
				b.Fatal(status)
			}
		}
	})
}
