package schedulertest

import (
	"context"
	"fmt"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"
	kubescheduler "k8s.io/kubernetes/pkg/scheduler"
)

// Cluster describes a run from start to end. It is a value: the same cluster can be
// run any number of times.
type Cluster struct {
	Name string
	// Gates are the feature gates to set around each run.
	Gates map[string]bool
	// Configuration is a KubeSchedulerConfiguration in YAML.
	Configuration string
	// Grace is how long a running pod takes to terminate; 0 means that it
	// terminates immediately.
	Grace time.Duration
	// Objects exist before the scheduler starts.
	Objects []runtime.Object
	// Operations run one after the other.
	Operations []Operation
}

// Operation is one step of a run.
type Operation struct {
	Name string
	Do   func(context.Context, *Simulation) error
	// Wait is how long the run observes the effects; DefaultWait by default.
	Wait time.Duration
}

// DefaultWait is longer than the longest backoff that a test configures.
const DefaultWait = 3 * time.Second

// Simulation is a run in progress.
type Simulation struct {
	Server     *APIServer
	Client     kubernetes.Interface
	Observer   *Observer
	Transcript *Transcript

	queue *queue
	begin time.Time
}

// Hooks are the parts that differ between the runs of a cluster.
type Hooks struct {
	// Start starts a scheduler that is attached to the simulation, and returns a
	// function that stops it.
	Start func(context.Context, *Simulation) (stop func(context.Context) error, err error)
	// Beside, if not nil, runs concurrently with each operation. Its actions must
	// not affect the outcome.
	Beside func(context.Context, *Simulation, int)
}

// Attach observes sched. It is for Hooks.Start.
func (s *Simulation) Attach(sched *kubescheduler.Scheduler) {
	s.Observer.Attach(sched)
	s.queue = sched.SchedulingQueue.(*queue)
}

// Run runs the cluster. It must be called within a bubble of testing/synctest.
func (c *Cluster) Run(ctx context.Context, hooks Hooks) (*Simulation, error) {
	server := NewAPIServer()
	server.controllers.podGrace = c.Grace
	client, err := kubernetes.NewForConfig(server.Config("user"))
	if err != nil {
		return nil, err
	}
	transcript := &Transcript{start: time.Now()}
	sim := &Simulation{Server: server, Client: client, Transcript: transcript, Observer: NewObserver(transcript), begin: time.Now()}
	server.writes = sim.noteWrite
	sim.Transcript.step("%s", c.Name)
	for _, o := range c.Objects {
		if err := sim.Create(ctx, o); err != nil {
			return nil, fmt.Errorf("creating %T: %w", o, err)
		}
	}
	sim.Transcript.step("start the scheduler")
	stop, err := hooks.Start(ctx, sim)
	if err != nil {
		return nil, err
	}
	time.Sleep(DefaultWait)
	for i, op := range c.Operations {
		sim.run(ctx, i, op, hooks.Beside)
	}
	sim.Transcript.step("stop")
	for range 100 {
		if !sim.Observer.busy() {
			break
		}
		time.Sleep(100 * time.Millisecond)
	}
	if err := stop(ctx); err != nil {
		return nil, fmt.Errorf("stopping: %w", err)
	}
	// Goroutines that Kubernetes does not wait for end on their own.
	time.Sleep(time.Minute)
	return sim, nil
}

func (s *Simulation) run(ctx context.Context, i int, op Operation, beside func(context.Context, *Simulation, int)) {
	s.Transcript.step("%s", op.Name)
	done := make(chan struct{})
	go func() {
		defer close(done)
		if beside != nil {
			beside(ctx, s, i)
		}
	}()
	if err := op.Do(ctx, s); err != nil {
		s.Transcript.note(writing, "refused: %v", err)
	}
	wait := op.Wait
	if wait == 0 {
		wait = DefaultWait
	}
	// Each operation starts at a full second plus an offset that keeps it away from
	// the queue's timers.
	time.Sleep(time.Until(s.begin.Add(time.Since(s.begin).Truncate(time.Second) + wait + 370*time.Millisecond)))
	<-done
	for _, text := range s.queue.state(s.begin) {
		s.Transcript.note(requeuing, "%s", text)
	}
}

