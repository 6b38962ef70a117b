package recorder

import (
	"context"
	"errors"
	"fmt"
	"io"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	utilfeature "k8s.io/apiserver/pkg/util/feature"
	"k8s.io/client-go/dynamic/dynamicinformer"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes/fake"
	"k8s.io/client-go/tools/events"
	featuregatetesting "k8s.io/component-base/featuregate/testing"
	"k8s.io/klog/v2"
	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler"
	"k8s.io/kubernetes/pkg/scheduler/apis/config"
	"k8s.io/kubernetes/pkg/scheduler/apis/config/latest"
	"k8s.io/kubernetes/pkg/scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/defaultbinder"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/names"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/queuesort"
	frameworkruntime "k8s.io/kubernetes/pkg/scheduler/framework/runtime"
	"k8s.io/kubernetes/pkg/scheduler/metrics"
	tf "k8s.io/kubernetes/pkg/scheduler/testing/framework"

	"kube-scheduler-simulator/scheduler/internal/upstream"
	"kube-scheduler-simulator/scheduler/result"
)

// discard is a sink that keeps nothing.
type discard struct{}

func (discard) NextAttempt(types.UID) int { return 1 }
func (discard) Put(*result.Cycle)         {}

// seen is what Kubernetes finds out about the plugins of a profile.
type seen struct {
	Refused string
	Plugins *config.Plugins
	// Requeuing holds the events of each plugin that may reject pods, by its name.
	Requeuing map[string][]string
	Signed    bool
	Closed    string
}

