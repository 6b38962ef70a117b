// Package perf reads files of scheduler_perf, Kubernetes' benchmark, as scenarios: each workload is
// one, whose steps are operations.
//
// It may import packages scenario and decoder and what they have of templates and YAML.
package perf

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"

	"kube-scheduler-simulator/scheduler/yamlsource"
	"kube-scheduler-simulator/simulator/scenarios/decoder"
	"kube-scheduler-simulator/simulator/scenarios/scenario"
)

// Selection chooses among the workloads of a file of scheduler_perf.
type Selection struct {
	// Labels are labels that a workload must have, or with a leading "-" must not have. A workload
	// has those of its test case, too.
	Labels []string
	// Workloads matches TestCase/Workload; nil for all.
	Workloads *regexp.Regexp
}

func (s Selection) has(name string, labels []string) bool {
	for _, label := range s.Labels {
		bare := strings.TrimLeft(label, "+-")
		if bare != "" && slices.Contains(labels, bare) == strings.HasPrefix(label, "-") {
			return false
		}
	}
	return s.Workloads == nil || s.Workloads.MatchString(name)
}

// Is reports whether a text is a configuration of scheduler_perf: a list of test cases.
func Is(text []byte) bool {
	for line := range bytes.Lines(text) {
		line = bytes.TrimRight(line, "\r\n")
		if trimmed := bytes.TrimSpace(line); len(trimmed) == 0 || trimmed[0] == '#' || string(trimmed) == "---" {
			continue
		}
		return bytes.HasPrefix(line, []byte("- ")) && bytes.Contains(text, []byte("workloadTemplate"))
	}
	return false
}

// testCase is a test case of scheduler_perf: workloads of different sizes that follow one template.
type testCase struct {
	Name                           string           `yaml:"name"`
	FeatureGates                   scenario.GateSet `yaml:"featureGates"`
	MetricsCollectorConfig         *metrics         `yaml:"metricsCollectorConfig"`
	WorkloadTemplate               []op             `yaml:"workloadTemplate"`
	Workloads                      []workload       `yaml:"workloads"`
	SchedulerConfigPath            string           `yaml:"schedulerConfigPath"`
	DefaultPodTemplatePath         string           `yaml:"defaultPodTemplatePath"`
	Labels                         []string         `yaml:"labels"`
	DefaultThresholdMetricSelector *selector        `yaml:"defaultThresholdMetricSelector"`
}

// workload is one run of a test case.
type workload struct {
	Name                    string           `yaml:"name"`
	Params                  decoder.Raw      `yaml:"params"`
	Labels                  []string         `yaml:"labels"`
	Threshold               threshold        `yaml:"threshold"`
	ThresholdMetricSelector *selector        `yaml:"thresholdMetricSelector"`
	FeatureGates            scenario.GateSet `yaml:"featureGates"`
}

// threshold is a number, or numbers by the topic of a benchmark, which a run has none of.
type threshold struct {
	value float64
	place *yaml.Node
}

func (t *threshold) Decode(d *decoder.Decoder, n *yaml.Node, at string) {
	t.place = n
	if n.Kind == yaml.MappingNode {
		return
	}
	f, err := strconv.ParseFloat(n.Value, 64)
	if n.Kind != yaml.ScalarNode || err != nil || f < 0 {
		d.Add(n, at, "want a number that is not negative, not %s", yamlsource.Describe(n))
	}
	t.value = f
}

// selector says which measurement a threshold is for.
type selector struct {
	Name        string      `yaml:"name"`
	Labels      decoder.Raw `yaml:"labels"`
	DataBucket  string      `yaml:"dataBucket"`
	ExpectLower bool        `yaml:"expectLower"`

	labels map[string]string
}

// metrics are the histograms to report.
type metrics struct{ metrics map[string][]label }

// label is a label of a histogram, with the values that are reported.
type label struct {
	Label  string   `yaml:"label"`
	Values []string `yaml:"values"`
}

func (m *metrics) Decode(d *decoder.Decoder, n *yaml.Node, at string) {
	m.metrics = map[string][]label{}
	d.Fields(n, at, []string{"metrics"}, func(_, value *yaml.Node) {
		d.Fields(value, yamlsource.Child(at, "metrics"), nil, func(key, list *yaml.Node) {
			var labels []label
			if list.ShortTag() != "!!null" {
				d.Decode(list, &labels, yamlsource.Child(at, "metrics."+key.Value))
			}
			m.metrics[key.Value] = labels
		})
	})
}

