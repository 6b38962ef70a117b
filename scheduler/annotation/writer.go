package annotation

import (
	"context"
	"encoding/json"
	"sync"
	"time"

	v1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"
	"k8s.io/klog/v2"
	"k8s.io/utils/clock"

	"kube-scheduler-simulator/scheduler/result"
)

// DefaultBudget is the default size limit of a pod's annotations, in bytes.
// Kubernetes limits all annotations of a pod together to 256 KiB, and every byte is
// stored, watched and sent many times.
const DefaultBudget = 64 << 10

// Results provides the cycles that a Writer renders.
type Results interface {
	// Get returns an attempt, or nil when it is no longer kept.
	Get(uid types.UID, attempt int) (*result.Cycle, error)
}

// Writer writes cycles to the annotations of their pods. It yields to scheduling: while
// cycles arrive faster than busyAfter, it writes at most one pod every busyPause.
type Writer struct {
	client  kubernetes.Interface
	results Results
	budget  int
	clock   clock.Clock

	mu sync.Mutex
	// waiting holds the latest attempt of each pod that must be written; order holds
	// their UIDs, oldest first. Attempts of one pod coalesce, so the number of pods
	// bounds it.
	waiting map[types.UID]int
	order   []types.UID
	latest  time.Time
	wake    chan struct{}
}

const (
	// busyAfter is the shortest gap between cycles that counts as idle scheduling.
	busyAfter = 100 * time.Millisecond
	// busyPause is the pause between writes while scheduling is busy.
	busyPause = 100 * time.Millisecond
	// maxTries bounds how often the writer tries to write one attempt.
	maxTries = 5
)

// NewWriter returns a writer that is not running. budget is in bytes per pod.
func NewWriter(client kubernetes.Interface, results Results, budget int, c clock.Clock) *Writer {
	return &Writer{
		client: client, results: results, budget: budget, clock: c,
		waiting: map[types.UID]int{},
		wake:    make(chan struct{}, 1),
	}
}

// Reset drops the attempts that are not written yet. A write in progress continues.
func (w *Writer) Reset() {
	w.mu.Lock()
	defer w.mu.Unlock()
	clear(w.waiting)
	w.order = nil
}

// Note queues c to be written. It does not block. It ignores a cycle that is published again
// because its victims have been evicted: no annotation says so, and the pod may have a later
// attempt.
func (w *Writer) Note(c *result.Cycle) {
	if c.Updates > 0 && c.Evictions() != nil {
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.latest = w.clock.Now()
	w.enqueue(c.Pod.UID, c.Attempt)
}

func (w *Writer) enqueue(uid types.UID, attempt int) {
	if _, ok := w.waiting[uid]; !ok {
		w.order = append(w.order, uid)
	}
	w.waiting[uid] = max(attempt, w.waiting[uid])
	select {
	case w.wake <- struct{}{}:
	default:
	}
}

// Run writes until ctx is done and drops the attempts that are still waiting then.
func (w *Writer) Run(ctx context.Context) {
	for {
		uid, attempt, ok := w.next()
		if !ok {
			select {
			case <-ctx.Done():
				return
			case <-w.wake:
				continue
			}
		}
		if pause := w.pause(); pause > 0 {
			select {
			case <-ctx.Done():
				return
			case <-w.clock.After(pause):
			}
		}
		w.write(ctx, uid, attempt)
		if ctx.Err() != nil {
			return
		}
	}
}

func (w *Writer) next() (types.UID, int, bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if len(w.order) == 0 {
		return "", 0, false
	}
	uid := w.order[0]
	w.order = w.order[1:]
	attempt := w.waiting[uid]
	delete(w.waiting, uid)
	return uid, attempt, true
}

// pause returns how long to wait before the next write.
func (w *Writer) pause() time.Duration {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.clock.Since(w.latest) >= busyAfter {
		return 0
	}
	return busyPause
}

func (w *Writer) write(ctx context.Context, uid types.UID, attempt int) {
	c, err := w.results.Get(uid, attempt)
	if err != nil || c == nil {
		return // The cycle was dropped in the meantime.
	}
	earlier := func(back int) *result.Cycle {
		e, _ := w.results.Get(uid, attempt-1-back)
		return e
	}
	annotations := Render(c, earlier, w.budget)
	for try := 1; ; try++ {
		err := w.tryToWrite(ctx, c, annotations)
		switch {
		case err == nil, ctx.Err() != nil:
			return
		case apierrors.IsNotFound(err):
			return // deleted
		case try == maxTries || apierrors.IsInvalid(err):
			klog.FromContext(ctx).Error(err, "Cannot write the annotations of a pod", "pod", klog.KRef(c.Pod.Namespace, c.Pod.Name))
			return
		}
		select {
		case <-ctx.Done():
			return
		case <-w.clock.After(time.Duration(try) * busyPause):
		}
	}
}

// tryToWrite writes to the current version of a pod, unless the pod is being deleted or
// another pod has taken its name. The patch names the version: patching a pod that is
// about to be removed makes the API server delete the object that has the name by then,
// which may be the next pod.
func (w *Writer) tryToWrite(ctx context.Context, c *result.Cycle, annotations map[string]string) error {
	pods := w.client.CoreV1().Pods(c.Pod.Namespace)
	pod, err := pods.Get(ctx, c.Pod.Name, metav1.GetOptions{})
	if err != nil || pod.UID != c.Pod.UID || pod.DeletionTimestamp != nil {
		return err
	}
	patch, err := patchOf(pod, annotations)
	if err != nil {
		return err
	}
	_, err = pods.Patch(ctx, c.Pod.Name, types.MergePatchType, patch, metav1.PatchOptions{FieldManager: "kube-scheduler-simulator"})
	return err
}

// optional annotations are removed when the latest attempt does not have them.
var optional = []string{
	truncated, history, facts, nodeFacts,
	extenderName(result.ExtenderFilter), extenderName(result.ExtenderPrioritize),
	extenderName(result.ExtenderPreempt), extenderName(result.ExtenderBind),
}

// patchOf returns a merge patch that applies only to this version of a pod.
func patchOf(pod *v1.Pod, annotations map[string]string) ([]byte, error) {
	values := make(map[string]*string, len(annotations)+len(optional))
	for _, name := range optional {
		values[Prefix+name] = nil
	}
	for name, value := range annotations {
		values[name] = &value
	}
	return json.Marshal(map[string]any{"metadata": map[string]any{
		"uid": pod.UID, "resourceVersion": pod.ResourceVersion, "annotations": values,
	}})
}
