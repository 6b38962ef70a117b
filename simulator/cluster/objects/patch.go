package objects

import "reflect"

// The library that applies merge patches reads numbers as floats, which changes large integers, and
// does not work on decoded objects. So this package makes patches itself.

// MergePatch returns the JSON merge patch (RFC 7386) that turns from into to. It is empty, and not
// nil, when they are equal. It shares values with to. A merge patch cannot set a field to null, so
// to must have none that is.
func MergePatch(from, to map[string]any) map[string]any {
	patch := map[string]any{}
	for name := range from {
		if _, stays := to[name]; !stays {
			patch[name] = nil
		}
	}
	differences(patch, from, to, MergePatch)
	return patch
}

// Additions returns the part of the merge patch that removes nothing. It is empty, and not nil,
// when to has nothing that from lacks.
func Additions(from, to map[string]any) map[string]any {
	patch := map[string]any{}
	differences(patch, from, to, Additions)
	return patch
}

// Changes reports whether a merge patch would change an object.
func Changes(patch, object map[string]any) bool {
	for name, after := range patch {
		before, has := object[name]
		inner, isMap := after.(map[string]any)
		beforeMap, _ := before.(map[string]any)
		var changes bool
		switch {
		case after == nil:
			changes = has
		case isMap:
			changes = beforeMap == nil && len(inner) == 0 || Changes(inner, beforeMap)
		default:
			changes = !reflect.DeepEqual(before, after)
		}
		if changes {
			return true
		}
	}
	return false
}

// differences adds to patch the fields of to that differ; inner compares objects.
func differences(patch, from, to map[string]any, inner func(from, to map[string]any) map[string]any) {
	for name, after := range to {
		before, has := from[name]
		beforeMap, wasMap := before.(map[string]any)
		afterMap, isMap := after.(map[string]any)
		switch {
		case wasMap && isMap:
			if more := inner(beforeMap, afterMap); len(more) > 0 {
				patch[name] = more
			}
		case !has || !reflect.DeepEqual(before, after):
			patch[name] = after
		}
	}
}
