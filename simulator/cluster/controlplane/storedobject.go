package controlplane

import (
	"bytes"
	"encoding/json"
	"errors"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/kubernetes/pkg/api/legacyscheme"
)

var protobufMagic = []byte("k8s\x00")

// readObject says whether the API server can read a value. One object that it cannot read makes
// every list of its kind fail, and nothing that watches the kind starts. Kinds that we do not know
// do no harm: they belong to aggregated servers, or were removed.
func readObject(_, value []byte) error {
	switch {
	case bytes.HasPrefix(value, protobufMagic):
		_, _, err := legacyscheme.Codecs.UniversalDeserializer().Decode(value, nil, nil)
		if runtime.IsNotRegisteredError(err) {
			return nil
		}
		return err
	case bytes.HasPrefix(value, []byte("{")):
		if !json.Valid(value) {
			return errors.New("it is no JSON")
		}
	}
	return nil
}
