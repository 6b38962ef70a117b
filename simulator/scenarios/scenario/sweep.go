package scenario

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"

	"kube-scheduler-simulator/scheduler/config"
	"kube-scheduler-simulator/scheduler/yamlsource"
	"kube-scheduler-simulator/simulator/scenarios/decoder"
)

// Sweep is a file that runs one scenario under many values of parameters.
type Sweep struct {
	File, Name   string
	Scenario     *Scenario
	ScenarioFile string
	Seeds        []int64
	Parameters   []Parameter
	Metrics      []*Metric
	Best         []Goal
	// Workers is 0 if the file does not say it.
	Workers int
	// KeepFailures: the outcomes of runs hold the expectations that failed, with their decisions.
	KeepFailures bool
	// Unchanged is the number of the point whose values the configuration has already; -1 if no
	// point is like that.
	Unchanged int

	// Digest tells sweeps apart by the content of their files and their seeds.
	Digest string
	// Text is the sweep file, and Files are those that it and its scenario name, by these names.
	Text  []byte
	Files map[string][]byte

	base Configuration
	// inner is what read the scenario, which reads changed autoscalers.
	inner *loader
	parse func([]byte) (*config.Configuration, error)
}

// Runs is the number of runs of the sweep. A run has a number from 0.
func (s *Sweep) Runs() int { return s.Len() * len(s.Seeds) }

// RunOf returns the point and the seed of the run with a number.
func (s *Sweep) RunOf(number int) (point int, seed int64) {
	return number / len(s.Seeds), s.Seeds[number%len(s.Seeds)]
}

// Parameter is a field of the configuration with the values to try.
type Parameter struct {
	Name string `json:"name"`
	// Values in the form of JSON.
	Values []any `json:"values"`

	set func(configuration map[string]any, value any) error
	// scale changes the field autoscale of the scenario; nil for a field of the configuration.
	scale func(field map[string]any, value any) error
}

// Goal says by what the best values are found.
type Goal struct {
	// Metric is the name of one of the sweep's, or passed: the number of runs that passed, or
	// expectations: how many held.
	Metric string `json:"metric"`
	// Most is whether more is better.
	Most bool `json:"most"`
}

// Metrics that every sweep has.
const (
	MetricPassed       = "passed"
	MetricExpectations = "expectations"
)

// What a sweep keeps of each run.
const (
	keepValues   = "values"
	keepFailures = "decisions of failed expectations"
)

// MaxPoints bounds the combinations of a sweep.
const MaxPoints = 100_000

// Point is one combination of values.
type Point struct {
	// Values are those of the parameters, in their order.
	Values        []any
	Configuration Configuration
	// Autoscale is nil if no parameter changes the autoscaler.
	Autoscale *Autoscale
}

type sweepDocument struct {
	APIVersion    string               `yaml:"apiVersion" doc:"The version of this format."`
	Kind          string               `yaml:"kind" doc:"Sweep"`
	Metadata      documentMetadata     `yaml:"metadata" doc:"The name."`
	Scenario      scenarioRef          `yaml:"scenario" doc:"The name of a scenario file."`
	Configuration *configurationSource `yaml:"configuration" doc:"What the parameters change: default, the name of a file, or a KubeSchedulerConfiguration. By default the first one of the scenario."`
	Seed          seeds                `yaml:"seed" doc:"What decides ties: a number, a list, or a range such as 1..10."`
	Parameters    []parameterSource    `yaml:"parameters" doc:"What is tried. Every combination is a point."`
	Metrics       []metricSource       `yaml:"metrics" doc:"What is measured."`
	Best          []goalSource         `yaml:"best" doc:"By what the points are ranked, the most important first."`
	Workers       int                  `yaml:"workers" doc:"How many runs go at the same time."`
	Keep          string               `yaml:"keep" doc:"values, or decisions of failed expectations: what is kept of each run."`
}

type scenarioRef struct {
	File  string `yaml:"file" doc:"The name of a scenario file."`
	place *yaml.Node
}

func (s *scenarioRef) Decode(d *decoder.Decoder, n *yaml.Node, at string) {
	s.place = n
	if n.Kind == yaml.ScalarNode {
		s.File = n.Value
		return
	}
	d.Mapping(n, s, at)
}

