package virtualnode

import (
	"context"
	"errors"
	"fmt"
	"sync"

	corev1 "k8s.io/api/core/v1"
	resourceapi "k8s.io/api/resource/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/tools/record"
	"k8s.io/client-go/util/workqueue"

	"kube-scheduler-simulator/simulator/cluster/objects"
)

const (
	slicesByNode  = "virtualnode.spec.nodeName"
	driverWorkers = 2
)

// driver publishes the devices of virtual nodes, whatever drivers they name, as the
// DRA plugin on each node would. Preparing a device takes no action.
type driver struct {
	client   kubernetes.Interface
	nodes    cache.SharedIndexInformer
	slices   cache.SharedIndexInformer
	file     []NodeDevices
	recorder record.EventRecorder
	queue    workqueue.TypedRateLimitingInterface[string]
}

func newDriver(client kubernetes.Interface, shared informers.SharedInformerFactory, file []NodeDevices, recorder record.EventRecorder) *driver {
	return &driver{
		client: client, file: file, recorder: recorder,
		nodes:  shared.Core().V1().Nodes().Informer(),
		slices: shared.Resource().V1().ResourceSlices().Informer(),
		queue: workqueue.NewTypedRateLimitingQueue(
			workqueue.NewTypedItemExponentialFailureRateLimiter[string](firstRetry, lastRetry)),
	}
}

func (d *driver) watch() (func(), []cache.InformerSynced, error) {
	err := d.slices.AddIndexers(cache.Indexers{slicesByNode: func(obj any) ([]string, error) {
		slice, ok := obj.(*resourceapi.ResourceSlice)
		if !ok || slice.Labels[objects.LabelVirtualDriver] == "" || slice.Spec.NodeName == nil {
			return nil, nil
		}
		return []string{*slice.Spec.NodeName}, nil
	}})
	if err != nil {
		return nil, nil, fmt.Errorf("index resource slices by node: %w", err)
	}
	onNodes, err := d.nodes.AddEventHandler(cache.ResourceEventHandlerFuncs{
		AddFunc: d.addNode,
		UpdateFunc: func(before, after any) {
			b, a := before.(*corev1.Node), after.(*corev1.Node)
			if b.Annotations[objects.AnnotationDevices] != a.Annotations[objects.AnnotationDevices] || !labels.Equals(b.Labels, a.Labels) || b.UID != a.UID {
				d.addNode(after)
			}
		},
		DeleteFunc: d.addNode,
	})
	if err != nil {
		return nil, nil, fmt.Errorf("watch nodes: %w", err)
	}
	// Slices that others change or delete are restored.
	onSlices, err := d.slices.AddEventHandler(cache.ResourceEventHandlerFuncs{
		AddFunc:    d.addSlice,
		UpdateFunc: func(_, obj any) { d.addSlice(obj) },
		DeleteFunc: d.addSlice,
	})
	if err != nil {
		return nil, nil, fmt.Errorf("watch resource slices: %w", err)
	}
	unwatch := func() {
		// Both are registered, so neither call can fail.
		_ = d.nodes.RemoveEventHandler(onNodes)
		_ = d.slices.RemoveEventHandler(onSlices)
	}
	return unwatch, []cache.InformerSynced{onNodes.HasSynced, onSlices.HasSynced}, nil
}

func (d *driver) addNode(obj any) {
	if node, ok := withoutTombstone(obj).(*corev1.Node); ok && (len(d.file) > 0 || d.isKnown(node)) {
		d.queue.Add(node.Name)
	}
}

func (d *driver) isKnown(node *corev1.Node) bool {
	if _, has := node.Annotations[objects.AnnotationDevices]; has {
		return true
	}
	published, _ := d.slices.GetIndexer().IndexKeys(slicesByNode, node.Name)
	return len(published) > 0
}

func (d *driver) addSlice(obj any) {
	slice, ok := withoutTombstone(obj).(*resourceapi.ResourceSlice)
	if ok && slice.Labels[objects.LabelVirtualDriver] != "" && slice.Spec.NodeName != nil {
		d.queue.Add(*slice.Spec.NodeName)
	}
}

func (d *driver) run(ctx context.Context) {
	var workers sync.WaitGroup
	for range driverWorkers {
		workers.Go(func() {
			for d.next(ctx) {
			}
		})
	}
	<-ctx.Done()
	d.queue.ShutDown()
	workers.Wait()
}

