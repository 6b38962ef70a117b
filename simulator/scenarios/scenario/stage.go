package scenario

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"

	"github.com/google/cel-go/cel"
	"github.com/google/cel-go/common/types"
	"go.yaml.in/yaml/v3"
	"k8s.io/apimachinery/pkg/runtime"
	apitypes "k8s.io/apimachinery/pkg/types"

	v1 "k8s.io/api/core/v1"

	"kube-scheduler-simulator/scheduler/config"
	"kube-scheduler-simulator/scheduler/result"
	"kube-scheduler-simulator/simulator/scenarios/decoder"
)

// Parts reads parts of scenarios that stand in a file of another format: objects, steps and
// expressions. It is as strict as Load, and collects the mistakes of the whole file.
type Parts struct{ *loader }

// NewParts returns a reader of the parts of one file. Expressions have the variables of own, beside
// those of a scenario: values of any type, which Stage.Judge and Stage.Evaluate get.
func NewParts(ctx context.Context, o Options, own ...string) (*Parts, error) {
	l := newLoader(ctx, o)
	var err error
	if l.cluster, err = clusterLanguage(); err != nil {
		return nil, err
	}
	if l.made, err = madeLanguage(); err != nil {
		return nil, err
	}
	for _, name := range own {
		if l.cluster, err = l.cluster.with(name, types.DynType); err != nil {
			return nil, err
		}
	}
	return &Parts{l}, nil
}

// DocumentsAt returns the YAML documents of a text that begins at a line of the file. Nodes have
// the lines of the file.
func (p *Parts) DocumentsAt(text []byte, line int) []*yaml.Node {
	return p.Documents(append(bytes.Repeat([]byte("\n"), max(0, line-1)), text...))
}

// Fail notes a mistake. line counts from 1.
func (p *Parts) Fail(line int, field, format string, args ...any) {
	p.List = append(p.List, Mistake{File: p.Options.File, Line: line, Field: field, Message: fmt.Sprintf(format, args...)})
}

// Err returns an *Error with all mistakes, or nil.
func (p *Parts) Err() error {
	if len(p.List) == 0 {
		return nil
	}
	return newError(p.List)
}

// Objects are the objects of some documents.
type Objects struct{ sources []*objectSource }

// Objects checks documents that are objects, or templates with a count.
func (p *Parts) Objects(documents ...*yaml.Node) *Objects {
	out := &Objects{}
	for _, n := range documents {
		s := &objectSource{place: n, Objects: []decoder.Raw{{Node: n}}}
		if decoder.Locate(n, "template") != n {
			s = &objectSource{}
			s.Decode(&p.Decoder, n, "")
		}
		s.check(p.loader)
		out.sources = append(out.sources, s)
	}
	return out
}

// Configuration checks a document that is a KubeSchedulerConfiguration. It returns nil after a
// mistake.
func (p *Parts) Configuration(n *yaml.Node) *Configuration {
	c := configurationSource{}
	c.Decode(&p.Decoder, n, "")
	return p.configuration(c)
}

// ConfigurationUnder reads the file of a configuration, or with "" Kubernetes' own, whose plugins
// may need feature gates. It returns nil after a mistake.
func (p *Parts) ConfigurationUnder(name string, gates map[string]bool) *Configuration {
	before := len(p.List)
	parsed := p.configuration(configurationSource{name: cmp.Or(name, DefaultConfiguration), place: &yaml.Node{}})
	if parsed != nil || len(gates) == 0 {
		return parsed
	}
	// The run reads it again when its gates are set, and then reports what is wrong.
	text, err := p.Read(name)
	if err != nil {
		return nil
	}
	standard, err := Default()
	if err != nil {
		return nil
	}
	p.List = p.List[:before]
	return &Configuration{name, standard.Parsed, func() (*config.Configuration, error) { return p.Parse(text) }}
}

// ReadFile reads a file that the scenario names. It returns nil after a mistake.
func (p *Parts) ReadFile(at *yaml.Node, name string) []byte { return p.read(at, name) }

// Check completes steps that were decoded.
func (p *Parts) Check(steps []*Step) {
	for _, s := range steps {
		if s.action != nil {
			s.action.check(p.loader)
		}
	}
}

// ApplyStep returns the step that applies the objects of a document.
func (p *Parts) ApplyStep(n *yaml.Node) *Step {
	return &Step{Verb: "apply", Line: n.Line, action: &create{merge: true, objectSource: objectSource{place: n, Objects: []decoder.Raw{{Node: n}}}}}
}

// Describe says in a few words what a step is about.
func (s *Step) Describe() string { return s.action.describe() }

// Title is the step's name, or what it does.
func (s *Step) Title() string { return cmp.Or(s.Name, s.Verb+" "+s.Describe()) }

// Condition is a compiled expression that is true or false.
type Condition struct{ expectation *expectation }

// String returns the expression.
func (c *Condition) String() string { return c.expectation.That.Text }

