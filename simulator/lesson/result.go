package lesson

import (
	"context"
	"fmt"

	"kube-scheduler-simulator/scheduler/result"
)

// Result is the outcome of a lesson in its sandbox, each check with the latest answer to it, or of
// an exercise.
type Result struct {
	Summary
	// Exercise is nil for a lesson and for a challenge. An exercise has no texts of its own but its
	// title.
	Exercise *ExerciseKey `json:"exercise,omitempty"`
	// Language is that of the texts.
	Language string `json:"language"`
	// Edits counts the changes of objects and configurations that the learner made and did not take
	// back. It is nil where nothing counts them.
	Edits *int `json:"edits,omitempty"`
	// Answers has every check of the lesson.
	Answers []AnsweredCheck `json:"answers"`
}

// AnsweredCheck is a check with the latest answer.
type AnsweredCheck struct {
	CheckView
	// Answer is a JSON value; nil for a check of the state.
	Answer any `json:"answer,omitempty"`
	// Grade is nil without an answer.
	Grade *Grade `json:"grade,omitempty"`
}

// Verdict is the decision of a prediction; nil for other checks.
func (a *AnsweredCheck) Verdict() *result.Cycle {
	if a.Grade == nil || a.Grade.Nodes == nil {
		return nil
	}
	return a.Grade.Verdict
}

type graded struct {
	answer any
	grade  *Grade
}

// Result returns the outcome of this sandbox's lesson so far. The error is a *MissingError or an
// *ElsewhereError.
func (c *Classroom) Result(ctx context.Context, id, language string) (*Result, error) {
	l, err := c.here(id)
	if err != nil {
		return nil, err
	}
	r := &Result{Summary: l.Summary(language), Language: Languages[0], Answers: []AnsweredCheck{}}
	if _, has := l.texts[language]; has {
		r.Language = language
	}
	if c.edits != nil {
		edits, err := c.edits(ctx)
		if err != nil {
			return nil, err
		}
		r.Edits = &edits
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, s := range l.Steps {
		for _, check := range s.Checks {
			t := l.in(language).checks[check.ID]
			answered := AnsweredCheck{CheckView: check.view(t)}
			if last, known := c.graded[check.ID]; known {
				grade := *last.grade
				grade.Feedback = t.feedback(grade.Passed)
				answered.Answer, answered.Grade = last.answer, &grade
			}
			r.Answers = append(r.Answers, answered)
		}
	}
	return r, nil
}

// Result returns a graded prediction as the result of one check.
func (k ExerciseKey) Result(p Prediction, g *Grade) *Result {
	return &Result{
		Summary:  Summary{ID: "exercise", Kind: KindExercise, Title: fmt.Sprintf("%s, level %d, seed %d", k.Plugin, k.Level, k.Seed), Checks: 1, Languages: []string{}},
		Exercise: &k, Language: Languages[0],
		Answers: []AnsweredCheck{{CheckView: CheckView{ID: "prediction", Kind: Predict}, Answer: p, Grade: g}},
	}
}

func (t checkTexts) feedback(passed bool) string {
	if passed {
		return t.Yes
	}
	return t.No
}