func (s *Simulation) noteWrite(w write) {
	if w.agent == Annotator || w.agent == "user" {
		return
	}
	text := fmt.Sprintf("write: %s %s %s", w.method, w.resource, w.key)
	if w.subresource != "" {
		text += "/" + w.subresource
	}
	switch {
	case w.after == nil:
	case w.resource == "pods" && w.before != nil:
		status := field(w.after, "status")
		text += fmt.Sprintf(" node %v nominated %v deleting %t conditions %s",
			field(w.after, "spec")["nodeName"], status["nominatedNodeName"],
			field(w.after, "metadata")["deletionTimestamp"] != nil, canonical(status["conditions"]))
	default:
		text += fmt.Sprintf(" spec %s status %s", canonical(field(w.after, "spec")), canonical(field(w.after, "status")))
	}
	s.Transcript.note(writing+w.key, "%s by %s", text, w.agent)
}

// canonical encodes v without the values that differ between equivalent runs:
// resource versions, which annotations also advance, and the times of conditions,
// which are whole seconds.
func canonical(v any) []byte { return mustEncode(without(v)) }

func without(v any) any {
	switch v := v.(type) {
	case object:
		out := object{}
		for name, value := range v {
			switch name {
			case "resourceVersion", "lastTransitionTime", "lastProbeTime":
			default:
				out[name] = without(value)
			}
		}
		return out
	case []any:
		out := make([]any, len(v))
		for i := range v {
			out[i] = without(v[i])
		}
		return out
	}
	return v
}

// Create creates any object.
func (s *Simulation) Create(ctx context.Context, o runtime.Object) error {
	return Create(ctx, s.Client, o)
}

// PatchPod patches a pod as a user does, with a merge patch.
func (s *Simulation) PatchPod(ctx context.Context, name, patch string, subresources ...string) error {
	_, err := s.Client.CoreV1().Pods(Namespace).Patch(ctx, name, types.MergePatchType, []byte(patch), metav1.PatchOptions{}, subresources...)
	return quiet(err)
}

// PatchNode patches a node as a user does, with a merge patch.
func (s *Simulation) PatchNode(ctx context.Context, name, patch string, subresources ...string) error {
	_, err := s.Client.CoreV1().Nodes().Patch(ctx, name, types.MergePatchType, []byte(patch), metav1.PatchOptions{}, subresources...)
	return quiet(err)
}

// FailBinding makes the next bindings of a pod fail.
func (s *Simulation) FailBinding(pod string, times int) { s.Server.FailBinding(pod, times) }

// FailDeletion makes the next deletions of a pod fail.
func (s *Simulation) FailDeletion(pod string, times int) {
	s.Server.mu.Lock()
	defer s.Server.mu.Unlock()
	s.Server.failures["DELETE /v1/pods "+Namespace+"/"+pod+" "] = times
}

// quiet drops the error for an object that no longer exists: whether an operation
// finds its object depends on earlier operations.
func quiet(err error) error {
	if apierrors.IsNotFound(err) {
		return nil
	}
	return err
}

// PodNames returns the sorted names of the existing pods.
func (s *Simulation) PodNames() []string {
	s.Server.mu.Lock()
	defer s.Server.mu.Unlock()
	var out []string
	for _, key := range sortedKeys(s.Server.kinds["/v1/pods"]) {
		out = append(out, key[len(Namespace)+1:])
	}
	return out
}

// Annotate writes an annotation to a pod as the simulator's writer does, without
// delaying other requests.
func (s *Simulation) Annotate(ctx context.Context, pod, name, value string) {
	client, err := kubernetes.NewForConfig(s.Server.Config(Annotator))
	if err != nil {
		panic(err) // the configuration is ours
	}
	patch := mustEncode(object{"metadata": object{"annotations": object{name: value}}})
	_, _ = client.CoreV1().Pods(Namespace).Patch(ctx, pod, types.MergePatchType, patch, metav1.PatchOptions{})
}

// Annotations returns the values of all annotations of pods.
func (s *Simulation) Annotations() []string {
	s.Server.mu.Lock()
	defer s.Server.mu.Unlock()
	var out []string
	for _, key := range sortedKeys(s.Server.kinds["/v1/pods"]) {
		for _, value := range field(s.Server.kinds["/v1/pods"][key].object, "metadata", "annotations") {
			out = append(out, value.(string))
		}
	}
	return out
}

// Fill creates objects.
func Fill(ctx context.Context, server *APIServer, objects []runtime.Object) error {
	client, err := kubernetes.NewForConfig(server.Config("user"))
	if err != nil {
		return err
	}
	for _, o := range objects {
		if err := Create(ctx, client, o); err != nil {
			return err
		}
	}
	return nil
}