type parameterSource struct {
	Name   string        `yaml:"name" doc:"The name in reports."`
	Plugin string        `yaml:"plugin" doc:"The plugin whose weight or argument changes."`
	Weight []decoder.Raw `yaml:"weight" doc:"Weights at Score, from 1 to 100, or off."`
	Args   string        `yaml:"args" doc:"The path of an argument of the plugin."`
	Path   string        `yaml:"path" doc:"The path of any field of the configuration."`
	Scale  string        `yaml:"autoscale" doc:"The path of a field of the scenario's autoscale, such as nodePools[0].spec.disruption.consolidationPolicy."`
	Values []decoder.Raw `yaml:"values" doc:"The values to try."`

	place *yaml.Node
	at    string
}

func (p *parameterSource) Decode(d *decoder.Decoder, n *yaml.Node, at string) {
	p.place, p.at = n, at
	d.Mapping(n, p, at)
}

type metricSource struct {
	Name  string     `yaml:"name" doc:"The name in reports."`
	Value Expression `yaml:"value" doc:"A CEL expression that is a number."`
	After string     `yaml:"after" doc:"The name of the step after which it is evaluated; by default the end."`
	Step  string     `yaml:"step" doc:"The same as after."`

	place *yaml.Node
	at    string
}

func (m *metricSource) Decode(d *decoder.Decoder, n *yaml.Node, at string) {
	m.place, m.at = n, at
	d.Mapping(n, m, at)
}

type goalSource struct {
	Most  string `yaml:"most" doc:"More of this metric is better."`
	Least string `yaml:"least" doc:"Less of it is better."`

	place *yaml.Node
	at    string
}

func (g *goalSource) Decode(d *decoder.Decoder, n *yaml.Node, at string) {
	g.place, g.at = n, at
	d.Mapping(n, g, at)
}

// LoadSweep reads a sweep file, its scenario and what they name. Seeds replace its own unless they
// are nil. The error is an *Error if one of them is wrong.
func LoadSweep(ctx context.Context, text []byte, o Options, seeds []int64) (*Sweep, error) {
	files := map[string][]byte{}
	digest := sha256.New()
	_, _ = digest.Write(text)
	read := o.Read
	o.Read = func(name string) ([]byte, error) {
		data, err := read(name)
		_, _ = digest.Write(data)
		if err == nil {
			files[name] = data
		}
		return data, err
	}
	s, err := loadSweep(ctx, text, o)
	if err != nil {
		return nil, err
	}
	if seeds != nil {
		s.Seeds = seeds
	}
	fmt.Fprint(digest, s.Seeds)
	s.Digest, s.Text, s.Files = hex.EncodeToString(digest.Sum(nil)), text, files
	return s, nil
}

func loadSweep(ctx context.Context, text []byte, o Options) (*Sweep, error) {
	l, root, err := open(ctx, text, o, KindSweep)
	if err != nil {
		return nil, err
	}
	var d sweepDocument
	l.Decode(root, &d, "")
	l.checkHeader(root, d.APIVersion, d.Kind, KindSweep, d.Metadata.Name)
	if d.Scenario.File == "" {
		l.Add(decoder.Locate(root, "scenario"), "scenario", "want the name of a scenario file")
	}
	if len(d.Parameters) == 0 {
		l.Add(decoder.Locate(root, "parameters"), "parameters", "a sweep has at least one parameter")
	}
	if d.Keep != "" && d.Keep != keepValues && d.Keep != keepFailures {
		l.Add(decoder.Locate(root, "keep"), "keep", "want %s or %s", keepValues, keepFailures)
	}
	if d.Workers < 0 {
		l.Add(decoder.Locate(root, "workers"), "workers", "want at least 1")
	}
	if len(l.List) > 0 {
		return nil, newError(l.List)
	}
	s := &Sweep{File: o.File, Name: d.Metadata.Name, ScenarioFile: d.Scenario.File, Workers: d.Workers, KeepFailures: d.Keep == keepFailures, parse: o.Parse}
	if err := l.sweptScenario(s, d); err != nil {
		return nil, err
	}
	s.Seeds = d.Seed
	if len(s.Seeds) == 0 {
		s.Seeds = s.Scenario.Matrix.Seeds
	}
	s.base = s.Scenario.Matrix.Configurations[0]
	if d.Configuration != nil {
		if c := l.configuration(*d.Configuration); c != nil {
			s.base = *c
		}
	}
	points := 1
	for _, p := range d.Parameters {
		parameter := l.parameter(p)
		s.Parameters = append(s.Parameters, parameter)
		if points *= max(1, len(parameter.Values)); points > MaxPoints {
			l.Add(p.place, p.at, "the parameters have more than %d combinations, the limit", MaxPoints)
			break
		}
	}
	l.goals(s, d)
	if len(l.List) > 0 {
		return nil, newError(l.List)
	}
	if err := s.check(l, d); err != nil {
		return nil, err
	}
	s.Unchanged = s.unchanged()
	return s, nil
}

