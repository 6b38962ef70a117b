package server

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log"
	"net"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/labstack/echo/v4"
	"github.com/prometheus/client_golang/prometheus"
	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/klog/v2"
	"k8s.io/utils/clock"

	"kube-scheduler-simulator/simulator/host/connections"
	"kube-scheduler-simulator/simulator/server/watch"
)

// Options of a Server. With the zero value it serves no page and no metrics, and requires no token.
type Options struct {
	// Every request must carry Token, if set: as a bearer token, or as the cookie that a browser
	// gets by visiting /?token=….
	Token string
	// Assets is the web application. Its index.html also answers the addresses that the application
	// routes itself. The server reads each file once.
	Assets fs.FS
	// Logger receives errors, and more at V(2).
	Logger klog.Logger
	// Version is the version of Kubernetes, such as v1.37.2, and Emulated the minor version that it emulates, such as 1.35; "" for none.
	Version, Emulated string
	// Emulatable are the minor versions that a branch may emulate, the newest first.
	Emulatable []string
	// Gatherer provides the metrics of /metrics. Default: none.
	Gatherer prometheus.Gatherer
	// MaxBody bounds a request body, in bytes. Default 16 MiB.
	MaxBody int64

	// clock dates exported files. Default: the real one. Only tests set it, and the fields below.
	clock clock.PassiveClock
	// The watch hub watches the kinds in keep from the start. Default: nodes and pods, because
	// every page needs them and listing 5,000 nodes takes seconds.
	keep []schema.GroupVersionResource
	// Default: defaultPace.
	pace pace
	// Default: the constant of that name.
	questionTime time.Duration
}

type Server struct {
	opts Options
	log  klog.Logger
	http *http.Server
	echo *echo.Echo
	page *page
	hub  *watch.Hub

	// backend is nil until SetBackend.
	backend atomic.Pointer[attached]
	// access and listener are nil until Serve.
	access   atomic.Pointer[access]
	listener atomic.Pointer[connections.Listener]
	// closing ends the requests that would not end on their own.
	closing context.Context
	close   context.CancelFunc
	// quiet: the server is stopping; see Quiesce.
	quiet    atomic.Bool
	requests requests
	turns    turns
	// streaming counts the WebSockets that branchProxy forwards.
	branchProxy *branchProxy
	streaming   sync.WaitGroup

	statusMu sync.Mutex
	status   Status
}

const defaultMaxBody = 16 << 20

// New returns a server. Serve starts it.
func New(opts Options) *Server {
	if opts.MaxBody == 0 {
		opts.MaxBody = defaultMaxBody
	}
	if opts.Gatherer == nil {
		opts.Gatherer = prometheus.NewRegistry()
	}
	if opts.clock == nil {
		opts.clock = clock.RealClock{}
	}
	if opts.keep == nil {
		opts.keep = []schema.GroupVersionResource{v1.SchemeGroupVersion.WithResource("nodes"), v1.SchemeGroupVersion.WithResource("pods")}
	}
	if opts.pace == (pace{}) {
		opts.pace = defaultPace()
	}
	if opts.questionTime == 0 {
		opts.questionTime = questionTime
	}
	s := &Server{opts: opts, log: opts.Logger.WithName("server"), page: newPage(opts.Assets), turns: newTurns(), branchProxy: newBranchProxy()}
	s.closing, s.close = context.WithCancel(context.Background())
	s.hub = watch.New(watch.Options{
		Logger: s.log, Refuse: refuseUpgrade, Keep: opts.keep,
		// A WebSocket keeps its connection, so some must remain for requests.
		Connections: connections.Limit() / 2,
	})
	s.echo = s.newEcho()
	s.http = &http.Server{
		Handler:           s.track(headAsGet(s.echo)),
		ReadHeaderTimeout: 10 * time.Second,
		IdleTimeout:       2 * time.Minute,
		MaxHeaderBytes:    64 << 10,
		ErrorLog:          log.New(&errorLog{s.log}, "", 0),
		ConnState:         noteState,
		ConnContext: func(ctx context.Context, c net.Conn) context.Context {
			return context.WithValue(ctx, connKey{}, c)
		},
	}
	s.SetStatus(Status{})
	return s
}

// Serve answers requests on l until Shutdown, and then returns nil; otherwise it returns the error
// that stopped it. Call it once. It may be called before SetBackend: the page, health and status
// answer at once.
func (s *Server) Serve(l net.Listener) error {
	a, err := newAccess(l.Addr(), s.opts.Token)
	if err != nil {
		l.Close()
		return err
	}
	s.access.Store(a)
	bounded := connections.Bound(l, connections.Limit(), 0)
	s.listener.Store(bounded)
	s.hub.Start()
	if err := s.http.Serve(bounded); !errors.Is(err, http.ErrServerClosed) {
		return fmt.Errorf("serving on %s: %w", l.Addr(), err)
	}
	return nil
}

// noteState tells a connection whether it waits for its client. Browsers open some connections in
// advance.
func noteState(c net.Conn, state http.ConnState) {
	conn, ok := c.(*connections.Conn)
	if !ok {
		return
	}
	switch state {
	case http.StateNew, http.StateIdle:
		conn.Wait()
	case http.StateActive, http.StateHijacked:
		conn.Work()
	}
}

// Shutdown stops accepting connections, sends WebSocket clients a close frame, ends proxied
// watches, lets other requests finish, and returns when every goroutine of the server has ended. If
// ctx ends first, it closes the connections at once; that is not an error, because clients may be
// as slow as they like.
func (s *Server) Shutdown(ctx context.Context) error {
	s.quiet.Store(true)
	s.close()
	// At the same time, because a connection may be about to become a WebSocket.
	done := make(chan error, 1)
	go func() { done <- s.http.Shutdown(ctx) }()
	if l := s.listener.Load(); l != nil {
		l.CloseWaiting()
	}
	s.hub.Stop(ctx)
	err := <-done
	s.streaming.Wait()
	s.branchProxy.transport.CloseIdleConnections()
	if ctx.Err() != nil {
		s.http.Close()
		return nil
	}
	if err != nil {
		return fmt.Errorf("shutting down: %w", err)
	}
	return nil
}

func (s *Server) newEcho() *echo.Echo {
	e := echo.New()
	e.HideBanner, e.HidePort = true, true
	e.Logger.SetOutput(io.Discard)
	e.HTTPErrorHandler = s.handleError
	e.Pre(s.recoverPanics(), s.setHeaders, s.hangUpOnRefused, s.checkAccess, s.limitBody)
	e.Use(s.compress())
	s.route(e)
	return e
}

// headAsGet answers HEAD like GET; net/http drops the body. The Kubernetes API answers its own HEAD
// requests.
func headAsGet(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodHead && !strings.HasPrefix(localPath(r), proxyPrefix+"/") {
			asGet := *r
			asGet.Method = http.MethodGet
			r = &asGet
		}
		next.ServeHTTP(w, r)
	})
}

type errorLog struct{ log klog.Logger }

func (l *errorLog) Write(p []byte) (int, error) {
	l.log.V(2).Info(strings.TrimSpace(string(p)))
	return len(p), nil
}
