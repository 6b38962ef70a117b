package ask

import (
	"bytes"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"kube-scheduler-simulator/scheduler/explain"
	"kube-scheduler-simulator/scheduler/others/session"
	"kube-scheduler-simulator/simulator/questions/hypothesis"
)

// The answer of another scheduler says what was judged, what not, and what the job lacks. A pod whose gang gave its node back is not placed.
func TestATurnIsTold(t *testing.T) {
	given := cycle("index-0", map[string]int64{"a": 50})
	given.Outcome = "unschedulable"
	for name, test := range map[string]struct {
		turn session.Turn
		want []string
	}{
		"a session": {
			session.Turn{
				Scheduler: "volcano", Kind: session.SessionTurn, Actions: []string{"enqueue", "allocate"}, Evictions: []string{"shop/low-1"},
				Job: &session.JobRecord{Namespace: "shop", Name: "index", Queue: "team", MinMember: 3, Ready: 0, Why: &session.Why{
					Code: session.WhyRoom, Queue: "team", Resource: "cpu", Missing: 2.5, Needed: 3, Placed: 1,
					Givers: []session.Giver{{Queue: "other", Amount: 4}, {Queue: "team", Job: "shop/low", Amount: 1}},
				}},
			},
			[]string{
				"Judged: one session of volcano over all of its jobs (enqueue, allocate), on a copy of the state.",
				"Job shop/index in queue team: 0 of at least 3 tasks are ready; the nodes lack 2.5 cpu, and 1 of 3 tasks find room; queue other could give 4 cpu, job shop/low could give 1 cpu.",
				"It would evict shop/low-1.",
				"Not judged: later turns, which may decide otherwise, and other schedulers, which may take the room first.",
			},
		},
		"a round": {
			session.Turn{Scheduler: "poseidon", Kind: session.RoundTurn, Model: "CPU-MEM"},
			[]string{
				"Judged: one round of poseidon over all of its waiting pods, with the cost model CPU-MEM, on a copy of the state. The costs are a model.",
				"Not judged: later turns, which may decide otherwise, and other schedulers, which may take the room first.",
			},
		},
	} {
		t.Run(name, func(t *testing.T) {
			answer := &hypothesis.WhatIfAnswer{Grounds: hypothesis.Grounds{Turn: &test.turn}, Decisions: []explain.Explained{given}}
			var out bytes.Buffer
			if err := PrintWhatIf(&out, file("a file"), answer, Table); err != nil {
				t.Fatal(err)
			}
			_, told, _ := strings.Cut(out.String(), "Judged:")
			if diff := cmp.Diff(strings.Join(test.want, "\n")+"\n", "Judged:"+told); diff != "" {
				t.Error(diff)
			}
			if strings.Contains(out.String(), "would go to") || answer.Fits() {
				t.Error("the pod counts as placed:\n" + out.String())
			}
		})
	}
}
