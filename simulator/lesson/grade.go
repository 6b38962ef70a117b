package lesson

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strings"

	v1 "k8s.io/api/core/v1"

	"kube-scheduler-simulator/scheduler/result"
	"kube-scheduler-simulator/simulator/scenarios/scenario"
)

// World is the cluster in which a learner works. One goroutine at a time calls its methods.
type World interface {
	// Stage is the cluster with all its decisions so far.
	Stage(ctx context.Context) (*scenario.Stage, error)
	// State returns the nodes by name and the pods by namespace and name.
	State(ctx context.Context) ([]*v1.Node, []*v1.Pod, error)
	// Decide returns the decision that the scheduler would make about a pod now. The pod of a
	// manifest need not exist.
	Decide(ctx context.Context, a *Asked) (*result.Cycle, *v1.Pod, error)
}

// Prediction is what a learner predicts about a decision.
type Prediction struct {
	// CrossedOut are the nodes that cannot take the pod.
	CrossedOut []string `json:"crossedOut"`
	// Picked is the node that the scheduler chooses; empty for none.
	Picked string `json:"picked"`
}

// Grade is the outcome of an answer.
type Grade struct {
	Passed   bool   `json:"passed"`
	Feedback string `json:"feedback,omitempty"`
	// Misconceptions are names of Misconceptions. It is never nil.
	Misconceptions []string `json:"misconceptions"`
	// Findings describe how the state differs from what a check wants.
	Findings []scenario.Finding `json:"findings,omitempty"`
	// Error says why the check could not be judged, for example without a decision. It is then not
	// passed.
	Error string `json:"error,omitempty"`
	// Edits is that of Result, for a challenge.
	Edits *int `json:"edits,omitempty"`
	// Verdict and Nodes are those of a prediction.
	Verdict *result.Cycle `json:"-"`
	Nodes   []NodeGrade   `json:"grades,omitempty"`
}

// What the scheduler says of a node.
const (
	NodeRejected = "rejected"
	NodeFeasible = "feasible"
	NodeChosen   = "chosen"
)

// NodeGrade compares what the scheduler and a learner say of a node.
type NodeGrade struct {
	Node       string `json:"node"`
	Verdict    string `json:"verdict"`
	CrossedOut bool   `json:"crossedOut"`
	Picked     bool   `json:"picked"`
	Right      bool   `json:"right"`
}

// AnswerError means that an answer does not have the form that the check asks for.
type AnswerError struct{ Message string }

func (e *AnswerError) Error() string { return e.Message }

// answer returns an answer in the form that expressions see. It takes JSON values and those of a
// file.
func (c *Check) answer(given any) (any, error) {
	option := func(v any) (string, bool) {
		text, isText := v.(string)
		return text, isText && (len(c.Options) == 0 || slices.Contains(c.Options, text))
	}
	switch {
	case c.Kind == State:
		return nil, nil
	case c.Kind == Predict:
		return c.prediction(given)
	case c.Number:
		switch n := given.(type) {
		case int64:
			return n, nil
		case float64:
			if n == math.Trunc(n) && math.Abs(n) < 1<<53 {
				return int64(n), nil
			}
			return n, nil
		}
		return nil, &AnswerError{"want a number"}
	case c.Multiple:
		list, isList := given.([]any)
		out := []string{}
		for _, item := range list {
			text, ok := option(item)
			if !ok {
				return nil, &AnswerError{fmt.Sprintf("want a list of %s", strings.Join(c.Options, ", "))}
			}
			out = append(out, text)
		}
		if !isList {
			return nil, &AnswerError{"want a list of options"}
		}
		return out, nil
	}
	text, ok := option(given)
	if !ok && len(c.Options) > 0 {
		return nil, &AnswerError{fmt.Sprintf("want one of %s", strings.Join(c.Options, ", "))}
	}
	if !ok {
		return nil, &AnswerError{"want a text"}
	}
	return strings.TrimSpace(text), nil
}

