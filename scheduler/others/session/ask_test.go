package session

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	v1 "k8s.io/api/core/v1"

	"kube-scheduler-simulator/scheduler/result"
	"kube-scheduler-simulator/scheduler/whatif"
)

// ask adds pods of one CPU to the state as a question does, and asks about them. group may be empty.
func (s *stage) ask(group string, count int, cpu float64) ([]*result.Cycle, *Turn) {
	s.t.Helper()
	var cycles []*result.Cycle
	var turn *Turn
	s.try(func(ctx context.Context, trial *whatif.Trial, options Options) error {
		var pods []*v1.Pod
		for i := range count {
			template := s.pod(fmt.Sprintf("asked-%d", i), cpu, "")
			if group != "" {
				template.Annotations = map[string]string{GroupAnnotation: group}
			}
			pod, err := trial.New(template)
			if err != nil {
				return err
			}
			if err := trial.Add(ctx, pod); err != nil {
				return err
			}
			pods = append(pods, pod)
		}
		s.pods = s.pods[:len(s.pods)-count]
		var err error
		cycles, turn, err = Ask(ctx, trial, s.objects, options, pods)
		return err
	})
	return cycles, turn
}

// said is what the records say, one a line.
func said(cycles []*result.Cycle) string {
	var out []string
	for _, c := range cycles {
		line := fmt.Sprintf("%s %s", c.Pod.Name, c.Outcome)
		if c.Outcome == result.Scheduled {
			line += " " + c.SelectedNode
		} else {
			line += " " + c.NominatedNode + " " + c.Refusal.Plugin + ": " + c.Message
		}
		if !c.Hypothetical {
			line += " (not hypothetical)"
		}
		out = append(out, line)
	}
	return strings.Join(out, "\n")
}

// A question about a pod gets what the next session decides, with the job as it would be then.
func TestAsk(t *testing.T) {
	for _, test := range []struct {
		name  string
		rules Rules
		state func(s *stage)
		group string
		count int
		cpu   float64
		want  string
		// why is the cause of the job.
		why WhyCode
	}{
		{"a pod completes its gang", KubeBatch, func(s *stage) { s.node("n", 8); s.group("g", "", 2, 0); s.tasks("g", 1, 4, "") }, "g", 1, 4, "asked-0 scheduled n", ""},
		{"a gang in part holds its places", KubeBatch, func(s *stage) { s.node("n", 8); s.group("g", "", 3, 0); s.tasks("g", 2, 4, "") }, "g", 1, 4,
			"asked-0 unschedulable  SessionRoom: 1/3 tasks in gang unschedulable: 0 nodes are available", WhyRoom},
		{"Volcano gives them back", Volcano, func(s *stage) { s.node("n", 8); s.group("g", "", 3, 0) }, "g", 3, 4, `asked-0 unschedulable  gang: 3/3 tasks in gang unschedulable: pod group is not ready, 3 Pending, 3 minAvailable; Pending: 2 Schedulable
asked-1 unschedulable  gang: 3/3 tasks in gang unschedulable: pod group is not ready, 3 Pending, 3 minAvailable; Pending: 2 Schedulable
asked-2 unschedulable  proportion: queue default would exceed the cpu that it deserves`, WhyQueueLimit},
		{"too few pods for Volcano", Volcano, func(s *stage) { s.node("n", 8); s.group("g", "", 3, 0) }, "g", 1, 4, "asked-0 unschedulable  gang: its group has 1 of the 3 pods that it needs", WhyTooFewPods},
		{"a pod without a group", KubeBatch, func(s *stage) { s.node("n", 8) }, "", 2, 4, "asked-0 scheduled n\nasked-1 scheduled n", ""},
		{"a pod for which Volcano's controller makes a group", Volcano, func(s *stage) { s.node("n", 8) }, "", 2, 4, "asked-0 scheduled n\nasked-1 scheduled n", ""},
		{"a group that does not exist", Volcano, func(s *stage) { s.node("n", 8) }, "g", 1, 4,
			"asked-0 unschedulable  snapshot: volcano finds no PodGroup default/g, so its sessions do not look at the pod", ""},
		{"a queue that does not exist", KubeBatch, func(s *stage) { s.node("n", 8); s.group("g", "q", 1, 0) }, "g", 1, 4,
			"asked-0 unschedulable  snapshot: kube-batch finds no queue q, so its sessions do not look at the pod", ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			s := newStage(t, test.rules, "")
			test.state(s)
			cycles, turn := s.ask(test.group, test.count, test.cpu)
			if diff := cmp.Diff(test.want, said(cycles)); diff != "" {
				t.Error(diff)
			}
			why := WhyCode("")
			if turn.Job != nil && turn.Job.Why != nil {
				why = turn.Job.Why.Code
			}
			if why != test.why {
				t.Errorf("the job does not run because of %q, want %q", why, test.why)
			}
		})
	}
}

// A question says which pods would have to leave.
func TestAskEvicts(t *testing.T) {
	s := newStage(t, KubeBatch, `actions: "allocate, preempt"
tiers:
- plugins: [{name: priority}, {name: gang}]
- plugins: [{name: predicates}, {name: nodeorder}]
`)
	s.node("n", 8)
	s.group("low", "", 1, 10)
	s.tasks("low", 2, 4, "n")
	s.group("high", "", 1, 100)
	cycles, turn := s.ask("high", 1, 4)
	if diff := cmp.Diff("asked-0 unschedulable n SessionRoom: waits for room on n", said(cycles)); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]string{"default/low-1"}, turn.Evictions); diff != "" {
		t.Error(diff)
	}
}
