package virtualnode

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	coreinformers "k8s.io/client-go/informers/core/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/record"
	"k8s.io/client-go/util/workqueue"

	"kube-scheduler-simulator/scheduler/standin"
	"kube-scheduler-simulator/simulator/cluster/objects"
)

const (
	failureWorkers = 2
	// reasonTopology marks the Ready condition of a new node whose topology is not published.
	// The condition is taken away when it is, and then the node's stage plays.
	reasonTopology = "TopologyNotPublished"
)

func topologyNotPublished() corev1.NodeCondition {
	now := metav1.NewTime(time.Now())
	return corev1.NodeCondition{
		Type: corev1.NodeReady, Status: corev1.ConditionFalse, Reason: reasonTopology,
		Message: "the node has not published its topology", LastHeartbeatTime: now, LastTransitionTime: now,
	}
}

// failures make nodes fail as AnnotationFailure says, and recover. They are not
// stages, so that they work with any stages.
//
// A virtual node sends no heartbeats, so the node lifecycle controller cannot miss
// them. What that controller would do then is done here: it sets the Ready condition
// of the node and of its pods. The controller does everything that follows.
type failures struct {
	client   kubernetes.Interface
	informer coreinformers.NodeInformer
	recorder record.EventRecorder
	queue    workqueue.TypedRateLimitingInterface[string]
	// waits reports whether a node turns Ready only with a topology that is to come.
	waits func(*corev1.Node) bool
}

func newFailures(client kubernetes.Interface, informer coreinformers.NodeInformer, recorder record.EventRecorder) *failures {
	return &failures{
		client: client, informer: informer, recorder: recorder,
		queue: workqueue.NewTypedRateLimitingQueue(
			workqueue.NewTypedItemExponentialFailureRateLimiter[string](firstRetry, lastRetry)),
	}
}

// concern reports whether the node fails, or has failed, because of its annotation, or whether it
// waits for its topology, or has waited.
func (f *failures) concern(node *corev1.Node) bool {
	if _, asked := node.Annotations[objects.AnnotationFailure]; asked {
		return true
	}
	ready := readyCondition(node)
	if ready == nil {
		return f.waits(node)
	}
	return ready.Reason == standin.ReasonFailure || ready.Reason == reasonTopology
}

func (f *failures) run(ctx context.Context) {
	work(ctx, f.queue, failureWorkers, f.follow, func(err error, name string) {
		utilruntime.HandleErrorWithContext(ctx, err, "make a node fail or recover", "node", name)
	})
}

func (f *failures) follow(ctx context.Context, name string) error {
	node, err := f.informer.Lister().Get(name)
	if err != nil {
		return err
	}
	switch ready := readyCondition(node); {
	case ready == nil && f.waits(node):
		return f.patch(ctx, node, []corev1.NodeCondition{topologyNotPublished()})
	case ready == nil:
		return nil // its stage plays first, and looks at the annotation too
	case ready.Reason == reasonTopology && f.waits(node):
		return nil
	case ready.Reason == reasonTopology:
		return f.patch(ctx, node, []map[string]any{{"$patch": "delete", "type": corev1.NodeReady}})
	}
	failure, asked := node.Annotations[objects.AnnotationFailure]
	if asked && !knownFailure(failure) {
		f.recorder.Eventf(node, corev1.EventTypeWarning, "InvalidFailure",
			"annotation %s is %q; it can be %s or %s", objects.AnnotationFailure, failure, objects.FailureNotReady, objects.FailureUnreachable)
	}
	if err := f.patchConditions(ctx, node, standin.ConditionsOf(failure)); err != nil {
		return err
	}
	if failure == objects.FailureUnreachable {
		return f.loseSightOfPods(ctx, name)
	}
	return nil
}

// patchConditions sets the conditions that the annotation makes fail, and resets
// those that it made fail before. Conditions that others have set on a node without
// a failure stay.
func (f *failures) patchConditions(ctx context.Context, node *corev1.Node, wanted []corev1.NodeCondition) error {
	now := metav1.NewTime(time.Now())
	var patch []corev1.NodeCondition
	for _, condition := range wanted {
		current := standin.ConditionOf(node, condition.Type)
		hasFailed := current != nil && current.Reason == standin.ReasonFailure
		if hasFailed && current.Status == condition.Status || !hasFailed && condition.Reason != standin.ReasonFailure {
			continue
		}
		condition.LastHeartbeatTime, condition.LastTransitionTime = now, now
		patch = append(patch, condition)
	}
	if len(patch) == 0 {
		return nil
	}
	return f.patch(ctx, node, patch)
}

// patch is for this version of a node.
func (f *failures) patch(ctx context.Context, node *corev1.Node, conditions any) error {
	data, err := json.Marshal(map[string]any{
		"metadata": map[string]any{"uid": node.UID, "resourceVersion": node.ResourceVersion},
		"status":   map[string]any{"conditions": conditions},
	})
	if err != nil {
		return err
	}
	_, err = f.client.CoreV1().Nodes().Patch(ctx, node.Name, types.StrategicMergePatchType, data, metav1.PatchOptions{}, "status")
	if err != nil {
		return fmt.Errorf("patch the conditions: %w", err)
	}
	return nil
}

// loseSightOfPods makes the node's pods not ready. It lists them from the API
// server, because the cache may lack the latest.
func (f *failures) loseSightOfPods(ctx context.Context, node string) error {
	list, err := f.client.CoreV1().Pods(metav1.NamespaceAll).List(ctx, metav1.ListOptions{FieldSelector: "spec.nodeName=" + node})
	if err != nil {
		return fmt.Errorf("list the node's pods: %w", err)
	}
	for i := range list.Items {
		pod := &list.Items[i]
		for isReady(pod) {
			err := f.loseSightOf(ctx, pod)
			if apierrors.IsConflict(err) {
				uid := pod.UID
				if pod, err = f.client.CoreV1().Pods(pod.Namespace).Get(ctx, pod.Name, metav1.GetOptions{}); err == nil && pod.UID == uid {
					continue
				}
			}
			if err != nil && !apierrors.IsNotFound(err) {
				return fmt.Errorf("patch a pod of the node: %w", err)
			}
			break
		}
	}
	return nil
}

// loseSightOf makes this version of a pod not ready. Naming the version protects the
// next pod of the same name if this one is being deleted.
func (f *failures) loseSightOf(ctx context.Context, pod *corev1.Pod) error {
	data, err := json.Marshal(map[string]any{
		"metadata": map[string]any{"uid": pod.UID, "resourceVersion": pod.ResourceVersion},
		"status": map[string]any{"conditions": []corev1.PodCondition{{
			Type: corev1.PodReady, Status: corev1.ConditionFalse, Reason: standin.ReasonNodeUnreachable,
			Message: "the node is unreachable", LastTransitionTime: metav1.NewTime(time.Now()),
		}}},
	})
	if err != nil {
		return err
	}
	_, err = f.client.CoreV1().Pods(pod.Namespace).Patch(ctx, pod.Name, types.StrategicMergePatchType, data, metav1.PatchOptions{}, "status")
	return err
}

func knownFailure(failure string) bool {
	return failure == objects.FailureNotReady || failure == objects.FailureUnreachable
}

func isReady(pod *corev1.Pod) bool {
	for _, condition := range pod.Status.Conditions {
		if condition.Type == corev1.PodReady {
			return condition.Status == corev1.ConditionTrue
		}
	}
	return false
}
