package scenario

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/google/cel-go/common/types"
	"go.yaml.in/yaml/v3"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"kube-scheduler-simulator/scheduler/yamlsource"
	"kube-scheduler-simulator/simulator/autoscaling/instances"
	"kube-scheduler-simulator/simulator/autoscaling/stepwise"
	"kube-scheduler-simulator/simulator/scenarios/decoder"
)

// Autoscale says that an autoscaler acts beside the scheduler during a run. It does not change.
type Autoscale struct {
	Settings stepwise.Settings
	// pools are created before anything else.
	pools *objectSource
	// text is what the file has, for sweeps that change it.
	text any
}

// Autoscaled is a Cluster beside which an autoscaler may act.
type Autoscaled interface {
	// Autoscaling returns what it did so far, nil if there is none.
	Autoscaling() *stepwise.Report
}

// DefaultRegistration is how long a bought node takes to be ready, unless a scenario says otherwise. Clouds take 20 s to a minute.
const DefaultRegistration = 30 * time.Second

const maxRegistration = 24 * time.Hour

const nodePoolKind = "NodePool"

// autoscaleSource is the field autoscale.
type autoscaleSource struct {
	NodePools     *objectSource `yaml:"nodePools" doc:"NodePools of Karpenter's: the name of a file, or objects. Without any, cluster or a step has them."`
	InstanceTypes *decoder.Raw  `yaml:"instanceTypes" doc:"What can be bought: the name of a file in the format of Karpenter's KWOK provider, or a list in it. By default a small set with example prices."`
	Registration  *Duration     `yaml:"registration" doc:"How long a bought node takes to be ready; 30s by default."`
	Consolidation *bool         `yaml:"consolidation" doc:"false: no node goes because it is empty, drifted or underutilized. By default the NodePools decide."`

	place *yaml.Node
	at    string
}

func (s *autoscaleSource) Decode(d *decoder.Decoder, n *yaml.Node, at string) {
	s.place, s.at = n, at
	d.Mapping(n, s, at)
}

// autoscale checks the field autoscale. It returns nil after a mistake.
func (l *loader) autoscale(s *autoscaleSource) (out *Autoscale) {
	before := len(l.List)
	defer func() {
		if out != nil {
			out.text = l.Value(s.place, s.at)
		}
	}()
	out = &Autoscale{Settings: stepwise.Settings{Registration: DefaultRegistration}}
	if s.Registration != nil {
		out.Settings.Registration = s.Registration.Duration
		if s.Registration.Duration > maxRegistration {
			l.Add(decoder.Locate(s.place, "registration"), yamlsource.Child(s.at, "registration"), "want at most %s, not %s", maxRegistration, s.Registration.Duration)
		}
	}
	out.Settings.KeepNodes = s.Consolidation != nil && !*s.Consolidation
	if s.InstanceTypes != nil && s.InstanceTypes.ShortTag() != "!!null" {
		out.Settings.Catalog = l.instanceTypes(s.InstanceTypes.Node, yamlsource.Child(s.at, "instanceTypes"))
	}
	if s.NodePools != nil {
		s.NodePools.check(l)
		if len(l.List) == before {
			l.checkPools(out.Settings, s.NodePools)
		}
		out.pools = s.NodePools
	}
	if len(l.List) > before {
		return nil
	}
	return out
}

// with returns the autoscaler with a changed field autoscale. The error is an *Error.
func (a *Autoscale) with(l *loader, change func(field map[string]any) error) (*Autoscale, error) {
	field := map[string]any{}
	data, err := json.Marshal(a.text)
	if err == nil {
		err = json.Unmarshal(data, &field)
	}
	if err == nil {
		err = change(field)
	}
	if err != nil {
		return nil, err
	}
	var n yaml.Node
	if err := n.Encode(map[string]any{"autoscale": field}); err != nil {
		return nil, err
	}
	own := newLoader(l.Ctx, l.Options)
	own.made = l.made
	var s autoscaleSource
	s.Decode(&own.Decoder, yamlsource.Field(&n, "autoscale"), "autoscale")
	var out *Autoscale
	if len(own.List) == 0 {
		out = own.autoscale(&s)
	}
	if len(own.List) > 0 {
		return nil, newError(own.List)
	}
	return out, nil
}

