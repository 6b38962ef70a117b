package upstream

import (
	"context"
	"sync/atomic"

	"github.com/go-logr/logr"
	"k8s.io/klog/v2"
)

// discarding is the context of scheduler.New, which also makes parts that we discard: the
// placeholders' frameworks, which must not log that plugins are missing from them, and a debugger
// that would dump New's own queue on a signal, which must end at once.
//
// New makes them in this order, and uses its context for nothing else meanwhile: for each profile
// it calls the placeholder's factory and completes the framework, then it asks each placeholder for
// its events, then it starts the debugger.
type discarding struct {
	context.Context
	muted, debugging atomic.Bool
}

func newDiscarding(ctx context.Context) *discarding {
	d := &discarding{}
	logger := klog.FromContext(ctx)
	if sink := logger.GetSink(); sink != nil {
		if deep, ok := sink.(logr.CallDepthLogSink); ok {
			sink = deep.WithCallDepth(1) // the frame of mutable
		}
		logger = logger.WithSink(&mutable{sink, &d.muted})
	}
	d.Context = klog.NewContext(ctx, logger)
	return d
}

// framework is called while the context serves a placeholder's framework.
func (d *discarding) framework() { d.muted.Store(true) }

// kept is called while New or a real plugin has the context.
func (d *discarding) kept() { d.muted.Store(false) }

// debugger is called when New will use the context only for the debugger.
func (d *discarding) debugger() {
	d.muted.Store(false)
	d.debugging.Store(true)
}

var closed = func() <-chan struct{} {
	c := make(chan struct{})
	close(c)
	return c
}()

func (d *discarding) Done() <-chan struct{} {
	if d.debugging.Load() {
		return closed
	}
	return d.Context.Done()
}

type mutable struct {
	logr.LogSink
	muted *atomic.Bool
}

var _ logr.CallDepthLogSink = (*mutable)(nil)

func (m *mutable) Enabled(level int) bool { return !m.muted.Load() && m.LogSink.Enabled(level) }

func (m *mutable) Error(err error, msg string, keysAndValues ...any) {
	if !m.muted.Load() {
		m.LogSink.Error(err, msg, keysAndValues...)
	}
}

func (m *mutable) Info(level int, msg string, keysAndValues ...any) {
	m.LogSink.Info(level, msg, keysAndValues...)
}

func (m *mutable) WithValues(keysAndValues ...any) logr.LogSink {
	return &mutable{m.LogSink.WithValues(keysAndValues...), m.muted}
}

func (m *mutable) WithName(name string) logr.LogSink {
	return &mutable{m.LogSink.WithName(name), m.muted}
}

func (m *mutable) WithCallDepth(depth int) logr.LogSink {
	if deep, ok := m.LogSink.(logr.CallDepthLogSink); ok {
		return &mutable{deep.WithCallDepth(depth), m.muted}
	}
	return m
}
