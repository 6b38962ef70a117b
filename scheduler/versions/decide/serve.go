package decide

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"runtime/debug"

	"github.com/go-logr/logr"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/klog/v2"

	"kube-scheduler-simulator/scheduler/versions/wire"
)

// Serve answers the requests of in on out, until in ends. It returns nil after it has written wire.Done, and the error of wire.Failed. It
// sets the feature gates of the process if the first request says so.
func Serve(in io.Reader, out io.Writer) (err error) {
	// The scheduler asks for the name of a logger once per node and plugin.
	ctx, cancel := context.WithCancel(klog.NewContext(context.Background(), logr.Discard()))
	defer cancel()
	s := &session{ctx: ctx, in: json.NewDecoder(bufio.NewReaderSize(in, 1<<16)), out: bufio.NewWriterSize(out, 1<<16)}
	defer s.out.Flush()
	defer func() {
		if value := recover(); value != nil {
			err = fail(wire.Internal, fmt.Errorf("panic: %v\n%s", value, debug.Stack()))
		}
		failed := (*failure)(nil)
		if errors.As(err, &failed) {
			s.answer(wire.Answer{Failed: &failed.Failed})
		}
	}()
	return s.run()
}

// failure is an error with its kind.
type failure struct {
	wire.Failed
	err error
}

func (f *failure) Error() string { return f.err.Error() }

func (f *failure) Unwrap() error { return f.err }

func fail(kind wire.Failure, err error, names ...string) error {
	return &failure{wire.Failed{Kind: kind, Message: err.Error(), Names: names}, err}
}

type session struct {
	ctx context.Context
	in  *json.Decoder
	out *bufio.Writer
	// decider is nil before Begin.
	decider   *decider
	decisions int
}

func (s *session) run() error {
	for {
		var r wire.Request
		switch err := s.in.Decode(&r); {
		case errors.Is(err, io.EOF):
			return s.answer(wire.Answer{Done: &wire.Done{Decisions: s.decisions}})
		case err != nil:
			return fail(wire.BadRequest, fmt.Errorf("reading a request: %w", err))
		}
		if err := s.do(&r); err != nil {
			return err
		}
	}
}

func (s *session) do(r *wire.Request) error {
	switch {
	case (s.decider == nil) != (r.Begin != nil):
		return fail(wire.BadRequest, errors.New("begin must be the first request, and only that"))
	case r.Begin != nil:
		return s.begin(r.Begin)
	case r.Decide != nil:
		return s.decide(r.Decide)
	case r.Place != nil:
		return s.place(r.Place)
	}
	s.decider.settle()
	switch {
	case r.Set != nil:
		return s.set(r.Set)
	case r.Delete != nil:
		return s.decider.remove(r.Delete)
	case r.Allocate != nil:
		return s.allocate(r.Allocate)
	case r.Release != "":
		return s.decider.release(r.Release)
	}
	return fail(wire.BadRequest, errors.New("a request of no kind"))
}

func (s *session) begin(b *wire.Begin) error {
	d, started, err := begin(s.ctx, b)
	if err != nil {
		return err
	}
	s.decider = d
	return s.reply(wire.Answer{Started: started})
}

func (s *session) decide(d *wire.Decide) error {
	o, err := s.read(d.Pod)
	if err != nil {
		return err
	}
	decision, err := s.decider.decide(s.ctx, d, o)
	if err != nil {
		return err
	}
	s.decisions++
	return s.reply(wire.Answer{Decision: decision})
}

func (s *session) place(p *wire.Place) (err error) {
	var pod runtime.Object
	if p.Pod != nil {
		if pod, err = s.read(p.Pod); err != nil {
			return err
		}
	}
	placed, err := s.decider.place(s.ctx, p, pod)
	if err != nil {
		return err
	}
	return s.reply(wire.Answer{Placed: placed})
}

func (s *session) set(data []byte) error {
	o, err := s.read(data)
	if err != nil || o == nil {
		return err
	}
	gvk := o.GetObjectKind().GroupVersionKind()
	if other := s.decider.readAs(gvk); other != "" {
		return s.answer(wire.Answer{Object: &wire.Object{Reference: referenceOf(o, &gvk), ReadAs: other}})
	}
	return s.decider.set(o)
}

func (s *session) allocate(data []byte) error {
	o, err := s.read(data)
	if err != nil || o == nil {
		return err
	}
	return s.decider.allocateClaim(o)
}

// reply writes an answer that the other side waits for.
func (s *session) reply(a wire.Answer) error {
	if err := s.answer(a); err != nil {
		return err
	}
	return s.out.Flush()
}

func (s *session) answer(a wire.Answer) error {
	return json.NewEncoder(s.out).Encode(a)
}
