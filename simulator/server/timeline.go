package server

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"time"

	"github.com/labstack/echo/v4"
	"k8s.io/apimachinery/pkg/types"

	"kube-scheduler-simulator/scheduler/config"
	"kube-scheduler-simulator/simulator/past/timeline"
	"kube-scheduler-simulator/simulator/scenarios/draft"
)

// Timeline is what the simulator recorded of itself, or the loaded recording. Methods are safe for
// concurrent use. For a moment that is not kept they return a *timeline.NotKeptError.
type Timeline interface {
	// Line fails with timeline.ErrQuery if q.Continue does not come from an earlier page.
	Line(ctx context.Context, q timeline.Query) (*timeline.Line, error)
	// Usage has at most q.Buckets samples, and one at each end.
	Usage(ctx context.Context, q timeline.Query) ([]timeline.Usage, error)
	Moment(ctx context.Context, at timeline.At) (*timeline.Moment, error)
	// Export writes the objects of a moment in the format of exports.
	Export(ctx context.Context, w io.Writer, at timeline.At) error
	Difference(ctx context.Context, from, to timeline.At) (*timeline.Difference, error)
	// Decision returns the moment that a scheduling attempt saw. It fails with
	// timeline.ErrUnknownResult.
	Decision(ctx context.Context, a timeline.Attempt) (*timeline.Point, error)
	// Happened tells the steps of users between two moments; zero values are the oldest one and now.
	// It fails with timeline.ErrReplaying, timeline.ErrTooMuch or timeline.ErrQuery.
	Happened(ctx context.Context, from, to timeline.At) (*timeline.Happened, error)
	Undoable(ctx context.Context) (*timeline.Undo, error)
	// Undo takes back the last step if that step has this moment. Otherwise it fails with
	// timeline.ErrStale or timeline.ErrNothingToUndo.
	Undo(ctx context.Context, moment uint64) (*timeline.Undone, error)
}

func (s *Server) timeline(h func(echo.Context, Timeline) error) echo.HandlerFunc {
	part := func(b *attached) Timeline { return b.Timeline }
	return handle(s, part, "this simulator has no time line", func(c echo.Context, part Timeline) error {
		return timelineError(h(c, part))
	})
}

func timelineError(err error) error {
	if missing, ok := errors.AsType[*timeline.NotKeptError](err); ok {
		return refuse(http.StatusNotFound, "%v", missing)
	}
	switch {
	case err == nil:
		return nil
	case errors.Is(err, timeline.ErrUnknownResult):
		return refuse(http.StatusNotFound, "%v", err)
	case errors.Is(err, timeline.ErrStale), errors.Is(err, timeline.ErrNothingToUndo), errors.Is(err, timeline.ErrReplaying):
		return refuse(http.StatusConflict, "%v", err)
	case errors.Is(err, timeline.ErrTooMuch):
		return refuse(http.StatusRequestEntityTooLarge, "%v", err)
	case errors.Is(err, timeline.ErrQuery):
		return refuse(http.StatusBadRequest, "%v", err)
	}
	return operationError(err)
}

func (s *Server) getTimeline(c echo.Context, t Timeline) error {
	q, err := partInQuery(c, timeline.DefaultBuckets, timeline.MaxBuckets)
	if err != nil {
		return err
	}
	line, err := t.Line(c.Request().Context(), q)
	return answerJSON(c, line, err)
}

func (s *Server) getUsage(c echo.Context, t Timeline) error {
	q, err := partInQuery(c, timeline.DefaultSamples, timeline.MaxSamples)
	if err != nil {
		return err
	}
	samples, err := t.Usage(c.Request().Context(), q)
	return answerList(c, samples, err)
}

func partInQuery(c echo.Context, buckets, mostBuckets int) (timeline.Query, error) {
	q := timeline.Query{Buckets: buckets, Limit: timeline.DefaultSteps, Continue: c.QueryParam("continue")}
	var mistakes []config.Mistake
	for name, at := range map[string]*time.Time{"from": &q.From, "to": &q.To} {
		if text := c.QueryParam(name); text != "" {
			parsed, err := time.Parse(time.RFC3339Nano, text)
			if err != nil {
				mistakes = append(mistakes, config.Mistake{Field: name, Message: "want a time like 2006-01-02T15:04:05Z"})
			}
			*at = parsed
		}
	}
	for name, number := range map[string]struct {
		to   *int
		most int
	}{"buckets": {&q.Buckets, mostBuckets}, "limit": {&q.Limit, timeline.MaxSteps}} {
		if text := c.QueryParam(name); text != "" {
			n, err := strconv.Atoi(text)
			if err != nil || n < 1 || n > number.most {
				mistakes = append(mistakes, config.Mistake{Field: name, Message: fmt.Sprintf("want a number from 1 to %d", number.most)})
			}
			*number.to = n
		}
	}
	if len(mistakes) > 0 {
		return timeline.Query{}, badQuery(mistakes...)
	}
	return q, nil
}

