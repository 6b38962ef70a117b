package server

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"kube-scheduler-simulator/scheduler/result"
	"kube-scheduler-simulator/scheduler/whatif"
	"kube-scheduler-simulator/simulator/lesson"
)

// fakeLessons answer with err, and note what they were asked.
type fakeLessons struct {
	err   error
	asked []string
}

func (f *fakeLessons) note(format string, args ...any) {
	f.asked = append(f.asked, fmt.Sprintf(format, args...))
}

func (f *fakeLessons) List(language string) ([]lesson.Summary, error) {
	f.note("list %s", language)
	return []lesson.Summary{{ID: "decides", Kind: lesson.KindLesson}}, f.err
}

func (f *fakeLessons) Get(id, language string) (lesson.View, error) {
	f.note("get %s %s", id, language)
	return lesson.View{Summary: lesson.Summary{ID: id}}, f.err
}

func (f *fakeLessons) Do(_ context.Context, id, step string) error {
	f.note("do %s %s", id, step)
	return f.err
}

func (f *fakeLessons) Grade(_ context.Context, id, check, language string, answer any) (*lesson.Grade, error) {
	f.note("grade %s %s %s %v", id, check, language, answer)
	return &lesson.Grade{Passed: true, Misconceptions: []string{}}, f.err
}

func (f *fakeLessons) Result(_ context.Context, id, language string) (*lesson.Result, error) {
	f.note("result of %s in %s", id, language)
	return &lesson.Result{Summary: lesson.Summary{ID: id, Title: "Filters"}, Answers: []lesson.AnsweredCheck{}}, f.err
}

func (f *fakeLessons) Exercise(_ context.Context, k lesson.ExerciseKey) (*lesson.Exercise, error) {
	f.note("exercise %+v", k)
	return &lesson.Exercise{ExerciseKey: k}, f.err
}

func (f *fakeLessons) GradeExercise(_ context.Context, k lesson.ExerciseKey, p lesson.Prediction) (*lesson.Grade, error) {
	f.note("grade exercise %+v %+v", k, p)
	return &lesson.Grade{
		Misconceptions: []string{lesson.UsageCounts}, Nodes: []lesson.NodeGrade{{Node: "a"}}, Verdict: &result.Cycle{Summary: result.Summary{SelectedNode: "a"}},
	}, f.err
}

func TestLessons(t *testing.T) {
	for _, c := range []struct {
		method, path, body string
		asked              string
		code               int
	}{
		{"GET", "/api/v1/lessons?lang=ja", "", "list ja", http.StatusOK},
		{"GET", "/api/v1/lessons/decides?lang=en", "", "get decides en", http.StatusOK},
		{"POST", "/api/v1/lessons/decides/steps/pending", "", "do decides pending", http.StatusNoContent},
		{"POST", "/api/v1/lessons/decides/checks/where?lang=ja", `{"answer":4}`, "grade decides where ja 4", http.StatusOK},
		{"POST", "/api/v1/lessons/decides/checks/all-three", `{}`, "grade decides all-three  <nil>", http.StatusOK},
		{"POST", "/api/v1/exercises", `{"plugin":"NodePorts","level":2,"seed":7}`, "exercise {Plugin:NodePorts Level:2 Seed:7}", http.StatusOK},
		{"POST", "/api/v1/exercises/grade", `{"plugin":"NodePorts","level":2,"seed":7,"crossedOut":["a"],"picked":"b"}`, "grade exercise {Plugin:NodePorts Level:2 Seed:7} {CrossedOut:[a] Picked:b}", http.StatusOK},
	} {
		t.Run(c.method+" "+c.path, func(t *testing.T) {
			f := &fakeLessons{}
			h := serve(t, Options{})
			h.attach(nil, nil, func(b *Backend) { b.Lessons = f })
			a := h.do(c.method, c.path, c.body)
			want(t, "code", a.StatusCode, c.code)
			want(t, "asked", f.asked, []string{c.asked})
		})
	}
}

func TestALessonIsHandedOnAsAFile(t *testing.T) {
	f := &fakeLessons{}
	h := serve(t, Options{Assets: builtReport})
	h.attach(nil, nil, func(b *Backend) { b.Lessons = f })
	want(t, "as JSON", strings.Contains(h.get("/api/v1/lessons/filters/result?lang=ja").body, `"title":"Filters"`), true)
	file := h.get("/api/v1/lessons/filters/result?lang=ja&format=html")
	want(t, "as a file", file.StatusCode, http.StatusOK)
	want(t, "its name", file.Header.Get("Content-Disposition"), "inline; filename=lesson-filters.html")
	want(t, "asked", f.asked, []string{"result of filters in ja", "result of filters in ja"})
	f.err = &lesson.ElsewhereError{Lesson: "filters"}
	want(t, "elsewhere", h.get("/api/v1/lessons/filters/result").StatusCode, http.StatusConflict)
}

