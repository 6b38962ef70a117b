package lesson

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"regexp"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"kube-scheduler-simulator/scheduler/config"
	"kube-scheduler-simulator/scheduler/yamlsource"
	"kube-scheduler-simulator/simulator/scenarios/decoder"
	"kube-scheduler-simulator/simulator/scenarios/scenario"
)

// Options say how to load files.
type Options struct {
	// Parse reads a scheduler configuration. It is required. Its error may be a *config.Error.
	Parse func(document []byte) (*config.Configuration, error)
	// Dir begins the names of files in messages; it may be empty.
	Dir string
	// Own: the files are a teacher's.
	Own bool
}

const challenges = "challenges"

// maxFile bounds a file, in bytes.
const maxFile = 1 << 20

var (
	fileName = regexp.MustCompile(`^(.+)\.([a-z]{2})\.md$`)
	ident    = regexp.MustCompile(`^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$`)
)

// Load reads the lessons of a directory, and the challenges in its directory challenges. The error
// is a *scenario.Error with the mistakes of all files, or that of reading one.
func Load(fsys fs.FS, o Options) ([]*Lesson, error) { return load(fsys, ".", o) }

func load(fsys fs.FS, lessons string, o Options) ([]*Lesson, error) {
	var out []*Lesson
	wrong := &scenario.Error{}
	for _, dir := range []string{lessons, challenges} {
		files, err := translations(fsys, dir, wrong, o)
		if err != nil {
			return nil, err
		}
		for _, f := range files {
			l, err := read(fsys, f, o)
			if mistaken, ok := errors.AsType[*scenario.Error](err); ok {
				wrong.Mistakes = append(wrong.Mistakes, mistaken.Mistakes...)
				continue
			}
			if err != nil {
				return nil, err
			}
			l.Kind, l.Own = KindLesson, o.Own
			if dir == challenges {
				l.Kind = KindChallenge
			}
			out = append(out, l)
		}
	}
	byID := map[string]*Lesson{}
	for _, l := range out {
		if other := byID[l.ID]; other != nil {
			wrong.Mistakes = append(wrong.Mistakes, scenario.Mistake{File: l.File, Line: 2, Field: "id", Message: fmt.Sprintf("%s has the id %s, too", other.File, l.ID)})
		}
		byID[l.ID] = l
	}
	if len(wrong.Mistakes) > 0 {
		return nil, wrong
	}
	return sorted(out), nil
}

type translation struct {
	base string
	in   map[string]string
}

func translations(fsys fs.FS, dir string, wrong *scenario.Error, o Options) ([]translation, error) {
	entries, err := fs.ReadDir(fsys, dir)
	if errors.Is(err, fs.ErrNotExist) && dir == challenges {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("reading lessons: %w", err)
	}
	var out []translation
	fail := func(name, format string, args ...any) {
		wrong.Mistakes = append(wrong.Mistakes, scenario.Mistake{File: path.Join(o.Dir, dir, name), Line: 1, Message: fmt.Sprintf(format, args...)})
	}
	for _, e := range entries {
		name := e.Name()
		if e.IsDir() || path.Ext(name) != ".md" || strings.EqualFold(name, "README.md") {
			continue
		}
		parts := fileName.FindStringSubmatch(name)
		if parts == nil {
			fail(name, "want a name that ends in the language, such as 01-decides.en.md or 01-decides.ja.md")
			continue
		}
		if !slices.Contains(Languages, parts[2]) {
			fail(name, "there is no language %q; the languages are %s", parts[2], strings.Join(Languages, ", "))
			continue
		}
		at := slices.IndexFunc(out, func(t translation) bool { return t.base == parts[1] })
		if at < 0 {
			at = len(out)
			out = append(out, translation{parts[1], map[string]string{}})
		}
		out[at].in[parts[2]] = path.Join(dir, name)
	}
	return slices.DeleteFunc(out, func(t translation) bool {
		if t.in[Languages[0]] != "" {
			return false
		}
		for _, name := range t.in {
			fail(path.Base(name), "the lesson has no %s.%s.md, which holds its blocks", t.base, Languages[0])
		}
		return true
	}), nil
}