// look builds a framework and returns what it knows of its plugins.
func look(t *testing.T, build func(ctx context.Context) (framework.Framework, error)) seen {
	t.Helper()
	f, err := build(klog.NewContext(t.Context(), klog.Logger{}))
	if err != nil {
		return seen{Refused: err.Error()}
	}
	s := seen{Plugins: f.ListPlugins(), Requeuing: map[string][]string{}}
	for _, extension := range f.EnqueueExtensions() {
		events, err := extension.EventsToRegister(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		s.Requeuing[extension.Name()] = []string{}
		for _, event := range events {
			s.Requeuing[extension.Name()] = append(s.Requeuing[extension.Name()], fmt.Sprint(event.Event))
		}
	}
	s.Signed = f.SignPod(t.Context(), &v1.Pod{}) != nil
	if err := f.Close(); err != nil {
		lines := strings.Split(err.Error(), "\n") // in the order of a map
		slices.Sort(lines)
		s.Closed = strings.Join(lines, "\n")
	}
	return s
}

// compareWrapped compares what Kubernetes finds out about the plugins of a profile with
// and without recorders.
func compareWrapped(t *testing.T, registry frameworkruntime.Registry, profile *config.KubeSchedulerProfile) (differences string, refused bool) {
	t.Helper()
	metrics.Register()
	before := profile.DeepCopy()
	bare := look(t, func(ctx context.Context) (framework.Framework, error) {
		return frameworkruntime.NewFramework(ctx, registry, profile.DeepCopy())
	})
	wrapped := look(t, func(ctx context.Context) (framework.Framework, error) {
		return upstream.NewFramework(ctx, New(discard{}, nil, nil).Wrap(registry), profile)
	})
	if diff := cmp.Diff(before, profile); diff != "" {
		t.Errorf("the profile was changed (-before +after):\n%s", diff)
	}
	return cmp.Diff(bare, wrapped), bare.Refused != ""
}

// always returns a factory that returns p.
func always(p fwk.Plugin) frameworkruntime.PluginFactory {
	return func(context.Context, runtime.Object, fwk.Handle) (fwk.Plugin, error) { return p, nil }
}

// profileWith returns a profile of the required plugins and of further ones.
func profileWith(further ...string) *config.KubeSchedulerProfile {
	p := &config.KubeSchedulerProfile{SchedulerName: "default-scheduler", Plugins: &config.Plugins{}}
	for _, name := range append([]string{names.PrioritySort, names.DefaultBinder}, further...) {
		p.Plugins.MultiPoint.Enabled = append(p.Plugins.MultiPoint.Enabled, config.Plugin{Name: name})
	}
	return p
}

// extensionPoints calls f with each extension point's plugins.
func extensionPoints(p *config.Plugins, f func(name string, set *config.PluginSet)) {
	v := reflect.ValueOf(p).Elem()
	for i := range v.NumField() {
		if name := v.Type().Field(i).Name; name != "MultiPoint" {
			f(name, v.Field(i).Addr().Interface().(*config.PluginSet))
		}
	}
}

// A plugin may have any set of interfaces, and a profile may enable it in any way.
func TestKubernetesCannotTellARecordedPluginFromABareOne(t *testing.T) {
	runs, refusals := 0, 0
	for i, plugin := range subsets() {
		registry := frameworkruntime.Registry{names.PrioritySort: queuesort.New, names.DefaultBinder: defaultbinder.New, "Subset": always(plugin)}
		check := func(name string, profile *config.KubeSchedulerProfile) {
			t.Helper()
			differences, refused := compareWrapped(t, registry, profile)
			if differences != "" {
				t.Errorf("%s: %T: bare and recorded differ (-bare +recorded):\n%s", name, plugin, differences)
			}
			runs++
			if refused {
				refusals++
			}
		}
		check("multiPoint", profileWith("Subset"))
		extensionPoints(&config.Plugins{}, func(name string, _ *config.PluginSet) {
			at := func(change func(*config.PluginSet), multiPoint ...string) *config.KubeSchedulerProfile {
				p := profileWith(multiPoint...)
				extensionPoints(p.Plugins, func(n string, set *config.PluginSet) {
					if n == name {
						change(set)
					}
				})
				return p
			}
			enabled := func(s *config.PluginSet) { s.Enabled = []config.Plugin{{Name: "Subset", Weight: 3}} }
			check("only at "+name, at(enabled))
			if i%4 == 0 { // the others cost time and show nothing new
				check("overridden at "+name, at(enabled, "Subset"))
				check("disabled at "+name, at(func(s *config.PluginSet) { s.Disabled = []config.Plugin{{Name: "Subset"}} }, "Subset"))
				check("all disabled at "+name, at(func(s *config.PluginSet) { s.Disabled = []config.Plugin{{Name: "*"}} }, "Subset"))
			}
		})
	}
	if runs-refusals < 100 || refusals < 100 {
		t.Errorf("of %d profiles %d were refused: the test shows too little", runs, refusals)
	}
}

// Kubernetes' own fakes are plugins of other people's making.
func TestKubernetesFakePluginsAreAccepted(t *testing.T) {
	success := fwk.NewStatus(fwk.Success)
	for name, factory := range map[string]frameworkruntime.PluginFactory{
		"FalseFilter":    tf.NewFalseFilterPlugin,
		"TrueFilter":     tf.NewTrueFilterPlugin,
		"FakeFilter":     tf.NewFakeFilterPlugin(nil),
		"MatchFilter":    tf.NewMatchFilterPlugin,
		"FakePreFilter":  tf.NewFakePreFilterPlugin("FakePreFilter", nil, success),
		"FakeReserve":    tf.NewFakeReservePlugin(success),
		"FakePostFilter": tf.NewFakePostFilterPlugin(nil, success),
		"FakePreBind":    tf.NewFakePreBindPlugin(success, success),
		"FakePermit":     tf.NewFakePermitPlugin(success, time.Second),
		"FakePreScore":   tf.NewFakePreScoreAndScorePlugin("FakePreScore", 1, success, success),
		"Equal":          tf.NewEqualPrioritizerPlugin(),
		"Node2":          tf.NewNode2PrioritizerPlugin(),
		"FakePreFilterAndFilter": always(&tf.FakePreFilterAndFilterPlugin{
			FakePreFilterPlugin: &tf.FakePreFilterPlugin{}, FakeFilterPlugin: &tf.FakeFilterPlugin{},
		}),
	} {
		t.Run(name, func(t *testing.T) {
			plugin, err := factory(t.Context(), nil, nil)
			if err != nil {
				t.Fatal(err)
			}
			registry := frameworkruntime.Registry{names.PrioritySort: queuesort.New, names.DefaultBinder: defaultbinder.New, plugin.Name(): always(plugin)}
			if differences, refused := compareWrapped(t, registry, profileWith(plugin.Name())); differences != "" || refused {
				t.Errorf("refused: %t; bare and recorded differ (-bare +recorded):\n%s", refused, differences)
			}
		})
	}
}

func TestInTreePluginsStayAsTheyAre(t *testing.T) {
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
			registry, profile := inTree(t)
			if len(registry) < 20 {
				t.Fatalf("only %d in-tree plugins", len(registry))
			}
			if differences, refused := compareWrapped(t, registry, profile); differences != "" || refused {
				t.Errorf("refused: %t; bare and recorded differ (-bare +recorded):\n%s", refused, differences)
			}
		})
	}
}

