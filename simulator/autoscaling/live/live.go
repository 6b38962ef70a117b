// Package live runs Karpenter's own controllers in this process, beside the scheduler and the virtual nodes. The cloud is ours: its
// instances are the cluster's nodes, which cost nothing, and it fails when a user says so. What the controllers do, and why, is in a log.
//
// Karpenter works in real time: it waits a second for more pods before it buys, and fifteen before it takes a node away.
//
// It may import simulator/autoscaling/instances and provider, simulator/cluster/manager and objects, and Karpenter, but never its
// package operator, which changes the whole process.
package live

import (
	"context"
	"errors"
	"fmt"
	"time"

	v1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/record"
	"k8s.io/klog/v2"
	"k8s.io/utils/clock"
	ctrl "sigs.k8s.io/controller-runtime"
	ctrlcache "sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	ctrlmanager "sigs.k8s.io/controller-runtime/pkg/manager"
	karpenter "sigs.k8s.io/karpenter/pkg/apis/v1"
	"sigs.k8s.io/karpenter/pkg/controllers"
	"sigs.k8s.io/karpenter/pkg/controllers/nodeoverlay"
	"sigs.k8s.io/karpenter/pkg/controllers/state"
	"sigs.k8s.io/karpenter/pkg/events"

	"kube-scheduler-simulator/simulator/autoscaling/instances"
	"kube-scheduler-simulator/simulator/autoscaling/provider"
	"kube-scheduler-simulator/simulator/cluster/manager"
)

// UserAgent is the name by which Karpenter writes.
const UserAgent = "karpenter"

// Options of Karpenter's controllers. Those without a default are required.
type Options struct {
	// ClientConfig reaches the cluster with the rights of an administrator. It serves Karpenter's kinds and KWOK's NodeClass.
	ClientConfig *rest.Config
	// Catalog has the instance types; by default they are the built-in ones, in the zones of the cluster's nodes and NodePools.
	Catalog  *instances.Catalog
	Settings Settings
	// Log outlives the controllers.
	Log *Log
	// Displaced is called once when another Karpenter begins to run in the cluster. It must not wait for Stop.
	Displaced func()
	Logger    klog.Logger
}

// Karpenter is a run of the controllers. Its methods may be called from any goroutine.
type Karpenter struct {
	opts    Options
	cloud   *cloud
	running *manager.Running
}

// Start runs the controllers until Stop. It does not wait for them, and outlives ctx.
func Start(ctx context.Context, o Options) *Karpenter {
	k := &Karpenter{opts: o, cloud: newCloud(o)}
	k.running = manager.Start(ctx, manager.Options{
		ClientConfig: o.ClientConfig, Name: UserAgent, Scheme: scheme.Scheme,
		Cache:   ctrlcache.Options{ByObject: ofOurClass()},
		Context: provider.WithOptions, Setup: k.setup,
		Logger: o.Logger, Log: o.Log.sink(),
	})
	return k
}

// Stop returns when nothing is written any more, or with an error when ctx ends.
func (k *Karpenter) Stop(ctx context.Context) error {
	err := k.running.Stop(ctx)
	k.cloud.joining.Wait()
	return err
}

// Configure changes how the cloud behaves from now on.
func (k *Karpenter) Configure(s Settings) { k.cloud.configure(s) }

// Interrupt takes the spot instance of a node back, which ends when the notice is over: Karpenter has so long to move the pods. The error
// says why a node cannot be interrupted.
func (k *Karpenter) Interrupt(ctx context.Context, node string, notice time.Duration) error {
	return k.cloud.interrupt(ctx, node, notice)
}

// Buy creates NodeClaims that a dry run has made up, with Karpenter's names, which it writes into them. The controllers do the rest. The error
// is for the first that could not be created.
func (k *Karpenter) Buy(ctx context.Context, claims []*karpenter.NodeClaim) error {
	kube, _ := k.cloud.client()
	if kube == nil {
		return errors.New("buying nodes: Karpenter's controllers are starting")
	}
	for _, claim := range claims {
		if err := kube.Create(ctx, claim); err != nil {
			return fmt.Errorf("buying a node of NodePool %s: %w", claim.Labels[karpenter.NodePoolLabelKey], err)
		}
	}
	return nil
}

