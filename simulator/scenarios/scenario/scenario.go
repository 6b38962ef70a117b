package scenario

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/google/cel-go/cel"
	"go.yaml.in/yaml/v3"

	"kube-scheduler-simulator/scheduler/config"
	"kube-scheduler-simulator/scheduler/versions"
	"kube-scheduler-simulator/scheduler/yamlsource"
	"kube-scheduler-simulator/simulator/scenarios/decoder"
)

const APIVersion = "kube-scheduler-simulator.sigs.k8s.io/v1alpha1"

const (
	KindScenario = "Scenario"
	KindSweep    = "Sweep"
)

// Scenario is a scenario file that was read and checked. It does not change, and any number of runs
// may use it at the same time.
type Scenario struct {
	// File is the name under which it was loaded.
	File string
	Name string
	// Matrix has at least one configuration, one set of gates and one seed.
	Matrix Matrix
	Steps  []*Step
	// Autoscale is nil without an autoscaler.
	Autoscale *Autoscale
	// KubernetesVersion is as in ClusterOptions.
	KubernetesVersion string

	cluster *objectSource
	lets    []*let
	// Alone: nothing may run beside it, because it measures.
	Alone          bool
	readsDecisions bool
	played         bool
}

// Matrix says under what a scenario runs: every combination is a run.
type Matrix struct {
	Configurations []Configuration
	FeatureGates   []map[string]bool
	Seeds          []int64
}

// Configuration is a scheduler configuration with the name that the scenario gives it.
type Configuration struct {
	Name   string
	Parsed *config.Configuration
	// Parse reads it again under a run's own feature gates, on which defaults depend. It may be
	// nil.
	Parse func() (*config.Configuration, error)
}

func (c Configuration) under(gates map[string]bool) (*config.Configuration, error) {
	if len(gates) == 0 || c.Parse == nil {
		return c.Parsed, nil
	}
	parsed, err := c.Parse()
	if err != nil {
		return nil, fmt.Errorf("configuration %s with the feature gates %s: %w", c.Name, GatesName(gates), err)
	}
	return parsed, nil
}

// Default returns Kubernetes' own configuration.
func Default() (Configuration, error) {
	parsed, err := config.Default()
	return Configuration{DefaultConfiguration, parsed, config.Default}, err
}

type Combination struct {
	Configuration Configuration
	FeatureGates  map[string]bool
	Seed          int64
	// Autoscale takes the place of the scenario's; nil for that.
	Autoscale *Autoscale
}

// Combinations keeps those of one set of gates together, because gates belong to a process; then
// come configurations, then seeds.
func (m Matrix) Combinations() []Combination {
	var out []Combination
	for _, gates := range m.FeatureGates {
		for _, c := range m.Configurations {
			for _, seed := range m.Seeds {
				out = append(out, Combination{Configuration: c, FeatureGates: gates, Seed: seed})
			}
		}
	}
	return out
}

// Expectations counts the expectations of one run.
func (s *Scenario) Expectations() int {
	n := 0
	for _, step := range s.Steps {
		if e, ok := step.action.(*expect); ok {
			n += len(e.list)
		}
	}
	return n
}

// FitsInto returns an *Error, at the line of a step, if the steps that advance the time need more
// than the limit. Others may need more time, too.
func (s *Scenario) FitsInto(limit time.Duration) error {
	var needed time.Duration
	for _, step := range s.Steps {
		a, ok := step.action.(*advance)
		if !ok {
			continue
		}
		if needed += a.Duration.Duration; needed > limit {
			return newError([]Mistake{{File: s.File, Line: step.Line, Field: step.Verb, Message: fmt.Sprintf(
				"up to here the scenario lets %s pass, and on the full engine time is real and a run may take %s: allow more with --time-limit, or use --engine memory", needed, limit)}})
		}
	}
	return nil
}

// preempted has only the pods that were preempted.
type let struct {
	name               string
	program, preempted *program
}

type Step struct {
	// Name is what the file calls it; it may be empty.
	Name string
	Verb string
	Line int

	action action
}

