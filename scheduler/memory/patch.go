package memory

import (
	"errors"
	"fmt"
	"reflect"

	jsonpatch "gopkg.in/evanphx/json-patch.v4"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/strategicpatch"
)

// Patched applies a patch to an object's JSON, as an API server does. like has the object's type.
// Without a kind, the patch is a strategic merge patch or, if the client library has no type for
// the object, a JSON merge patch.
func Patched(document []byte, like runtime.Object, kind types.PatchType, patch []byte) ([]byte, error) {
	_, custom := like.(*unstructured.Unstructured)
	switch {
	case kind == types.MergePatchType, kind == types.ApplyPatchType, kind == "" && custom:
		return jsonpatch.MergePatch(document, patch)
	case kind == types.JSONPatchType:
		operations, err := jsonpatch.DecodePatch(patch)
		if err != nil {
			return nil, fmt.Errorf("the patch is not a JSON patch: %w", err)
		}
		return operations.Apply(document)
	case kind != "" && kind != types.StrategicMergePatchType:
		return nil, fmt.Errorf("unknown type of patch %q", kind)
	case custom:
		return nil, errors.New("a strategic merge patch needs a built-in kind")
	}
	return strategicpatch.StrategicMergePatch(document, patch, like)
}

// Like returns an empty object of the type of another one.
func Like(o runtime.Object) runtime.Object {
	return reflect.New(reflect.TypeOf(o).Elem()).Interface().(runtime.Object)
}
