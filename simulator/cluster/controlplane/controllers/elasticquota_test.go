package controllers

import (
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	quotav1 "k8s.io/apiserver/pkg/quota/v1"

	"kube-scheduler-simulator/scheduler/plugins/capacityscheduling/v1alpha1"
)

func TestTheStatusOfAnElasticQuota(t *testing.T) {
	amounts := func(text string) corev1.ResourceList {
		list := corev1.ResourceList{}
		for _, word := range strings.Fields(text) {
			name, amount, _ := strings.Cut(word, "=")
			list[corev1.ResourceName(name)] = resource.MustParse(amount)
		}
		return list
	}
	pod := func(phase corev1.PodPhase, containers ...string) *corev1.Pod {
		p := &corev1.Pod{Status: corev1.PodStatus{Phase: phase}}
		for _, text := range containers {
			rest, isInit := strings.CutPrefix(text, "init ")
			c := corev1.Container{Resources: corev1.ResourceRequirements{Requests: amounts(rest)}}
			if isInit {
				p.Spec.InitContainers = append(p.Spec.InitContainers, c)
			} else {
				p.Spec.Containers = append(p.Spec.Containers, c)
			}
		}
		p.Spec.Overhead = amounts("cpu=100m")
		return p
	}
	for _, c := range []struct {
		name, least, most string
		pods              []any
		want              string
	}{
		{"no pods", "cpu=4", "cpu=6 example.com/gpu=2", nil, "cpu=0 example.com/gpu=0"},
		{"pods that run", "cpu=4", "", []any{pod(corev1.PodRunning, "cpu=1", "cpu=500m"), pod(corev1.PodRunning, "cpu=2")}, "cpu=3500m"},
		{"pods that do not run", "cpu=4", "", []any{pod(corev1.PodPending, "cpu=1"), pod(corev1.PodSucceeded, "cpu=1"), pod(corev1.PodFailed, "cpu=1")}, "cpu=0"},
		{"an init container that needs more", "cpu=4", "", []any{pod(corev1.PodRunning, "cpu=1 memory=2Gi", "init cpu=3 memory=1Gi", "init cpu=2")}, "cpu=3 memory=2Gi"},
		{"resources that the quota does not name", "cpu=4", "", []any{pod(corev1.PodRunning, "memory=1Gi")}, "cpu=0 memory=1Gi"},
		{"neither min nor max", "", "", nil, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			quota := &v1alpha1.ElasticQuota{Spec: v1alpha1.ElasticQuotaSpec{Min: amounts(c.least), Max: amounts(c.most)}}
			if got := usedOf(quota, c.pods); !quotav1.Equals(got, amounts(c.want)) {
				t.Errorf("%v, want %s", got, c.want)
			}
		})
	}
}
