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

// CatchUp waits until s, which is prepared and does not run, knows of every
// binding that predecessor, which has stopped, made or knew of. Without it the
// successor could place pods on room that is taken already.
func (s *Scheduler) CatchUp(ctx context.Context, predecessor *Scheduler) error {
	if predecessor.pods == nil {
		return nil // it never knew any
	}
	client, err := kubernetes.NewForConfig(s.options.Client)
	if err != nil {
		return fmt.Errorf("catching up with the scheduler before: %w", err)
	}
	bound, err := predecessor.bound()
	if err != nil {
		return fmt.Errorf("catching up with the scheduler before: %w", err)
	}
	err = wait.PollUntilContextCancel(ctx, time.Millisecond, true, func(ctx context.Context) (bool, error) {
		for uid, pod := range bound {
			known, err := s.knows(ctx, client, pod)
			if err != nil {
				return false, err
			}
			if known {
				delete(bound, uid)
			}
		}
		return len(bound) == 0, nil
	})
	if err != nil {
		return fmt.Errorf("catching up with the scheduler before: %d bindings are not known yet: %w", len(bound), err)
	}
	return nil
}

// bound returns the pods that have a node, as far as s came to know.
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

// knows reports whether s knows the node of a pod that has one, or that the pod
// is gone. Only for a pod that it does not know at all is the API server asked.
func (s *Scheduler) knows(ctx context.Context, client kubernetes.Interface, pod result.Pod) (bool, error) {
	known, err := s.pods.Pods(pod.Namespace).Get(pod.Name)
	switch {
	case err == nil && known.UID == pod.UID:
		return known.Spec.NodeName != "" && s.hasPlaced(known), nil
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

// hasPlaced reports whether the scheduler itself has learned of a bound pod: its
// cache and its queue hear of it later than the informer's store.
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

// bindings are those that a scheduler has made and that its informer has not
// seen yet. Its methods are safe for concurrent use.
type bindings struct {
	// bound reports whether the informer knows the pod to be bound, or not to
	// be there any more.
	bound func(result.Pod) bool

	mu   sync.Mutex
	made map[types.UID]result.Pod
}

func newBindings() *bindings { return &bindings{made: map[types.UID]result.Pod{}} }

func (b *bindings) add(pod result.Pod) {
	b.mu.Lock()
	b.made[pod.UID] = pod
	b.mu.Unlock()
	// Looked at after it was added: either this or the informer's handler takes
	// it out.
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

// sink stands before the user's: it numbers the cycles' configuration and sees
// the bindings.
type sink struct {
	recorder.Sink
	revision int
	bindings *bindings
	known    *known
}

func (s *sink) Put(c *result.Cycle) {
	c.Revision = s.revision
	if c.Outcome == result.Scheduled {
		s.bindings.add(c.Pod)
		s.known.expect(c.Pod.UID)
	}
	s.Sink.Put(c)
}
