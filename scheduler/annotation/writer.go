package annotation

import (
	"context"
	"encoding/json"
	"maps"
	"slices"
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

// All pods share sharedBudget, because the API server keeps them in memory. Each pod may use
// leastBudget in any case.
const (
	sharedBudget = 32 << 20
	leastBudget  = 4 << 10
)

// Results provides the cycles that a Writer renders.
type Results interface {
	// Get returns an attempt, or nil when it is no longer kept.
	Get(uid types.UID, attempt int) (*result.Cycle, error)
	// Pods returns the number of pods with kept attempts.
	Pods() int
}

// Writer writes cycles to the annotations of their pods. It yields to scheduling: while cycles come
// faster than busyAfter, it writes only pods that have waited for patience, one every busyPause at
// most.
type Writer struct {
	client  kubernetes.Interface
	results Results
	budget  int
	clock   clock.Clock
	// pods: see NewWriter.
	pods func(namespace, name string) *v1.Pod

	mu sync.Mutex
	// waiting holds the pods to write, order their UIDs, oldest first, and retries the UIDs of
	// failed writes. Attempts of one pod coalesce, so the number of pods bounds all three.
	waiting map[types.UID]*job
	order   []types.UID
	retries []types.UID
	// latest is when the latest cycle arrived, and wrote when the latest write began.
	latest, wrote time.Time
	wake          chan struct{}
}

// Attempt is an attempt of a pod that is not written yet.
type Attempt struct {
	UID     types.UID `json:"uid"`
	Attempt int       `json:"attempt"`
}

type job struct {
	Attempt
	since time.Time
	// tries counts the failed writes; the next one must not begin before due.
	tries int
	due   time.Time
}

const (
	// busyAfter is the shortest gap between cycles that counts as idle scheduling.
	busyAfter = 100 * time.Millisecond
	// busyPause is the pause between writes while scheduling is busy.
	busyPause = 500 * time.Millisecond
	// patience is how long a pod waits for scheduling to be idle.
	patience = 3 * time.Second
	// retryPause is the pause after a pod's first failed write; n times as long after the n-th.
	retryPause = 100 * time.Millisecond
	maxTries   = 5
)

// NewWriter returns a writer that is not running. budget is in bytes per pod; with many pods it is
// less. pods, if not nil, returns a pod from a cache, or nil; callers do not change the pod. It is
// whole, as the API server has it, but may lack managed fields and results.
func NewWriter(client kubernetes.Interface, results Results, budget int, c clock.Clock, pods func(namespace, name string) *v1.Pod) *Writer {
	if pods == nil {
		pods = func(string, string) *v1.Pod { return nil }
	}
	return &Writer{
		client: client, results: results, budget: budget, clock: c, pods: pods,
		waiting: map[types.UID]*job{},
		wake:    make(chan struct{}, 1),
	}
}

// Reset drops the attempts that are not written yet. A write in progress continues.
func (w *Writer) Reset() {
	w.mu.Lock()
	defer w.mu.Unlock()
	clear(w.waiting)
	w.order, w.retries = nil, nil
}

// Note queues c to be written. It does not block. It ignores a cycle that is published again after
// evictions: no annotation says so, and the pod may have a later attempt.
func (w *Writer) Note(c *result.Cycle) {
	if c.Updates > 0 && c.Evictions() != nil {
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.latest = w.clock.Now()
	w.enqueue(Attempt{c.Pod.UID, c.Attempt})
}

// Resume queues the attempts that an earlier writer left, unless later ones of their pods
// wait already.
func (w *Writer) Resume(left []Attempt) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, a := range left {
		w.enqueue(a)
	}
}

// Left returns the attempts that wait to be written, oldest first. After Run has returned,
// they are those that it has not written.
func (w *Writer) Left() []Attempt {
	w.mu.Lock()
	defer w.mu.Unlock()
	left := make([]Attempt, 0, len(w.waiting))
	for _, uid := range slices.Concat(w.retries, w.order) {
		left = append(left, w.waiting[uid].Attempt)
	}
	return left
}

func (w *Writer) enqueue(a Attempt) {
	if j := w.waiting[a.UID]; j != nil {
		j.Attempt.Attempt = max(a.Attempt, j.Attempt.Attempt)
	} else {
		w.waiting[a.UID] = &job{Attempt: a, since: w.clock.Now()}
		w.order = append(w.order, a.UID)
	}
	w.signal()
}

func (w *Writer) signal() {
	select {
	case w.wake <- struct{}{}:
	default:
	}
}

// Run writes until ctx is done.
func (w *Writer) Run(ctx context.Context) {
	for ctx.Err() == nil {
		j, pause := w.next()
		switch {
		case j != nil:
			w.finish(ctx, j, w.write(ctx, j))
		case pause > 0:
			select {
			case <-ctx.Done():
			case <-w.clock.After(pause):
			}
		default:
			select {
			case <-ctx.Done():
			case <-w.wake:
			}
		}
	}
}

// If no job is due, next returns how long to wait, or 0 when there are no jobs.
func (w *Writer) next() (j *job, pause time.Duration) {
	w.mu.Lock()
	defer w.mu.Unlock()
	now := w.clock.Now()
	from := &w.order
	if len(w.retries) > 0 && !w.waiting[w.retries[0]].due.After(now) {
		from = &w.retries
	}
	if len(*from) == 0 {
		if len(w.retries) == 0 {
			return nil, 0
		}
		return nil, w.waiting[w.retries[0]].due.Sub(now)
	}
	j = w.waiting[(*from)[0]]
	if pause := w.pause(j, now); pause > 0 {
		return nil, pause
	}
	w.wrote = now
	*from = (*from)[1:]
	delete(w.waiting, j.UID)
	return j, 0
}

func (w *Writer) pause(j *job, now time.Time) time.Duration {
	idle := busyAfter - now.Sub(w.latest)
	if idle <= 0 {
		return 0
	}
	if left := patience - now.Sub(j.since); left > 0 {
		return min(left, idle)
	}
	return min(w.wrote.Add(busyPause).Sub(now), idle)
}

// finish requeues j if its write failed and can be retried.
func (w *Writer) finish(ctx context.Context, j *job, err error) {
	switch {
	case err == nil, apierrors.IsNotFound(err): // written, or the pod is gone
		return
	case ctx.Err() != nil:
	case j.tries+1 == maxTries && apierrors.IsConflict(err): // a reset keeps writes out, and removes the pod
		klog.FromContext(ctx).V(1).Info("Cannot write the annotations of a pod", "err", err, "uid", j.UID, "attempt", j.Attempt.Attempt)
		return
	case j.tries+1 == maxTries || apierrors.IsInvalid(err):
		klog.FromContext(ctx).Error(err, "Cannot write the annotations of a pod", "uid", j.UID, "attempt", j.Attempt.Attempt)
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.waiting[j.UID] != nil {
		return // a later attempt
	}
	j.tries++
	j.due = w.clock.Now().Add(time.Duration(j.tries) * retryPause)
	w.waiting[j.UID] = j
	at, _ := slices.BinarySearchFunc(w.retries, j.due, func(uid types.UID, due time.Time) int { return w.waiting[uid].due.Compare(due) })
	w.retries = slices.Insert(w.retries, at, j.UID)
}

func (w *Writer) write(ctx context.Context, j *job) error {
	attempt := j.Attempt.Attempt
	c, err := w.results.Get(j.UID, attempt)
	if err != nil || c == nil {
		return nil // The cycle was dropped in the meantime.
	}
	earlier := func(back int) *result.Cycle {
		e, _ := w.results.Get(j.UID, attempt-1-back)
		return e
	}
	pod, cached, err := w.pod(ctx, c, j.tries == 0)
	if err != nil || pod == nil {
		return err
	}
	annotations := Render(c, earlier, w.share(w.results.Pods()))
	if cached {
		return w.update(ctx, pod, annotations)
	}
	return w.patch(ctx, pod, annotations)
}

func (w *Writer) share(pods int) int {
	return min(w.budget, max(leastBudget, sharedBudget/max(pods, 1)))
}

// pod returns the pod of c, or nil if it is being deleted or another pod has its name. The cache
// may be late.
func (w *Writer) pod(ctx context.Context, c *result.Cycle, mayCache bool) (pod *v1.Pod, cached bool, err error) {
	if mayCache {
		pod = w.pods(c.Pod.Namespace, c.Pod.Name)
		cached = pod != nil && pod.UID == c.Pod.UID
	}
	if !cached {
		if pod, err = w.client.CoreV1().Pods(c.Pod.Namespace).Get(ctx, c.Pod.Name, metav1.GetOptions{}); err != nil {
			return nil, false, err
		}
	}
	if pod.UID != c.Pod.UID || pod.DeletionTimestamp != nil {
		return nil, false, nil
	}
	return pod, cached, nil
}

// fieldManager is who writes the annotations.
const fieldManager = "kube-scheduler-simulator"

// update writes to this version of a cached pod. It costs an API server less than a patch, for
// which the server encodes the pod as JSON and decodes it again. It replaces all results, so the
// cache may lack them.
func (w *Writer) update(ctx context.Context, pod *v1.Pod, annotations map[string]string) error {
	whole := *pod
	whole.Annotations = maps.Clone(pod.Annotations)
	if whole.Annotations == nil {
		whole.Annotations = make(map[string]string, len(annotations))
	}
	for _, name := range optional {
		delete(whole.Annotations, Prefix+name)
	}
	maps.Copy(whole.Annotations, annotations)
	_, err := w.client.CoreV1().Pods(pod.Namespace).Update(ctx, &whole, metav1.UpdateOptions{FieldManager: fieldManager})
	return err
}

// patch writes to this version of a pod. The patch names the version: a patch of a pod that is
// about to go makes the API server delete the object that has the name by then, perhaps the next
// pod.
func (w *Writer) patch(ctx context.Context, pod *v1.Pod, annotations map[string]string) error {
	patch, err := patchOf(pod, annotations)
	if err != nil {
		return err
	}
	_, err = w.client.CoreV1().Pods(pod.Namespace).Patch(ctx, pod.Name, types.MergePatchType, patch, metav1.PatchOptions{FieldManager: fieldManager})
	return err
}

// optional annotations are removed when the latest attempt does not have them.
var optional = []string{
	truncated, history, facts, nodeFacts,
	extenderName(result.ExtenderFilter), extenderName(result.ExtenderPrioritize),
	extenderName(result.ExtenderPreempt), extenderName(result.ExtenderBind),
}

// patchOf applies only to this version of the pod.
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
