package explain

import (
	"testing"

	"kube-scheduler-simulator/scheduler/result"
)

func sentencesAboutAlignment() []spoken {
	const plugin = "NodeResourceTopologyMatch"
	cpu := func(available int64) result.ZoneShortage {
		return result.ZoneShortage{Resource: "cpu", Requested: 4000, Available: available}
	}
	noGPU := result.ZoneShortage{Resource: "example.com/gpu", Requested: 1, Absent: true}
	zone := func(name string, short ...result.ZoneShortage) result.ZoneComparison {
		return result.ZoneComparison{Zone: name, Short: short}
	}
	var out []spoken
	for _, tc := range []struct {
		name      string
		nodes     []string
		alignment result.AlignmentComparison
		want      string
	}{
		{
			"one resource", []string{"n1"}, result.AlignmentComparison{Role: "container", Container: "web", Zones: []result.ZoneComparison{zone("node-0", cpu(2000)), zone("node-1", cpu(3500))}},
			"web-1 fits no node: 1 node rejected, 1 by NodeResourceTopologyMatch. No NUMA node of n1 has 4 cpu for container web: node-0 has 2, node-1 has 3.5.",
		}, {
			"the pod", []string{"n1"}, result.AlignmentComparison{Role: "pod", Zones: []result.ZoneComparison{zone("node-0", noGPU), zone("node-1", noGPU)}},
			"web-1 fits no node: 1 node rejected, 1 by NodeResourceTopologyMatch. No NUMA node of n1 has 1 example.com/gpu for the pod as a whole: node-0 has none, node-1 has none.",
		}, {
			"different resources", []string{"n1", "n2"}, result.AlignmentComparison{Role: "init container", Container: "load", Zones: []result.ZoneComparison{zone("node-0", cpu(2000)), zone("node-1", noGPU)}},
			"web-1 fits no node: 2 nodes rejected, 2 by NodeResourceTopologyMatch. Of the 2 nodes that cannot align it, n1 is the closest fit: no NUMA node there has all that init container load needs: node-0 has 2 of 4 cpu, node-1 has no example.com/gpu.",
		}, {
			"many NUMA nodes", []string{"n1"}, result.AlignmentComparison{Role: "container", Container: "web", Zones: []result.ZoneComparison{
				zone("node-0", cpu(0)), zone("node-1", cpu(1000)), zone("node-2", cpu(2000)), zone("node-3", cpu(3000)), zone("node-4", cpu(3000)),
			}},
			"web-1 fits no node: 1 node rejected, 1 by NodeResourceTopologyMatch. No NUMA node of n1 has 4 cpu for container web: node-0 has 0, node-1 has 1, node-2 has 2, 2 more.",
		}, {
			"no NUMA nodes", []string{"n1"}, result.AlignmentComparison{Role: "container", Container: "web"},
			"web-1 fits no node: 1 node rejected, 1 by NodeResourceTopologyMatch. No NUMA node of n1 has all that container web needs.",
		},
	} {
		b := result.NewFilterBuilder([]string{plugin}, len(tc.nodes))
		for _, n := range tc.nodes {
			b.Add(n, "R", plugin, []string{"cannot align container"})
		}
		f := b.Filter()
		f.Comparisons = []result.Comparison{{Node: "n1", Plugin: plugin, Alignment: &tc.alignment}}
		c := result.Cycle{
			Summary: result.Summary{Pod: result.Pod{Name: "web-1"}, Outcome: result.Unschedulable, Nodes: result.NodeCounts{Total: len(tc.nodes), Evaluated: len(tc.nodes)}},
			Filter:  f,
		}
		out = append(out, spoken{"NUMA: " + tc.name, c, tc.want})
	}
	return out
}

func TestSentencesAboutAlignment(t *testing.T) {
	for _, tc := range sentencesAboutAlignment() {
		if got := Cycle(&tc.cycle).Sentence; got != tc.want {
			t.Errorf("%s:\n%s, want\n%s", tc.name, got, tc.want)
		}
	}
}
