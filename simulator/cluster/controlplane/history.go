package controlplane

import (
	"context"
	"sync"
	"time"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/apiserver/pkg/registry/generic"
	apistorage "k8s.io/apiserver/pkg/storage"
	"k8s.io/apiserver/pkg/storage/cacher"
	"k8s.io/apiserver/pkg/storage/storagebackend"
	"k8s.io/apiserver/pkg/storage/storagebackend/factory"
	"k8s.io/client-go/tools/cache"
)

const (
	// history is how long a watch cache keeps the changes of a kind that changes often. Changes
	// keep every version of an object in memory. Upstream keeps them for longer than a minute, so that
	// clients find their place again after a lost connection; those that do not find it list again. A quiet
	// cache keeps its last hundred changes, however old they are.
	history = 10 * time.Second
	// historySpeed makes a watch cache believe that more time passes between two changes.
	historySpeed = cacher.DefaultEventFreshDuration / history
)

// shortHistory gives the kinds for which is returns true watch caches that keep changes for the time history.
// Upstream refuses to keep them for a shorter time than its own, but believes the storage about when a change was
// recorded. It uses these times for a metric, too: the total latency of such watches is reported as 0.
type shortHistory struct {
	generic.RESTOptionsGetter
	is func(schema.GroupResource) bool
}

func (s shortHistory) GetRESTOptions(resource schema.GroupResource, example runtime.Object) (generic.RESTOptions, error) {
	options, err := s.RESTOptionsGetter.GetRESTOptions(resource, example)
	if err == nil && s.is(resource) {
		options.Decorator = cachedBriefly
	}
	return options, err
}

// cachedBriefly is a generic.StorageDecorator. It builds what upstream's StorageWithCacher builds, on a storage that
// hurries.
func cachedBriefly(
	config *storagebackend.ConfigForResource, prefix string, key func(runtime.Object) (string, error), newObject, newList func() runtime.Object,
	attributes apistorage.AttrFunc, triggers apistorage.IndexerFuncs, indexers *cache.Indexers,
) (apistorage.Interface, factory.DestroyFunc, error) {
	stored, destroy, err := generic.NewRawStorage(config, newObject, newList, prefix)
	if err != nil {
		return nil, nil, err
	}
	cached, err := cacher.NewCacherFromConfig(cacher.Config{
		Storage:             hurrying{Interface: stored, since: time.Now()},
		Versioner:           apistorage.APIObjectVersioner{},
		GroupResource:       config.GroupResource,
		EventsHistoryWindow: config.EventsHistoryWindow,
		ResourcePrefix:      prefix,
		KeyFunc:             key,
		NewFunc:             newObject,
		NewListFunc:         newList,
		GetAttrsFunc:        attributes,
		IndexerFuncs:        triggers,
		Indexers:            indexers,
		Codec:               config.Codec,
	})
	if err != nil {
		destroy()
		return nil, nil, err
	}
	delegator := cacher.NewCacheDelegator(cached, stored)
	return delegator, sync.OnceFunc(func() {
		delegator.Stop()
		cached.Stop()
		destroy()
	}), nil
}

// hurrying is a storage whose watches say that historySpeed times as much time has passed since
// the given moment.
type hurrying struct {
	apistorage.Interface
	since time.Time
}

func (h hurrying) Watch(ctx context.Context, key string, options apistorage.ListOptions) (watch.Interface, error) {
	w, err := h.Interface.Watch(ctx, key, options)
	if err != nil {
		return nil, err
	}
	faster := &hurryingWatch{Interface: w, since: h.since, changes: make(chan watch.Event), stopped: make(chan struct{})}
	go faster.run()
	return faster, nil
}

// hurryingWatch passes on the changes of a watch until it is stopped. It is not watch.Filter, whose goroutine
// leaks if the reader stops before it has received the last change.
type hurryingWatch struct {
	watch.Interface
	since   time.Time
	changes chan watch.Event
	stop    sync.Once
	stopped chan struct{}
}

func (w *hurryingWatch) run() {
	defer close(w.changes)
	var parts storedParts
	for event := range w.Interface.ResultChan() {
		if timed, ok := event.Object.(apistorage.WatchEventWithRecordTime); ok {
			parts.share(timed.Unwrap())
			event.Object = hurried{timed, w.since}
		}
		select {
		case w.changes <- event:
		case <-w.stopped:
			return
		}
	}
}

func (w *hurryingWatch) ResultChan() <-chan watch.Event { return w.changes }

func (w *hurryingWatch) Stop() {
	w.stop.Do(func() { close(w.stopped) })
	w.Interface.Stop()
}

// hurried is the object of a change.
type hurried struct {
	apistorage.WatchEventWithRecordTime
	since time.Time
}

// GetObjectMeta implements metav1.ObjectMetaAccessor, which the reader of the changes asks for.
func (h hurried) GetObjectMeta() metav1.Object {
	object, _ := meta.Accessor(h.Unwrap())
	return object
}

// RecordTime implements apistorage.WatchEventWithRecordTime.
func (h hurried) RecordTime() time.Time {
	return h.since.Add(historySpeed * h.WatchEventWithRecordTime.RecordTime().Sub(h.since))
}

// changesOften reports whether the objects of a kind change several times soon after their creation: pods, and nodes, which become
// ready. Of thousands of nodes that are imported, each version would stay in memory, and every garbage collection would look at it.
func changesOften(resource schema.GroupResource) bool {
	return resource == v1.Resource("pods") || resource == v1.Resource("nodes")
}

func isCustom(schema.GroupResource) bool { return true }
