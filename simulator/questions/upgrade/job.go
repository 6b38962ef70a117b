package upgrade

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"sync"
	"time"

	"kube-scheduler-simulator/scheduler/versions"
)

// JobState says how far a job is.
type JobState string

const (
	Running  JobState = "running"
	Ended    JobState = "ended"
	Canceled JobState = "canceled"
	Failed   JobState = "failed"
)

// Job is a comparison in the background. Its JSON form is public.
type Job struct {
	ID    string   `json:"id"`
	State JobState `json:"state"`
	From  string   `json:"from"`
	To    string   `json:"to"`
	// File is the name of the file that is asked about; empty for the cluster.
	File    string    `json:"file"`
	Created time.Time `json:"created"`
	// Ended is nil while the job runs.
	Ended    *time.Time `json:"ended,omitempty"`
	Progress Progress   `json:"progress"`
	// Error says why a job has failed.
	Error string `json:"error,omitempty"`
	// Answer is nil unless the job has ended.
	Answer *Answer `json:"answer,omitempty"`
}

// ErrBusy means that a comparison is running.
var ErrBusy = errors.New("another comparison is running: cancel it, or wait for its end")

// Jobs does one comparison at a time, and keeps the latest one. Its zero value is ready. Methods are safe for concurrent use.
type Jobs struct {
	// ask replaces Ask in tests.
	ask func(context.Context, Cluster, Question, func(Progress)) (*Answer, error)

	mu      sync.Mutex
	last    int
	job     *Job
	cancel  context.CancelFunc
	stopped bool
	running sync.WaitGroup
}

// Start begins a comparison, which replaces the one before it. The question names both versions. release is called once the cluster is not
// read any more, also after an error. The error is ErrBusy, a *QuestionError or a *versions.NotBuiltError.
func (j *Jobs) Start(c Cluster, file string, q Question, release func()) (Job, error) {
	started, err := j.start(c, file, q, release)
	if err != nil {
		release()
	}
	return started, err
}

func (j *Jobs) start(c Cluster, file string, q Question, release func()) (Job, error) {
	if err := q.named(); err != nil {
		return Job{}, err
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.stopped || j.cancel != nil {
		return Job{}, ErrBusy
	}
	j.last++
	job := &Job{ID: strconv.Itoa(j.last), State: Running, From: q.From, To: q.To, File: file, Created: time.Now().UTC()}
	ctx, cancel := context.WithCancel(context.Background())
	j.job, j.cancel = job, cancel
	ask := j.ask
	if ask == nil {
		ask = Ask
	}
	j.running.Go(func() {
		defer release()
		answer, err := ask(ctx, c, q, func(p Progress) {
			j.mu.Lock()
			defer j.mu.Unlock()
			job.Progress = p
		})
		j.end(job, answer, err, ctx.Err() != nil)
		cancel()
	})
	return *job, nil
}

// named finds what is wrong with a question that names both versions, and whether their schedulers are built.
func (q *Question) named() error {
	for _, side := range q.sides() {
		if side.minor == "" {
			return &QuestionError{side.field, fmt.Sprintf("%s is missing: name a minor version, such as %s", side.field, versions.Own)}
		}
	}
	if err := q.check(); err != nil {
		return err
	}
	if err := q.differs(); err != nil {
		return err
	}
	for _, minor := range []string{q.From, q.To} {
		if err := versions.Check(minor); err != nil {
			return err
		}
	}
	return nil
}

func (j *Jobs) end(job *Job, answer *Answer, err error, canceled bool) {
	j.mu.Lock()
	defer j.mu.Unlock()
	now := time.Now().UTC()
	job.Ended, j.cancel = &now, nil
	switch {
	case canceled:
		job.State = Canceled
	case err != nil:
		job.State, job.Error = Failed, err.Error()
	default:
		job.State, job.Answer = Ended, answer
	}
}

// Latest returns the latest comparison; false if there is none.
func (j *Jobs) Latest() (Job, bool) {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.job == nil {
		return Job{}, false
	}
	return *j.job, true
}

// Delete cancels the comparison if it runs, and forgets it if it has ended. It reports whether there was one.
func (j *Jobs) Delete() bool {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.job == nil {
		return false
	}
	if j.cancel != nil {
		j.cancel()
	} else {
		j.job = nil
	}
	return true
}

// Stop cancels what runs, and waits for its end until ctx ends. No comparison begins after it.
func (j *Jobs) Stop(ctx context.Context) error {
	j.mu.Lock()
	j.stopped = true
	if j.cancel != nil {
		j.cancel()
	}
	j.mu.Unlock()
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		j.running.Wait()
	}()
	select {
	case <-ended:
		return nil
	case <-ctx.Done():
		return fmt.Errorf("the comparison of two versions did not end: %w", context.Cause(ctx))
	}
}
