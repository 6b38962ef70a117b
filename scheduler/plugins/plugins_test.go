package plugins_test

import (
	"context"
	"fmt"
	"os"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-logr/logr"
	"github.com/google/go-cmp/cmp"
	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/klog/v2"
	fwk "k8s.io/kube-scheduler/framework"
	st "k8s.io/kubernetes/pkg/scheduler/testing"

	"kube-scheduler-simulator/scheduler"
	"kube-scheduler-simulator/scheduler/annotation"
	"kube-scheduler-simulator/scheduler/config"
	"kube-scheduler-simulator/scheduler/examples/zonequota"
	"kube-scheduler-simulator/scheduler/pluginfact"
	"kube-scheduler-simulator/scheduler/plugins"
	"kube-scheduler-simulator/scheduler/recorder"
	"kube-scheduler-simulator/scheduler/result"
	"kube-scheduler-simulator/scheduler/schedulertest"
)

func TestMain(m *testing.M) {
	schedulertest.Prepare()
	klog.SetLogger(logr.Discard())
	os.Exit(m.Run())
}

// cycles keeps the attempts of each pod, by name.
type cycles struct {
	mu       sync.Mutex
	attempts map[string][]*result.Cycle
}

func (c *cycles) NextAttempt(types.UID) int { return 1 }

func (c *cycles) latest(pod string) *result.Cycle {
	if all := c.attempts[pod]; len(all) > 0 {
		return all[len(all)-1]
	}
	return nil
}

func (c *cycles) Put(cycle *result.Cycle) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.attempts[cycle.Pod.Name] = append(c.attempts[cycle.Pod.Name], cycle)
}

// schedule runs the scheduler in a bubble, long enough to try every pod. With a nil
// sink it runs the bare scheduler.
func schedule(t *testing.T, configuration string, sink recorder.Sink, objects ...runtime.Object) {
	t.Helper()
	registry := plugins.Registry()
	registry[zonequota.Name] = zonequota.New
	if err := registry.Register("Counter", func(context.Context, runtime.Object, fwk.Handle) (fwk.Plugin, error) { return counter{}, nil }); err != nil {
		t.Fatal(err)
	}
	parsed, err := config.Parse([]byte("apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\nparallelism: 1\n" + configuration))
	if err != nil {
		t.Fatal(err)
	}
	synctest.Test(t, func(t *testing.T) {
		ctx := klog.NewContext(t.Context(), logr.Discard())
		server := schedulertest.NewAPIServer()
		if err := schedulertest.Fill(ctx, server, objects); err != nil {
			t.Fatal(err)
		}
		s := scheduler.New(scheduler.Options{
			Client: server.Config("scheduler"), Configuration: parsed.Internal, OutOfTree: registry, Sink: sink,
		})
		if err := s.Start(ctx); err != nil {
			t.Fatal(err)
		}
		time.Sleep(10 * time.Second)
		if err := s.Stop(ctx); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Minute) // upstream does not wait for some goroutines; they end on their own
	})
}

func node(name string, labels ...string) *v1.Node {
	n := st.MakeNode().Name(name).Capacity(map[v1.ResourceName]string{"cpu": "4", "memory": "8Gi", "pods": "10"})
	for i := 0; i < len(labels); i += 2 {
		n = n.Label(labels[i], labels[i+1])
	}
	return n.Obj()
}

func pod(name string) *st.PodWrapper {
	return st.MakePod().Name(name).Namespace(schedulertest.Namespace).Label("app", "web").
		SchedulerName(v1.DefaultSchedulerName).Req(map[v1.ResourceName]string{"cpu": "100m"})
}

const celProfile = `
profiles:
- schedulerName: default-scheduler
  plugins:
    multiPoint:
      enabled: [{name: CELFilter}, {name: CELScore, weight: 50}]
  pluginConfig:
  - name: CELFilter
    args:
      expression: node.metadata.labels[?'team'].orValue('') == ''
      messageExpression: "'node(s) belong to team ' + node.metadata.labels['team']"
  - name: CELScore
    args:
      expression: double(node.metadata.labels['rank']) / 3.0
      normalize: true
`

func TestCELDecidesAndIsExplained(t *testing.T) {
	sink := &cycles{attempts: map[string][]*result.Cycle{}}
	schedule(t, celProfile, sink,
		node("n1", "rank", "1"), node("n2", "rank", "2"), node("n3", "rank", "9", "team", "ml"), pod("web").Obj())

	c := sink.latest("web")
	if c == nil || c.SelectedNode != "n2" {
		t.Fatalf("the pod is not on n2: %+v", c)
	}
	type part struct{ Raw, Normalized, Weighted int64 }
	scores := map[string]part{}
	for p, plugin := range c.Score.Plugins {
		for i, name := range c.Score.Nodes.All() {
			if plugin.Name == "CELScore" {
				scores[name] = part{c.Score.Raw[p].At(i), c.Score.Normalized[p].At(i), c.Score.Weighted[p].At(i)}
			}
		}
	}
	if diff := cmp.Diff(map[string]part{"n1": {333, 0, 0}, "n2": {667, 100, 5000}}, scores); diff != "" {
		t.Errorf("scores: %s", diff)
	}
	rejected := map[string]result.Verdict{}
	for i, name := range c.Filter.Nodes.All() {
		if v := c.Filter.Verdict(i); v.Plugin != "" {
			rejected[name] = result.Verdict{Plugin: v.Plugin, Reasons: v.Reasons}
		}
	}
	if diff := cmp.Diff(map[string]result.Verdict{"n3": {Plugin: "CELFilter", Reasons: []string{"node(s) belong to team ml"}}}, rejected); diff != "" {
		t.Errorf("rejections: %s", diff)
	}
	if diff := cmp.Diff([]result.Fact{
		{Plugin: "CELScore", Node: "n1", Key: "value", Value: "0.333333"},
		{Plugin: "CELScore", Node: "n2", Key: "value", Value: "0.666667"},
	}, c.Facts); diff != "" {
		t.Errorf("facts: %s", diff)
	}
	annotations := annotation.Render(c, func(int) *result.Cycle { return nil }, annotation.DefaultBudget)
	if diff := cmp.Diff(`{"n1":{"CELScore":{"value":"0.333333"}},"n2":{"CELScore":{"value":"0.666667"}}}`, annotations[annotation.Prefix+"node-facts-result"]); diff != "" {
		t.Errorf("annotation: %s", diff)
	}
	if !strings.Contains(annotations[annotation.Prefix+"filter-result"], `"CELFilter":"node(s) belong to team ml"`) {
		t.Errorf("filter-result: %s", annotations[annotation.Prefix+"filter-result"])
	}
}

