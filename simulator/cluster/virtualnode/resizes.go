package virtualnode

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	"k8s.io/apimachinery/pkg/util/sets"
	coreinformers "k8s.io/client-go/informers/core/v1"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/tools/record"
	"k8s.io/client-go/util/workqueue"
	resourcehelper "k8s.io/component-helpers/resource"
	corev1helpers "k8s.io/component-helpers/scheduling/corev1"
	v1qos "k8s.io/kubernetes/pkg/apis/core/v1/helper/qos"

	"kube-scheduler-simulator/scheduler/standin"
)

// resizes grant and carry out in-place resizes of pods, as the allocation manager of each kubelet
// does (pkg/kubelet/allocation/allocation_manager.go). A resize that does not fit is deferred, and
// granted when room appears, in the order of a kubelet.
type resizes struct {
	pods     *pods
	nodes    coreinformers.NodeInformer
	recorder record.EventRecorder
	queue    workqueue.TypedRateLimitingInterface[string]
	now      func() time.Time

	mu sync.Mutex
	// waiting are the nodes with resizes that are not granted.
	waiting sets.Set[string]
	// written are the pods that the worker has changed, by key, until the cache has them as they
	// are then.
	written map[string]writtenPod
}

// writtenPod is the pod that the worker wrote last. replaced are the versions that the cache may still
// show.
type writtenPod struct {
	replaced []string
	pod      *corev1.Pod
}

func newResizes(pods *pods, nodes coreinformers.NodeInformer, recorder record.EventRecorder) *resizes {
	return &resizes{
		pods: pods, nodes: nodes, recorder: recorder, now: time.Now, waiting: sets.New[string](), written: map[string]writtenPod{},
		queue: workqueue.NewTypedRateLimitingQueue(
			workqueue.NewTypedItemExponentialFailureRateLimiter[string](firstRetry, lastRetry)),
	}
}

func (r *resizes) watch() (func(), []cache.InformerSynced, error) {
	onNodes, err := r.nodes.Informer().AddEventHandler(cache.ResourceEventHandlerFuncs{
		UpdateFunc: func(before, after any) {
			b, a := before.(*corev1.Node), after.(*corev1.Node)
			if r.waits(a.Name) && (!equality.Semantic.DeepEqual(b.Status.Allocatable, a.Status.Allocatable) || isUnreachable(b)) {
				r.queue.Add(a.Name)
			}
		},
	})
	if err != nil {
		return nil, nil, fmt.Errorf("watch nodes: %w", err)
	}
	unwatch := func() {
		// It is registered, so this cannot fail.
		_ = r.nodes.Informer().RemoveEventHandler(onNodes)
	}
	return unwatch, []cache.InformerSynced{onNodes.HasSynced}, nil
}

func (r *resizes) note(pod *corev1.Pod) {
	r.latest(pod)
	if r.waits(pod.Spec.NodeName) || standin.Resizes(pod) {
		r.queue.Add(pod.Spec.NodeName)
	}
}

func (r *resizes) waits(node string) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.waiting.Has(node)
}

func (r *resizes) setWaits(node string, waits bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if waits {
		r.waiting.Insert(node)
	} else {
		r.waiting.Delete(node)
	}
}

func (r *resizes) run(ctx context.Context) {
	var worker sync.WaitGroup
	worker.Go(func() {
		for r.next(ctx) {
		}
	})
	<-ctx.Done()
	r.queue.ShutDown()
	worker.Wait()
}

func (r *resizes) next(ctx context.Context) bool {
	name, shutdown := r.queue.Get()
	if shutdown {
		return false
	}
	defer r.queue.Done(name)
	if ctx.Err() != nil {
		return true
	}
	switch err := r.settle(ctx, name); {
	case err == nil:
		r.queue.Forget(name)
	case apierrors.IsNotFound(err):
		r.queue.Forget(name) // the event of its deletion comes here
	default:
		// The cache has not caught up.
		if ctx.Err() == nil && !apierrors.IsConflict(err) {
			utilruntime.HandleErrorWithContext(ctx, err, "resize pods", "node", name)
		}
		r.queue.AddRateLimited(name)
	}
	return true
}

