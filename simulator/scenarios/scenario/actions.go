package scenario

import (
	"context"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/google/cel-go/cel"
	"github.com/google/cel-go/common/types"
	"go.yaml.in/yaml/v3"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	apitypes "k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes/scheme"

	"kube-scheduler-simulator/scheduler/builtin"
	"kube-scheduler-simulator/scheduler/yamlsource"
	"kube-scheduler-simulator/simulator/cluster/objects"
	"kube-scheduler-simulator/simulator/scenarios/decoder"
)

type create struct {
	objectSource
	merge bool
}

func (c *create) check(l *loader) {
	c.objectSource.check(l)
	if c.Count != nil && c.merge {
		l.Add(decoder.Locate(c.place, "count"), yamlsource.Child(c.at, "count"), "apply changes the objects of these names, so it takes no count; create does")
	}
}

func (c *create) describe() string { return c.summary() }

func (c *create) run(r *run) (string, error) {
	made, err := c.make(r)
	if err != nil {
		return "", err
	}
	apply := r.cluster.Create
	if c.merge {
		apply = r.cluster.Apply
	}
	said := countKinds(made) // before, so that the objects need not stay in memory while their pods are scheduled
	if err := apply(r.ctx, made...); err != nil {
		return "", err
	}
	return said, nil
}

// make returns the objects, with names that no earlier step has given.
func (s *objectSource) make(r *run) ([]runtime.Object, error) {
	count := 1
	if s.Count != nil {
		count = *s.Count
	}
	out := make([]runtime.Object, 0, count*len(s.templates))
	for i := range count {
		if err := r.ctx.Err(); err != nil {
			return nil, err
		}
		for t := range s.templates {
			if o := s.unchanged(&s.templates[t]); o != nil {
				out = append(out, o)
				continue
			}
			o, err := s.templates[t].make(r.ctx, madeVariables{i: i, count: count, seed: r.combination.Seed, stream: streamOf(s.templates[t].file, s.place.Line)})
			if err != nil {
				return nil, err
			}
			if err := r.Holds(o.Object); err != nil {
				return nil, err
			}
			s.complete(o)
			if s.Count != nil && s.templates[t].computed["metadata.name"] == nil {
				r.number(o)
			}
			out = append(out, o)
		}
	}
	return out, nil
}

// unchanged returns a template's object that is always the same, or nil. No cluster changes what it
// is to create.
func (s *objectSource) unchanged(t *template) *unstructured.Unstructured {
	if s.Count != nil || s.Replicas != nil || len(t.computed) > 0 {
		return nil
	}
	if object := t.object(); object != nil {
		return &unstructured.Unstructured{Object: object}
	}
	return nil
}

func (s *objectSource) complete(o *unstructured.Unstructured) {
	if s.Replicas == nil || !scalable[o.GetKind()] {
		return
	}
	spec, _ := o.Object["spec"].(map[string]any)
	if spec == nil {
		spec = map[string]any{}
		o.Object["spec"] = spec
	}
	spec["replicas"] = int64(*s.Replicas)
}

// summary says, for example, "14 of etl.yaml".
func (s *objectSource) summary() string {
	what := s.File
	if what == "" && len(s.templates) > 0 {
		what = nameOf(s.templates[0].object())
		if more := len(s.templates) - 1; more > 0 {
			what += fmt.Sprintf(" and %d more", more)
		}
	}
	switch {
	case s.Count != nil:
		return fmt.Sprintf("%d of %s", *s.Count, what)
	case s.Replicas != nil:
		return fmt.Sprintf("%s, %d replicas", what, *s.Replicas)
	}
	return what
}

func nameOf(object map[string]any) string {
	u := &unstructured.Unstructured{Object: object}
	return u.GetKind() + " " + u.GetName()
}

// countKinds says, for example, "1 Deployment, 6 Nodes".
func countKinds(made []runtime.Object) string {
	count := map[string]int{}
	var kinds []string
	for _, o := range made {
		kind := o.GetObjectKind().GroupVersionKind().Kind
		if count[kind]++; count[kind] == 1 {
			kinds = append(kinds, kind)
		}
	}
	for i, kind := range kinds {
		kinds[i] = Plural(count[kind], kind)
	}
	return strings.Join(kinds, ", ")
}

func Plural(n int, word string) string {
	if n != 1 {
		if strings.HasSuffix(word, "s") {
			word += "e"
		}
		word += "s"
	}
	return fmt.Sprintf("%d %s", n, word)
}

