package shadow

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	schedulerconfig "k8s.io/kubernetes/pkg/scheduler/apis/config"
	st "k8s.io/kubernetes/pkg/scheduler/testing"

	"kube-scheduler-simulator/scheduler/config"
	"kube-scheduler-simulator/scheduler/feed"
	"kube-scheduler-simulator/scheduler/result"
	"kube-scheduler-simulator/scheduler/whatif"
)

// drafting has nodes in three zones, half of them tainted a little, and pods of several kinds on them and pending.
func drafting(tb testing.TB, nodes, pods int) (*feed.Log, []result.Summary, func() *whatif.Engine) {
	tb.Helper()
	var objects []runtime.Object
	for i := range nodes {
		name := fmt.Sprintf("node-%d", i)
		node := st.MakeNode().Name(name).UID(name).Label(v1.LabelHostname, name).Label(v1.LabelTopologyZone, fmt.Sprintf("zone-%d", i%3)).
			Capacity(map[v1.ResourceName]string{"cpu": fmt.Sprint(4 + i*5%13), "memory": fmt.Sprintf("%dGi", 6+i*11%29), "pods": "110"})
		if i%2 == 0 {
			node.Taints([]v1.Taint{{Key: "old", Effect: v1.TaintEffectPreferNoSchedule}})
		}
		if i%5 == 0 {
			node.Taints([]v1.Taint{{Key: "gpu", Effect: v1.TaintEffectNoSchedule}})
		}
		objects = append(objects, node.Obj())
	}
	var decided []result.Summary
	for i := range pods {
		name := fmt.Sprintf("pod-%d", i)
		pod := st.MakePod().Name(name).Namespace("default").UID(name).SchedulerName(v1.DefaultSchedulerName).Label("app", fmt.Sprint("app-", i%4)).
			Req(map[v1.ResourceName]string{"cpu": fmt.Sprintf("%dm", 300*(1+i%7)), "memory": fmt.Sprintf("%dMi", 512*(1+i%5))})
		if i%4 == 0 {
			pod.SpreadConstraint(1, v1.LabelTopologyZone, v1.ScheduleAnyway, st.MakeLabelSelector().Label("app", "app-0").Obj(), nil, nil, nil, nil)
		}
		if i%3 > 0 {
			pod.Node(fmt.Sprintf("node-%d", (i*7)%nodes))
		}
		objects = append(objects, pod.Obj())
		decided = append(decided, result.Summary{Pod: result.Pod{Namespace: "default", Name: name, UID: types.UID(name)}, Attempt: 1})
	}
	log := feed.NewLog(nil)
	log.Restart(func(add func(feed.Operation)) {
		for _, o := range objects {
			add(feed.Operation{Set: o})
		}
	})
	running := parseConfiguration(tb, header)
	return log, decided, func() *whatif.Engine {
		engine := whatif.New(whatif.Options{Source: follows{log}, Configuration: func() *schedulerconfig.KubeSchedulerConfiguration { return running }})
		tb.Cleanup(engine.Stop)
		return engine
	}
}

// TestDraftsShareDecisions: whatever was asked before, the answer is that of the scheduler.
func TestDraftsShareDecisions(t *testing.T) {
	_, decided, engine := drafting(t, 12, 30)
	running := parseConfiguration(t, header)
	drafts, alone, differ := NewDrafts(engine()), engine(), 0
	profile := func(plugins string) string { return header + "profiles:\n- plugins: " + plugins + "\n" }
	for _, document := range []string{
		header,
		profile(`{score: {enabled: [{name: NodeResourcesFit, weight: 5}]}}`),
		profile(`{multiPoint: {enabled: [{name: NodeResourcesBalancedAllocation, weight: 9}, {name: TaintToleration, weight: 1}]}}`),
		profile(`{score: {disabled: [{name: TaintToleration}, {name: PodTopologySpread}]}}`),
		profile(`{score: {disabled: [{name: TaintToleration}], enabled: [{name: NodeResourcesFit, weight: 50}]}}`),
		profile(`{filter: {disabled: [{name: TaintToleration}]}}`),
		profile(`{filter: {disabled: [{name: TaintToleration}]}, score: {enabled: [{name: NodeResourcesFit, weight: 7}]}}`),
		profile(`{filter: {disabled: [{name: TaintToleration}]}, score: {disabled: [{name: NodeResourcesFit}]}}`),
		profile(`{filter: {disabled: [{name: TaintToleration}]}}`),
		profile(`{score: {disabled: [{name: "*"}]}}`),
		packing,
		strings.Replace(packing, "plugins: {", "plugins: {score: {enabled: [{name: NodeResourcesFit, weight: 3}]}, ", 1),
		header + "profiles:\n- schedulerName: another\n",
		profile(`{score: {enabled: [{name: NodeResourcesFit, weight: 5}]}}`),
	} {
		draft := parseConfiguration(t, document)
		got, err := drafts.Judge(t.Context(), draft, running, decided, time.Minute)
		if err != nil {
			t.Fatal(document, err)
		}
		for _, item := range got.Items {
			if diff := cmp.Diff(Compare(asked(t, alone, running, item.Pod), asked(t, alone, draft, item.Pod)), item.Comparison); diff != "" {
				t.Errorf("%s: not what the scheduler decides (-want +got):\n%s\n%s", item.Pod.Name, document, diff)
			}
		}
		if document == header && got.Differ != 0 || got.Judged != len(decided) {
			t.Errorf("%d of %d differ\n%s", got.Differ, got.Judged, document)
		}
		differ += got.Differ
	}
	if differ < 50 {
		t.Errorf("only %d differ: the drafts are too much alike", differ)
	}
}

