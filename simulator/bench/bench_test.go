package bench

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/pprof/profile"

	"kube-scheduler-simulator/scheduler/config"
	"kube-scheduler-simulator/scheduler/plugins"
	"kube-scheduler-simulator/scheduler/result"
)

func sample(value int64, innermostFirst ...string) *profile.Sample {
	s := &profile.Sample{Value: []int64{1, value}}
	for _, name := range innermostFirst {
		s.Location = append(s.Location, &profile.Location{Line: []profile.Line{{Function: &profile.Function{Name: name}}}})
	}
	return s
}

// TestImportParts: the part is that of whoever wants the work, not of what does it.
func TestImportParts(t *testing.T) {
	const module, handlers = "kube-scheduler-simulator/", "k8s.io/apiserver/pkg/endpoints/handlers"
	p := &profile.Profile{Sample: []*profile.Sample{
		sample(3e6, "runtime.scanobject", "runtime.gcBgMarkWorker"),
		sample(1e6, "runtime.gcAssistAlloc", "runtime.mallocgc", handlers+".(*patcher).patchResource"),
		sample(4e6, "encoding/json.Marshal", handlers+".(*patcher).patchResource.func2", handlers+"/finisher.finishRequest.func1"),
		sample(5e6, "k8s.io/api/core/v1.(*Pod).Unmarshal", handlers+".CreateResource.createHandler.func1.2", handlers+"/finisher.finishRequest.func1"),
		sample(6e6, "k8s.io/kubernetes/pkg/registry/core/pod/storage.(*BindingREST).Create", handlers+".CreateNamedResource.createHandler.func1.2"),
		sample(7e6, "encoding/json.Marshal", module+"simulator/cluster/virtualnode.onVersion", module+"simulator/cluster/virtualnode.(*player).play"),
		sample(8e6, "os.Getpid"),
	}}
	want := map[string]float64{
		"garbage": 2, "API server: patching": 2, "API server: creating": 2.5, "API server: binding": 3, "virtual nodes": 3.5, otherPart: 4,
	}
	if diff := cmp.Diff(want, importParts(p, "pods", 2)); diff != "" {
		t.Error(diff)
	}
	if got := p.Sample[0].Label; got[partLabel][0] != "garbage" || got[phaseLabel][0] != "pods" {
		t.Errorf("the labels of a sample are %v", got)
	}
}

func TestSharesOf(t *testing.T) {
	const module = "kube-scheduler-simulator/scheduler"
	p := &profile.Profile{Sample: []*profile.Sample{
		sample(10, "k8s.io/kubernetes/pkg/plugins.Filter", module+"/recorder.(*filtering).Filter", "k8s.io/kubernetes/pkg/scheduler.schedulePod"),
		sample(20, "time.Now", module+"/recorder.(*filtering).Filter", "k8s.io/kubernetes/pkg/scheduler.schedulePod"),
		sample(5, "k8s.io/apimachinery/labels.Matches", module+"/recorder/comparison.compareSpread", module+"/recorder.(*filtering).Filter"),
		sample(5, "runtime.mallocgc", module+"/recorder.(*Recorder).Start.func1"),
		sample(4, "runtime.mapassign", module+"/resultstore.(*Store).Put", module+"/recorder.(*Recorder).Start.func1"),
		sample(6, "compress/flate.deflate", module+"/resultstore.(*writer).run"),
		sample(15, "k8s.io/client-go/rest.Do", module+"/annotation.(*Writer).write"),
		sample(5, "runtime.memmove", "kube-scheduler-simulator/simulator/past/timeline.(*Timeline).changed", "kube-scheduler-simulator/simulator/cluster/controlplane.(*registry).watchStored"),
		sample(30, "k8s.io/apiserver/handlers.Patch"),
	}}
	got := sharesOf(p)
	if diff := cmp.Diff(Shares{Recording: 0.3, Storing: 0.1, Annotating: 0.15, Timeline: 0.05}, got); diff != "" {
		t.Error(diff)
	}
	var labels []string
	for _, s := range p.Sample {
		labels = append(labels, strings.Join(s.Label[partLabel], ""))
	}
	if diff := cmp.Diff([]string{"", "recording", "recording", "recording", "storing", "storing", "annotating", "timeline", ""}, labels); diff != "" {
		t.Error(diff)
	}
	if got := sharesOf(&profile.Profile{}); got != (Shares{}) {
		t.Errorf("an empty profile: %+v", got)
	}
}

