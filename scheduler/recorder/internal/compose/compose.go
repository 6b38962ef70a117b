// Package compose writes the recorder's compositions: one struct type per set
// of interfaces, so that a wrapped plugin has exactly the interfaces of the
// plugin. Run it with go generate ./scheduler/recorder.
//
// It may import the framework, the in-tree plugins and their fakes, and
// scheduler/internal/upstream. Only the generator and tests may import it.
package compose

import (
	"bytes"
	"context"
	"fmt"
	"go/format"
	"maps"
	"slices"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/dynamic/dynamicinformer"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes/fake"
	"k8s.io/client-go/tools/events"
	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler"
	"k8s.io/kubernetes/pkg/scheduler/apis/config"
	"k8s.io/kubernetes/pkg/scheduler/apis/config/latest"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/names"
	frameworkruntime "k8s.io/kubernetes/pkg/scheduler/framework/runtime"

	"kube-scheduler-simulator/scheduler/internal/upstream"
)

// InTree returns an instance of every plugin of the in-tree registry, by name,
// under the current feature gates, with default arguments.
func InTree(ctx context.Context) (map[string]fwk.Plugin, error) {
	cfg, err := latest.Default()
	if err != nil {
		return nil, err
	}
	h, err := handle(ctx)
	if err != nil {
		return nil, err
	}
	out := map[string]fwk.Plugin{}
	for name, factory := range plugins.NewInTreeRegistry() {
		plugin, err := factory(ctx, argsOf(cfg, name), h)
		if err != nil {
			return nil, fmt.Errorf("creating plugin %s: %w", name, err)
		}
		out[name] = plugin
	}
	return out, nil
}

// handle returns the handle of a scheduler that never runs, over a fake client.
func handle(ctx context.Context) (fwk.Handle, error) {
	client := fake.NewClientset()
	var captured fwk.Handle
	const name = "HandleCapture"
	factory := informers.NewSharedInformerFactory(client, 0)
	cfg, err := latest.Default()
	if err != nil {
		return nil, err
	}
	// The profile has only the required plugins; the captured handle then serves to
	// create each plugin once.
	profile := cfg.Profiles[0]
	profile.Plugins = &config.Plugins{MultiPoint: config.PluginSet{Enabled: []config.Plugin{
		{Name: names.PrioritySort}, {Name: names.DefaultBinder}, {Name: name},
	}}}
	_, err = scheduler.New(ctx, client, factory, (dynamicinformer.DynamicSharedInformerFactory)(nil),
		func(string) events.EventRecorderLogger { return &events.FakeRecorder{} },
		scheduler.WithProfiles(profile),
		scheduler.WithFrameworkOutOfTreeRegistry(frameworkruntime.Registry{
			name: func(_ context.Context, _ runtime.Object, h fwk.Handle) (fwk.Plugin, error) {
				captured = h
				return capture(name), nil
			},
		}))
	if err != nil {
		return nil, fmt.Errorf("building a scheduler over a fake client: %w", err)
	}
	return captured, nil
}

// capture is a plugin that does nothing.
type capture string

func (c capture) Name() string { return string(c) }

func argsOf(cfg *config.KubeSchedulerConfiguration, name string) runtime.Object {
	for _, pc := range cfg.Profiles[0].PluginConfig {
		if pc.Name == name {
			return pc.Args
		}
	}
	return nil
}

// additions are the interfaces that each set of outOfTree may have in addition.
var additions = [][]string{
	nil, {"EnqueueExtensions"}, {"SignPlugin"}, {"EnqueueExtensions", "SignPlugin"},
	{"io.Closer"}, {"EnqueueExtensions", "io.Closer"},
}