func TestAnExerciseIsHandedOnAsAFile(t *testing.T) {
	f := &fakeLessons{}
	h := serve(t, Options{Assets: builtReport})
	h.attach(nil, nil, func(b *Backend) { b.Lessons = f })
	path := "/api/v1/exercises/result?plugin=NodePorts&level=2&seed=7&crossedOut=a&crossedOut=b&picked=c"
	want(t, "as JSON", strings.Contains(h.get(path).body, `"exercise":{"plugin":"NodePorts","level":2,"seed":7}`), true)
	file := h.get(path + "&format=html")
	want(t, "as a file", file.StatusCode, http.StatusOK)
	want(t, "its name", file.Header.Get("Content-Disposition"), "inline; filename=exercise-NodePorts-2-7.html")
	asked := "grade exercise {Plugin:NodePorts Level:2 Seed:7} {CrossedOut:[a b] Picked:c}"
	want(t, "asked", f.asked, []string{asked, asked})
	want(t, "without a level", h.get("/api/v1/exercises/result?plugin=NodePorts&seed=7").StatusCode, http.StatusBadRequest)
}

// The server picks what the client leaves open, and says what it has picked.
func TestTheServerPicksAnExercise(t *testing.T) {
	f := &fakeLessons{}
	h := serve(t, Options{})
	h.attach(nil, nil, func(b *Backend) { b.Lessons = f })
	var x lesson.Exercise
	if err := json.Unmarshal([]byte(h.do("POST", "/api/v1/exercises", `{"level":1}`).body), &x); err != nil {
		t.Fatal(err)
	}
	if err := x.Check(); err != nil {
		t.Error(err)
	}
}

// The grade of a prediction has the decision, explained as a result is.
func TestAGradeHasTheDecision(t *testing.T) {
	h := serve(t, Options{})
	h.attach(nil, nil, func(b *Backend) { b.Lessons = &fakeLessons{} })
	var got struct {
		Misconceptions []string
		Verdict        struct {
			SelectedNode string
			Explanation  json.RawMessage
		}
	}
	a := h.do("POST", "/api/v1/exercises/grade", `{"plugin":"NodePorts","level":1,"seed":1,"crossedOut":[],"picked":""}`)
	if err := json.Unmarshal([]byte(a.body), &got); err != nil {
		t.Fatal(err)
	}
	if got.Verdict.SelectedNode != "a" || got.Verdict.Explanation == nil || len(got.Misconceptions) != 1 {
		t.Errorf("%s", a.body)
	}
}

func TestLessonsThatFail(t *testing.T) {
	for _, c := range []struct {
		err  error
		code int
	}{
		{&lesson.MissingError{Message: "there is no lesson"}, http.StatusNotFound},
		{&lesson.ElsewhereError{Lesson: "decides"}, http.StatusConflict},
		{&lesson.PlayError{Err: errors.New("it exists")}, http.StatusConflict},
		{&whatif.NotFoundError{}, http.StatusConflict},
		{&lesson.AnswerError{Message: "want a number"}, http.StatusBadRequest},
		{whatif.ErrBusy, http.StatusServiceUnavailable},
		{errors.New("else"), http.StatusInternalServerError},
	} {
		h := serve(t, Options{})
		h.attach(nil, nil, func(b *Backend) { b.Lessons = &fakeLessons{err: c.err} })
		a := h.do("POST", "/api/v1/lessons/decides/checks/where", `{"answer":"x"}`)
		want(t, c.err.Error(), a.StatusCode, c.code)
	}
	h := serve(t, Options{})
	h.attach(nil, nil, func(b *Backend) {
		b.Lessons = &fakeLessons{err: &lesson.KeyError{Field: "level", Message: "want 1 to 3"}}
	})
	want(t, "a wrong key", h.do("POST", "/api/v1/exercises", `{"level":9}`).StatusCode, http.StatusBadRequest)
	want(t, "an unknown field", h.do("POST", "/api/v1/exercises", `{"levle":1}`).StatusCode, http.StatusBadRequest)
	h = serve(t, Options{})
	h.attach(nil, nil)
	want(t, "none", h.do("GET", "/api/v1/lessons", "").StatusCode, http.StatusNotImplemented)
}
