// Package runs keeps the runs of scenarios that a server was asked for: it starts them in the background, follows their progress,
// cancels them, and keeps their results for a while. Number, size and time are bounded.
//
// It may import simulator/scenarios/scenario, simulator/host/process and scheduler/config.
package runs

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strconv"
	"sync"
	"time"

	"kube-scheduler-simulator/scheduler/config"
	"kube-scheduler-simulator/scheduler/yamlsource"
	"kube-scheduler-simulator/simulator/host/process"
	"kube-scheduler-simulator/simulator/scenarios/scenario"
)

// Bounds.
const (
	// MaxKept is how many entries are kept; the oldest that have ended go first.
	MaxKept = 20
	// MaxActive is how many may run or wait to run.
	MaxActive = 4
	// MaxRuns bounds the matrix of one entry.
	MaxRuns = 500
	// MaxTime bounds one entry, in real time.
	MaxTime = 10 * time.Minute
)

// bounds are those of the files of a request together.
var bounds = yamlsource.Bounds{Written: 16 << 20, Values: 300_000, Size: 16 << 20, Depth: 250, Path: 4 << 10}

// Options are required.
type Options struct {
	Engine scenario.Engine
	Parse  func(document []byte) (*config.Configuration, error)
	// Current returns the document of the running scheduler's configuration, which scenarios may name current.
	Current func() ([]byte, error)
	// Workers is how many runs go at the same time, of all entries together.
	Workers int
}

// Request asks for runs.
type Request struct {
	// Scenario is the text of a scenario file, and Sweep that of a sweep file. Exactly one of them is set.
	Scenario string `json:"scenario,omitempty"`
	Sweep    string `json:"sweep,omitempty"`
	// Files are those that the scenario names, by their names.
	Files map[string]string `json:"files,omitempty"`
	// Against is a second configuration to compare the first one with: default, current, or the name of one of the files.
	Against string `json:"against,omitempty"`
}

// State says how far an entry is.
type State string

const (
	Queued   State = "queued"
	Running  State = "running"
	Ended    State = "ended"
	Canceled State = "canceled"
)

// Entry is what was asked for and what came of it. It is a copy.
type Entry struct {
	ID      string    `json:"id"`
	Name    string    `json:"name"`
	State   State     `json:"state"`
	Created time.Time `json:"created"`
	// Total counts the runs of the matrix; Done of them have ended, and Passed have passed.
	Total  int `json:"total"`
	Done   int `json:"done"`
	Passed int `json:"passed"`
	// Error says why the runs could not be done.
	Error string `json:"error,omitempty"`
	// Scenario is the text. Lists leave it out, and the results.
	Scenario string `json:"scenario,omitempty"`
	// Results are in the order of the matrix; those that have not ended are null.
	Results []*scenario.Result `json:"results,omitempty"`
	// Comparison is that of two configurations, when they were asked for.
	Comparison *scenario.Comparison `json:"comparison,omitempty"`
	// Sweep is what came of a sweep. Its results are to be had one by one.
	Sweep *scenario.SweepResult `json:"sweep,omitempty"`
}

// FullError means that too much is running.
type FullError struct{}

func (*FullError) Error() string {
	return fmt.Sprintf("%d scenarios run or wait already, the limit of this server; cancel one, or wait for one to end", MaxActive)
}

// Runs keeps entries. Its methods are safe for concurrent use.
type Runs struct {
	options Options
	ctx     context.Context
	stop    context.CancelFunc
	slots   chan struct{}
	running sync.WaitGroup

	mu      sync.Mutex
	last    int
	entries []*entry
}

type entry struct {
	Entry
	cancel context.CancelFunc
	// sweep is nil for runs of a scenario.
	sweep *scenario.Sweep
	// decisionNodes is how many nodes further whole decisions may have.
	decisionNodes int
}

// New returns an empty collection. Stop ends it.
func New(o Options) *Runs {
	ctx, stop := context.WithCancel(context.Background())
	return &Runs{options: o, ctx: ctx, stop: stop, slots: make(chan struct{}, 1)}
}

