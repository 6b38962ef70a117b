package contract

import (
	"flag"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "write testdata/contract.txt from Kubernetes' source")

const (
	golden = "testdata/contract.txt"
	root   = "../../../.." // of our module
)

// kubernetes returns the source that our module is built with.
func kubernetes(t *testing.T) *Source {
	t.Helper()
	s, err := ModuleCache(".")
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// watches returns everything that our code depends on.
func watches(t *testing.T, s *Source) []Watch {
	t.Helper()
	embedded, err := Embedded(s, root, "scheduler")
	if err != nil {
		t.Fatal(err)
	}
	return append(embedded, Watches()...)
}

func recorded(t *testing.T) []string {
	t.Helper()
	out, err := Recorded("../interfaces.go")
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// TestContract fails when Kubernetes' source differs from the source that our code
// was last compared with. Read again what it names before you run it with -update.
func TestContract(t *testing.T) {
	s := kubernetes(t)
	all := watches(t, s)
	if *update {
		now, err := Look(s, all)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(golden, []byte(now.Text(all)), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	before, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	alarms, err := Alarms(s, all, ParseGolden(string(before)))
	if err != nil {
		t.Fatal(err)
	}
	interfaces, err := InterfaceAlarms(s, recorded(t))
	if err != nil {
		t.Fatal(err)
	}
	for _, alarm := range append(interfaces, alarms...) {
		t.Error(alarm)
	}
	if strings.Contains(string(before), gone) {
		t.Errorf("%s holds something that Kubernetes does not have: correct watches.go", golden)
	}
}

// The watches name files of ours that exist and depend on them.
func TestWatchesNameFilesOfOurs(t *testing.T) {
	seen := map[string]bool{}
	for _, w := range watches(t, kubernetes(t)) {
		if seen[w.String()] {
			t.Errorf("%s is watched twice", w)
		}
		seen[w.String()] = true
		if len(w.Ours) == 0 || w.Why == "" {
			t.Errorf("%s does not say who depends on it, and how", w)
		}
		for _, name := range w.Ours {
			if _, err := os.Stat(filepath.Join(root, name)); err != nil {
				t.Errorf("%s: %v", w, err)
			}
		}
	}
}

// The interfaces that we are known to embed are found.
func TestEmbeddedInterfacesAreFound(t *testing.T) {
	found := map[string][]string{}
	s := kubernetes(t)
	embedded, err := Embedded(s, root, "scheduler")
	if err != nil {
		t.Fatal(err)
	}
	for _, w := range embedded {
		found[w.Package+"."+w.Name] = w.Ours
	}
	for name, in := range map[string]string{
		frameworkPackage + ".Framework":            "scheduler/recorder/framework.go",
		queuePackage + ".SchedulingQueue":          "scheduler/observer.go",
		cachePackage + ".Cache":                    "scheduler/observer.go",
		pluginAPI + ".Handle":                      "scheduler/recorder/grouppreemption.go",
		pluginAPI + ".Extender":                    "scheduler/extender/extender.go",
		pluginAPI + ".PreFilterExtensions":         "scheduler/guard/points.go",
		preemptionPackage + ".Interface":           "scheduler/recorder/preemption.go",
		pluginAPI + ".MutableSnapshotSharedLister": "scheduler/recorder/grouppreemption.go",
	} {
		if !slices.Contains(found[name], in) {
			t.Errorf("%s is embedded in %v, not in %s", name, found[name], in)
		}
	}
}

// Each of these changes of Kubernetes' source must raise an alarm that names what to
// read again.
func TestAlarms(t *testing.T) {
	unchanged := kubernetes(t)
	all := watches(t, unchanged)
	before, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	for _, tc := range []struct {
		name string
		// module and file name the file in which old is replaced with new.
		module, file, old, new string
		// want holds parts of the only alarm, or of all alarms together if there are
		// more.
		want   []string
		alarms int // 1 by default
	}{
		{
			name:   "a new plugin interface",
			module: "k8s.io/kube-scheduler", file: "framework/interface.go",
			old: "type Handle interface {", new: "type PostScorePlugin interface {\n\tPlugin\n\tPostScore()\n}\n\ntype Handle interface {",
			want: []string{"k8s.io/kube-scheduler/framework/interface.go", "PostScorePlugin", "scheduler/internal/upstream/interfaces.go", "scheduler/guard/points.go"},
		},
		{
			name:   "a new plugin interface that embeds another",
			module: "k8s.io/kubernetes", file: "pkg/scheduler/framework/interface.go",
			old: "type Framework interface {", new: "type ExtendedFilterPlugin interface {\n\tfwk.FilterPlugin\n}\n\ntype Framework interface {",
			want: []string{"k8s.io/kubernetes/pkg/scheduler/framework/interface.go", "ExtendedFilterPlugin"},
		},
		{
			name:   "an interface without Plugin that the framework asserts",
			module: "k8s.io/kubernetes", file: "pkg/scheduler/framework/runtime/registry.go",
			old: "// Registry is a collection", new: "func f(p any) { _, _ = p.(fwk.Hibernator) }\n\n// Registry is a collection",
			want: []string{"k8s.io/kubernetes/pkg/scheduler/framework/runtime/registry.go", "framework.Hibernator"},
		},
		{
			name:   "a removed plugin interface",
			module: "k8s.io/kube-scheduler", file: "framework/interface.go",
			old: "type PostBindPlugin interface {\n\tPlugin\n", new: "type PostBindPlugin interface {\n",
			want:   []string{"no longer has the plugin interface k8s.io/kube-scheduler/framework.PostBindPlugin", "scheduler/guard/points.go"},
			alarms: 2, // the guard embeds it
		},
		{
			name:   "a new method of an interface that we embed",
			module: "k8s.io/kubernetes", file: "pkg/scheduler/framework/interface.go",
			old: "type Framework interface {", new: "type Framework interface {\n\tRunPostScorePlugins(ctx context.Context, pod *v1.Pod) error",
			want: []string{
				"k8s.io/kubernetes/pkg/scheduler/framework/interface.go", "Framework", "+RunPostScorePlugins(context.Context, *v1.Pod) error",
				"scheduler/recorder/framework.go", tiesFile,
			},
		},
		{
			name:   "an interface that we embed loses a method",
			module: "k8s.io/kubernetes", file: "pkg/scheduler/backend/queue/scheduling_queue.go",
			old: "\tPodsInActiveQ() []*v1.Pod\n", new: "",
			want: []string{"k8s.io/kubernetes/pkg/scheduler/backend/queue/scheduling_queue.go", "SchedulingQueue", "-PodsInActiveQ() []*v1.Pod", "scheduler/observer.go"},
		},
		{
			name:   "a new option of the scheduler",
			module: "k8s.io/kubernetes", file: "pkg/scheduler/scheduler.go",
			old: "// WithClock sets", new: "func WithHurry(seconds int) Option { return nil }\n\n// WithClock sets",
			want: []string{"k8s.io/kubernetes/pkg/scheduler/scheduler.go", "+WithHurry(int) Option", buildFile},
		},
		{
			name:   "a new option that New passes to the queue",
			module: "k8s.io/kubernetes", file: "pkg/scheduler/scheduler.go",
			old: "internalqueue.WithPodSigners(podSigners),", new: "internalqueue.WithPodSigners(podSigners),\n\t\tinternalqueue.WithHurry(),",
			want: []string{"k8s.io/kubernetes/pkg/scheduler/scheduler.go: New changed", queueFile, profilesFile},
		},
		{
			name:   "a new option of frameworks",
			module: "k8s.io/kubernetes", file: "pkg/scheduler/framework/runtime/framework.go",
			old: "// WithClientSet sets", new: "func WithHurry() Option { return nil }\n\n// WithClientSet sets",
			want: []string{"k8s.io/kubernetes/pkg/scheduler/framework/runtime/framework.go", "+WithHurry() Option", profilesFile},
		},
		{
			name:   "a new field of the scheduler's options",
			module: "k8s.io/kubernetes", file: "pkg/scheduler/scheduler.go",
			old: "type schedulerOptions struct {", new: "type schedulerOptions struct {\n\thurry bool",
			want: []string{"schedulerOptions", "+hurry bool", buildFile},
		},
		{
			name:   "a new argument of a controller",
			module: "k8s.io/kubernetes", file: "cmd/kube-controller-manager/app/batch.go",
			old: "\t\tworkloadInformer,\n", new: "\t\tworkloadInformer,\n\t\tcontrollerContext.InformerFactory.Core().V1().Nodes(),\n",
			want: []string{"k8s.io/kubernetes/cmd/kube-controller-manager/app/batch.go: newJobController changed", workloadsFile},
		},
		{
			name:   "a new default of a controller's flag",
			module: "k8s.io/kubernetes", file: "cmd/kube-controller-manager/app/options/nodelifecyclecontroller.go",
			old: `"node-eviction-rate", 0.1,`, new: `"node-eviction-rate", 0.2,`,
			want: []string{"NodeLifecycleControllerOptions.AddFlags changed", configurationFile},
		},
		{
			name:   "a changed formula",
			module: "k8s.io/kubernetes", file: "pkg/scheduler/schedule_one.go",
			old: "percentage = int32(50) - numAllNodes/125", new: "percentage = int32(50) - numAllNodes/250",
			want: []string{"k8s.io/kubernetes/pkg/scheduler/schedule_one.go: Scheduler.numFeasibleNodesToFind changed: read it again and compare " + formulasFile},
		},
		{
			name:   "a changed constant",
			module: "k8s.io/kubernetes", file: "pkg/scheduler/schedule_one.go",
			old: "minFeasibleNodesPercentageToFind = 5", new: "minFeasibleNodesPercentageToFind = 7",
			want: []string{"minFeasibleNodesPercentageToFind changed", formulasFile},
		},
		{
			name:   "a removed function",
			module: "k8s.io/kubernetes", file: "pkg/scheduler/framework/preemption/preemption.go",
			old: "func pickOneNodeForPreemption(", new: "func pickOneNode(",
			want: []string{"pickOneNodeForPreemption is gone", "scheduler/result/preemption.go"},
		},
		{
			name:   "a changed state of a plugin",
			module: "k8s.io/kubernetes", file: "pkg/scheduler/framework/plugins/podtopologyspread/filtering.go",
			old: "TpValueToMatchNum []map[string]int", new: "TpValueToMatchNum []map[string]int64",
			want: []string{"preFilterState changed", spreadFile},
		},
		{
			name:   "a changed text of an error",
			module: "k8s.io/kubernetes", file: "plugin/pkg/admission/priority/admission.go",
			old: "no PriorityClass with name", new: "unknown PriorityClass",
			want: []string{"k8s.io/kubernetes/plugin/pkg/admission/priority/admission.go", `no longer says "no PriorityClass"`, "simulator/elsewhere/transfer"},
		},
		{
			name:   "a comment and a line break, which change nothing",
			module: "k8s.io/kubernetes", file: "pkg/scheduler/schedule_one.go",
			old: "func (sched *Scheduler) numFeasibleNodesToFind(percentageOfNodesToScore *int32, numAllNodes int32) (numNodes int32) {",
			new: "// Another comment.\nfunc (sched *Scheduler) numFeasibleNodesToFind(\n\tpercentageOfNodesToScore *int32,\n\tnumAllNodes int32) (numNodes int32) {\n\n\t// One more.",
		},
	} {
		t.Run(tc.name, func(t *testing.T) {
			s := changed(t, unchanged, tc.module, tc.file, tc.old, tc.new)
			alarms, err := Alarms(s, all, ParseGolden(string(before)))
			if err != nil {
				t.Fatal(err)
			}
			interfaces, err := InterfaceAlarms(s, recorded(t))
			if err != nil {
				t.Fatal(err)
			}
			alarms = append(alarms, interfaces...)
			if tc.want == nil {
				if len(alarms) > 0 {
					t.Errorf("false alarms: %q", alarms)
				}
				return
			}
			if len(alarms) != max(tc.alarms, 1) {
				t.Fatalf("want %d alarms, got %q", max(tc.alarms, 1), alarms)
			}
			all := strings.Join(alarms, "\n")
			for _, want := range tc.want {
				if !strings.Contains(all, want) {
					t.Errorf("%q does not contain %q", all, want)
				}
			}
		})
	}
}

// changed returns s with one file of a module changed, in a directory of links to the package's others.
func changed(t *testing.T, s *Source, module, name, old, replacement string) *Source {
	t.Helper()
	importPath := path.Join(module, path.Dir(name))
	original, err := s.dir(importPath)
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	files, err := filepath.Glob(filepath.Join(original, "*.go"))
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		if err := os.Symlink(file, filepath.Join(dir, filepath.Base(file))); err != nil {
			t.Fatal(err)
		}
	}
	to := filepath.Join(dir, path.Base(name))
	data, err := os.ReadFile(to)
	if err != nil {
		t.Fatal(err)
	}
	if n := strings.Count(string(data), old); n != 1 {
		t.Fatalf("%s contains %q %d times: the test changes another place", name, old, n)
	}
	if err := os.Remove(to); err != nil { // it is a link into the module cache
		t.Fatal(err)
	}
	if err := os.WriteFile(to, []byte(strings.Replace(string(data), old, replacement, 1)), 0o644); err != nil {
		t.Fatal(err)
	}
	return s.With(importPath, dir)
}
