package controllers

import (
	"context"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/tools/cache"
)

var definitionResource = schema.GroupVersionResource{Group: "apiextensions.k8s.io", Version: "v1", Resource: "customresourcedefinitions"}

// customKind runs a controller of a custom kind while the cluster has the definition of the kind.
type customKind struct {
	// name is that of the definition.
	name        string
	definitions cache.SharedIndexInformer
	changed     chan struct{}
	// control runs the controller until ctx ends.
	control func(ctx context.Context)
}

// newCustomKind follows the definitions, whose informer does not run yet.
func newCustomKind(definitions cache.SharedIndexInformer, kind schema.GroupVersionResource, control func(context.Context)) (*customKind, error) {
	k := &customKind{name: kind.Resource + "." + kind.Group, definitions: definitions, changed: make(chan struct{}, 1), control: control}
	note := func(any) {
		select {
		case k.changed <- struct{}{}:
		default:
		}
	}
	_, err := definitions.AddEventHandler(cache.ResourceEventHandlerFuncs{AddFunc: note, DeleteFunc: note})
	return k, err
}

// run returns when ctx has ended and the controller has returned.
func (k *customKind) run(ctx context.Context) {
	stop := func() {}
	defer func() { stop() }()
	for running := false; ; {
		_, exists, err := k.definitions.GetStore().GetByKey(k.name)
		switch {
		case err != nil || exists == running:
		case exists:
			controlled, cancel := context.WithCancel(ctx)
			ended := make(chan struct{})
			go func() {
				defer close(ended)
				k.control(controlled)
			}()
			stop = func() {
				cancel()
				<-ended
			}
			running = true
		default:
			stop()
			stop, running = func() {}, false
		}
		select {
		case <-k.changed:
		case <-ctx.Done():
			return
		}
	}
}
