package sessions

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/types"

	"kube-scheduler-simulator/scheduler/others/session"
	"kube-scheduler-simulator/scheduler/whatif"
)

type runner struct {
	service  *Service
	rules    session.Rules
	assumed  assumed
	attempts Attempts
	latest   latest

	mu            sync.Mutex
	configuration *session.Configuration
	revision      int
	engine        *whatif.Engine
	board         *session.Board
	// questions and questionBoard are for what-ifs, which judge all nodes and keep no session
	// waiting.
	questions     *whatif.Engine
	questionBoard *session.Board
}

func newRunner(s *Service, c *session.Configuration, revision int) *runner {
	return &runner{service: s, rules: c.Rules, configuration: c, revision: revision, assumed: assumed{}, attempts: Attempts{}}
}

func (r *runner) configured() (*session.Configuration, int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.configuration, r.revision
}

// The next session uses this configuration.
func (r *runner) use(c *session.Configuration, revision int) {
	r.mu.Lock()
	r.configuration, r.revision = c, revision
	r.mu.Unlock()
	r.latest.lookAgain()
	r.close()
}

// close stops the engines. The next one to need them builds them again.
func (r *runner) close() {
	r.mu.Lock()
	old := []*whatif.Engine{r.engine, r.questions}
	r.engine, r.questions = nil, nil
	r.mu.Unlock()
	for _, e := range old {
		if e != nil {
			e.Stop()
		}
	}
}

func (r *runner) asking() (*whatif.Engine, *session.Board, *session.Configuration, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.questions == nil {
		judge, err := r.configuration.Judge()
		if err != nil {
			return nil, nil, nil, err
		}
		r.questionBoard = session.NewBoard()
		r.questions = r.service.engine(r.questionBoard, judge, false)
	}
	return r.questions, r.questionBoard, r.configuration, nil
}

func (r *runner) current() (*whatif.Engine, *session.Board, *session.Configuration, int, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.engine == nil {
		judge, err := r.configuration.Judge()
		if err != nil {
			return nil, nil, nil, 0, err
		}
		r.board = session.NewBoard()
		r.engine = r.service.engine(r.board, judge, true)
	}
	return r.engine, r.board, r.configuration, r.revision, nil
}

// turn runs a session, unless nothing has changed since the last one.
func (r *runner) turn(ctx context.Context) error {
	engine, board, configuration, revision, err := r.current()
	if err != nil {
		return err
	}
	objects, versions, err := r.read(ctx)
	if err != nil {
		return err
	}
	var out *session.Outcome
	err = engine.Try(ctx, nil, func(ctx context.Context, trial *whatif.Trial) error {
		if !r.latest.changed(versions + trial.State().ResourceVersion) {
			return nil
		}
		serves := func(p *v1.Pod) bool { return p.Spec.SchedulerName == string(r.rules) }
		if len(objects.Groups) == 0 && !anyPod(trial, serves) {
			return nil
		}
		if err := r.assumed.apply(trial); err != nil {
			return err
		}
		objects.Ended, err = r.ended(ctx)
		if err != nil {
			return err
		}
		out, err = session.Run(ctx, trial, objects, session.Options{
			Configuration: configuration, Board: board, UID: newUID(),
			Annotations: func(namespace string, owner *metav1.OwnerReference) map[string]string {
				return r.service.annotations(ctx, namespace, owner)
			},
		})
		return err
	})
	if err != nil || out == nil {
		return err
	}
	out.Record.Revision = revision
	failure := r.carryOut(ctx, out)
	if failure != nil {
		out.Record.Error = failure.Error()
	}
	return errors.Join(failure, r.keep(out))
}

func anyPod(trial *whatif.Trial, of func(*v1.Pod) bool) bool {
	for _, p := range trial.Pods() {
		if of(p) {
			return true
		}
	}
	return false
}

func (r *runner) ended(ctx context.Context) ([]*v1.Pod, error) {
	var out []*v1.Pod
	for _, phase := range []v1.PodPhase{v1.PodSucceeded, v1.PodFailed} {
		list, err := r.service.client.CoreV1().Pods("").List(ctx, metav1.ListOptions{
			ResourceVersion: "0", FieldSelector: fields.Set{"spec.schedulerName": string(r.rules), "status.phase": string(phase)}.String(),
		})
		if err != nil {
			return nil, fmt.Errorf("listing pods that have ended: %w", err)
		}
		for i := range list.Items {
			out = append(out, &list.Items[i])
		}
	}
	return out, nil
}

// keep stores a record that differs from the one before.
func (r *runner) keep(out *session.Outcome) error {
	for _, c := range out.Cycles {
		r.attempts.Put(r.service.options.Sink, c)
	}
	record := out.Record
	said, err := json.Marshal([]any{record.Actions, record.Jobs, record.Nodes, record.Error})
	if err != nil {
		return err
	}
	if r.latest.repeats(said) {
		return nil
	}
	e := Entry{Kind: SessionKind, Scheduler: string(r.rules), StartTime: record.StartTime, Bound: record.Bound, Evicted: record.Evicted, Pipelined: record.Pipelined}
	return r.service.records.add(e, func(number int64) ([]byte, error) {
		record.Number = number
		return json.Marshal(record)
	})
}

// read returns the groups and queues, and a text that differs when they do.
func (r *runner) read(ctx context.Context) (session.Objects, string, error) {
	var out session.Objects
	var versions []string
	for _, version := range r.rules.GroupVersions() {
		groups, at, err := r.service.list(ctx, version.WithResource("podgroups"))
		if err != nil {
			return out, "", err
		}
		queues, of, err := r.service.list(ctx, version.WithResource("queues"))
		if err != nil {
			return out, "", err
		}
		if err := out.Add(version, groups, queues); err != nil {
			return out, "", err
		}
		versions = append(versions, at, of)
	}
	classes, err := r.service.client.SchedulingV1().PriorityClasses().List(ctx, metav1.ListOptions{ResourceVersion: "0"})
	if err != nil {
		return out, "", fmt.Errorf("listing priority classes: %w", err)
	}
	for i := range classes.Items {
		out.PriorityClasses = append(out.PriorityClasses, &classes.Items[i])
	}
	return out, strings.Join(versions, " ") + " ", nil
}

// assumed are the nodes of pods that were bound, and the pods that were deleted, until the state
// shows it.
type assumed map[types.UID]assumption

type assumption struct {
	node  string
	since time.Time
}

// assumedFor is how long the state may take to show a write.
const assumedFor = 30 * time.Second

func (a assumed) apply(trial *whatif.Trial) error {
	if len(a) == 0 {
		return nil
	}
	shown := map[types.UID]bool{}
	for _, pod := range trial.Pods() {
		assumption, ours := a[pod.UID]
		if !ours || pod.Spec.NodeName != "" && assumption.node != "" || pod.DeletionTimestamp != nil {
			continue
		}
		shown[pod.UID] = true
		pod = pod.DeepCopy()
		if assumption.node != "" {
			pod.Spec.NodeName = assumption.node
		} else {
			now := metav1.NewTime(assumption.since)
			pod.DeletionTimestamp = &now
		}
		if err := trial.Apply(whatif.Change{Apply: pod}); err != nil {
			return err
		}
	}
	for uid, assumption := range a {
		if !shown[uid] || time.Since(assumption.since) > assumedFor {
			delete(a, uid)
		}
	}
	return nil
}
