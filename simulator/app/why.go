package app

import (
	"context"
	"errors"
	"fmt"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes/scheme"

	"kube-scheduler-simulator/scheduler/result"
	"kube-scheduler-simulator/scheduler/whatif"
	"kube-scheduler-simulator/simulator/autoscaling/instances"
	"kube-scheduler-simulator/simulator/batch/kueue/admission"
	"kube-scheduler-simulator/simulator/batch/kueue/control"
	"kube-scheduler-simulator/simulator/host/process"
	"kube-scheduler-simulator/simulator/questions/autoscale"
	"kube-scheduler-simulator/simulator/questions/deschedule"
	"kube-scheduler-simulator/simulator/questions/drain"
	"kube-scheduler-simulator/simulator/questions/hypothesis"
	"kube-scheduler-simulator/simulator/questions/submit"
	"kube-scheduler-simulator/simulator/questions/upgrade"
	"kube-scheduler-simulator/simulator/questions/why"
	"kube-scheduler-simulator/simulator/server"
)

// doors answers every question about the simulated cluster.
type doors struct {
	*hypothesis.Desk
	queues        *queueing
	configuration configuration
	catalog       *instances.Catalog // nil for the built-in instance types
	client        dynamic.Interface
	results       interface {
		Attempts(uid types.UID) ([]result.Summary, error)
		Get(uid types.UID, attempt int) (*result.Cycle, error)
	}
}

var (
	_ server.Hypotheses = (*doors)(nil)
	_ submit.Cluster    = (*doors)(nil)
)

func (d *doors) Why(ctx context.Context, q why.Question) (*why.Answer, error) {
	return why.Ask(ctx, d, q)
}

// Submit answers what would become of jobs.
func (d *doors) Submit(ctx context.Context, q submit.Question) (*submit.Answers, error) {
	return submit.Ask(ctx, d, q)
}

// Autoscale answers what an autoscaler would do.
func (d *doors) Autoscale(ctx context.Context, q autoscale.Question) (*autoscale.Answer, error) {
	q.Catalog = d.catalog
	return autoscale.Ask(ctx, d, q)
}

// Drain answers what a drain would do.
func (d *doors) Drain(ctx context.Context, q drain.Question) (*drain.Answer, error) {
	return drain.Ask(ctx, d, q)
}

var _ upgrade.Cluster = (*doors)(nil)

// Load returns the decisions about the pods as they are now.
func (d *doors) Load(ctx context.Context) (*upgrade.Load, error) {
	ops, err := d.State(ctx)
	if err != nil {
		return nil, err
	}
	document, err := d.configuration.Current()
	if err != nil {
		return nil, err
	}
	return &upgrade.Load{Source: upgrade.Moment(ops), Cluster: d.Grounds().Cluster, Configuration: document}, nil
}

// Deschedule answers what the descheduler would do.
func (d *doors) Deschedule(ctx context.Context, q deschedule.Question) (*deschedule.Answer, error) {
	return deschedule.Ask(ctx, d, q)
}

// Fit answers with suggestions, and with what the autoscaler would do.
func (d *doors) Fit(ctx context.Context, q hypothesis.Fit) (*hypothesis.FitAnswer, error) {
	answer, err := d.Desk.Fit(ctx, q)
	autoscale.Help(ctx, d, d.catalog, q, answer)
	return answer, err
}

// Queues returns a copy of what admission knows, or what it would know of queues that another Kueue runs.
func (d *doors) Queues(ctx context.Context) (*admission.State, *submit.Configured, error) {
	if running := d.queues.running.Load(); running != nil && !d.queues.staysOut() {
		state, err := running.Copy(ctx)
		if errors.Is(err, control.ErrOff) {
			return nil, nil, submit.ErrNoQueues
		}
		return state, submit.Simulated(d.queues.configuration.Load().Settings()), err
	}
	return submit.StateOf(ctx, d, time.Now().UTC())
}

func (d *doors) Grounds() why.Grounds {
	return why.Grounds{Cluster: "the simulated cluster", Version: process.Kubernetes(), Configuration: "cluster"}
}

func (d *doors) Get(ctx context.Context, gvk schema.GroupVersionKind, namespace, name string) (runtime.Object, error) {
	u, err := d.of(gvk, namespace).Get(ctx, name, metav1.GetOptions{})
	if apierrors.IsNotFound(err) {
		return nil, &whatif.NotFoundError{ObjectRef: whatif.ObjectRef{GVK: gvk, Namespace: namespace, Name: name}}
	}
	if err != nil {
		return nil, err
	}
	return typed(u)
}

func (d *doors) of(gvk schema.GroupVersionKind, namespace string) dynamic.ResourceInterface {
	resource, _ := meta.UnsafeGuessKindToResource(gvk)
	if namespace == "" {
		return d.client.Resource(resource)
	}
	return d.client.Resource(resource).Namespace(namespace)
}

// List returns nothing for a kind that the cluster does not serve.
func (d *doors) List(ctx context.Context, gvk schema.GroupVersionKind, namespace string) ([]runtime.Object, error) {
	list, err := d.of(gvk, namespace).List(ctx, metav1.ListOptions{})
	if apierrors.IsNotFound(err) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("listing %s: %w", gvk.Kind, err)
	}
	out := make([]runtime.Object, len(list.Items))
	for i := range list.Items {
		if out[i], err = typed(&list.Items[i]); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// typed returns an object of its own type if it has one.
func typed(u *unstructured.Unstructured) (runtime.Object, error) {
	o, err := scheme.Scheme.New(u.GroupVersionKind())
	if runtime.IsNotRegisteredError(err) {
		return u, nil
	}
	if err == nil {
		err = runtime.DefaultUnstructuredConverter.FromUnstructured(u.Object, o)
	}
	return o, err
}

// Record returns the newest recorded decision that placed a pod; nil if none is kept.
func (d *doors) Record(_ context.Context, pod types.UID) (*result.Cycle, error) {
	attempts, err := d.results.Attempts(pod)
	if err != nil {
		return nil, err
	}
	for i := len(attempts) - 1; i >= 0; i-- {
		if attempts[i].Outcome == result.Scheduled {
			return d.results.Get(pod, attempts[i].Attempt)
		}
	}
	return nil, nil
}