func TestAFailingExpressionIsThePluginsErrorOnTheNode(t *testing.T) {
	sink := &cycles{attempts: map[string][]*result.Cycle{}}
	schedule(t, `
profiles:
- plugins: {multiPoint: {enabled: [{name: CELFilter}]}}
  pluginConfig: [{name: CELFilter, args: {expression: "node.metadata.labels['zone'] == 'a'"}}]
`, sink, node("n1"), pod("web").Obj())

	c := sink.latest("web")
	if c == nil || c.Outcome != result.Error || !strings.Contains(c.Message, "no such key: zone") {
		t.Fatalf("%+v", c)
	}
	if v := c.Filter.Verdict(0); v.Plugin != "CELFilter" || !strings.HasSuffix(v.States, "E") {
		t.Errorf("verdict %+v", v)
	}
}

func TestZoneQuotaSpreadsAndExplains(t *testing.T) {
	sink := &cycles{attempts: map[string][]*result.Cycle{}}
	schedule(t, `
profiles:
- plugins: {multiPoint: {enabled: [{name: ZoneQuota, weight: 50}]}}
  pluginConfig: [{name: ZoneQuota, args: {maxPerZone: 1}}]
`, sink, node("a1", v1.LabelTopologyZone, "a"), node("a2", v1.LabelTopologyZone, "a"), node("b1", v1.LabelTopologyZone, "b"),
		pod("web-1").Priority(3).Obj(), pod("web-2").Priority(2).Obj(), pod("web-3").Priority(1).Obj())

	var outcomes []string
	for _, name := range []string{"web-1", "web-2", "web-3"} {
		outcomes = append(outcomes, string(sink.latest(name).Outcome))
	}
	if diff := cmp.Diff([]string{"scheduled", "scheduled", "unschedulable"}, outcomes); diff != "" {
		t.Error(diff)
	}
	full := []result.Fact{{Plugin: "ZoneQuota", Key: "zone a", Value: "1 of 1 pods"}, {Plugin: "ZoneQuota", Key: "zone b", Value: "1 of 1 pods"}}
	if diff := cmp.Diff(full, sink.latest("web-3").Facts); diff != "" {
		t.Error(diff)
	}
}

// counter passes every node and records how many pods it saw there.
type counter struct{}

func (counter) Name() string { return "Counter" }

func (counter) Filter(_ context.Context, state fwk.CycleState, _ *v1.Pod, node fwk.NodeInfo) *fwk.Status {
	pluginfact.RecordNode(state, "Counter", node.Node().Name, "pods", fmt.Sprint(len(node.GetPods())))
	return nil
}

// TestDryRunsAddNoFacts: in the first attempt NodeResourcesFit rejects the node
// before Counter runs, which therefore sees it only without the victim.
func TestDryRunsAddNoFacts(t *testing.T) {
	sink := &cycles{attempts: map[string][]*result.Cycle{}}
	most := map[v1.ResourceName]string{"cpu": "3"}
	schedule(t, "profiles: [{plugins: {multiPoint: {enabled: [{name: Counter}]}}}]", sink,
		node("n1"), pod("low").Req(most).Node("n1").Priority(1).Obj(), pod("high").Req(most).Priority(9).Obj())

	attempts := sink.attempts["high"]
	if len(attempts) < 2 || attempts[0].Preemption == nil || len(attempts[0].Preemption.Candidates) != 1 {
		t.Fatalf("there was no preemption: %d attempts", len(attempts))
	}
	if attempts[0].Facts != nil {
		t.Errorf("the dry run added facts: %v", attempts[0].Facts)
	}
	want := []result.Fact{{Plugin: "Counter", Node: "n1", Key: "pods", Value: "0"}}
	if diff := cmp.Diff(want, attempts[len(attempts)-1].Facts); diff != "" {
		t.Error(diff)
	}
}

func TestThePluginsRunBareToo(t *testing.T) {
	schedule(t, celProfile, nil, node("n1", "rank", "1"), pod("web").Obj())
}

func TestValidateFindsMistakesWithoutAScheduler(t *testing.T) {
	var got []string
	for _, e := range plugins.Validate(context.Background(), "CELScore", &runtime.Unknown{Raw: []byte(`{"expression":"nodes"}`)}) {
		got = append(got, e.Error())
	}
	want := []string{"expression, line 1, column 1: undeclared reference to 'nodes'; the variables are pod, node, podRequest, nodeRequested, nodeAllocatable, podsOnNode"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if mistakes := plugins.Validate(context.Background(), "NodeResourcesFit", nil); mistakes != nil {
		t.Errorf("mistakes of a plugin that is not ours: %v", mistakes)
	}
}