func (l *loader) sweptScenario(s *Sweep, d sweepDocument) error {
	text := l.read(d.Scenario.place, d.Scenario.File)
	if text == nil {
		return newError(l.List)
	}
	inner, root, err := open(l.Ctx, text, Options{File: d.Scenario.File, Read: l.Read, Parse: l.Parse, Bounds: l.Left.Left}, KindScenario)
	if err != nil {
		return err
	}
	if s.Scenario, err = inner.scenario(root); err != nil {
		return err
	}
	l.cluster, s.inner = inner.cluster, inner
	for _, m := range d.Metrics {
		after := m.After
		if after == "" {
			after = m.Step
		}
		switch {
		case m.Name == "" || m.Value.Text == "":
			l.Add(m.place, m.at, "a metric has a name and a value")
			continue
		case m.Name == MetricPassed || m.Name == MetricExpectations:
			l.Add(m.place, yamlsource.Child(m.at, "name"), "every sweep has a metric %s; choose another name", m.Name)
		case after != "" && !slices.ContainsFunc(s.Scenario.Steps, func(step *Step) bool { return step.Name == after }):
			l.Add(decoder.Locate(m.place, "after"), yamlsource.Child(m.at, "after"), "the scenario has no step named %q", after)
		}
		p := l.expression(m.Value, nil)
		if p != nil && !isNumber(typeName(p.ast.OutputType())) {
			l.List = append(l.List, m.Value.mistake(0, 0, "want a number, and the expression is %s", typeName(p.ast.OutputType())))
		}
		s.Metrics = append(s.Metrics, &Metric{Name: m.Name, After: after, program: p})
	}
	return nil
}

func isNumber(name string) bool {
	return name == "a number" || name == "a duration" || name == "true or false" || name == "dyn"
}

func (l *loader) goals(s *Sweep, d sweepDocument) {
	known := []string{MetricPassed, MetricExpectations}
	for _, m := range s.Metrics {
		known = append(known, m.Name)
	}
	for _, g := range d.Best {
		goal := Goal{Metric: g.Most + g.Least, Most: g.Most != ""}
		if (g.Most == "") == (g.Least == "") || !slices.Contains(known, goal.Metric) {
			l.Add(g.place, g.at, "want most or least with one of %s", strings.Join(known, ", "))
		}
		s.Best = append(s.Best, goal)
	}
	if len(s.Best) == 0 {
		s.Best = []Goal{{Metric: MetricPassed, Most: true}, {Metric: MetricExpectations, Most: true}}
	}
}

// A weight of 0 would count as 1.
const off = "off"

func (l *loader) parameter(p parameterSource) Parameter {
	out := Parameter{Name: p.Name}
	byWeight, byArgs, byPath := p.Weight != nil, p.Args != "", p.Path != ""
	raw := p.Values
	switch {
	case p.Scale != "" && p.Plugin == "" && !byWeight && !byArgs && !byPath && p.Values != nil:
		out.set = func(map[string]any, any) error { return nil }
		out.scale = func(field map[string]any, value any) error { return setPath(field, steps(p.Scale), value) }
		out.Name = orElse(out.Name, p.Scale)
	case p.Scale != "":
		l.Add(p.place, p.at, "autoscale stands alone: want autoscale with values")
		return out
	case byWeight && p.Plugin != "" && !byArgs && !byPath && p.Values == nil:
		raw = p.Weight
		out.set = func(c map[string]any, value any) error { return setWeight(c, p.Plugin, value) }
		out.Name = orElse(out.Name, p.Plugin)
	case byArgs && p.Plugin != "" && !byPath && p.Values != nil:
		out.set = func(c map[string]any, value any) error { return setArgument(c, p.Plugin, p.Args, value) }
		out.Name = orElse(out.Name, p.Plugin+" "+p.Args)
	case byPath && p.Plugin == "" && p.Values != nil:
		out.set = func(c map[string]any, value any) error { return setPath(c, steps(p.Path), value) }
		out.Name = orElse(out.Name, p.Path)
	default:
		l.Add(p.place, p.at, "want plugin with weight, plugin with args and values, path with values, or autoscale with values")
		return out
	}
	if len(raw) == 0 {
		l.Add(p.place, p.at, "want at least one value")
	}
	for i, v := range raw {
		value := l.Value(v.Node, fmt.Sprintf("%s[%d]", p.at, i))
		if weight, isInt := value.(int64); byWeight && value != off && (!isInt || weight < 1 || weight > 100) {
			l.Add(v.Node, p.at, "want a weight from 1 to 100 or off, not %s", yamlsource.Describe(v.Node))
		}
		out.Values = append(out.Values, value)
	}
	return out
}

