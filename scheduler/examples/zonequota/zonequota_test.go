package zonequota

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/framework"
	st "k8s.io/kubernetes/pkg/scheduler/testing"

	"kube-scheduler-simulator/scheduler/pluginfact"
	"kube-scheduler-simulator/scheduler/plugins/argument"
)

func TestArguments(t *testing.T) {
	for text, want := range map[string]string{
		`{}`:                              "maxPerZone: must be at least 1",
		`{"maxPerZone":0}`:                "maxPerZone: must be at least 1",
		`{"maxPerZone":"3"}`:              "maxPerZone: want a whole number, not \"3\"",
		`{"maxPerZone":3,"maxPerRack":1}`: `maxPerRack: unknown field "maxPerRack"; the fields are label, maxPerZone`,
	} {
		_, err := New(t.Context(), &runtime.Unknown{Raw: []byte(text)}, nil)
		if all := argument.All(err); len(all) != 1 || all[0].Error() != want {
			t.Errorf("%s: %v, want %s", text, err, want)
		}
	}
}

func pod(name, app string) *v1.Pod {
	return st.MakePod().Namespace("shop").Name(name).UID(name).Label("app", app).Obj()
}

func node(name, zone string, pods ...*v1.Pod) fwk.NodeInfo {
	info := framework.NewNodeInfo(pods...)
	info.SetNode(st.MakeNode().Name(name).Label(v1.LabelTopologyZone, zone).Obj())
	return info
}

func TestAZoneIsFullAtItsQuota(t *testing.T) {
	plugin, err := New(t.Context(), &runtime.Unknown{Raw: []byte(`{"maxPerZone":2}`)}, nil)
	if err != nil {
		t.Fatal(err)
	}
	p := plugin.(*Plugin)
	a1, a2 := node("a1", "a", pod("web-1", "web"), pod("db-1", "db")), node("a2", "a", pod("web-2", "web"))
	b1, c1 := node("b1", "b", pod("web-3", "web")), node("c1", "c")
	state := framework.NewCycleState()
	log := pluginfact.Attach(state, func() bool { return true })
	if _, status := p.PreFilter(t.Context(), state, pod("web-4", "web"), []fwk.NodeInfo{a1, a2, b1, c1}); !status.IsSuccess() {
		t.Fatal(status)
	}

	type answer struct {
		Message string
		Score   int64
	}
	got := map[string]answer{}
	for _, n := range []fwk.NodeInfo{a1, a2, b1, c1} {
		score, _ := p.Score(t.Context(), state, nil, n)
		got[n.Node().Name] = answer{p.Filter(t.Context(), state, nil, n).Message(), score}
	}
	full := "zone a already has 2 pods of this application"
	if diff := cmp.Diff(map[string]answer{"a1": {full, 0}, "a2": {full, 0}, "b1": {"", 50}, "c1": {"", 100}}, got); diff != "" {
		t.Error(diff)
	}
	facts, _ := log.Facts()
	if diff := cmp.Diff([]pluginfact.Fact{
		{Plugin: Name, Key: "zone a", Value: "2 of 2 pods"}, {Plugin: Name, Key: "zone b", Value: "1 of 2 pods"},
	}, facts); diff != "" {
		t.Error(diff)
	}

	t.Run("without a victim of preemption it is not", func(t *testing.T) {
		dryRun := state.Clone()
		removed, _ := framework.NewPodInfo(pod("web-2", "web"))
		p.PreFilterExtensions().RemovePod(t.Context(), dryRun, pod("web-4", "web"), removed, a2)
		if status := p.Filter(t.Context(), dryRun, nil, a2); !status.IsSuccess() {
			t.Error(status)
		}
		if status := p.Filter(t.Context(), state, nil, a2); status.IsSuccess() {
			t.Error("the dry run changed the cycle")
		}
	})
}

func TestPodsWithoutTheLabelAreLeftAlone(t *testing.T) {
	plugin, _ := New(t.Context(), &runtime.Unknown{Raw: []byte(`{"maxPerZone":1}`)}, nil)
	p := plugin.(*Plugin)
	state := framework.NewCycleState()
	if _, status := p.PreFilter(t.Context(), state, st.MakePod().Name("x").Obj(), nil); !status.IsSkip() {
		t.Error(status)
	}
	if score, status := p.Score(t.Context(), state, nil, node("n", "a")); score != 100 || !status.IsSuccess() {
		t.Errorf("%d, %v", score, status)
	}
}
