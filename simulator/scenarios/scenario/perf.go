package scenario

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"

	"kube-scheduler-simulator/scheduler/config"
	"kube-scheduler-simulator/scheduler/yamlsource"
)

// PerfSelection chooses among the workloads of a file of scheduler_perf.
type PerfSelection struct {
	// Labels are labels that a workload must have, or with a leading "-" must not have. A workload has those of its test case, too.
	Labels []string
	// Workloads matches TestCase/Workload; nil for all.
	Workloads *regexp.Regexp
}

func (s PerfSelection) has(name string, labels []string) bool {
	for _, label := range s.Labels {
		bare := strings.TrimLeft(label, "+-")
		if bare != "" && slices.Contains(labels, bare) == strings.HasPrefix(label, "-") {
			return false
		}
	}
	return s.Workloads == nil || s.Workloads.MatchString(name)
}

// IsPerf reports whether a text is a configuration of scheduler_perf: a list of test cases.
func IsPerf(text []byte) bool {
	for line := range bytes.Lines(text) {
		line = bytes.TrimRight(line, "\r\n")
		if trimmed := bytes.TrimSpace(line); len(trimmed) == 0 || trimmed[0] == '#' || string(trimmed) == "---" {
			continue
		}
		return bytes.HasPrefix(line, []byte("- ")) && bytes.Contains(text, []byte("workloadTemplate"))
	}
	return false
}

// perfCase is a test case of scheduler_perf: workloads of different sizes that follow one template.
type perfCase struct {
	Name                           string         `yaml:"name"`
	FeatureGates                   gates          `yaml:"featureGates"`
	MetricsCollectorConfig         *perfMetrics   `yaml:"metricsCollectorConfig"`
	WorkloadTemplate               []perfOp       `yaml:"workloadTemplate"`
	Workloads                      []perfWorkload `yaml:"workloads"`
	SchedulerConfigPath            string         `yaml:"schedulerConfigPath"`
	DefaultPodTemplatePath         string         `yaml:"defaultPodTemplatePath"`
	Labels                         []string       `yaml:"labels"`
	DefaultThresholdMetricSelector *perfSelector  `yaml:"defaultThresholdMetricSelector"`
}

// perfWorkload is one run of a test case.
type perfWorkload struct {
	Name                    string        `yaml:"name"`
	Params                  rawValue      `yaml:"params"`
	Labels                  []string      `yaml:"labels"`
	Threshold               perfThreshold `yaml:"threshold"`
	ThresholdMetricSelector *perfSelector `yaml:"thresholdMetricSelector"`
	FeatureGates            gates         `yaml:"featureGates"`
}

// perfThreshold is a number, or numbers by the topic of a benchmark, which a run has none of.
type perfThreshold struct {
	value float64
	place *yaml.Node
}