// read reads a lesson in all its languages.
func read(fsys fs.FS, t translation, o Options) (*Lesson, error) {
	var l *Lesson
	var wrong []scenario.Mistake
	for _, language := range Languages {
		name, has := t.in[language]
		if !has {
			continue
		}
		text, err := readFile(fsys, name)
		if err != nil {
			return nil, fmt.Errorf("reading a lesson: %w", err)
		}
		r, err := newReader(path.Join(o.Dir, name), text, o)
		if err != nil {
			return nil, err
		}
		if language == Languages[0] {
			l = r.lesson()
		} else {
			r.translate(l, language)
		}
		if mistaken, ok := errors.AsType[*scenario.Error](r.Err()); ok {
			wrong = append(wrong, mistaken.Mistakes...)
			if language == Languages[0] {
				break // what others say about it would repeat its mistakes
			}
		}
	}
	if len(wrong) > 0 {
		return nil, &scenario.Error{Mistakes: wrong}
	}
	return l, nil
}

// readFile reads a file, or just enough of one that is larger than maxFile to tell. It takes only
// regular files: opening a pipe would wait for its writer.
func readFile(fsys fs.FS, name string) (string, error) {
	info, err := fs.Stat(fsys, name)
	if err != nil {
		return "", err
	}
	if !info.Mode().IsRegular() {
		return "", fmt.Errorf("%s is not a regular file", name)
	}
	f, err := fsys.Open(name)
	if err != nil {
		return "", err
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, maxFile+1))
	return string(text), err
}

type reader struct {
	*scenario.Parts
	file string
	source
}

// The variables of a check's expressions.
const (
	varAnswer  = "answer"
	varVerdict = "verdict"
)

func newReader(file, text string, o Options) (*reader, error) {
	parts, err := scenario.NewParts(context.Background(), scenario.Options{
		File: file, Parse: o.Parse,
		Read: func(string) ([]byte, error) { return nil, errors.New("a lesson holds all its objects itself") },
	}, varAnswer, varVerdict)
	if err != nil {
		return nil, err
	}
	r := &reader{Parts: parts, file: file}
	if len(text) > maxFile {
		r.Fail(1, "", "it has more than %d bytes, the limit", maxFile)
		return r, nil
	}
	r.source = takeApart(text, parts)
	return r, nil
}

// one returns the only document of a text, or nil after a mistake.
func (r *reader) one(text []byte, line int) *yaml.Node {
	before := r.Err()
	documents := r.DocumentsAt(text, line)
	if r.Err() == nil && before == nil && len(documents) != 1 || len(documents) > 1 {
		r.Fail(line, "", "want one mapping of fields, and there are %d", len(documents))
	}
	if len(documents) != 1 {
		return nil
	}
	return documents[0]
}

// lesson reads the English file, which has everything.
func (r *reader) lesson() *Lesson {
	l := &Lesson{File: r.file, texts: map[string]texts{}}
	t := newTexts(len(r.blocks))
	if n := r.one(r.front, r.frontLine); n != nil {
		r.Decode(n, &l.Head, "")
		r.checkHead(l)
	}
	t.title, t.goal = l.Title, l.Goal
	for i, b := range r.blocks {
		t.prose[i] = b.prose
		switch b.kind {
		case "":
		case blockCluster:
			r.cluster(l, b)
			// What follows the cluster belongs to what was before it.
			t.prose[0], t.prose[i] = strings.TrimSpace(t.prose[0]+"\n\n"+b.prose), ""
			if len(l.Steps) > 0 {
				r.Fail(b.line-1, "", "the cluster comes before the first step")
			}
		case blockStep:
			if s := r.step(l, b, i, &t); s != nil {
				l.Steps = append(l.Steps, s)
			}
			if t.titles[i], t.prose[i] = titled(b.prose); t.titles[i] == "" {
				r.Fail(b.proseLine, "", "a step is followed by its title: a line such as \"## The first no is enough\"")
			}
		case blockCheck, blockPredict:
			c := r.check(l, b, i, &t)
			switch {
			case c == nil:
			case len(l.Steps) == 0:
				r.Fail(b.line-1, "", "a check belongs to a step, and there is none before it")
			default:
				l.Steps[len(l.Steps)-1].Checks = append(l.Steps[len(l.Steps)-1].Checks, c)
			}
		}
	}
	if r.Err() == nil {
		switch {
		case l.cluster == nil:
			r.Fail(1, "", "the lesson has no cluster: a block that begins with ```yaml cluster")
		case len(l.Steps) == 0:
			r.Fail(1, "", "the lesson has no step: a block that begins with ```yaml step")
		}
	}
	l.texts[Languages[0]] = t
	return l
}