// settle does what there is to do on a node: it carries out what was granted, and grants or refuses
// what is asked for.
func (r *resizes) settle(ctx context.Context, name string) error {
	node, err := r.nodes.Lister().Get(name)
	if apierrors.IsNotFound(err) || err == nil && isUnreachable(node) {
		return nil
	}
	if err != nil {
		return err
	}
	active := r.active(name)
	for i, pod := range active {
		if runs(pod) && standin.Condition(pod, corev1.PodResizeInProgress) != nil {
			if active[i], err = r.finish(ctx, pod); err != nil {
				return err
			}
		}
	}
	var asking []int
	for i, pod := range active {
		if _, asks := standin.Granted(pod); runs(pod) && (asks || standin.Condition(pod, corev1.PodResizePending) != nil) {
			asking = append(asking, i)
		}
	}
	slices.SortStableFunc(asking, func(a, b int) int { return compareResizes(active[a], active[b]) })
	waits := false
	for _, i := range asking {
		if active[i], err = r.decide(ctx, node, active[i], active); err != nil {
			return err
		}
		pending := standin.Condition(active[i], corev1.PodResizePending)
		waits = waits || pending != nil
	}
	r.setWaits(name, waits)
	return nil
}

// active returns the pods of a node that have not ended, as they were written last, in the order of
// their creation.
func (r *resizes) active(node string) []*corev1.Pod {
	var out []*corev1.Pod
	for _, pod := range r.pods.on(node) {
		if pod = r.latest(pod); !isFinished(pod) {
			out = append(out, pod)
		}
	}
	return out
}

// latest returns the pod of the cache as it was written last.
func (r *resizes) latest(pod *corev1.Pod) *corev1.Pod {
	r.mu.Lock()
	defer r.mu.Unlock()
	last, ok := r.written[keyOf(pod)]
	if ok && last.pod.UID == pod.UID && slices.Contains(last.replaced, pod.ResourceVersion) {
		return last.pod
	}
	delete(r.written, keyOf(pod))
	return pod
}

// runs reports whether the pod's node acts on a resize of it.
func runs(pod *corev1.Pod) bool {
	return pod.Status.Phase == corev1.PodRunning && pod.DeletionTimestamp == nil
}

// compareResizes orders resizes as a kubelet does: those that ask for no more first, and then those
// of pods with higher priorities, of guaranteed pods, and those that have waited longer.
func compareResizes(a, b *corev1.Pod) int {
	first := func(is func(*corev1.Pod) bool) int {
		switch x, y := is(a), is(b); {
		case x == y:
			return 0
		case x:
			return -1
		}
		return 1
	}
	return cmp.Or(
		first(func(p *corev1.Pod) bool { return !asksForMore(p) }),
		cmp.Compare(corev1helpers.PodPriority(b), corev1helpers.PodPriority(a)),
		first(func(p *corev1.Pod) bool { return v1qos.GetPodQOS(p) == corev1.PodQOSGuaranteed }),
		first(func(p *corev1.Pod) bool { return standin.Condition(p, corev1.PodResizePending) != nil }),
		since(a).Compare(since(b)),
	)
}

func since(pod *corev1.Pod) time.Time {
	if pending := standin.Condition(pod, corev1.PodResizePending); pending != nil {
		return pending.LastTransitionTime.Time
	}
	return time.Time{}
}

func asksForMore(pod *corev1.Pod) bool {
	granted, _ := standin.Granted(pod)
	before, after := resourcehelper.PodRequests(granted, resourcehelper.PodResourcesOptions{}), resourcehelper.PodRequests(pod, resourcehelper.PodResourcesOptions{})
	return after.Cpu().Cmp(*before.Cpu()) > 0 || after.Memory().Cmp(*before.Memory()) > 0
}

// decide grants what a pod asks for, or says why not, and returns the pod as it is then.
func (r *resizes) decide(ctx context.Context, node *corev1.Node, pod *corev1.Pod, active []*corev1.Pod) (*corev1.Pod, error) {
	if _, asks := standin.Granted(pod); !asks {
		return r.write(ctx, pod, &standin.PodStatus{ObservedGeneration: pod.Generation}, corev1.PodResizePending) // it was taken back
	}
	reason, message := refusal(node, pod, active)
	if reason == "" {
		changed, err := r.write(ctx, pod, standin.ResizeGranted(pod, metav1.NewTime(r.now())), corev1.PodResizePending)
		if err == nil {
			r.recorder.Eventf(changed, corev1.EventTypeNormal, "ResizeStarted", "Pod resize started, of generation %d", pod.Generation)
		}
		return changed, err
	}
	now := metav1.NewTime(r.now())
	pending := corev1.PodCondition{
		Type: corev1.PodResizePending, Status: corev1.ConditionTrue, Reason: reason, Message: message, ObservedGeneration: pod.Generation,
		LastProbeTime: now, LastTransitionTime: now,
	}
	if before := standin.Condition(pod, corev1.PodResizePending); before != nil {
		if before.Reason == reason && before.Message == message && before.ObservedGeneration == pod.Generation {
			return pod, nil
		}
		if before.Reason == reason {
			pending.LastTransitionTime = before.LastTransitionTime
		}
	}
	changed, err := r.write(ctx, pod, &standin.PodStatus{ObservedGeneration: pod.Generation, Conditions: []corev1.PodCondition{pending}})
	if err == nil {
		r.recorder.Eventf(changed, corev1.EventTypeWarning, "Resize"+reason, "Pod resize %s, of generation %d: %s", reason, pod.Generation, message)
	}
	return changed, err
}