func (t *perfThreshold) decode(d *decoder, n *yaml.Node, at string) {
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

// perfSelector says which measurement a threshold is for.
type perfSelector struct {
	Name        string   `yaml:"name"`
	Labels      rawValue `yaml:"labels"`
	DataBucket  string   `yaml:"dataBucket"`
	ExpectLower bool     `yaml:"expectLower"`

	labels map[string]string
}

// perfMetrics are the histograms to report.
type perfMetrics struct{ metrics map[string][]perfLabel }

// perfLabel is a label of a histogram, with the values that are reported.
type perfLabel struct {
	Label  string   `yaml:"label"`
	Values []string `yaml:"values"`
}

func (m *perfMetrics) decode(d *decoder, n *yaml.Node, at string) {
	m.metrics = map[string][]perfLabel{}
	d.Fields(n, at, []string{"metrics"}, func(_, value *yaml.Node) {
		d.Fields(value, yamlsource.Child(at, "metrics"), nil, func(key, list *yaml.Node) {
			var labels []perfLabel
			if list.ShortTag() != "!!null" {
				d.decode(list, reflect.ValueOf(&labels).Elem(), yamlsource.Child(at, "metrics."+key.Value))
			}
			m.metrics[key.Value] = labels
		})
	})
}

// perfOp is an operation. Its kind is the op code.
type perfOp struct {
	code  string
	place *yaml.Node
	op    perfAction
}

// perfAction is what an op code does. resolve returns the steps of a workload, with its parameters.
type perfAction interface {
	resolve(w *perfLoad) []action
}

// perfCodes make the operations of the op codes.
var perfCodes = map[string]func() perfAction{
	"allocResourceClaims":    func() perfAction { return &perfAllocate{} },
	"barrier":                func() perfAction { return &perfBarrier{} },
	"churn":                  func() perfAction { return &perfChurn{} },
	"createAny":              func() perfAction { return &perfAny{} },
	"createNamespaces":       func() perfAction { return &perfNamespaces{} },
	"createNodes":            func() perfAction { return &perfNodes{} },
	"createPodGroups":        func() perfAction { return &perfAny{} },
	"createPods":             func() perfAction { return &perfPods{} },
	"createPodSets":          func() perfAction { return &perfPodSets{} },
	"createResourceClaims":   func() perfAction { return &perfAny{} },
	"deletePods":             func() perfAction { return &perfDelete{} },
	"sleep":                  func() perfAction { return &perfSleep{} },
	"startCollectingMetrics": func() perfAction { return &perfStart{} },
	"stopCollectingMetrics":  func() perfAction { return &perfStop{} },
	"updateAny":              func() perfAction { return &perfAny{update: true} },
}

// perfRefused are the op codes that have no counterpart here, and why.
var perfRefused = map[string]string{
	"createResourceDriver":   "Kubernetes has dropped it; createAny with a ResourceSlice does the same",
	"startCollectingProfile": "it profiles the process of a test; simulator bench has --cpuprofile",
	"stopCollectingProfile":  "it profiles the process of a test; simulator bench has --cpuprofile",
}

func (o *perfOp) decode(d *decoder, n *yaml.Node, at string) {
	o.place = n
	if n.Kind != yaml.MappingNode {
		d.Add(n, at, "want an operation with an opcode, not %s", yamlsource.Describe(n))
		return
	}
	code := locate(n, "opcode")
	if code == n {
		d.Add(n, at, "the opcode is missing")
		return
	}
	o.code = yamlsource.Text(n, "opcode")
	make, known := perfCodes[o.code]
	if why, refused := perfRefused[o.code]; refused {
		d.Add(code, yamlsource.Child(at, "opcode"), "%s is not supported: %s", o.code, why)
		return
	}
	if !known {
		d.Add(code, yamlsource.Child(at, "opcode"), "there is no op code %s; there are %s", o.code, strings.Join(slices.Sorted(maps.Keys(perfCodes)), ", "))
		return
	}
	o.op = make()
	d.decode(n, reflect.ValueOf(o.op).Elem(), at)
}

// perfLoad loads one workload.
type perfLoad struct {
	*loader
	kase   *perfCase
	name   string
	params map[string]any
	used   map[string]bool
	// op is the operation that is resolved, and number its place.
	op     *perfOp
	number int
	// threshold is compared with the measurement that selector chooses.
	threshold float64
	selector  perfSelector
}

func (w *perfLoad) wrong(field, format string, args ...any) {
	w.Add(locate(w.op.place, field), field, "%s (workload %s)", fmt.Sprintf(format, args...), w.name)
}

// LoadPerf reads a configuration of scheduler_perf. Each chosen workload is a scenario, which a run must have to itself: it measures. The
// error is an *Error if the file, or one that it names, is wrong.
func LoadPerf(ctx context.Context, text []byte, o Options, s PerfSelection) ([]*Scenario, error) {
	l := newLoader(ctx, o)
	documents := l.documents(text)
	if len(l.List) == 0 && len(documents) != 1 {
		l.List = append(l.List, Mistake{File: o.File, Line: 1, Message: fmt.Sprintf("want one document, and there are %d", len(documents))})
	}
	if len(l.List) > 0 {
		return nil, newError(l.List)
	}
	var cases []perfCase
	l.decode(documents[0], reflect.ValueOf(&cases).Elem(), "")
	if len(l.List) > 0 {
		return nil, newError(l.List)
	}
	var err error
	if l.cluster, err = clusterLanguage(); err != nil {
		return nil, err
	}
	var out []*Scenario
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
				out = append(out, l.perfScenario(c, w, name))
			}
		}
	}
	if len(l.List) > 0 {
		return nil, newError(l.List)
	}
	if len(out) == 0 {
		return nil, newError([]Mistake{{File: o.File, Message: fmt.Sprintf("no workload is chosen; there are %s", strings.Join(slices.Sorted(maps.Keys(seen)), ", "))}})
	}
	return out, nil
}

