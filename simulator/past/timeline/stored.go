package timeline

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"google.golang.org/protobuf/encoding/protowire"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/runtime/serializer/protobuf"
	utiljson "k8s.io/apimachinery/pkg/util/json"
	"k8s.io/client-go/kubernetes/scheme"

	"kube-scheduler-simulator/simulator/cluster/objects"
)

// The journal holds objects as the API server stores them: most in protobuf, custom resources in
// JSON. So recording decodes nothing. This file knows only the numbers of a few fields of
// runtime.Unknown and ObjectMeta, which can never change; TestStoredFields reads them from the
// types.

// protobufPrefix precedes a runtime.Unknown; see
// k8s.io/apimachinery/pkg/runtime/serializer/protobuf.
var protobufPrefix = []byte("k8s\x00")

const (
	fieldTypeMeta      = 1 // of runtime.Unknown
	fieldRaw           = 2
	fieldAPIVersion    = 1 // of runtime.TypeMeta
	fieldKind          = 2
	fieldObjectMeta    = 1 // of every object
	fieldName          = 1 // of ObjectMeta
	fieldNamespace     = 3
	fieldAnnotations   = 12
	fieldManagedFields = 17
	fieldMapKey        = 1
)

var errStored = errors.New("an object is not in the form in which API servers store them")

// f gets each field of a protobuf message: its number, the whole field, and its content if it is a
// message or bytes.
func fields(message []byte, f func(number protowire.Number, whole, content []byte)) error {
	for len(message) > 0 {
		number, kind, tag := protowire.ConsumeTag(message)
		if tag < 0 {
			return errStored
		}
		length := protowire.ConsumeFieldValue(number, kind, message[tag:])
		if length < 0 {
			return errStored
		}
		var content []byte
		if kind == protowire.BytesType {
			content, _ = protowire.ConsumeBytes(message[tag:])
		}
		f(number, message[:tag+length], content)
		message = message[tag+length:]
	}
	return nil
}

func unpackStored(value []byte) (kind schema.GroupVersionKind, raw []byte, err error) {
	var apiVersion, name string
	err = fields(value[len(protobufPrefix):], func(n protowire.Number, _, content []byte) {
		switch n {
		case fieldTypeMeta:
			_ = fields(content, func(n protowire.Number, _, content []byte) {
				switch n {
				case fieldAPIVersion:
					apiVersion = string(content)
				case fieldKind:
					name = string(content)
				}
			})
		case fieldRaw:
			raw = content
		}
	})
	return schema.FromAPIVersionAndKind(apiVersion, name), raw, err
}

// stripper leaves out of stored values what the journal does not hold: the results of scheduling,
// which the result store has, and the record of who manages which field. It keeps a buffer for each
// level of a message, because values are large and come often.
type stripper struct{ value, object, metadata []byte }

// strip returns what the journal holds of a value, valid until the next call.
func (s *stripper) strip(value []byte) ([]byte, error) {
	if !bytes.HasPrefix(value, protobufPrefix) {
		return strippedJSON(value)
	}
	out := append(s.value[:0], protobufPrefix...)
	err := fields(value[len(protobufPrefix):], func(n protowire.Number, whole, content []byte) {
		if n == fieldRaw {
			s.object = s.stripObject(s.object[:0], content)
			out = protowire.AppendTag(out, fieldRaw, protowire.BytesType)
			out = protowire.AppendBytes(out, s.object)
			return
		}
		out = append(out, whole...)
	})
	s.value = out
	return out, err
}

// stripObject copies what it cannot parse: decode reports it.
func (s *stripper) stripObject(out, object []byte) []byte {
	if fields(object, func(n protowire.Number, whole, content []byte) {
		if n == fieldObjectMeta {
			s.metadata = stripMetadata(s.metadata[:0], content)
			out = protowire.AppendTag(out, fieldObjectMeta, protowire.BytesType)
			out = protowire.AppendBytes(out, s.metadata)
			return
		}
		out = append(out, whole...)
	}) != nil {
		return append(out[:0], object...)
	}
	return out
}

func stripMetadata(out, metadata []byte) []byte {
	if fields(metadata, func(n protowire.Number, whole, content []byte) {
		if n == fieldManagedFields || n == fieldAnnotations && isResultEntry(content) {
			return
		}
		out = append(out, whole...)
	}) != nil {
		return append(out[:0], metadata...)
	}
	return out
}

