package scenario

import (
	"context"
	"encoding/json"
	"fmt"
	"hash/fnv"
	"math/rand/v2"
	"strings"

	"github.com/google/cel-go/cel"
	"github.com/google/cel-go/common/types"
	"go.yaml.in/yaml/v3"
	"k8s.io/apimachinery/pkg/api/validation"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	jsonserializer "k8s.io/apimachinery/pkg/runtime/serializer/json"

	"kube-scheduler-simulator/scheduler/builtin"
	"kube-scheduler-simulator/scheduler/yamlsource"
	"kube-scheduler-simulator/simulator/scenarios/decoder"
	"kube-scheduler-simulator/simulator/scenarios/openb"
)

const (
	// MaxCount bounds the copies that one step makes.
	MaxCount = 100_000
	// MaxObjects bounds the objects that all steps of a scenario make together.
	MaxObjects = 200_000
	// In bytes of the texts that one run makes.
	maxMade = 256 << 20
)

const formatOpenb = "openb"

type objectSource struct {
	File     string        `yaml:"file" doc:"A file with objects in YAML or JSON."`
	Format   string        `yaml:"format" doc:"openb, for a CSV file of that trace."`
	Objects  []decoder.Raw `yaml:"objects" doc:"Objects, written out."`
	Template *decoder.Raw  `yaml:"template" doc:"An object with computed fields in ${…}, or the name of a file with one."`
	Count    *int          `yaml:"count" doc:"How many copies; each gets a number at the end of its name."`
	Replicas *int          `yaml:"replicas" doc:"Replaces spec.replicas of workloads."`

	place     *yaml.Node
	at        string
	templates []template
}

// Decode takes the name of a file and a list of objects for a source of just these.
func (s *objectSource) Decode(d *decoder.Decoder, n *yaml.Node, at string) {
	s.decodePart(d, n, at)
	switch n.Kind {
	case yaml.ScalarNode:
		s.File = n.Value
	case yaml.SequenceNode:
		d.Decode(n, &s.Objects, at)
	default:
		d.Mapping(n, s, at)
	}
}

func (s *objectSource) decodePart(_ *decoder.Decoder, n *yaml.Node, at string) { s.place, s.at = n, at }

type template struct {
	value any
	// row makes the object of a row of openb.
	row   func() map[string]any
	place *yaml.Node
	file  string
	at    string
	// Texts with expressions, by their path in value.
	computed map[string]*interpolation
}

// check also tries to make the first object of each.
func (s *objectSource) check(l *loader) {
	given := 0
	for _, set := range []bool{s.File != "", s.Objects != nil, s.Template != nil} {
		if set {
			given++
		}
	}
	if given != 1 {
		l.Add(s.place, s.at, "want one of file, objects and template")
		return
	}
	s.checkNumber(l, "count", s.Count, 1, MaxCount)
	s.checkNumber(l, "replicas", s.Replicas, 0, MaxCount)
	switch {
	case s.Format != "" && s.Format != formatOpenb:
		l.Add(decoder.Locate(s.place, "format"), yamlsource.Child(s.at, "format"), "want openb, or no format for Kubernetes objects")
	case s.Format == formatOpenb:
		s.readOpenb(l)
	case s.File != "":
		s.readFile(l, s.File, decoder.Locate(s.place, "file"), false)
	case s.Template != nil && s.Template.Kind == yaml.ScalarNode:
		s.readFile(l, s.Template.Value, s.Template.Node, true)
	case s.Template != nil:
		s.add(l, &l.Decoder, s.Template.Node, yamlsource.Child(s.at, "template"), true)
	default:
		for i, o := range s.Objects {
			s.add(l, &l.Decoder, o.Node, fmt.Sprintf("%s[%d]", yamlsource.Child(s.at, "objects"), i), false)
		}
	}
	if s.Replicas != nil && len(l.List) == 0 && !s.scales() {
		l.Add(decoder.Locate(s.place, "replicas"), yamlsource.Child(s.at, "replicas"), "none of these objects has replicas")
	}
}

