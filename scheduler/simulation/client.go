package simulation

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"

	v1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	schedulingv1beta1 "k8s.io/api/scheduling/v1beta1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"
	corev1client "k8s.io/client-go/kubernetes/typed/core/v1"
	resourcev1client "k8s.io/client-go/kubernetes/typed/resource/v1"
	schedulingv1beta1client "k8s.io/client-go/kubernetes/typed/scheduling/v1beta1"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"
	podutil "k8s.io/kubernetes/pkg/api/v1/pod"
)

// client takes what the scheduler writes, and feeds it back as events before the call returns. It
// has the calls of Kubernetes' scheduler and plugins; all others fail. The contract test of package
// upstream lists them.
type client struct {
	kubernetes.Interface
	cluster *cluster
	remove  func(r ref, options metav1.DeleteOptions) error
}

// newClient returns the client, and a configuration for plugins that make clients of their own,
// which then see a cluster that serves nothing.
func newClient(c *cluster, remove func(ref, metav1.DeleteOptions) error) (*client, *rest.Config, error) {
	config := &rest.Config{Host: "http://none.invalid", Transport: servesNothing{}}
	base, err := kubernetes.NewForConfig(config)
	if err != nil {
		return nil, nil, fmt.Errorf("making the client of a simulation: %w", err)
	}
	return &client{base, c, remove}, config, nil
}

// servesNothing answers as an API server that does not serve the kind.
type servesNothing struct{}

func (servesNothing) RoundTrip(r *http.Request) (*http.Response, error) {
	if r.Body != nil {
		_ = r.Body.Close()
	}
	const body = `{"apiVersion":"v1","kind":"Status","status":"Failure","reason":"NotFound","code":404,"message":"a simulation in memory does not serve this request"}`
	return &http.Response{
		StatusCode: http.StatusNotFound, Request: r, Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
		Header: http.Header{"Content-Type": {"application/json"}}, Body: io.NopCloser(bytes.NewReader([]byte(body))),
	}, nil
}

func (c *client) CoreV1() corev1client.CoreV1Interface {
	return coreV1{c.Interface.CoreV1(), c}
}

func (c *client) ResourceV1() resourcev1client.ResourceV1Interface {
	return resourceV1{c.Interface.ResourceV1(), c}
}

func (c *client) SchedulingV1beta1() schedulingv1beta1client.SchedulingV1beta1Interface {
	return schedulingV1beta1{c.Interface.SchedulingV1beta1(), c}
}

type coreV1 struct {
	corev1client.CoreV1Interface
	client *client
}

func (c coreV1) Pods(namespace string) corev1client.PodInterface {
	return pods{c.CoreV1Interface.Pods(namespace), calls[*v1.Pod]{c.client, podKind, namespace}}
}

func (c coreV1) PersistentVolumes() corev1client.PersistentVolumeInterface {
	return volumes{c.CoreV1Interface.PersistentVolumes(), calls[*v1.PersistentVolume]{c.client, volumeKind, ""}}
}

func (c coreV1) PersistentVolumeClaims(namespace string) corev1client.PersistentVolumeClaimInterface {
	return volumeClaims{c.CoreV1Interface.PersistentVolumeClaims(namespace), calls[*v1.PersistentVolumeClaim]{c.client, claimKind, namespace}}
}

type resourceV1 struct {
	resourcev1client.ResourceV1Interface
	client *client
}

func (d resourceV1) ResourceClaims(namespace string) resourcev1client.ResourceClaimInterface {
	return resourceClaims{d.ResourceV1Interface.ResourceClaims(namespace), calls[*resourcev1.ResourceClaim]{d.client, resourceClaimKind, namespace}, d.client}
}

type schedulingV1beta1 struct {
	schedulingv1beta1client.SchedulingV1beta1Interface
	client *client
}

func (g schedulingV1beta1) PodGroups(namespace string) schedulingv1beta1client.PodGroupInterface {
	return podGroups{g.SchedulingV1beta1Interface.PodGroups(namespace), calls[*schedulingv1beta1.PodGroup]{g.client, podGroupKind, namespace}}
}

type calls[T object] struct {
	client    *client
	gvk       schema.GroupVersionKind
	namespace string
}

func (c calls[T]) ref(name string) ref {
	return ref{c.gvk, cache.NewObjectName(c.namespace, name).String()}
}

func (c calls[T]) get(name string) (T, error) {
	o, ok := c.client.cluster.get(c.gvk, c.ref(name).key).(T)
	if !ok {
		return o, notFound(c.ref(name))
	}
	return o, nil
}

