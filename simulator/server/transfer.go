package server

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"syscall"

	"github.com/labstack/echo/v4"
	"github.com/munnerz/goautoneg"

	"kube-scheduler-simulator/scheduler/config"
	"kube-scheduler-simulator/simulator/elsewhere/transfer"
	"kube-scheduler-simulator/simulator/elsewhere/transfer/manifest"
	"kube-scheduler-simulator/simulator/host/datadir"
	"kube-scheduler-simulator/simulator/host/operation"
	"kube-scheduler-simulator/simulator/past/timeline"
	"kube-scheduler-simulator/simulator/scenarios/draft"
)

// Transfer imports and exports the cluster. Methods are safe for concurrent use.
type Transfer interface {
	Export(ctx context.Context, w io.Writer, opts transfer.ExportOptions) error
	// Spool returns an empty file for an upload. Closing the file removes it. Writing fails with
	// datadir.ErrDiskFull before the disk is full.
	Spool() (Spool, error)
	// Begin starts an import, which closes src when it ends. If Begin fails, with *operation.Busy
	// or *Forbidden for example, src is still open.
	Begin(src manifest.Source, opts transfer.ImportOptions) (*transfer.Run, error)
	// Latest returns the current or last import; nil if there was none.
	Latest() *transfer.Run
}

// Spool is a file for data that is too large for memory. Nobody writes while somebody reads.
type Spool interface {
	io.Writer
	io.ReaderAt
	io.Closer
}

const (
	importPath = apiPrefix + "/v1/import"
	// maxImport bounds an upload, in bytes.
	maxImport  = 512 << 20
	mimeNDJSON = "application/x-ndjson"
)

func (s *Server) transfer(h func(echo.Context, Transfer) error) echo.HandlerFunc {
	part := func(b *attached) Transfer { return b.Transfer }
	return handle(s, part, "this simulator cannot import or export", h)
}

// getExport writes one file that kubectl can apply.
func (s *Server) getExport(c echo.Context, t Transfer) error {
	opts, err := exportOptions(c)
	if err != nil {
		return err
	}
	c.Response().Header().Set("Vary", "Accept")
	return s.export(c, exportedFile{
		mimeType: map[transfer.Format]string{transfer.JSON: echo.MIMEApplicationJSON, transfer.YAML: mimeYAML}[opts.Format],
		name:     fmt.Sprintf("cluster-%s.%s", s.opts.clock.Now().UTC().Format("20060102-150405"), opts.Format),
		write:    func(ctx context.Context, w io.Writer) error { return t.Export(ctx, w, opts) },
	})
}

// getClusterScenario answers with a scenario that begins with the cluster as it is.
func (s *Server) getClusterScenario(c echo.Context, t Transfer) error {
	return s.export(c, draftFile("my-cluster", func(ctx context.Context) ([]byte, error) {
		now := s.opts.clock.Now()
		exported := draft.Export{}
		if err := t.Export(ctx, &exported, transfer.ExportOptions{Format: transfer.JSON}); err != nil {
			return nil, err
		}
		return draft.Cluster(exported.Bytes(), now)
	}))
}

// exportedFile is an answer that a browser stores as a file.
type exportedFile struct {
	mimeType, name string
	write          func(ctx context.Context, w io.Writer) error
}

// export bounds how many exports run at a time.
func (s *Server) export(c echo.Context, file exportedFile) error {
	end, err := s.beginExport(c.Request().Context())
	if err != nil {
		return err
	}
	defer end()
	h := c.Response().Header()
	h.Set("Content-Type", file.mimeType)
	h.Set("Content-Disposition", mime.FormatMediaType("attachment", map[string]string{"filename": file.name}))
	err = file.write(c.Request().Context(), c.Response())
	if err == nil || !c.Response().Committed {
		if err != nil {
			h.Del("Content-Disposition")
		}
		return err
	}
	// The answer has started, so only a broken connection can tell the client that it is
	// incomplete.
	s.log.Error(err, "Cannot complete an export", "file", file.name)
	panic(http.ErrAbortHandler)
}

func exportOptions(c echo.Context) (opts transfer.ExportOptions, err error) {
	opts.Format = transfer.JSON
	if goautoneg.Negotiate(c.Request().Header.Get("Accept"), []string{echo.MIMEApplicationJSON, mimeYAML}) == mimeYAML {
		opts.Format = transfer.YAML
	}
	switch format := c.QueryParam("format"); format {
	case "":
	case "json", "yaml":
		opts.Format = transfer.Format(format)
	default:
		return opts, badQuery(config.Mistake{Field: "format", Message: fmt.Sprintf("want json or yaml, not %q", format)})
	}
	if opts.Results, err = boolParam(c, "results"); err != nil {
		return opts, err
	}
	opts.Redact, err = boolParam(c, "redact")
	return opts, err
}

// postImport stores the upload and imports it. The import continues if the client disconnects.
func (s *Server) postImport(c echo.Context, t Transfer) error {
	opts, err := importOptions(c)
	if err != nil {
		return err
	}
	if latest := t.Latest(); latest != nil && latest.State() == transfer.Running {
		return operationError(&operation.Busy{With: operation.Import})
	}
	end, err := s.beginUpload()
	if err != nil {
		return err
	}
	src, err := receive(c.Request(), t)
	end()
	if err != nil {
		return receiveError(err)
	}
	if err := c.Request().Context().Err(); err != nil {
		return errors.Join(err, src.Close())
	}
	run, err := t.Begin(src, opts)
	if err != nil {
		_ = src.Close() // the import did not start, so nothing else closes it
		return importError(err)
	}
	return s.answerImport(c, run)
}

