package lesson

import (
	"context"
	"errors"
	"fmt"
	"slices"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	schedulerconfig "k8s.io/kubernetes/pkg/scheduler/apis/config"

	"kube-scheduler-simulator/scheduler/config"
	"kube-scheduler-simulator/scheduler/result"
	"kube-scheduler-simulator/scheduler/whatif"
	"kube-scheduler-simulator/simulator/cluster/objects"
	"kube-scheduler-simulator/simulator/scenarios/scenario"
)

// Rehearse tries every check of a lesson with the answers that its file calls right and wrong. It
// grades each where a learner stands after everything before it: the cluster, the buttons of the
// steps, and the first right answer of each check of the state. The error is a *scenario.Error with
// the answers that the file calls wrongly, or that of a cluster that did not open.
func Rehearse(ctx context.Context, l *Lesson, open func(ctx context.Context, l *Lesson) (Sandbox, error)) error {
	r := rehearsal{lesson: l, open: open}
	var done [][]*scenario.Step
	for _, s := range l.Steps {
		if s.Do != nil {
			done = append(done, s.Do)
		}
		for _, c := range s.Checks {
			if err := r.check(ctx, c, done); err != nil {
				return err
			}
			if c.Kind == State && len(c.Right) > 0 {
				done = append(done, c.Right[0].Steps)
			}
		}
	}
	if len(r.mistakes) > 0 {
		return &scenario.Error{Mistakes: r.mistakes}
	}
	return nil
}

// Sandbox is a cluster of its own.
type Sandbox interface {
	Player
	Close() error
}

type rehearsal struct {
	lesson   *Lesson
	open     func(ctx context.Context, l *Lesson) (Sandbox, error)
	mistakes []scenario.Mistake
}

func (r *rehearsal) fail(line int, format string, args ...any) {
	r.mistakes = append(r.mistakes, scenario.Mistake{File: r.lesson.File, Line: line, Message: fmt.Sprintf(format, args...)})
}

// check tries the examples of a check. Those that change nothing share a sandbox.
func (r *rehearsal) check(ctx context.Context, c *Check, done [][]*scenario.Step) error {
	examples := slices.Concat(c.Right, c.Wrong)
	var s Sandbox
	for i, e := range examples {
		if s == nil || c.Kind == State {
			if s != nil {
				if err := s.Close(); err != nil {
					return err
				}
			}
			var err error
			if s, err = r.at(ctx, c, done); err != nil || s == nil {
				return err
			}
		}
		if err := r.example(ctx, c, s, e, i < len(c.Right)); err != nil {
			return errors.Join(err, s.Close())
		}
	}
	if s == nil {
		return nil
	}
	return s.Close()
}

// at opens a sandbox and plays what comes before a check. It returns nil if that went wrong.
func (r *rehearsal) at(ctx context.Context, c *Check, done [][]*scenario.Step) (Sandbox, error) {
	s, err := r.open(ctx, r.lesson)
	if err != nil {
		return nil, err
	}
	for _, steps := range done {
		if err := s.Play(ctx, steps); err != nil {
			r.fail(steps[0].Line, "before the check %s: %s", c.ID, err)
			return nil, s.Close()
		}
	}
	return s, nil
}

func (r *rehearsal) example(ctx context.Context, c *Check, s Sandbox, e Example, right bool) error {
	if err := s.Play(ctx, e.Steps); err != nil {
		r.fail(e.Line, "the check %s: %s", c.ID, err)
		return nil
	}
	g, err := r.lesson.Grade(ctx, c, e.Answer, Languages[0], s)
	if err != nil {
		r.fail(e.Line, "the check %s: %s", c.ID, err)
		return nil
	}
	found := ""
	switch {
	case g.Error != "":
		found = ": " + g.Error
	case g.Findings != nil:
		found = fmt.Sprintf(": %s is %s", g.Findings[0].Expected, g.Findings[0].Value)
	}
	for _, n := range g.Nodes {
		if !n.Right {
			found += fmt.Sprintf("; %s is %s", n.Node, n.Verdict)
		}
	}
	switch {
	case right && !g.Passed:
		r.fail(e.Line, "the check %s does not pass, and the answer is among the right ones%s", c.ID, found)
	case !right && g.Passed:
		r.fail(e.Line, "the check %s passes, and the answer is among the wrong ones", c.ID)
	case !right && g.Error != "" && c.Kind != State:
		r.fail(e.Line, "the check %s cannot be judged: %s", c.ID, g.Error)
	}
	for _, name := range e.Misconceptions {
		if !slices.Contains(g.Misconceptions, name) {
			r.fail(e.Line, "the check %s names the misconceptions %v, not %s", c.ID, g.Misconceptions, name)
		}
	}
	return nil
}

// InMemory opens the sandboxes of Rehearse in memory.
func InMemory(engine scenario.Engine) func(ctx context.Context, l *Lesson) (Sandbox, error) {
	return func(ctx context.Context, l *Lesson) (Sandbox, error) {
		m := &memorySandbox{}
		var err error
		if m.configuration, err = l.configuration(); err != nil {
			return nil, err
		}
		var early []*result.Cycle // before the stage exists
		m.Cluster, err = engine(ctx, scenario.ClusterOptions{
			Configuration: m.configuration, Seed: scenario.DefaultSeed,
			Observe: func(c *result.Cycle) {
				if m.stage == nil {
					early = append(early, c)
					return
				}
				m.stage.Observe(c)
			},
		})
		if err != nil {
			return nil, err
		}
		m.stage = scenario.NewStage(m, m.configuration)
		for _, c := range early {
			m.stage.Observe(c)
		}
		if err := m.stage.Create(ctx, l.cluster); err != nil {
			return nil, errors.Join(fmt.Errorf("%s: making the cluster: %w", l.File, err), m.Close())
		}
		if err := m.Settle(ctx); err != nil {
			return nil, errors.Join(fmt.Errorf("%s: the cluster does not settle: %w", l.File, err), m.Close())
		}
		return m, nil
	}
}

func (l *Lesson) configuration() (*config.Configuration, error) {
	if l.Configuration != nil {
		return l.Configuration.Parsed, nil
	}
	return config.Default()
}

type memorySandbox struct {
	scenario.Cluster
	stage         *scenario.Stage
	configuration *config.Configuration
}

var _ Sandbox = (*memorySandbox)(nil)

func (m *memorySandbox) Configure(ctx context.Context, c *config.Configuration) error {
	if err := m.Cluster.Configure(ctx, c); err != nil {
		return err
	}
	m.configuration = c
	return nil
}

func (m *memorySandbox) Stage(context.Context) (*scenario.Stage, error) { return m.stage, nil }

func (m *memorySandbox) Play(ctx context.Context, steps []*scenario.Step) error {
	return m.stage.Play(ctx, steps)
}

func (m *memorySandbox) Decide(ctx context.Context, a *Asked) (*result.Cycle, *v1.Pod, error) {
	var all []runtime.Object
	for _, k := range objects.Kinds(objects.Recorded) {
		list, err := m.List(ctx, k.GroupKind().WithVersion(k.Version))
		if err != nil {
			return nil, nil, err
		}
		all = append(all, list...)
	}
	engine := whatif.New(whatif.Options{
		Source:        whatif.Objects(all),
		Configuration: func() *schedulerconfig.KubeSchedulerConfiguration { return m.configuration.Internal },
	})
	defer engine.Stop()
	return Decide(ctx, engine, a)
}