// op is an operation. Its kind is the op code.
type op struct {
	code  string
	place *yaml.Node
	op    action
}

// action is what an op code does. resolve returns the steps of a workload, with its parameters.
type action interface {
	resolve(w *load) []step
}

// codes make the operations of the op codes.
var codes = map[string]func() action{
	"allocResourceClaims":    func() action { return &allocate{} },
	"barrier":                func() action { return &barrier{} },
	"churn":                  func() action { return &churn{} },
	"createAny":              func() action { return &anyObject{} },
	"createNamespaces":       func() action { return &namespaces{} },
	"createNodes":            func() action { return &nodes{} },
	"createPodGroups":        func() action { return &anyObject{} },
	"createPods":             func() action { return &createPods{} },
	"createPodSets":          func() action { return &podSets{} },
	"createResourceClaims":   func() action { return &anyObject{} },
	"deletePods":             func() action { return &remove{} },
	"sleep":                  func() action { return &sleep{} },
	"startCollectingMetrics": func() action { return &start{} },
	"stopCollectingMetrics":  func() action { return &stop{} },
	"updateAny":              func() action { return &anyObject{update: true} },
}

// refused are the op codes that have no counterpart here, and why.
var refused = map[string]string{
	"createResourceDriver":   "Kubernetes has dropped it; createAny with a ResourceSlice does the same",
	"startCollectingProfile": "it profiles the process of a test; simulator bench has --cpuprofile",
	"stopCollectingProfile":  "it profiles the process of a test; simulator bench has --cpuprofile",
}

func (o *op) Decode(d *decoder.Decoder, n *yaml.Node, at string) {
	o.place = n
	if n.Kind != yaml.MappingNode {
		d.Add(n, at, "want an operation with an opcode, not %s", yamlsource.Describe(n))
		return
	}
	code := decoder.Locate(n, "opcode")
	if code == n {
		d.Add(n, at, "the opcode is missing")
		return
	}
	o.code = yamlsource.Text(n, "opcode")
	make, known := codes[o.code]
	if why, refused := refused[o.code]; refused {
		d.Add(code, yamlsource.Child(at, "opcode"), "%s is not supported: %s", o.code, why)
		return
	}
	if !known {
		d.Add(code, yamlsource.Child(at, "opcode"), "there is no op code %s; there are %s", o.code, strings.Join(slices.Sorted(maps.Keys(codes)), ", "))
		return
	}
	o.op = make()
	d.Decode(n, o.op, at)
}

// load loads one workload.
type load struct {
	*scenario.Parts
	kase   *testCase
	name   string
	params map[string]any
	used   map[string]bool
	// op is the operation that is resolved, and number its place.
	op     *op
	number int
	// threshold is compared with the measurement that selector chooses.
	threshold float64
	selector  selector
}

func (w *load) wrong(field, format string, args ...any) {
	w.Add(decoder.Locate(w.op.place, field), field, "%s (workload %s)", fmt.Sprintf(format, args...), w.name)
}

// Load reads a configuration of scheduler_perf. Each chosen workload is a scenario, which a run
// must have to itself: it measures. The error is an *Error if the file, or one that it names, is
// wrong.
func Load(ctx context.Context, text []byte, o scenario.Options, s Selection) ([]*scenario.Scenario, error) {
	l, err := scenario.NewParts(ctx, o)
	if err != nil {
		return nil, err
	}
	documents := l.Documents(text)
	if len(l.List) == 0 && len(documents) != 1 {
		l.Fail(1, "", "want one document, and there are %d", len(documents))
	}
	if err := l.Err(); err != nil {
		return nil, err
	}
	var cases []testCase
	l.Decode(documents[0], &cases, "")
	if err := l.Err(); err != nil {
		return nil, err
	}
	var out []*scenario.Scenario
	seen := map[string]bool{}
	for i := range cases {
		for j := range cases[i].Workloads {
			c, w := &cases[i], &cases[i].Workloads[j]
			name := c.Name + "/" + w.Name
			if seen[name] {
				l.Add(documents[0].Content[i], "name", "there are two workloads %s", name)
			}
			seen[name] = true
			if s.has(name, slices.Concat(c.Labels, w.Labels)) {
				out = append(out, workloadOf(l, c, w, name))
			}
		}
	}
	if len(l.List) == 0 && len(out) == 0 {
		l.Fail(0, "", "no workload is chosen; there are %s", strings.Join(slices.Sorted(maps.Keys(seen)), ", "))
	}
	return out, l.Err()
}

