package timeline

import (
	"reflect"
	"strconv"
	"strings"
	"testing"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
)

// TestStoredFields compares the numbers of fields with the types that they belong to.
func TestStoredFields(t *testing.T) {
	for _, test := range []struct {
		of     any
		field  string
		number int
	}{
		{runtime.Unknown{}, "TypeMeta", fieldTypeMeta},
		{runtime.Unknown{}, "Raw", fieldRaw},
		{runtime.TypeMeta{}, "APIVersion", fieldAPIVersion},
		{runtime.TypeMeta{}, "Kind", fieldKind},
		{v1.Pod{}, "ObjectMeta", fieldObjectMeta},
		{metav1.ObjectMeta{}, "Name", fieldName},
		{metav1.ObjectMeta{}, "Namespace", fieldNamespace},
		{metav1.ObjectMeta{}, "Annotations", fieldAnnotations},
		{metav1.ObjectMeta{}, "ManagedFields", fieldManagedFields},
	} {
		field, _ := reflect.TypeOf(test.of).FieldByName(test.field)
		tag := strings.Split(field.Tag.Get("protobuf"), ",")
		if len(tag) < 2 {
			continue // types without tags are covered by TestStripped, which decodes what was stripped
		}
		if number, err := strconv.Atoi(tag[1]); err != nil || number != test.number {
			t.Errorf("%T.%s has the number %s, not %d", test.of, test.field, tag[1], test.number)
		}
	}
}

// FuzzStored: no stored value makes a reader panic, and stripping twice is stripping once.
func FuzzStored(f *testing.F) {
	p := pod("a", "n1")
	p.Annotations = map[string]string{"kube-scheduler-simulator.sigs.k8s.io/filter-result": "{}", "mine": "x"}
	f.Add(stored(f, p))
	f.Add(custom(f, "w", 1))
	f.Add([]byte("k8s\x00"))
	f.Fuzz(func(t *testing.T, value []byte) {
		_, _ = kindOf(value)
		_, _ = refOf(value)
		_, _ = decode(value)
		once, err := new(stripper).strip(value)
		if err != nil {
			return
		}
		if twice, err := new(stripper).strip(once); err != nil || string(twice) != string(once) {
			t.Errorf("stripping again: %q, %v; want %q", twice, err, once)
		}
	})
}
