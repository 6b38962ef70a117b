package scheduler

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	v1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/resourceversion"
	"k8s.io/apimachinery/pkg/util/wait"
	utilfeature "k8s.io/apiserver/pkg/util/feature"
	"k8s.io/client-go/informers"
	coreinformers "k8s.io/client-go/informers/core/v1"
	resourceinformers "k8s.io/client-go/informers/resource/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/cache"
	"k8s.io/kubernetes/pkg/features"
)

// allocation is a kind of object by which a scheduler hands out something besides room on a node:
// devices, volumes, or nominations.
type allocation struct {
	list func(context.Context, kubernetes.Interface) (runtime.Object, error)
	get  func(ctx context.Context, client kubernetes.Interface, namespace, name string) (metav1.Object, error)
	// seen reports whether the scheduler has processed this version or a later one.
	seen func(metav1.Object) bool
}

// watchAllocations prepares the scheduler's informers of claims and volumes before they
// start. They are those that the scheduler would use anyway.
func (s *Scheduler) watchAllocations(f informers.SharedInformerFactory) {
	s.allocations = []allocation{{
		list: func(ctx context.Context, c kubernetes.Interface) (runtime.Object, error) {
			return c.CoreV1().PersistentVolumes().List(ctx, metav1.ListOptions{})
		},
		get: func(ctx context.Context, c kubernetes.Interface, _, name string) (metav1.Object, error) {
			return c.CoreV1().PersistentVolumes().Get(ctx, name, metav1.GetOptions{})
		},
		seen: processedBy(f, &v1.PersistentVolume{}, coreinformers.NewPersistentVolumeInformer),
	}, {
		list: func(ctx context.Context, c kubernetes.Interface) (runtime.Object, error) {
			return c.CoreV1().PersistentVolumeClaims("").List(ctx, metav1.ListOptions{})
		},
		get: func(ctx context.Context, c kubernetes.Interface, namespace, name string) (metav1.Object, error) {
			return c.CoreV1().PersistentVolumeClaims(namespace).Get(ctx, name, metav1.GetOptions{})
		},
		seen: processedBy(f, &v1.PersistentVolumeClaim{}, func(c kubernetes.Interface, resync time.Duration, i cache.Indexers) cache.SharedIndexInformer {
			return coreinformers.NewPersistentVolumeClaimInformer(c, metav1.NamespaceAll, resync, i)
		}),
	}, {
		list: func(ctx context.Context, c kubernetes.Interface) (runtime.Object, error) {
			return c.CoreV1().Pods("").List(ctx, metav1.ListOptions{FieldSelector: "status.nominatedNodeName!=,spec.nodeName="})
		},
		get: func(ctx context.Context, c kubernetes.Interface, namespace, name string) (metav1.Object, error) {
			return c.CoreV1().Pods(namespace).Get(ctx, name, metav1.GetOptions{})
		},
		seen: s.knowsNomination,
	}}
	if !utilfeature.DefaultFeatureGate.Enabled(features.DynamicResourceAllocation) {
		return // the scheduler does not watch claims
	}
	s.allocations = append(s.allocations, allocation{
		list: func(ctx context.Context, c kubernetes.Interface) (runtime.Object, error) {
			return c.ResourceV1().ResourceClaims("").List(ctx, metav1.ListOptions{})
		},
		get: func(ctx context.Context, c kubernetes.Interface, namespace, name string) (metav1.Object, error) {
			return c.ResourceV1().ResourceClaims(namespace).Get(ctx, name, metav1.GetOptions{})
		},
		seen: processedBy(f, &resourcev1.ResourceClaim{}, func(c kubernetes.Interface, resync time.Duration, i cache.Indexers) cache.SharedIndexInformer {
			return resourceinformers.NewResourceClaimInformer(c, metav1.NamespaceAll, resync, i)
		}),
	})
}

// knowsNomination reports whether the queue has the pod's nomination. It is also true for pods
// whose nominations the scheduler ignores: bound pods and those of other schedulers.
func (s *Scheduler) knowsNomination(o metav1.Object) bool {
	pod, ok := o.(*v1.Pod)
	if !ok || pod.Status.NominatedNodeName == "" || pod.Spec.NodeName != "" || !s.sched.Profiles.HandlesSchedulerName(pod.Spec.SchedulerName) {
		return true
	}
	return s.seen.has(Change{UID: pod.UID, ResourceVersion: pod.ResourceVersion})
}

// recheckAfter is how long an object may stay unseen before waitForAllocations asks
// whether it still exists.
const recheckAfter = 100 * time.Millisecond

// waitForAllocations waits until s has processed the latest versions of all allocations. No other
// scheduler may run meanwhile.
func (s *Scheduler) waitForAllocations(ctx context.Context, client kubernetes.Interface) error {
	for _, kind := range s.allocations {
		unseen, err := kind.unseen(ctx, client)
		if err != nil {
			return err
		}
		asked := time.Now()
		err = wait.PollUntilContextCancel(ctx, time.Millisecond, true, func(ctx context.Context) (bool, error) {
			for uid, o := range unseen {
				if kind.seen(o) {
					delete(unseen, uid)
				}
			}
			if len(unseen) == 0 || time.Since(asked) < recheckAfter {
				return len(unseen) == 0, nil
			}
			asked = time.Now()
			return false, kind.dropDeleted(ctx, client, unseen)
		})
		if err != nil {
			return fmt.Errorf("%s not seen yet: %w", namesOf(unseen), err)
		}
	}
	return nil
}

func namesOf(objects map[types.UID]metav1.Object) string {
	var names []string
	for _, o := range objects {
		names = append(names, fmt.Sprintf("%T %s/%s", o, o.GetNamespace(), o.GetName()))
	}
	if len(names) == 0 {
		return "no objects"
	}
	slices.Sort(names)
	return fmt.Sprintf("%d objects, first %s,", len(names), strings.TrimPrefix(names[0], "*"))
}

