package runner

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"sync"
	"text/tabwriter"

	"kube-scheduler-simulator/simulator/host/datadir"
	"kube-scheduler-simulator/simulator/host/process"
	"kube-scheduler-simulator/simulator/scenarios/scenario"
)

type SweepOptions struct {
	Options
	// State is the file that holds the runs that have ended, so that an interrupted sweep goes on; FILE.runs by default.
	State string
	// File gets all outcomes in JSON; empty means none.
	File string
}

// LoadSweep reads a sweep file and the files that it names. The error is a *FileError.
func LoadSweep(ctx context.Context, file string, o Options) (*scenario.Sweep, error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, &FileError{err}
	}
	s, err := scenario.LoadSweep(ctx, text, o.files(file), o.Seeds)
	if err != nil {
		return nil, &FileError{err}
	}
	return s, nil
}

func keyOf(l *scenario.Sweep, number int) runKey {
	point, seed := l.RunOf(number)
	return runKey{point, seed}
}

// Missing returns the numbers of the runs of its sweep that the state does not hold.
func (s *State) Missing(l *scenario.Sweep) []int {
	var out []int
	for number := range l.Runs() {
		if !s.has(keyOf(l, number)) {
			out = append(out, number)
		}
	}
	return out
}

// Sweep runs a sweep file. Runs that its state file holds are not run again.
func Sweep(ctx context.Context, file string, o SweepOptions) error {
	l, err := LoadSweep(ctx, file, o.Options)
	if err != nil {
		return err
	}
	state, err := OpenState(l, file, o)
	if err != nil {
		return err
	}
	defer state.Close()
	if l.Workers > 0 {
		o.Workers = l.Workers
	}
	if err := RunPart(ctx, l, state.Missing(l), o.Options, state.Add); err != nil {
		if ctx.Err() != nil {
			return fmt.Errorf("interrupted after %d of %d runs; the same command goes on from there", state.Len(), l.Runs())
		}
		return err
	}
	return Report(l, state, o)
}

// Report writes what the sweep came to. The state must hold all runs.
func Report(l *scenario.Sweep, state *State, o SweepOptions) error {
	outcomes, err := gather(l, state.runs)
	if err != nil {
		return err
	}
	ranks := l.Rank(outcomes)
	if err := writeSweep(o.Out, l, outcomes, ranks); err != nil {
		return fmt.Errorf("writing the table: %w", err)
	}
	if o.File == "" {
		return nil
	}
	data, err := json.MarshalIndent(outcomes, "", "  ")
	if err == nil {
		err = datadir.WriteFile(o.File, append(data, '\n'))
	}
	if err != nil {
		return fmt.Errorf("writing %s: %w", o.File, err)
	}
	return nil
}

// batchSize is how many runs are prepared at a time.
const batchSize = 256

// RunPart does the runs of a sweep with these numbers, in ascending order, and gives the outcome of each to keep, one at a time. An error of keep
// ends it. The error is that of ctx if this ended.
func RunPart(ctx context.Context, l *scenario.Sweep, numbers []int, o Options, keep func(scenario.RunOutcome) error) error {
	progress := newProgress(o.Progress, len(numbers))
	defer progress.end()
	for batch := range slices.Chunk(numbers, batchSize) {
		var jobs []scenario.Job
		points := map[int]scenario.Point{}
		for _, number := range batch {
			key := keyOf(l, number)
			point, made := points[key.point]
			if !made {
				var err error
				if point, err = l.Point(key.point); err != nil {
					return &FileError{err}
				}
				points[key.point] = point
			}
			jobs = append(jobs, l.Job(point, key.seed, o.Engine))
		}
		if err := runBatch(ctx, l, batch, jobs, progress, o, keep); err != nil {
			return err
		}
	}
	return nil
}

func runBatch(ctx context.Context, l *scenario.Sweep, numbers []int, jobs []scenario.Job, progress *progress, o Options, keep func(scenario.RunOutcome) error) error {
	runs, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	_, err := scenario.Batch{Workers: o.Workers, Gates: process.WithGates, Done: func(i int, r *scenario.Result) {
		if r.Outcome == scenario.Canceled {
			return
		}
		progress.done(r)
		if err := keep(l.OutcomeOf(keyOf(l, numbers[i]).point, r)); err != nil {
			cancel(err)
		}
	}}.Run(runs, jobs)
	switch {
	case runs.Err() != nil:
		return context.Cause(runs)
	case err != nil:
		return &FileError{err}
	}
	return nil
}

// gather returns the outcome of each point. A run that could not be done is an error.
func gather(s *scenario.Sweep, runs map[runKey]scenario.RunOutcome) ([]scenario.PointOutcome, error) {
	var out []scenario.PointOutcome
	for i := range s.Len() {
		var of []scenario.RunOutcome
		for _, seed := range s.Seeds {
			r := runs[runKey{i, seed}]
			if r.Outcome == scenario.Broken {
				point, err := s.Point(i)
				if err != nil {
					return nil, &FileError{err}
				}
				return nil, &FileError{fmt.Errorf("%s, seed %d: %s", point.Configuration.Name, seed, r.Error)}
			}
			of = append(of, r)
		}
		out = append(out, s.PointOutcome(i, of))
	}
	return out, nil
}