// Without an apiVersion, objectName is of the kind that Kubernetes has.
type objectName struct {
	APIVersion string `yaml:"apiVersion" doc:"Needed for custom resources only."`
	Kind       string `yaml:"kind" doc:"The kind of the object."`
	Namespace  string `yaml:"namespace" doc:"default if not set."`
	Name       string `yaml:"name" doc:"The name of the object."`

	gvk schema.GroupVersionKind
}

func (o *objectName) checkName(l *loader, place *yaml.Node, at string) {
	switch {
	case o.Kind == "" || o.Name == "":
		l.Add(place, at, "kind and name are required")
	case o.APIVersion != "":
		o.gvk = schema.FromAPIVersionAndKind(o.APIVersion, o.Kind)
	default:
		gvk, known := kindNamed(o.Kind)
		if !known {
			l.Add(decoder.Locate(place, "kind"), yamlsource.Child(at, "kind"), "there is no kind %s in Kubernetes; a custom one needs its apiVersion", o.Kind)
		}
		o.gvk = gvk
	}
	if o.Namespace == "" && objects.KindOf(o.gvk.GroupKind()).Namespaced {
		o.Namespace = "default"
	}
}

// kindNamed returns the preferred version of a kind of Kubernetes, or of a known custom kind with
// its group: PodGroup.scheduling.volcano.sh.
func kindNamed(kind string) (schema.GroupVersionKind, bool) {
	if known := objects.KindOf(schema.ParseGroupKind(kind)); known.Group != "" && known.Version != "" {
		return known.GroupKind().WithVersion(known.Version), true
	}
	for _, gv := range scheme.Scheme.PrioritizedVersionsAllGroups() {
		if gvk := gv.WithKind(kind); scheme.Scheme.Recognizes(gvk) {
			return gvk, true
		}
	}
	return schema.GroupVersionKind{}, false
}

func (o *objectName) String() string { return o.Kind + " " + o.Name }

// patch: a mapping is a strategic merge patch, or a merge patch for a custom resource; a list is a
// JSON patch.
type patch struct {
	objectName
	Patch decoder.Raw `yaml:"patch" doc:"A mapping is a strategic merge patch, a list a JSON patch."`

	place *yaml.Node
	at    string
	kind  apitypes.PatchType
	data  []byte
}

func (p *patch) Decode(d *decoder.Decoder, n *yaml.Node, at string) {
	p.place, p.at = n, at
	d.Mapping(n, p, at)
}

func (p *patch) check(l *loader) {
	p.checkName(l, p.place, p.at)
	if p.Patch.Node == nil {
		l.Add(p.place, yamlsource.Child(p.at, "patch"), "the patch is missing")
		return
	}
	switch {
	case p.Patch.Kind == yaml.SequenceNode:
		p.kind = apitypes.JSONPatchType
	case p.Patch.Kind != yaml.MappingNode:
		l.Add(p.Patch.Node, yamlsource.Child(p.at, "patch"), "want a mapping, or a list of operations, not %s", yamlsource.Describe(p.Patch.Node))
	case builtin.Is(p.gvk):
		p.kind = apitypes.StrategicMergePatchType
	default:
		p.kind = apitypes.MergePatchType
	}
	var err error
	if p.data, err = json.Marshal(l.Value(p.Patch.Node, yamlsource.Child(p.at, "patch"))); err != nil {
		l.Add(p.Patch.Node, yamlsource.Child(p.at, "patch"), "%s", err)
	}
}

func (p *patch) describe() string { return p.String() }

func (p *patch) run(r *run) (string, error) {
	return p.String(), r.cluster.Patch(r.ctx, p.gvk, p.Namespace, p.Name, p.kind, p.data)
}

type remove struct {
	objectName
	File  string      `yaml:"file" doc:"Delete the objects of this file."`
	Pods  *Expression `yaml:"pods" doc:"CEL: delete these pods."`
	Nodes *Expression `yaml:"nodes" doc:"CEL: delete these nodes."`

	place  *yaml.Node
	at     string
	source objectSource
	list   *program
}

func (d *remove) Decode(from *decoder.Decoder, n *yaml.Node, at string) {
	d.place, d.at = n, at
	from.Mapping(n, d, at)
}

