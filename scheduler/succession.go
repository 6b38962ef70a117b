package scheduler

import (
	"context"
	"fmt"
	"maps"
	"sync"
	"time"

	v1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/kubernetes"

	"kube-scheduler-simulator/scheduler/recorder"
	"kube-scheduler-simulator/scheduler/result"
)

// CatchUp waits until s has seen everything that predecessor has handed out: every binding that it
// made or had seen, the allocated claims, the volumes and the nominations. Otherwise s could hand
// these out again. Call it when predecessor has stopped and s is prepared but does not run.
func (s *Scheduler) CatchUp(ctx context.Context, predecessor *Scheduler) error {
	if predecessor.pods == nil {
		return nil // predecessor is bare or was never built: it tracks no bindings
	}
	client, err := kubernetes.NewForConfig(s.options.Client)
	if err != nil {
		return fmt.Errorf("catching up with the previous scheduler: %w", err)
	}
	bound, err := predecessor.bound()
	if err != nil {
		return fmt.Errorf("catching up with the previous scheduler: %w", err)
	}
	err = wait.PollUntilContextCancel(ctx, time.Millisecond, true, func(ctx context.Context) (bool, error) {
		for uid, pod := range bound {
			seen, err := s.hasSeenNode(ctx, client, pod)
			if err != nil {
				return false, err
			}
			if seen {
				delete(bound, uid)
			}
		}
		return len(bound) == 0, nil
	})
	if err != nil {
		return fmt.Errorf("catching up with the previous scheduler, which made %d bindings that this one has not seen: %w", len(bound), err)
	}
	if err := s.waitForAllocations(ctx, client); err != nil {
		return fmt.Errorf("catching up with the claims, volumes and nominations of the previous scheduler: %w", err)
	}
	return nil
}

func (s *Scheduler) bound() (map[types.UID]result.Pod, error) {
	out := s.bindings.unseen()
	pods, err := s.pods.List(labels.Everything())
	if err != nil {
		return nil, err
	}
	for _, pod := range pods {
		if pod.Spec.NodeName != "" {
			out[pod.UID] = identity(pod)
		}
	}
	return out, nil
}

// hasSeenNode reports whether s has seen the binding of a pod, or the pod no longer exists. It asks
// the API server only about pods that s has never seen.
func (s *Scheduler) hasSeenNode(ctx context.Context, client kubernetes.Interface, pod result.Pod) (bool, error) {
	latest, err := s.pods.Pods(pod.Namespace).Get(pod.Name)
	switch {
	case err == nil && latest.UID == pod.UID:
		return latest.Spec.NodeName != "" && s.hasPlaced(latest), nil
	case err != nil && !apierrors.IsNotFound(err):
		return false, err
	}
	current, err := client.CoreV1().Pods(pod.Namespace).Get(ctx, pod.Name, metav1.GetOptions{})
	if apierrors.IsNotFound(err) {
		return true, nil
	}
	if err != nil {
		return false, err
	}
	return current.UID != pod.UID, nil
}

// hasPlaced reports whether the scheduler itself has seen a bound pod. Its cache and its queue
// receive the pod after the informer's store does.
func (s *Scheduler) hasPlaced(pod *v1.Pod) bool {
	if _, err := s.sched.Cache.GetPod(pod); err != nil {
		return false
	}
	queued, waiting := s.sched.SchedulingQueue.GetPod(pod.Name, pod.Namespace, pod.Spec.SchedulingGroup)
	return !waiting || queued.Pod.Spec.NodeName != "" // a bound pod may wait for a resize
}

func identity(pod *v1.Pod) result.Pod {
	return result.Pod{Namespace: pod.Namespace, Name: pod.Name, UID: pod.UID}
}

// bindings are the bindings that a scheduler made but that its informer has not
// seen yet. Its methods are safe for concurrent use.
type bindings struct {
	// bound reports whether the informer knows that the pod is bound, or that it
	// no longer exists.
	bound func(result.Pod) bool

	mu   sync.Mutex
	made map[types.UID]result.Pod
}

func newBindings() *bindings { return &bindings{made: map[types.UID]result.Pod{}} }

func (b *bindings) add(pod result.Pod) {
	b.mu.Lock()
	b.made[pod.UID] = pod
	b.mu.Unlock()
	// Check after adding: either this or the informer's handler removes it.
	if b.bound(pod) {
		b.seen(pod.UID)
	}
}

func (b *bindings) seen(uid types.UID) {
	b.mu.Lock()
	defer b.mu.Unlock()
	delete(b.made, uid)
}

func (b *bindings) unseen() map[types.UID]result.Pod {
	b.mu.Lock()
	defer b.mu.Unlock()
	return maps.Clone(b.made)
}

// sink sets the configuration's revision on each cycle, notes its binding, and passes it to the
// user's sink.
type sink struct {
	recorder.Sink
	revision int
	bindings *bindings
	seen     *seenObjects
}

func (s *sink) Put(c *result.Cycle) {
	c.Revision = s.revision
	if c.Outcome == result.Scheduled {
		s.bindings.add(c.Pod)
		s.seen.expectBinding(c.Pod.UID)
	}
	s.Sink.Put(c)
}
