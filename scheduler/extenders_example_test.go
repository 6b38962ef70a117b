package scheduler_test

import (
	"context"
	"fmt"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/go-logr/logr"
	"github.com/google/go-cmp/cmp"
	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/kubernetes"
	"k8s.io/klog/v2"
	st "k8s.io/kubernetes/pkg/scheduler/testing"

	"kube-scheduler-simulator/scheduler"
	"kube-scheduler-simulator/scheduler/config"
	"kube-scheduler-simulator/scheduler/examples/extender/reservation"
	"kube-scheduler-simulator/scheduler/result"
	"kube-scheduler-simulator/scheduler/schedulertest"
)

// TestExampleExtender schedules a pod with the example extender, which filters,
// prioritizes and binds it, for both ways of sending nodes.
func TestExampleExtender(t *testing.T) {
	for _, names := range []bool{false, true} {
		t.Run(fmt.Sprint("nodeCacheCapable ", names), func(t *testing.T) {
			ctx, cancel := context.WithTimeout(klog.NewContext(t.Context(), logr.Discard()), 20*time.Second)
			defer cancel()
			api := schedulertest.NewAPIServer()
			client, err := kubernetes.NewForConfig(api.Config("extender"))
			if err != nil {
				t.Fatal(err)
			}
			server := httptest.NewServer((&reservation.Extender{Client: client}).Handler())
			defer server.Close()
			parsed, err := config.Parse(fmt.Appendf(nil, `apiVersion: kubescheduler.config.k8s.io/v1
kind: KubeSchedulerConfiguration
extenders:
- {urlPrefix: %q, filterVerb: filter, prioritizeVerb: prioritize, preemptVerb: preempt, bindVerb: bind, weight: 5, nodeCacheCapable: %t}
`, server.URL, names))
			if err != nil {
				t.Fatal(err)
			}
			node := func(name string) *st.NodeWrapper {
				return st.MakeNode().Name(name).Capacity(map[v1.ResourceName]string{v1.ResourceCPU: "4", v1.ResourcePods: "10"})
			}
			pod := st.MakePod().Name("web").Namespace(schedulertest.Namespace).SchedulerName(v1.DefaultSchedulerName).Obj()
			err = schedulertest.Fill(ctx, api, []runtime.Object{
				node("banks").Label(reservation.ReservedForLabel, "bank").Obj(), node("best").Label(reservation.PreferenceLabel, "7").Obj(), node("good").Obj(), pod,
			})
			if err != nil {
				t.Fatal(err)
			}

			cycles := &sink{}
			w := &watcher{attempts: map[string]*attempted{}, ended: make(chan string, 8)}
			s := scheduler.New(scheduler.Options{Client: api.Config("scheduler"), Configuration: parsed.Internal, Sink: cycles})
			if err := s.StartOutside(ctx, w.events, w.attach); err != nil {
				t.Fatal(err)
			}
			w.wait(t, ctx, "web")
			if err := s.Stop(ctx); err != nil {
				t.Fatal(err)
			}

			c := cycles.of(t, "web")
			if c.Outcome != result.Scheduled || c.SelectedNode != "best" || c.Bind != nil {
				t.Errorf("%s on %q, bound by %v: %s", c.Outcome, c.SelectedNode, c.Bind, c.Message)
			}
			var calls []string
			for _, call := range c.Extenders {
				calls = append(calls, fmt.Sprintf("%s %s of %d nodes, whole %t", call.Verb, call.Status, call.Nodes, call.WholeNodes))
			}
			want := []string{
				fmt.Sprintf("filter Success of 3 nodes, whole %t", !names), fmt.Sprintf("prioritize Success of 2 nodes, whole %t", !names), "bind Success of 1 nodes, whole false",
			}
			if diff := cmp.Diff(want, calls); diff != "" {
				t.Fatal(diff)
			}
			refused := &result.ExtenderRejections{
				Nodes: []string{"banks"}, Reasons: []result.ExtenderReason{{Reason: "node is reserved for the namespace bank", Unresolvable: true}}, ReasonOf: []uint16{0},
			}
			if diff := cmp.Diff(refused, c.Extenders[0].Rejected); diff != "" {
				t.Error(diff)
			}
			counted := map[string]int64{}
			for i, node := range c.Score.Nodes.All() {
				counted[node] = c.Score.Extenders[0].Counted.At(i)
			}
			if diff := cmp.Diff(map[string]int64{"best": 7 * 5 * 10, "good": 0}, counted); diff != "" {
				t.Error(diff)
			}
		})
	}
}