// Condition compiles an expression. It returns nil after a mistake.
func (p *Parts) Condition(e Expression) *Condition {
	x := &expectation{That: e}
	if x.program = p.expression(e, cel.BoolType); x.program == nil {
		return nil
	}
	x.program.parts = p.cluster.parts(x.program)
	return &Condition{x}
}

// Stage is a cluster on which steps are played and conditions judged, in any order. Use it from one
// goroutine at a time.
type Stage struct{ run run }

// NewStage returns a stage for a cluster that the caller opened, and closes. The caller gives every
// finished cycle to Observe, those of the past, too.
func NewStage(cluster Cluster, c *config.Configuration) *Stage {
	return &Stage{run{
		scenario: &Scenario{}, combination: Combination{Configuration: Configuration{Parsed: c}, Seed: DefaultSeed}, cluster: cluster, start: cluster.Now(),
		names: map[string]int{}, known: map[apitypes.UID]*v1.Pod{}, last: map[apitypes.UID]int{}, victim: map[apitypes.UID]bool{}, result: &Result{},
	}}
}

// Observe notes a decision.
func (s *Stage) Observe(c *result.Cycle) { s.run.observe(c) }

// Make returns the objects, with numbers at the ends of the names of copies.
func (o *Objects) Make() ([]runtime.Object, error) {
	return o.make(&run{ctx: context.Background(), combination: Combination{Seed: DefaultSeed}, names: map[string]int{}})
}

func (o *Objects) make(r *run) ([]runtime.Object, error) {
	var out []runtime.Object
	for _, source := range o.sources {
		made, err := source.make(r)
		if err != nil {
			return nil, err
		}
		out = append(out, made...)
	}
	return out, nil
}

// Create creates objects.
func (s *Stage) Create(ctx context.Context, o *Objects) error {
	s.run.ctx, s.run.view = ctx, nil
	made, err := o.make(&s.run)
	if err != nil {
		return err
	}
	return s.run.cluster.Create(ctx, made...)
}

// Play plays steps. A wait that does not end and an expectation that does not hold are errors, too.
func (s *Stage) Play(ctx context.Context, steps []*Step) error {
	s.run.ctx = ctx
	for i, step := range steps {
		if err := s.run.one(i, step); err != nil {
			return fmt.Errorf("line %d: %s: %w", step.Line, step.Verb, err)
		}
		if done := s.run.result.Steps[len(s.run.result.Steps)-1]; done.Failed {
			err := errors.New(done.Error)
			for _, e := range done.Expectations {
				if !e.Passed {
					err = fmt.Errorf("%s does not hold", e.That)
				}
			}
			return fmt.Errorf("line %d: %s: %w", step.Line, step.Verb, err)
		}
	}
	return nil
}

// Perform plays a whole scenario on the cluster as it is: the objects that it starts from, and its
// steps, with the first seed. Its configuration, if it names one, becomes the cluster's. begun,
// which may be nil, hears of each step before it is played.
func (s *Stage) Perform(ctx context.Context, sc *Scenario, begun func(n int, step *Step)) error {
	if err := sc.performable(); err != nil {
		return err
	}
	s.run.ctx, s.run.scenario, s.run.combination.Seed = ctx, sc, sc.Matrix.Seeds[0]
	if c := sc.Matrix.Configurations[0]; c.Name != DefaultConfiguration {
		if err := s.run.cluster.Configure(ctx, c.Parsed); err != nil {
			return fmt.Errorf("configuration %s: %w", c.Name, err)
		}
	}
	if sc.cluster != nil {
		if err := s.Create(ctx, &Objects{[]*objectSource{sc.cluster}}); err != nil {
			return fmt.Errorf("cluster: %w", err)
		}
	}
	for i, step := range sc.Steps {
		if begun != nil {
			begun(i, step)
		}
		if err := s.Play(ctx, sc.Steps[i:i+1]); err != nil {
			return err
		}
	}
	return nil
}

// performable returns an *Error for a scenario of several runs, or with feature gates of its own.
func (s *Scenario) performable() error {
	if s.Autoscale != nil {
		return s.refuseAutoscale()
	}
	all := s.Matrix.Combinations()
	if len(all) == 1 && len(all[0].FeatureGates) == 0 && !s.played {
		return nil
	}
	return newError([]Mistake{{File: s.File, Field: "matrix", Message: fmt.Sprintf("a cluster that runs plays one configuration and one seed, under its own feature gates; the scenario has %d runs", len(all))}})
}

// Judge evaluates a condition about the cluster as it is. A condition that cannot be evaluated does
// not hold. own are the values of the variables that NewParts declared; a *result.Cycle is a
// decision, and nil an unset value.
func (s *Stage) Judge(ctx context.Context, c *Condition, own map[string]any) (ExpectationResult, error) {
	s.run.ctx, s.run.view, s.run.own = ctx, nil, map[string]any{}
	for name, value := range own {
		if cycle, ok := value.(*result.Cycle); ok {
			value = &decided{Summary: &cycle.Summary, cycle: cycle}
		}
		if value == nil {
			value = types.NullValue
		}
		s.run.own[name] = value
	}
	return s.run.judge(c.expectation)
}