func newTexts(blocks int) texts {
	return texts{prose: make([]string, max(1, blocks)), titles: make([]string, max(1, blocks)), labels: map[string]string{}, checks: map[string]checkTexts{}}
}

func (r *reader) checkHead(l *Lesson) {
	line := r.frontLine
	if !ident.MatchString(l.ID) {
		r.Fail(line, "id", "want letters a to z, digits and -, not %q", l.ID)
	}
	if l.Title == "" || l.Goal == "" {
		r.Fail(line, "", "title and goal are required")
	}
	switch l.Engine {
	case "":
		l.Engine = EngineMemory
	case EngineMemory, EngineServer:
	default:
		r.Fail(line, "engine", "want %s or %s, not %q", EngineMemory, EngineServer, l.Engine)
	}
	if (l.Kueue || l.Karpenter || l.Extender) && l.Engine == EngineMemory {
		r.Fail(line, "engine", "Kueue, Karpenter and extenders do not run in memory; want \"engine: %s\"", EngineServer)
	}
	if l.Line < 0 || l.Order < 0 || l.Minutes < 0 || l.Best < 0 {
		r.Fail(line, "", "line, order, minutes and best are not negative")
	}
}

func (r *reader) cluster(l *Lesson, b block) {
	if l.cluster != nil {
		r.Fail(b.line-1, "", "the lesson has a cluster already")
		return
	}
	var objects []*yaml.Node
	for _, n := range r.DocumentsAt(b.text, b.line) {
		if yamlsource.Text(n, "kind") != "KubeSchedulerConfiguration" {
			objects = append(objects, n)
			continue
		}
		if l.Configuration != nil {
			r.Fail(n.Line, "", "the lesson has a KubeSchedulerConfiguration already")
		}
		l.Configuration = r.Configuration(n)
	}
	l.cluster, l.clusterText = r.Objects(objects...), string(b.text)
	if len(objects) == 0 && r.Err() == nil {
		r.Fail(b.line, "", "the cluster has no objects")
	}
}

type stepBlock struct {
	ID        string      `yaml:"id"`
	Page      string      `yaml:"page"`
	Highlight string      `yaml:"highlight"`
	Label     string      `yaml:"label"`
	Do        decoder.Raw `yaml:"do"`
}

func (r *reader) step(l *Lesson, b block, at int, t *texts) *Step {
	n := r.one(b.text, b.line)
	if n == nil {
		return nil
	}
	var in stepBlock
	r.Decode(n, &in, "")
	s := &Step{ID: in.ID, Page: in.Page, Highlight: in.Highlight, at: at}
	r.checkID("step", in.ID, l.Step(in.ID) != nil, n.Line)
	if !strings.HasPrefix(in.Page, "/") {
		r.Fail(n.Line, "page", "want the path of a page, such as / or /results/default/web, not %q", in.Page)
	}
	if in.Do.Node != nil {
		s.Do, s.doText = r.steps(in.Do.Node), r.text(in.Do.Node)
	}
	if in.Label != "" && s.Do == nil {
		r.Fail(n.Line, "label", "it is the text of the button of do, and there is no do")
	}
	t.labels[s.ID] = in.Label
	return s
}