func (d *driver) next(ctx context.Context) bool {
	name, shutdown := d.queue.Get()
	if shutdown {
		return false
	}
	defer d.queue.Done(name)
	if ctx.Err() != nil {
		return true
	}
	err := d.publish(ctx, name)
	if err == nil {
		d.queue.Forget(name)
		return true
	}
	if wrong := (*invalidDevices)(nil); errors.As(err, &wrong) || apierrors.IsInvalid(err) {
		// Its author can correct it, and the correction comes here.
		d.say(name, err)
		d.queue.Forget(name)
		return true
	}
	// The cache has not caught up.
	if ctx.Err() == nil && !apierrors.IsConflict(err) && !apierrors.IsAlreadyExists(err) {
		utilruntime.HandleErrorWithContext(ctx, err, "publish devices", "node", name)
	}
	d.queue.AddRateLimited(name)
	return true
}

func (d *driver) publish(ctx context.Context, name string) error {
	wanted, err := d.wanted(name)
	if err != nil {
		return err
	}
	published, err := d.slices.GetIndexer().ByIndex(slicesByNode, name)
	if err != nil {
		return err
	}
	generations := map[string]int64{}
	current := map[string]*resourceapi.ResourceSlice{}
	for _, obj := range published {
		slice := obj.(*resourceapi.ResourceSlice)
		current[slice.Name] = slice
		generations[slice.Spec.Driver] = max(generations[slice.Spec.Driver], slice.Spec.Pool.Generation)
	}
	raise(wanted, current, generations)
	for _, slice := range wanted {
		if err := d.write(ctx, slice, current[slice.Name]); err != nil {
			return err
		}
		delete(current, slice.Name)
	}
	for left := range current {
		err := d.client.ResourceV1().ResourceSlices().Delete(ctx, left, *metav1.NewPreconditionDeleteOptions(string(current[left].UID)))
		if err != nil && !apierrors.IsNotFound(err) {
			return fmt.Errorf("delete resource slice %s: %w", left, err)
		}
	}
	return nil
}

type invalidDevices struct{ error }

func (d *driver) say(name string, wrong error) {
	obj, exists, err := d.nodes.GetIndexer().GetByKey(name)
	if err != nil || !exists {
		return
	}
	node := obj.(*corev1.Node)
	where := "annotation " + objects.AnnotationDevices
	if _, annotated := node.Annotations[objects.AnnotationDevices]; !annotated {
		where = "the file of devices"
	} else if len(d.file) > 0 {
		where += ", after the file of devices"
	}
	d.recorder.Eventf(node, corev1.EventTypeWarning, "InvalidDevices", "%s: %v", where, wrong)
}

// wanted returns no slices for a node that is gone.
func (d *driver) wanted(name string) ([]*resourceapi.ResourceSlice, error) {
	obj, exists, err := d.nodes.GetIndexer().GetByKey(name)
	if err != nil || !exists {
		return nil, err
	}
	node := obj.(*corev1.Node)
	groups, err := groupsOf(node, d.file)
	var devices map[string][]resourceapi.Device
	if err == nil {
		devices, err = byDriver(groups)
	}
	if err != nil {
		return nil, &invalidDevices{err}
	}
	return slicesOf(node, devices), nil
}

// raise sets the generation of each driver's slices: that of the published ones, or
// the next one if any slice differs. The scheduler uses a pool only if all its
// slices have one generation.
func raise(wanted []*resourceapi.ResourceSlice, current map[string]*resourceapi.ResourceSlice, generations map[string]int64) {
	next := map[string]bool{}
	for _, slice := range wanted {
		published := current[slice.Name]
		if published == nil || !equality.Semantic.DeepEqual(published.Spec.Devices, slice.Spec.Devices) ||
			published.Spec.Pool.ResourceSliceCount != slice.Spec.Pool.ResourceSliceCount {
			next[slice.Spec.Driver] = true
		}
	}
	for _, slice := range wanted {
		generation := max(1, generations[slice.Spec.Driver])
		if next[slice.Spec.Driver] && generations[slice.Spec.Driver] > 0 {
			generation++
		}
		slice.Spec.Pool.Generation = generation
	}
}

func (d *driver) write(ctx context.Context, wanted, published *resourceapi.ResourceSlice) error {
	client := d.client.ResourceV1().ResourceSlices()
	if published == nil {
		if _, err := client.Create(ctx, wanted, metav1.CreateOptions{}); err != nil {
			return fmt.Errorf("create resource slice %s: %w", wanted.Name, err)
		}
		return nil
	}
	owned := equality.Semantic.DeepEqual(published.OwnerReferences, wanted.OwnerReferences)
	if owned && equality.Semantic.DeepEqual(published.Spec, wanted.Spec) {
		return nil
	}
	changed := published.DeepCopy()
	changed.OwnerReferences, changed.Spec = wanted.OwnerReferences, wanted.Spec
	if _, err := client.Update(ctx, changed, metav1.UpdateOptions{}); err != nil {
		return fmt.Errorf("update resource slice %s: %w", wanted.Name, err)
	}
	return nil
}
