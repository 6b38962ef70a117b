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
	// A watch cache keeps changes of a kind that changes often for so long. They keep every version
	// of an object in memory. Upstream keeps them for more than a minute, so that clients find
	// their place after a lost connection; others list again. A quiet cache keeps its last hundred
	// changes.
	history      = 10 * time.Second
	historySpeed = cacher.DefaultEventFreshDuration / history
)

// shortHistory gives the kinds for which is returns true watch caches that keep changes for
// history. Upstream allows no shorter time than its own, but believes the storage about when a
// change was recorded. It uses these times for a metric, too: the total latency of such watches is
// reported as 0.
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

// cachedBriefly builds what upstream's StorageWithCacher builds, on a storage that hurries.
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

// hurrying is a storage whose watches say that historySpeed times as much time has passed.
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

// hurryingWatch is not watch.Filter, whose goroutine leaks if the reader stops before the last
// change.
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

type hurried struct {
	apistorage.WatchEventWithRecordTime
	since time.Time
}

func (h hurried) GetObjectMeta() metav1.Object {
	object, _ := meta.Accessor(h.Unwrap())
	return object
}

func (h hurried) RecordTime() time.Time {
	return h.since.Add(historySpeed * h.WatchEventWithRecordTime.RecordTime().Sub(h.since))
}

// changesOften: pods and nodes change several times soon after their creation. Of thousands of
// imported nodes, each version would stay in memory.
func changesOften(resource schema.GroupResource) bool {
	return resource == v1.Resource("pods") || resource == v1.Resource("nodes")
}

func isCustom(schema.GroupResource) bool { return true }
