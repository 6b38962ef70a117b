package versions

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"sync"

	"kube-scheduler-simulator/scheduler/versions/wire"
)

// Options say which scheduler to start.
type Options struct {
	// Minor is one of Minors.
	Minor string
	// Dir has the programs; by default the directory of this program.
	Dir string
	// Begin is the configuration. Its zero value is the version's default.
	Begin wire.Begin
}

// Scheduler is a running scheduler of another version. Call its methods from one goroutine at a time. After an error, only Close and Ignored
// are of use.
type Scheduler struct {
	minor   string
	started wire.Started
	command *exec.Cmd
	in      io.WriteCloser
	out     *bufio.Writer
	encoder *json.Encoder
	// answers has the answers that a request waits for, and then is closed.
	answers chan wire.Answer
	// ended is closed when the program has ended. Then exit is its error.
	ended chan struct{}
	exit  error
	said  *tail
	// done: the program has said that it is done.
	done      bool
	decisions int

	mu      sync.Mutex
	ignored map[Ignored]*Count
	// unlisted counts what ignored has no place for.
	unlisted int
}

// RefusedError means that a version does not accept what it was given.
type RefusedError struct {
	Minor string
	wire.Failed
}

func (e *RefusedError) Error() string {
	switch e.Kind {
	case wire.BadConfiguration:
		return fmt.Sprintf("Kubernetes %s does not accept the scheduler configuration: %s", e.Minor, e.Message)
	case wire.UnknownPlugins:
		return fmt.Sprintf("Kubernetes %s lacks plugins of the scheduler configuration: %s", e.Minor, strings.Join(e.Names, ", "))
	case wire.UnknownGates:
		return fmt.Sprintf("Kubernetes %s has no feature gate %s", e.Minor, strings.Join(e.Names, ", "))
	}
	return fmt.Sprintf("the scheduler of Kubernetes %s cannot go on: %s", e.Minor, e.Message)
}

// DiedError means that a scheduler ended before it was done. What it had answered by then is not all.
type DiedError struct {
	Minor string
	// Decisions counts those that it had made.
	Decisions int
	// Said is the end of what it wrote to its standard error.
	Said string
	// Exit is how it ended; nil if it exited with code 0.
	Exit error
}

func (e *DiedError) Error() string {
	out := fmt.Sprintf("the scheduler of Kubernetes %s died after %d decisions", e.Minor, e.Decisions)
	if e.Exit != nil {
		out += ": " + e.Exit.Error()
	}
	if e.Said != "" {
		out += ": " + e.Said
	}
	return out
}

func (e *DiedError) Unwrap() error { return e.Exit }

// Start starts a scheduler with an empty state. It ends with ctx. The error may be an *UnknownError, a *NotBuiltError, a *RefusedError or
// a *DiedError.
func Start(ctx context.Context, options Options) (*Scheduler, error) {
	dir := options.Dir
	if dir == "" {
		var err error
		if dir, err = Beside(); err != nil {
			return nil, err
		}
	}
	path, err := find(dir, options.Minor)
	if err != nil {
		return nil, err
	}
	return start(exec.CommandContext(ctx, path), options)
}

func start(command *exec.Cmd, options Options) (*Scheduler, error) {
	s := &Scheduler{
		minor: options.Minor, command: command, said: &tail{}, answers: make(chan wire.Answer), ended: make(chan struct{}), ignored: map[Ignored]*Count{},
	}
	command.Stderr = s.said
	in, err := command.StdinPipe()
	if err != nil {
		return nil, fmt.Errorf("starting the scheduler of Kubernetes %s: %w", s.minor, err)
	}
	out, err := command.StdoutPipe()
	if err != nil {
		return nil, fmt.Errorf("starting the scheduler of Kubernetes %s: %w", s.minor, err)
	}
	if err := command.Start(); err != nil {
		return nil, fmt.Errorf("starting the scheduler of Kubernetes %s: %w", s.minor, err)
	}
	s.in, s.out = in, bufio.NewWriterSize(in, 1<<16)
	s.encoder = json.NewEncoder(s.out)
	s.encoder.SetEscapeHTML(false)
	go s.read(out)
	answer, err := s.ask(wire.Request{Begin: &options.Begin})
	if err == nil && answer.Started == nil {
		err = s.unexpected()
	}
	if err == nil {
		if s.started = *answer.Started; s.started.Minor != s.minor {
			err = fmt.Errorf("%s is a scheduler of Kubernetes %s, not %s", command.Path, s.started.Minor, s.minor)
		}
	}
	if err != nil {
		s.kill()
		return nil, err
	}
	return s, nil
}

// read passes the answers on, until the program ends.
func (s *Scheduler) read(out io.Reader) {
	decoder := json.NewDecoder(bufio.NewReaderSize(out, 1<<16))
	for {
		var answer wire.Answer
		if err := decoder.Decode(&answer); err != nil {
			break
		}
		if answer.Object != nil {
			s.ignore(answer.Object)
			continue
		}
		s.answers <- answer
	}
	// What follows an answer that is none is lost; the program must not wait until it is read.
	_, _ = io.Copy(io.Discard, out)
	s.exit = s.command.Wait()
	close(s.ended)
	close(s.answers)
}

// Started is what the scheduler has said about itself.
func (s *Scheduler) Started() *wire.Started { return &s.started }

// Set creates or replaces an object, given as JSON or as a value that encoding/json writes so.
func (s *Scheduler) Set(object any) error {
	data, err := json.Marshal(object)
	if err != nil {
		return fmt.Errorf("writing an object for the scheduler of Kubernetes %s: %w", s.minor, err)
	}
	return s.tell(wire.Request{Set: data})
}

