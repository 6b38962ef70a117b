package upstream

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/sets"
	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/apis/config"
	"k8s.io/kubernetes/pkg/scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/defaultbinder"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/helper"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/queuesort"
	frameworkruntime "k8s.io/kubernetes/pkg/scheduler/framework/runtime"
	schedulermetrics "k8s.io/kubernetes/pkg/scheduler/metrics"
)

// scorer is a plugin that normalizes with a function, or not at all.
type scorer struct {
	name      string
	normalize func(fwk.NodeScoreList) *fwk.Status
}

func (s *scorer) Name() string { return s.name }

func (s *scorer) Score(context.Context, fwk.CycleState, *v1.Pod, fwk.NodeInfo) (int64, *fwk.Status) {
	return 0, nil
}

func (s *scorer) ScoreExtensions() fwk.ScoreExtensions {
	if s.normalize == nil {
		return nil
	}
	return s
}

func (s *scorer) NormalizeScore(_ context.Context, _ fwk.CycleState, _ *v1.Pod, scores fwk.NodeScoreList) *fwk.Status {
	return s.normalize(scores)
}

// TestNormalizer compares a Normalizer, of which several pods use the memory, with the framework.
func TestNormalizer(t *testing.T) {
	schedulermetrics.Register()
	scaled := func(reverse bool) func(fwk.NodeScoreList) *fwk.Status {
		return func(scores fwk.NodeScoreList) *fwk.Status {
			return helper.DefaultNormalizeScore(fwk.MaxScore, reverse, scores)
		}
	}
	plain := []*scorer{{name: "Plain"}, {name: "Scaled", normalize: scaled(false)}, {name: "Reversed", normalize: scaled(true)}, {name: "ByName", normalize: func(scores fwk.NodeScoreList) *fwk.Status {
		for i := range scores {
			scores[i].Score = int64(len(scores[i].Name)) * 7 % 100
		}
		return nil
	}}}
	failing := &scorer{name: "Failing", normalize: func(fwk.NodeScoreList) *fwk.Status { return fwk.AsStatus(errors.New("it fails")) }}
	excessive := &scorer{name: "Excessive", normalize: func(scores fwk.NodeScoreList) *fwk.Status {
		scores[len(scores)-1].Score = 101
		return nil
	}}
	for name, scorers := range map[string][]*scorer{
		"scores": plain, "an error": append([]*scorer{failing}, plain...), "a score of 101": append([]*scorer{excessive}, plain...), "one plugin": plain[:1],
	} {
		t.Run(name, func(t *testing.T) {
			f, made := frameworkOf(t, scorers)
			normalizer := NewNormalizer(f, made)
			random := rand.New(rand.NewPCG(1, 2))
			for range 50 {
				state := framework.NewCycleState()
				skipped := sets.New[string]()
				for _, s := range scorers {
					if random.IntN(4) == 0 {
						skipped.Insert(s.name)
					}
				}
				state.SetSkipScorePlugins(skipped)
				var rows, want []fwk.NodePluginScores
				for node := range 1 + random.IntN(12) {
					var raw []fwk.PluginScore
					for _, s := range scorers {
						if !skipped.Has(s.name) {
							raw = append(raw, fwk.PluginScore{Name: s.name, Score: random.Int64N(101)})
						}
					}
					row := fwk.NodePluginScores{Name: fmt.Sprintf("node-%d", node*37), RawScores: raw}
					rows, want = append(rows, row), append(want, row)
				}
				wantStatus := f.NormalizeScores(t.Context(), state, &v1.Pod{}, want)
				status := normalizer.Normalize(t.Context(), state, &v1.Pod{}, rows)
				if diff := cmp.Diff(wantStatus.Message(), status.Message()); diff != "" || wantStatus.Code() != status.Code() {
					t.Fatalf("another status (+) than the framework's (-), %s instead of %s:\n%s", status.Code(), wantStatus.Code(), diff)
				}
				if diff := cmp.Diff(want, rows, cmpopts.EquateEmpty()); status.IsSuccess() && diff != "" {
					t.Fatalf("other scores (+) than the framework's (-), without %v:\n%s", skipped, diff)
				}
			}
		})
	}
}

// frameworkOf returns a framework that scores with these plugins, which weigh 1, 2, 3…
func frameworkOf(t *testing.T, scorers []*scorer) (framework.Framework, map[string]fwk.Plugin) {
	t.Helper()
	registry := frameworkruntime.Registry{queuesort.Name: queuesort.New, defaultbinder.Name: defaultbinder.New}
	enabled := func(name string) config.PluginSet {
		return config.PluginSet{Enabled: []config.Plugin{{Name: name}}}
	}
	plugins := &config.Plugins{QueueSort: enabled(queuesort.Name), Bind: enabled(defaultbinder.Name)}
	made := map[string]fwk.Plugin{}
	for i, s := range scorers {
		made[s.name] = s
		registry[s.name] = func(context.Context, runtime.Object, fwk.Handle) (fwk.Plugin, error) { return s, nil }
		plugins.Score.Enabled = append(plugins.Score.Enabled, config.Plugin{Name: s.name, Weight: int32(i + 1)})
	}
	f, err := frameworkruntime.NewFramework(t.Context(), registry, &config.KubeSchedulerProfile{SchedulerName: "test", Plugins: plugins})
	if err != nil {
		t.Fatal(err)
	}
	return f, made
}