// has reports whether the field has the value of a parameter as it is written.
func (a *Autoscale) has(p Parameter, value any) bool {
	texts := make([]string, 2)
	for i := range texts {
		field := map[string]any{}
		data, err := json.Marshal(a.text)
		if err == nil {
			err = json.Unmarshal(data, &field)
		}
		if err == nil && i == 1 {
			err = p.scale(field, value)
		}
		if err == nil {
			data, err = json.Marshal(field)
		}
		if err != nil {
			return false
		}
		texts[i] = string(data)
	}
	return texts[0] == texts[1]
}

// instanceTypes returns nil after a mistake.
func (l *loader) instanceTypes(n *yaml.Node, at string) *instances.Catalog {
	name, text, first := l.File, []byte(nil), 0
	switch {
	case n.Kind == yaml.ScalarNode && n.Value != "":
		if name, text = n.Value, l.read(n, n.Value); text == nil {
			return nil
		}
	case n.Kind == yaml.SequenceNode:
		var b bytes.Buffer
		if err := yaml.NewEncoder(&b).Encode(n); err != nil {
			l.Add(n, at, "%s", err)
			return nil
		}
		text, first = b.Bytes(), n.Line-1
	default:
		l.Add(n, at, "want the name of a file, or a list of instance types, not %s", yamlsource.Describe(n))
		return nil
	}
	catalog, err := instances.Read(l.Ctx, text, name)
	if wrong, ok := errors.AsType[yamlsource.Errors](err); ok {
		for _, m := range wrong {
			if first > 0 {
				m.Line, m.Field = m.Line+first, at+m.Field
			}
			l.List = append(l.List, m)
		}
		return nil
	}
	if err != nil {
		l.Add(n, at, "%s", err)
		return nil
	}
	return catalog
}

// checkPools reports NodePools that could never buy a node.
func (l *loader) checkPools(settings stepwise.Settings, source *objectSource) {
	var pools []*unstructured.Unstructured
	var places []*template
	names := map[string]bool{}
	for i := range source.templates {
		t := &source.templates[i]
		if t.object() == nil || t.object()["kind"] != nodePoolKind {
			l.List = append(l.List, t.mistake("want a NodePool, not a %v", t.object()["kind"]))
			continue
		}
		made, err := t.make(l.Ctx, madeVariables{count: 1, seed: DefaultSeed})
		if err != nil {
			l.List = append(l.List, t.mistake("%s", err))
			continue
		}
		if names[made.GetName()] {
			l.List = append(l.List, t.mistake("there are two NodePools %s", made.GetName()))
		}
		names[made.GetName()] = true
		pools, places = append(pools, made), append(places, t)
	}
	for i, wrong := range settings.CheckPools(pools) {
		if wrong != "" {
			l.List = append(l.List, places[i].mistake("NodePool %s: %s", pools[i].GetName(), wrong))
		}
	}
}

func (t *template) mistake(format string, args ...any) Mistake {
	return Mistake{File: t.file, Line: t.place.Line, Field: t.at, Message: fmt.Sprintf(format, args...)}
}

// checkAutoscale reports an autoscaler that has no NodePool at any time.
func (l *loader) checkAutoscale(s *Scenario, source *autoscaleSource) {
	if source == nil || source.NodePools != nil || s.cluster.has(nodePoolKind) {
		return
	}
	for _, step := range s.Steps {
		if c, ok := step.action.(*create); ok && c.has(nodePoolKind) {
			return
		}
	}
	l.Add(source.place, source.at, "an autoscaler buys nodes of NodePools: name some in nodePools, or create them in cluster or a step")
}

// has reports whether a source makes objects of a kind. It may be nil.
func (s *objectSource) has(kind string) bool {
	if s == nil {
		return false
	}
	for i := range s.templates {
		if o := s.templates[i].object(); o != nil && o["kind"] == kind {
			return true
		}
	}
	return false
}

