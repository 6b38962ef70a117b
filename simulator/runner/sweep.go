package runner

import (
	"bufio"
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"sync"
	"text/tabwriter"

	"kube-scheduler-simulator/simulator/datadir"
	"kube-scheduler-simulator/simulator/scenario"
)

// SweepOptions say more about a sweep.
type SweepOptions struct {
	Options
	// State is the file that holds the runs that have ended, so that an interrupted sweep goes on; FILE.runs by default.
	State string
	// File gets all outcomes in JSON; empty means none.
	File string
}

// Sweep runs a sweep file. Runs that its state file holds are not run again.
func Sweep(ctx context.Context, file string, o SweepOptions) error {
	text, err := os.ReadFile(file)
	if err != nil {
		return &FileError{err}
	}
	read := o.files(file)
	digest := sha256.New()
	_, _ = digest.Write(text)
	inner := read.Read
	read.Read = func(name string) ([]byte, error) {
		data, err := inner(name)
		_, _ = digest.Write(data)
		return data, err
	}
	s, err := scenario.LoadSweep(text, read)
	if err != nil {
		return &FileError{err}
	}
	if o.Seeds != nil {
		s.Seeds = o.Seeds
	}
	if o.State == "" {
		o.State = file + ".runs"
	}
	fmt.Fprint(digest, s.Seeds)
	state, err := openState(o.State, hex.EncodeToString(digest.Sum(nil)))
	if err != nil {
		return &FileError{err}
	}
	defer state.close()
	if err := sweep(ctx, s, state, o); err != nil {
		return err
	}
	outcomes, err := gather(s, state.runs)
	if err != nil {
		return err
	}
	ranks := s.Rank(outcomes)
	if err := writeSweep(o.Out, s, outcomes, ranks); err != nil {
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

// batchSize is how many points are prepared at a time.
const batchSize = 64

// sweep runs what the state does not hold yet.
func sweep(ctx context.Context, s *scenario.Sweep, state *state, o SweepOptions) error {
	if s.Workers > 0 {
		o.Workers = s.Workers
	}
	progress := newProgress(o.Progress, s.Len()*len(s.Seeds)-len(state.runs))
	defer progress.end()
	for first := 0; first < s.Len(); first += batchSize {
		var jobs []scenario.Job
		var keys []runKey
		for i := first; i < min(first+batchSize, s.Len()); i++ {
			point, err := s.Point(i)
			if err != nil {
				return &FileError{err}
			}
			for _, seed := range s.Seeds {
				key := runKey{i, seed}
				if _, done := state.runs[key]; !done {
					jobs, keys = append(jobs, s.Job(point, seed, o.Engine)), append(keys, key)
				}
			}
		}
		runs, cancel := context.WithCancelCause(ctx)
		_, err := scenario.Batch{Workers: o.Workers, Gates: SetGates, Done: func(i int, r *scenario.Result) {
			if r.Outcome == scenario.Canceled {
				return
			}
			progress.done(r)
			if err := state.add(s.OutcomeOf(keys[i].point, r)); err != nil {
				cancel(err)
			}
		}}.Run(runs, jobs)
		stopped := context.Cause(runs)
		cancel(nil)
		switch {
		case ctx.Err() != nil:
			return fmt.Errorf("interrupted after %d of %d runs; the same command goes on from there", len(state.runs), s.Len()*len(s.Seeds))
		case stopped != nil:
			return stopped
		case err != nil:
			return &FileError{err}
		}
	}
	return nil
}

// gather returns the outcome of each point. A run that could not be done is an error.
func gather(s *scenario.Sweep, runs map[runKey]scenario.RunOutcome) ([]scenario.PointOutcome, error) {
	var out []scenario.PointOutcome
	for i := range s.Len() {
		point, err := s.Point(i)
		if err != nil {
			return nil, &FileError{err}
		}
		var of []scenario.RunOutcome
		for _, seed := range s.Seeds {
			r := runs[runKey{i, seed}]
			if r.Outcome == scenario.Broken {
				return nil, &FileError{fmt.Errorf("%s, seed %d: %s", point.Configuration.Name, seed, r.Error)}
			}
			of = append(of, r)
		}
		out = append(out, scenario.NewPointOutcome(point.Values, of))
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
	for i, o := range outcomes[:min(maxPointsShown, len(outcomes))] {
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
		fmt.Fprintln(t)
	}
	if err := t.Flush(); err != nil {
		return err
	}
	_, err := w.Write(b.Bytes())
	return err
}

// runKey names a run of a sweep.
type runKey struct {
	point int
	seed  int64
}

// state is the file with the runs of a sweep that have ended: a line that names the sweep, and a line for each run. A line that
// was not written whole, because the program or the machine went down, is cut off when the file is opened.
type state struct {
	file *os.File
	// size is that of the whole lines.
	size int64

	mu   sync.Mutex
	runs map[runKey]scenario.RunOutcome
}

type stateHeader struct {
	Sweep string `json:"sweep"`
}

func openState(name, digest string) (*state, error) {
	file, err := os.OpenFile(name, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, fmt.Errorf("opening the state of the sweep: %w", err)
	}
	s := &state{file: file, runs: map[runKey]scenario.RunOutcome{}}
	if err := s.read(name, digest); err != nil {
		return nil, errors.Join(err, file.Close())
	}
	return s, nil
}

func (s *state) read(name, digest string) error {
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
func (s *state) append(v any) error {
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

func (s *state) add(r scenario.RunOutcome) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.append(r); err != nil {
		return err
	}
	s.runs[runKey{r.Point, r.Seed}] = r
	return nil
}

func (s *state) close() { _ = s.file.Close() } // every line was written already
