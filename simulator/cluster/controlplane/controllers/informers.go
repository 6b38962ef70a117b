package controllers

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/metadata"
	"k8s.io/client-go/metadata/metadatainformer"
	"k8s.io/client-go/rest"

	"kube-scheduler-simulator/scheduler/sharedpods"
	"kube-scheduler-simulator/simulator/cluster/objects"
)

// sharedInformers hold one informer per kind for all controllers: whole objects of built-in
// kinds, and the metadata of all others.
type sharedInformers struct {
	typed    informers.SharedInformerFactory
	metadata metadatainformer.SharedInformerFactory
}

func newSharedInformers(config *rest.Config, sharedPods *sharedpods.Pool) (*sharedInformers, error) {
	client, err := kubernetes.NewForConfig(userAgent(config, "shared-informers"))
	if err != nil {
		return nil, fmt.Errorf("make a client: %w", err)
	}
	metadataClient, err := metadata.NewForConfig(userAgent(config, "metadata-informers"))
	if err != nil {
		return nil, fmt.Errorf("make a client: %w", err)
	}
	trim := func(obj any) (any, error) { return trim(obj, sharedPods) }
	return &sharedInformers{
		typed:    informers.NewSharedInformerFactoryWithOptions(client, 0, informers.WithTransform(trim)),
		metadata: metadatainformer.NewSharedInformerFactoryWithOptions(metadataClient, 0, metadatainformer.WithTransform(trim)),
	}, nil
}

// start runs the informers that were requested and do not run yet.
func (s *sharedInformers) start(ctx context.Context) {
	s.typed.StartWithContext(ctx)
	s.metadata.Start(ctx.Done())
}

// shutdown waits for all informers. They end with start's context.
func (s *sharedInformers) shutdown() {
	s.typed.Shutdown()
	s.metadata.Shutdown()
}

// trim drops the parts of cached objects that no controller reads and that may be large: managed
// fields, and the annotations with scheduling results. A controller that updates a whole pod
// from the cache deletes that pod's result annotations, which are only a copy. Kubernetes'
// controllers patch pods, except in two rare cases: a pod of a StatefulSet that lost its
// labels, and a pod that is bound to a node that is not ready.
func trim(obj any, sharedPods *sharedpods.Pool) (any, error) {
	accessor, err := meta.Accessor(obj)
	if err != nil {
		// A tombstone, whose object was trimmed before.
		return obj, nil
	}
	accessor.SetManagedFields(nil)
	if pod, ok := obj.(*corev1.Pod); ok {
		objects.DropResults(pod)
		sharedPods.Share(pod)
	}
	return obj, nil
}