// update replaces an object. change adjusts the new one to the old one; it may be nil.
func (c calls[T]) update(o T, change func(before, after T)) (T, error) {
	before, err := c.get(o.GetName())
	if err != nil {
		return before, err
	}
	if version := o.GetResourceVersion(); version != "" && version != before.GetResourceVersion() || o.GetUID() != "" && o.GetUID() != before.GetUID() {
		return before, apierrors.NewConflict(resourceOf(c.gvk), o.GetName(), fmt.Errorf("the object has been modified"))
	}
	after := o.DeepCopyObject().(T)
	if change != nil {
		change(before, after)
	}
	return after, c.client.cluster.put(c.gvk, after)
}

func (c calls[T]) patchStatus(name string, kind types.PatchType, patch []byte, subresources []string) (T, error) {
	before, err := c.get(name)
	if err != nil {
		return before, err
	}
	if len(subresources) != 1 || subresources[0] != "status" {
		return before, &UnsupportedError{GVK: c.gvk, Name: c.ref(name).key, What: "a patch of other fields than the status"}
	}
	after, err := patched(before, kind, patch)
	if err != nil {
		return before, err
	}
	return after.(T), c.client.cluster.put(c.gvk, after)
}

func (c calls[T]) delete(name string, options metav1.DeleteOptions) error {
	return c.client.remove(c.ref(name), options)
}

type pods struct {
	corev1client.PodInterface
	calls[*v1.Pod]
}

func (p pods) Get(_ context.Context, name string, _ metav1.GetOptions) (*v1.Pod, error) {
	return p.get(name)
}

// Bind gives the pod its node, as the API server does.
func (p pods) Bind(_ context.Context, binding *v1.Binding, _ metav1.CreateOptions) error {
	before, err := p.get(binding.Name)
	switch {
	case err != nil:
		return err
	case binding.UID != "" && binding.UID != before.UID:
		return apierrors.NewConflict(resourceOf(podKind), binding.Name, fmt.Errorf("the UID is %s, not %s", before.UID, binding.UID))
	case before.DeletionTimestamp != nil:
		return apierrors.NewConflict(resourceOf(podKind), binding.Name, fmt.Errorf("pod %s is being deleted, cannot be assigned to a host", binding.Name))
	case before.Spec.NodeName != "":
		return apierrors.NewConflict(resourceOf(podKind), binding.Name, fmt.Errorf("pod %s is already assigned to node %q", binding.Name, before.Spec.NodeName))
	}
	pod := *before
	pod.Spec.NodeName = binding.Target.Name
	pod.Status.Conditions = append([]v1.PodCondition(nil), before.Status.Conditions...)
	setCondition(&pod.Status, v1.PodCondition{Type: v1.PodScheduled, Status: v1.ConditionTrue, ObservedGeneration: pod.Generation, LastTransitionTime: p.client.cluster.timeline.stamp()})
	// The API server clears the nomination with the binding. If the feature gate is off it does
	// not, which changes nothing for a bound pod.
	pod.Status.NominatedNodeName = ""
	return p.client.cluster.put(podKind, &pod)
}

// setCondition requires that no other object shares the list of conditions.
func setCondition(status *v1.PodStatus, condition v1.PodCondition) {
	i, old := podutil.GetPodCondition(status, condition.Type)
	if old == nil {
		status.Conditions = append(status.Conditions, condition)
		return
	}
	if old.Status == condition.Status {
		condition.LastTransitionTime = old.LastTransitionTime
	}
	status.Conditions[i] = condition
}

func (p pods) Patch(_ context.Context, name string, kind types.PatchType, patch []byte, _ metav1.PatchOptions, subresources ...string) (*v1.Pod, error) {
	before, err := p.get(name)
	if err != nil {
		return nil, err
	}
	if len(subresources) != 1 || subresources[0] != "status" {
		return nil, &UnsupportedError{GVK: podKind, Name: keyOf(before), What: "a patch of other fields than the status"}
	}
	pod, err := podStatusPatched(before, kind, patch)
	if err != nil {
		return nil, err
	}
	p.client.cluster.timestamp(before, pod)
	return pod, p.client.cluster.put(podKind, pod)
}

