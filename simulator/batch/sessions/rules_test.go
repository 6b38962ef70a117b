package sessions

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// rule is a documented rule of kube-batch and Volcano (A), or of Poseidon with Firmament (B), or a worked example, with the tests that hold it. A
// test is written PACKAGE:FUNCTION or PACKAGE:FUNCTION/NAME, where NAME is that of a case.
type rule struct {
	section, rule string
	tests         []string
	// left says why there is no test: what is not built, or not ours.
	left string
}

const (
	in   = "scheduler/others/session:"
	flw  = "scheduler/others/flow:"
	prog = "simulator/testing/systemtest:"
	mem  = "simulator/scenarios/inmemory:"
	defs = "simulator/cluster/definitions:"
	here = "simulator/batch/sessions:"
)

var rules = []rule{
	{"A1", "kinds, fields, columns, short names and bounds of both families", []string{defs + "TestTheManifestsAreValid", defs + "TestTheTablesAgree"}, ""},
	{"A1", "Volcano's admission webhooks", nil, "they are a program of Volcano's beside its scheduler; a closed queue and one that does not exist count in the session"},
	{"A1", "a default queue exists", []string{prog + "TestSchedulersSideBySide", mem + "TestPodsChooseTheirScheduler"}, ""},
	{"A1", "phases and conditions, replaced and never False", []string{in + "TestAGangIsCompleteAgain", in + "TestCompleted", in + "TestExamples"}, ""},
	{"A2", "pods by schedulerName, groups by annotation", []string{mem + "TestPodsChooseTheirScheduler", prog + "TestSchedulersSideBySide"}, ""},
	{"A2", "others' pods count as used", []string{in + "TestTasksAndNodes/pods of other schedulers take room"}, ""},
	{"A2", "kube-batch's job without a group, and its minimum", []string{in + "TestExamples/14, kube-batch: pods of a controller are a job without a group", in + "TestTasksAndNodes/a job without a group has the minimum of its pods' annotation"}, ""},
	{"A2", "Volcano's own groups", []string{in + "TestVolcanoMakesAGroup", in + "TestTheMinimumOfAnOwnGroup", mem + "TestVolcanoMakesGroups"}, ""},
	{"A2", "a job without group or queue is left out", []string{in + "TestTasksAndNodes/a group in a queue that does not exist is left out", in + "TestAsk/a group that does not exist"}, ""},
	{"A2", "priorities of jobs and tasks", []string{in + "TestPriorities", in + "TestVolcano/a task priority by annotation"}, ""},
	{"A2", "ready, waiting, valid; roles and tasks that ask for nothing", []string{in + "TestVolcano/a minimum for each role", in + "TestVolcano/tasks that ask for nothing count for the gang", in + "TestAGangIsCompleteAgain"}, ""},
	{"A2", "requests, init containers, slack and best effort", []string{in + "TestTasksAndNodes/the largest init container must fit", in + "TestTasksAndNodes/kube-batch lets a task exceed the room by less than its slack", in + "TestKubeBatchIgnoresEphemeralStorage"}, ""},
	{"A2", "Idle, Used, Releasing; a node that is OutOfSync", []string{in + "TestRoomThatOthersLeave", in + "TestTasksAndNodes/a node that holds more than it has is left out"}, ""},
	{"A3", "the document, its defaults and its mistakes", []string{in + "TestDefaults", in + "TestMistakesAtTheirLines"}, ""},
	{"A3", "a change counts from the next session, and a mistake changes nothing", []string{prog + "TestSchedulersSideBySide"}, ""},
	{"A3", "Volcano's actions shuffle, gangpreempt and gangreclaim", nil, "not built: the configuration refuses them by name"},
	{"A4", "combinations over tiers: victims", []string{in + "TestVictims"}, ""},
	{"A4", "combinations over tiers: orders", []string{in + "TestJobOrder"}, ""},
	{"A4", "phases at the close of a session", []string{in + "TestExamples", in + "TestCompleted", in + "TestAGangIsCompleteAgain"}, ""},
	{"A4", "nothing Pipelined survives; a nominated node", []string{in + "TestThePreemptorIsBoundLater", in + "TestWhatPodsAreTold"}, ""},
	{"A5", "enqueue", []string{in + "TestEnqueue", in + "TestVolcano/a job that is not let in"}, ""},
	{"A5", "allocate, kube-batch: held in part, one task a turn beyond the minimum, overused queues", []string{in + "TestExamples/1, kube-batch: a gang that fits in part is held", in + "TestDrawnSession"}, ""},
	{"A5", "allocate, Volcano: statements, Idle before FutureIdle, kept or discarded", []string{in + "TestExamples/1, Volcano: it is discarded", in + "TestRoomThatOthersLeave"}, ""},
	{"A5", "Volcano samples nodes", []string{in + "TestVolcanoEndsItsSearch"}, ""},
	{"A5", "backfill", []string{in + "TestExamples/13, kube-batch: a tiny pod is best effort", in + "TestDrawnSession"}, ""},
	{"A5", "preempt: own queue, statements, starving jobs, never-policy", []string{in + "TestVictimsByQueue", in + "TestExamples/8: preempt undoes what is not enough", in + "TestVolcano/a job that has its minimum does not preempt", in + "TestVolcano/a policy that never preempts"}, ""},
	{"A5", "reclaim: other queues, one task a job in kube-batch, reclaimable queues, preemptable pods", []string{in + "TestReclaim", in + "TestVictimsByQueue", in + "TestVolcano/a queue that is not reclaimable", in + "TestVolcano/pods that may not be evicted"}, ""},
	{"A6", "priority, gang, conformance", []string{in + "TestJobOrder", in + "TestConformance", in + "TestPreemptionLeavesTheMinimum"}, ""},
	{"A6", "drf", []string{in + "TestDRFVictims", in + "TestShareOfNothing"}, ""},
	{"A6", "proportion: deserved, overused, allocatable, capability, guarantee, order", []string{in + "TestDeserved", in + "TestDeservedBeyondTheRequest", in + "TestOverused", in + "TestVolcano/a queue's capability", in + "TestVolcano/another queue's guarantee", in + "TestVolcano/a queue's priority comes before its share", in + "TestSharesConvergeToWeights"}, ""},
	{"A6", "predicates are kube-scheduler's plugins, and can be switched off", []string{in + "TestVolcano/a predicate that is switched off", in + "TestTasksAndNodes/a node has room for so many pods"}, ""},
	{"A6", "nodeorder and binpack", []string{in + "TestVolcano/mostrequested outweighs leastrequested", in + "TestVolcano/nodeorder takes the emptier one", in + "TestBinPackScore"}, ""},
	{"A6", "overcommit", []string{in + "TestEnqueue"}, ""},
	{"A6", "Volcano's other plugins", []string{in + "TestMistakesAtTheirLines/a plugin that only the real Volcano has"}, ""},
	{"A7", "conditions of groups, and their fit texts", []string{in + "TestExamples", in + "TestFitTextOfAPipelinedTask"}, ""},
	{"A7", "conditions and events of pods", []string{in + "TestWhatPodsAreTold", prog + "TestSchedulersSideBySide"}, ""},
	{"A7", "why a job does not run", []string{in + "TestWhy", in + "TestDrawnSession", in + "TestEnqueue"}, ""},
	{"C.A", "example 1", []string{in + "TestExamples/1, kube-batch: a gang that fits in part is held", in + "TestExamples/1, Volcano: it is discarded"}, ""},
	{"C.A", "example 2", []string{in + "TestExamples/2, kube-batch: the held gang blocks a younger job", in + "TestExamples/2, Volcano: the younger job is bound"}, ""},
	{"C.A", "example 3", []string{in + "TestDeserved"}, ""},
	{"C.A", "example 4", []string{in + "TestOverused"}, ""},
	{"C.A", "example 5", []string{in + "TestDeservedBeyondTheRequest"}, ""},
	{"C.A", "example 6", []string{in + "TestJobOrder"}, ""},
	{"C.A", "example 7", []string{in + "TestExamples/7: a job of minimum 1 always gives way in kube-batch", in + "TestThePreemptorIsBoundLater"}, ""},
	{"C.A", "example 8", []string{in + "TestExamples/8: preempt undoes what is not enough"}, ""},
	{"C.A", "example 9", []string{in + "TestExamples/9, kube-batch: each victim is judged alone", in + "TestExamples/9, Volcano: they are judged together"}, ""},
	{"C.A", "example 10", []string{in + "TestDRFVictims"}, ""},
	{"C.A", "example 11", []string{in + "TestReclaim"}, ""},
	{"C.A", "example 12", []string{in + "TestEnqueue"}, ""},
	{"C.A", "example 13", []string{in + "TestExamples/13, kube-batch: a tiny pod is best effort", in + "TestExamples/13, Volcano: it asks for resources"}, ""},
	{"C.A", "example 14", []string{in + "TestExamples/14, kube-batch: pods of a controller are a job without a group", in + "TestVolcanoMakesAGroup"}, ""},
	{"C.A", "example 15", []string{in + "TestExamples/15, kube-batch: a gang that has lost a task", in + "TestExamples/15, Volcano: a gang that has lost a task", in + "TestAGangIsCompleteAgain"}, ""},
	{"M", "the drawn session, and those after it", []string{in + "TestDrawnSession", in + "TestSessionsAfterTheDrawnOne"}, ""},

	{"B1", "pods of poseidon; a pod's job; requests without init containers", []string{mem + "TestPodsChooseTheirScheduler", flw + "TestJobsAndRequests"}, ""},
	{"B1", "taskType, networkRequirement and prefer-avoid-pods", nil, "only cost models read them that are not built"},
	{"B2", "the network and its minimum cost", []string{flw + "TestSolverAgainstBruteForce", flw + "TestRound"}, ""},
	{"B3", "TRIVIAL", []string{flw + "TestTrivial"}, ""},
	{"B3", "RANDOM", []string{flw + "TestRandom"}, ""},
	{"B3", "OCTOPUS", []string{flw + "TestExamples/1: OCTOPUS sends all of a round to the least loaded machine", flw + "TestExamples/5: OCTOPUS does not"}, ""},
	{"B3", "SJF, QUINCY, COCO and the others", nil, "not built: they need measurements of running tasks"},
	{"B4", "CPU-MEM: slots, costs and hard constraints", []string{flw + "TestExamples/3: CPU-MEM", flw + "TestExamples/4: version 2", flw + "TestConstraintsOfARound"}, ""},
	{"B4", "the room is checked before a pod is bound", []string{flw + "TestRoundChecksTheRoom"}, ""},
	{"B5", "preemption and migration delete pods, and are off by default", []string{flw + "TestPreemptionOfARound", flw + "TestExamples/5: without preemption it is pinned"}, ""},
	{"B5", "pods with pod affinity come one by one", []string{flw + "TestConstraintsOfARound/anti-affinity among the pods of a round"}, ""},
	{"B5", "gangs by a percentage", []string{flw + "TestGangOfARound"}, ""},
	{"B6", "the optimality gap", []string{flw + "TestGap", flw + "TestCompare", flw + "TestCompareState"}, ""},
	{"B7", "published effort", nil, "figures of other programs; BenchmarkSolve has ours"},
	{"C.B", "example 1", []string{flw + "TestExamples/1: OCTOPUS sends all of a round to the least loaded machine"}, ""},
	{"C.B", "example 2", []string{flw + "TestExamples/2: TRIVIAL, one slot and two tasks"}, ""},
	{"C.B", "example 3", []string{flw + "TestExamples/3: CPU-MEM", flw + "TestExamples/3: with the constant", flw + "TestGap/the drawing", flw + "TestGap/with the constant"}, ""},
	{"C.B", "example 4", []string{flw + "TestExamples/4: version 2"}, ""},
	{"C.B", "example 5", []string{flw + "TestExamples/5: TRIVIAL reroutes the running task", flw + "TestExamples/5: without preemption it is pinned", flw + "TestExamples/5: OCTOPUS does not"}, ""},
	{"C.B", "example 6", []string{flw + "TestExamples/6: three of four are enough", flw + "TestExamples/6: four are needed", flw + "TestGangOfARound"}, ""},

	{"invariants", "enough of a gang, no node overcommitted, no queue of kube-batch below what it deserves", []string{in + "TestInvariantsUnderRandomLoad"}, ""},
	{"invariants", "no job below its minimum, but for kube-batch's exceptions", []string{in + "TestPreemptionLeavesTheMinimum"}, ""},
	{"invariants", "shares converge to weights", []string{in + "TestSharesConvergeToWeights"}, ""},
	{"invariants", "no pod is bound twice", []string{prog + "TestSchedulersSideBySide"}, ""},
	{"invariants", "attempts and records: kept once, bounded, persistent", []string{here + "TestAttemptsAreThoseThatDiffer", here + "TestRecordsAreBounded", here + "TestRecordsOutliveARestart", here + "TestARecordComesBackAfterAReset"}, ""},
}