type action interface {
	// check completes the action and reports what is wrong with it.
	check(l *loader)
	// run acts on the cluster and says in a few words what it did.
	run(r *run) (string, error)
	// describe says in a few words what it is about to do.
	describe() string
}

var verbs = map[string]func() action{
	"create":     func() action { return &create{} },
	"apply":      func() action { return &create{merge: true} },
	"patch":      func() action { return &patch{} },
	"delete":     func() action { return &remove{} },
	"configure":  func() action { return &configure{} },
	"deschedule": func() action { return &deschedule{} },
	"drain":      func() action { return &drain{} },
	"fail":       func() action { return &fail{} },
	"recover":    func() action { return &fail{recover: true} },
	"arrive":     func() action { return &arrive{} },
	"advance":    func() action { return &advance{} },
	"wait":       func() action { return &wait{} },
	"expect":     func() action { return &expect{} },
}

// Verbs returns the names of the verbs.
func Verbs() []string { return slices.Sorted(maps.Keys(verbs)) }

func (s *Step) Decode(d *decoder.Decoder, n *yaml.Node, at string) {
	s.Line = n.Line
	d.Fields(n, at, append([]string{"name"}, Verbs()...), func(key, value *yaml.Node) {
		switch {
		case key.Value == "name":
			d.Decode(value, &s.Name, yamlsource.Child(at, "name"))
		case s.Verb != "":
			d.Add(key, at, "a step has one verb, and this one has %s and %s; make two steps of it", s.Verb, key.Value)
		default:
			s.Verb, s.Line, s.action = key.Value, key.Line, verbs[key.Value]()
			d.Decode(value, s.action, yamlsource.Child(at, key.Value))
		}
	})
	if s.Verb == "" && n.Kind == yaml.MappingNode {
		d.Add(n, at, "a step has one verb: %s", strings.Join(Verbs(), ", "))
	}
}

type document struct {
	APIVersion string           `yaml:"apiVersion" doc:"The version of this format."`
	Kind       string           `yaml:"kind" doc:"Scenario"`
	Metadata   documentMetadata `yaml:"metadata" doc:"The name."`
	Cluster    *objectSource    `yaml:"cluster" doc:"What exists before the first step: the name of a file, or objects."`
	Autoscale  *autoscaleSource `yaml:"autoscale" doc:"An autoscaler that acts beside the scheduler: Karpenter's own code, in virtual time."`
	Version    string           `yaml:"kubernetesVersion" doc:"The minor version of Kubernetes whose scheduler decides, such as 1.35, in a program of its own; by default this program's."`
	Matrix     matrix           `yaml:"matrix" doc:"Every combination is a run."`
	Let        letList          `yaml:"let" doc:"Named CEL expressions, evaluated anew whenever an expression is."`
	Steps      []*Step          `yaml:"steps" doc:"What happens, one verb each."`
}

type documentMetadata struct {
	Name string `yaml:"name" doc:"The name in reports."`
}

type matrix struct {
	Configuration []configurationSource `yaml:"configuration" doc:"default, the name of a file, or a KubeSchedulerConfiguration."`
	FeatureGates  []GateSet             `yaml:"featureGates" doc:"Sets of Kubernetes feature gates."`
	Seed          seeds                 `yaml:"seed" doc:"What decides ties: a number, a list, or a range such as 1..10."`
}

type letList []namedExpression

type namedExpression struct {
	name string
	Expression
}

func (l *letList) Decode(d *decoder.Decoder, n *yaml.Node, at string) {
	d.Fields(n, at, nil, func(key, value *yaml.Node) {
		e := namedExpression{name: key.Value}
		e.Expression.Decode(d, value, yamlsource.Child(at, key.Value))
		if !isIdentifier(key.Value) {
			d.Add(key, yamlsource.Child(at, key.Value), "a name has letters, digits and _, and does not begin with a digit")
			return
		}
		*l = append(*l, e)
	})
}

