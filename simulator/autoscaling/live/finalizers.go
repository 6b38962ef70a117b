package live

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/util/workqueue"
	"k8s.io/klog/v2"
	"sigs.k8s.io/karpenter/pkg/apis"
	karpenter "sigs.k8s.io/karpenter/pkg/apis/v1"

	"kube-scheduler-simulator/scheduler/customresource"
)

// leaseName is the name of the lease that Karpenter's own program holds while it runs.
const leaseName = "karpenter-leader-election"

// leaseTime is how long after its last renewal a lease still says that a Karpenter runs.
const leaseTime = time.Minute

// Beside returns the lease of a Karpenter that runs beside the simulator in this cluster, as namespace/name; empty if there is none.
func Beside(ctx context.Context, client kubernetes.Interface) (string, error) {
	leases, err := client.CoordinationV1().Leases(metav1.NamespaceAll).List(ctx, metav1.ListOptions{FieldSelector: fields.OneTermEqualSelector("metadata.name", leaseName).String()})
	if err != nil {
		return "", fmt.Errorf("looking for a Karpenter beside the simulator: %w", err)
	}
	for _, lease := range leases.Items {
		if renewed := lease.Spec.RenewTime; renewed != nil && time.Since(renewed.Time) < leaseTime {
			return lease.Namespace + "/" + lease.Name, nil
		}
	}
	return "", nil
}

var (
	nodesResource  = schema.GroupVersionResource{Version: "v1", Resource: "nodes"}
	claimsResource = schema.GroupVersionResource{Group: apis.Group, Version: "v1", Resource: "nodeclaims"}
)

// Finalizers lets nodes and NodeClaims go that are deleted while no Karpenter runs. They have its finalizer, and would stay for ever.
type Finalizers struct {
	running sync.WaitGroup
	cancel  context.CancelFunc
	queue   workqueue.TypedRateLimitingInterface[deleted]
	client  kubernetes.Interface
	objects dynamic.Interface
	logger  klog.Logger
}

type deleted struct {
	resource schema.GroupVersionResource
	name     string
}

// FinalizersOptions are all required.
type FinalizersOptions struct {
	ClientConfig *rest.Config
	// Informers have the nodes; others run them.
	Informers informers.SharedInformerFactory
	Logger    klog.Logger
}

// StartFinalizers works until Stop. It outlives ctx.
func StartFinalizers(ctx context.Context, o FinalizersOptions) (*Finalizers, error) {
	client, err := kubernetes.NewForConfig(o.ClientConfig)
	if err != nil {
		return nil, fmt.Errorf("making a client for finalizers: %w", err)
	}
	objects, err := customresource.NewClient(o.ClientConfig)
	if err != nil {
		return nil, fmt.Errorf("making a client for finalizers: %w", err)
	}
	f := &Finalizers{
		client: client, objects: objects, logger: o.Logger,
		queue: workqueue.NewTypedRateLimitingQueue(workqueue.NewTypedItemExponentialFailureRateLimiter[deleted](100*time.Millisecond, 10*time.Second)),
	}
	claims := customresource.NewInformer[karpenter.NodeClaim](objects.Resource(claimsResource))
	nodes := o.Informers.Core().V1().Nodes().Informer()
	ofNodes, err := nodes.AddEventHandler(f.handler(nodesResource))
	if err != nil {
		return nil, fmt.Errorf("watching nodes: %w", err)
	}
	if _, err := claims.AddEventHandler(f.handler(claimsResource)); err != nil {
		return nil, fmt.Errorf("watching NodeClaims: %w", err)
	}
	ctx, f.cancel = context.WithCancel(context.WithoutCancel(ctx))
	f.running.Go(func() { claims.RunWithContext(ctx) })
	f.running.Go(func() {
		<-ctx.Done()
		_ = nodes.RemoveEventHandler(ofNodes)
		f.queue.ShutDown()
	})
	f.running.Go(func() { f.work(ctx) })
	return f, nil
}

// Stop returns when nothing is written any more.
func (f *Finalizers) Stop() {
	f.cancel()
	f.running.Wait()
}

func (f *Finalizers) handler(of schema.GroupVersionResource) cache.ResourceEventHandler {
	note := func(obj any) {
		if o, err := meta.Accessor(obj); err == nil && o.GetDeletionTimestamp() != nil && slices.Contains(o.GetFinalizers(), karpenter.TerminationFinalizer) {
			f.queue.Add(deleted{of, o.GetName()})
		}
	}
	return cache.ResourceEventHandlerFuncs{AddFunc: note, UpdateFunc: func(_, obj any) { note(obj) }}
}

func (f *Finalizers) work(ctx context.Context) {
	for {
		one, shutdown := f.queue.Get()
		if shutdown {
			return
		}
		if err := f.release(ctx, one); err != nil && ctx.Err() == nil {
			if !apierrors.IsConflict(err) {
				f.logger.Error(err, "A node that Karpenter bought stays although it is deleted", "name", one.name)
			}
			f.queue.AddRateLimited(one)
		} else {
			f.queue.Forget(one)
		}
		f.queue.Done(one)
	}
}

func (f *Finalizers) release(ctx context.Context, one deleted) error {
	beside, err := Beside(ctx, f.client)
	if err != nil || beside != "" {
		if beside != "" {
			f.queue.AddAfter(one, leaseTime)
		}
		return err
	}
	client := f.objects.Resource(one.resource)
	o, err := client.Get(ctx, one.name, metav1.GetOptions{})
	if apierrors.IsNotFound(err) {
		return nil
	}
	if err != nil {
		return err
	}
	left := slices.DeleteFunc(o.GetFinalizers(), func(name string) bool { return name == karpenter.TerminationFinalizer })
	if o.GetDeletionTimestamp() == nil || len(left) == len(o.GetFinalizers()) {
		return nil
	}
	o.SetFinalizers(left)
	if _, err = client.Update(ctx, o, metav1.UpdateOptions{}); apierrors.IsNotFound(err) {
		return nil
	}
	return err
}
