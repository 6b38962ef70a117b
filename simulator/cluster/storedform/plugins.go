package storedform

import (
	"context"
	"time"

	corev1 "k8s.io/api/core/v1"
	nodev1 "k8s.io/api/node/v1"
	schedulingv1 "k8s.io/api/scheduling/v1"
	storagev1 "k8s.io/api/storage/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apiserver/pkg/admission"
	"k8s.io/apiserver/pkg/admission/initializer"
	utilfeature "k8s.io/apiserver/pkg/util/feature"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	typedcorev1 "k8s.io/client-go/kubernetes/typed/core/v1"
	typednodev1 "k8s.io/client-go/kubernetes/typed/node/v1"
	"k8s.io/client-go/tools/cache"
	apisschedulingv1 "k8s.io/kubernetes/pkg/apis/scheduling/v1"
	"k8s.io/kubernetes/plugin/pkg/admission/defaulttolerationseconds"
	"k8s.io/kubernetes/plugin/pkg/admission/limitranger"
	"k8s.io/kubernetes/plugin/pkg/admission/priority"
	"k8s.io/kubernetes/plugin/pkg/admission/runtimeclass"
	"k8s.io/kubernetes/plugin/pkg/admission/storage/storageclass/setdefault"
)

// The chain has kube-apiserver's order.
func (a *Admission) newChain() (chain, error) {
	factory := informers.NewSharedInformerFactory(nothing{}, 0)
	a.keep(factory, schema.GroupKind{Kind: "LimitRange"}, &corev1.LimitRange{})
	a.keep(factory, schema.GroupKind{Group: schedulingv1.GroupName, Kind: "PriorityClass"}, &schedulingv1.PriorityClass{})
	a.keep(factory, schema.GroupKind{Group: nodev1.GroupName, Kind: "RuntimeClass"}, &nodev1.RuntimeClass{})
	a.keep(factory, schema.GroupKind{Group: storagev1.GroupName, Kind: "StorageClass"}, &storagev1.StorageClass{})
	for _, class := range apisschedulingv1.SystemPriorityClasses() {
		class.SetGroupVersionKind(schedulingv1.SchemeGroupVersion.WithKind("PriorityClass"))
		a.Know(class)
	}
	plugins := admission.NewPlugins()
	for _, register := range []func(*admission.Plugins){
		limitranger.Register, priority.Register, defaulttolerationseconds.Register, setdefault.Register, runtimeclass.Register,
	} {
		register(plugins)
	}
	initialize := initializer.New(nothing{}, nil, factory, nil, utilfeature.DefaultFeatureGate, nil, nil, nil)
	var handlers []admission.Interface
	for _, name := range []string{
		limitranger.PluginName, priority.PluginName, defaulttolerationseconds.PluginName, setdefault.PluginName, runtimeclass.PluginName,
	} {
		plugin, err := plugins.InitPlugin(name, nil, initialize)
		if err != nil {
			return nil, err
		}
		handlers = append(handlers, plugin)
	}
	return admission.NewChainHandler(handlers...), nil
}

// keep makes an informer of the factory that holds what Know gets, and that asks no API server.
func (a *Admission) keep(factory informers.SharedInformerFactory, gk schema.GroupKind, example runtime.Object) {
	informer := factory.InformerFor(example, func(kubernetes.Interface, time.Duration) cache.SharedIndexInformer {
		return synced{cache.NewSharedIndexInformer(&cache.ListWatch{}, example, 0, cache.Indexers{cache.NamespaceIndex: cache.MetaNamespaceIndexFunc})}
	})
	a.known[gk] = informer.GetIndexer()
}

// synced is an informer that never starts.
type synced struct{ cache.SharedIndexInformer }

func (synced) HasSynced() bool { return true }

// Know adds or replaces an object that may influence the admission of others. It ignores kinds that
// do not.
func (a *Admission) Know(o runtime.Object) {
	if indexer := a.known[o.GetObjectKind().GroupVersionKind().GroupKind()]; indexer != nil {
		// It fails only for objects without metadata.
		_ = indexer.Add(o)
	}
}

// Forget removes an object that was deleted, or is about to be replaced: there can be only one
// default priority class.
func (a *Admission) Forget(o runtime.Object) {
	if indexer := a.known[o.GetObjectKind().GroupVersionKind().GroupKind()]; indexer != nil {
		_ = indexer.Delete(o)
	}
}

// nothing answers the requests that plugins make when an informer lacks an object and may be late.
// These informers are not.
type nothing struct{ kubernetes.Interface }

func (nothing) CoreV1() typedcorev1.CoreV1Interface { return nothingOfCore{} }

func (nothing) NodeV1() typednodev1.NodeV1Interface { return nothingOfNode{} }

type nothingOfCore struct{ typedcorev1.CoreV1Interface }

func (nothingOfCore) LimitRanges(string) typedcorev1.LimitRangeInterface { return noLimitRange{} }

type noLimitRange struct {
	typedcorev1.LimitRangeInterface
}

func (noLimitRange) List(context.Context, metav1.ListOptions) (*corev1.LimitRangeList, error) {
	return &corev1.LimitRangeList{}, nil
}

type nothingOfNode struct{ typednodev1.NodeV1Interface }

func (nothingOfNode) RuntimeClasses() typednodev1.RuntimeClassInterface { return noRuntimeClass{} }

type noRuntimeClass struct {
	typednodev1.RuntimeClassInterface
}

func (noRuntimeClass) Get(_ context.Context, name string, _ metav1.GetOptions) (*nodev1.RuntimeClass, error) {
	return nil, apierrors.NewNotFound(nodev1.Resource("runtimeclasses"), name)
}
