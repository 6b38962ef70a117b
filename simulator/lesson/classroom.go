package lesson

import (
	"context"
	"encoding/json"
	"fmt"
	"io/fs"
	"maps"
	"slices"
	"strings"
	"sync"

	"kube-scheduler-simulator/simulator/scenarios/scenario"
)

// Classroom is what Learn offers: lessons and exercises. In a sandbox it also grades the checks of
// a lesson. Its methods are safe for concurrent use.
type Classroom struct {
	// The first call of lessons loads them.
	lessons   func() ([]*Lesson, error)
	exercises *Exercises
	// sandbox is the id of this simulator's lesson; empty outside of sandboxes.
	sandbox string
	cluster Player
	edits   func(context.Context) (int, error)
	// Whoever plays or grades holds turn.
	turn chan struct{}

	mu sync.Mutex
	// graded are the latest answers in the sandbox, by check.
	graded map[string]graded
}

// Player is the cluster of a lesson.
type Player interface {
	World
	// Play plays steps.
	Play(ctx context.Context, steps []*scenario.Step) error
}

// NewClassroom returns a classroom with the built-in lessons and a teacher's own. sandbox is the id
// of this simulator's lesson; empty for none. cluster is this simulator's. edits counts what the
// learner changed in it, as Result says; nil if nothing counts that. The classroom reads the
// built-in lessons when it needs them. The caller stops it.
func NewClassroom(own []*Lesson, sandbox string, cluster Player, edits func(context.Context) (int, error)) (*Classroom, error) {
	c := &Classroom{sandbox: sandbox, cluster: cluster, edits: edits, turn: make(chan struct{}, 1), graded: map[string]graded{}}
	c.lessons = sync.OnceValues(func() ([]*Lesson, error) {
		all, err := BuiltIn()
		return slices.Concat(all, own), err
	})
	var err error
	c.exercises, err = NewExercises()
	return c, err
}

// Stop releases what the classroom holds between exercises.
func (c *Classroom) Stop() { c.exercises.Stop() }

// MissingError means that there is no such lesson, step or check. It wraps fs.ErrNotExist.
type MissingError struct{ Message string }

func (e *MissingError) Error() string { return e.Message }

// Unwrap returns fs.ErrNotExist.
func (e *MissingError) Unwrap() error { return fs.ErrNotExist }

func missing(format string, args ...any) error { return &MissingError{fmt.Sprintf(format, args...)} }

// ElsewhereError means that this simulator is not the sandbox of the lesson.
type ElsewhereError struct{ Lesson string }

func (e *ElsewhereError) Error() string {
	return fmt.Sprintf("the steps and checks of the lesson %s belong to its own sandbox: enter the lesson first", e.Lesson)
}

// PlayError means that the cluster could not do what a step does.
type PlayError struct{ Err error }

func (e *PlayError) Error() string { return "the step could not be done: " + e.Err.Error() }

func (e *PlayError) Unwrap() error { return e.Err }

// The error of lesson is a *MissingError.
func (c *Classroom) lesson(id string) (*Lesson, error) {
	all, err := c.lessons()
	if err != nil {
		return nil, err
	}
	at := slices.IndexFunc(all, func(l *Lesson) bool { return l.ID == id })
	if at < 0 {
		return nil, missing("there is no lesson %q", id)
	}
	return all[at], nil
}

// List returns all lessons and challenges: the built-in lessons, the built-in challenges, and then
// those of a teacher.
func (c *Classroom) List(language string) ([]Summary, error) {
	all, err := c.lessons()
	out := make([]Summary, len(all))
	for i, l := range all {
		out[i] = l.Summary(language)
	}
	return out, err
}

// Get returns a lesson. The error is a *MissingError.
func (c *Classroom) Get(id, language string) (View, error) {
	l, err := c.lesson(id)
	if err != nil {
		return View{}, err
	}
	return l.View(language), nil
}

func (c *Classroom) here(id string) (*Lesson, error) {
	l, err := c.lesson(id)
	if err == nil && id != c.sandbox {
		return nil, &ElsewhereError{id}
	}
	return l, err
}

// alone calls do while no other goroutine plays or grades.
func (c *Classroom) alone(ctx context.Context, do func() error) error {
	select {
	case c.turn <- struct{}{}:
		defer func() { <-c.turn }()
	case <-ctx.Done():
		return context.Cause(ctx)
	}
	return do()
}