func orElse(s, other string) string {
	if s == "" {
		return other
	}
	return s
}

// check parses the configuration of the first point and of each other value, so that a wrong value
// is found before anything runs.
func (s *Sweep) check(l *loader, d sweepDocument) error {
	first := make([]int, len(s.Parameters))
	for i, p := range s.Parameters {
		for j := range p.Values {
			at := slices.Clone(first)
			at[i] = j
			if _, err := s.point(at); err != nil {
				l.Add(d.Parameters[i].place, d.Parameters[i].at, "%s = %v: %s", p.Name, p.Values[j], err)
				return newError(l.List)
			}
		}
	}
	return nil
}

// unchanged returns the point that leaves the configuration as it is, or -1.
func (s *Sweep) unchanged() int {
	number := 0
	for _, p := range s.Parameters {
		same := slices.IndexFunc(p.Values, func(value any) bool {
			if p.scale != nil {
				return s.Scenario.Autoscale.has(p, value)
			}
			changed, err := s.with(func(document map[string]any) error { return p.set(document, value) })
			return err == nil && len(config.Compare(s.base.Parsed, changed.Parsed)) == 0
		})
		if same < 0 {
			return -1
		}
		number = number*len(p.Values) + same
	}
	return number
}

// Len is the number of points.
func (s *Sweep) Len() int {
	n := 1
	for _, p := range s.Parameters {
		n *= len(p.Values)
	}
	return n
}

// Point returns a combination of values, from 0 to Len. The last parameter changes fastest.
func (s *Sweep) Point(i int) (Point, error) { return s.point(s.at(i)) }

// Values are those of the parameters at a point.
func (s *Sweep) Values(i int) []any {
	out := make([]any, len(s.Parameters))
	for k, at := range s.at(i) {
		out[k] = s.Parameters[k].Values[at]
	}
	return out
}

func (s *Sweep) at(i int) []int {
	at := make([]int, len(s.Parameters))
	for k := len(at) - 1; k >= 0; k-- {
		n := len(s.Parameters[k].Values)
		at[k], i = i%n, i/n
	}
	return at
}