// isResultEntry reports whether an entry of a map of annotations is a scheduling result.
func isResultEntry(entry []byte) (result bool) {
	_ = fields(entry, func(n protowire.Number, _, content []byte) {
		result = result || n == fieldMapKey && objects.IsResult(string(content))
	})
	return result
}

func strippedJSON(value []byte) ([]byte, error) {
	object, err := decodeJSON(value)
	if err != nil {
		return nil, err
	}
	u := &unstructured.Unstructured{Object: object}
	u.SetManagedFields(nil)
	annotations := u.GetAnnotations()
	for name := range annotations {
		if objects.IsResult(name) {
			delete(annotations, name)
		}
	}
	if len(annotations) == 0 {
		annotations = nil
	}
	u.SetAnnotations(annotations)
	return json.Marshal(u.Object)
}

func decodeJSON(value []byte) (map[string]any, error) {
	var object map[string]any
	if err := utiljson.Unmarshal(value, &object); err != nil {
		return nil, fmt.Errorf("%w: %w", errStored, err)
	}
	if object == nil {
		return nil, errStored
	}
	return object, nil
}

func kindOf(value []byte) (schema.GroupVersionKind, error) {
	if bytes.HasPrefix(value, protobufPrefix) {
		kind, _, err := unpackStored(value)
		return kind, err
	}
	var head struct{ APIVersion, Kind string }
	if err := json.Unmarshal(value, &head); err != nil {
		return schema.GroupVersionKind{}, fmt.Errorf("%w: %w", errStored, err)
	}
	return schema.FromAPIVersionAndKind(head.APIVersion, head.Kind), nil
}

func refOf(value []byte) (ObjectRef, error) {
	if value == nil {
		return ObjectRef{}, errStored
	}
	if !bytes.HasPrefix(value, protobufPrefix) {
		var head struct {
			APIVersion, Kind string
			Metadata         struct{ Name, Namespace string }
		}
		if err := json.Unmarshal(value, &head); err != nil {
			return ObjectRef{}, fmt.Errorf("%w: %w", errStored, err)
		}
		return ObjectRef{APIVersion: head.APIVersion, Kind: head.Kind, Namespace: head.Metadata.Namespace, Name: head.Metadata.Name}, nil
	}
	kind, raw, err := unpackStored(value)
	ref := ObjectRef{APIVersion: kind.GroupVersion().String(), Kind: kind.Kind}
	if err != nil {
		return ref, err
	}
	return ref, fields(raw, func(n protowire.Number, _, content []byte) {
		if n != fieldObjectMeta {
			return
		}
		_ = fields(content, func(n protowire.Number, _, content []byte) {
			switch n {
			case fieldName:
				ref.Name = string(content)
			case fieldNamespace:
				ref.Namespace = string(content)
			}
		})
	})
}

// The journal holds the objects that exports hold, and custom resources.
func recorded(kind schema.GroupVersionKind, value []byte) bool {
	known := objects.KindOf(kind.GroupKind())
	if known.Uses&objects.Exported != 0 {
		return true
	}
	return known.Refused == "" && known.Uses == 0 && known.Rank == objects.RankOther &&
		!bytes.HasPrefix(value, protobufPrefix) && strings.Contains(kind.Group, ".")
}

// storedScheme knows the kinds that API servers store in protobuf.
var storedScheme = func() *runtime.Scheme {
	all := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{scheme.AddToScheme, apiextensionsv1.AddToScheme} {
		if err := add(all); err != nil {
			panic(fmt.Sprintf("registering Kubernetes' own types: %v", err))
		}
	}
	return all
}()

var storedDecoder = protobuf.NewSerializer(storedScheme, storedScheme)

func decode(value []byte) (*unstructured.Unstructured, error) {
	if !bytes.HasPrefix(value, protobufPrefix) {
		object, err := decodeJSON(value)
		return &unstructured.Unstructured{Object: object}, err
	}
	typed, kind, err := storedDecoder.Decode(value, nil, nil)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", errStored, err)
	}
	object, err := runtime.DefaultUnstructuredConverter.ToUnstructured(typed)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", errStored, err)
	}
	u := &unstructured.Unstructured{Object: object}
	u.SetGroupVersionKind(*kind)
	return u, nil
}
