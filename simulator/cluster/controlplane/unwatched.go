package controlplane

import (
	"context"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	utilfeature "k8s.io/apiserver/pkg/util/feature"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	listersv1 "k8s.io/client-go/listers/core/v1"
	"k8s.io/client-go/tools/cache"
	serviceaccountcontroller "k8s.io/kubernetes/pkg/controller/serviceaccount"
	"k8s.io/kubernetes/pkg/features"
	"k8s.io/kubernetes/pkg/serviceaccount"
)

// tokenGetter returns the API server's default. It is called before anything else uses the factory,
// so that its informer of pods can be replaced.
func tokenGetter(factory informers.SharedInformerFactory) serviceaccount.ServiceAccountTokenGetter {
	client := unwatchPods(factory)
	core, admission := factory.Core().V1(), factory.Admissionregistration().V1()
	var nodes listersv1.NodeLister
	if utilfeature.DefaultFeatureGate.Enabled(features.ServiceAccountTokenNodeBindingValidation) {
		nodes = core.Nodes().Lister()
	}
	return serviceaccountcontroller.NewGetterFromClient(client, core.Secrets().Lister(), core.ServiceAccounts().Lister(), core.Pods().Lister(), nodes,
		admission.ValidatingWebhookConfigurations().Lister(), admission.MutatingWebhookConfigurations().Lister())
}

// unwatchPods keeps the API server from watching its own pods, and returns the factory's client.
// Upstream decodes each version of each pod for two rare questions: whether the pod of a token
// exists, for which it also asks itself, and which pods of a namespace violate its new level of Pod
// Security.
func unwatchPods(factory informers.SharedInformerFactory) kubernetes.Interface {
	var client kubernetes.Interface
	factory.InformerFor(&corev1.Pod{}, func(c kubernetes.Interface, _ time.Duration) cache.SharedIndexInformer {
		client = c
		return unwatched{cache.NewSharedIndexInformer(&cache.ListWatch{}, &corev1.Pod{}, 0, cache.Indexers{}), c}
	})
	return client
}

// unwatched watches nothing. Its lister asks the API server for the pods of a namespace.
type unwatched struct {
	cache.SharedIndexInformer
	client kubernetes.Interface
}

var _ cache.DoneChecker = unwatched{}

func (unwatched) RunWithContext(ctx context.Context) { <-ctx.Done() }

func (unwatched) HasSynced() bool { return true }

func (u unwatched) HasSyncedChecker() cache.DoneChecker { return u }

func (unwatched) Name() string { return "pods that are not watched" }

func (unwatched) Done() <-chan struct{} {
	done := make(chan struct{})
	close(done)
	return done
}

func (u unwatched) GetIndexer() cache.Indexer {
	return askedPods{u.SharedIndexInformer.GetIndexer(), u.client}
}

type askedPods struct {
	cache.Indexer
	client kubernetes.Interface
}

// Without a resource version, so that a pod that was created just before is listed.
func (p askedPods) Index(index string, obj any) ([]any, error) {
	accessor, err := meta.Accessor(obj)
	if err != nil || index != cache.NamespaceIndex {
		return nil, fmt.Errorf("pods that are not watched have no index %s: %w", index, err)
	}
	list, err := p.client.CoreV1().Pods(accessor.GetNamespace()).List(context.TODO(), metav1.ListOptions{})
	if err != nil {
		return nil, err
	}
	pods := make([]any, len(list.Items))
	for i := range list.Items {
		pods[i] = &list.Items[i]
	}
	return pods, nil
}