func (r *reader) checkID(kind, id string, taken bool, line int) {
	if !ident.MatchString(id) {
		r.Fail(line, "id", "want letters a to z, digits and -, not %q", id)
	} else if taken {
		r.Fail(line, "id", "there is a %s %s already", kind, id)
	}
}

// steps reads a manifest, or a list of manifests and steps of scenarios.
func (r *reader) steps(n *yaml.Node) []*scenario.Step {
	items := []*yaml.Node{n}
	if n.Kind == yaml.SequenceNode {
		items = n.Content
	}
	var out []*scenario.Step
	for _, item := range items {
		if yamlsource.Text(item, "kind") != "" {
			out = append(out, r.ApplyStep(item))
			continue
		}
		s := &scenario.Step{}
		r.Decode(item, s, "")
		out = append(out, s)
	}
	r.Parts.Check(out)
	return out
}

// text returns the YAML of a value; a list of manifests becomes documents.
func (r *reader) text(n *yaml.Node) string {
	items := []*yaml.Node{n}
	if n.Kind == yaml.SequenceNode && !slices.ContainsFunc(n.Content, func(item *yaml.Node) bool { return yamlsource.Text(item, "kind") == "" }) {
		items = n.Content
	}
	var b bytes.Buffer
	out := yaml.NewEncoder(&b)
	out.SetIndent(2)
	for _, item := range items {
		block := *item
		block.Style &^= yaml.FlowStyle
		if err := out.Encode(&block); err != nil {
			r.Fail(n.Line, "", "%s", err)
		}
	}
	return b.String()
}

type checkBlock struct {
	ID             string                 `yaml:"id"`
	Kind           string                 `yaml:"kind"`
	Prompt         string                 `yaml:"prompt"`
	Options        []string               `yaml:"options"`
	Number         bool                   `yaml:"number"`
	Multiple       bool                   `yaml:"multiple"`
	Pod            decoder.Raw            `yaml:"pod"`
	Passes         *scenario.Expression   `yaml:"passes"`
	That           *scenario.Expression   `yaml:"that"`
	Right          []decoder.Raw          `yaml:"right"`
	Wrong          []decoder.Raw          `yaml:"wrong"`
	Misconceptions []misconceptionInBlock `yaml:"misconceptions"`
	Hint           string                 `yaml:"hint"`
	Yes            string                 `yaml:"yes"`
	No             string                 `yaml:"no"`
}

type misconceptionInBlock struct {
	When scenario.Expression `yaml:"when"`
	Name string              `yaml:"name"`
}

func (r *reader) check(l *Lesson, b block, at int, t *texts) *Check {
	n := r.one(b.text, b.line)
	if n == nil {
		return nil
	}
	var in checkBlock
	r.Decode(n, &in, "")
	if b.kind == blockPredict && in.Kind == "" {
		in.Kind = Predict
	}
	c := &Check{ID: in.ID, Kind: in.Kind, Options: in.Options, Number: in.Number, Multiple: in.Multiple, line: n.Line, at: at}
	r.checkID("check", in.ID, l.Check(in.ID) != nil, n.Line)
	t.checks[in.ID] = checkTexts{in.Prompt, in.Options, in.Hint, in.Yes, in.No}
	if in.Prompt == "" {
		r.Fail(n.Line, "prompt", "it is required: what the learner is asked")
	}
	r.grading(c, in, n.Line)
	if in.Pod.Node != nil {
		c.Pod = r.pod(in.Pod.Node)
	}
	for _, m := range in.Misconceptions {
		if !slices.Contains(Misconceptions, m.Name) {
			r.Fail(n.Line, "misconceptions", "there is no misconception %q; they are %s", m.Name, strings.Join(Misconceptions, ", "))
		}
		c.misconceptions = append(c.misconceptions, misconception{m.Name, r.Condition(m.When)})
	}
	c.Right, c.Wrong = r.examples(c, in.Right), r.examples(c, in.Wrong)
	if r.Err() == nil && (len(c.Right) == 0 || len(c.Wrong) == 0) {
		r.Fail(n.Line, "", "right and wrong are required: examples of answers, which a test tries")
	}
	return c
}