func TestLoadsAreConsistent(t *testing.T) {
	for _, load := range Loads {
		if _, err := config.ParseWith([]byte(load.configuration()), config.Options{OutOfTree: append(slices.Collect(maps.Keys(plugins.Registry())), gateName)}); err != nil {
			t.Errorf("%s: %v", load, err)
		}
		for _, nodes := range Sizes {
			if err := (Options{Load: load, Nodes: nodes, Pods: load.pods(nodes), Pairs: 1}).check(); err != nil {
				t.Error(err)
			}
		}
		if apps := applicationsOf(load, 10, 700); apps < 70 {
			t.Errorf("%s: 700 pods of %d applications cannot be on 10 different nodes each", load, apps)
		}
	}
	for _, wrong := range []Options{{Load: Plain}, {Load: "heavy", Nodes: 1, Pods: 1, Pairs: 1}, {Load: Preempting, Nodes: 10, Pods: 11, Pairs: 1}} {
		if wrong.check() == nil {
			t.Errorf("%+v is accepted", wrong)
		}
	}
}

func applicationsOf(load Load, nodes, pods int) int {
	apps := map[string]bool{}
	for i := range pods {
		apps[load.pod(i, nodes, pods).Labels["app"]] = true
	}
	return len(apps)
}

func TestNodesOfTheRejectingLoad(t *testing.T) {
	var tainted strings.Builder
	for i := range 10 {
		tainted.WriteByte("-x"[min(1, len(Rejecting.node(i).Spec.Taints))])
	}
	if got := tainted.String(); got != "xxx-------" {
		t.Errorf("tainted nodes: %s", got)
	}
}

// TestGangsFollowEachOther: groups of the same second stand in the queue by the names of their pods. If those mixed,
// most gangs would wait at Permit for most of the run, and on a slow machine for longer than they may.
func TestGangsFollowEachOther(t *testing.T) {
	var queue []string
	for i := range 1000 {
		queue = append(queue, fmt.Sprintf("%s/%s%05d %s", Batch.namespace(i), Batch.pod(i, 100, 1000).GenerateName, 99999-i, gangName(i)))
	}
	slices.Sort(queue)
	last, seen := "", map[string]bool{}
	for _, pod := range queue {
		_, gang, _ := strings.Cut(pod, " ")
		if gang != last && seen[gang] {
			t.Fatalf("%s is apart from the others of its gang", pod)
		}
		last, seen[gang] = gang, true
	}
}

func TestDecisionsAreWithoutTheirBinding(t *testing.T) {
	c := &result.Cycle{ExtensionPoints: []result.ExtensionPoint{
		{Name: "preFilter", DurationSeconds: 1}, {Name: "permit", DurationSeconds: 2}, {Name: "waitOnPermit", DurationSeconds: 4}, {Name: "bind", DurationSeconds: 8},
	}}
	if got := decisionSeconds(c); got != 3 {
		t.Errorf("the decision took %v s, want 3", got)
	}
	values := []float64{}
	for i := range 200 {
		values = append(values, float64(200-i))
	}
	if got := percentile(values, 0.99); got != 198 {
		t.Errorf("99 %% of 1 to 200 are up to %v, want 198", got)
	}
	if got := percentile(nil, 0.99); got != 0 {
		t.Errorf("of no values: %v", got)
	}
}