func (a *allocation) unseen(ctx context.Context, client kubernetes.Interface) (map[types.UID]metav1.Object, error) {
	list, err := a.list(ctx, client)
	if err != nil {
		return nil, err
	}
	out := map[types.UID]metav1.Object{}
	return out, meta.EachListItem(list, func(item runtime.Object) error {
		o, err := meta.Accessor(item)
		if err == nil && !a.seen(o) {
			out[o.GetUID()] = o
		}
		return err
	})
}

func (a *allocation) dropDeleted(ctx context.Context, client kubernetes.Interface, from map[types.UID]metav1.Object) error {
	for uid, o := range from {
		now, err := a.get(ctx, client, o.GetNamespace(), o.GetName())
		switch {
		case apierrors.IsNotFound(err), err == nil && now.GetUID() != uid:
			delete(from, uid)
		case err != nil:
			return err
		}
	}
	return nil
}

// processedBy makes the factory's informer of a kind. The function it returns reports whether all
// of the informer's handlers have processed this version of an object or a later one.
func processedBy(f informers.SharedInformerFactory, kind runtime.Object, informer func(kubernetes.Interface, time.Duration, cache.Indexers) cache.SharedIndexInformer) func(metav1.Object) bool {
	watched := &watchedInformer{latest: map[types.UID]processed{}}
	f.InformerFor(kind, func(client kubernetes.Interface, resync time.Duration) cache.SharedIndexInformer {
		watched.SharedIndexInformer = informer(client, resync, cache.Indexers{cache.NamespaceIndex: cache.MetaNamespaceIndexFunc})
		// The first handler numbers the events. The informer is new, so this cannot fail.
		_, _ = watched.SharedIndexInformer.AddEventHandler(cache.ResourceEventHandlerFuncs{
			AddFunc:    func(o any) { watched.note(o, false) },
			UpdateFunc: func(_, o any) { watched.note(o, false) },
			DeleteFunc: func(o any) { watched.note(o, true) },
		})
		return watched
	})
	if watched.SharedIndexInformer == nil {
		panic(fmt.Sprintf("the informer of %T exists already, so its events are not counted", kind))
	}
	return watched.processed
}

// watchedInformer is an informer that knows what its handlers have processed. Every
// handler that is added before the informer runs gets the same events in the same
// order, each on a goroutine of its own, so it is enough to count them.
type watchedInformer struct {
	cache.SharedIndexInformer

	mu       sync.Mutex
	events   int
	latest   map[types.UID]processed
	handlers []*countedHandler
}

// processed is a version of an object with the number of its event.
type processed struct {
	version string
	number  int
}

func (i *watchedInformer) note(o any, deleted bool) {
	if unknown, ok := o.(cache.DeletedFinalStateUnknown); ok {
		o = unknown.Obj
	}
	accessor, err := meta.Accessor(o)
	i.mu.Lock()
	defer i.mu.Unlock()
	i.events++
	switch {
	case err != nil: // a deletion whose object is unknown
	case deleted:
		delete(i.latest, accessor.GetUID())
	default:
		i.latest[accessor.GetUID()] = processed{accessor.GetResourceVersion(), i.events}
	}
}

func (i *watchedInformer) processed(o metav1.Object) bool {
	i.mu.Lock()
	defer i.mu.Unlock()
	latest, ok := i.latest[o.GetUID()]
	if !ok {
		return false
	}
	order, err := resourceversion.CompareResourceVersion(latest.version, o.GetResourceVersion())
	if latest.version != o.GetResourceVersion() && (err != nil || order < 0) {
		return false
	}
	for _, h := range i.handlers {
		if h.events < latest.number {
			return false
		}
	}
	return true
}

func (i *watchedInformer) AddEventHandler(h cache.ResourceEventHandler) (cache.ResourceEventHandlerRegistration, error) {
	return i.SharedIndexInformer.AddEventHandler(i.count(h))
}

func (i *watchedInformer) AddEventHandlerWithResyncPeriod(h cache.ResourceEventHandler, resync time.Duration) (cache.ResourceEventHandlerRegistration, error) {
	return i.SharedIndexInformer.AddEventHandlerWithResyncPeriod(i.count(h), resync)
}

func (i *watchedInformer) AddEventHandlerWithOptions(h cache.ResourceEventHandler, options cache.HandlerOptions) (cache.ResourceEventHandlerRegistration, error) {
	return i.SharedIndexInformer.AddEventHandlerWithOptions(i.count(h), options)
}

// count returns a handler that counts its events. A handler added later gets other events, so its
// events do not count.
func (i *watchedInformer) count(h cache.ResourceEventHandler) cache.ResourceEventHandler {
	i.mu.Lock()
	defer i.mu.Unlock()
	if i.events > 0 || i.HasSynced() {
		return h
	}
	counted := &countedHandler{inner: h, informer: i}
	i.handlers = append(i.handlers, counted)
	return counted
}

type countedHandler struct {
	inner    cache.ResourceEventHandler
	informer *watchedInformer
	events   int // guarded by informer.mu
}

var _ cache.ResourceEventHandler = (*countedHandler)(nil)

func (h *countedHandler) OnAdd(o any, initial bool) {
	defer h.done()
	h.inner.OnAdd(o, initial)
}

func (h *countedHandler) OnUpdate(before, after any) {
	defer h.done()
	h.inner.OnUpdate(before, after)
}

func (h *countedHandler) OnDelete(o any) {
	defer h.done()
	h.inner.OnDelete(o)
}

func (h *countedHandler) done() {
	h.informer.mu.Lock()
	defer h.informer.mu.Unlock()
	h.events++
}
