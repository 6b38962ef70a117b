package runner

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"kube-scheduler-simulator/scheduler/config"
	"kube-scheduler-simulator/simulator/host/datadir"
	"kube-scheduler-simulator/simulator/host/process"
	"kube-scheduler-simulator/simulator/htmlreport"
	"kube-scheduler-simulator/simulator/past/replay"
	"kube-scheduler-simulator/simulator/scenarios/perf"
	"kube-scheduler-simulator/simulator/scenarios/report"
	"kube-scheduler-simulator/simulator/scenarios/scenario"
)

// Options are what all commands share.
type Options struct {
	// Engine is required.
	Engine scenario.Engine
	// Parse reads a scheduler configuration. It is required.
	Parse func(document []byte) (*config.Configuration, error)
	// TimeLimit is how much real time Engine lets a run take, if its time is real; 0 if it is virtual.
	TimeLimit time.Duration
	// Configurations replace those of a scenario: default, or names of files. Seeds replace its seeds.
	Configurations []string
	Seeds          []int64
	// KubernetesVersion replaces that of a scenario, if it is not empty.
	KubernetesVersion string
	// Application is the built web application, which draws reports in HTML.
	Application fs.FS
	// Now is the clock of those reports. It is required for them, too.
	Now func() time.Time
	// FilesBelow is the directory below which a file may name others. Default: its own.
	FilesBelow string
	// Perf chooses among the workloads of files of scheduler_perf.
	Perf perf.Selection
	// Bare records no decisions.
	Bare bool
	// Workers is how many runs go at the same time.
	Workers int
	// Out gets the table. Progress gets a line that is written over again and again; nil shows none.
	Out, Progress io.Writer
}

type Output struct {
	// Format is junit, markdown, json, html or perf.
	Format string
	File   string
}

type renderer func(o Options, suites []report.Suite) ([]byte, error)

var renderers = map[string]renderer{
	"junit":    func(_ Options, suites []report.Suite) ([]byte, error) { return report.JUnit(suites) },
	"markdown": func(_ Options, suites []report.Suite) ([]byte, error) { return report.Markdown(suites) },
	"json":     func(_ Options, suites []report.Suite) ([]byte, error) { return report.JSON(suites) },
	"html":     Options.html,
	"perf":     func(_ Options, suites []report.Suite) ([]byte, error) { return report.Perf(suites) },
}

// html returns the file that the web application hands on, too.
func (o Options) html(suites []report.Suite) ([]byte, error) {
	r := htmlreport.Report{Exported: o.Now()}
	for _, s := range suites {
		r.Runs = append(r.Runs, htmlreport.Run{Name: s.Name, File: s.File, Results: s.Results})
	}
	file, _, err := htmlreport.HTML(o.Application, r)
	return file, err
}

// ParseOutput reads FORMAT=FILE.
func ParseOutput(text string) (Output, error) {
	format, file, ok := strings.Cut(text, "=")
	if !ok || file == "" || renderers[format] == nil {
		return Output{}, fmt.Errorf("want junit=FILE, markdown=FILE, json=FILE, html=FILE or perf=FILE, not %q", text)
	}
	return Output{format, file}, nil
}

// FileError means that a file is wrong, and not that a run failed.
type FileError struct{ Err error }

func (e *FileError) Error() string { return e.Err.Error() }

func (e *FileError) Unwrap() error { return e.Err }

