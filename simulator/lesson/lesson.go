package lesson

import (
	"slices"

	"kube-scheduler-simulator/simulator/scenarios/scenario"
)

// Languages are those of the built-in lessons. A lesson always has the first one.
var Languages = []string{"en", "ja"}

// Kinds of files.
const (
	KindLesson    = "lesson"
	KindExercise  = "exercise"
	KindChallenge = "challenge"
)

// Kinds of checks.
const (
	Question = "question"
	State    = "state"
	Predict  = "predict"
)

// Engines in which a lesson's checks can be tried.
const (
	EngineMemory = "memory"
	EngineServer = "server"
)

// Lesson is a lesson or a challenge that was read and checked. It does not change.
type Lesson struct {
	Head
	Kind string
	// File is the name of its English file.
	File string
	// Own: it is a teacher's file, not a built-in one.
	Own bool
	// Configuration is nil for Kubernetes' default.
	Configuration *scenario.Configuration
	Steps         []*Step

	cluster     *scenario.Objects
	clusterText string
	texts       map[string]texts
}

// Head is the front matter.
type Head struct {
	ID             string `yaml:"id"`
	Title          string `yaml:"title"`
	Goal           string `yaml:"goal"`
	Line           int    `yaml:"line"`
	Order          int    `yaml:"order"`
	Minutes        int    `yaml:"minutes"`
	ExtensionPoint string `yaml:"extensionPoint"`
	// Engine says where to try the checks: EngineMemory, the default, or EngineServer for what only
	// a control plane does.
	Engine string `yaml:"engine"`
	// Kueue, Karpenter, Sessions and FeatureGates are what the sandbox starts with. Sessions are the
	// session schedulers and the flow scheduler.
	Kueue        bool             `yaml:"kueue"`
	Karpenter    bool             `yaml:"karpenter"`
	Sessions     bool             `yaml:"sessions"`
	FeatureGates scenario.GateSet `yaml:"featureGates"`
	// Extender: a local example of an extender serves the sandbox.
	Extender bool `yaml:"extender"`
	// Best is the number of edits of the best known solution of a challenge.
	Best int `yaml:"best"`
}

// Step is a step with its checks.
type Step struct {
	ID        string
	Page      string
	Highlight string
	Checks    []*Check
	// Do is what its button does; nil if there is none.
	Do []*scenario.Step

	doText string
	// at is the block's index.
	at int
}

// Check is a check.
type Check struct {
	ID   string
	Kind string
	// Options are the possible answers of a question, in English.
	Options []string
	// Number and Multiple say what an answer is: a number, or a list of options; otherwise a text.
	Number, Multiple bool
	// Pod is the pod of the prediction; nil when the prediction is about none.
	Pod *Asked
	// Right and Wrong are examples.
	Right, Wrong []Example

	passes         *scenario.Condition
	misconceptions []misconception
	line, at       int
}

// Asked is the pod of a question about a decision: one of the cluster, or a manifest.
type Asked struct {
	Namespace, Name string
	// Manifest is YAML; empty for a pod of the cluster.
	Manifest []byte
}

// Example is an example of an answer, or of what a learner does to the cluster.
type Example struct {
	Line   int
	Answer any
	Steps  []*scenario.Step
	// Misconceptions are those that grading must name.
	Misconceptions []string
}

type misconception struct {
	name string
	when *scenario.Condition
}

// texts are what a language's file says.
type texts struct {
	title, goal string
	// prose follows the blocks, by index; titles are those of steps.
	prose, titles []string
	labels        map[string]string
	checks        map[string]checkTexts
}

type checkTexts struct {
	Prompt  string
	Options []string
	Hint    string
	Yes     string
	No      string
}

// Check returns a check, or nil.
func (l *Lesson) Check(id string) *Check {
	for _, s := range l.Steps {
		for _, c := range s.Checks {
			if c.ID == id {
				return c
			}
		}
	}
	return nil
}

// Step returns a step, or nil.
func (l *Lesson) Step(id string) *Step {
	for _, s := range l.Steps {
		if s.ID == id {
			return s
		}
	}
	return nil
}

// Summary is one line of the list of lessons.
type Summary struct {
	ID             string `json:"id"`
	Kind           string `json:"kind"`
	Title          string `json:"title"`
	Goal           string `json:"goal"`
	Line           int    `json:"line,omitempty"`
	Order          int    `json:"order"`
	Minutes        int    `json:"minutes,omitempty"`
	ExtensionPoint string `json:"extensionPoint,omitempty"`
	// Steps and Checks count them.
	Steps  int `json:"steps"`
	Checks int `json:"checks"`
	// Languages are those of the lesson.
	Languages []string `json:"languages"`
	Best      int      `json:"best,omitempty"`
	// Own: it is a teacher's file.
	Own bool `json:"own,omitempty"`
}