func (d *remove) check(l *loader) {
	given := 0
	for _, set := range []bool{d.File != "", d.Kind != "" || d.Name != "", d.Pods != nil, d.Nodes != nil} {
		if set {
			given++
		}
	}
	switch {
	case given != 1:
		l.Add(d.place, d.at, "want one of file, kind and name, pods and nodes")
	case d.File != "":
		d.source = objectSource{File: d.File, place: d.place, at: d.at}
		d.source.check(l)
	case d.Pods != nil:
		d.list = l.expression(*d.Pods, types.NewListType(podType))
	case d.Nodes != nil:
		d.list = l.expression(*d.Nodes, types.NewListType(nodeType))
	default:
		d.checkName(l, d.place, d.at)
	}
}

func (d *remove) describe() string {
	switch {
	case d.File != "":
		return d.File
	case d.list != nil:
		return d.list.Text
	}
	return d.String()
}

func (d *remove) run(r *run) (string, error) {
	if d.Name != "" {
		return d.String(), r.cluster.Delete(r.ctx, d.gvk, d.Namespace, d.Name)
	}
	if d.list != nil {
		return d.each(r)
	}
	made, err := d.source.make(r)
	if err != nil {
		return "", err
	}
	// What needs others goes first.
	for _, o := range slices.Backward(made) {
		u := o.(*unstructured.Unstructured) // make returns these
		namespace := u.GetNamespace()
		if namespace == "" && objects.KindOf(u.GroupVersionKind().GroupKind()).Namespaced {
			namespace = "default"
		}
		if err := r.cluster.Delete(r.ctx, u.GroupVersionKind(), namespace, u.GetName()); err != nil {
			return "", err
		}
	}
	return countKinds(made), nil
}

func (d *remove) each(r *run) (string, error) {
	value, err := r.evaluate(d.list)
	if err != nil {
		return "", err
	}
	for _, p := range podsOf(value) {
		if err := r.cluster.Delete(r.ctx, objects.Pod.WithVersion("v1"), p.Namespace, p.Name); err != nil {
			return "", err
		}
	}
	for _, n := range nodesOf(value) {
		if err := r.cluster.Delete(r.ctx, objects.Node.WithVersion("v1"), "", n.Name); err != nil {
			return "", err
		}
	}
	if d.Nodes != nil {
		return Plural(len(nodesOf(value)), "Node"), nil
	}
	return Plural(len(podsOf(value)), "Pod"), nil
}

type configure struct {
	configurationSource
	parsed *Configuration
}

func (c *configure) check(l *loader)  { c.parsed = l.configuration(c.configurationSource) }
func (c *configure) describe() string { return c.name }

func (c *configure) run(r *run) (string, error) {
	parsed, err := c.parsed.under(r.combination.FeatureGates)
	if err != nil {
		return "", err
	}
	return c.name, r.cluster.Configure(r.ctx, parsed)
}

type fail struct {
	Node    string      `yaml:"node" doc:"The name of a node."`
	Nodes   *Expression `yaml:"nodes" doc:"CEL: a list of nodes."`
	recover bool
	place   *yaml.Node
	at      string
	list    *program
}

func (f *fail) Decode(d *decoder.Decoder, n *yaml.Node, at string) {
	f.place, f.at = n, at
	d.Mapping(n, f, at)
}

func (f *fail) check(l *loader) {
	if (f.Node == "") == (f.Nodes == nil) {
		l.Add(f.place, f.at, "want one of node and nodes")
	}
	if f.Nodes != nil {
		f.list = l.expression(*f.Nodes, types.NewListType(nodeType))
	}
}

func (f *fail) describe() string {
	if f.list != nil {
		return f.list.Text
	}
	return f.Node
}

func (f *fail) run(r *run) (string, error) {
	names := []string{f.Node}
	if f.list != nil {
		value, err := r.evaluate(f.list)
		if err != nil {
			return "", err
		}
		names = nil
		for _, n := range nodesOf(value) {
			names = append(names, n.Name)
		}
	}
	do, said := r.cluster.Fail, "not ready"
	if f.recover {
		do, said = r.cluster.Recover, "ready again"
	}
	for _, name := range names {
		if err := do(r.ctx, name); err != nil {
			return "", err
		}
	}
	if len(names) == 0 {
		return "no node", nil
	}
	return strings.Join(names, ", ") + " " + said, nil
}

type advance struct{ Duration }

func (a *advance) check(*loader)    {}
func (a *advance) describe() string { return a.String() }

func (a *advance) run(r *run) (string, error) {
	before := r.placed()
	if err := r.advance(a.Duration.Duration); err != nil {
		return "", err
	}
	return r.change(before), nil
}

type wait struct {
	For     Expression `yaml:"for" doc:"settled, or a CEL expression that is to become true."`
	Timeout *Duration  `yaml:"timeout" doc:"How much of the cluster's time may pass."`
	until   *program
}