func isIdentifier(s string) bool {
	for i, c := range s {
		if c != '_' && (c < 'a' || c > 'z') && (c < 'A' || c > 'Z') && (i == 0 || c < '0' || c > '9') {
			return false
		}
	}
	return s != ""
}

// GateSet are feature gates by name.
type GateSet map[string]bool

func (g *GateSet) Decode(d *decoder.Decoder, n *yaml.Node, at string) {
	*g = GateSet{}
	d.Fields(n, at, nil, func(key, value *yaml.Node) {
		var on bool
		d.Decode(value, &on, yamlsource.Child(at, key.Value))
		(*g)[key.Value] = on
	})
}

// seeds are 7, [1, 2, 3] or 1..10.
type seeds []int64

// MaxSeeds bounds the seeds of a matrix.
const MaxSeeds = 10_000

func (s *seeds) Decode(d *decoder.Decoder, n *yaml.Node, at string) {
	if n.Kind == yaml.SequenceNode {
		for i, item := range n.Content {
			var one seeds
			one.Decode(d, yamlsource.Target(item), fmt.Sprintf("%s[%d]", at, i))
			if *s = append(*s, one...); len(*s) > MaxSeeds {
				d.Add(n, at, "more than %d seeds, the limit", MaxSeeds)
				return
			}
		}
		return
	}
	parsed, err := ParseSeeds(n.Value)
	if err != nil {
		d.Add(n, at, "%s", err)
	}
	*s = append(*s, parsed...)
}

// ParseSeeds reads a seed such as 7, or a range such as 1..10.
func ParseSeeds(text string) ([]int64, error) {
	from, to, isRange := strings.Cut(text, "..")
	first, err := strconv.ParseInt(strings.TrimSpace(from), 10, 64)
	last := first
	if err == nil && isRange {
		last, err = strconv.ParseInt(strings.TrimSpace(to), 10, 64)
	}
	switch {
	case err != nil:
		return nil, fmt.Errorf("want a seed such as 7 or a range such as 1..10, not %q", text)
	case last < first:
		return nil, fmt.Errorf("the range %s is empty", text)
	case last-first >= MaxSeeds || last-first < 0:
		return nil, fmt.Errorf("the range %s has more than %d seeds", text, MaxSeeds)
	}
	var out []int64
	for seed := first; seed <= last; seed++ {
		out = append(out, seed)
	}
	return out, nil
}

// Options say how to load a file.
type Options struct {
	// File is the name of the file, for messages.
	File string
	// Read returns a file that the scenario names. It is required.
	Read func(name string) ([]byte, error)
	// Parse reads a scheduler configuration. It is required. Its error may be a *config.Error.
	Parse func(document []byte) (*config.Configuration, error)
	// Bounds are those of the file and of all that it names, together. Default: Files.
	Bounds yamlsource.Bounds
}

// Load reads a scenario file. The error is an *Error if the file, or one that it names, is wrong.
func Load(ctx context.Context, text []byte, o Options) (*Scenario, error) {
	l, root, err := open(ctx, text, o, KindScenario)
	if err != nil {
		return nil, err
	}
	return l.scenario(root)
}

// header returns "" for what is no mapping.
func header(n *yaml.Node) string {
	for i := 0; n.Kind == yaml.MappingNode && i+1 < len(n.Content); i += 2 {
		if n.Content[i].Value == "kind" {
			return n.Content[i+1].Value
		}
	}
	return ""
}

type loader struct {
	Options
	decoder.Decoder
	// cluster has let.
	cluster *language
	// The first row of the trace whose objects are being read, or nil.
	row            map[string]string
	made           *language
	readsDecisions bool
}

func newLoader(ctx context.Context, o Options) *loader {
	if o.Bounds == (yamlsource.Bounds{}) {
		o.Bounds = Files
	}
	return &loader{Options: o, Decoder: decoder.Decoder{Mistakes: yamlsource.Mistakes{File: o.File}, Ctx: ctx, Left: &yamlsource.Budget{Left: o.Bounds}}}
}

