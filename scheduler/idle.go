package scheduler

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	v1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/resourceversion"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/component-helpers/storage/ephemeral"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/names"

	"kube-scheduler-simulator/scheduler/result"
)

// Change is an object that somebody wrote or deleted, of which the scheduler is
// about to hear.
type Change struct {
	UID types.UID
	// ResourceVersion is that of the write; empty for a deletion.
	ResourceVersion string
	Deleted         bool
	// Certain: the scheduler hears of it without fail. That holds for nodes and
	// pods, unless another scheduler is responsible for a pod without a node. Of
	// other changes it hears when its plugins want to know.
	Certain bool
}

const (
	idlePoll = 500 * time.Microsecond
	// hearing is how long Idle waits for a change that is not certain to be heard
	// of: many times what the API server takes to say so.
	hearing = 30 * time.Millisecond
	// quietFor is how long nothing may be to do: an event that follows from a
	// binding may be on its way. With a pod that has preempted others, their
	// deletions are.
	quietFor           = time.Millisecond
	quietForPreemption = 30 * time.Millisecond
	// claiming is how long after its creation a pod may wait for a controller to make
	// its claims. There may be none that does.
	claiming = 5 * time.Second
)

// Idle waits until s knows of the changes and has nothing to do: no pod is ready
// to be tried, none is being tried or bound, and all results are with the sink.
// Pods that cannot be scheduled, or are gated, or back off because of an error,
// may be left over; one for which a controller is about to make claims is waited
// for. It returns ctx's error, saying what was being waited for. Only
// a scheduler with a Sink can be asked. It may be called from any goroutine while s
// runs.
func (s *Scheduler) Idle(ctx context.Context, changes []Change) error {
	start := time.Now()
	waiting, quiet := "", time.Time{}
	err := wait.PollUntilContextCancel(ctx, idlePoll, true, func(context.Context) (bool, error) {
		late := time.Since(start) > hearing
		for len(changes) > 0 && (s.known.has(changes[0]) || late && !changes[0].Certain) {
			changes = changes[1:]
		}
		if len(changes) > 0 {
			waiting, quiet = fmt.Sprintf("it has not heard of %d changes", len(changes)), time.Time{}
			return false, nil
		}
		var atLeast time.Duration
		if waiting, atLeast = s.busy(); waiting != "" {
			quiet = time.Time{}
			return false, nil
		}
		if quiet.IsZero() {
			quiet = time.Now()
		}
		return time.Since(quiet) >= atLeast, nil
	})
	if err != nil {
		return fmt.Errorf("waiting for the scheduler to become idle (%s): %w", waiting, err)
	}
	return nil
}

// busy says what s is doing, or how long nothing must be to do.
func (s *Scheduler) busy() (doing string, atLeast time.Duration) {
	queue := s.sched.SchedulingQueue
	if n := len(queue.PodsInActiveQ()); n > 0 {
		return fmt.Sprintf("%d pods are ready to be tried", n), 0
	}
	for _, pod := range queue.PodsInBackoffQ() {
		if info, ok := queue.GetPod(pod.Name, pod.Namespace, pod.Spec.SchedulingGroup); ok && info.ConsecutiveErrorsCount == 0 {
			return "pods back off", 0
		}
	}
	// What is popped is in flight before it leaves the queue.
	if n := len(queue.InFlightPods()); n > 0 {
		return fmt.Sprintf("%d pods are being tried or bound", n), 0
	}
	if !s.recorder.Idle() || !s.recorder.Delivered() {
		return "results are on their way", 0
	}
	if n := s.known.expected(); n > 0 {
		return fmt.Sprintf("it has not heard of %d of its own bindings", n), 0
	}
	atLeast = quietFor
	for _, pod := range queue.UnschedulablePods() {
		switch {
		case s.holds(names.DefaultPreemption, pod):
			return "preemption is under way", 0
		case time.Since(pod.CreationTimestamp.Time) < claiming && s.awaitsClaim(pod):
			return "a pod's claims are being made", 0
		}
		if pod.Status.NominatedNodeName != "" {
			atLeast = quietForPreemption
		}
	}
	return "", atLeast
}

// holds reports whether a PreEnqueue plugin keeps the pod out of the queue.
func (s *Scheduler) holds(plugin string, pod *v1.Pod) bool {
	return slices.ContainsFunc(s.Held(pod.UID), func(r result.PluginResult) bool { return r.Plugin == plugin })
}

// awaitsClaim reports whether the pod cannot be tried before a controller has made
// a claim for it.
func (s *Scheduler) awaitsClaim(pod *v1.Pod) bool {
	generated := func(c v1.PodResourceClaim) bool { return c.ResourceClaimTemplateName != nil }
	if slices.ContainsFunc(pod.Spec.ResourceClaims, generated) && s.holds(names.DynamicResources, pod) {
		return true
	}
	return slices.ContainsFunc(pod.Spec.Volumes, func(v v1.Volume) bool {
		if v.Ephemeral == nil {
			return false
		}
		_, err := s.claims.PersistentVolumeClaims(pod.Namespace).Get(ephemeral.VolumeClaimName(pod, &v))
		return apierrors.IsNotFound(err)
	})
}

// known is what the scheduler's event handlers have dealt with: their last step
// is a call of the queue. Its methods are safe for concurrent use.
type known struct {
	mu sync.Mutex
	// versions are the latest ones, by UID, of the objects that are there.
	versions map[types.UID]string
	bound    map[types.UID]bool
	// bindings are those that the scheduler has made and not heard of.
	bindings map[types.UID]bool
}

func newKnown() *known {
	return &known{versions: map[types.UID]string{}, bound: map[types.UID]bool{}, bindings: map[types.UID]bool{}}
}

// note takes the objects of an event, the later one last. Either may be nil.
func (k *known) note(oldObj, newObj any) {
	gone := newObj == nil
	obj := newObj
	if gone {
		obj = oldObj
	}
	accessor, err := meta.Accessor(obj)
	if err != nil {
		return // an event without an object
	}
	uid := accessor.GetUID()
	k.mu.Lock()
	defer k.mu.Unlock()
	if gone {
		delete(k.versions, uid)
		delete(k.bound, uid)
		delete(k.bindings, uid)
		return
	}
	k.versions[uid] = accessor.GetResourceVersion()
	if pod, ok := obj.(*v1.Pod); ok && pod.Spec.NodeName != "" {
		k.bound[uid] = true
		delete(k.bindings, uid)
	}
}

// gone takes a pod without a node that has left the queue. One that is known to
// be bound has left it for that.
func (k *known) gone(pod *v1.Pod) {
	k.mu.Lock()
	bound := k.bound[pod.UID]
	k.mu.Unlock()
	if !bound {
		k.note(pod, nil)
	}
}

// expect notes a binding that the scheduler has made.
func (k *known) expect(uid types.UID) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if _, there := k.versions[uid]; there && !k.bound[uid] {
		k.bindings[uid] = true
	}
}

func (k *known) expected() int {
	k.mu.Lock()
	defer k.mu.Unlock()
	return len(k.bindings)
}

func (k *known) has(c Change) bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	version, there := k.versions[c.UID]
	if c.Deleted {
		return !there
	}
	if !there {
		return false
	}
	if version == c.ResourceVersion {
		return true
	}
	order, err := resourceversion.CompareResourceVersion(version, c.ResourceVersion)
	return err == nil && order > 0
}
