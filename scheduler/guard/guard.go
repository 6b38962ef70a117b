// Package guard keeps a plugin that panics from ending the process. Kubernetes calls plugins on
// goroutines of its own, where only the call itself can recover. A guarded call that panics returns
// what Kubernetes treats as its failure, mostly a status with the code Error that wraps a *Panic;
// see each guard.
//
// A plugin's own goroutines cannot be guarded, except for those of its handle's Parallelizer; see
// Handle. Kubernetes calls the plugin again after a panic. The plugin must keep its locks and state
// consistent.
//
// The package knows nothing of the recorder. It may import the scheduling framework.
package guard

import (
	"bytes"
	"fmt"
	"runtime/debug"

	v1 "k8s.io/api/core/v1"
	fwk "k8s.io/kube-scheduler/framework"
)

// Panic is the error of a call that panicked.
type Panic struct {
	// Plugin is the name of the plugin, or of the extender.
	Plugin string
	// Call is the method, for most extension points that of the same name.
	Call string
	// Value is the panic's value as text, at most maxValue bytes.
	Value string
	// Stack is the panicking goroutine's, at most maxStack bytes, with the function that panicked
	// first.
	Stack string
}

var _ error = (*Panic)(nil)

// Error leaves out the stack, which is too long for the condition of a pod.
func (p *Panic) Error() string {
	return fmt.Sprintf("%s panicked in %s: %s", p.Plugin, p.Call, p.Value)
}

const (
	maxValue = 1 << 10
	maxStack = 8 << 10
)

// Guard guards the calls of one plugin. It is safe for concurrent use.
type Guard struct {
	name   string
	report func(*Panic, *v1.Pod)
}

// New returns a guard for the plugin, or the extender, of that name. report receives each panic, on
// the goroutine of the call, with the call's pod or nil. The queue makes some calls under its lock,
// so report must not call the scheduler.
func New(name string, report func(*Panic, *v1.Pod)) *Guard {
	return &Guard{name: name, report: report}
}

// Status recovers from a panic and sets the status of the call. Defer it.
func (g *Guard) Status(call string, pod *v1.Pod, status **fwk.Status) {
	if value := recover(); value != nil {
		*status = fwk.AsStatus(g.caught(call, pod, value))
		return
	}
	if !(*status).IsSuccess() {
		g.read(call, pod, status)
	}
}

// read recovers from a panic of the status' own error, such as a nil pointer in an interface, which
// would otherwise end the process when Kubernetes writes its message. A rejection may have an
// error, too.
func (g *Guard) read(call string, pod *v1.Pod, status **fwk.Status) {
	defer func() {
		if value := recover(); value != nil {
			*status = fwk.AsStatus(g.caught(call, pod, value))
		}
	}()
	_ = (*status).Reasons()
}

// Err recovers from a panic and sets the error of the call. Defer it.
func (g *Guard) Err(call string, pod *v1.Pod, err *error) {
	if value := recover(); value != nil {
		*err = g.caught(call, pod, value)
	}
}

// swallow recovers from a panic of a call that cannot fail. Defer it.
func (g *Guard) swallow(call string, pod *v1.Pod) {
	if value := recover(); value != nil {
		g.caught(call, pod, value)
	}
}

// caught describes and reports a panic. Call it in the deferred function, before the stack unwinds.
func (g *Guard) caught(call string, pod *v1.Pod, value any) *Panic {
	p := &Panic{Plugin: g.name, Call: call}
	if worker, ok := value.(*workerPanic); ok {
		p.Value, p.Stack = worker.value, worker.stack
	} else {
		p.Value, p.Stack = text(value), stack()
	}
	g.report(p, pod)
	return p
}

// text renders the value of a panic, whose own methods may panic again.
func text(value any) (out string) {
	defer func() {
		if recover() != nil {
			out = fmt.Sprintf("a value of type %T", value)
		}
	}()
	out = fmt.Sprint(value)
	if err, ok := value.(error); ok {
		out = err.Error()
	}
	return out[:min(len(out), maxValue)]
}

// stack returns this goroutine's stack below the frame of the panic.
func stack() string {
	trace := debug.Stack()
	// Frames of deferred functions stand above the panic that they handle.
	if i := bytes.LastIndex(trace, []byte("\npanic(")); i >= 0 {
		trace = trace[i+1:]
		for range 2 { // the frame of the panic has two lines
			if end := bytes.IndexByte(trace, '\n'); end >= 0 {
				trace = trace[end+1:]
			}
		}
	}
	return string(trace[:min(len(trace), maxStack)])
}
