package lesson

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func newExercises(t *testing.T) *Exercises {
	t.Helper()
	e, err := NewExercises()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(e.Stop)
	return e
}

// seeds is how many exercises of each plugin and level the tests look at.
func seeds() int64 {
	if testing.Short() {
		return 1
	}
	return 4
}

func eachExercise(t *testing.T, do func(t *testing.T, e *Exercises, k ExerciseKey)) {
	e := newExercises(t)
	for _, plugin := range ExercisePlugins() {
		for level := 1; level <= Levels; level++ {
			t.Run(fmt.Sprintf("%s/%d", plugin, level), func(t *testing.T) {
				for seed := int64(1); seed <= seeds(); seed++ {
					do(t, e, ExerciseKey{plugin, level, seed})
				}
			})
		}
	}
}

// An exercise without a question would teach nothing, and one with two answers something wrong.
func TestExercisesAskSomething(t *testing.T) {
	eachExercise(t, func(t *testing.T, e *Exercises, k ExerciseKey) {
		x, cycle, err := e.make(t.Context(), k)
		if err != nil {
			t.Fatal(err)
		}
		if !x.asks(cycle) {
			t.Errorf("seed %d: no draft asks about %s", k.Seed, k.Plugin)
		}
	})
}

// The pods of a node got there by a scheduler, so the node has what they request.
func TestExercisesHaveNoOverfullNode(t *testing.T) {
	for _, plugin := range ExercisePlugins() {
		for level := 1; level <= Levels; level++ {
			random := rand.New(rand.NewPCG(1, uint64(level)))
			for range 100 {
				x := newDraft(random, ExerciseKey{plugin, level, 1})
				for _, n := range x.Nodes {
					var core, bytes int64
					for _, p := range x.Pods {
						if p.Spec.NodeName == n.Name {
							requests := p.Spec.Containers[0].Resources.Requests
							core, bytes = core+requests.Cpu().MilliValue(), bytes+requests.Memory().Value()
						}
					}
					if core > n.Status.Allocatable.Cpu().MilliValue() || bytes > n.Status.Allocatable.Memory().Value() {
						t.Fatalf("%s at level %d: the pods of %s request %d thousandths of a core and %d bytes", plugin, level, n.Name, core, bytes)
					}
				}
			}
		}
	}
}

// The prediction that agrees with the scheduler passes, and no other one does.
func TestTheSchedulerGradesExercises(t *testing.T) {
	eachExercise(t, func(t *testing.T, e *Exercises, k ExerciseKey) {
		x, cycle, err := e.make(t.Context(), k)
		if err != nil {
			t.Fatal(err)
		}
		right := Prediction{Picked: cycle.SelectedNode}
		s := Situation{Cycle: cycle}
		for _, n := range x.Nodes {
			if !s.feasible(n.Name) {
				right.CrossedOut = append(right.CrossedOut, n.Name)
			}
		}
		grade := func(p Prediction) *Grade {
			g := &Grade{}
			g.predicted(Situation{Pod: x.Pod, Nodes: x.Nodes, Pods: x.Pods, Cycle: cycle, Usage: x.Usage}, p)
			return g
		}
		if g := grade(right); !g.Passed || len(g.Misconceptions) > 0 {
			t.Errorf("seed %d: %+v is right, and the grade is %+v", k.Seed, right, g)
		}
		for _, n := range x.Nodes {
			wrong := Prediction{Picked: right.Picked}
			if at := slices.Index(right.CrossedOut, n.Name); at >= 0 {
				wrong.CrossedOut = slices.Delete(slices.Clone(right.CrossedOut), at, at+1)
			} else {
				wrong.CrossedOut = append(slices.Clone(right.CrossedOut), n.Name)
			}
			if grade(wrong).Passed {
				t.Errorf("seed %d: %+v passes, and %+v is right", k.Seed, wrong, right)
			}
			if n.Name != right.Picked && grade(Prediction{right.CrossedOut, n.Name}).Passed {
				t.Errorf("seed %d: the pick %s passes, and %s is right", k.Seed, n.Name, right.Picked)
			}
		}
	})
}

// A learner sends only the key and the prediction.
func TestGradingMakesTheExerciseAgain(t *testing.T) {
	e, k := newExercises(t), ExerciseKey{"TaintToleration", 2, 4127}
	_, cycle, err := e.make(t.Context(), k)
	if err != nil {
		t.Fatal(err)
	}
	g, err := e.Grade(t.Context(), k, Prediction{Picked: cycle.SelectedNode})
	if err != nil || g.Verdict.SelectedNode != cycle.SelectedNode {
		t.Errorf("%v, %+v", err, g)
	}
}

// A class solves the same exercise, and grading makes it again.
func TestEqualSeedsMakeEqualExercises(t *testing.T) {
	eachExercise(t, func(t *testing.T, e *Exercises, k ExerciseKey) {
		if diff := cmp.Diff(asText(t, e, k), asText(t, newExercises(t), k)); diff != "" {
			t.Errorf("seed %d: %s", k.Seed, diff)
		}
		other := k
		other.Seed += 4096
		if asText(t, e, k) == asText(t, e, other) {
			t.Errorf("the seeds %d and %d make the same exercise", k.Seed, other.Seed)
		}
	})
}

func asText(t *testing.T, e *Exercises, k ExerciseKey) string {
	t.Helper()
	x, err := e.Make(t.Context(), k)
	if err != nil {
		t.Fatal(err)
	}
	x.Seed = 0
	data, err := json.MarshalIndent(x, "", " ")
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

func TestExercisesThatDoNotExist(t *testing.T) {
	e := newExercises(t)
	for _, c := range []struct {
		key   ExerciseKey
		field string
	}{
		{ExerciseKey{"NodeName", 1, 1}, "plugin"}, {ExerciseKey{"", 1, 1}, "plugin"},
		{ExerciseKey{"NodePorts", 0, 1}, "level"}, {ExerciseKey{"NodePorts", 4, 1}, "level"},
		{ExerciseKey{"NodePorts", 1, 0}, "seed"}, {ExerciseKey{"NodePorts", 1, -1}, "seed"},
	} {
		_, err := e.Make(context.Background(), c.key)
		wrong, ok := errors.AsType[*KeyError](err)
		if !ok || wrong.Field != c.field {
			t.Errorf("%+v: %v", c.key, err)
		}
	}
}