const settled = "settled"

// DefaultTimeout is how long an expression may take to hold.
const DefaultTimeout = time.Hour

func (w *wait) Decode(d *decoder.Decoder, n *yaml.Node, at string) {
	if n.Kind == yaml.ScalarNode {
		w.For.Decode(d, n, at)
		return
	}
	d.Mapping(n, w, at)
	if n.Kind == yaml.MappingNode && w.For.Text == "" {
		d.Add(n, yamlsource.Child(at, "for"), "want settled or a CEL expression")
	}
}

func (w *wait) check(l *loader) {
	if w.For.Text != settled {
		w.until = l.expression(w.For, types.BoolType)
	}
}

func (w *wait) describe() string {
	if w.Timeout != nil {
		return fmt.Sprintf("%s, within %s", w.For.Text, w.Timeout)
	}
	return w.For.Text
}

// UnmetError means that a wait did not end: a failure, as that of an expectation, and not an error.
type UnmetError struct{ Message string }

func (e *UnmetError) Error() string { return e.Message }

func (w *wait) run(r *run) (string, error) {
	before, start := r.placed(), r.cluster.Now()
	if w.until != nil {
		if err := r.until(w); err != nil {
			return "", err
		}
		return r.change(before), nil
	}
	err := r.settle()
	if took := r.cluster.Now().Sub(start); err == nil && w.Timeout != nil && took > w.Timeout.Duration {
		err = &UnmetError{fmt.Sprintf("the cluster settled only after %s", took.Round(time.Millisecond))}
	}
	return r.change(before), err
}

func (r *run) until(w *wait) error {
	limit := DefaultTimeout
	if w.Timeout != nil {
		limit = w.Timeout.Duration
	}
	for passed := time.Duration(0); ; {
		value, err := r.evaluate(w.until)
		if err != nil {
			return err
		}
		if value == types.True {
			return nil
		}
		if passed >= limit {
			message := fmt.Sprintf("it did not become true within %s", limit)
			if len(r.planned) == 0 {
				message += "; no arrival is planned any more, and later steps wait for this one"
			}
			return &UnmetError{message}
		}
		// The longer it takes, the less often it is looked at.
		step := min(max(time.Second, passed/60).Truncate(time.Second), limit-passed)
		if err := r.advance(step); err != nil {
			return err
		}
		passed += step
	}
}

// arrive makes objects over time: at a rate, or as a trace says. It returns at once.
type arrive struct {
	objectSource
	Rate     Rate         `yaml:"rate" doc:"Such as 2/s, 30/m or 0.5/h."`
	For      *Duration    `yaml:"for" doc:"How long they keep arriving."`
	Random   bool         `yaml:"random" doc:"Random gaps that average to the rate."`
	Trace    string       `yaml:"trace" doc:"A CSV file with a column at, and others that computed fields read as row.NAME."`
	Speed    *Number      `yaml:"speed" doc:"How much faster than the trace."`
	Lifetime *durationFor `yaml:"lifetime" doc:"How long each exists; it may be computed."`

	rows []traceRow
}

type traceRow struct {
	at, lifetime time.Duration
	// object is nil if the source makes it, from row.
	object func() map[string]any
	row    map[string]string
}

func (a *arrive) Decode(d *decoder.Decoder, n *yaml.Node, at string) {
	a.decodePart(d, n, at)
	d.Mapping(n, a, at)
}

// Rate is a number of arrivals in a time, such as 2/s or 30/m.
type Rate struct {
	text  string
	every time.Duration
}

func (r *Rate) Decode(d *decoder.Decoder, n *yaml.Node, at string) {
	number, unit, ok := strings.Cut(n.Value, "/")
	per := map[string]time.Duration{"s": time.Second, "m": time.Minute, "h": time.Hour}[unit]
	f, err := strconv.ParseFloat(number, 64)
	if n.Kind != yaml.ScalarNode || !ok || per == 0 || err != nil || f <= 0 || f > 1e6 {
		d.Add(n, at, "want a rate such as 2/s, 30/m or 0.5/h, not %s", yamlsource.Describe(n))
		return
	}
	r.text, r.every = n.Value, time.Duration(float64(per)/f)
}

type Number float64

func (v *Number) Decode(d *decoder.Decoder, n *yaml.Node, at string) {
	f, err := strconv.ParseFloat(n.Value, 64)
	if n.Kind != yaml.ScalarNode || err != nil || f <= 0 || f > 1e9 {
		d.Add(n, at, "want a number of more than 0, not %s", yamlsource.Describe(n))
		return
	}
	*v = Number(f)
}