// Stop cancels what runs, and waits for its end until ctx ends.
func (r *Runs) Stop(ctx context.Context) error {
	r.stop()
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		r.running.Wait()
	}()
	select {
	case <-ended:
		return nil
	case <-ctx.Done():
		return fmt.Errorf("a run did not end: %w", context.Cause(ctx))
	}
}

// Current is the name of the running scheduler's configuration.
const Current = "current"

// Start begins the runs of a request in the background; ctx ends only the reading of its files. The error is a *scenario.Error for a wrong
// scenario, or a *FullError.
func (r *Runs) Start(ctx context.Context, q Request) (Entry, error) {
	if (q.Scenario == "") == (q.Sweep == "") {
		return Entry{}, wrong("want one of scenario and sweep")
	}
	if q.Sweep != "" {
		return r.startSweep(ctx, q)
	}
	s, err := r.Load(ctx, q)
	if err != nil {
		return Entry{}, err
	}
	jobs := s.Jobs(scenario.RunOptions{Engine: r.options.Engine, KeepPods: true, KeepDecisions: true, Gap: true})
	var pair *scenario.Pair
	if q.Against != "" {
		against, err := r.configuration(q, q.Against)
		if err != nil {
			return Entry{}, wrong("against: %s", err)
		}
		pair = s.Under(s.Matrix.Configurations[0], *against, r.options.Engine)
		jobs = pair.Jobs()
	}
	if len(jobs) > MaxRuns {
		return Entry{}, wrong("the matrix has %d runs; the limit of this server is %d", len(jobs), MaxRuns)
	}
	for _, gates := range s.Matrix.FeatureGates {
		if err := process.HasGates(gates); err != nil {
			return Entry{}, wrong("%s", err)
		}
	}
	return r.begin(Entry{Name: s.Name, Scenario: q.Scenario}, nil, jobs, pair)
}

// Load reads the scenario of a request. The error is a *scenario.Error if it is wrong.
func (r *Runs) Load(ctx context.Context, q Request) (*scenario.Scenario, error) {
	return scenario.Load(ctx, []byte(q.Scenario), scenario.Options{File: "scenario", Parse: r.options.Parse, Read: r.reader(q), Bounds: bounds})
}

// begin keeps a new entry and does its jobs in the background.
func (r *Runs) begin(of Entry, sweep *scenario.Sweep, jobs []scenario.Job, pair *scenario.Pair) (Entry, error) {
	of.Total, of.Results = len(jobs), make([]*scenario.Result, len(jobs))
	e, ctx, err := r.add(of, sweep)
	if err != nil {
		return Entry{}, err
	}
	cancel := e.cancel
	r.running.Go(func() {
		defer cancel()
		r.run(ctx, e, jobs, pair)
	})
	return r.copied(e, true), nil
}

// wrongFile returns the error of a sweep file, which has lines if one of them is wrong.
func wrongFile(err error) error {
	if of, ok := errors.AsType[*scenario.Error](err); ok {
		return of
	}
	return wrong("%s", err)
}

func wrong(format string, args ...any) error {
	return &scenario.Error{Mistakes: []scenario.Mistake{{Message: fmt.Sprintf(format, args...)}}}
}

// reader reads the files of a request.
func (r *Runs) reader(q Request) func(string) ([]byte, error) {
	return func(name string) ([]byte, error) {
		if text, ok := q.Files[name]; ok {
			return []byte(text), nil
		}
		if name == Current {
			return r.options.Current()
		}
		return nil, fmt.Errorf("%w: it is not among the files of the request", fs.ErrNotExist)
	}
}

func (r *Runs) configuration(q Request, name string) (*scenario.Configuration, error) {
	if name == scenario.DefaultConfiguration {
		c, err := scenario.Default()
		return &c, err
	}
	text, err := r.reader(q)(name)
	if err != nil {
		return nil, err
	}
	parsed, err := r.options.Parse(text)
	return &scenario.Configuration{Name: name, Parsed: parsed}, err
}

