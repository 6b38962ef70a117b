package server

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"mime"
	"net/http"
	"strings"

	"github.com/labstack/echo/v4"

	"kube-scheduler-simulator/scheduler/config"
	"kube-scheduler-simulator/scheduler/yamlsource"
)

const (
	// maxBodies bounds the request bodies that are in memory at a time, in bytes, without
	// recordings and imports.
	maxBodies = 64 << 20
	// A body begins with bodyStep of memory, which doubles when it is full.
	bodyStep = 4 << 10
)

// readBody returns the whole body. The caller calls release when it no longer needs it.
func (s *Server) readBody(body io.Reader) (data []byte, release func(), err error) {
	held := int64(0)
	release = func() { s.turns.bodies.Release(held) }
	for {
		if len(data) == cap(data) {
			more := max(bodyStep, int64(cap(data)))
			if !s.turns.bodies.TryAcquire(more) {
				release()
				return nil, nil, refuse(http.StatusServiceUnavailable, "clients are sending more than %d MiB at the same time; try again later", maxBodies>>20).retry(1)
			}
			held += more
			data = append(make([]byte, 0, held), data...)
		}
		n, err := body.Read(data[len(data):cap(data)])
		data = data[:len(data)+n]
		if errors.Is(err, io.EOF) {
			return data, release, nil
		}
		if err != nil {
			release()
			return nil, nil, err
		}
	}
}

var maxValues = yamlsource.Object.Values

// readStrictly decodes the body of a request in JSON or YAML, whatever its Content-Type says. It
// refuses unknown fields, because a misspelt one would silently change the question.
func (s *Server) readStrictly(c echo.Context, into any) error {
	read, err := s.readOptional(c, into)
	if err == nil && !read {
		return refuse(http.StatusBadRequest, "the body is empty")
	}
	return err
}

// readOptional is readStrictly for a request that may have no body. It reports whether there was one.
func (s *Server) readOptional(c echo.Context, into any) (read bool, err error) {
	data, release, err := s.readBody(c.Request().Body)
	if err != nil {
		return false, err
	}
	defer release()
	ctx := c.Request().Context()
	err = s.parse(ctx, func() error {
		document, wrong := yamlsource.ToJSON(ctx, data, yamlsource.Object)
		if wrong != nil {
			return wrongBody(*wrong)
		}
		read = !bytes.Equal(document, []byte("null")) // as which YAML reads nothing
		if !read {
			return nil
		}
		if all := yamlsource.DecodeJSON(ctx, data, document, yamlsource.Object, into); len(all) > 0 {
			return wrongBody(all...)
		}
		return nil
	})
	return read, err
}

func wrongBody(all ...config.Mistake) error {
	code := http.StatusBadRequest
	if all[0].Reason.Exceeds() {
		code = http.StatusRequestEntityTooLarge
	}
	answer := refuse(code, "the request body: %s", yamlsource.Errors(all))
	answer.Details = all
	return answer
}

// buffered gives the backend only complete bodies within the bounds: half a body would occupy one
// of the few requests that the API server answers at a time, and the API server does not bound what
// aliases grow to.
func (s *Server) buffered(r *http.Request) (release func(), err error) {
	if r.Body == nil || r.Body == http.NoBody {
		return func() {}, nil
	}
	data, release, err := s.readBody(r.Body)
	if err != nil {
		return nil, err
	}
	if isText(r) {
		if err := s.parse(r.Context(), func() error { return bounded(r.Context(), data) }); err != nil {
			release()
			return nil, err
		}
	}
	r.Body, r.ContentLength, r.TransferEncoding = io.NopCloser(bytes.NewReader(data)), int64(len(data)), nil
	return release, nil
}

// bounded returns what is wrong with a text that somebody else reads.
func bounded(ctx context.Context, text []byte) error {
	var wrong *yamlsource.Mistake
	if json.Valid(text) {
		wrong = yamlsource.Object.JSON(text)
	} else {
		_, wrong = yamlsource.Documents(ctx, text, yamlsource.Object)
	}
	if wrong != nil {
		return wrongBody(*wrong)
	}
	return nil
}

// isText reports whether the API server may read the body as JSON or YAML, as it does without a
// Content-Type.
func isText(r *http.Request) bool {
	mediaType, _, err := mime.ParseMediaType(r.Header.Get("Content-Type"))
	return err != nil || !strings.HasSuffix(mediaType, "protobuf") && !strings.HasSuffix(mediaType, "cbor")
}