// durationFor is a duration, or an expression that is computed for each arrival.
type durationFor struct {
	Duration
	expression Expression
	text       *interpolation
}

func (f *durationFor) Decode(d *decoder.Decoder, n *yaml.Node, at string) {
	if n.Kind == yaml.ScalarNode && strings.Contains(n.Value, "${") {
		f.expression.Decode(d, n, at)
		return
	}
	f.Duration.Decode(d, n, at)
}

func (f *durationFor) of(ctx context.Context, v madeVariables) (time.Duration, error) {
	if f == nil {
		return 0, nil
	}
	if f.text == nil {
		return f.Duration.Duration, nil
	}
	value, err := f.text.value(ctx, v)
	if err != nil {
		return 0, err
	}
	d, err := parseTime(fmt.Sprint(value))
	if err != nil {
		return 0, fmt.Errorf("lifetime: %w", err)
	}
	return d, nil
}

// parseTime reads a duration, or seconds.
func parseTime(s string) (time.Duration, error) {
	seconds, err := strconv.ParseFloat(s, 64)
	d := time.Duration(seconds * float64(time.Second))
	if err != nil {
		d, err = time.ParseDuration(s)
	}
	if err != nil || d < 0 || d > maxDuration {
		return 0, fmt.Errorf("%q is neither a number of seconds nor a duration such as 90s", s)
	}
	return d, nil
}

func (a *arrive) check(l *loader) {
	hasRate, hasTrace := a.Rate.every > 0, a.Trace != ""
	switch {
	case hasRate == hasTrace:
		l.Add(a.place, a.at, "want one of rate and trace")
		return
	case hasTrace && (a.For != nil || a.Count != nil || a.Random):
		l.Add(a.place, a.at, "for, count and random belong to a rate; a trace says itself when pods arrive")
	case hasRate && a.Speed != nil:
		l.Add(decoder.Locate(a.place, "speed"), yamlsource.Child(a.at, "speed"), "speed belongs to a trace")
	case hasRate && (a.For == nil) == (a.Count == nil):
		l.Add(a.place, a.at, "a rate needs one of for and count, which say when it ends")
	case hasRate && a.For != nil && int64(a.For.Duration/a.Rate.every) > MaxCount:
		l.Add(decoder.Locate(a.place, "rate"), yamlsource.Child(a.at, "rate"), "%s for %s is more than %d arrivals, the limit", a.Rate.text, a.For, MaxCount)
	}
	if a.Lifetime != nil && a.Lifetime.expression.Text != "" {
		text, mistakes := l.made.text(a.Lifetime.expression)
		a.Lifetime.text = text
		l.List = append(l.List, mistakes...)
	}
	if hasTrace && a.Format == formatOpenb {
		a.readOpenbTrace(l)
		return
	}
	if hasTrace {
		a.readTrace(l)
		if len(a.rows) > 0 {
			l.row = a.rows[0].row
			defer func() { l.row = nil }()
		}
	}
	a.objectSource.check(l)
}

func (a *arrive) readOpenbTrace(l *loader) {
	if a.File != "" || a.Objects != nil || a.Template != nil {
		l.Add(a.place, a.at, "a trace in the format openb has its own pods; leave file, objects and template out")
	}
	for _, row := range l.openbRows(a.Trace, decoder.Locate(a.place, "trace")) {
		a.rows = append(a.rows, traceRow{at: row.At, lifetime: row.Lifetime, object: row.Object})
	}
	a.spread()
}

