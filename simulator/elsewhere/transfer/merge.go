package transfer

import (
	"reflect"

	quantity "k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// differs reports whether a desired object asks for anything that the existing one lacks. Fields
// that an API server has set by default are no difference.
func differs(existing, desired map[string]any) bool {
	for field, want := range desired {
		switch field {
		case "apiVersion", "kind", "status":
			continue
		case "metadata":
			if !covers(notedIn(existing), notedIn(desired), "") {
				return true
			}
			continue
		}
		if !covers(existing[field], want, field) {
			return true
		}
	}
	return false
}

// notedIn returns the labels and annotations of an object: merging looks at nothing else in its
// metadata.
func notedIn(object map[string]any) map[string]any {
	metadata, _ := object["metadata"].(map[string]any)
	noted := map[string]any{}
	for _, field := range []string{"labels", "annotations"} {
		if v, set := metadata[field]; set {
			noted[field] = v
		}
	}
	return noted
}

func covers(existing, want any, field string) bool {
	switch want := want.(type) {
	case nil:
		return true
	case map[string]any:
		have, _ := existing.(map[string]any)
		for key, inner := range want {
			if !covers(have[key], inner, key) {
				return false
			}
		}
		return true
	case []any:
		have, _ := existing.([]any)
		if field == tolerations {
			return containsAll(have, want)
		}
		if len(have) != len(want) {
			return false
		}
		for i := range want {
			if !covers(have[i], want[i], "") {
				return false
			}
		}
		return true
	}
	return reflect.DeepEqual(existing, want) || sameQuantity(existing, want) || existing == nil && reflect.ValueOf(want).IsZero()
}

// Admission adds tolerations to those that a pod's author wrote.
const tolerations = "tolerations"

func containsAll(have, want []any) bool {
	for _, w := range want {
		found := false
		for _, h := range have {
			found = found || covers(h, w, "")
		}
		if !found {
			return false
		}
	}
	return true
}

// An API server may write a quantity in another form.
func sameQuantity(a, b any) bool {
	first, isFirst := a.(string)
	second, isSecond := b.(string)
	if !isSecond || !isFirst {
		return false
	}
	x, err := quantity.ParseQuantity(first)
	if err != nil {
		return false
	}
	y, err := quantity.ParseQuantity(second)
	return err == nil && x.Cmp(y) == 0
}

// overlay writes the desired object over the existing one. Fields that only the existing object has
// stay.
func overlay(existing, desired map[string]any) {
	metadata, _ := existing["metadata"].(map[string]any)
	for field, inner := range notedIn(desired) {
		if metadata != nil {
			metadata[field] = overlaid(metadata[field], inner, field)
		}
	}
	for field, want := range desired {
		switch field {
		case "apiVersion", "kind", "metadata", "status":
			continue
		}
		existing[field] = overlaid(existing[field], want, field)
	}
}

func overlaid(existing, want any, field string) any {
	switch want := want.(type) {
	case nil:
		return existing
	case map[string]any:
		have, ok := existing.(map[string]any)
		if !ok {
			return want
		}
		for key, inner := range want {
			have[key] = overlaid(have[key], inner, key)
		}
		return have
	case []any:
		have, ok := existing.([]any)
		if ok && field == tolerations {
			for _, w := range want {
				if !containsAll(have, []any{w}) {
					have = append(have, w)
				}
			}
			return have
		}
		if ok && len(have) == len(want) {
			// Defaults within the items stay.
			for i := range want {
				have[i] = overlaid(have[i], want[i], "")
			}
			return have
		}
	}
	return want
}

// statusOf returns nil if there is none.
func statusOf(u *unstructured.Unstructured) map[string]any {
	status, _ := u.Object["status"].(map[string]any)
	if len(status) == 0 {
		return nil
	}
	return status
}
