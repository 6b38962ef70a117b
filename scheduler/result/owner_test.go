package result_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"kube-scheduler-simulator/scheduler/result"
)

func TestOwnerOf(t *testing.T) {
	controller := true
	pod := func(hash string, owners ...metav1.OwnerReference) *v1.Pod {
		return &v1.Pod{ObjectMeta: metav1.ObjectMeta{Labels: map[string]string{"pod-template-hash": hash}, OwnerReferences: owners}}
	}
	set := func(name string) metav1.OwnerReference {
		return metav1.OwnerReference{Kind: "ReplicaSet", Name: name, Controller: &controller}
	}
	for name, tc := range map[string]struct {
		pod  *v1.Pod
		want *result.Owner
	}{
		"a bare pod":                   {pod(""), nil},
		"an owner but no controller":   {pod("", metav1.OwnerReference{Kind: "Node", Name: "n"}), nil},
		"a ReplicaSet":                 {pod("", set("web")), &result.Owner{Kind: "ReplicaSet", Name: "web"}},
		"a ReplicaSet of a Deployment": {pod("7f9c", set("web-7f9c")), &result.Owner{Kind: "Deployment", Name: "web"}},
		"another hash":                 {pod("7f9c", set("web-1234")), &result.Owner{Kind: "ReplicaSet", Name: "web-1234"}},
		"a Job with the label":         {pod("7f9c", metav1.OwnerReference{Kind: "Job", Name: "train-7f9c", Controller: &controller}), &result.Owner{Kind: "Job", Name: "train-7f9c"}},
		"a Job":                        {pod("", metav1.OwnerReference{Kind: "Job", Name: "train", Controller: &controller}), &result.Owner{Kind: "Job", Name: "train"}},
	} {
		if diff := cmp.Diff(tc.want, result.OwnerOf(tc.pod)); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
}
