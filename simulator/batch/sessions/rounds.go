package sessions

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"kube-scheduler-simulator/scheduler/others/flow"
	"kube-scheduler-simulator/scheduler/others/session"
	"kube-scheduler-simulator/scheduler/whatif"
)

type rounds struct {
	service  *Service
	engine   *whatif.Engine
	assumed  assumed
	attempts Attempts
	latest   latest
}

func newRounds(s *Service) (*rounds, error) {
	judge, err := flow.Judge()
	if err != nil {
		return nil, err
	}
	return &rounds{service: s, engine: s.engine(nil, judge, false), assumed: assumed{}, attempts: Attempts{}}, nil
}

func (r *rounds) options() flow.Options {
	settings := r.service.Flow()
	return flow.Options{Model: settings.Model, Seed: settings.Seed, Preemption: settings.Preemption, Parallelism: r.parallelism}
}

// turn runs a round, unless nothing has changed since the last one.
func (r *rounds) turn(ctx context.Context) error {
	settings := r.service.Flow()
	var out *flow.Outcome
	err := r.engine.Try(ctx, nil, func(ctx context.Context, trial *whatif.Trial) (err error) {
		if !r.latest.changed(fmt.Sprint(trial.State().ResourceVersion, settings)) {
			return nil
		}
		if err := r.assumed.apply(trial); err != nil {
			return err
		}
		out, err = flow.Run(ctx, trial, r.options())
		return err
	})
	if err != nil || out == nil {
		return err
	}
	failure := r.carryOut(ctx, out)
	if failure != nil {
		out.Record.Error = failure.Error()
	}
	return errors.Join(failure, r.keep(out))
}

func (r *rounds) carryOut(ctx context.Context, out *flow.Outcome) error {
	s, now := r.service, time.Now()
	err := parallel(len(out.Evictions), func(i int) error { return s.evict(ctx, out.Evictions[i]) })
	for _, p := range out.Evictions {
		r.assumed[p.UID] = assumption{since: now}
	}
	err = errors.Join(err, s.bindAll(ctx, r.assumed, now, len(out.Binds), func(i int) (*v1.Pod, string) { return out.Binds[i].Pod, out.Binds[i].Node }))
	return errors.Join(err, parallel(len(out.Waiting), func(i int) error {
		pod := out.Waiting[i]
		return s.notPlaced(ctx, session.PodUpdate{Pod: pod, Reason: v1.PodReasonUnschedulable, Message: flow.WaitingMessage},
			fmt.Sprintf("Firmament failed to schedule the pod %s in %s namespace", pod.Name, pod.Namespace))
	}))
}

// keep stores a record that differs from the one before.
func (r *rounds) keep(out *flow.Outcome) error {
	for _, c := range out.Cycles {
		r.attempts.Put(r.service.options.Sink, c)
	}
	record := out.Record
	said, err := json.Marshal([]any{record.Placements, record.Model, record.Error})
	if err != nil {
		return err
	}
	if r.latest.repeats(said) {
		return nil
	}
	e := Entry{Kind: RoundKind, Scheduler: flow.SchedulerName, StartTime: record.StartTime, Bound: len(out.Binds), Evicted: len(out.Evictions)}
	return r.service.records.add(e, func(number int64) ([]byte, error) {
		record.Number = number
		return json.Marshal(record)
	})
}

func (r *rounds) parallelism(namespace string, owner *metav1.OwnerReference) (int, bool) {
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	get := metav1.GetOptions{ResourceVersion: "0"}
	switch owner.Kind {
	case "Job":
		if job, err := r.service.client.BatchV1().Jobs(namespace).Get(ctx, owner.Name, get); err == nil {
			return flow.Parallelism(job)
		}
	case "ReplicaSet":
		if set, err := r.service.client.AppsV1().ReplicaSets(namespace).Get(ctx, owner.Name, get); err == nil {
			return flow.Parallelism(set)
		}
	}
	return 0, false
}

const maxCompared = 5000

func (r *rounds) compare(ctx context.Context, model flow.Model, scheduler, namespace string) (*flow.Comparison, error) {
	options := r.options()
	options.Model = cmp.Or(model, options.Model)
	scheduler = cmp.Or(scheduler, v1.DefaultSchedulerName)
	var out *flow.Comparison
	err := r.engine.Try(ctx, nil, func(ctx context.Context, trial *whatif.Trial) (err error) {
		var pods []*v1.Pod
		for _, p := range trial.Pods() {
			if p.Spec.SchedulerName == scheduler && (namespace == "" || p.Namespace == namespace) && p.DeletionTimestamp == nil {
				pods = append(pods, p)
			}
		}
		slices.SortFunc(pods, func(a, b *v1.Pod) int {
			return cmp.Or(strings.Compare(a.Namespace, b.Namespace), strings.Compare(a.Name, b.Name))
		})
		out, err = flow.Compare(ctx, trial, pods[:min(len(pods), maxCompared)], options)
		return err
	})
	return out, err
}
