package decide

import (
	"encoding/json"
	"errors"
	"fmt"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	kjson "k8s.io/apimachinery/pkg/runtime/serializer/json"
	"k8s.io/client-go/kubernetes/scheme"

	"kube-scheduler-simulator/scheduler/versions/wire"
)

// decoder decodes what this version's API knows, and says what it does not know.
var decoder = kjson.NewSerializerWithOptions(kjson.DefaultMetaFactory, scheme.Scheme, scheme.Scheme, kjson.SerializerOptions{Strict: true})

// read decodes an object. It reports what this version does not know about it, and returns nil if that is its kind.
func (s *session) read(data []byte) (runtime.Object, error) {
	o, gvk, err := decoder.Decode(data, nil, nil)
	strict, unknown := runtime.AsStrictDecodingError(err)
	switch {
	case err == nil:
		return o, nil
	case unknown && o != nil:
		return o, s.answer(wire.Answer{Object: &wire.Object{Reference: referenceOf(o, gvk), Unknown: pathsOf(strict.Errors())}})
	case runtime.IsNotRegisteredError(err) && gvk != nil:
		return nil, s.answer(wire.Answer{Object: &wire.Object{Reference: unserved(data, gvk), Unserved: true}})
	}
	return nil, fail(wire.BadRequest, fmt.Errorf("reading an object: %w", err))
}

// pathsOf returns the paths of the fields that errors of the strict decoder name. An error about something else, such as a field that comes
// twice, stands for itself.
func pathsOf(errs []error) []string {
	paths := make([]string, len(errs))
	for i, err := range errs {
		var field interface{ FieldPath() string }
		if paths[i] = err.Error(); errors.As(err, &field) {
			paths[i] = field.FieldPath()
		}
	}
	return paths
}

func referenceOf(o runtime.Object, gvk *schema.GroupVersionKind) wire.Reference {
	ref := wire.Reference{}
	if gvk != nil {
		ref.APIVersion, ref.Kind = gvk.ToAPIVersionAndKind()
	}
	if m, err := meta.Accessor(o); err == nil {
		ref.Namespace, ref.Name, ref.UID = m.GetNamespace(), m.GetName(), string(m.GetUID())
	}
	return ref
}

// unserved returns the reference of an object of an unknown kind.
func unserved(data []byte, gvk *schema.GroupVersionKind) wire.Reference {
	o := &metav1.PartialObjectMetadata{}
	_ = json.Unmarshal(data, o) // whatever its metadata says
	return referenceOf(o, gvk)
}