func (s *objectSource) checkNumber(l *loader, field string, n *int, least, most int) {
	if n != nil && (*n < least || *n > most) {
		l.Add(decoder.Locate(s.place, field), yamlsource.Child(s.at, field), "want %d to %d, not %d", least, most, *n)
	}
}

var scalable = map[string]bool{"Deployment": true, "ReplicaSet": true, "StatefulSet": true, "ReplicationController": true}

func (s *objectSource) scales() bool {
	for _, t := range s.templates {
		if o := t.object(); o != nil && scalable[fmt.Sprint(o["kind"])] {
			return true
		}
	}
	return false
}

func (s *objectSource) readFile(l *loader, name string, at *yaml.Node, computed bool) {
	text := l.read(at, name)
	if text == nil {
		return
	}
	d := &decoder.Decoder{Mistakes: yamlsource.Mistakes{File: name}, Ctx: l.Ctx, Left: l.Left}
	documents := d.Documents(text)
	if len(d.List) == 0 && len(documents) == 0 {
		d.List = append(d.List, Mistake{File: name, Line: 1, Message: "the file has no objects"})
	}
	for _, n := range documents {
		s.add(l, d, n, "", computed)
	}
	l.List = append(l.List, d.List...)
}

func (s *objectSource) readOpenb(l *loader) {
	rows := l.openbRows(s.File, decoder.Locate(s.place, "file"))
	for _, row := range rows {
		s.templates = append(s.templates, template{row: row.Object})
	}
}

// openbRows returns nil after a mistake.
func (l *loader) openbRows(name string, at *yaml.Node) []openb.Row {
	text := l.read(at, name)
	if text == nil {
		return nil
	}
	rows, err := openb.Read(strings.NewReader(string(text)))
	if wrong, ok := err.(*openb.Error); ok { //nolint:errorlint // Read returns it as it is
		l.List = append(l.List, Mistake{File: name, Line: wrong.Line, Message: wrong.Message})
		return nil
	}
	if err != nil {
		l.Add(at, "", "%s: %s", name, err)
		return nil
	}
	return rows
}

func (s *objectSource) add(l *loader, d *decoder.Decoder, n *yaml.Node, at string, computed bool) {
	found := len(d.List)
	value, isObject := d.Value(n, at).(map[string]any)
	if len(d.List) > found {
		return
	}
	if !isObject {
		d.Add(n, at, "want a Kubernetes object, not %s", yamlsource.Kind(n))
		return
	}
	if items, isList := value["items"].([]any); isList && strings.HasSuffix(fmt.Sprint(value["kind"]), "List") {
		for _, item := range yamlsource.Field(n, "items").Content[:len(items)] {
			s.add(l, d, yamlsource.Target(item), at, computed)
		}
		return
	}
	t := template{value: value, place: n, file: d.File, at: at}
	if computed {
		t.computed = map[string]*interpolation{}
		l.findComputed(d, &t, n, value, "")
	}
	if len(d.List) > found {
		return
	}
	made, err := t.make(l.Ctx, madeVariables{count: 1, seed: DefaultSeed, row: l.row})
	if err != nil {
		d.Add(n, at, "%s", err)
		return
	}
	l.checkObject(d, &t, made)
	s.templates = append(s.templates, t)
}

var strictDecoder = jsonserializer.NewSerializerWithOptions(jsonserializer.DefaultMetaFactory, builtin.Scheme, builtin.Scheme, jsonserializer.SerializerOptions{Strict: true})

