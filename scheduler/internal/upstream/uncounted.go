package upstream

import (
	"fmt"
	"reflect"

	compbasemetrics "k8s.io/component-base/metrics"
	internalqueue "k8s.io/kubernetes/pkg/scheduler/backend/queue"
	"k8s.io/kubernetes/pkg/scheduler/metrics"
)

type uncounted struct{}

var _ metrics.MetricRecorder = uncounted{}

func (uncounted) Add(metrics.Entity)                    {}
func (uncounted) Remove(metrics.Entity)                 {}
func (uncounted) Update(metrics.Entity, metrics.Entity) {}
func (uncounted) Clear()                                {}

// leaveLengths keeps an empty queue out of the length gauges, which all queues of the process share
// and which show the live scheduler. The counters of incoming pods still count this queue's.
func leaveLengths(queue *internalqueue.PriorityQueue) error {
	var nothing metrics.MetricRecorder = uncounted{}
	var never compbasemetrics.GaugeMetric = compbasemetrics.NewGauge(&compbasemetrics.GaugeOpts{Name: "uncounted"}) // of no registry
	for _, at := range [][]string{
		{"activeQ", "queue", "metricRecorder"},
		{"backoffQ", "entityBackoffQ", "metricRecorder"},
		{"backoffQ", "entityErrorBackoffQ", "metricRecorder"},
		{"unschedulableEntities", "unschedulableRecorder"},
		{"unschedulableEntities", "gatedRecorder"},
		{"incompletePodGroupPods", "podsRecorder"},
		{"pendingPodGroupPods", "podsRecorder"},
	} {
		v := reflect.ValueOf(queue)
		for _, name := range at {
			if v.Kind() == reflect.Interface {
				v = v.Elem()
			}
			v = field(v, name)
		}
		if !setField(v, nothing) && !setField(v, never) {
			return fmt.Errorf("the scheduling queue records its length elsewhere than in %v", at)
		}
	}
	return nil
}

// setField sets v, an addressable field that need not be exported. It reports false unless v has
// exactly the type T.
func setField[T any](v reflect.Value, value T) bool {
	if !v.IsValid() || v.Type() != reflect.TypeFor[T]() || !v.CanAddr() {
		return false
	}
	*(*T)(v.Addr().UnsafePointer()) = value
	return true
}