func (c *cluster) timestamp(before, after *v1.Pod) {
	for i := range after.Status.Conditions {
		condition := &after.Status.Conditions[i]
		_, old := podutil.GetPodCondition(&before.Status, condition.Type)
		switch {
		case old == nil || old.Status != condition.Status:
			condition.LastTransitionTime = c.timeline.stamp()
		default:
			condition.LastTransitionTime = old.LastTransitionTime
		}
	}
}

func (p pods) Delete(_ context.Context, name string, options metav1.DeleteOptions) error {
	return p.delete(name, options)
}

type volumes struct {
	corev1client.PersistentVolumeInterface
	calls[*v1.PersistentVolume]
}

func (v volumes) Get(_ context.Context, name string, _ metav1.GetOptions) (*v1.PersistentVolume, error) {
	return v.get(name)
}

func (v volumes) Update(_ context.Context, o *v1.PersistentVolume, _ metav1.UpdateOptions) (*v1.PersistentVolume, error) {
	return v.update(o, func(before, after *v1.PersistentVolume) { after.Status = before.Status })
}

type volumeClaims struct {
	corev1client.PersistentVolumeClaimInterface
	calls[*v1.PersistentVolumeClaim]
}

func (v volumeClaims) Get(_ context.Context, name string, _ metav1.GetOptions) (*v1.PersistentVolumeClaim, error) {
	return v.get(name)
}

func (v volumeClaims) Update(_ context.Context, o *v1.PersistentVolumeClaim, _ metav1.UpdateOptions) (*v1.PersistentVolumeClaim, error) {
	return v.update(o, func(before, after *v1.PersistentVolumeClaim) { after.Status = before.Status })
}

type resourceClaims struct {
	resourcev1client.ResourceClaimInterface
	calls[*resourcev1.ResourceClaim]
	client *client
}

// own returns a copy for the caller: DynamicResources writes the allocation into what a call
// returned, and the stored claim must not have it before the update.
func own(claim *resourcev1.ResourceClaim, err error) (*resourcev1.ResourceClaim, error) {
	if err != nil {
		return nil, err
	}
	return claim.DeepCopy(), nil
}

func (r resourceClaims) Get(_ context.Context, name string, _ metav1.GetOptions) (*resourcev1.ResourceClaim, error) {
	return own(r.get(name))
}

func (r resourceClaims) Create(_ context.Context, o *resourcev1.ResourceClaim, _ metav1.CreateOptions) (*resourcev1.ResourceClaim, error) {
	o = o.DeepCopy()
	o.Namespace = r.namespace
	r.client.cluster.name(o)
	if _, err := r.get(o.Name); err == nil {
		return nil, apierrors.NewAlreadyExists(resourceOf(resourceClaimKind), o.Name)
	}
	o.UID, o.CreationTimestamp = r.client.cluster.uid(), r.client.cluster.timeline.stamp()
	return own(o, r.client.cluster.put(resourceClaimKind, o))
}

func (r resourceClaims) Update(_ context.Context, o *resourcev1.ResourceClaim, _ metav1.UpdateOptions) (*resourcev1.ResourceClaim, error) {
	return own(r.update(o, func(before, after *resourcev1.ResourceClaim) { after.Status = before.Status }))
}

func (r resourceClaims) UpdateStatus(_ context.Context, o *resourcev1.ResourceClaim, _ metav1.UpdateOptions) (*resourcev1.ResourceClaim, error) {
	return own(r.update(o, func(before, after *resourcev1.ResourceClaim) {
		status := after.Status
		*after = *before
		after.Status = status
		if status.Allocation != nil && status.Allocation.AllocationTimestamp != nil && before.Status.Allocation == nil {
			allocation := *status.Allocation
			now := r.client.cluster.timeline.stamp()
			allocation.AllocationTimestamp = &now
			after.Status.Allocation = &allocation
		}
	}))
}

func (r resourceClaims) Patch(_ context.Context, name string, kind types.PatchType, patch []byte, _ metav1.PatchOptions, subresources ...string) (*resourcev1.ResourceClaim, error) {
	return r.patchStatus(name, kind, patch, subresources)
}

func (r resourceClaims) Delete(_ context.Context, name string, options metav1.DeleteOptions) error {
	return r.delete(name, options)
}

type podGroups struct {
	schedulingv1beta1client.PodGroupInterface
	calls[*schedulingv1beta1.PodGroup]
}

func (g podGroups) Patch(_ context.Context, name string, kind types.PatchType, patch []byte, _ metav1.PatchOptions, subresources ...string) (*schedulingv1beta1.PodGroup, error) {
	return g.patchStatus(name, kind, patch, subresources)
}