// Run runs scenario files. It reports whether all runs passed. The error is a *FileError if a file is wrong, or if a step
// of it cannot be done.
func Run(ctx context.Context, files []string, outputs []Output, o Options) (passed bool, err error) {
	var jobs []scenario.Job
	var wrong []error
	suites := make([]report.Suite, len(files))
	// of is the suite of each job.
	var of []int
	for i, file := range files {
		name, loaded, err := o.loadAny(ctx, file)
		suites[i] = report.Suite{File: file, Name: name}
		wrong = append(wrong, err)
		for _, s := range loaded {
			if s.Alone {
				o.Workers = 1
			}
			for _, job := range s.Jobs(scenario.RunOptions{Engine: o.Engine, KeepPods: wants(outputs, "json"), KeepDecisions: wants(outputs, "html"), Gap: !s.Alone, Bare: o.Bare}) {
				jobs, of = append(jobs, job), append(of, i)
			}
		}
	}
	if err := errors.Join(wrong...); err != nil {
		return false, &FileError{err}
	}
	results, err := o.batch(ctx, jobs)
	if err != nil {
		return false, &FileError{err}
	}
	for i, r := range results {
		suites[of[i]].Results = append(suites[of[i]].Results, r)
	}
	if err := report.Table(o.Out, suites); err != nil {
		return false, fmt.Errorf("writing the table: %w", err)
	}
	if err := o.write(outputs, suites); err != nil {
		return false, err
	}
	allPassed, _, broken, _ := report.Count(suites)
	if ctx.Err() != nil {
		return false, fmt.Errorf("interrupted")
	}
	if broken > 0 {
		return false, &FileError{fmt.Errorf("%d of %d runs could not be done", broken, len(jobs))}
	}
	return allPassed == len(jobs), nil
}

// write writes the reports, each whole or not at all.
func (o Options) write(outputs []Output, suites []report.Suite) error {
	var errs []error
	for _, output := range outputs {
		data, err := renderers[output.Format](o, suites)
		if err == nil {
			err = datadir.WriteFile(output.File, data)
		}
		if err != nil {
			errs = append(errs, fmt.Errorf("writing %s: %w", output.File, err))
		}
	}
	return errors.Join(errs...)
}

// batch runs jobs and shows the progress.
func (o Options) batch(ctx context.Context, jobs []scenario.Job) ([]*scenario.Result, error) {
	progress := newProgress(o.Progress, len(jobs))
	defer progress.end()
	left := scenario.MaxDecisionNodes
	return scenario.Batch{Workers: o.Workers, Gates: process.WithGates, Done: func(_ int, r *scenario.Result) {
		progress.done(r)
		left = r.LimitDecisions(left)
	}}.Run(ctx, jobs)
}

func wants(outputs []Output, format string) bool {
	return slices.ContainsFunc(outputs, func(o Output) bool { return o.Format == format })
}

// loadAny reads a file of any format that can be run. A file of scheduler_perf has many scenarios.
func (o Options) loadAny(ctx context.Context, file string) (name string, all []*scenario.Scenario, err error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return "", nil, err
	}
	if perf.Is(text) {
		if all, err = perf.Load(ctx, text, o.files(file), o.Perf); err != nil {
			return "", nil, err
		}
		for _, s := range all {
			if err := o.adapt(s); err != nil {
				return "", nil, err
			}
		}
		return filepath.Base(file), all, nil
	}
	s, err := o.recorded(ctx, text, file)
	if err == nil && s == nil {
		s, err = o.read(ctx, text, file)
	}
	if err != nil {
		return "", nil, err
	}
	return s.Name, []*scenario.Scenario{s}, nil
}