// outOfTree are the most common combinations of out-of-tree plugins: each of these interfaces
// alone and the usual pairs, with and without EnqueueExtensions and SignPlugin, or io.Closer.
// All possible combinations would be thousands, and the compiler needs about 60 ms for each.
var outOfTree = [][]string{
	{"PreEnqueuePlugin"}, {"QueueSortPlugin"}, {"PreFilterPlugin"}, {"FilterPlugin"}, {"PostFilterPlugin"}, {"PreScorePlugin"},
	{"ScorePlugin"}, {"ReservePlugin"}, {"PermitPlugin"}, {"PreBindPlugin"}, {"BindPlugin"}, {"PostBindPlugin"},
	{"PreFilterPlugin", "FilterPlugin"},
	{"PreScorePlugin", "ScorePlugin"},
	{"FilterPlugin", "ScorePlugin"},
	{"FilterPlugin", "PreScorePlugin", "ScorePlugin"},
	{"PreFilterPlugin", "FilterPlugin", "ScorePlugin"},
	{"PreFilterPlugin", "FilterPlugin", "PreScorePlugin", "ScorePlugin"},
	{"PreFilterPlugin", "FilterPlugin", "ReservePlugin"},
	{"PreFilterPlugin", "FilterPlugin", "ReservePlugin", "PreBindPlugin"},
	{"PreFilterPlugin", "FilterPlugin", "ScorePlugin", "ReservePlugin"},
	{"PreFilterPlugin", "FilterPlugin", "PreScorePlugin", "ScorePlugin", "ReservePlugin"},
	{"PreFilterPlugin", "FilterPlugin", "PreScorePlugin", "ScorePlugin", "ReservePlugin", "PreBindPlugin"},
	{"PreFilterPlugin", "ScorePlugin"},
	{"PreFilterPlugin", "PreScorePlugin", "ScorePlugin"},
	{"PreFilterPlugin", "PostFilterPlugin"},
	{"PreFilterPlugin", "FilterPlugin", "PostFilterPlugin"},
	{"PreFilterPlugin", "FilterPlugin", "PostFilterPlugin", "ScorePlugin"},
	{"PreFilterPlugin", "FilterPlugin", "PostFilterPlugin", "ReservePlugin"},
	{"PreFilterPlugin", "FilterPlugin", "ScorePlugin", "ReservePlugin", "PermitPlugin"},
	{"PreFilterPlugin", "FilterPlugin", "ScorePlugin", "ReservePlugin", "PreBindPlugin"},
	{"PreFilterPlugin", "FilterPlugin", "ReservePlugin", "PermitPlugin"},
	{"PreEnqueuePlugin", "FilterPlugin"},
	{"PreEnqueuePlugin", "PreFilterPlugin", "FilterPlugin"},
	{"FilterPlugin", "PostFilterPlugin"},
	{"FilterPlugin", "ReservePlugin"},
	{"FilterPlugin", "ScorePlugin", "ReservePlugin"},
	{"ScorePlugin", "PostBindPlugin"},
	{"ScorePlugin", "ReservePlugin"},
	{"ReservePlugin", "PreBindPlugin"},
	{"ReservePlugin", "PreBindPlugin", "PostBindPlugin"},
	{"ReservePlugin", "PermitPlugin"},
	{"PermitPlugin", "PostBindPlugin"},
	{"PreFilterPlugin", "PermitPlugin", "ReservePlugin"},
	{"PreFilterPlugin", "PostFilterPlugin", "PermitPlugin", "ReservePlugin"},
	{"PreEnqueuePlugin", "PreFilterPlugin", "PostFilterPlugin", "PermitPlugin", "ReservePlugin"},
	{"PreEnqueuePlugin", "PreFilterPlugin", "PostFilterPlugin", "PermitPlugin", "ReservePlugin", "PostBindPlugin"},
	{
		"PreEnqueuePlugin", "PreFilterPlugin", "FilterPlugin", "PostFilterPlugin", "PreScorePlugin", "ScorePlugin",
		"ReservePlugin", "PermitPlugin", "PreBindPlugin", "BindPlugin", "PostBindPlugin",
	},
	{
		"PreEnqueuePlugin", "PreFilterPlugin", "FilterPlugin", "PostFilterPlugin", "PreScorePlugin", "ScorePlugin",
		"ReservePlugin", "PermitPlugin", "PreBindPlugin", "PostBindPlugin",
	},
}

// Sets returns the sets for which compositions are generated, sorted.
func Sets(ctx context.Context) ([]upstream.InterfaceSet, error) {
	sets := map[upstream.InterfaceSet]bool{}
	inTree, err := InTree(ctx)
	if err != nil {
		return nil, err
	}
	for _, plugin := range inTree {
		sets[upstream.InterfacesOf(plugin)] = true
	}
	for _, names := range outOfTree {
		for _, more := range additions {
			set, err := upstream.InterfacesNamed(append(slices.Clone(names), more...)...)
			if err != nil {
				return nil, err
			}
			sets[set] = true
		}
	}
	return slices.Sorted(maps.Keys(sets)), nil
}

// Source returns the generated file.
func Source(sets []upstream.InterfaceSet) ([]byte, error) {
	var b bytes.Buffer
	b.WriteString("// Code generated by internal/compose. DO NOT EDIT.\n\npackage recorder\n\n")
	b.WriteString("import (\n\tfwk \"k8s.io/kube-scheduler/framework\"\n\n\t\"kube-scheduler-simulator/scheduler/internal/upstream\"\n)\n\n")
	b.WriteString("// composition returns a recorder with exactly the interfaces of set around b's\n// plugin, or nil when none was generated for set.\n")
	b.WriteString("func composition(set upstream.InterfaceSet, b *base) fwk.Plugin {\n\tswitch set {\n")
	for _, set := range sets {
		fmt.Fprintf(&b, "\tcase %#05x: // %s\n\t\treturn struct {\n\t\t\t*base\n", uint32(set), set)
		for _, p := range set.Members() {
			fmt.Fprintf(&b, "\t\t\t%s\n", p.Recorder)
		}
		b.WriteString("\t\t}{b")
		for _, p := range set.Members() {
			fmt.Fprintf(&b, ", new%s%s(b)", string(p.Recorder[0]-'a'+'A'), p.Recorder[1:])
		}
		b.WriteString("}\n")
	}
	b.WriteString("\t}\n\treturn nil\n}\n")
	return format.Source(b.Bytes())
}