// refusal says why a resize cannot be granted now, or ever on this node; an empty reason means that
// it can. What other pods have is what was granted to them, or what their containers still have.
func refusal(node *corev1.Node, pod *corev1.Pod, active []*corev1.Pod) (reason, message string) {
	asked := resourcehelper.PodRequests(pod, resourcehelper.PodResourcesOptions{})
	used := corev1.ResourceList{}
	for _, other := range active {
		if other.UID == pod.UID {
			continue
		}
		granted, _ := standin.Granted(other)
		for name, amount := range resourcehelper.PodRequests(granted, resourcehelper.PodResourcesOptions{UseStatusResources: true}) {
			sum := used[name]
			sum.Add(amount)
			used[name] = sum
		}
	}
	for _, name := range []corev1.ResourceName{corev1.ResourceCPU, corev1.ResourceMemory} {
		has, wants, taken := node.Status.Allocatable[name], asked[name], used[name]
		sum := taken.DeepCopy()
		sum.Add(wants)
		number := func(q resourceAmount) int64 {
			if name == corev1.ResourceCPU {
				return q.MilliValue()
			}
			return q.Value()
		}
		switch {
		case wants.Cmp(has) > 0:
			return corev1.PodReasonInfeasible, fmt.Sprintf("Node didn't have enough capacity: %s, requested: %d, capacity: %d", name, number(&wants), number(&has))
		case !wants.IsZero() && sum.Cmp(has) > 0:
			return corev1.PodReasonDeferred, fmt.Sprintf("Node didn't have enough resource: %s, requested: %d, used: %d, capacity: %d", name, number(&wants), number(&taken), number(&has))
		}
	}
	return "", ""
}

type resourceAmount interface {
	MilliValue() int64
	Value() int64
}

func (r *resizes) finish(ctx context.Context, pod *corev1.Pod) (*corev1.Pod, error) {
	changed, err := r.write(ctx, pod, standin.ResizeDone(pod, metav1.NewTime(r.now())), corev1.PodResizeInProgress)
	if err == nil {
		r.recorder.Eventf(changed, corev1.EventTypeNormal, "ResizeCompleted", "Pod resize completed")
	}
	return changed, err
}

// write patches a pod's status, takes conditions away, and returns the pod as it is then.
func (r *resizes) write(ctx context.Context, pod *corev1.Pod, status *standin.PodStatus, without ...corev1.PodConditionType) (*corev1.Pod, error) {
	data, err := json.Marshal(map[string]any{"status": status})
	if err != nil {
		return pod, err
	}
	var patch map[string]any
	if err := json.Unmarshal(data, &patch); err != nil {
		return pod, err
	}
	fields := patch["status"].(map[string]any)
	conditions, _ := fields["conditions"].([]any)
	for _, kind := range without {
		if standin.Condition(pod, kind) != nil {
			conditions = append(conditions, map[string]any{"$patch": "delete", "type": kind})
		}
	}
	if len(conditions) > 0 {
		fields["conditions"] = conditions
	}
	if data, err = json.Marshal(patch); err != nil {
		return pod, err
	}
	if data, err = onVersion(data, types.StrategicMergePatchType, pod); err != nil || data == nil {
		return pod, err
	}
	changed, err := r.pods.patch(ctx, pod, types.StrategicMergePatchType, data, "status")
	if err != nil {
		return pod, fmt.Errorf("resizing %s: %w", strings.TrimPrefix(keyOf(pod), "/"), err)
	}
	after := changed.(*corev1.Pod)
	r.mu.Lock()
	defer r.mu.Unlock()
	var replaced []string
	if last, ok := r.written[keyOf(pod)]; ok && last.pod == pod {
		replaced = last.replaced
	}
	r.written[keyOf(pod)] = writtenPod{append(replaced, pod.ResourceVersion), after}
	return after, nil
}
