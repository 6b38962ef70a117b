package result

import (
	"reflect"
	"strings"
	"testing"
)

// A store bounds its memory by Size, so what a comparison holds must count.
func TestComparisonsCountTheirContent(t *testing.T) {
	const n = 100
	list := reflect.TypeFor[Comparison]()
	for i := range list.NumField() {
		field := list.Field(i)
		if field.Type.Kind() != reflect.Slice {
			continue
		}
		t.Run(field.Name, func(t *testing.T) {
			c := Comparison{}
			reflect.ValueOf(&c).Elem().Field(i).Set(reflect.MakeSlice(field.Type, n, n))
			held := n * int(field.Type.Elem().Size())
			if grown := cycleWith(c).Size() - cycleWith(Comparison{}).Size(); grown < held || grown > 4*held {
				t.Errorf("%d elements of %d bytes count as %d bytes", n, field.Type.Elem().Size(), grown)
			}
		})
	}
	long := strings.Repeat("x", 1000)
	for name, c := range map[string]Comparison{
		"values": {Terms: []TermComparison{{Values: []string{long}}}}, "a selector": {PodTerms: []PodTermComparison{{Selector: long}}},
	} {
		if grown := cycleWith(c).Size() - cycleWith(Comparison{}).Size(); grown < len(long) {
			t.Errorf("%s of %d bytes counts as %d bytes", name, len(long), grown)
		}
	}
	if fixed := cycleWith(Comparison{}).Size() - cycleWith().Size(); fixed < int(list.Size()) {
		t.Errorf("an empty comparison counts as %d bytes, its struct has %d", fixed, list.Size())
	}
}

func cycleWith(comparisons ...Comparison) *Cycle {
	return &Cycle{Filter: &Filter{Comparisons: comparisons}}
}
