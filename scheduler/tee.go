package scheduler

import (
	"context"
	"reflect"
	"sync"

	v1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/resourceversion"
	utilfeature "k8s.io/apiserver/pkg/util/feature"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/tools/cache"
	"k8s.io/kubernetes/pkg/features"

	"kube-scheduler-simulator/scheduler/feed"
)

// tee writes what a scheduler sees to a log: nodes and bound pods as its cache has them, in the
// order of the cache; pending pods, with the nominations that the scheduler has made but not
// written yet; and all other objects that it watches.
type tee struct {
	of     *Scheduler
	log    *feed.Log
	cancel context.CancelFunc
	ended  sync.WaitGroup

	// The log's lock guards the following: only Do and the state function use them.

	// stopped: the scheduler's last changes are no longer of interest.
	stopped bool
	// pending are the pods without a node, as the informer has them.
	pending map[types.UID]*v1.Pod
	// nominated are the nominations that pending does not show yet.
	nominated map[types.UID]string
	objects   map[feed.Ref]runtime.Object
	// assumed are versions that the informers do not have yet, or that the scheduler expects.
	assumed map[feed.Ref]runtime.Object
}

func newTee(s *Scheduler, log *feed.Log) *tee {
	return &tee{
		of: s, log: log, cancel: func() {},
		pending: map[types.UID]*v1.Pod{}, nominated: map[types.UID]string{},
		objects: map[feed.Ref]runtime.Object{}, assumed: map[feed.Ref]runtime.Object{},
	}
}

// start does not wait until the state is known.
func (t *tee) start() {
	ctx, cancel := context.WithCancel(context.Background())
	t.cancel = cancel
	t.of.tee.Store(t)
	t.ended.Go(func() {
		if stop := t.watch(ctx); stop != nil {
			t.log.Restart(t.state)
			<-ctx.Done()
			stop()
		}
	})
}

// stop waits until the scheduler has none of the tee's handlers left.
func (t *tee) stop() {
	t.of.tee.Store(nil)
	t.log.Do(func(func(feed.Operation)) { t.stopped = true })
	t.log.Restart(nil)
	t.cancel()
	t.ended.Wait()
}

// watch adds handlers to the scheduler's informers and waits until they have seen all objects. If
// ctx ends first, it removes them and returns nil.
func (t *tee) watch(ctx context.Context) (stop func()) {
	var undo []func()
	stop = func() {
		for _, f := range undo {
			f()
		}
	}
	var synced []cache.InformerSynced
	add := func(informer cache.SharedIndexInformer, handler cache.ResourceEventHandler) {
		// Only a stopped informer returns an error.
		registration, err := informer.AddEventHandler(handler)
		if err != nil {
			return
		}
		synced = append(synced, registration.HasSynced)
		undo = append(undo, func() { _ = informer.RemoveEventHandler(registration) })
	}
	add(t.of.informers.Core().V1().Pods().Informer(), t.podHandler())
	for _, informer := range t.of.watched() {
		add(informer, t.objectHandler())
	}
	if extra, err := t.extraInformers(); err == nil {
		extra.Start(ctx.Done())
		undo = append(undo, extra.Shutdown)
		extra.WaitForCacheSync(ctx.Done())
		for _, informer := range started(extra) {
			add(informer, t.objectHandler())
		}
	}
	if !cache.WaitForCacheSync(ctx.Done(), synced...) {
		stop()
		return nil
	}
	return stop
}

// extraInformers are for kinds that the scheduler does not watch, but that affect what a new pod
// becomes.
func (t *tee) extraInformers() (informers.SharedInformerFactory, error) {
	config, err := kubernetes.NewForConfig(t.of.options.Client)
	if err != nil {
		return nil, err
	}
	extra := informers.NewSharedInformerFactory(config, 0)
	extra.Scheduling().V1().PriorityClasses().Informer()
	if utilfeature.DefaultFeatureGate.Enabled(features.DynamicResourceAllocation) {
		extra.Resource().V1().ResourceClaimTemplates().Informer()
	}
	return extra, nil
}

// watched returns the informers that the scheduler has started, except those of its cache.
func (s *Scheduler) watched() []cache.SharedIndexInformer {
	out := started(s.informers)
	for resource := range s.dynamicInformers.WaitForCacheSync(now()) {
		out = append(out, s.dynamicInformers.ForResource(resource).Informer())
	}
	return out
}