// autoscale is that of the run, nil for none.
func (r *run) autoscale() *Autoscale {
	if r.combination.Autoscale != nil {
		return r.combination.Autoscale
	}
	return r.scenario.Autoscale
}

// createPools creates the NodePools of the autoscaler.
func (r *run) createPools() error {
	a := r.autoscale()
	if a == nil || a.pools == nil {
		return nil
	}
	made, err := a.pools.make(r)
	if err == nil {
		err = r.cluster.Create(r.ctx, made...)
	}
	if err != nil {
		return fmt.Errorf("creating the NodePools of the autoscaler: %w", err)
	}
	return nil
}

// Autoscaling is what the autoscaler did in a run.
type Autoscaling struct {
	stepwise.Report
	// SecondsToNode is how long pods waited for a node that was bought for them, from when the scheduler found none.
	SecondsToNode Quantiles `json:"secondsToNode"`
}

// autoscaling is what the autoscaler did so far, nil without one.
func (r *run) autoscaling() *Autoscaling {
	c, ok := r.cluster.(Autoscaled)
	if !ok {
		return nil
	}
	report := c.Autoscaling()
	if report == nil {
		return nil
	}
	return &Autoscaling{Report: *report, SecondsToNode: quantiles(report.ToNode)}
}

// costs are those so far; the zero value if the cluster does not know them.
func (r *run) costs() Costs {
	if c, ok := r.cluster.(Metered); ok {
		return c.Costs()
	}
	return Costs{}
}

// measureCosts adds what the run has cost, if nodes have prices or an autoscaler acts.
func (m *Metrics) measureCosts(c Costs, autoscaled bool) {
	if c.Priced {
		m.Cost, m.UnusedCost = &c.Cost, &c.Unused
	}
	if c.Priced || autoscaled {
		m.NodeHours, m.MostNodes = &c.NodeHours, c.MostNodes
	}
}

// totals are the run so far, as expressions see it.
type totals struct {
	Costs
	autoscaling *Autoscaling
}

func (r *run) totals() *totals {
	a := r.autoscaling()
	if a == nil {
		a = &Autoscaling{}
	}
	return &totals{r.costs(), a}
}

var totalFields = map[string]field{
	"cost":         {types.DoubleType, ofTotals(func(t *totals) any { return t.Cost })},
	"unusedCost":   {types.DoubleType, ofTotals(func(t *totals) any { return t.Unused })},
	"nodeHours":    {types.DoubleType, ofTotals(func(t *totals) any { return t.NodeHours })},
	"mostNodes":    {types.IntType, ofTotals(func(t *totals) any { return int64(t.MostNodes) })},
	"bought":       {types.IntType, ofTotals(func(t *totals) any { return int64(t.autoscaling.Bought) })},
	"removed":      {types.IntType, ofTotals(func(t *totals) any { return int64(t.autoscaling.Removed) })},
	"evicted":      {types.IntType, ofTotals(func(t *totals) any { return int64(t.autoscaling.Evicted) })},
	"lost":         {types.IntType, ofTotals(func(t *totals) any { return int64(t.autoscaling.Lost) })},
	"unhelped":     {types.IntType, ofTotals(func(t *totals) any { return int64(len(t.autoscaling.Unhelped)) })},
	"toNodeMedian": {types.DurationType, ofTotals(func(t *totals) any { return secondsLong(t.autoscaling.SecondsToNode.Median) })},
	"toNodeMax":    {types.DurationType, ofTotals(func(t *totals) any { return secondsLong(t.autoscaling.SecondsToNode.Max) })},
}

func ofTotals(get func(*totals) any) func(any) any {
	return func(o any) any { return get(o.(*totals)) }
}

func secondsLong(s float64) time.Duration { return time.Duration(s * float64(time.Second)) }

// refuseAutoscale says that a cluster has no autoscaler for a run.
func (s *Scenario) refuseAutoscale() error {
	return newError([]Mistake{{File: s.File, Field: "autoscale", Message: "a cluster that runs has its own autoscaler, or none: play the scenario in memory, with simulator run"}})
}