func (a *arrive) readTrace(l *loader) {
	text := l.read(decoder.Locate(a.place, "trace"), a.Trace)
	if text == nil {
		return
	}
	wrong := func(line int, format string, args ...any) {
		l.List = append(l.List, Mistake{File: a.Trace, Line: line, Message: fmt.Sprintf(format, args...)})
	}
	in := csv.NewReader(strings.NewReader(string(text)))
	header, err := in.Read()
	if err != nil || !slices.Contains(header, "at") {
		wrong(1, "want a CSV file whose first line names the columns, at among them")
		return
	}
	for {
		values, err := in.Read()
		if errors.Is(err, io.EOF) {
			break
		}
		if bad, ok := errors.AsType[*csv.ParseError](err); ok {
			wrong(bad.Line, "%s: want the %d columns %s", bad.Err, len(header), strings.Join(header, ", "))
			return
		}
		line, _ := in.FieldPos(0)
		row := traceRow{row: map[string]string{}}
		for i, name := range header {
			if values[i] == "" {
				wrong(line, "%s is missing: a trace may have no gaps", name)
				return
			}
			row.row[name] = values[i]
		}
		if row.at, err = parseTime(row.row["at"]); err != nil {
			wrong(line, "at: %s", err)
			return
		}
		if n := len(a.rows); n > 0 && row.at < a.rows[n-1].at {
			wrong(line, "at goes back from %s to %s; sort the trace by time", a.rows[n-1].at, row.at)
			return
		}
		a.rows = append(a.rows, row)
		if len(a.rows) > MaxCount {
			wrong(line, "the trace has more than %d arrivals, the limit", MaxCount)
			return
		}
	}
	if len(a.rows) == 0 {
		wrong(1, "the trace has no arrivals")
	}
	a.spread()
}

func (a *arrive) spread() {
	if a.Speed == nil {
		return
	}
	for i := range a.rows {
		a.rows[i].at = time.Duration(float64(a.rows[i].at) / float64(*a.Speed))
		a.rows[i].lifetime = time.Duration(float64(a.rows[i].lifetime) / float64(*a.Speed))
	}
}

func (a *arrive) describe() string {
	if a.Trace != "" {
		return fmt.Sprintf("%d from %s", len(a.rows), a.Trace)
	}
	return fmt.Sprintf("%s at %s", a.summary(), a.Rate.text)
}

func (a *arrive) objects() int {
	switch {
	case a.Trace != "" && a.Format == formatOpenb:
		return len(a.rows)
	case a.Trace != "":
		return len(a.rows) * max(1, len(a.templates))
	case a.Count != nil:
		return *a.Count * len(a.templates)
	case a.For != nil && a.Rate.every > 0:
		return min(MaxCount, 1+int(a.For.Duration/a.Rate.every)) * len(a.templates)
	}
	return 0
}

func (a *arrive) run(r *run) (string, error) {
	if a.Trace != "" {
		for i, row := range a.rows {
			if err := r.plan(a, i, len(a.rows), row); err != nil {
				return "", err
			}
		}
		return fmt.Sprintf("%d to come within %s", len(a.rows), a.rows[len(a.rows)-1].at.Round(time.Second)), nil
	}
	rows := a.atRate(r)
	for i, row := range rows {
		if err := r.plan(a, i, len(rows), row); err != nil {
			return "", err
		}
	}
	return fmt.Sprintf("%d to come", len(rows)), nil
}

// atRate returns regular times, or random ones that average to the rate.
func (a *arrive) atRate(r *run) []traceRow {
	var rows []traceRow
	at := time.Duration(0)
	for i := 0; i < MaxCount && r.ctx.Err() == nil; i++ {
		gap := a.Rate.every
		if a.Random {
			gap = r.exponential(streamOf(r.scenario.File, a.place.Line), i, gap)
		}
		at += gap
		if a.Count != nil && i >= *a.Count || a.For != nil && at > a.For.Duration {
			break
		}
		rows = append(rows, traceRow{at: at})
	}
	return rows
}

type expect struct{ list []*expectation }

type expectation struct {
	That Expression `yaml:"that" doc:"A CEL expression that is true or false."`
	Say  string     `yaml:"say" doc:"What it means, for reports."`

	program *program
}

func (e *expect) Decode(d *decoder.Decoder, n *yaml.Node, at string) {
	d.Decode(n, &e.list, at)
	if n.Kind == yaml.SequenceNode && len(e.list) == 0 {
		d.Add(n, at, "want at least one expectation")
	}
}

func (e *expect) check(l *loader) {
	for _, x := range e.list {
		if x.That.Text == "" {
			l.List = append(l.List, x.That.mistake(0, 0, "that is required: a CEL expression that is true or false"))
			continue
		}
		if x.program = l.expression(x.That, cel.BoolType); x.program != nil {
			x.program.parts = l.cluster.parts(x.program)
		}
	}
}

func (e *expect) describe() string { return Plural(len(e.list), "expectation") }

func (e *expect) run(r *run) (string, error) {
	held := 0
	for _, x := range e.list {
		outcome, err := r.judge(x)
		if err != nil {
			return "", err
		}
		if outcome.Passed {
			held++
		}
		r.step.Expectations = append(r.step.Expectations, outcome)
	}
	return fmt.Sprintf("%d of %d hold", held, len(e.list)), nil
}
