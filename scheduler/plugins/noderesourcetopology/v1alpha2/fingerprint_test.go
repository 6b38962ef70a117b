package v1alpha2

import (
	"testing"

	v1 "k8s.io/api/core/v1"
	st "k8s.io/kubernetes/pkg/scheduler/testing"
)

// TestFingerprint: agents of other clusters calculate the same.
func TestFingerprint(t *testing.T) {
	p := func(name string) *v1.Pod { return st.MakePod().Namespace("default").Name(name).Obj() }
	for want, pods := range map[string][]*v1.Pod{
		"pfp0v001ef46db3751d8e999": nil,
		"pfp0v00152f1f612becb81d1": {p("p1")},
		"pfp0v001353d1561d3a6d698": {p("p2"), p("p1")},
	} {
		if got := FingerprintOf(pods); got != want {
			t.Errorf("%d pods: %s, want %s", len(pods), got, want)
		}
	}
}
