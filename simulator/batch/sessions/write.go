package sessions

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	v1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/kubernetes/scheme"
	typedv1 "k8s.io/client-go/kubernetes/typed/core/v1"
	"k8s.io/client-go/tools/record"

	"kube-scheduler-simulator/scheduler/others/flow"
	"kube-scheduler-simulator/scheduler/others/session"
)

func newEvents(client kubernetes.Interface) (map[string]record.EventRecorder, func()) {
	broadcaster := record.NewBroadcaster()
	broadcaster.StartRecordingToSink(&typedv1.EventSinkImpl{Interface: client.CoreV1().Events("")})
	out := map[string]record.EventRecorder{}
	for _, name := range []string{string(session.KubeBatch), string(session.Volcano), flow.SchedulerName} {
		out[name] = broadcaster.NewRecorder(scheme.Scheme, v1.EventSource{Component: name})
	}
	return out, broadcaster.Shutdown
}

func (s *Service) eventsOf(g *session.PodGroup) record.EventRecorder {
	rules := session.KubeBatch
	if slices.Contains(session.Volcano.GroupVersions(), g.GroupVersionKind().GroupVersion()) {
		rules = session.Volcano
	}
	return s.events[string(rules)]
}

// The version differs when the objects do.
func (s *Service) list(ctx context.Context, resource schema.GroupVersionResource) ([]*unstructured.Unstructured, string, error) {
	found, err := s.dynamic.Resource(resource).List(ctx, metav1.ListOptions{})
	if err != nil {
		return nil, "", fmt.Errorf("listing %s: %w", resource.GroupResource(), err)
	}
	var out []*unstructured.Unstructured
	version := fmt.Sprint(len(found.Items))
	for i := range found.Items {
		version += " " + found.Items[i].GetResourceVersion()
		out = append(out, &found.Items[i])
	}
	return out, version, nil
}

func (s *Service) makeDefaultQueue(ctx context.Context, rules session.Rules) error {
	version := rules.GroupVersions()[0]
	_, err := s.dynamic.Resource(version.WithResource("queues")).Create(ctx, session.NewDefaultQueue(rules), metav1.CreateOptions{})
	if err != nil && !apierrors.IsAlreadyExists(err) {
		return fmt.Errorf("creating the default queue of %s: %w", rules, err)
	}
	return nil
}

// makeGroup creates a group as Volcano's controller does, unless it exists, and makes its pods name
// it.
func (s *Service) makeGroup(ctx context.Context, g session.OwnGroup) error {
	object, err := runtime.DefaultUnstructuredConverter.ToUnstructured(g.Group)
	if err != nil {
		return fmt.Errorf("making PodGroup %s/%s: %w", g.Group.Namespace, g.Group.Name, err)
	}
	resource := g.Group.GroupVersionKind().GroupVersion().WithResource("podgroups")
	_, err = s.dynamic.Resource(resource).Namespace(g.Group.Namespace).Create(ctx, &unstructured.Unstructured{Object: object}, metav1.CreateOptions{})
	if err != nil && !apierrors.IsAlreadyExists(err) {
		return fmt.Errorf("creating PodGroup %s/%s: %w", g.Group.Namespace, g.Group.Name, err)
	}
	return parallel(len(g.Pods), func(i int) error {
		p := g.Pods[i]
		patch, err := g.Annotate(p)
		if err == nil {
			_, err = s.client.CoreV1().Pods(p.Namespace).Patch(ctx, p.Name, types.MergePatchType, patch, metav1.PatchOptions{})
		}
		if err != nil && !gone(err) {
			return fmt.Errorf("adding %s/%s to its PodGroup: %w", p.Namespace, p.Name, err)
		}
		return nil
	})
}

// annotations returns the annotations of a pod's controller; nil if it cannot be read.
func (s *Service) annotations(ctx context.Context, namespace string, owner *metav1.OwnerReference) map[string]string {
	resource, _ := meta.UnsafeGuessKindToResource(schema.FromAPIVersionAndKind(owner.APIVersion, owner.Kind))
	o, err := s.dynamic.Resource(resource).Namespace(namespace).Get(ctx, owner.Name, metav1.GetOptions{ResourceVersion: "0"})
	if err != nil {
		return nil
	}
	return o.GetAnnotations()
}

const writers = 16

// parallel calls do for 0 to n-1 and joins the errors.
func parallel(n int, do func(i int) error) error {
	next, errs := make(chan int), make([]error, n)
	var running sync.WaitGroup
	for range min(n, writers) {
		running.Go(func() {
			for i := range next {
				errs[i] = do(i)
			}
		})
	}
	for i := range n {
		next <- i
	}
	close(next)
	running.Wait()
	return errors.Join(errs...)
}

// gone reports whether a write came too late: the object is gone, or is another one, which is no
// failure.
func gone(err error) bool { return apierrors.IsNotFound(err) || apierrors.IsConflict(err) }

