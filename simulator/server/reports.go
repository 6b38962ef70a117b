package server

import (
	"errors"
	"mime"
	"net/http"

	"github.com/labstack/echo/v4"

	"kube-scheduler-simulator/scheduler/config"
	"kube-scheduler-simulator/simulator/elsewhere/redact"
	"kube-scheduler-simulator/simulator/htmlreport"
)

func (b *Backend) redactor() *redact.Redactor {
	if b.Redactor != nil {
		return b.Redactor
	}
	return redact.New(nil)
}

// answerReport answers with a file that opens without a server.
func (s *Server) answerReport(c echo.Context, r htmlreport.Report, name string) error {
	r.Exported = s.opts.clock.Now()
	file, policy, err := htmlreport.HTML(s.opts.Assets, r)
	if errors.Is(err, htmlreport.ErrNotBuilt) {
		return refuse(http.StatusNotImplemented, "%s", err)
	}
	if err != nil {
		return err
	}
	h := c.Response().Header()
	// A browser that opens the address sees the file as another origin, which may call nothing.
	h.Set("Content-Security-Policy", "sandbox allow-scripts allow-downloads; "+policy)
	h.Set("Content-Disposition", mime.FormatMediaType("inline", map[string]string{"filename": name + ".html"}))
	return c.HTMLBlob(http.StatusOK, file)
}

// asReport reports whether the client wants a file rather than JSON. Only decisions can be
// redacted: authors wrote the texts of scenarios and lessons.
func asReport(c echo.Context) (bool, error) {
	if c.QueryParam("redact") != "" {
		return false, badQuery(config.Mistake{Field: "redact", Message: "only decisions are redacted: redact the cluster before its export instead"})
	}
	switch c.QueryParam("format") {
	case "", "json":
		return false, nil
	case "html":
		return true, nil
	}
	return false, badQuery(config.Mistake{Field: "format", Message: "want json or html"})
}
