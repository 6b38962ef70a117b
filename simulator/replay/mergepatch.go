package replay

import "reflect"

// mergePatch returns the JSON merge patch (RFC 7396) that makes after of before;
// empty when they are equal. Neither has fields that are null. Integers stay what
// they are, which they do not where JSON's numbers are read as floats.
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