// recorded reads a recording, or a record file of the earlier simulator. It returns nil for a file of another format.
func (o Options) recorded(ctx context.Context, text []byte, file string) (*scenario.Scenario, error) {
	var staged []replay.Staged
	var err error
	switch {
	case replay.IsRecording(text):
		var r *replay.Recording
		if r, err = replay.Open(bytes.NewReader(text), int64(len(text))); err == nil {
			staged, err = r.Staged(ctx)
		}
	case replay.IsEarlier(text):
		staged, err = replay.StageEarlier(ctx, text)
	default:
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	changes := make([]scenario.Played, len(staged))
	for i, s := range staged {
		changes[i] = scenario.Played{At: s.At, GVK: s.Kind.GVK(), Namespace: s.Namespace, Name: s.Name, Object: s.Object, Patch: s.Patch, Node: s.Node}
	}
	played, err := scenario.NewPlayed(filepath.Base(file), file, changes)
	if err != nil {
		return nil, err
	}
	return played, o.adapt(played)
}

// load reads a scenario, with the configurations and seeds of the options.
func (o Options) load(ctx context.Context, file string) (*scenario.Scenario, error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	return o.read(ctx, text, file)
}

func (o Options) read(ctx context.Context, text []byte, file string) (*scenario.Scenario, error) {
	s, err := scenario.Load(ctx, text, o.files(file))
	if err != nil {
		return nil, err
	}
	return s, o.adapt(s)
}

func (o Options) adapt(s *scenario.Scenario) error {
	if o.TimeLimit > 0 {
		if err := s.FitsInto(o.TimeLimit); err != nil {
			return err
		}
	}
	if o.KubernetesVersion != "" {
		s.KubernetesVersion = o.KubernetesVersion
	}
	if o.Seeds != nil {
		s.Matrix.Seeds = o.Seeds
	}
	if o.Configurations != nil {
		s.Matrix.Configurations = nil
		for _, name := range o.Configurations {
			c, err := o.configuration(name)
			if err != nil {
				return err
			}
			s.Matrix.Configurations = append(s.Matrix.Configurations, c)
		}
	}
	return nil
}

// files lets a scenario read the files beside and below it, or those below FilesBelow. Somebody else may have written it.
func (o Options) files(file string) scenario.Options {
	return scenario.Options{File: file, Parse: o.Parse, Read: func(name string) ([]byte, error) {
		beside := filepath.Dir(file)
		return readBelow(cmp.Or(o.FilesBelow, beside), beside, name)
	}}
}

// readBelow reads a file that another one names, from the directory beside. It refuses what is not below root, also if links lead there.
func readBelow(root, beside, name string) ([]byte, error) {
	if !filepath.IsAbs(name) {
		name = filepath.Join(beside, name)
	}
	path, err := relative(root, name)
	if err != nil {
		return nil, err
	}
	below, err := os.OpenRoot(root)
	if err != nil {
		return nil, err
	}
	defer below.Close()
	if !filepath.IsLocal(path) {
		return nil, &OutsideError{root}
	}
	info, err := below.Stat(path)
	if err == nil && !info.Mode().IsRegular() {
		return nil, errors.New("it is not a regular file") // to open a pipe would wait for whoever writes it
	}
	var f *os.File
	if err == nil {
		f, err = below.Open(path)
	}
	if err != nil {
		if _, found := os.Lstat(name); found == nil && !errors.Is(err, fs.ErrPermission) && !errors.Is(err, fs.ErrNotExist) {
			return nil, &OutsideError{root}
		}
		return nil, err
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, int64(scenario.Files.Written)+1))
	if err == nil && len(text) > scenario.Files.Written {
		err = fmt.Errorf("it has more than %d MiB, the limit", scenario.Files.Written>>20)
	}
	return text, err
}

func relative(root, name string) (string, error) {
	from, err := filepath.Abs(root)
	if err != nil {
		return "", err
	}
	to, err := filepath.Abs(name)
	if err != nil {
		return "", err
	}
	return filepath.Rel(from, to)
}

// OutsideError means that a file names one that it may not read.
type OutsideError struct{ root string }

func (e *OutsideError) Error() string {
	return fmt.Sprintf("it is not below %s, so it is not read: --files-below names a directory that contains it", e.root)
}

// configuration reads a configuration by the name of its file, or default.
func (o Options) configuration(name string) (scenario.Configuration, error) {
	if name == scenario.DefaultConfiguration {
		return scenario.Default()
	}
	text, err := os.ReadFile(name)
	if err != nil {
		return scenario.Configuration{}, err
	}
	parsed, err := o.Parse(text)
	if err != nil {
		return scenario.Configuration{}, fmt.Errorf("%s: %w", name, err)
	}
	return scenario.Configuration{
		Name: strings.TrimSuffix(filepath.Base(name), filepath.Ext(name)), Parsed: parsed,
		Parse: func() (*config.Configuration, error) { return o.Parse(text) },
	}, nil
}

// progress shows how far a batch is.
type progress struct {
	to    io.Writer
	total int

	mu            sync.Mutex
	ended, failed int
}

func newProgress(to io.Writer, total int) *progress { return &progress{to: to, total: total} }

func (p *progress) done(r *scenario.Result) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.ended++
	if r.Outcome != scenario.Passed {
		p.failed++
	}
	if p.to == nil {
		return
	}
	fmt.Fprintf(p.to, "\r%d of %d runs", p.ended, p.total)
	if p.failed > 0 {
		fmt.Fprintf(p.to, ", %d not passed", p.failed)
	}
}

func (p *progress) end() {
	if p.to != nil && p.ended > 0 {
		fmt.Fprint(p.to, "\r\x1b[K")
	}
}