// The API server refuses a pod that already has a node.
func (s *Service) bind(ctx context.Context, pod *v1.Pod, node string) error {
	err := s.client.CoreV1().Pods(pod.Namespace).Bind(ctx, &v1.Binding{
		ObjectMeta: metav1.ObjectMeta{Namespace: pod.Namespace, Name: pod.Name, UID: pod.UID},
		Target:     v1.ObjectReference{Kind: "Node", Name: node},
	}, metav1.CreateOptions{})
	if err != nil {
		return fmt.Errorf("binding %s/%s to %s: %w", pod.Namespace, pod.Name, node, err)
	}
	s.events[pod.Spec.SchedulerName].Eventf(pod, v1.EventTypeNormal, "Scheduled", "Successfully assigned %s/%s to %s", pod.Namespace, pod.Name, node)
	return nil
}

// bindAll binds pods, and assumes those whose binding succeeded.
func (s *Service) bindAll(ctx context.Context, assumed assumed, now time.Time, n int, of func(i int) (*v1.Pod, string)) error {
	bound := make([]bool, n)
	err := parallel(n, func(i int) error {
		pod, node := of(i)
		err := s.bind(ctx, pod, node)
		bound[i] = err == nil
		return err
	})
	for i := range n {
		if bound[i] {
			pod, node := of(i)
			assumed[pod.UID] = assumption{node, now}
		}
	}
	return err
}

// evict deletes a pod with its grace period.
func (s *Service) evict(ctx context.Context, pod *v1.Pod) error {
	err := s.client.CoreV1().Pods(pod.Namespace).Delete(ctx, pod.Name, metav1.DeleteOptions{Preconditions: metav1.NewUIDPreconditions(string(pod.UID))})
	if err != nil && !gone(err) {
		return fmt.Errorf("evicting %s/%s: %w", pod.Namespace, pod.Name, err)
	}
	return nil
}

// notPlaced writes the condition of a pod that stays pending and, if the condition is new, the
// event.
func (s *Service) notPlaced(ctx context.Context, u session.PodUpdate, event string) error {
	patch, err := u.Patch(time.Now())
	if err != nil || patch == nil {
		return err
	}
	_, err = s.client.CoreV1().Pods(u.Pod.Namespace).Patch(ctx, u.Pod.Name, types.StrategicMergePatchType, patch, metav1.PatchOptions{}, "status")
	if err != nil && !gone(err) {
		return fmt.Errorf("writing the condition of %s/%s: %w", u.Pod.Namespace, u.Pod.Name, err)
	}
	s.events[u.Pod.Spec.SchedulerName].Event(u.Pod, v1.EventTypeWarning, "FailedScheduling", event)
	return nil
}

// carryOut writes what a session decided: first the bindings, in their order as far as requests run
// side by side.
func (r *runner) carryOut(ctx context.Context, out *session.Outcome) error {
	s := r.service
	now := time.Now()
	err := s.bindAll(ctx, r.assumed, now, len(out.Binds), func(i int) (*v1.Pod, string) { return out.Binds[i].Pod, out.Binds[i].Node })
	err = errors.Join(err, parallel(len(out.Evictions), func(i int) error {
		e := out.Evictions[i]
		if e.Group != nil {
			s.eventsOf(e.Group).Event(reference(e.Group), v1.EventTypeNormal, "Evict", e.Action)
		}
		return s.evict(ctx, e.Pod)
	}))
	for _, e := range out.Evictions {
		r.assumed[e.Pod.UID] = assumption{since: now}
	}
	err = errors.Join(err, parallel(len(out.OwnGroups), func(i int) error { return s.makeGroup(ctx, out.OwnGroups[i]) }))
	err = errors.Join(err, parallel(len(out.Groups), func(i int) error { return s.updateGroup(ctx, out.Groups[i]) }))
	return errors.Join(err, parallel(len(out.Pods), func(i int) error { return s.notPlaced(ctx, out.Pods[i], out.Pods[i].Message) }))
}

func reference(g *session.PodGroup) *v1.ObjectReference {
	return &v1.ObjectReference{APIVersion: g.APIVersion, Kind: g.Kind, Namespace: g.Namespace, Name: g.Name, UID: g.UID, ResourceVersion: g.ResourceVersion}
}

func (s *Service) updateGroup(ctx context.Context, u session.GroupUpdate) error {
	patch, err := u.Patch()
	if err != nil {
		return err
	}
	resource := u.Group.GroupVersionKind().GroupVersion().WithResource("podgroups")
	_, err = s.dynamic.Resource(resource).Namespace(u.Group.Namespace).Patch(ctx, u.Group.Name, types.MergePatchType, patch, metav1.PatchOptions{}, "status")
	if err != nil && !gone(err) {
		return fmt.Errorf("writing the status of PodGroup %s/%s: %w", u.Group.Namespace, u.Group.Name, err)
	}
	if u.Event != nil {
		s.eventsOf(u.Group).Event(reference(u.Group), u.Event.Type, u.Event.Reason, u.Event.Message)
	}
	return nil
}
