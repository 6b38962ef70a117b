package recorder

import (
	"bytes"
	"context"
	"io"
	"os"
	"strings"
	"testing"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	utilfeature "k8s.io/apiserver/pkg/util/feature"
	featuregatetesting "k8s.io/component-base/featuregate/testing"
	fwk "k8s.io/kube-scheduler/framework"
	frameworkruntime "k8s.io/kubernetes/pkg/scheduler/framework/runtime"

	"kube-scheduler-simulator/scheduler/internal/upstream"
	"kube-scheduler-simulator/scheduler/recorder/internal/compose"
	"kube-scheduler-simulator/scheduler/result"
)

// discard is a sink that keeps nothing.
type discard struct{}

func (discard) NextAttempt(types.UID) int { return 1 }
func (discard) Put(*result.Cycle)         {}

func TestInTreePluginsKeepTheirInterfaces(t *testing.T) {
	for _, tc := range []struct {
		name  string
		gates featuregatetesting.FeatureOverrides
	}{
		{"default gates", nil},
		{"all alpha gates", featuregatetesting.FeatureOverrides{"AllAlpha": true, "AllBeta": true}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			if tc.gates != nil {
				featuregatetesting.SetFeatureGatesDuringTest(t, utilfeature.DefaultFeatureGate, tc.gates)
			}
			plugins, err := compose.InTree(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			if len(plugins) < 20 {
				t.Fatalf("only %d in-tree plugins", len(plugins))
			}
			r := New(discard{}, nil, nil)
			for name, plugin := range plugins {
				wrapped, err := r.wrap(plugin, r.profile("default-scheduler"), nil, nil, &groupDryRun{})
				if err != nil {
					t.Errorf("%s: %v", name, err)
					continue
				}
				if got, want := upstream.InterfacesOf(wrapped), upstream.InterfacesOf(plugin); got != want {
					t.Errorf("%s: wrapped implements %s; bare %s", name, got, want)
				}
				if wrapped.Name() != name {
					t.Errorf("%s: wrapped is named %q", name, wrapped.Name())
				}
			}
		})
	}
}

func TestCompositionsAreCurrent(t *testing.T) {
	sets, err := compose.Sets(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	want, err := compose.Source(sets)
	if err != nil {
		t.Fatal(err)
	}
	got, err := os.ReadFile("zz_generated_compositions.go")
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, want) {
		t.Error("zz_generated_compositions.go is stale: run go generate ./scheduler/recorder")
	}
}

// odd has a combination of interfaces for which no recorder is generated.
type odd struct {
	fwk.QueueSortPlugin
	fwk.BindPlugin
	io.Closer
}

func (odd) Name() string { return "Odd" }

func TestAnUnknownCombinationIsRefusedAtTheStart(t *testing.T) {
	r := New(discard{}, nil, nil)
	registry := r.Wrap(frameworkruntime.Registry{
		"Odd": func(context.Context, runtime.Object, fwk.Handle) (fwk.Plugin, error) { return odd{}, nil },
	})
	_, err := registry["Odd"](t.Context(), nil, handle{})
	if err == nil {
		t.Fatal("no error")
	}
	for _, want := range []string{`"Odd"`, "QueueSortPlugin, BindPlugin, io.Closer", "go generate"} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("error %q does not contain %q", err, want)
		}
	}
}

// closing is a plugin that records when it is closed.
type closing struct {
	fwk.FilterPlugin
	closed *int
}

func (closing) Name() string   { return "Closing" }
func (c closing) Close() error { *c.closed++; return io.ErrUnexpectedEOF }

func TestClosersAreClosed(t *testing.T) {
	r := New(discard{}, nil, nil)
	closed := 0
	wrapped, err := r.wrap(closing{closed: &closed}, r.profile("default-scheduler"), nil, nil, &groupDryRun{})
	if err != nil {
		t.Fatal(err)
	}
	if err := wrapped.(io.Closer).Close(); err != io.ErrUnexpectedEOF || closed != 1 {
		t.Errorf("closed %d times: %v", closed, err)
	}
}

// handle is a handle that knows only its profile.
type handle struct{ fwk.Handle }

func (handle) ProfileName() string { return "default-scheduler" }

// optional returns nil wherever a plugin may.
type optional struct{}

func (optional) Name() string { return "Optional" }
func (optional) PreFilter(context.Context, fwk.CycleState, *v1.Pod, []fwk.NodeInfo) (*fwk.PreFilterResult, *fwk.Status) {
	return nil, nil
}
func (optional) PreFilterExtensions() fwk.PreFilterExtensions { return nil }
func (optional) Filter(context.Context, fwk.CycleState, *v1.Pod, fwk.NodeInfo) *fwk.Status {
	return nil
}
func (optional) Score(context.Context, fwk.CycleState, *v1.Pod, fwk.NodeInfo) (int64, *fwk.Status) {
	return 0, nil
}
func (optional) ScoreExtensions() fwk.ScoreExtensions { return nil }

func TestExtensionsStayNil(t *testing.T) {
	r := New(discard{}, nil, nil)
	wrapped, err := r.wrap(optional{}, r.profile("default-scheduler"), nil, nil, &groupDryRun{})
	if err != nil {
		t.Fatal(err)
	}
	if wrapped.(fwk.PreFilterPlugin).PreFilterExtensions() != nil {
		t.Error("PreFilterExtensions is not nil")
	}
	if wrapped.(fwk.ScorePlugin).ScoreExtensions() != nil {
		t.Error("ScoreExtensions is not nil")
	}
}
