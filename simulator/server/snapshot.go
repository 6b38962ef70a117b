package server

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"os"
	"syscall"

	"github.com/labstack/echo/v4"
	"github.com/munnerz/goautoneg"

	snap "kube-scheduler-simulator/simulator/transfer"
	"kube-scheduler-simulator/simulator/transfer/manifest"
)

// Transfer imports and exports the cluster. Methods are safe for concurrent use.
type Transfer interface {
	// Export writes the cluster to w.
	Export(ctx context.Context, w io.Writer, opts snap.ExportOptions) error
	// Spool returns an empty file for what is sent. Its close removes it.
	Spool() (*os.File, error)
	// Begin begins an import, which closes src when it ends. It is refused with
	// *Busy or *Forbidden, and then src is still open.
	Begin(src manifest.Source, opts snap.ImportOptions) (*snap.Run, error)
	// Latest returns the import that runs or ran last; nil if there was none.
	Latest() *snap.Run
}

const (
	importPath = apiPrefix + "/v1/import"
	// maxImport bounds what is sent to be imported.
	maxImport  = 512 << 20
	mimeNDJSON = "application/x-ndjson"
)

// transfer is a handler that needs the backend's imports and exports.
func (s *Server) transfer(h func(echo.Context, Transfer) error) echo.HandlerFunc {
	return func(c echo.Context) error {
		b, err := s.require()
		if err != nil {
			return err
		}
		if b.Transfer == nil {
			return refuse(http.StatusNotImplemented, "this simulator neither imports nor exports")
		}
		return h(c, b.Transfer)
	}
}

// getExport writes one file that kubectl can apply.
func (s *Server) getExport(c echo.Context, t Transfer) error {
	opts, err := exportOptions(c)
	if err != nil {
		return err
	}
	mimeType := map[snap.Format]string{snap.JSON: echo.MIMEApplicationJSON, snap.YAML: mimeYAML}[opts.Format]
	h := c.Response().Header()
	h.Set("Vary", "Accept")
	h.Set("Content-Type", mimeType)
	h.Set("Content-Disposition", mime.FormatMediaType("attachment", map[string]string{
		"filename": fmt.Sprintf("cluster-%s.%s", s.opts.clock.Now().UTC().Format("20060102-150405"), opts.Format),
	}))
	err = t.Export(c.Request().Context(), c.Response(), opts)
	if err == nil || !c.Response().Committed {
		if err != nil {
			h.Del("Content-Disposition")
		}
		return err
	}
	// It has begun, so only a cut can say that it is not whole.
	s.log.Error(err, "exporting")
	panic(http.ErrAbortHandler)
}

func exportOptions(c echo.Context) (opts snap.ExportOptions, err error) {
	opts.Format = snap.JSON
	if goautoneg.Negotiate(c.Request().Header.Get("Accept"), []string{echo.MIMEApplicationJSON, mimeYAML}) == mimeYAML {
		opts.Format = snap.YAML
	}
	switch format := c.QueryParam("format"); format {
	case "":
	case "json", "yaml":
		opts.Format = snap.Format(format)
	default:
		return opts, badQuery(errorDetail{Field: "format", Message: fmt.Sprintf("want json or yaml, not %q", format)})
	}
	if opts.Results, err = boolParam(c, "results"); err != nil {
		return opts, err
	}
	opts.Redact, err = boolParam(c, "redact")
	return opts, err
}

// postImport keeps what is sent and imports it. It goes on when the client leaves.
func (s *Server) postImport(c echo.Context, t Transfer) error {
	opts, err := importOptions(c)
	if err != nil {
		return err
	}
	if latest := t.Latest(); latest != nil && latest.State() == snap.Running {
		return operationError(&Busy{With: OperationImport})
	}
	src, err := receive(c.Request(), t)
	if err != nil {
		return receiveError(err)
	}
	run, err := t.Begin(src, opts)
	if err != nil {
		_ = src.Close() // files of ours that nobody has read
		return importError(err)
	}
	if goautoneg.Negotiate(c.Request().Header.Get("Accept"), []string{echo.MIMEApplicationJSON, mimeNDJSON}) == mimeNDJSON {
		return s.streamImport(c, run)
	}
	select {
	case <-run.Done():
	case <-c.Request().Context().Done():
		return c.Request().Context().Err()
	}
	report, err := run.Result()
	if err != nil {
		return importError(err)
	}
	return c.JSON(http.StatusOK, report)
}

func importOptions(c echo.Context) (snap.ImportOptions, error) {
	opts := snap.ImportOptions{Mode: snap.Mode(c.QueryParam("mode"))}
	switch opts.Mode {
	case "":
		opts.Mode = snap.Merge
	case snap.Merge, snap.Replace:
	default:
		return opts, badQuery(errorDetail{Field: "mode", Message: fmt.Sprintf("want %s or %s, not %q", snap.Merge, snap.Replace, opts.Mode)})
	}
	var err error
	opts.Reschedule, err = boolParam(c, "reschedule")
	return opts, err
}

// importLine is a line of a streamed import.
type importLine struct {
	Progress *snap.Progress `json:"progress,omitempty"`
	Report   *snap.Report   `json:"report,omitempty"`
	Error    *apiError      `json:"error,omitempty"`
}