// Do presses the button of a step. The error is a *MissingError, an *ElsewhereError or a
// *PlayError.
func (c *Classroom) Do(ctx context.Context, id, step string) error {
	l, err := c.here(id)
	if err != nil {
		return err
	}
	s := l.Step(step)
	if s == nil || s.Do == nil {
		return missing("the lesson %s has no step %q that does something", id, step)
	}
	return c.alone(ctx, func() error {
		if err := c.cluster.Play(ctx, s.Do); err != nil {
			return &PlayError{err}
		}
		return nil
	})
}

// Grade grades an answer, a JSON value. The error is a *MissingError, an *ElsewhereError, an
// *AnswerError or one of the cluster.
func (c *Classroom) Grade(ctx context.Context, id, check, language string, answer any) (*Grade, error) {
	l, err := c.here(id)
	if err != nil {
		return nil, err
	}
	of := l.Check(check)
	if of == nil {
		return nil, missing("the lesson %s has no check %q", id, check)
	}
	var g *Grade
	err = c.alone(ctx, func() (err error) {
		g, err = l.Grade(ctx, of, answer, language, c.cluster)
		if err == nil && l.Best > 0 && c.edits != nil {
			var edits int
			edits, err = c.edits(ctx)
			g.Edits = &edits
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.graded[check] = graded{answer, g}
	return g, nil
}

// Exercise makes an exercise. The error is a *KeyError or the engine's.
func (c *Classroom) Exercise(ctx context.Context, k ExerciseKey) (*Exercise, error) {
	return c.exercises.Make(ctx, k)
}

// GradeExercise grades a prediction. The error is a *KeyError or the engine's.
func (c *Classroom) GradeExercise(ctx context.Context, k ExerciseKey, p Prediction) (*Grade, error) {
	return c.exercises.Grade(ctx, k, p)
}

// Start is what the sandbox of a lesson starts with.
type Start struct {
	// Objects are in JSON.
	Objects []json.RawMessage
	// Configuration is a KubeSchedulerConfiguration in JSON; nil for Kubernetes' default.
	Configuration json.RawMessage
	// Flags are those of the sandbox's command line.
	Flags []string
}

// ExtenderAddress is where the example extender answers in the sandbox of a lesson that wants one.
// Configurations in the lesson name it.
const ExtenderAddress = "127.0.0.1:8899"

// Start returns what the sandbox of a lesson starts with. The error is a *MissingError for an
// unknown one.
func (c *Classroom) Start(id string) (Start, error) {
	l, err := c.lesson(id)
	if err != nil {
		return Start{}, err
	}
	return l.Start()
}

// Start returns what the sandbox starts with.
func (l *Lesson) Start() (Start, error) {
	// A sandbox breaks ties as a rehearsal does.
	s := Start{Flags: []string{"--lesson=" + l.ID, fmt.Sprintf("--tie-seed=%d", scenario.DefaultSeed)}}
	if l.Extender {
		s.Flags = append(s.Flags, "--example-extender="+ExtenderAddress)
	}
	if l.Kueue {
		s.Flags = append(s.Flags, "--kueue")
	}
	if l.Karpenter {
		s.Flags = append(s.Flags, "--karpenter")
	}
	if l.Sessions {
		s.Flags = append(s.Flags, "--session-scheduler")
	}
	if len(l.FeatureGates) > 0 {
		var set []string
		for _, name := range slices.Sorted(maps.Keys(l.FeatureGates)) {
			set = append(set, fmt.Sprintf("%s=%t", name, l.FeatureGates[name]))
		}
		s.Flags = append(s.Flags, "--feature-gates="+strings.Join(set, ","))
	}
	made, err := l.cluster.Make()
	if err != nil {
		return s, fmt.Errorf("%s: making the cluster: %w", l.File, err)
	}
	for _, o := range made {
		data, err := json.Marshal(o)
		if err != nil {
			return s, err
		}
		s.Objects = append(s.Objects, data)
	}
	if l.Configuration != nil {
		if s.Configuration, err = l.Configuration.Parsed.JSON(); err != nil {
			return s, fmt.Errorf("%s: the scheduler configuration: %w", l.File, err)
		}
	}
	return s, nil
}