// asked asks the engine about a pod.
func asked(t *testing.T, engine *whatif.Engine, c *schedulerconfig.KubeSchedulerConfiguration, pod result.Pod) *result.Cycle {
	t.Helper()
	answer, err := engine.Ask(t.Context(), whatif.Question{PodRef: &types.NamespacedName{Namespace: pod.Namespace, Name: pod.Name}, Configuration: c})
	if unknown, ok := errors.AsType[*whatif.ProfileError](err); ok {
		return &result.Cycle{Summary: result.Summary{Message: unknown.Error()}}
	}
	if err != nil {
		t.Fatal(err)
	}
	return answer.Decisions[0]
}

// TestJudgementsGoOn: one that runs out of time goes on where it ended, until the state changes.
func TestJudgementsGoOn(t *testing.T) {
	log, decided, engine := drafting(t, 12, 30)
	running, draft := parseConfiguration(t, header), parseConfiguration(t, packing)
	drafts := NewDrafts(engine())
	judge := func(of []result.Summary, within time.Duration) *Draft {
		t.Helper()
		out, err := drafts.Judge(t.Context(), draft, running, of, within)
		if err != nil {
			t.Fatal(err)
		}
		return out
	}
	if got := judge(decided, 0); got.Complete || got.Judged != 0 {
		t.Errorf("without time: %d judged, complete %v", got.Judged, got.Complete)
	}
	judge(decided[:20], time.Minute)
	if got := judge(decided, 0); got.Complete || got.Judged != 20 {
		t.Errorf("20 are known: %d judged, complete %v", got.Judged, got.Complete)
	}
	judge(decided, time.Minute)
	if got := judge(decided, 0); !got.Complete || got.Judged != 30 {
		t.Errorf("all are known: %d judged, complete %v", got.Judged, got.Complete)
	}
	log.Do(func(add func(feed.Operation)) {
		add(feed.Operation{Set: st.MakeNode().Name("new").UID("new").Capacity(map[v1.ResourceName]string{"cpu": "64", "memory": "256Gi", "pods": "110"}).Obj()})
	})
	if got := judge(decided, 0); got.Complete || got.Judged != 0 {
		t.Errorf("of another state: %d judged, complete %v", got.Judged, got.Complete)
	}
}

func parseConfiguration(tb testing.TB, document string) *schedulerconfig.KubeSchedulerConfiguration {
	tb.Helper()
	c, err := config.Parse([]byte(document))
	if err != nil {
		tb.Fatal(err)
	}
	return c.Internal
}

// BenchmarkDial measures a judgement of 200 decisions on 1,000 nodes with another weight. It also says
// how long the first judgement takes, and how far a first step of 150 ms gets with another filter.
func BenchmarkDial(b *testing.B) {
	_, decided, engine := drafting(b, 1000, 200)
	running := parseConfiguration(b, header)
	drafts := NewDrafts(engine())
	judge := func(document string, within time.Duration) *Draft {
		out, err := drafts.Judge(b.Context(), parseConfiguration(b, header+"profiles:\n- plugins: "+document), running, decided, within)
		if err != nil {
			b.Fatal(err)
		}
		return out
	}
	start := time.Now()
	judge("{}", time.Minute)
	first := time.Since(start)
	start = time.Now()
	part := judge(`{filter: {disabled: [{name: TaintToleration}]}}`, 150*time.Millisecond)
	filter := time.Since(start)
	weight := 0
	for b.Loop() {
		weight = weight%10 + 1
		if d := judge(fmt.Sprintf(`{score: {enabled: [{name: NodeResourcesFit, weight: %d}]}}`, weight), 0); d.Judged != 200 {
			b.Fatalf("%d judged", d.Judged)
		}
	}
	b.ReportMetric(float64(first.Milliseconds()), "ms/first")
	b.ReportMetric(float64(filter.Milliseconds()), "ms/filter")
	b.ReportMetric(float64(part.Judged), "judged/filter")
}

// follows is the source of an engine.
type follows struct{ log *feed.Log }

func (f follows) Follow(context.Context) (*feed.Follower, error) { return f.log.Follow(false), nil }