// TestEveryRuleHasATest: a change that renames or removes a test of a rule must change the table, too.
func TestEveryRuleHasATest(t *testing.T) {
	packages := map[string]map[string]map[string]bool{}
	for _, r := range rules {
		if (len(r.tests) == 0) != (r.left != "") {
			t.Errorf("%s, %s: want tests, or why there are none", r.section, r.rule)
		}
		for _, test := range r.tests {
			dir, name, _ := strings.Cut(test, ":")
			name, sub, _ := strings.Cut(name, "/")
			if packages[dir] == nil {
				packages[dir] = testsIn(t, filepath.Join("../../..", dir))
			}
			texts, known := packages[dir][name]
			if !known {
				t.Errorf("%s, %s: %s has no %s", r.section, r.rule, dir, name)
			} else if sub != "" && !texts[sub] {
				t.Errorf("%s, %s: %s has no case %q", r.section, r.rule, name, sub)
			}
		}
	}
}

// testsIn returns the tests of a package, with the texts that each has.
func testsIn(t *testing.T, dir string) map[string]map[string]bool {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(dir, "*_test.go"))
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]map[string]bool{}
	for _, path := range files {
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range file.Decls {
			f, ok := d.(*ast.FuncDecl)
			if !ok || !strings.HasPrefix(f.Name.Name, "Test") {
				continue
			}
			texts := map[string]bool{}
			ast.Inspect(f, func(n ast.Node) bool {
				if l, ok := n.(*ast.BasicLit); ok && l.Kind == token.STRING {
					if text, err := strconv.Unquote(l.Value); err == nil {
						texts[text] = true
					}
				}
				return true
			})
			out[f.Name.Name] = texts
		}
	}
	return out
}
