package whatif_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	st "k8s.io/kubernetes/pkg/scheduler/testing"

	"kube-scheduler-simulator/scheduler/result"
	"kube-scheduler-simulator/scheduler/whatif"
	"kube-scheduler-simulator/scheduler/whatif/livetest"
)

// rankedScores leaves no ties, which the live scheduler would break by chance.
const rankedScores = `apiVersion: kubescheduler.config.k8s.io/v1
kind: KubeSchedulerConfiguration
profiles:
- schedulerName: default-scheduler
  plugins: {score: {disabled: [{name: "*"}], enabled: [{name: Ranked, weight: 1}]}}
`

func enableGroups(t *testing.T) { livetest.SetGates(t, map[string]bool{"GenericWorkload": true}) }

// gang returns a PodGroup that needs min pods, and its pending pods.
func gang(min int32, cpus ...string) (runtime.Object, []*v1.Pod) {
	group := st.MakePodGroup().Name("gang").Namespace("default").MinCount(min).Obj()
	var pods []*v1.Pod
	for i, cpu := range cpus {
		name := fmt.Sprintf("member-%d", i)
		pods = append(pods, st.MakePod().Name(name).Namespace("default").UID(name).SchedulerName(v1.DefaultSchedulerName).PodGroupName("gang").Priority(0).
			Req(map[v1.ResourceName]string{"cpu": cpu}).Obj())
	}
	return group, pods
}

func groupNode(name, cpu string) *v1.Node {
	return st.MakeNode().Name(name).Label(v1.LabelHostname, name).Capacity(map[v1.ResourceName]string{"cpu": cpu, "memory": "8Gi", "pods": "10"}).Obj()
}

// decided returns the node of each pod of a PodGroup, or its outcome.
func decided(t *testing.T, engine *whatif.Engine, pod string) map[string]string {
	t.Helper()
	out := map[string]string{}
	err := engine.Try(t.Context(), nil, func(ctx context.Context, trial *whatif.Trial) error {
		asked, err := trial.Pod("default", pod)
		if err != nil {
			return err
		}
		cycles, err := trial.DecideGroup(ctx, asked, "")
		for _, c := range cycles {
			if !c.Hypothetical || c.PodGroup == nil || c.PodGroup.Outcome != result.Scheduled && c.Outcome == result.Scheduled {
				t.Errorf("%s: %+v", c.Pod.Name, c.PodGroup)
			}
			if out[c.Pod.Name] = c.SelectedNode; c.Outcome != result.Scheduled {
				out[c.Pod.Name] = string(c.Outcome)
			}
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// TestGroupsAreDecidedAsLive: the live scheduler puts the pods of random groups on the nodes that the engine selects, or puts none anywhere.
func TestGroupsAreDecidedAsLive(t *testing.T) {
	enableGroups(t)
	configuration := livetest.Configuration(t, rankedScores)
	outcomes := map[string]int{}
	for seed := range uint64(24) {
		random := rand.New(rand.NewPCG(seed, 37))
		var state []runtime.Object
		for i := range 2 + random.IntN(3) {
			state = append(state, groupNode(fmt.Sprint("n", i+1), fmt.Sprint(1+random.IntN(2))))
		}
		cpus := make([]string, 2+random.IntN(3))
		for i := range cpus {
			cpus[i] = []string{"600m", "1", "1500m"}[random.IntN(3)]
		}
		group, pods := gang(int32(len(cpus)-random.IntN(2)), cpus...)
		state = append(state, &v1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "default"}}, group)
		for _, p := range pods {
			state = append(state, p)
		}
		got := decided(t, livetest.Engine(t, configuration, state), pods[0].Name)
		for _, node := range got {
			outcomes[strings.TrimRight(node, "0123456789")]++
		}
		want := map[string]string{}
		livetest.Run(t, configuration, state, func(ctx context.Context, c *livetest.Cluster) {
			list, err := c.Client.CoreV1().Pods("default").List(ctx, metav1.ListOptions{})
			if err != nil {
				t.Fatal(err)
			}
			for _, p := range list.Items {
				if want[p.Name] = p.Spec.NodeName; p.Spec.NodeName == "" {
					want[p.Name] = string(result.Unschedulable)
				}
			}
		})
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("seed %d: -live +hypothetical:\n%s", seed, diff)
		}
	}
	if outcomes["n"] < 10 || outcomes[string(result.Unschedulable)] < 10 {
		t.Errorf("the random groups ended as %v", outcomes)
	}
}

// TestCopiesOfAGroup: copies of a new pod of a group are decided about together, and nothing of that stays.
func TestCopiesOfAGroup(t *testing.T) {
	enableGroups(t)
	group, pods := gang(3, "1")
	engine := livetest.Engine(t, livetest.Configuration(t, rankedScores), []runtime.Object{groupNode("n1", "1"), groupNode("n2", "1"), groupNode("n3", "1"), group})
	for range 2 {
		for copies, want := range map[int][]string{2: {"", ""}, 3: {"n1", "n2", "n3"}, 4: {"n1", "n2", "n3", ""}} {
			answer, err := engine.Ask(t.Context(), whatif.Question{Pod: pods[0], Copies: copies})
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, c := range answer.Decisions {
				got = append(got, c.SelectedNode)
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("%d copies: -want +got:\n%s", copies, diff)
			}
		}
	}
}

// TestHypotheticalGroupsKeepNominations: a nominated member still counts on its node after a question.
func TestHypotheticalGroupsKeepNominations(t *testing.T) {
	enableGroups(t)
	group, pods := gang(1, "1")
	pods[0].Status.NominatedNodeName = "n1"
	other := st.MakePod().Name("other").Namespace("default").UID("other").SchedulerName(v1.DefaultSchedulerName).Req(map[v1.ResourceName]string{"cpu": "1"}).Obj()
	engine := livetest.Engine(t, livetest.Configuration(t, rankedScores), []runtime.Object{groupNode("n1", "1"), group, pods[0], other})
	for range 2 {
		if got := decided(t, engine, pods[0].Name); got[pods[0].Name] != "n1" {
			t.Errorf("the member is on %v", got)
		}
		answer, err := engine.Ask(t.Context(), whatif.Question{PodRef: &types.NamespacedName{Namespace: "default", Name: "other"}})
		if err != nil {
			t.Fatal(err)
		}
		if node := answer.Decisions[0].SelectedNode; node != "" {
			t.Errorf("another pod gets the nominated pod's place on %s", node)
		}
	}
}

func TestAGroupThatIsNot(t *testing.T) {
	enableGroups(t)
	_, pods := gang(1, "1")
	engine := livetest.Engine(t, livetest.Configuration(t, rankedScores), []runtime.Object{groupNode("n1", "1")})
	_, err := engine.Ask(t.Context(), whatif.Question{Pod: pods[0]})
	invalid := (*whatif.InvalidError)(nil)
	if !errors.As(err, &invalid) || invalid.Path != "spec.schedulingGroup.podGroupName" {
		t.Errorf("%v", err)
	}
}