func (l *loader) perfScenario(c *perfCase, w *perfWorkload, name string) *Scenario {
	load := &perfLoad{loader: l, kase: c, name: name, params: map[string]any{}, used: map[string]bool{}, threshold: w.Threshold.value}
	if w.Params.Node != nil {
		load.params, _ = l.valueOf(w.Params.Node, "params").(map[string]any)
	}
	load.selector = perfSelector{Name: perfThroughput, DataBucket: "Average"}
	for _, selector := range []*perfSelector{c.DefaultThresholdMetricSelector, w.ThresholdMetricSelector} {
		if selector != nil {
			load.selector = *selector
		}
	}
	load.selector.labels = map[string]string{}
	if load.selector.Labels.Node != nil {
		labels, _ := l.valueOf(load.selector.Labels.Node, "labels").(map[string]any)
		for key, value := range labels {
			load.selector.labels[key] = fmt.Sprint(value)
		}
	}
	merged := map[string]bool{}
	maps.Copy(merged, c.FeatureGates)
	maps.Copy(merged, w.FeatureGates)
	s := &Scenario{File: l.File, Name: name, Alone: true, Matrix: Matrix{FeatureGates: []map[string]bool{merged}, Seeds: []int64{DefaultSeed}}}
	source := configurationSource{name: DefaultConfiguration, place: &yaml.Node{}}
	if c.SchedulerConfigPath != "" {
		source.name = c.SchedulerConfigPath
	}
	if configuration := l.configurationUnder(source, merged); configuration != nil {
		s.Matrix.Configurations = []Configuration{*configuration}
	}
	for i := range c.WorkloadTemplate {
		load.op, load.number = &c.WorkloadTemplate[i], i
		for _, a := range load.op.op.resolve(load) {
			s.Steps = append(s.Steps, &Step{Verb: load.op.code, Line: load.op.place.Line, action: a})
		}
	}
	for _, param := range slices.Sorted(maps.Keys(load.params)) {
		if !load.used[param] {
			l.Add(locate(w.Params.Node, param), "params."+param, "no operation uses the parameter (workload %s)", name)
		}
	}
	return s
}

// configurationUnder is configuration, for a file whose plugins may need the gates of its workload.
func (l *loader) configurationUnder(c configurationSource, gates map[string]bool) *Configuration {
	before := len(l.List)
	parsed := l.configuration(c)
	if parsed != nil || len(gates) == 0 {
		return parsed
	}
	// The run reads it again when its gates are set, and then reports what is wrong.
	text, err := l.Read(c.name)
	if err != nil {
		return nil
	}
	standard, err := Default()
	if err != nil {
		return nil
	}
	l.List = l.List[:before]
	return &Configuration{c.name, standard.Parsed, func() (*config.Configuration, error) { return l.Parse(text) }}
}

// param returns the value of a parameter such as $initNodes.
func (w *perfLoad) param(field, name string) any {
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
func (w *perfLoad) count(field string, given int, param string, most int) int {
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
func (w *perfLoad) templateParams(given rawValue) map[string]any {
	if given.Node == nil {
		return nil
	}
	out, ok := w.valueOf(given.Node, "templateParams").(map[string]any)
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
		data, wrong := yamlsource.ToJSON(w.ctx, []byte(standard), yamlsource.Settings)
		if wrong != nil {
			w.wrong("templateParams", "the default of $%s: %s", name, wrong)
		} else if err := json.Unmarshal(data, &parsed); err != nil {
			w.wrong("templateParams", "the default of $%s: %s", name, err)
		}
		out[key] = parsed
	}
	return out
}
