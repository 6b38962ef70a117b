package objects

import (
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	"k8s.io/client-go/kubernetes/scheme"
)

// kubernetes has the kinds of Kubernetes alone.
var kubernetes = func() *runtime.Scheme {
	s := runtime.NewScheme()
	utilruntime.Must(scheme.AddToScheme(s))
	return s
}()

// TakesStrategicMerge reports whether the kind is one of Kubernetes' own; others take merge patches. client-go's scheme does not tell:
// libraries such as Karpenter add their custom resources to it.
func TakesStrategicMerge(gvk schema.GroupVersionKind) bool { return kubernetes.Recognizes(gvk) }
