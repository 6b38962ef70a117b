package snapshot

import (
	"bytes"
	"context"
	"testing"
)

// FuzzImport: whatever is read ends, and an object that is handed over has what
// everything after relies on.
func FuzzImport(f *testing.F) {
	for _, seed := range []string{
		onePod, "---\n" + onePod + "---\n{\"a\":1}\n", "apiVersion: v1\nkind: List\nitems:\n- " + "kind: Pod\n", `{"kind":"List","items":[{"apiVersion":"v1","kind":"Pod","metadata":{"name":"a"}}]}`,
		`{"pods":[{"metadata":{"name":"a"}}],"schedulerConfig":{}}`, "items:\n  - a\n - b\n\t- c\n", "a: &a [*a]\n", "PK\x03\x04", "\x1f\x8b\x08", bomb(),
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		err := Read(context.Background(), NewSource(Part{Name: "f", Content: bytes.NewReader(text), Size: int64(len(text))}), Content{Object: func(o *Object) error {
			u, err := o.Unstructured()
			if err != nil {
				t.Errorf("%s: %v", o.JSON, err)
				return nil
			}
			if u.GetKind() != o.GVK.Kind || o.Name == "" {
				t.Errorf("%s: read as %s %q", o.JSON, o.GVK, o.Name)
			}
			// Nothing that can be read makes cleaning panic.
			ownerOf(u)
			neutralForExport(u, false)
			return nil
		}})
		if err != nil {
			t.Error(err)
		}
	})
}