// ofOurClass makes the controllers see all NodePools, NodeClaims and their nodes as those of the provider's class. The objects stay as
// they are: what the controllers write is only what they change.
func ofOurClass() map[client.Object]ctrlcache.ByObject {
	stripped := ctrlcache.TransformStripManagedFields()
	seen := func(change func(any)) ctrlcache.ByObject {
		return ctrlcache.ByObject{Transform: func(o any) (any, error) {
			o, err := stripped(o)
			if err == nil {
				change(o)
			}
			return o, err
		}}
	}
	return map[client.Object]ctrlcache.ByObject{
		&karpenter.NodePool{}: seen(func(o any) {
			if pool, is := o.(*karpenter.NodePool); is {
				provider.UseClass(pool)
			}
		}),
		&karpenter.NodeClaim{}: seen(func(o any) {
			if claim, is := o.(*karpenter.NodeClaim); is {
				provider.UseClassOfClaim(claim)
			}
		}),
		&v1.Node{}: seen(func(o any) {
			if node, is := o.(*v1.Node); is {
				provider.LabelClass(node)
			}
		}),
	}
}

func (k *Karpenter) setup(ctx context.Context, m ctrl.Manager, broadcaster record.EventBroadcaster) error {
	if err := index(ctx, m.GetFieldIndexer()); err != nil {
		return fmt.Errorf("indexing for Karpenter: %w", err)
	}
	kube := naming{m.GetClient(), &k.cloud.names}
	k.cloud.serve(ctx, kube)
	if err := m.Add(k.cloud); err != nil {
		return err
	}
	others, err := kubernetes.NewForConfig(k.opts.ClientConfig)
	if err != nil {
		return fmt.Errorf("making a client for leases: %w", err)
	}
	if err := m.Add(ctrlmanager.RunnableFunc(func(ctx context.Context) error {
		k.watchOthers(ctx, others)
		return nil
	})); err != nil {
		return err
	}
	recorder := k.opts.Log.recorder(events.NewRecorder(broadcaster.NewRecorder(scheme.Scheme, v1.EventSource{Component: UserAgent})))
	cluster := state.NewCluster(clock.RealClock{}, kube, k.cloud)
	all := controllers.NewControllers(ctx, m, clock.RealClock{}, kube, recorder, k.cloud, k.cloud, cluster, nodeoverlay.NewInstanceTypeStore())
	for _, c := range all {
		if err := c.Register(ctx, m); err != nil {
			return fmt.Errorf("registering Karpenter's %T: %w", c, err)
		}
	}
	return nil
}

// lookEvery is how often the controllers look for another Karpenter.
const lookEvery = 10 * time.Second

// watchOthers returns when another Karpenter runs in the cluster, or when ctx ends.
func (k *Karpenter) watchOthers(ctx context.Context, client kubernetes.Interface) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-time.After(lookEvery):
		}
		if lease, err := Beside(ctx, client); err == nil && lease != "" {
			k.opts.Displaced()
			<-ctx.Done()
			return
		}
	}
}

// index adds the fields that Karpenter selects by; Karpenter's own program adds them in a function that it does not export.
func index(ctx context.Context, indexer client.FieldIndexer) error {
	for _, one := range []struct {
		of    client.Object
		field string
		value func(client.Object) string
	}{
		{&v1.Pod{}, "spec.nodeName", func(o client.Object) string { return o.(*v1.Pod).Spec.NodeName }},
		{&v1.Node{}, "spec.providerID", func(o client.Object) string { return o.(*v1.Node).Spec.ProviderID }},
		{&storagev1.VolumeAttachment{}, "spec.nodeName", func(o client.Object) string { return o.(*storagev1.VolumeAttachment).Spec.NodeName }},
		{&karpenter.NodeClaim{}, "status.providerID", func(o client.Object) string { return o.(*karpenter.NodeClaim).Status.ProviderID }},
		{&karpenter.NodeClaim{}, "spec.nodeClassRef.group", func(o client.Object) string { return o.(*karpenter.NodeClaim).Spec.NodeClassRef.Group }},
		{&karpenter.NodeClaim{}, "spec.nodeClassRef.kind", func(o client.Object) string { return o.(*karpenter.NodeClaim).Spec.NodeClassRef.Kind }},
		{&karpenter.NodeClaim{}, "spec.nodeClassRef.name", func(o client.Object) string { return o.(*karpenter.NodeClaim).Spec.NodeClassRef.Name }},
		{&karpenter.NodePool{}, "spec.template.spec.nodeClassRef.group", func(o client.Object) string { return o.(*karpenter.NodePool).Spec.Template.Spec.NodeClassRef.Group }},
		{&karpenter.NodePool{}, "spec.template.spec.nodeClassRef.kind", func(o client.Object) string { return o.(*karpenter.NodePool).Spec.Template.Spec.NodeClassRef.Kind }},
		{&karpenter.NodePool{}, "spec.template.spec.nodeClassRef.name", func(o client.Object) string { return o.(*karpenter.NodePool).Spec.Template.Spec.NodeClassRef.Name }},
	} {
		if err := indexer.IndexField(ctx, one.of, one.field, func(o client.Object) []string { return []string{one.value(o)} }); err != nil {
			return err
		}
	}
	return nil
}
