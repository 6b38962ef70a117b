package server

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httputil"
	"strings"
	"sync/atomic"

	"github.com/labstack/echo/v4"

	"kube-scheduler-simulator/simulator/elsewhere/transfer"
	"kube-scheduler-simulator/simulator/host/connections"
	"kube-scheduler-simulator/simulator/past/branch"
	"kube-scheduler-simulator/simulator/past/clusterdiff"
	"kube-scheduler-simulator/simulator/past/timeline"
)

// Branches are simulators beside this one, below branchesPrefix. Methods are safe for concurrent
// use. Their errors are *branch.Refusal, or *config.Error for an invalid configuration.
type Branches interface {
	List() []branch.Branch
	Get(name string) (branch.Branch, error)
	// Create and Start return while the branch is starting.
	Create(ctx context.Context, q branch.Request) (branch.Branch, error)
	Start(name string) (branch.Branch, error)
	StopBranch(name string) (branch.Branch, error)
	Retitle(name, title string) (branch.Branch, error)
	// WriteState writes the state of a running branch as it is, in the format of an export.
	WriteState(ctx context.Context, name string, w io.Writer) error
	// Use says that a client's request to a branch begins; end, that it was answered.
	Use(name string) (end func())
	// Rename restarts a branch that runs.
	Rename(name, to string) (branch.Branch, error)
	Delete(name string) error
	// Compare compares two running simulators; an empty name is this one.
	Compare(ctx context.Context, a, b string) (*clusterdiff.Comparison, error)
	// Target returns where a branch answers.
	Target(name string) (branch.Target, error)
}

const (
	branchesPrefix = "/branches"
	branchPath     = apiPrefix + "/v1/branch"
)

// splitBranch cuts a path below /branches/NAME/ into the name and the path that the branch itself
// knows. For other paths name is empty, and rest is the path.
func splitBranch(path string) (name, rest string) {
	after, ok := strings.CutPrefix(path, branchesPrefix+"/")
	if !ok {
		return "", path
	}
	name, rest, ok = strings.Cut(after, "/")
	if !ok || name == "" {
		return "", path
	}
	return name, "/" + rest
}

// localPath returns the path as the simulator that answers knows it: this one, or a branch.
func localPath(r *http.Request) string {
	_, rest := splitBranch(r.URL.Path)
	return rest
}

func (s *Server) branches(h func(echo.Context, Branches) error) echo.HandlerFunc {
	part := func(b *attached) Branches { return b.Branches }
	return handle(s, part, "a branch has no branches of its own: ask the simulator that it belongs to", func(c echo.Context, part Branches) error {
		return branchError(h(c, part))
	})
}

func (s *Server) listBranches(c echo.Context, b Branches) error {
	return answerList(c, b.List(), nil)
}

func (s *Server) postBranch(c echo.Context, b Branches) error {
	var q branch.Request
	if err := s.readStrictly(c, &q); err != nil {
		return err
	}
	created, err := b.Create(c.Request().Context(), q)
	if err != nil {
		return err
	}
	c.Response().Header().Set(echo.HeaderLocation, created.Path)
	return c.JSON(http.StatusCreated, created)
}

func (s *Server) startBranch(c echo.Context, b Branches) error {
	started, err := b.Start(c.Param("name"))
	return answerJSON(c, started, err)
}

func (s *Server) stopBranch(c echo.Context, b Branches) error {
	stopped, err := b.StopBranch(c.Param("name"))
	return answerJSON(c, stopped, err)
}

type branchChange struct {
	Name  *string `json:"name"`
	Title *string `json:"title"`
}

func (s *Server) patchBranch(c echo.Context, b Branches) error {
	var change branchChange
	if err := s.readStrictly(c, &change); err != nil {
		return err
	}
	name := c.Param("name")
	var changed branch.Branch
	err := error(refuse(http.StatusBadRequest, "want a name or a title"))
	if change.Title != nil {
		changed, err = b.Retitle(name, *change.Title)
	}
	if change.Name != nil && (err == nil || change.Title == nil) {
		changed, err = b.Rename(name, *change.Name)
	}
	return answerJSON(c, changed, err)
}

type promotion struct {
	// Title of the branch that keeps what the trunk has now.
	Title string `json:"title"`
}

// promoteBranch makes the state of a branch that of this simulator: objects, where pods run, and
// the scheduler's configuration. A new branch keeps what the simulator had. It answers as an import
// does, which is what happens.
func (s *Server) promoteBranch(c echo.Context, b Branches) error {
	var q promotion
	if err := s.readStrictly(c, &q); err != nil {
		return err
	}
	return s.transfer(func(c echo.Context, t Transfer) error {
		ctx := c.Request().Context()
		r, w := io.Pipe()
		go func() { w.CloseWithError(b.WriteState(ctx, c.Param("name"), w)) }()
		var files spooled
		err := files.add(t, "", r)
		_ = r.Close() // which ends the writing
		var before branch.Branch
		if err == nil {
			before, err = b.Create(ctx, branch.Request{Title: q.Title, Asleep: true})
		}
		if err != nil {
			return errors.Join(err, files.Close())
		}
		run, err := t.Begin(files.source(), transfer.ImportOptions{Mode: transfer.Replace, By: timeline.Program(c.Request().UserAgent())})
		if err != nil {
			return errors.Join(importError(err), files.Close(), b.Delete(before.Name))
		}
		return s.answerImport(c, run)
	})(c)
}