// grading compiles what grades a check, and reports what does not belong to its kind.
func (r *reader) grading(c *Check, in checkBlock, line int) {
	condition := func(field string, e *scenario.Expression, example string) {
		if e == nil {
			r.Fail(line, field, "it is required: a CEL expression such as %s", example)
			return
		}
		c.passes = r.Condition(*e)
	}
	foreign := func(field string, set bool) {
		if set {
			r.Fail(line, field, "it does not belong to a check of the kind %s", c.Kind)
		}
	}
	choice := len(in.Options) > 0 || in.Number || in.Multiple
	switch c.Kind {
	case Question:
		condition("passes", in.Passes, `answer == last("web").node`)
		foreign("that", in.That != nil)
		if in.Number && (in.Multiple || len(in.Options) > 0) {
			r.Fail(line, "number", "an answer is a number, or one of options")
		}
		if in.Multiple && len(in.Options) == 0 {
			r.Fail(line, "multiple", "it needs options")
		}
	case State:
		condition("that", in.That, `last("web").node != ""`)
		foreign("passes", in.Passes != nil)
		foreign("options, number and multiple", choice)
		foreign("pod", in.Pod.Node != nil)
	case Predict:
		foreign("passes", in.Passes != nil)
		foreign("that", in.That != nil)
		foreign("options, number and multiple", choice)
		if in.Pod.Node == nil {
			r.Fail(line, "pod", "it is required: the name of a pod, or a manifest")
		}
	default:
		r.Fail(line, "kind", "want %s, %s or %s, not %q", Question, State, Predict, c.Kind)
	}
}

func (r *reader) pod(n *yaml.Node) *Asked {
	if n.Kind == yaml.ScalarNode {
		namespace, name, both := strings.Cut(n.Value, "/")
		if !both {
			namespace, name = "default", n.Value
		}
		return &Asked{Namespace: namespace, Name: name}
	}
	value, _ := r.Value(n, "").(map[string]any)
	metadata, _ := value["metadata"].(map[string]any)
	name, _ := metadata["name"].(string)
	namespace, _ := metadata["namespace"].(string)
	if value["kind"] != "Pod" || name == "" {
		r.Fail(n.Line, "pod", "want the name of a pod, or a manifest with kind: Pod and metadata.name")
		return nil
	}
	if namespace == "" {
		namespace = "default"
	}
	r.Objects(n)
	return &Asked{Namespace: namespace, Name: name, Manifest: []byte(r.text(n))}
}

// exampleBlock is an example with more than an answer.
type exampleBlock struct {
	Answer         decoder.Raw `yaml:"answer"`
	Steps          decoder.Raw `yaml:"steps"`
	CrossedOut     []string    `yaml:"crossedOut"`
	Picked         string      `yaml:"picked"`
	Misconceptions []string    `yaml:"misconceptions"`
}

func (r *reader) examples(c *Check, in []decoder.Raw) []Example {
	var out []Example
	for _, v := range in {
		e := Example{Line: v.Line}
		content := v
		if v.Kind == yaml.MappingNode {
			var b exampleBlock
			r.Decode(v.Node, &b, "")
			e.Misconceptions = b.Misconceptions
			e.Answer = Prediction{CrossedOut: b.CrossedOut, Picked: b.Picked}
			switch {
			case c.Kind == Question:
				content = b.Answer
			case c.Kind == State:
				content = b.Steps
			}
			if content.Node == nil {
				r.Fail(v.Line, "", "want answer, or steps for a check of the kind %s", State)
				continue
			}
		}
		switch c.Kind {
		case State:
			e.Answer = nil
			if content.Kind != yaml.SequenceNode {
				r.Fail(v.Line, "", "want a list of steps, such as [{delete: {kind: Pod, name: web}}, {wait: settled}]")
				continue
			}
			e.Steps = r.steps(content.Node)
		case Question:
			e.Answer = r.Value(content.Node, "")
			if _, err := c.answer(e.Answer); err != nil {
				r.Fail(v.Line, "", "%s", err)
			}
		}
		out = append(out, e)
	}
	return out
}