// answerImport answers with the report, or with lines of progress.
func (s *Server) answerImport(c echo.Context, run *transfer.Run) error {
	if goautoneg.Negotiate(c.Request().Header.Get("Accept"), []string{echo.MIMEApplicationJSON, mimeNDJSON}) == mimeNDJSON {
		return s.streamImport(c, run)
	}
	select {
	case <-run.Done():
	case <-c.Request().Context().Done():
		return c.Request().Context().Err()
	}
	report, err := run.Result()
	return answerJSON(c, report, importError(err))
}

func importOptions(c echo.Context) (transfer.ImportOptions, error) {
	opts := transfer.ImportOptions{Mode: transfer.Mode(c.QueryParam("mode")), By: timeline.Program(c.Request().UserAgent())}
	switch opts.Mode {
	case "":
		opts.Mode = transfer.Merge
	case transfer.Merge, transfer.Replace:
	default:
		return opts, badQuery(config.Mistake{Field: "mode", Message: fmt.Sprintf("want %s or %s, not %q", transfer.Merge, transfer.Replace, opts.Mode)})
	}
	var err error
	opts.Reschedule, err = boolParam(c, "reschedule")
	return opts, err
}

type importLine struct {
	Progress *transfer.Progress `json:"progress,omitempty"`
	Report   *transfer.Report   `json:"report,omitempty"`
	Error    *apiError          `json:"error,omitempty"`
}

// streamImport writes the progress of the import, and finally its report or error.
func (s *Server) streamImport(c echo.Context, run *transfer.Run) error {
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
			return write(importLine{Error: apiErrorOf(importError(err), c)})
		case <-changed:
		case <-c.Request().Context().Done():
			return c.Request().Context().Err()
		}
	}
}

type importState struct {
	// State is "none" if there was no import.
	State    transfer.State    `json:"state"`
	Progress transfer.Progress `json:"progress"`
	// Report is set once the import has ended, even early.
	Report *transfer.Report `json:"report,omitempty"`
	Error  *apiError        `json:"error,omitempty"`
}

const noImport transfer.State = "none"

func (s *Server) getImport(c echo.Context, t Transfer) error {
	run := t.Latest()
	if run == nil {
		return c.JSON(http.StatusOK, importState{State: noImport, Progress: transfer.Progress{Phase: transfer.Reading}})
	}
	state := importState{State: run.State()}
	state.Progress, _ = run.Progress()
	report, err := run.Result()
	state.Report = report
	if err != nil {
		state.Error = apiErrorOf(importError(err), c)
	}
	return c.JSON(http.StatusOK, state)
}

func (s *Server) deleteImport(c echo.Context, t Transfer) error {
	run := t.Latest()
	if run == nil || !run.Cancel() {
		return refuse(http.StatusNotFound, "no import is in progress")
	}
	return c.NoContent(http.StatusNoContent)
}

func importError(err error) error {
	if unreadable, ok := errors.AsType[*transfer.InputError](err); ok {
		answer := refuse(http.StatusBadRequest, "%s", unreadable.Message)
		for _, i := range unreadable.Items {
			answer.Details = append(answer.Details, config.Mistake{Field: i.Source, Message: i.Message})
		}
		return answer
	}
	switch {
	case errors.Is(err, transfer.ErrNotOurs):
		return refuse(http.StatusForbidden, "%v", err)
	case errors.Is(err, context.Canceled):
		return refuse(http.StatusConflict, "the import was cancelled; objects imported before that remain")
	}
	return operationError(err)
}

// receive stores the body, or the files of a form, in spool files.
func receive(r *http.Request, t Transfer) (_ manifest.Source, err error) {
	var files spooled
	defer func() {
		if err != nil {
			_ = files.Close() // they were not read
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
		return manifest.Source{}, refuse(http.StatusBadRequest, "the Content-Type of the form has no boundary")
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
			return manifest.Source{}, refuse(http.StatusBadRequest, "the form has more than %d files; send them as an archive", maxFormFiles)
		}
		if err := files.add(t, part.FileName(), part); errors.Is(err, io.ErrUnexpectedEOF) {
			return manifest.Source{}, formError(errors.New("it ends within a file"))
		} else if err != nil {
			return manifest.Source{}, err
		}
	}
}

// maxFormFiles bounds the number of files open at once.
const maxFormFiles = 1000

func formError(err error) error {
	_, large := errors.AsType[*http.MaxBytesError](err)
	_, broken := errors.AsType[*brokenBody](err)
	if large || broken {
		return err
	}
	if late, ok := errors.AsType[*apiError](err); ok {
		return late
	}
	return refuse(http.StatusBadRequest, "the form cannot be read: %v", err)
}

type spooled struct {
	files []Spool
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
		return fmt.Errorf("storing the upload: %w", err)
	}
	f.parts = append(f.parts, manifest.Part{Name: name, Content: file, Size: size})
	return nil
}

func (f *spooled) source() manifest.Source {
	return manifest.NewClosingSource(f.Close, f.parts...)
}

func (f *spooled) Close() error {
	var errs []error
	for _, file := range f.files {
		errs = append(errs, file.Close())
	}
	return errors.Join(errs...)
}

func receiveError(err error) error {
	if errors.Is(err, datadir.ErrDiskFull) || errors.Is(err, syscall.ENOSPC) {
		return refuse(http.StatusInsufficientStorage, "%v", datadir.ErrDiskFull)
	}
	return err
}
