package explain

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"kube-scheduler-simulator/scheduler/result"
)

func sentencesAboutUse() []spoken {
	pod := func(name string) result.Pod { return result.Pod{Namespace: "default", Name: name} }
	level := int64(2000)
	short := func(name string, resource result.ResourceComparison, requests ...result.PodRequest) result.Cycle {
		b := result.NewFilterBuilder([]string{"NodeResourcesFit"}, 1)
		b.Add("only", "R", "NodeResourcesFit", []string{"Insufficient " + resource.Name})
		f := b.Filter()
		f.Comparisons = []result.Comparison{{Node: "only", Plugin: "NodeResourcesFit", Resources: []result.ResourceComparison{resource}}}
		f.Requests = requests
		return result.Cycle{Summary: result.Summary{Pod: result.Pod{Name: name}, Outcome: result.Unschedulable, Nodes: result.NodeCounts{Total: 1, Evaluated: 1}}, Filter: f}
	}
	cpu := func(requested, inUse, allocatable int64, use *result.ResourceUse) result.ResourceComparison {
		return result.ResourceComparison{Name: "cpu", Requested: requested, InUse: inUse, Allocatable: allocatable, Use: use}
	}
	const head = " fits no node: 1 node rejected, 1 by NodeResourcesFit. only lacks "
	return []spoken{
		{"a terminating pod", short("next", cpu(3000, 3000, 4000, &result.ResourceUse{
			Pods: []result.ResourceHolder{{Pod: pod("old"), Amount: 3000, Terminating: true}}, Terminating: 3000, TerminatingPods: 1, Described: 3000,
		})), "next" + head + "2 cpu. 3 of the 3 cpu in use on only will be free: default/old is terminating."},
		{"many terminating pods", short("next", cpu(3000, 4000, 4000, &result.ResourceUse{
			Pods: []result.ResourceHolder{
				{Pod: pod("a"), Amount: 500, Terminating: true}, {Pod: pod("b"), Amount: 500, Terminating: true}, {Pod: pod("c"), Amount: 500, Terminating: true},
				{Pod: pod("d"), Amount: 500, Terminating: true}, {Pod: pod("e"), Amount: 500, Terminating: true}, {Pod: pod("f"), Amount: 500, Terminating: true},
			}, Others: 2, OthersAmount: 1000, Terminating: 3500, TerminatingPods: 7, Described: 4000,
		})), "next" + head + "3 cpu. 3.5 of the 4 cpu in use on only will be free: default/a, default/b, default/c, 4 more are terminating."},
		{"a nominated pod", nominating(short("small", cpu(1000, 6000, 4000, &result.ResourceUse{
			Pods:        []result.ResourceHolder{{Pod: pod("high"), Amount: 3000, Nominated: true}, {Pod: pod("old"), Amount: 3000, Terminating: true}},
			Terminating: 3000, TerminatingPods: 1, Nominated: 3000, NominatedPods: 1, Described: 3000,
		})), pod("high")), "small fits no node: 1 node rejected, 1 by NodeResourcesFit. " +
			"1 node was rejected with the pods nominated to it counted as running there (default/high); the scheduler did not try it without them. The pods nominated to only count 3 cpu there. " +
			"only lacks 3 cpu. 3 of the 6 cpu in use on only will be free: default/old is terminating. " +
			"On only, kubectl describe shows 3 cpu and not 6: it leaves out pods that are only nominated."},
		{"a pod that waits for a permit", short("small", cpu(1000, 4000, 4000, &result.ResourceUse{
			Pods: []result.ResourceHolder{{Pod: pod("gang-0"), Amount: 3000, Permit: true}, {Pod: pod("web"), Amount: 1000}}, Permit: 3000, PermitPods: 1, Described: 1000,
		})), "small" + head + "1 cpu. default/gang-0 was assigned to only and counts 3 cpu there while it waits for a permit. " +
			"On only, kubectl describe shows 1 cpu and not 4: it leaves out pods that wait for a permit."},
		{"pods that wait for a permit", short("small", cpu(1000, 4000, 4000, &result.ResourceUse{
			Pods: []result.ResourceHolder{{Pod: pod("gang-0"), Amount: 2000, Permit: true}, {Pod: pod("gang-1"), Amount: 2000, Permit: true}}, Permit: 4000, PermitPods: 2,
		})), "small" + head + "1 cpu. default/gang-0, default/gang-1 were assigned to only and count 4 cpu there while they wait for a permit. " +
			"On only, kubectl describe shows 0 cpu and not 4: it leaves out pods that wait for a permit."},
		{"a deferred resize", short("job", cpu(500, 4500, 4000, &result.ResourceUse{
			Pods: []result.ResourceHolder{{Pod: pod("db"), Amount: 3500, Resize: &result.Resize{Asked: 3500, Granted: 2000, State: result.ResizeDeferred}}, {Pod: pod("web"), Amount: 1000}}, Described: 4500,
		})), "job" + head + "1 cpu. default/db counts 3.5 cpu: it asked for a resize from 2 to 3.5 that is deferred."},
		{"an infeasible resize", short("job", cpu(500, 4000, 4000, &result.ResourceUse{
			Pods: []result.ResourceHolder{{Pod: pod("db"), Amount: 4000, Resize: &result.Resize{Asked: 9000, Granted: 4000, State: result.ResizeInfeasible}}}, Described: 9000,
		})), "job" + head + "0.5 cpu. default/db counts 4 cpu: it asked for a resize from 4 to 9 that is infeasible. " +
			"On only, kubectl describe shows 9 cpu and not 4: it adds up what pods ask for, whatever they were granted."},
		{"a resize to less", short("job", cpu(500, 4000, 4000, &result.ResourceUse{
			Pods: []result.ResourceHolder{{Pod: pod("db"), Amount: 4000, Resize: &result.Resize{Asked: 1000, Granted: 4000, State: result.ResizeInProgress}}}, Described: 1000,
		})), "job" + head + "0.5 cpu. default/db counts 4 cpu: it asked for a resize from 4 to 1 that is not complete. " +
			"On only, kubectl describe shows 1 cpu and not 4: it adds up what pods ask for, whatever they were granted."},
		{"an init container and a sidecar", short("shop", cpu(300, 0, 250, nil), result.PodRequest{Resource: "cpu", Amount: 300, Init: "migrate", Parts: []result.RequestPart{
			{Container: "migrate", Role: result.RoleInit, Amount: 200}, {Container: "proxy", Role: result.RoleSidecar, Amount: 100},
		}}), "shop" + head + "0.05 cpu. shop requests 0.3 cpu: the init container migrate (0.2) while the sidecar proxy (0.1) runs."},
		{"an init container and sidecars, overhead", short("shop", cpu(350, 0, 250, nil), result.PodRequest{Resource: "cpu", Amount: 350, Overhead: 50, Init: "migrate", Parts: []result.RequestPart{
			{Container: "migrate", Role: result.RoleInit, Amount: 200}, {Container: "proxy", Role: result.RoleSidecar, Amount: 60}, {Container: "logs", Role: result.RoleSidecar, Amount: 40},
		}}), "shop" + head + "0.1 cpu. shop requests 0.35 cpu: the init container migrate (0.2) while the sidecars proxy (0.06), logs (0.04) run + 0.05 overhead."},
		{"an init container alone", short("shop", cpu(400, 0, 250, nil), result.PodRequest{Resource: "cpu", Amount: 400, Init: "migrate", Parts: []result.RequestPart{
			{Container: "migrate", Role: result.RoleInit, Amount: 400},
		}}), "shop" + head + "0.15 cpu. shop requests 0.4 cpu: the init container migrate (0.4)."},
		{"several containers", short("shop", cpu(400, 0, 250, nil), result.PodRequest{Resource: "cpu", Amount: 400, Parts: []result.RequestPart{
			{Container: "web", Role: result.RoleContainer, Amount: 250}, {Container: "proxy", Role: result.RoleSidecar, Amount: 150},
		}}), "shop" + head + "0.15 cpu. shop requests 0.4 cpu: web (0.25) + proxy (0.15)."},
		{"a request of the pod", short("shop", cpu(2000, 0, 250, nil), result.PodRequest{Resource: "cpu", Amount: 2000, PodLevel: &level}),
			"shop" + head + "1.75 cpu. shop requests 2 cpu: 2 for the pod as a whole, whatever its containers request."},
		{"nodes from an extender", fromExtender(), "web runs on node-b2: best total 823 of 6 feasible, 41 ahead of node-a3. " +
			"The extender http://x has no node cache, so the plugins that score were given nodes without their pods and images."},
	}
}

// nominating returns a cycle that counted a pod as running on its only node.
func nominating(c result.Cycle, pod result.Pod) result.Cycle {
	c.Filter.Nominated = []result.NominatedPass{{Node: "only", Pods: []result.Pod{pod}, PodCount: 1, Rejected: true}}
	return c
}

func fromExtender() result.Cycle {
	c := *twelve()
	score := *c.Score
	score.Facts = &result.ScoreFacts{FromExtender: true}
	c.Score = &score
	c.Extenders = []result.ExtenderCall{
		{Plugin: "http://x", Verb: "filter", Status: "Success", WholeNodes: true},
		{Plugin: "http://z", Verb: "filter", Status: "Success"},
	}
	return c
}

func TestSentencesAboutUse(t *testing.T) {
	for _, tc := range sentencesAboutUse() {
		t.Run(tc.name, func(t *testing.T) {
			if diff := cmp.Diff(tc.want, Cycle(&tc.cycle).Sentence); diff != "" {
				t.Error(diff)
			}
		})
	}
}