// add keeps a new entry, and forgets the oldest that has ended if there are too many.
func (r *Runs) add(e Entry, sweep *scenario.Sweep) (*entry, context.Context, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	active := 0
	for _, other := range r.entries {
		if other.State == Queued || other.State == Running {
			active++
		}
	}
	if active >= MaxActive {
		return nil, nil, &FullError{}
	}
	if len(r.entries) >= MaxKept {
		oldest := slices.IndexFunc(r.entries, func(e *entry) bool { return e.State == Ended || e.State == Canceled })
		r.entries = slices.Delete(r.entries, oldest, oldest+1) // MaxActive is less than MaxKept
	}
	r.last++
	e.ID, e.State, e.Created = strconv.Itoa(r.last), Queued, time.Now().UTC()
	ctx, cancel := context.WithTimeoutCause(r.ctx, MaxTime, fmt.Errorf("it takes more than %s, the limit of this server", MaxTime))
	kept := &entry{Entry: e, cancel: cancel, sweep: sweep, decisionNodes: scenario.MaxDecisionNodes}
	r.entries = append(r.entries, kept)
	return kept, ctx, nil
}

func (r *Runs) run(ctx context.Context, e *entry, jobs []scenario.Job, pair *scenario.Pair) {
	select {
	case r.slots <- struct{}{}:
		defer func() { <-r.slots }()
	case <-ctx.Done():
	}
	r.change(func() { e.State = Running })
	results, err := scenario.Batch{Workers: r.options.Workers, Gates: func(map[string]bool) (func(), error) { return func() {}, nil }, Done: func(i int, result *scenario.Result) {
		r.change(func() {
			e.decisionNodes = result.LimitDecisions(e.decisionNodes)
			for d := range result.Decisions() {
				d.Kept = d.Cycle != nil
			}
			e.Done++
			e.Results[i] = result
			if result.Outcome == scenario.Passed {
				e.Passed++
			}
		})
	}}.Run(ctx, jobs)
	var comparison *scenario.Comparison
	if pair != nil {
		defer pair.Close()
		if err == nil {
			comparison, err = pair.Compare(ctx, results)
		}
	}
	r.change(func() {
		e.State, e.Comparison = Ended, comparison
		if ctx.Err() != nil {
			e.State, err = Canceled, context.Cause(ctx)
		}
		if err != nil && !errors.Is(err, context.Canceled) {
			e.Error = err.Error()
		}
	})
}

func (r *Runs) change(do func()) {
	r.mu.Lock()
	defer r.mu.Unlock()
	do()
}

// copied returns a copy for readers, with or without its results.
func (r *Runs) copied(e *entry, whole bool) Entry {
	r.mu.Lock()
	defer r.mu.Unlock()
	out := e.Entry
	out.Results = slices.Clone(e.Results)
	if e.sweep != nil {
		out.Sweep, out.Results = e.sweep.Result(e.Results), nil
	}
	if !whole {
		out.Scenario, out.Results, out.Comparison, out.Sweep = "", nil, nil, nil
	}
	return out
}

// Result returns one result of an entry by its index; nil if there is none, or not yet.
func (r *Runs) Result(id string, index int) *scenario.Result {
	e := r.find(id)
	if e == nil {
		return nil
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if index < 0 || index >= len(e.Results) {
		return nil
	}
	return e.Results[index]
}

// List returns all entries without their results, the newest first.
func (r *Runs) List() []Entry {
	r.mu.Lock()
	all := slices.Clone(r.entries)
	r.mu.Unlock()
	out := make([]Entry, 0, len(all))
	for _, e := range slices.Backward(all) {
		out = append(out, r.copied(e, false))
	}
	return out
}

// Get returns an entry.
func (r *Runs) Get(id string) (Entry, bool) {
	e := r.find(id)
	if e == nil {
		return Entry{}, false
	}
	return r.copied(e, true), true
}

func (r *Runs) find(id string) *entry {
	r.mu.Lock()
	defer r.mu.Unlock()
	at := slices.IndexFunc(r.entries, func(e *entry) bool { return e.ID == id })
	if at < 0 {
		return nil
	}
	return r.entries[at]
}

// Delete cancels an entry that runs, and forgets one that has ended. It reports whether there is such an entry.
func (r *Runs) Delete(id string) bool {
	e := r.find(id)
	if e == nil {
		return false
	}
	r.forgetEnded(e)
	e.cancel()
	return true
}

func (r *Runs) forgetEnded(e *entry) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if e.State == Ended || e.State == Canceled {
		r.entries = slices.DeleteFunc(r.entries, func(other *entry) bool { return other == e })
	}
}
