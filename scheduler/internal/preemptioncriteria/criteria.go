// Package preemptioncriteria has the criteria by which Kubernetes' DefaultPreemption chooses among the nodes where victims were found, for those
// who add a last one of their own. It compiles with each version of Kubernetes whose scheduler package decide is built with, and imports
// none of our packages.
package preemptioncriteria

import (
	"math"
	"time"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	corev1helpers "k8s.io/component-helpers/scheduling/corev1"
	extenderv1 "k8s.io/kube-scheduler/extender/v1"
	"k8s.io/kubernetes/pkg/scheduler/util"
)

// With returns the criteria of Kubernetes' pickOneNodeForPreemption, which are the same from 1.34 to 1.37, and then last. The highest value wins. A
// pod without a start time starts at the time that now returns.
func With(victims map[string]*extenderv1.Victims, now func() time.Time, last func(node string) int64) []func(node string) int64 {
	return []func(string) int64{
		func(node string) int64 { return -victims[node].NumPDBViolations },
		func(node string) int64 { return -int64(corev1helpers.PodPriority(victims[node].Pods[0])) },
		func(node string) (sum int64) {
			for _, pod := range victims[node].Pods {
				sum -= int64(corev1helpers.PodPriority(pod)) + int64(math.MaxInt32+1)
			}
			return sum
		},
		func(node string) int64 { return -int64(len(victims[node].Pods)) },
		func(node string) int64 { return earliestStart(victims[node], now) },
		last,
	}
}

func earliestStart(victims *extenderv1.Victims, now func() time.Time) int64 {
	started := &extenderv1.Victims{Pods: make([]*v1.Pod, len(victims.Pods))}
	for i, pod := range victims.Pods {
		if pod.Status.StartTime == nil {
			starting := *pod
			starting.Status.StartTime = &metav1.Time{Time: now()}
			pod = &starting
		}
		started.Pods[i] = pod
	}
	earliest := util.GetEarliestPodStartTime(started)
	if earliest == nil {
		return math.MinInt64
	}
	return earliest.UnixNano()
}