// prediction reads a prediction from a JSON value, or takes one.
func (c *Check) prediction(given any) (any, error) {
	wrong := &AnswerError{"want a prediction: {\"crossedOut\": [\"node-1\"], \"picked\": \"node-2\"}"}
	if p, is := given.(Prediction); is {
		return p, nil
	}
	fields, isObject := given.(map[string]any)
	if !isObject {
		return nil, wrong
	}
	var p Prediction
	for name, value := range fields {
		switch v := value.(type) {
		case string:
			if name != "picked" {
				return nil, wrong
			}
			p.Picked = v
		case []any:
			for _, item := range v {
				node, isText := item.(string)
				if name != "crossedOut" || !isText {
					return nil, wrong
				}
				p.CrossedOut = append(p.CrossedOut, node)
			}
		case nil:
		default:
			return nil, wrong
		}
	}
	return p, nil
}

// Grade grades an answer, which is a JSON value. The error is an *AnswerError, or that of the
// world.
func (l *Lesson) Grade(ctx context.Context, c *Check, given any, language string, w World) (*Grade, error) {
	answer, err := c.answer(given)
	if err != nil {
		return nil, err
	}
	g := &Grade{Misconceptions: []string{}}
	own := map[string]any{varAnswer: answer, varVerdict: nil}
	if c.Pod != nil {
		cycle, pod, err := w.Decide(ctx, c.Pod)
		if err != nil {
			return nil, err
		}
		g.Verdict, own[varVerdict] = cycle, cycle
		if p, isPrediction := answer.(Prediction); isPrediction {
			nodes, pods, err := w.State(ctx)
			if err != nil {
				return nil, err
			}
			own[varAnswer] = map[string]any{"crossedOut": nonNil(p.CrossedOut), "picked": p.Picked}
			g.predicted(Situation{Pod: pod, Nodes: nodes, Pods: pods, Cycle: cycle}, p)
		}
	}
	stage, err := w.Stage(ctx)
	if err != nil {
		return nil, err
	}
	if c.passes != nil {
		judged, err := stage.Judge(ctx, c.passes, own)
		if err != nil {
			return nil, err
		}
		g.Passed, g.Error = judged.Passed, judged.Error
		if c.Kind == State && !judged.Passed {
			g.Findings = judged.Findings
		}
	}
	if err := g.name(ctx, c, stage, own); err != nil {
		return nil, err
	}
	g.Feedback = l.in(language).checks[c.ID].feedback(g.Passed)
	return g, nil
}

// name adds the first misconception of the check whose condition holds.
func (g *Grade) name(ctx context.Context, c *Check, stage *scenario.Stage, own map[string]any) error {
	if g.Passed {
		return nil
	}
	for _, m := range c.misconceptions {
		held, err := stage.Judge(ctx, m.when, own)
		if err != nil {
			return err
		}
		if held.Passed {
			if !slices.Contains(g.Misconceptions, m.name) {
				g.Misconceptions = append([]string{m.name}, g.Misconceptions...)
			}
			return nil
		}
	}
	return nil
}

func (g *Grade) predicted(s Situation, p Prediction) {
	g.Nodes = s.grades(p)
	g.Passed = p.Picked == "" || slices.ContainsFunc(g.Nodes, func(n NodeGrade) bool { return n.Picked })
	for _, n := range g.Nodes {
		g.Passed = g.Passed && n.Right
	}
	if !g.Passed {
		g.Misconceptions = s.misconceptions(p)
	}
}

func (s Situation) grades(p Prediction) []NodeGrade {
	var out []NodeGrade
	best := s.best()
	for _, n := range s.Nodes {
		grade := NodeGrade{Node: n.Name, Verdict: NodeRejected, CrossedOut: slices.Contains(p.CrossedOut, n.Name), Picked: p.Picked == n.Name}
		if s.feasible(n.Name) {
			grade.Verdict = NodeFeasible
		}
		wins := slices.Contains(best, n.Name)
		// The scheduler may choose any node of the best total. The learner's counts.
		if wins && (grade.Picked || !slices.Contains(best, p.Picked) && n.Name == s.Cycle.SelectedNode) {
			grade.Verdict = NodeChosen
		}
		grade.Right = grade.CrossedOut == (grade.Verdict == NodeRejected) && (grade.Picked == (grade.Verdict == NodeChosen))
		out = append(out, grade)
	}
	return out
}

func nonNil(list []string) []string {
	if list == nil {
		return []string{}
	}
	return list
}