func (s *Sweep) point(at []int) (Point, error) {
	var p Point
	var names []string
	for i, parameter := range s.Parameters {
		value := parameter.Values[at[i]]
		p.Values = append(p.Values, value)
		names = append(names, fmt.Sprintf("%s %v", parameter.Name, value))
	}
	var err error
	p.Configuration, err = s.with(func(document map[string]any) error {
		for i, parameter := range s.Parameters {
			if err := parameter.set(document, p.Values[i]); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return Point{}, err
	}
	p.Configuration.Name = strings.Join(names, ", ")
	if p.Autoscale, err = s.autoscale(p.Values); err != nil {
		return Point{}, err
	}
	return p, nil
}

// autoscale returns the autoscaler with the values of the parameters, nil if none is about it.
func (s *Sweep) autoscale(values []any) (*Autoscale, error) {
	if !slices.ContainsFunc(s.Parameters, func(p Parameter) bool { return p.scale != nil }) {
		return nil, nil
	}
	if s.Scenario.Autoscale == nil {
		return nil, errors.New("the scenario has no field autoscale")
	}
	return s.Scenario.Autoscale.with(s.inner, func(field map[string]any) error {
		for i, parameter := range s.Parameters {
			if parameter.scale == nil {
				continue
			}
			if err := parameter.scale(field, values[i]); err != nil {
				return err
			}
		}
		return nil
	})
}

func (s *Sweep) with(change func(document map[string]any) error) (Configuration, error) {
	var document map[string]any
	data, err := s.base.Parsed.JSON()
	if err == nil {
		err = json.Unmarshal(data, &document)
	}
	if err != nil {
		return Configuration{}, fmt.Errorf("reading the configuration %s: %w", s.base.Name, err)
	}
	if err := change(document); err != nil {
		return Configuration{}, err
	}
	if data, err = json.Marshal(document); err != nil {
		return Configuration{}, err
	}
	parsed, err := s.parse(data)
	if err != nil {
		return Configuration{}, err
	}
	return Configuration{Parsed: parsed, Parse: func() (*config.Configuration, error) { return s.parse(data) }}, nil
}

// profiles returns at least one.
func profiles(c map[string]any) []map[string]any {
	list, _ := c["profiles"].([]any)
	if len(list) == 0 {
		list = []any{map[string]any{"schedulerName": "default-scheduler"}}
		c["profiles"] = list
	}
	var out []map[string]any
	for _, p := range list {
		if profile, ok := p.(map[string]any); ok {
			out = append(out, profile)
		}
	}
	return out
}

// An entry for Score goes before one for all extension points.
func setWeight(c map[string]any, plugin string, value any) error {
	for _, profile := range profiles(c) {
		score := mapIn(mapIn(profile, "plugins"), "score")
		for _, list := range []string{"enabled", "disabled"} {
			there, _ := score[list].([]any)
			score[list] = slices.DeleteFunc(slices.Clone(there), func(e any) bool {
				entry, _ := e.(map[string]any)
				return entry["name"] == plugin
			})
		}
		if value == off {
			score["disabled"] = append(score["disabled"].([]any), map[string]any{"name": plugin})
		} else {
			score["enabled"] = append(score["enabled"].([]any), map[string]any{"name": plugin, "weight": value})
		}
	}
	return nil
}

func setArgument(c map[string]any, plugin, path string, value any) error {
	for _, profile := range profiles(c) {
		list, _ := profile["pluginConfig"].([]any)
		var args map[string]any
		for _, e := range list {
			if entry, _ := e.(map[string]any); entry["name"] == plugin {
				args = mapIn(entry, "args")
			}
		}
		if args == nil {
			args = map[string]any{}
			profile["pluginConfig"] = append(list, map[string]any{"name": plugin, "args": args})
		}
		if err := setPath(args, steps(path), value); err != nil {
			return err
		}
	}
	return nil
}

func mapIn(m map[string]any, key string) map[string]any {
	inner, ok := m[key].(map[string]any)
	if !ok {
		inner = map[string]any{}
		m[key] = inner
	}
	return inner
}

func steps(path string) []string {
	return strings.FieldsFunc(path, func(r rune) bool { return r == '.' || r == '[' || r == ']' })
}

// setPath makes the mappings on the way, but not the items of lists.
func setPath(m map[string]any, path []string, value any) error {
	if len(path) == 0 {
		return errors.New("the path is empty")
	}
	var at any = m
	for i, step := range path {
		last := i == len(path)-1
		switch in := at.(type) {
		case map[string]any:
			if last {
				in[step] = value
				return nil
			}
			if in[step] == nil {
				in[step] = map[string]any{}
			}
			at = in[step]
		case []any:
			n, err := strconv.Atoi(step)
			if err != nil || n >= len(in) || n < 0 {
				return fmt.Errorf("there is no item %s of %s", step, strings.Join(path[:i], "."))
			}
			if last {
				in[n] = value
				return nil
			}
			at = in[n]
		default:
			return fmt.Errorf("%s is %v, which has no fields", strings.Join(path[:i], "."), at)
		}
	}
	return nil
}

// Job returns the run of a point with a seed.
func (s *Sweep) Job(p Point, seed int64, engine Engine) Job {
	return Job{
		Scenario:    s.Scenario,
		Combination: Combination{Configuration: p.Configuration, FeatureGates: s.Scenario.Matrix.FeatureGates[0], Seed: seed, Autoscale: p.Autoscale},
		Options:     RunOptions{Engine: engine, Metrics: s.Metrics, Unexplained: !s.KeepFailures},
	}
}
