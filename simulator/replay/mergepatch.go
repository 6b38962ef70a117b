package replay

import "reflect"

// mergePatch returns the JSON merge patch (RFC 7396) that turns before into after; empty when they
// are equal. Neither has null fields. Unlike in libraries that read JSON numbers as floats,
// integers keep their values.
func mergePatch(before, after map[string]any) map[string]any {
	patch := map[string]any{}
	for name := range before {
		if _, stays := after[name]; !stays {
			patch[name] = nil
		}
	}
	for name, value := range after {
		old, there := before[name]
		oldMap, wasMap := old.(map[string]any)
		newMap, isMap := value.(map[string]any)
		switch {
		case there && wasMap && isMap:
			if inner := mergePatch(oldMap, newMap); len(inner) > 0 {
				patch[name] = inner
			}
		case !there || !reflect.DeepEqual(old, value):
			patch[name] = value
		}
	}
	return patch
}