// checkObject reports fields that the kind does not have; of Kubernetes' kinds only.
func (l *loader) checkObject(d *decoder.Decoder, t *template, made *unstructured.Unstructured) {
	gvk := made.GroupVersionKind()
	switch {
	case made.GetAPIVersion() == "" || made.GetKind() == "":
		d.Add(t.place, t.at, "it is not a Kubernetes object: apiVersion or kind is missing")
		return
	case made.GetName() == "" && made.GetGenerateName() == "":
		d.Add(decoder.Locate(t.place, "metadata"), t.at, "the %s has no metadata.name", gvk.Kind)
		return
	}
	for _, problem := range validation.NameIsDNSSubdomain(made.GetName(), false) {
		if made.GetName() != "" && builtin.Is(gvk) {
			d.Add(decoder.Locate(t.place, "metadata.name"), yamlsource.Child(t.at, "metadata.name"), "%q: %s", made.GetName(), problem)
			return
		}
	}
	if !builtin.Is(gvk) {
		if builtin.Scheme.IsGroupRegistered(gvk.Group) {
			d.Add(decoder.Locate(t.place, "kind"), t.at, "there is no kind %s in %s", gvk.Kind, made.GetAPIVersion())
		}
		return
	}
	data, err := json.Marshal(made.Object)
	if err != nil {
		d.Add(t.place, t.at, "%s", err)
		return
	}
	_, _, err = strictDecoder.Decode(data, nil, nil)
	strict, isStrict := runtime.AsStrictDecodingError(err)
	switch {
	case isStrict:
		for _, e := range strict.Errors() {
			path := ""
			if parts := strings.Split(e.Error(), `"`); len(parts) > 1 {
				path = parts[1]
			}
			d.Add(decoder.Locate(t.place, path), t.at, "%s", e)
		}
	case err != nil:
		d.Add(t.place, t.at, "%s", err)
	}
}

// Holds fails if all objects of the run have too many texts.
func (r *run) Holds(object any) error {
	if r.size += textsOf(object); r.size > maxMade {
		return fmt.Errorf("the objects of all steps together have more than %d MiB of texts, the limit", maxMade>>20)
	}
	return nil
}

// Other values count a little.
func textsOf(value any) int {
	size := 8
	switch value := value.(type) {
	case string:
		size += len(value)
	case map[string]any:
		for key, inner := range value {
			size += len(key) + textsOf(inner)
		}
	case []any:
		for _, inner := range value {
			size += textsOf(inner)
		}
	}
	return size
}

func (s *objectSource) objects() int {
	count := len(s.templates)
	if s.Count != nil {
		count *= *s.Count
	}
	return count
}

type maker interface {
	// At most.
	objects() int
}

var _, _ maker = (*create)(nil), (*arrive)(nil)

// checkTotal names the step up to which there are too many objects.
func (l *loader) checkTotal(s *Scenario) {
	total := 0
	if s.cluster != nil {
		total = s.cluster.objects()
	}
	var first *Step
	for _, step := range s.Steps {
		if m, ok := step.action.(maker); ok {
			if total += m.objects(); total > MaxObjects && first == nil {
				first = step
			}
		}
	}
	if first != nil {
		l.List = append(l.List, Mistake{File: l.File, Line: first.Line, Message: fmt.Sprintf("all steps together make up to %d objects; the limit is %d", total, MaxObjects)})
	}
}

// object returns the object with its expressions as texts, or nil. It must not be changed.
func (t *template) object() map[string]any {
	if t.row != nil {
		return t.row()
	}
	object, _ := t.value.(map[string]any)
	return object
}

func (t *template) make(ctx context.Context, v madeVariables) (*unstructured.Unstructured, error) {
	if t.row != nil {
		return &unstructured.Unstructured{Object: t.row()}, nil
	}
	value, err := t.compute(ctx, t.value, "", v)
	if err != nil {
		return nil, err
	}
	object, _ := value.(map[string]any) // add has checked it
	return &unstructured.Unstructured{Object: object}, nil
}

func (t *template) compute(ctx context.Context, value any, at string, v madeVariables) (any, error) {
	switch value := value.(type) {
	case map[string]any:
		out := make(map[string]any, len(value))
		for key, inner := range value {
			computed, err := t.compute(ctx, inner, yamlsource.Child(at, key), v)
			if err != nil {
				return nil, err
			}
			out[key] = computed
		}
		return out, nil
	case []any:
		out := make([]any, len(value))
		for i, inner := range value {
			computed, err := t.compute(ctx, inner, fmt.Sprintf("%s[%d]", at, i), v)
			if err != nil {
				return nil, err
			}
			out[i] = computed
		}
		return out, nil
	}
	if text := t.computed[at]; text != nil {
		return text.value(ctx, v)
	}
	return value, nil
}

