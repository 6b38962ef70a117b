package simulation

import (
	"fmt"
	"reflect"
	"testing"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
)

// TestSharing checks that equal lists become one list, and that different ones stay what they are.
func TestSharing(t *testing.T) {
	list := func(cpu, memory string) v1.ResourceList {
		return v1.ResourceList{v1.ResourceCPU: resource.MustParse(cpu), v1.ResourceMemory: resource.MustParse(memory)}
	}
	s := sharing{}
	address := func(l v1.ResourceList) uintptr { return reflect.ValueOf(s.one(l)).Pointer() }
	first := address(list("500m", "1Gi"))
	if address(list("500m", "1Gi")) != first {
		t.Error("a list that equals an earlier one is not shared")
	}
	for _, other := range []v1.ResourceList{list("500m", "2Gi"), list("501m", "1Gi"), {v1.ResourceCPU: resource.MustParse("500m")}} {
		if address(other) == first {
			t.Errorf("%v is shared with another list", other)
		}
	}
	if got := s.one(nil); got != nil {
		t.Errorf("no list has become %v", got)
	}
	for i := range 2 * mostShared {
		s.one(v1.ResourceList{v1.ResourceCPU: resource.MustParse(fmt.Sprint(i))})
	}
	if len(s) > mostShared {
		t.Errorf("%d lists are remembered, more than %d", len(s), mostShared)
	}
}
