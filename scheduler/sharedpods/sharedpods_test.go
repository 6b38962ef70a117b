package sharedpods

import (
	"fmt"
	"runtime"
	"testing"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

func decoded(uid, version, annotation string) *v1.Pod {
	return &v1.Pod{
		ObjectMeta: metav1.ObjectMeta{
			UID: types.UID(uid), ResourceVersion: version, Labels: map[string]string{"app": "web"},
			Annotations: map[string]string{"own": annotation},
		},
		Spec:   v1.PodSpec{Containers: []v1.Container{{Name: "web"}}},
		Status: v1.PodStatus{Conditions: []v1.PodCondition{{Type: v1.PodReady}}},
	}
}

// shares reports whether two pods have their spec, status and labels in common.
func shares(a, b *v1.Pod) bool {
	a.Labels["probe"] = a.Labels["probe"] + "x"
	return &a.Spec.Containers[0] == &b.Spec.Containers[0] && &a.Status.Conditions[0] == &b.Status.Conditions[0] &&
		a.Labels["probe"] == b.Labels["probe"]
}

func TestSameVersionIsShared(t *testing.T) {
	var p Pool
	first, second := decoded("a", "1", "first"), decoded("a", "1", "second")
	p.Share(first)
	p.Share(first)
	p.Share(second)
	if !shares(first, second) {
		t.Error("the same version is not shared")
	}
	if second.Annotations["own"] != "second" {
		t.Errorf("annotations of another informer: %v", second.Annotations)
	}
}

func TestOthersAreNotShared(t *testing.T) {
	var p Pool
	first := decoded("a", "1", "")
	p.Share(first)
	ended := decoded("a", "1", "")
	ended.Status.Phase = v1.PodSucceeded
	for what, other := range map[string]*v1.Pod{
		"the state before the end, with the version of the end": ended,
		"another version": decoded("a", "2", ""), "another pod": decoded("b", "1", ""),
		"no UID": decoded("", "1", ""), "no version": decoded("a", "", ""),
	} {
		if p.Share(other); shares(first, other) {
			t.Errorf("%s is shared", what)
		}
	}
	var none *Pool
	none.Share(first)
}

func TestPoolKeepsNothing(t *testing.T) {
	var p Pool
	for i := range 10 * leastSweep {
		p.Share(decoded(fmt.Sprint(i), "1", ""))
		if i%leastSweep == 0 {
			runtime.GC()
		}
	}
	if len(p.pods) > 4*leastSweep {
		t.Errorf("%d entries are left of pods that are gone", len(p.pods))
	}
}