func (s *Server) deleteBranch(c echo.Context, b Branches) error {
	return answerNothing(c, b.Delete(c.Param("name")))
}

func (s *Server) compareBranches(c echo.Context, b Branches) error {
	return s.answering(c, func(ctx context.Context) (any, error) {
		compared, err := b.Compare(ctx, c.QueryParam("a"), c.QueryParam("b"))
		return compared, branchError(err)
	})
}

// getOwnBranch answers on the trunk, and in a branch that a client asks directly. The trunk answers
// for its branches.
func (s *Server) getOwnBranch(echo.Context) error {
	return refuse(http.StatusNotFound, "this is not a branch")
}

type ownBranch struct {
	branch.Branch
	Trunk string `json:"trunk"`
}

func branchError(err error) error {
	refusal, ok := errors.AsType[*branch.Refusal](err)
	if !ok {
		return configurationError(err)
	}
	codes := map[branch.Reason]int{
		branch.Invalid: http.StatusBadRequest, branch.Unknown: http.StatusNotFound, branch.Taken: http.StatusConflict,
		branch.TooMany: http.StatusTooManyRequests, branch.NoRoom: http.StatusInsufficientStorage, branch.NotNow: http.StatusConflict,
	}
	return refuse(codes[refusal.Reason], "%s", refusal.Message)
}

// toBranch answers everything below /branches/NAME/: it serves the page itself, and passes the rest
// to the branch. This server has checked its access rules; the branch only answers this server,
// which knows its token.
func (s *Server) toBranch(c echo.Context) error {
	switch r := c.Request(); {
	case isPage(r.URL.Path) && r.Method == http.MethodGet:
		return s.getPage(c)
	case isPage(r.URL.Path):
		return echo.ErrMethodNotAllowed
	}
	return s.branches(s.forwardToBranch)(c)
}

func (s *Server) forwardToBranch(c echo.Context, b Branches) error {
	r := c.Request()
	name, rest := splitBranch(r.URL.Path)
	defer b.Use(name)()
	if rest == branchPath && r.Method == http.MethodGet {
		own, err := b.Get(name)
		return answerJSON(c, ownBranch{own, "/"}, err)
	}
	to, err := b.Target(name)
	if refusal, ok := errors.AsType[*branch.Refusal](err); ok && refusal.Reason == branch.NotNow {
		return refuse(http.StatusServiceUnavailable, "%s", refusal.Message).retry(1)
	}
	if err != nil {
		return err
	}
	if isStream(r.Header.Get("Upgrade")) {
		return s.streamBranch(c, name, rest, to)
	}
	r.Header.Del("Upgrade")
	s.branchProxy.serve(c, s.closing, name, to)
	return nil
}

// streamBranch connects a client's WebSocket with the branch. It bounds their number, and they end
// when this server stops.
func (s *Server) streamBranch(c echo.Context, name, rest string, to branch.Target) error {
	if rest != watchPath {
		return refuse(http.StatusNotImplemented, "the proxy does not support exec, attach and port-forward; use the kubeconfig")
	}
	if s.branchProxy.streams.Add(1) > int64(connections.Limit()/4) {
		s.branchProxy.streams.Add(-1)
		return refuse(http.StatusServiceUnavailable, "too many clients watch branches").retry(5)
	}
	defer s.branchProxy.streams.Add(-1)
	s.streaming.Add(1)
	defer s.streaming.Done()
	c.Request().Body = http.NoBody
	s.branchProxy.serve(c, s.closing, name, to)
	return nil
}

// isBranchStream reports whether a request is to become a branch's WebSocket, to which no deadlines
// apply.
func isBranchStream(r *http.Request) bool {
	name, rest := splitBranch(r.URL.Path)
	return name != "" && rest == watchPath && r.Method == http.MethodGet && isStream(r.Header.Get("Upgrade"))
}

type branchProxy struct {
	transport *http.Transport
	streams   atomic.Int64
}

func newBranchProxy() *branchProxy {
	// A branch answers from this machine. The client itself decides about compression.
	return &branchProxy{transport: &http.Transport{DisableCompression: true, MaxIdleConnsPerHost: 16}}
}

// A branch sets its own policyHeader: it is the same program, and knows better what it answers
// with.
const policyHeader = "Content-Security-Policy"

func (p *branchProxy) serve(c echo.Context, closing context.Context, name string, to branch.Target) {
	w := c.Response()
	prefix := branchesPrefix + "/" + name
	proxy := httputil.ReverseProxy{
		Transport:     p.transport,
		FlushInterval: -1,
		Rewrite: func(r *httputil.ProxyRequest) {
			r.Out.URL.Path = strings.TrimPrefix(r.Out.URL.Path, prefix)
			r.Out.URL.RawPath = strings.TrimPrefix(r.Out.URL.RawPath, prefix)
			r.SetURL(to.URL)
			dropIdentity(r.Out.Header)
			r.Out.Header.Del("Sec-Fetch-Site")
			r.Out.Header.Set("Authorization", "Bearer "+to.Token)
		},
		ModifyResponse: func(r *http.Response) error {
			if r.StatusCode == http.StatusSwitchingProtocols {
				return nil
			}
			for header := range r.Header {
				if header == policyHeader || passedHeaders[header] {
					w.Header().Del(header) // else the client would get both
				} else {
					delete(r.Header, header)
				}
			}
			return nil
		},
		ErrorHandler: answerProxyError("the branch " + name + " does not answer"),
	}
	r, release := untilClosing(c.Request(), closing)
	defer release()
	proxy.ServeHTTP(w, r)
}