// started returns the informers of a factory, except those of nodes and pods.
func started(f informers.SharedInformerFactory) []cache.SharedIndexInformer {
	var out []cache.SharedIndexInformer
	for kind := range f.WaitForCacheSync(now()) {
		switch o := reflect.New(kind.Elem()).Interface().(type) {
		case *v1.Node, *v1.Pod:
		case runtime.Object:
			out = append(out, f.InformerFor(o, nil)) // it exists
		}
	}
	return out
}

// now returns a closed channel, so that receivers never block.
func now() <-chan struct{} {
	c := make(chan struct{})
	close(c)
	return c
}

func (t *tee) state(add func(feed.Operation)) {
	bound := map[types.UID]bool{}
	for _, node := range t.of.sched.Cache.Dump().Nodes {
		if node.Node() != nil {
			add(feed.Operation{Set: node.Node()})
		}
		for _, pod := range node.GetPods() {
			bound[pod.GetPod().UID] = true
			add(feed.Operation{Set: pod.GetPod()})
		}
	}
	for uid, pod := range t.pending {
		if !bound[uid] {
			add(feed.Operation{Set: t.withNomination(pod)})
		}
	}
	for ref, o := range t.objects {
		if newer := t.assumed[ref]; newer != nil {
			o = newer
		}
		add(feed.Operation{Set: o})
		if claim, ok := o.(*resourcev1.ResourceClaim); ok {
			t.allocating(claim, add)
		}
	}
}

// do makes and notes a change of the scheduler; no other change is noted meanwhile.
func (t *tee) do(change func(add func(feed.Operation))) {
	t.log.Do(func(add func(feed.Operation)) {
		if t.stopped {
			add = func(feed.Operation) {}
		}
		change(add)
	})
}

func (t *tee) note(ops ...feed.Operation) {
	t.do(func(add func(feed.Operation)) {
		for _, op := range ops {
			add(op)
		}
	})
}

// late is called after a change that began before the tee existed: the written state may lack it.
func (t *tee) late() { t.log.Lose() }

func refOf(o runtime.Object) feed.Ref {
	gvk := o.GetObjectKind().GroupVersionKind()
	if gvks, _, err := scheme.Scheme.ObjectKinds(o); err == nil {
		gvk = gvks[0]
	}
	accessor, err := meta.Accessor(o)
	if err != nil {
		return feed.Ref{GVK: gvk}
	}
	return feed.Ref{GVK: gvk, Namespace: accessor.GetNamespace(), Name: accessor.GetName()}
}

func deleted(o runtime.Object) feed.Operation {
	ref := refOf(o)
	return feed.Operation{Delete: &ref}
}

func (t *tee) objectHandler() cache.ResourceEventHandler {
	set := func(obj any) {
		o, ok := obj.(runtime.Object)
		if !ok {
			return
		}
		t.do(func(add func(feed.Operation)) {
			ref := refOf(o)
			t.objects[ref] = o
			if assumed := t.assumed[ref]; assumed != nil {
				if !newer(o, assumed) {
					return
				}
				delete(t.assumed, ref)
			}
			add(feed.Operation{Set: o})
		})
	}
	return cache.ResourceEventHandlerFuncs{
		AddFunc:    set,
		UpdateFunc: func(_, obj any) { set(obj) },
		DeleteFunc: func(obj any) {
			if o, ok := last(obj).(runtime.Object); ok {
				t.do(func(add func(feed.Operation)) {
					ref := refOf(o)
					delete(t.objects, ref)
					delete(t.assumed, ref)
					add(feed.Operation{Delete: &ref})
				})
			}
		},
	}
}

// last returns the last known version of a deleted object.
func last(obj any) any {
	if unknown, ok := obj.(cache.DeletedFinalStateUnknown); ok {
		return unknown.Obj
	}
	return obj
}

func newer(a, b runtime.Object) bool {
	x, errX := meta.Accessor(a)
	y, errY := meta.Accessor(b)
	if errX != nil || errY != nil || x.GetUID() != y.GetUID() {
		return true
	}
	order, err := resourceversion.CompareResourceVersion(x.GetResourceVersion(), y.GetResourceVersion())
	return err != nil || order > 0
}

// assume notes a version of an object that the scheduler has made or expects.
func (t *tee) assume(o runtime.Object) {
	t.do(func(add func(feed.Operation)) {
		t.assumed[refOf(o)] = o
		add(feed.Operation{Set: o})
	})
}

// restore ends assume.
func (t *tee) restore(ref feed.Ref) {
	t.do(func(add func(feed.Operation)) {
		if t.assumed[ref] == nil {
			return
		}
		delete(t.assumed, ref)
		if o := t.objects[ref]; o != nil {
			add(feed.Operation{Set: o})
		}
	})
}