// inTree returns a registry of instances of all in-tree plugins that the current feature
// gates allow, with default arguments, and the default profile.
func inTree(t *testing.T) (frameworkruntime.Registry, *config.KubeSchedulerProfile) {
	t.Helper()
	cfg, err := latest.Default()
	if err != nil {
		t.Fatal(err)
	}
	h := realHandle(t)
	args := map[string]runtime.Object{}
	for _, c := range cfg.Profiles[0].PluginConfig {
		args[c.Name] = c.Args
	}
	out := frameworkruntime.Registry{}
	for name, factory := range plugins.NewInTreeRegistry() {
		plugin, err := factory(t.Context(), args[name], h)
		if err != nil {
			t.Fatalf("creating plugin %s: %v", name, err)
		}
		out[name] = always(plugin)
	}
	return out, &cfg.Profiles[0]
}

// realHandle returns the handle of a scheduler that never runs, over a fake client.
func realHandle(t *testing.T) fwk.Handle {
	t.Helper()
	var captured fwk.Handle
	client := fake.NewClientset()
	_, err := scheduler.New(t.Context(), client, informers.NewSharedInformerFactory(client, 0), (dynamicinformer.DynamicSharedInformerFactory)(nil),
		func(string) events.EventRecorderLogger { return &events.FakeRecorder{} },
		scheduler.WithProfiles(*profileWith("Subset")),
		scheduler.WithFrameworkOutOfTreeRegistry(frameworkruntime.Registry{
			"Subset": func(_ context.Context, _ runtime.Object, h fwk.Handle) (fwk.Plugin, error) {
				captured = h
				return named{}, nil
			},
		}))
	if err != nil {
		t.Fatal(err)
	}
	return captured
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
	wrapped := r.wrap(closing{closed: &closed}, r.profile("default-scheduler"), nil, nil, &groupDryRun{})
	if err := wrapped.(io.Closer).Close(); !errors.Is(err, io.ErrUnexpectedEOF) || closed != 1 {
		t.Errorf("closed %d times: %v", closed, err)
	}
}

func TestExtensionsStayNil(t *testing.T) {
	r := New(discard{}, nil, nil)
	plugin := struct {
		named
		preFilters
		scoresNodes
		scoresPlacements
	}{}
	wrapped := r.wrap(plugin, r.profile("default-scheduler"), nil, nil, &groupDryRun{})
	if wrapped.(fwk.PreFilterPlugin).PreFilterExtensions() != nil {
		t.Error("PreFilterExtensions is not nil")
	}
	if wrapped.(fwk.ScorePlugin).ScoreExtensions() != nil {
		t.Error("ScoreExtensions is not nil")
	}
	if wrapped.(fwk.PlacementScorePlugin).PlacementScoreExtensions() != nil {
		t.Error("PlacementScoreExtensions is not nil")
	}
}
