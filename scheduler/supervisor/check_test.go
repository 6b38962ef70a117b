package supervisor_test

import (
	"context"
	"net/http"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/component-base/metrics/legacyregistry"

	"kube-scheduler-simulator/scheduler/config"
	"kube-scheduler-simulator/scheduler/supervisor"
)

// A check reports the configuration that would be in force, with out-of-tree
// plugins, and does not change the running one.
func TestCheckReportsTheEffectiveConfiguration(t *testing.T) {
	inBubble(t, 1, nil, func(t *testing.T, c *cluster) {
		applied, err := c.live.Check(t.Context(), []byte(gated))
		if err != nil {
			t.Fatal(err)
		}
		if applied.Effective == nil {
			t.Fatal("the check does not report the effective configuration")
		}
		permit := func(e *config.Effective) []string {
			var names []string
			for _, point := range e.Profiles[0].ExtensionPoints {
				if point.Name == "permit" {
					for _, p := range point.Plugins {
						names = append(names, p.Name)
					}
				}
			}
			return names
		}
		before, err := c.live.Effective()
		if err != nil {
			t.Fatal(err)
		}
		if applied.Effective.Revision != 0 || before.Revision != 1 {
			t.Errorf("the revisions are %d and %d", applied.Effective.Revision, before.Revision)
		}
		tried := permit(applied.Effective)
		if got := config.Summarize(applied.Difference); len(applied.Difference) == 0 || got != applied.Revision.Summary {
			t.Errorf("the summary is %q, but the differences say %q", applied.Revision.Summary, got)
		}
		if ran := c.apply(t, gated); ran.Effective != nil || ran.Difference != nil {
			t.Error("an apply also reports an effective configuration or differences")
		}
		after, err := c.live.Effective()
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(permit(after), tried); diff != "" || len(tried) == len(permit(before)) {
			t.Errorf("before %v, tried and applied %s", permit(before), diff)
		}
	})
}

// The web page checks a draft at each pause in typing, so a check must not list the
// cluster.
func TestCheckReadsNothingFromTheCluster(t *testing.T) {
	requests := &requestCounter{}
	count := func(o *supervisor.Options) {
		requests.RoundTripper = o.Client.Transport
		o.Client.Transport = requests
	}
	inBubble(t, 1, count, func(t *testing.T, c *cluster) {
		synctest.Wait()
		before := requests.n.Load()
		for _, document := range []string{gated, header + "parallelism: 3\n"} {
			if _, err := c.live.Check(t.Context(), []byte(document)); err != nil {
				t.Fatal(err)
			}
			synctest.Wait()
		}
		if n := requests.n.Load() - before; n != 0 {
			t.Errorf("the checks made %d requests", n)
		}
		before = requests.n.Load()
		c.apply(t, gated)
		if requests.n.Load() == before {
			t.Error("an apply makes no request, so the counter does not work")
		}
	})
}

// requestCounter counts requests.
type requestCounter struct {
	http.RoundTripper
	n atomic.Int64
}

func (c *requestCounter) RoundTrip(r *http.Request) (*http.Response, error) {
	c.n.Add(1)
	return c.RoundTripper.RoundTrip(r)
}

// All schedulers of the process share the queue's gauges.
func TestGaugesOfTheQueueCountEachPodOnce(t *testing.T) {
	inBubble(t, 0, nil, func(t *testing.T, c *cluster) {
		start := pendingPods(t)
		_, err := c.client.CoreV1().Pods("default").Create(t.Context(), &v1.Pod{
			ObjectMeta: metav1.ObjectMeta{Name: "held", Namespace: "default"},
			Spec: v1.PodSpec{
				SchedulerName: v1.DefaultSchedulerName, SchedulingGates: []v1.PodSchedulingGate{{Name: "example.com/quota"}}, Containers: []v1.Container{{Name: "c"}},
			},
		}, metav1.CreateOptions{})
		if err != nil {
			t.Fatal(err)
		}
		c.add(t, "fits-nowhere", v1.DefaultSchedulerName)
		time.Sleep(time.Second)
		if _, err := c.live.Check(t.Context(), []byte(header+"parallelism: 3\n")); err != nil {
			t.Fatal(err)
		}
		c.apply(t, header+"parallelism: 2\n")
		time.Sleep(time.Second)
		if diff := cmp.Diff(map[string]float64{"gated": 1, "tried": 1}, since(start, pendingPods(t))); diff != "" {
			t.Error(diff)
		}
		if err := c.live.Stop(context.WithoutCancel(t.Context())); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(map[string]float64{}, since(start, pendingPods(t))); diff != "" {
			t.Error("after Stop:", diff)
		}
	})
}

// pendingPods counts the gated pods and, under "tried", the pods in all other
// queues.
func pendingPods(t *testing.T) map[string]float64 {
	t.Helper()
	families, err := legacyregistry.DefaultGatherer.Gather()
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]float64{}
	for _, f := range families {
		if f.GetName() != "scheduler_pending_pods" {
			continue
		}
		for _, m := range f.GetMetric() {
			kind := "tried"
			if m.GetLabel()[0].GetValue() == "gated" {
				kind = "gated"
			}
			out[kind] += m.GetGauge().GetValue()
		}
	}
	return out
}

// since returns the values that have changed.
func since(before, now map[string]float64) map[string]float64 {
	out := map[string]float64{}
	for kind, n := range now {
		if n != before[kind] {
			out[kind] = n - before[kind]
		}
	}
	return out
}