func open(ctx context.Context, text []byte, o Options, kind string) (*loader, *yaml.Node, error) {
	l := newLoader(ctx, o)
	documents := l.Documents(text)
	if len(l.List) == 0 && len(documents) != 1 {
		l.List = append(l.List, Mistake{File: o.File, Line: 1, Message: fmt.Sprintf("want one document, and there are %d", len(documents))})
	}
	if len(l.List) > 0 {
		return nil, nil, newError(l.List)
	}
	root := documents[0]
	if root.Kind != yaml.MappingNode {
		l.Add(root, "", "want a mapping that begins with \"apiVersion: %s\" and \"kind: %s\"", APIVersion, kind)
		return nil, nil, newError(l.List)
	}
	return l, root, nil
}

func (l *loader) checkHeader(root *yaml.Node, apiVersion, kind, want, name string) {
	if apiVersion != APIVersion {
		l.Add(decoder.Locate(root, "apiVersion"), "apiVersion", "want %s", APIVersion)
	}
	if kind != want {
		l.Add(decoder.Locate(root, "kind"), "kind", "want %s", want)
	}
	if name == "" {
		l.Add(decoder.Locate(root, "metadata"), "metadata.name", "a name is required")
	}
}

func (l *loader) scenario(root *yaml.Node) (*Scenario, error) {
	var d document
	l.Decode(root, &d, "")
	l.checkHeader(root, d.APIVersion, d.Kind, KindScenario, d.Metadata.Name)
	if len(d.Steps) == 0 {
		l.Add(decoder.Locate(root, "steps"), "steps", "a scenario has at least one step")
	}
	// What follows would repeat the mistakes of wrong values.
	if len(l.List) > 0 {
		return nil, newError(l.List)
	}
	s := &Scenario{File: l.File, Name: d.Metadata.Name, Steps: d.Steps, cluster: d.Cluster}
	var err error
	if l.cluster, err = clusterLanguage(); err != nil {
		return nil, err
	}
	if l.made, err = madeLanguage(); err != nil {
		return nil, err
	}
	s.lets = l.lets(d.Let)
	if s.cluster != nil {
		s.cluster.check(l)
	}
	if d.Autoscale != nil {
		s.Autoscale = l.autoscale(d.Autoscale)
	}
	if d.Version != "" {
		if s.KubernetesVersion, err = versions.Named(d.Version); err != nil {
			l.Add(decoder.Locate(root, "kubernetesVersion"), "kubernetesVersion", "%v", err)
		}
	}
	s.Matrix = l.matrix(d.Matrix)
	for _, step := range s.Steps {
		step.action.check(l)
	}
	if len(l.List) == 0 {
		l.checkTotal(s)
		l.checkAutoscale(s, d.Autoscale)
	}
	if len(l.List) > 0 {
		return nil, newError(l.List)
	}
	s.readsDecisions = l.readsDecisions
	return s, nil
}

// lets compiles in the order in which expressions need each other.
func (l *loader) lets(list letList) []*let {
	byName := map[string]namedExpression{}
	for _, e := range list {
		if slices.Contains(l.cluster.names, e.name) {
			l.List = append(l.List, e.mistake(0, 0, "%s is a name of the language; choose another one", e.name))
			return nil
		}
		byName[e.name] = e
	}
	var out []*let
	state := map[string]int{} // 1: being compiled, 2: done
	var compile func(e namedExpression, path []string) bool
	compile = func(e namedExpression, path []string) bool {
		switch state[e.name] {
		case 1:
			l.List = append(l.List, e.mistake(0, 0, "it needs itself: %s", strings.Join(append(path, e.name), " needs ")))
			return false
		case 2:
			return true
		}
		state[e.name] = 1
		for _, other := range l.cluster.identifiers(e.Text) {
			if needed, isLet := byName[other]; isLet && !compile(needed, append(path, e.name)) {
				return false
			}
		}
		state[e.name] = 2
		p := l.expression(e.Expression, nil)
		if p == nil {
			return false
		}
		hidden := e.Expression
		hidden.Text = "preempted(" + e.Text + ")"
		preempted := l.expression(hidden, nil)
		if preempted == nil {
			return false
		}
		next, err := l.cluster.with(e.name, p.ast.OutputType())
		if err != nil {
			l.List = append(l.List, e.mistake(0, 0, "%s", err))
			return false
		}
		l.cluster = next
		out = append(out, &let{e.name, p, preempted})
		return true
	}
	for _, e := range list {
		if !compile(e, nil) {
			return nil
		}
	}
	return out
}

