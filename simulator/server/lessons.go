package server

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"

	"github.com/labstack/echo/v4"

	"kube-scheduler-simulator/scheduler/config"
	"kube-scheduler-simulator/scheduler/explain"
	"kube-scheduler-simulator/scheduler/whatif"
	"kube-scheduler-simulator/simulator/htmlreport"
	"kube-scheduler-simulator/simulator/lesson"
)

// Lessons are what Learn offers. Methods are safe for concurrent use. Their errors are those of
// package lesson and of the engine.
type Lessons interface {
	List(language string) ([]lesson.Summary, error)
	Get(id, language string) (lesson.View, error)
	// Do presses the button of a step, on this simulator's cluster.
	Do(ctx context.Context, id, step string) error
	// Grade grades an answer, a JSON value, on this simulator's cluster.
	Grade(ctx context.Context, id, check, language string, answer any) (*lesson.Grade, error)
	// Result returns the outcome of the checks of this simulator's lesson.
	Result(ctx context.Context, id, language string) (*lesson.Result, error)
	Exercise(ctx context.Context, k lesson.ExerciseKey) (*lesson.Exercise, error)
	GradeExercise(ctx context.Context, k lesson.ExerciseKey, p lesson.Prediction) (*lesson.Grade, error)
}

func (s *Server) lessons(h func(echo.Context, Lessons) error) echo.HandlerFunc {
	part := func(b *attached) Lessons { return b.Lessons }
	return handle(s, part, "this simulator has no lessons", h)
}

func (s *Server) listLessons(c echo.Context, l Lessons) error {
	items, err := l.List(c.QueryParam("lang"))
	return answerList(c, items, err)
}

func (s *Server) getLesson(c echo.Context, l Lessons) error {
	v, err := l.Get(c.Param("id"), c.QueryParam("lang"))
	return answerJSON(c, v, refusedLesson(err))
}

func (s *Server) doStep(c echo.Context, l Lessons) error {
	return answerNothing(c, refusedLesson(l.Do(c.Request().Context(), c.Param("id"), c.Param("step"))))
}

type gradedAnswer struct {
	*lesson.Grade
	Verdict *explain.Explained `json:"verdict,omitempty"`
}

func graded(g *lesson.Grade) gradedAnswer {
	out := gradedAnswer{Grade: g}
	if g.Verdict != nil && g.Nodes != nil {
		e := explain.With(g.Verdict)
		out.Verdict = &e
	}
	return out
}

func (s *Server) gradeCheck(c echo.Context, l Lessons) error {
	var q struct {
		Answer any `json:"answer"`
	}
	if err := s.readStrictly(c, &q); err != nil {
		return err
	}
	g, err := l.Grade(c.Request().Context(), c.Param("id"), c.Param("check"), c.QueryParam("lang"), q.Answer)
	if err != nil {
		return refusedLesson(err)
	}
	return c.JSON(http.StatusOK, graded(g))
}

func (s *Server) getLessonResult(c echo.Context, l Lessons) error {
	asFile, err := asReport(c)
	if err != nil {
		return err
	}
	r, err := l.Result(c.Request().Context(), c.Param("id"), c.QueryParam("lang"))
	if err != nil {
		return refusedLesson(err)
	}
	if asFile {
		return s.answerReport(c, htmlreport.Report{Lesson: r}, "lesson-"+r.ID)
	}
	return c.JSON(http.StatusOK, r)
}

type exerciseKinds struct {
	Plugins []string `json:"plugins"`
	Levels  int      `json:"levels"`
}

func (s *Server) listExercises(c echo.Context, _ Lessons) error {
	return c.JSON(http.StatusOK, exerciseKinds{lesson.ExercisePlugins(), lesson.Levels})
}

// maxSeed bounds the seeds that the server picks: people read and type them.
const maxSeed = 9999

func (s *Server) postExercise(c echo.Context, l Lessons) error {
	var k lesson.ExerciseKey
	if err := s.readStrictly(c, &k); err != nil {
		return err
	}
	if k.Seed == 0 {
		k.Seed = 1 + rand.Int64N(maxSeed)
	}
	if k.Plugin == "" {
		plugins := lesson.ExercisePlugins()
		k.Plugin = plugins[rand.IntN(len(plugins))]
	}
	return s.answering(c, func(ctx context.Context) (any, error) {
		x, err := l.Exercise(ctx, k)
		return x, refusedLesson(err)
	})
}

type exercisePrediction struct {
	lesson.ExerciseKey
	lesson.Prediction
}

func (s *Server) gradeExercise(c echo.Context, l Lessons) error {
	var q exercisePrediction
	if err := s.readStrictly(c, &q); err != nil {
		return err
	}
	return s.answering(c, func(ctx context.Context) (any, error) {
		g, err := l.GradeExercise(ctx, q.ExerciseKey, q.Prediction)
		if err != nil {
			return nil, refusedLesson(err)
		}
		return graded(g), nil
	})
}

// getExerciseResult reads the prediction from the query, so that its file has an address.
func (s *Server) getExerciseResult(c echo.Context, l Lessons) error {
	asFile, err := asReport(c)
	if err != nil {
		return err
	}
	k, p := lesson.ExerciseKey{Plugin: c.QueryParam("plugin")}, lesson.Prediction{CrossedOut: c.QueryParams()["crossedOut"], Picked: c.QueryParam("picked")}
	if err := echo.QueryParamsBinder(c).MustInt("level", &k.Level).MustInt64("seed", &k.Seed).BindError(); err != nil {
		return badQuery(config.Mistake{Field: "level, seed", Message: "want numbers"})
	}
	g, err := l.GradeExercise(c.Request().Context(), k, p)
	if err != nil {
		return refusedLesson(err)
	}
	r := k.Result(p, g)
	if asFile {
		return s.answerReport(c, htmlreport.Report{Lesson: r}, fmt.Sprintf("exercise-%s-%d-%d", k.Plugin, k.Level, k.Seed))
	}
	return c.JSON(http.StatusOK, r)
}

// refusedLesson returns nil for nil.
func refusedLesson(err error) error {
	if _, is := errors.AsType[*lesson.MissingError](err); is {
		return refuse(http.StatusNotFound, "%s", err)
	}
	if _, is := errors.AsType[*lesson.ElsewhereError](err); is {
		return refuse(http.StatusConflict, "%s", err)
	}
	if _, is := errors.AsType[*lesson.PlayError](err); is {
		return refuse(http.StatusConflict, "%s", err)
	}
	if _, is := errors.AsType[*whatif.NotFoundError](err); is {
		return refuse(http.StatusConflict, "%s: do the steps before this check first", err)
	}
	if _, is := errors.AsType[*lesson.AnswerError](err); is {
		return refuse(http.StatusBadRequest, "the answer: %s", err)
	}
	if _, is := errors.AsType[*lesson.KeyError](err); is {
		return refuse(http.StatusBadRequest, "%s", err)
	}
	if errors.Is(err, whatif.ErrBusy) {
		return tooManyQuestions()
	}
	return err
}