func (l *loader) findComputed(d *decoder.Decoder, t *template, n *yaml.Node, value any, at string) {
	switch value := value.(type) {
	case map[string]any:
		for i := 0; i+1 < len(n.Content); i += 2 {
			key := n.Content[i].Value
			if inner, set := value[key]; set {
				l.findComputed(d, t, yamlsource.Target(n.Content[i+1]), inner, yamlsource.Child(at, key))
			}
		}
	case []any:
		for i, inner := range value {
			l.findComputed(d, t, yamlsource.Target(n.Content[i]), inner, fmt.Sprintf("%s[%d]", at, i))
		}
	case string:
		if !strings.Contains(value, "${") {
			return
		}
		text, mistakes := l.made.text(Expression{Text: value, File: d.File, Line: n.Line, Column: n.Column, Field: yamlsource.Child(t.at, at)})
		if mistakes != nil {
			d.List = append(d.List, mistakes...)
			return
		}
		t.computed[at] = text
	}
}

// interpolation is a text with ${…}. A single expression has its own value, others are put
// together.
type interpolation struct {
	// literal[i] comes before programs[i]; there is one more literal than programs.
	literal  []string
	programs []*program
}

// text compiles the expressions of a text.
func (l *language) text(e Expression) (*interpolation, []Mistake) {
	out := &interpolation{}
	rest := e.Text
	for {
		before, after, found := strings.Cut(rest, "${")
		out.literal = append(out.literal, before)
		if !found {
			return out, nil
		}
		inner, after, closed := strings.Cut(after, "}")
		if !closed {
			return nil, []Mistake{e.mistake(0, 0, "${ is not closed by }")}
		}
		part := e
		part.Text = inner
		p, mistakes := l.compile(part, nil)
		if mistakes != nil {
			return nil, mistakes
		}
		out.programs = append(out.programs, p)
		rest = after
	}
}

type madeVariables struct {
	// i counts from 0, among count.
	i, count int
	seed     int64
	// stream tells the random numbers of steps apart.
	stream uint64
	row    map[string]string
}

func madeLanguage() (*language, error) {
	l, err := newLanguage(
		cel.Variable("i", types.IntType), cel.Variable("count", types.IntType),
		cel.Variable("random", types.DoubleType), cel.Variable("row", textMap))
	if err == nil {
		l.names = append(l.names, "i", "count", "random", "row")
	}
	return l, err
}

func (v madeVariables) values() map[string]any {
	row := v.row
	if row == nil {
		row = map[string]string{}
	}
	return map[string]any{
		"i": int64(v.i), "count": int64(v.count), varSeed: v.seed, "row": row,
		"random": rand.New(rand.NewPCG(uint64(v.seed)^v.stream, uint64(v.i))).Float64(),
	}
}

func streamOf(file string, line int) uint64 {
	h := fnv.New64a()
	fmt.Fprintf(h, "%s:%d", file, line)
	return h.Sum64()
}

func (t *interpolation) value(ctx context.Context, v madeVariables) (any, error) {
	variables := v.values()
	if len(t.programs) == 1 && t.literal[0] == "" && t.literal[1] == "" {
		return t.programs[0].json(ctx, variables)
	}
	var b strings.Builder
	for i, p := range t.programs {
		value, err := p.json(ctx, variables)
		if err != nil {
			return nil, err
		}
		b.WriteString(t.literal[i])
		fmt.Fprint(&b, value)
	}
	b.WriteString(t.literal[len(t.literal)-1])
	return b.String(), nil
}

func (p *program) json(ctx context.Context, variables map[string]any) (any, error) {
	value, err := p.evaluate(ctx, variables)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", p.Text, err)
	}
	switch v := value.Value().(type) {
	case string, bool, int64, float64:
		return v, nil
	case uint64:
		return int64(v), nil
	}
	native, err := value.ConvertToNative(types.JSONValueType)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", p.Text, err)
	}
	data, err := json.Marshal(native)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", p.Text, err)
	}
	var out any
	return out, json.Unmarshal(data, &out)
}