// text is a moment's number or a time.
func momentOf(field, text string) (timeline.At, error) {
	if n, err := strconv.ParseUint(text, 10, 64); err == nil && n > 0 {
		return timeline.At{Moment: n}, nil
	}
	if at, err := time.Parse(time.RFC3339Nano, text); err == nil {
		return timeline.At{Time: at}, nil
	}
	return timeline.At{}, badQuery(config.Mistake{Field: field, Message: "want the number of a moment, or a time like 2006-01-02T15:04:05Z"})
}

// momentInPath decodes the colons of a time, which a client may encode: echo does not.
func momentInPath(c echo.Context) (timeline.At, error) {
	text := c.Param("moment")
	if decoded, err := url.PathUnescape(text); err == nil {
		text = decoded
	}
	return momentOf("moment", text)
}

func (s *Server) getMoment(c echo.Context, t Timeline) error {
	at, err := momentInPath(c)
	if err != nil {
		return err
	}
	moment, err := t.Moment(c.Request().Context(), at)
	return answerJSON(c, moment, err)
}

// getMomentObjects answers like an export.
func (s *Server) getMomentObjects(c echo.Context, t Timeline) error {
	at, err := momentInPath(c)
	if err != nil {
		return err
	}
	return s.export(c, exportedFile{
		mimeType: echo.MIMEApplicationJSON, name: "cluster-at-" + c.Param("moment") + ".json",
		write: func(ctx context.Context, w io.Writer) error { return t.Export(ctx, w, at) },
	})
}

// getSteps answers with a scenario of what users did between two moments.
func (s *Server) getSteps(c echo.Context, t Timeline) error {
	var ends [2]timeline.At
	for i, field := range []string{"from", "to"} {
		text := c.QueryParam(field)
		if text == "" {
			continue
		}
		var err error
		if ends[i], err = momentOf(field, text); err != nil {
			return err
		}
	}
	return s.export(c, draftFile("my-steps", func(ctx context.Context) ([]byte, error) {
		happened, err := t.Happened(ctx, ends[0], ends[1])
		if err != nil {
			return nil, err
		}
		return draft.Steps(happened)
	}))
}

// draftFile is an answer with a scenario.
func draftFile(name string, write func(ctx context.Context) ([]byte, error)) exportedFile {
	return exportedFile{mimeType: mimeYAML, name: name + ".yaml", write: func(ctx context.Context, w io.Writer) error {
		text, err := write(ctx)
		if _, large := errors.AsType[*draft.TooLargeError](err); large {
			return refuse(http.StatusRequestEntityTooLarge, "%v", err)
		}
		if err != nil {
			return err
		}
		_, err = w.Write(text)
		return err
	}}
}

func (s *Server) getDifference(c echo.Context, t Timeline) error {
	from, err := momentOf("from", c.QueryParam("from"))
	if err != nil {
		return err
	}
	to, err := momentOf("to", c.QueryParam("to"))
	if err != nil {
		return err
	}
	difference, err := t.Difference(c.Request().Context(), from, to)
	return answerJSON(c, difference, err)
}

func (s *Server) getDecisionMoment(c echo.Context, t Timeline) error {
	number, err := strconv.Atoi(c.Param("attempt"))
	if err != nil || number < 1 {
		return refuse(http.StatusBadRequest, "%q is not the number of an attempt", c.Param("attempt"))
	}
	point, err := t.Decision(c.Request().Context(), timeline.Attempt{UID: types.UID(c.Param("uid")), Number: number})
	return answerJSON(c, point, err)
}

func (s *Server) getUndo(c echo.Context, t Timeline) error {
	undo, err := t.Undoable(c.Request().Context())
	return answerJSON(c, undo, err)
}

type undoRequest struct {
	Moment uint64 `json:"moment"`
}

func (s *Server) postUndo(c echo.Context, t Timeline) error {
	var r undoRequest
	if err := s.readStrictly(c, &r); err != nil {
		return err
	}
	undone, err := t.Undo(c.Request().Context(), r.Moment)
	return answerJSON(c, undone, err)
}
