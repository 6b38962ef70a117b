package scheduler_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/go-logr/logr"
	"github.com/google/go-cmp/cmp"
	v1 "k8s.io/api/core/v1"
	schedulingv1beta1 "k8s.io/api/scheduling/v1beta1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/klog/v2"
	st "k8s.io/kubernetes/pkg/scheduler/testing"

	"kube-scheduler-simulator/scheduler"
	"kube-scheduler-simulator/scheduler/config"
	"kube-scheduler-simulator/scheduler/explain"
	"kube-scheduler-simulator/scheduler/result"
	"kube-scheduler-simulator/scheduler/schedulertest"
)

// TestPodGroupsAreRecorded schedules one pod group with Kubernetes' plugins, and
// reads the group in its members' first cycles.
func TestPodGroupsAreRecorded(t *testing.T) {
	setGates(t, map[string]bool{"GenericWorkload": true, "TopologyAwareWorkloadScheduling": true})
	for _, tc := range []struct {
		name    string
		objects []runtime.Object
		group   *schedulingv1beta1.PodGroup
		pods    int
		want    string
	}{
		{
			"no room for enough",
			[]runtime.Object{rackNode("n1", "r1", 2), rackNode("n2", "r1", 1)},
			gang(4, ""), 6, `
group default/g needs 4 of 6 members, unschedulable
placement "": 2 nodes, 6 tried, 3 assigned, Unschedulable by GangScheduling, blocked by NodeResourcesFit for 3 members: [Insufficient cpu]
DefaultPreemption UnschedulableAndUnresolvable
3 of placement "": fits no node: 2 nodes rejected, 2 by NodeResourcesFit. No member proceeds: its pod group g needs 4 members, and nodes were found for only 3; nodes were rejected by NodeResourcesFit for 3 members (Insufficient cpu).
3 of placement "": was assigned, but its pod group g needs 4 members, and nodes were found for only 3; nodes were rejected by NodeResourcesFit for 3 members (Insufficient cpu).
`,
		}, {
			"enough, not all",
			[]runtime.Object{rackNode("n1", "r1", 2), rackNode("n2", "r1", 2)},
			gang(3, ""), 5, `
group default/g needs 3 of 5 members, scheduled
placement "": 2 nodes, 5 tried, 4 assigned, Success, chosen, blocked by NodeResourcesFit for 1 members: [Insufficient cpu]
1 of placement "": fits no node: 2 nodes rejected, 2 by NodeResourcesFit. Its pod group g has nodes for 4 of 5 members, and needs 3.
4 of placement "": runs. Its pod group g has nodes for 4 of 5 members, and needs 3.
`,
		}, {
			"one rack for all",
			[]runtime.Object{rackNode("n1", "small", 1), rackNode("n2", "right", 2), rackNode("n3", "right", 2), rackNode("n4", "enough", 2)},
			gang(2, "rack"), 3, `
group default/g needs 2 of 3 members, scheduled, by rack
placement "enough": 1 nodes, 3 tried, 2 assigned, Success, scored by NodeResourcesFit, PodGroupPodsCount, blocked by NodeResourcesFit for 1 members: [Insufficient cpu]
placement "right": 2 nodes, 3 tried, 3 assigned, Success, chosen, scored by NodeResourcesFit, PodGroupPodsCount
placement "small": 1 nodes, 3 tried, 1 assigned, Unschedulable by GangScheduling, blocked by NodeResourcesFit for 2 members: [Insufficient cpu]
3 of placement "right": runs. Its pod group g has nodes for 3 of 3 members, and needs 2, in rack=right: total 175, the best of 2 placements that fit, of 3.
`,
		}, {
			"no rack",
			[]runtime.Object{rackNode("n1", "r1", 2)},
			gang(2, "example.com/row"), 2, `
group default/g needs 2 of 2 members, unschedulable, by example.com/row
placement "": 1 nodes, 0 tried, 0 assigned, Unschedulable by TopologyPlacementGenerator: [no feasible placements found]
DefaultPreemption UnschedulableAndUnresolvable
2 of no placement: was not tried: its pod group g was rejected before any member was tried: no feasible placements found.
`,
		}, {
			"by preemption",
			[]runtime.Object{rackNode("n1", "r1", 2), rackNode("n2", "r1", 1), runningPod("low-1", "n1", ""), runningPod("low-2", "n1", ""), runningPod("low-3", "n2", "")},
			gang(2, ""), 2, `
group default/g needs 2 of 2 members, unschedulable
placement "": 2 nodes, 1 tried, 0 assigned, Unschedulable by GangScheduling, blocked by NodeResourcesFit for 1 members: [Insufficient cpu]
DefaultPreemption Success
preemption, helpful true: 2 victims, 1 reprieved
1 of no placement: was not tried, because its pod group g needs 2 members, and nodes were found for only 0; nodes were rejected by NodeResourcesFit for 1 member (Insufficient cpu). DefaultPreemption makes room for the group by removing 2 pods.
1 of placement "": fits no node: 2 nodes rejected, 2 by NodeResourcesFit. No member proceeds: its pod group g needs 2 members, and nodes were found for only 0; nodes were rejected by NodeResourcesFit for 1 member (Insufficient cpu). DefaultPreemption makes room for the group by removing 2 pods.
`,
		}, {
			"by preemption of a whole group",
			[]runtime.Object{
				rackNode("n1", "r1", 1), rackNode("n2", "r1", 1),
				st.MakePodGroup().Name("all").Namespace(schedulertest.Namespace).MinCount(1).Priority(5).DisruptionModeAll().Obj(),
				runningPod("all-1", "n1", "all"), runningPod("all-2", "n2", "all"),
			},
			gang(1, ""), 1, `
group default/g needs 1 of 1 members, unschedulable
placement "": 2 nodes, 1 tried, 0 assigned, Unschedulable by GangScheduling, blocked by NodeResourcesFit for 1 members: [Insufficient cpu]
DefaultPreemption Success
preemption, helpful true: 2 victims, 0 reprieved
victim all-1 on n1 of group all, priority 5
victim all-2 on n2 of group all, priority 5
1 of placement "": fits no node: 2 nodes rejected, 2 by NodeResourcesFit. No member proceeds: its pod group g needs 1 members, and nodes were found for only 0; nodes were rejected by NodeResourcesFit for 1 member (Insufficient cpu). DefaultPreemption makes room for the group by removing 2 pods.
`,
		}, {
			"preemption would not help",
			[]runtime.Object{rackNode("n1", "r1", 1), runningPod("low-1", "n1", "")},
			gang(2, ""), 2, `
group default/g needs 2 of 2 members, unschedulable
placement "": 1 nodes, 1 tried, 0 assigned, Unschedulable by GangScheduling, blocked by NodeResourcesFit for 1 members: [Insufficient cpu]
DefaultPreemption Unschedulable
preemption, helpful false: 0 victims, 1 reprieved
1 of no placement: was not tried, because its pod group g needs 2 members, and nodes were found for only 0; nodes were rejected by NodeResourcesFit for 1 member (Insufficient cpu). It would not fit even without 1 pod of lower priority.
1 of placement "": fits no node: 1 node rejected, 1 by NodeResourcesFit. No member proceeds: its pod group g needs 2 members, and nodes were found for only 0; nodes were rejected by NodeResourcesFit for 1 member (Insufficient cpu). It would not fit even without 1 pod of lower priority.
`,
		},
	} {
		t.Run(tc.name, func(t *testing.T) {
			cycles := scheduleGroup(t, tc.objects, tc.group, tc.pods)
			if diff := cmp.Diff(strings.TrimSpace(tc.want), tellGroup(cycles)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func rackNode(name, rack string, cpu int) *v1.Node {
	return st.MakeNode().Name(name).Label("rack", rack).Capacity(map[v1.ResourceName]string{v1.ResourceCPU: fmt.Sprint(cpu), v1.ResourcePods: "10"}).Obj()
}

func runningPod(name, node, group string) *v1.Pod {
	p := st.MakePod().Name(name).UID(name).Namespace(schedulertest.Namespace).Node(node).Req(map[v1.ResourceName]string{v1.ResourceCPU: "1"})
	if group != "" {
		p = p.PodGroupName(group)
	}
	return p.Obj()
}

func gang(minCount int32, topologyKey string) *schedulingv1beta1.PodGroup {
	g := st.MakePodGroup().Name("g").Namespace(schedulertest.Namespace).MinCount(minCount).Priority(10)
	if topologyKey != "" {
		g = g.TopologyKey(topologyKey)
	}
	return g.Obj()
}

// scheduleGroup returns the first cycles of the pods of a group, by name.
func scheduleGroup(t *testing.T, objects []runtime.Object, group *schedulingv1beta1.PodGroup, pods int) []*result.Cycle {
	ctx, cancel := context.WithTimeout(klog.NewContext(t.Context(), logr.Discard()), 20*time.Second)
	defer cancel()
	api := schedulertest.NewAPIServer()
	objects = append(objects, group)
	for i := range pods {
		objects = append(objects, st.MakePod().Name(fmt.Sprint("p", i)).Namespace(schedulertest.Namespace).SchedulerName(v1.DefaultSchedulerName).
			Req(map[v1.ResourceName]string{v1.ResourceCPU: "1"}).PodGroupName(group.Name).Priority(10).Obj())
	}
	if err := schedulertest.Fill(ctx, api, objects); err != nil {
		t.Fatal(err)
	}
	parsed, err := config.Parse([]byte("apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\n"))
	if err != nil {
		t.Fatal(err)
	}
	cycles := &sink{}
	w := &watcher{attempts: map[string]*attempted{}, ended: make(chan string, 1000)}
	s := scheduler.New(scheduler.Options{Client: api.Config("scheduler"), Configuration: parsed.Internal, Sink: cycles})
	if err := s.StartOutside(ctx, w.events, w.attach); err != nil {
		t.Fatal(err)
	}
	err = wait.PollUntilContextCancel(ctx, time.Millisecond, true, func(context.Context) (bool, error) { return len(cycles.first()) == pods, nil })
	if err != nil {
		t.Errorf("%d of %d pods were tried: %v", len(cycles.first()), pods, err)
	}
	if err := s.Stop(ctx); err != nil {
		t.Fatal(err)
	}
	return cycles.first()
}

// first returns the first cycle of each pod, by name.
func (s *sink) first() []*result.Cycle {
	s.mu.Lock()
	defer s.mu.Unlock()
	var out []*result.Cycle
	for _, attempts := range s.attempts {
		out = append(out, attempts[0])
	}
	slices.SortFunc(out, func(a, b *result.Cycle) int { return strings.Compare(a.Pod.Name, b.Pod.Name) })
	return out
}

// tellGroup prints the group that the members' cycles share, and counts the cycles
// that are alike.
func tellGroup(cycles []*result.Cycle) string {
	g := cycles[0].PodGroup
	if g == nil {
		return "no group"
	}
	head := fmt.Sprintf("group %s/%s needs %d of %d members, %s", g.Namespace, g.Name, g.MinCount, g.MemberCount, g.Outcome)
	if g.TopologyKey != "" {
		head += ", by " + g.TopologyKey
	}
	var placements, members []string
	for i, p := range g.Placements {
		placements = append(placements, tellPlacement(&p, g.Chosen != nil && *g.Chosen == i))
	}
	slices.Sort(placements) // the generator's order is random
	for _, p := range g.PostFilter {
		if p.Plugin == "DefaultPreemption" {
			placements = append(placements, p.Plugin+" "+p.Status)
		}
	}
	placements = append(placements, tellPreemption(g.Preemption)...)
	said := map[string]int{}
	for _, c := range cycles {
		said[tellMember(c)]++
	}
	for line, n := range said {
		members = append(members, fmt.Sprintf("%d of %s", n, line))
	}
	slices.Sort(members)
	return strings.Join(slices.Concat([]string{head}, placements, members), "\n")
}

// tellPreemption names only victims that belong to groups: the choice of other
// victims is random.
func tellPreemption(p *result.GroupPreemption) []string {
	if p == nil {
		return nil
	}
	lines := []string{fmt.Sprintf("preemption, helpful %v: %d victims, %d reprieved", p.Helpful, p.VictimCount, p.ReprievedCount)}
	for _, v := range p.Victims {
		if v.PodGroup != "" {
			lines = append(lines, fmt.Sprintf("victim %s on %s of group %s, priority %d", v.Pod.Name, v.Node, v.PodGroup, v.Priority))
		}
	}
	return lines
}

func tellPlacement(p *result.Placement, chosen bool) string {
	line := fmt.Sprintf("placement %q: %d nodes, %d tried, %d assigned, %s", p.Name, p.Nodes, p.Tried, p.Assigned, p.Status)
	if p.Plugin != "" {
		line += " by " + p.Plugin
	}
	if p.Tried == 0 {
		line += fmt.Sprintf(": %v", p.Reasons)
	}
	if chosen {
		line += ", chosen"
	}
	var scored []string
	for plugin := range p.Scores {
		scored = append(scored, plugin)
	}
	if len(scored) > 0 {
		slices.Sort(scored)
		line += ", scored by " + strings.Join(scored, ", ")
	}
	for _, b := range p.BlockedBy {
		line += fmt.Sprintf(", blocked by %s for %d members: %v", b.Plugin, b.Members, b.Reasons)
	}
	return line
}

// tellMember leaves out the differences between equivalent members: their names and
// their nodes within the placement.
func tellMember(c *result.Cycle) string {
	where := "no placement"
	if c.PodGroup.Placement != nil {
		where = fmt.Sprintf("placement %q", c.PodGroup.Placements[*c.PodGroup.Placement].Name)
	}
	said := strings.TrimPrefix(explain.Cycle(c).Sentence, c.Pod.Name+" ")
	if at := strings.Index(said, ": "); c.SelectedNode != "" && at >= 0 && c.Outcome == result.Scheduled {
		said = "runs" + said[strings.Index(said, ". Its"):]
	}
	said = strings.Replace(said, "was assigned to "+c.SelectedNode, "was assigned", 1)
	return where + ": " + said
}
