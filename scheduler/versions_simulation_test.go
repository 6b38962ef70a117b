package scheduler_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/utils/ptr"

	"kube-scheduler-simulator/scheduler/config"
	"kube-scheduler-simulator/scheduler/result"
	"kube-scheduler-simulator/scheduler/simulation"
	"kube-scheduler-simulator/scheduler/versions"
	"kube-scheduler-simulator/scheduler/versions/proxy"
)

// TestVersionsAgreeInSimulations plays random workloads in virtual time, once with the plugins of this process and once with proxies of the same
// version in a program of its own. Every attempt must be the same: verdicts, scores, victims and messages.
func TestVersionsAgreeInSimulations(t *testing.T) {
	preempted, failed := 0, 0
	for n := range uint64(6) {
		own, proxied := playVersion(t, n, nil), playVersion(t, n, ownVersion(t, nil))
		for i := range min(len(own), len(proxied)) {
			if diff := cmp.Diff(own[i], proxied[i]); diff != "" {
				t.Fatalf("seed %d, attempt %d: plugins and proxies disagree: %s", n, i, diff)
			}
		}
		if len(own) != len(proxied) {
			t.Fatalf("seed %d: %d attempts with plugins, %d with proxies", n, len(own), len(proxied))
		}
		for _, attempt := range own {
			if attempt.Victims != nil {
				preempted++
			}
			if attempt.Outcome == result.Unschedulable {
				failed++
			}
		}
	}
	if preempted < 10 || failed < 10 {
		t.Errorf("%d attempts preempted and %d failed: too few to compare", preempted, failed)
	}
}

// TestAVersionThatDies: a program that dies ends the run with its last words, rather than leave pods pending for reasons of no scheduler.
func TestAVersionThatDies(t *testing.T) {
	version := ownVersion(t, nil)
	t.Setenv(serves, "dying")
	c, err := config.Default()
	if err != nil {
		t.Fatal(err)
	}
	s, err := simulation.New(t.Context(), simulation.Options{Configuration: c.Internal, Version: version})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	r := rand.New(rand.NewPCG(1, 51))
	node := &v1.Node{TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Node"}, ObjectMeta: metav1.ObjectMeta{Name: "n"}}
	if err = s.Create(t.Context(), node); err == nil {
		err = s.Create(t.Context(), playedPod(r, 0), playedPod(r, 1), playedPod(r, 2))
	}
	died, ok := errors.AsType[*versions.DiedError](err)
	if !ok || died.Said != "out of memory" {
		t.Errorf("%v", err)
	}
}

// playedAttempt is what a cycle says.
type playedAttempt struct {
	Pod, Node, Nominated, Message string
	Outcome                       result.Outcome
	Rejections                    map[string][]result.PluginReasons
	Totals                        map[string]int64
	Victims                       []string
}

func playVersion(t *testing.T, seed uint64, version *proxy.Options) []playedAttempt {
	t.Helper()
	c, err := config.Default()
	if err != nil {
		t.Fatal(err)
	}
	var all []playedAttempt
	observe := func(c *result.Cycle) {
		if c.Updates == 0 {
			all = append(all, attemptOf(c))
		}
	}
	s, err := simulation.New(t.Context(), simulation.Options{Configuration: c.Internal, Seed: int64(seed), Version: version, Observe: observe})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	do := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	r := rand.New(rand.NewPCG(seed, 51))
	pick := func(of ...string) string { return of[r.IntN(len(of))] }
	for i := range 4 + r.IntN(5) {
		size := v1.ResourceList{"cpu": resource.MustParse(pick("2", "4", "8")), "memory": resource.MustParse(pick("4Gi", "16Gi")), "pods": resource.MustParse("110")}
		node := &v1.Node{
			TypeMeta:   metav1.TypeMeta{APIVersion: "v1", Kind: "Node"},
			ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprintf("n%d", i), Labels: map[string]string{v1.LabelHostname: fmt.Sprintf("n%d", i), v1.LabelTopologyZone: pick("a", "b")}},
			Status:     v1.NodeStatus{Capacity: size, Allocatable: size},
		}
		if r.IntN(4) == 0 {
			node.Spec.Taints = []v1.Taint{{Key: "dedicated", Effect: v1.TaintEffect(pick("NoSchedule", "PreferNoSchedule"))}}
		}
		do(s.Create(t.Context(), node))
	}
	for i := range 40 {
		do(s.Create(t.Context(), playedPod(r, i)))
		do(s.Advance(t.Context(), time.Second)) // no two pods start at once, so no two candidates for preemption are equal
		switch r.IntN(8) {
		case 0:
			err := s.Delete(t.Context(), schema.GroupVersionKind{Version: "v1", Kind: "Pod"}, "default", fmt.Sprintf("p%d", r.IntN(i+1)))
			if err != nil && i == 0 {
				t.Fatal(err) // a later one may have been preempted
			}
		case 1:
			do(s.Advance(t.Context(), time.Duration(r.IntN(60))*time.Second))
		}
	}
	do(s.Settle(t.Context()))
	return all
}