// Delete removes an object, if it exists.
func (s *Scheduler) Delete(ref wire.Reference) error { return s.tell(wire.Request{Delete: &ref}) }

// Allocate and Release are as in wire.Request.
func (s *Scheduler) Allocate(claim any) error {
	data, err := json.Marshal(claim)
	if err != nil {
		return fmt.Errorf("writing a claim for the scheduler of Kubernetes %s: %w", s.minor, err)
	}
	return s.tell(wire.Request{Allocate: data})
}

func (s *Scheduler) Release(uid string) error { return s.tell(wire.Request{Release: uid}) }

// Decide decides about a pod.
func (s *Scheduler) Decide(d wire.Decide) (*wire.Decision, error) {
	answer, err := s.ask(wire.Request{Decide: &d})
	if err == nil && answer.Decision == nil {
		err = s.unexpected()
	}
	if err != nil {
		return nil, err
	}
	s.decisions++
	return answer.Decision, nil
}

// Place puts a pod on a node: that of the decision just made, or p's.
func (s *Scheduler) Place(p wire.Place) (*wire.Placed, error) {
	answer, err := s.ask(wire.Request{Place: &p})
	if err == nil && answer.Placed == nil {
		err = s.unexpected()
	}
	if err != nil {
		return nil, err
	}
	return answer.Placed, nil
}

// Finish ends the scheduler. Without an error, it has answered everything. It must be the last call but for Close and Ignored.
func (s *Scheduler) Finish() error {
	if err := s.out.Flush(); err != nil {
		return s.died()
	}
	if err := s.in.Close(); err != nil {
		return s.died()
	}
	answer, open := <-s.answers
	switch {
	case !open:
		return s.died()
	case answer.Failed != nil:
		return s.refused(answer.Failed)
	case answer.Done == nil, answer.Done.Decisions != s.decisions:
		return s.unexpected()
	}
	s.done = true
	<-s.ended
	return nil
}

// Close ends the scheduler, whether or not it has finished, and waits for it.
func (s *Scheduler) Close() {
	if !s.done {
		s.kill()
	}
}

func (s *Scheduler) kill() {
	_ = s.command.Process.Kill() // it may have ended by itself
	for range s.answers {
	}
	<-s.ended
}

func (s *Scheduler) tell(r wire.Request) error {
	if err := s.encoder.Encode(r); err != nil {
		return s.failed()
	}
	return nil
}

func (s *Scheduler) ask(r wire.Request) (wire.Answer, error) {
	if err := s.tell(r); err != nil {
		return wire.Answer{}, err
	}
	if err := s.out.Flush(); err != nil {
		return wire.Answer{}, s.failed()
	}
	answer, open := <-s.answers
	switch {
	case !open:
		return answer, s.died()
	case answer.Failed != nil:
		return answer, s.refused(answer.Failed)
	}
	return answer, nil
}

// failed says why the program takes no more requests.
func (s *Scheduler) failed() error {
	for answer := range s.answers {
		if answer.Failed != nil {
			return s.refused(answer.Failed)
		}
	}
	return s.died()
}

func (s *Scheduler) refused(f *wire.Failed) error { return &RefusedError{s.minor, *f} }

func (s *Scheduler) died() error {
	<-s.ended
	return &DiedError{Minor: s.minor, Decisions: s.decisions, Said: s.said.String(), Exit: s.exit}
}

var errUnexpected = errors.New("it gave another answer than asked for")

func (s *Scheduler) unexpected() error {
	s.kill()
	return &DiedError{Minor: s.minor, Decisions: s.decisions, Said: s.said.String(), Exit: errUnexpected}
}

// Ignored is what a version ignores: a kind, or the field of a kind at a path, in which [] stands for each index.
type Ignored struct {
	APIVersion, Kind string
	// Path is empty if the version has no such kind, or reads it in another apiVersion only, which is ReadAs.
	Path, ReadAs string
}

// Count counts how often something was ignored. An object that was set twice counts twice.
type Count struct {
	Times   int
	Example wire.Reference
}

// maxIgnored bounds what Ignored lists.
const maxIgnored = 500

var index = regexp.MustCompile(`\[\d+\]`)

func (s *Scheduler) ignore(o *wire.Object) {
	s.mu.Lock()
	defer s.mu.Unlock()
	paths := o.Unknown
	if o.Unserved || o.ReadAs != "" {
		paths = []string{""}
	}
	for _, path := range paths {
		what := Ignored{o.APIVersion, o.Kind, index.ReplaceAllString(path, "[]"), o.ReadAs}
		switch found := s.ignored[what]; {
		case found != nil:
			found.Times++
		case len(s.ignored) < maxIgnored:
			s.ignored[what] = &Count{1, o.Reference}
		default:
			s.unlisted++
		}
	}
}

// Ignored returns what the version did not know about the objects, and how often further things were ignored that are not listed. It is
// complete up to the latest answer.
func (s *Scheduler) Ignored() (map[Ignored]Count, int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	out := make(map[Ignored]Count, len(s.ignored))
	for what, count := range s.ignored {
		out[what] = *count
	}
	return out, s.unlisted
}

// tail keeps the end of what is written to it.
type tail struct {
	mu   sync.Mutex
	data []byte
}

const tailBytes = 2000

func (t *tail) Write(p []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.data = append(t.data, p...)
	if extra := len(t.data) - tailBytes; extra > 0 {
		t.data = slices.Delete(t.data, 0, extra)
	}
	return len(p), nil
}

func (t *tail) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return string(bytes.TrimSpace(t.data))
}