func (l *loader) expression(e Expression, want *cel.Type) *program {
	p, mistakes := l.cluster.compile(e, want)
	l.List = append(l.List, mistakes...)
	l.readsDecisions = l.readsDecisions || p != nil && p.readsDecisions
	return p
}

// DefaultSeed is the seed of a scenario that has none.
const DefaultSeed = 1

func (l *loader) matrix(m matrix) Matrix {
	out := Matrix{Seeds: m.Seed}
	for _, c := range m.Configuration {
		if parsed := l.configuration(c); parsed != nil {
			out.Configurations = append(out.Configurations, *parsed)
		}
	}
	for _, g := range m.FeatureGates {
		out.FeatureGates = append(out.FeatureGates, g)
	}
	if len(m.Configuration) == 0 {
		if c := l.configuration(configurationSource{name: DefaultConfiguration, place: &yaml.Node{}}); c != nil {
			out.Configurations = []Configuration{*c}
		}
	}
	if len(out.FeatureGates) == 0 {
		out.FeatureGates = []map[string]bool{{}}
	}
	if len(out.Seeds) == 0 {
		out.Seeds = []int64{DefaultSeed}
	}
	return out
}

type configurationSource struct {
	name  string
	place *yaml.Node
	// inline is nil for a file.
	inline []byte
}

// DefaultConfiguration is the name of Kubernetes' own.
const DefaultConfiguration = "default"

func (c *configurationSource) Decode(d *decoder.Decoder, n *yaml.Node, at string) {
	c.place = n
	switch {
	case n.Kind == yaml.ScalarNode && n.Value != "":
		c.name = n.Value
	case n.Kind == yaml.MappingNode:
		var b bytes.Buffer
		if err := yaml.NewEncoder(&b).Encode(n); err != nil {
			d.Add(n, at, "%s", err)
			return
		}
		c.name, c.inline = fmt.Sprintf("line %d", n.Line), b.Bytes()
	default:
		d.Add(n, at, "want default, the name of a file, or a KubeSchedulerConfiguration, not %s", yamlsource.Describe(n))
	}
}

// configuration returns nil after a mistake.
func (l *loader) configuration(c configurationSource) *Configuration {
	if c.inline == nil && c.name == DefaultConfiguration {
		parsed, err := Default()
		if err != nil {
			l.Add(c.place, "", "%s", err)
			return nil
		}
		return &parsed
	}
	text, file := c.inline, l.File
	if c.inline == nil {
		file = c.name
		if text = l.read(c.place, c.name); text == nil {
			return nil
		}
	}
	parsed, err := l.Parse(text)
	if wrong, ok := errors.AsType[*config.Error](err); ok {
		for _, m := range wrong.Mistakes {
			line := m.Line
			if c.inline != nil && line > 0 {
				line += c.place.Line - 1
			}
			l.List = append(l.List, Mistake{File: file, Line: line, Field: m.Field, Message: m.Message})
		}
		return nil
	}
	if err != nil {
		l.Add(c.place, "", "%s: %s", c.name, err)
		return nil
	}
	return &Configuration{c.name, parsed, func() (*config.Configuration, error) { return l.Parse(text) }}
}

// read returns nil after a mistake.
func (l *loader) read(at *yaml.Node, name string) []byte {
	text, err := l.Read(name)
	if err != nil {
		l.Add(at, "", "reading %s: %s", name, err)
		return nil
	}
	if text == nil {
		text = []byte{}
	}
	return text
}
