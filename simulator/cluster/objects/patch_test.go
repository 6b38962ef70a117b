package objects

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestMergePatch(t *testing.T) {
	type object = map[string]any
	for _, test := range []struct {
		name                 string
		from, to             object
		patch, withoutRemove object
	}{
		{"equal", object{"a": object{"b": int64(1)}}, object{"a": object{"b": int64(1)}}, object{}, object{}},
		{"a field less", object{"a": int64(1), "b": "x"}, object{"a": int64(1)}, object{"b": nil}, object{}},
		{"a field more", object{}, object{"a": object{}}, object{"a": object{}}, object{"a": object{}}},
		{"within objects", object{"a": object{"b": "x", "c": "y"}, "d": "z"}, object{"a": object{"b": "w"}, "d": "z"}, object{"a": object{"b": "w", "c": nil}}, object{"a": object{"b": "w"}}},
		{"lists as a whole", object{"a": []any{"x", "y"}}, object{"a": []any{"x"}}, object{"a": []any{"x"}}, object{"a": []any{"x"}}},
		{"an object in the place of a text", object{"a": "x"}, object{"a": object{"b": "x"}}, object{"a": object{"b": "x"}}, object{"a": object{"b": "x"}}},
		{"integers that floats cannot hold", object{"a": int64(9007199254740992)}, object{"a": int64(9007199254740993)}, object{"a": int64(9007199254740993)}, object{"a": int64(9007199254740993)}},
	} {
		t.Run(test.name, func(t *testing.T) {
			if diff := cmp.Diff(test.patch, MergePatch(test.from, test.to)); diff != "" {
				t.Error("patch:", diff)
			}
			if diff := cmp.Diff(test.withoutRemove, Additions(test.from, test.to)); diff != "" {
				t.Error("additions:", diff)
			}
			if want, got := len(test.patch) > 0, Changes(test.patch, test.from); got != want {
				t.Errorf("Changes(%v, %v) = %t", test.patch, test.from, got)
			}
			if Changes(test.patch, test.to) {
				t.Errorf("the patch %v changes what it leads to", test.patch)
			}
		})
	}
}