// streamImport writes the import's progress as it comes, and its end.
func (s *Server) streamImport(c echo.Context, run *snap.Run) error {
	c.Response().Header().Set("Content-Type", mimeNDJSON)
	c.Response().WriteHeader(http.StatusOK)
	lines := json.NewEncoder(c.Response())
	write := func(l importLine) error {
		if err := lines.Encode(l); err != nil {
			return err
		}
		c.Response().Flush()
		return nil
	}
	for {
		progress, changed := run.Progress()
		if err := write(importLine{Progress: &progress}); err != nil {
			return err
		}
		select {
		case <-run.Done():
			report, err := run.Result()
			if err == nil {
				return write(importLine{Report: report})
			}
			return write(importLine{Error: importFailure(err, c)})
		case <-changed:
		case <-c.Request().Context().Done():
			return c.Request().Context().Err()
		}
	}
}

func importFailure(err error, c echo.Context) *apiError {
	failure := apiErrorOf(importError(err), c)
	if failure.Details == nil {
		failure.Details = []errorDetail{}
	}
	return failure
}

// importState says what the latest import is doing, or has done.
type importState struct {
	// State is none when nothing was imported since the start.
	State    snap.State    `json:"state"`
	Progress snap.Progress `json:"progress"`
	// Report is there when the import has ended, also early.
	Report *snap.Report `json:"report,omitempty"`
	Error  *apiError    `json:"error,omitempty"`
}

const noImport snap.State = "none"

func (s *Server) getImport(c echo.Context, t Transfer) error {
	run := t.Latest()
	if run == nil {
		return c.JSON(http.StatusOK, importState{State: noImport, Progress: snap.Progress{Phase: snap.Reading}})
	}
	state := importState{State: run.State()}
	state.Progress, _ = run.Progress()
	report, err := run.Result()
	state.Report = report
	if err != nil {
		state.Error = importFailure(err, c)
	}
	return c.JSON(http.StatusOK, state)
}

func (s *Server) deleteImport(c echo.Context, t Transfer) error {
	run := t.Latest()
	if run == nil || !run.Cancel() {
		return refuse(http.StatusNotFound, "no import is under way")
	}
	return c.NoContent(http.StatusNoContent)
}

// importError translates what an import ends with.
func importError(err error) error {
	if unreadable, ok := errors.AsType[*snap.InputError](err); ok {
		answer := refuse(http.StatusBadRequest, "%s", unreadable.Message)
		for _, i := range unreadable.Items {
			answer.Details = append(answer.Details, errorDetail{Field: i.Source, Message: i.Message})
		}
		return answer
	}
	switch {
	case errors.Is(err, snap.ErrNotOurs):
		return refuse(http.StatusForbidden, "%v", err)
	case errors.Is(err, context.Canceled):
		return refuse(http.StatusConflict, "the import was cancelled; what had gone in until then stays")
	}
	return operationError(err)
}

// receive keeps the body, or the files of a form, in files of its own.
func receive(r *http.Request, t Transfer) (_ manifest.Source, err error) {
	var files spooled
	defer func() {
		if err != nil {
			_ = files.Close() // nobody has read them
		}
	}()
	mediaType, params, _ := mime.ParseMediaType(r.Header.Get("Content-Type"))
	if mediaType != "multipart/form-data" {
		if err := files.add(t, "", r.Body); err != nil {
			return manifest.Source{}, err
		}
		return files.source(), nil
	}
	if params["boundary"] == "" {
		return manifest.Source{}, refuse(http.StatusBadRequest, "the form has no boundary in its Content-Type")
	}
	form, err := r.MultipartReader()
	if err != nil {
		return manifest.Source{}, err
	}
	for {
		part, err := form.NextPart()
		if errors.Is(err, io.EOF) {
			return files.source(), nil
		}
		if err != nil {
			return manifest.Source{}, formError(err)
		}
		if part.FileName() == "" {
			continue
		}
		if len(files.files) == maxFormFiles {
			return manifest.Source{}, refuse(http.StatusBadRequest, "the form has more than %d files; send an archive of them", maxFormFiles)
		}
		if err := files.add(t, part.FileName(), part); err != nil {
			return manifest.Source{}, err
		}
	}
}

// maxFormFiles bounds the files that are open at once.
const maxFormFiles = 1000

func formError(err error) error {
	if _, large := errors.AsType[*http.MaxBytesError](err); large {
		return err
	}
	return refuse(http.StatusBadRequest, "the form cannot be read: %v", err)
}

// spooled are files that were sent.
type spooled struct {
	files []*os.File
	parts []manifest.Part
}

func (f *spooled) add(t Transfer, name string, content io.Reader) error {
	file, err := t.Spool()
	if err != nil {
		return err
	}
	f.files = append(f.files, file)
	size, err := io.Copy(file, content)
	if err != nil {
		return fmt.Errorf("keeping what is imported: %w", err)
	}
	f.parts = append(f.parts, manifest.Part{Name: name, Content: file, Size: size})
	return nil
}

func (f *spooled) source() manifest.Source {
	return manifest.NewClosingSource(f.Close, f.parts...)
}

// Close closes the files.
func (f *spooled) Close() error {
	var errs []error
	for _, file := range f.files {
		errs = append(errs, file.Close())
	}
	return errors.Join(errs...)
}

func receiveError(err error) error {
	if errors.Is(err, syscall.ENOSPC) {
		return refuse(http.StatusInsufficientStorage, "the disk that holds the data directory is full: what was sent could not be kept")
	}
	return err
}