// View is a lesson in one language.
type View struct {
	Summary
	// Intro is Markdown.
	Intro string `json:"intro"`
	// Cluster is the YAML of the objects at the start.
	Cluster string     `json:"cluster"`
	Steps   []StepView `json:"steps"`
}

// StepView is a step in one language.
type StepView struct {
	ID        string `json:"id"`
	Title     string `json:"title"`
	Page      string `json:"page"`
	Highlight string `json:"highlight,omitempty"`
	// Do is nil if the step has no button.
	Do    *DoView `json:"do,omitempty"`
	Parts []Part  `json:"parts"`
}

// DoView is what a button does.
type DoView struct {
	Label string `json:"label,omitempty"`
	// Text is the YAML of the file.
	Text string `json:"text"`
	// What says it in a few words per step.
	What []string `json:"what"`
}

// Part is a piece of prose or a check.
type Part struct {
	// Text is Markdown.
	Text  string     `json:"text,omitempty"`
	Check *CheckView `json:"check,omitempty"`
}

// CheckView is a check in one language, without its answer.
type CheckView struct {
	ID       string       `json:"id"`
	Kind     string       `json:"kind"`
	Prompt   string       `json:"prompt"`
	Hint     string       `json:"hint,omitempty"`
	Options  []OptionView `json:"options,omitempty"`
	Number   bool         `json:"number,omitempty"`
	Multiple bool         `json:"multiple,omitempty"`
	Pod      *PodView     `json:"pod,omitempty"`
	// Manifest is the YAML of a pod that need not exist.
	Manifest string `json:"manifest,omitempty"`
}

// PodView names a pod.
type PodView struct {
	Namespace string `json:"namespace"`
	Name      string `json:"name"`
}

// OptionView is a possible answer, as sent and as shown.
type OptionView struct {
	Value string `json:"value"`
	Label string `json:"label"`
}

// in falls back to English.
func (l *Lesson) in(language string) texts {
	if t, known := l.texts[language]; known {
		return t
	}
	return l.texts[Languages[0]]
}

// Summary returns the line of the list.
func (l *Lesson) Summary(language string) Summary {
	t := l.in(language)
	s := Summary{
		ID: l.ID, Kind: l.Kind, Title: t.title, Goal: t.goal, Line: l.Line, Order: l.Order, Minutes: l.Minutes, ExtensionPoint: l.ExtensionPoint,
		Steps: len(l.Steps), Best: l.Best, Own: l.Own,
	}
	for _, step := range l.Steps {
		s.Checks += len(step.Checks)
	}
	for _, language := range Languages {
		if _, has := l.texts[language]; has {
			s.Languages = append(s.Languages, language)
		}
	}
	return s
}

// View returns the lesson in a language, or in English if it lacks that one.
func (l *Lesson) View(language string) View {
	t := l.in(language)
	v := View{Summary: l.Summary(language), Intro: t.prose[0], Cluster: l.clusterText, Steps: []StepView{}}
	for _, s := range l.Steps {
		step := StepView{ID: s.ID, Title: t.titles[s.at], Page: s.Page, Highlight: s.Highlight, Parts: []Part{}}
		if s.Do != nil {
			step.Do = &DoView{Label: t.labels[s.ID], Text: s.doText}
			for _, do := range s.Do {
				step.Do.What = append(step.Do.What, do.Verb+" "+do.Describe())
			}
		}
		if t.prose[s.at] != "" {
			step.Parts = append(step.Parts, Part{Text: t.prose[s.at]})
		}
		for _, c := range s.Checks {
			view := c.view(t.checks[c.ID])
			step.Parts = append(step.Parts, Part{Check: &view})
			if t.prose[c.at] != "" {
				step.Parts = append(step.Parts, Part{Text: t.prose[c.at]})
			}
		}
		v.Steps = append(v.Steps, step)
	}
	return v
}

func (c *Check) view(t checkTexts) CheckView {
	v := CheckView{ID: c.ID, Kind: c.Kind, Prompt: t.Prompt, Hint: t.Hint, Number: c.Number, Multiple: c.Multiple}
	for i, o := range c.Options {
		v.Options = append(v.Options, OptionView{Value: o, Label: t.Options[i]})
	}
	if c.Pod != nil {
		v.Pod = &PodView{Namespace: c.Pod.Namespace, Name: c.Pod.Name}
		v.Manifest = string(c.Pod.Manifest)
	}
	return v
}

// sorted puts lessons before challenges, each in their order, and those of teachers last.
func sorted(all []*Lesson) []*Lesson {
	rank := func(l *Lesson) int {
		r := l.Order
		if l.Kind == KindChallenge {
			r += 1 << 20
		}
		if l.Own {
			r += 1 << 24
		}
		return r
	}
	slices.SortStableFunc(all, func(a, b *Lesson) int { return rank(a) - rank(b) })
	return all
}