func playedPod(r *rand.Rand, i int) *v1.Pod {
	pick := func(of ...string) string { return of[r.IntN(len(of))] }
	app := map[string]string{"app": pick("web", "db")}
	pod := &v1.Pod{
		TypeMeta:   metav1.TypeMeta{APIVersion: "v1", Kind: "Pod"},
		ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: fmt.Sprintf("p%d", i), Labels: app},
		Spec: v1.PodSpec{
			TerminationGracePeriodSeconds: ptr.To[int64](int64(r.IntN(20))),
			Containers: []v1.Container{{Name: "c", Image: "registry.example/app", Resources: v1.ResourceRequirements{Requests: v1.ResourceList{
				"cpu": resource.MustParse(pick("500m", "1", "2")), "memory": resource.MustParse(pick("512Mi", "2Gi")),
			}}}},
		},
	}
	if r.IntN(3) == 0 {
		pod.Namespace, pod.Spec.PriorityClassName = "kube-system", "system-cluster-critical"
	}
	selector := &metav1.LabelSelector{MatchLabels: app}
	switch r.IntN(4) {
	case 0:
		pod.Spec.TopologySpreadConstraints = []v1.TopologySpreadConstraint{{MaxSkew: 1, TopologyKey: v1.LabelTopologyZone, WhenUnsatisfiable: v1.UnsatisfiableConstraintAction(pick("DoNotSchedule", "ScheduleAnyway")), LabelSelector: selector}}
	case 1:
		pod.Spec.Affinity = &v1.Affinity{PodAntiAffinity: &v1.PodAntiAffinity{RequiredDuringSchedulingIgnoredDuringExecution: []v1.PodAffinityTerm{{TopologyKey: v1.LabelHostname, LabelSelector: selector}}}}
	}
	return pod
}

func attemptOf(c *result.Cycle) playedAttempt {
	out := playedAttempt{Pod: c.Pod.Namespace + "/" + c.Pod.Name, Node: c.SelectedNode, Nominated: c.NominatedNode, Message: c.Message, Outcome: c.Outcome}
	if c.Filter != nil {
		out.Rejections = map[string][]result.PluginReasons{}
		for i, node := range c.Filter.Nodes.All() {
			verdict := c.Filter.Verdict(i)
			out.Rejections[node] = verdict.Rejections()
		}
	}
	if c.Score != nil {
		out.Totals = map[string]int64{}
		for i, node := range c.Score.Nodes.All() {
			out.Totals[node] = c.Score.Totals.At(i)
		}
	}
	if c.Preemption != nil {
		for _, candidate := range c.Preemption.Candidates {
			data, _ := json.Marshal(candidate)
			out.Victims = append(out.Victims, string(data))
		}
	}
	return out
}
