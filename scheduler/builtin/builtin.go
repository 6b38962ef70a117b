// Package builtin knows which kinds are Kubernetes' own. client-go's scheme does not tell: libraries, such as Karpenter, add their custom
// resources to it, and then they look like kinds that every API server has, with namespaces, types and strategic merge patches.
//
// It imports none of our packages.
package builtin

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	"k8s.io/client-go/kubernetes/scheme"
)

// Scheme has the kinds of Kubernetes alone. Nothing is to be added.
var Scheme = func() *runtime.Scheme {
	s := runtime.NewScheme()
	metav1.AddToGroupVersion(s, schema.GroupVersion{Version: "v1"})
	utilruntime.Must(scheme.AddToScheme(s))
	return s
}()

// Codecs are those of Scheme.
var Codecs = serializer.NewCodecFactory(Scheme)

// Is reports whether a kind is one of Kubernetes' own.
func Is(gvk schema.GroupVersionKind) bool { return Scheme.Recognizes(gvk) }
