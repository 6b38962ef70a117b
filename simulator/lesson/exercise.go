package lesson

import (
	"context"
	"fmt"
	"hash/fnv"
	"math/rand/v2"
	"slices"
	"strings"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	schedulerconfig "k8s.io/kubernetes/pkg/scheduler/apis/config"

	"kube-scheduler-simulator/scheduler/config"
	"kube-scheduler-simulator/scheduler/result"
	"kube-scheduler-simulator/scheduler/whatif"
)

// Levels of exercises count from 1. At the first, only one plugin matters; at the second and the
// third, one and two more.
const Levels = 3

// ExerciseKey names an exercise: equal keys are equal exercises.
type ExerciseKey struct {
	// Plugin is one of ExercisePlugins.
	Plugin string `json:"plugin"`
	// Level is 1 to Levels.
	Level int `json:"level"`
	// Seed is more than 0.
	Seed int64 `json:"seed"`
}

// Exercise is a small cluster and a pod. The learner predicts what Kubernetes' scheduler, with its
// default configuration, decides.
type Exercise struct {
	ExerciseKey
	Pod *v1.Pod `json:"pod"`
	// Nodes are at most 6, by name, and Pods those that run, by name.
	Nodes []*v1.Node `json:"nodes"`
	Pods  []*v1.Pod  `json:"pods"`
	// Objects are the others: volumes, claims and their class.
	Objects []runtime.Object `json:"objects,omitempty"`
	// Usage is the CPU that the pods of a node use, by node, from 0 to 1. The scheduler does not
	// look at it.
	Usage map[string]float64 `json:"usage,omitempty"`
}

// KeyError says which part of an ExerciseKey is wrong.
type KeyError struct{ Field, Message string }

func (e *KeyError) Error() string { return e.Field + ": " + e.Message }

// Check returns a *KeyError if there is no such exercise.
func (k ExerciseKey) Check() error {
	switch {
	case element[k.Plugin] == nil:
		return &KeyError{"plugin", fmt.Sprintf("there are no exercises for %q; there are some for %s", k.Plugin, strings.Join(ExercisePlugins(), ", "))}
	case k.Level < 1 || k.Level > Levels:
		return &KeyError{"level", fmt.Sprintf("want 1 to %d, not %d", Levels, k.Level)}
	case k.Seed < 1:
		return &KeyError{"seed", fmt.Sprintf("want a number of more than 0, not %d", k.Seed)}
	}
	return nil
}

// Exercises makes exercises, and grades predictions. Its methods are safe for concurrent use.
type Exercises struct{ engine *whatif.Engine }

// NewExercises returns a maker of exercises. The caller stops it.
func NewExercises() (*Exercises, error) {
	c, err := config.Default()
	if err != nil {
		return nil, err
	}
	return &Exercises{whatif.New(whatif.Options{
		Source:        whatif.Objects(nil),
		Configuration: func() *schedulerconfig.KubeSchedulerConfiguration { return c.Internal },
	})}, nil
}

// Stop releases what is held between exercises.
func (e *Exercises) Stop() { e.engine.Stop() }

// drafts bounds the clusters that an exercise draws. One of the first few usually asks something;
// if none does, the last one serves all the same.
const drafts = 60

// Make makes an exercise. The error is a *KeyError or the engine's.
func (e *Exercises) Make(ctx context.Context, k ExerciseKey) (*Exercise, error) {
	x, _, err := e.make(ctx, k)
	return x, err
}

// Grade makes the exercise again and grades a prediction.
func (e *Exercises) Grade(ctx context.Context, k ExerciseKey, p Prediction) (*Grade, error) {
	x, cycle, err := e.make(ctx, k)
	if err != nil {
		return nil, err
	}
	g := &Grade{Misconceptions: []string{}, Verdict: cycle}
	g.predicted(Situation{Pod: x.Pod, Nodes: x.Nodes, Pods: x.Pods, Cycle: cycle, Usage: x.Usage}, p)
	return g, nil
}

func (e *Exercises) make(ctx context.Context, k ExerciseKey) (*Exercise, *result.Cycle, error) {
	if err := k.Check(); err != nil {
		return nil, nil, err
	}
	h := fnv.New64a()
	fmt.Fprintf(h, "%s/%d", k.Plugin, k.Level)
	random := rand.New(rand.NewPCG(uint64(k.Seed), h.Sum64()))
	for draft := 1; ; draft++ {
		x := newDraft(random, k)
		cycle, err := e.decide(ctx, x)
		if err != nil {
			return nil, nil, fmt.Errorf("the exercise %s %d %d: %w", k.Plugin, k.Level, k.Seed, err)
		}
		if x.asks(cycle) || draft == drafts {
			return x, cycle, nil
		}
	}
}

func (e *Exercises) decide(ctx context.Context, x *Exercise) (*result.Cycle, error) {
	var changes []whatif.Change
	for _, o := range x.Objects {
		changes = append(changes, whatif.Change{Apply: o})
	}
	for _, n := range x.Nodes {
		changes = append(changes, whatif.Change{Apply: n})
	}
	for _, p := range x.Pods {
		changes = append(changes, whatif.Change{Apply: p})
	}
	answer, err := e.engine.Ask(ctx, whatif.Question{Pod: x.Pod, Changes: changes})
	if err != nil {
		return nil, err
	}
	return answer.Decisions[0], nil
}

// asks reports whether the exercise is about its plugin and has one answer: the plugin rejects a
// node or makes a difference between feasible ones, two nodes are feasible, and one has the best
// total. At the last level, the answer may be that no node fits.
func (x *Exercise) asks(c *result.Cycle) bool {
	s := Situation{Cycle: c}
	feasible := 0
	for _, n := range x.Nodes {
		if s.feasible(n.Name) {
			feasible++
		}
	}
	if feasible < 2 && !(x.Level == Levels && feasible == 0) || len(s.best()) > 1 {
		return false
	}
	if c.Filter != nil {
		for i := range c.Filter.Nodes.Len() {
			verdict := c.Filter.Verdict(i)
			if slices.ContainsFunc(verdict.Rejections(), func(r result.PluginReasons) bool { return r.Plugin == x.Plugin }) {
				return true
			}
		}
	}
	if c.Score == nil {
		return false
	}
	at := slices.IndexFunc(c.Score.Plugins, func(p result.ScorePlugin) bool { return p.Name == x.Plugin })
	for i := range c.Score.Nodes.Len() {
		if at >= 0 && c.Score.Weighted[at].At(i) != c.Score.Weighted[at].At(0) {
			return true
		}
	}
	return false
}