func workloadOf(l *scenario.Parts, c *testCase, w *workload, name string) *scenario.Scenario {
	load := &load{Parts: l, kase: c, name: name, params: map[string]any{}, used: map[string]bool{}, threshold: w.Threshold.value}
	if w.Params.Node != nil {
		load.params, _ = l.Value(w.Params.Node, "params").(map[string]any)
	}
	load.selector = selector{Name: throughput, DataBucket: "Average"}
	for _, selector := range []*selector{c.DefaultThresholdMetricSelector, w.ThresholdMetricSelector} {
		if selector != nil {
			load.selector = *selector
		}
	}
	load.selector.labels = map[string]string{}
	if load.selector.Labels.Node != nil {
		labels, _ := l.Value(load.selector.Labels.Node, "labels").(map[string]any)
		for key, value := range labels {
			load.selector.labels[key] = fmt.Sprint(value)
		}
	}
	merged := map[string]bool{}
	maps.Copy(merged, c.FeatureGates)
	maps.Copy(merged, w.FeatureGates)
	s := &scenario.Scenario{File: l.File, Name: name, Alone: true, Matrix: scenario.Matrix{FeatureGates: []map[string]bool{merged}, Seeds: []int64{scenario.DefaultSeed}}}
	if configuration := l.ConfigurationUnder(c.SchedulerConfigPath, merged); configuration != nil {
		s.Matrix.Configurations = []scenario.Configuration{*configuration}
	}
	for i := range c.WorkloadTemplate {
		load.op, load.number = &c.WorkloadTemplate[i], i
		for _, a := range load.op.op.resolve(load) {
			s.Steps = append(s.Steps, scenario.NewStep(load.op.code, load.op.place.Line, a.what, func(r scenario.Runner) (string, error) { return a.do(runOf(r)) }))
		}
	}
	for _, param := range slices.Sorted(maps.Keys(load.params)) {
		if !load.used[param] {
			l.Add(decoder.Locate(w.Params.Node, param), "params."+param, "no operation uses the parameter (workload %s)", name)
		}
	}
	return s
}

// param returns the value of a parameter such as $initNodes.
func (w *load) param(field, name string) any {
	key, dollar := strings.CutPrefix(name, "$")
	value, set := w.params[key]
	if !dollar || !set {
		w.wrong(field, "the workload has no parameter %s", name)
		return nil
	}
	w.used[key] = true
	return value
}

// number of a field, or of the parameter that stands for it.
func (w *load) count(field string, given int, param string, most int) int {
	if param == "" {
		if given < 0 || given > most {
			w.wrong(field, "want 0 to %d, not %d", most, given)
		}
		return given
	}
	field += "Param"
	value := w.param(field, param)
	n, err := strconv.Atoi(fmt.Sprint(value))
	if value != nil && (err != nil || n < 0 || n > most) {
		w.wrong(field, "want 0 to %d, not %v", most, value)
	}
	return n
}

// templateParams resolves the parameters of a template: $name, or $name|default.
func (w *load) templateParams(given decoder.Raw) map[string]any {
	if given.Node == nil {
		return nil
	}
	out, ok := w.Value(given.Node, "templateParams").(map[string]any)
	if !ok {
		w.wrong("templateParams", "want a mapping")
		return nil
	}
	for key, value := range out {
		text, isText := value.(string)
		if !isText || !strings.HasPrefix(text, "$") {
			continue
		}
		name, standard, hasDefault := strings.Cut(text[1:], "|")
		if set, ok := w.params[name]; ok {
			w.used[name] = true
			out[key] = set
			continue
		}
		if !hasDefault {
			w.wrong("templateParams", "the workload has no parameter $%s", name)
			continue
		}
		var parsed any
		data, wrong := yamlsource.ToJSON(w.Ctx, []byte(standard), yamlsource.Settings)
		if wrong != nil {
			w.wrong("templateParams", "the default of $%s: %s", name, wrong)
		} else if err := json.Unmarshal(data, &parsed); err != nil {
			w.wrong("templateParams", "the default of $%s: %s", name, err)
		}
		out[key] = parsed
	}
	return out
}
