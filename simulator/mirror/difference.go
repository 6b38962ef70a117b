package mirror

import (
	"k8s.io/apimachinery/pkg/api/equality"
)

// difference returns the JSON merge patch (RFC 7386) that turns from into to, nil
// when there is none.
func difference(from, to map[string]any) map[string]any {
	patch := additions(from, to)
	for name := range from {
		if _, stays := to[name]; !stays {
			patch[name] = nil
		}
	}
	for name, value := range to {
		before, isObject := from[name].(map[string]any)
		after, staysObject := value.(map[string]any)
		if isObject && staysObject {
			delete(patch, name)
			if inner := difference(before, after); inner != nil {
				patch[name] = inner
			}
		}
	}
	if len(patch) == 0 {
		return nil
	}
	return patch
}

// additions returns the part of the difference that takes nothing away.
func additions(from, to map[string]any) map[string]any {
	patch := map[string]any{}
	for name, value := range to {
		before, has := from[name]
		inner, isObject := value.(map[string]any)
		outer, wasObject := before.(map[string]any)
		switch {
		case isObject && wasObject:
			if more := additions(outer, inner); len(more) > 0 {
				patch[name] = more
			}
		case !has || !equality.Semantic.DeepEqual(before, value):
			patch[name] = value
		}
	}
	return patch
}