const maxPointsShown = 10

func writeSweep(w io.Writer, s *scenario.Sweep, outcomes []scenario.PointOutcome, ranks []int) error {
	var b bytes.Buffer
	fmt.Fprintf(&b, "%s: %d combinations × %d seeds, the best first\n\n", s.Name, len(outcomes), len(s.Seeds))
	t := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
	fmt.Fprint(t, "rank")
	for _, p := range s.Parameters {
		fmt.Fprintf(t, "\t%s", p.Name)
	}
	fmt.Fprint(t, "\tpassed")
	for _, m := range s.Metrics {
		fmt.Fprintf(t, "\t%s", m.Name)
	}
	fmt.Fprintln(t)
	for i, o := range outcomes {
		// The configuration as it is stands in the table in any case, to compare the best with.
		if i >= maxPointsShown && !o.Unchanged {
			continue
		}
		equal := ""
		if i > 0 && ranks[i-1] == ranks[i] || i+1 < len(ranks) && ranks[i+1] == ranks[i] {
			equal = "="
		}
		fmt.Fprintf(t, "%d%s", ranks[i], equal)
		for _, v := range o.Values {
			fmt.Fprintf(t, "\t%v", v)
		}
		fmt.Fprintf(t, "\t%d of %d", o.Passed, o.Runs)
		for _, m := range s.Metrics {
			fmt.Fprintf(t, "\t%.4g", o.Metrics[m.Name])
		}
		if o.Unchanged {
			fmt.Fprint(t, "\tunchanged")
		}
		fmt.Fprintln(t)
	}
	if err := t.Flush(); err != nil {
		return err
	}
	_, err := w.Write(b.Bytes())
	return err
}

type runKey struct {
	point int
	seed  int64
}

// State is the file with the runs of a sweep that have ended: a line that names the sweep, and a line for each run. A line that
// was not written whole, because the program or the machine went down, is cut off when the file is opened.
type State struct {
	file *os.File
	// size is that of the whole lines.
	size int64

	mu   sync.Mutex
	runs map[runKey]scenario.RunOutcome
}

type stateHeader struct {
	Sweep string `json:"sweep"`
}

// OpenState opens the state file of a sweep, which is FILE.runs unless the options name one. The error is a *FileError.
func OpenState(l *scenario.Sweep, file string, o SweepOptions) (*State, error) {
	name := o.State
	if name == "" {
		name = file + ".runs"
	}
	s, err := openState(name, l.Digest)
	if err != nil {
		return nil, &FileError{err}
	}
	return s, nil
}

func openState(name, digest string) (*State, error) {
	file, err := os.OpenFile(name, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, fmt.Errorf("opening the state of the sweep: %w", err)
	}
	s := &State{file: file, runs: map[runKey]scenario.RunOutcome{}}
	if err := s.read(name, digest); err != nil {
		return nil, errors.Join(err, file.Close())
	}
	return s, nil
}

func (s *State) read(name, digest string) error {
	in := bufio.NewReader(s.file)
	for n := 0; ; n++ {
		line, err := in.ReadBytes('\n')
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return fmt.Errorf("reading %s: %w", name, err)
		}
		var header stateHeader
		var run scenario.RunOutcome
		if n == 0 {
			err = json.Unmarshal(line, &header)
		} else {
			err = json.Unmarshal(line, &run)
		}
		switch {
		case err != nil:
			return fmt.Errorf("%s:%d is no run of a sweep: remove the file to start anew", name, n+1)
		case n == 0 && header.Sweep != digest:
			return fmt.Errorf("%s belongs to other files or seeds than these: remove it to start anew, or name another one with --state", name)
		case n > 0:
			s.runs[runKey{run.Point, run.Seed}] = run
		}
		s.size += int64(len(line))
	}
	if s.size == 0 {
		return s.append(stateHeader{digest})
	}
	return s.file.Truncate(s.size)
}

// append writes a line, or nothing of it.
func (s *State) append(v any) error {
	line, err := json.Marshal(v)
	if err != nil {
		return fmt.Errorf("encoding a run: %w", err)
	}
	line = append(line, '\n')
	if _, err := s.file.WriteAt(line, s.size); err != nil {
		err = errors.Join(err, s.file.Truncate(s.size))
		if do := datadir.DiskAdvice(err); do != "" {
			return fmt.Errorf("keeping a run: %w; %s", err, do)
		}
		return fmt.Errorf("keeping a run: %w", err)
	}
	s.size += int64(len(line))
	return nil
}

// Add keeps the outcome of a run. One that the state holds already changes nothing, so that every run counts once.
func (s *State) Add(r scenario.RunOutcome) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	key := runKey{r.Point, r.Seed}
	if _, kept := s.runs[key]; kept {
		return nil
	}
	if err := s.append(r); err != nil {
		return err
	}
	s.runs[key] = r
	return nil
}

// Len is the number of runs that it holds.
func (s *State) Len() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.runs)
}

func (s *State) has(key runKey) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	_, kept := s.runs[key]
	return kept
}

// Close closes the file. Every run that was added is in it.
func (s *State) Close() { _ = s.file.Close() } // every line was written already
