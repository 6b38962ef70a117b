// Package simulator_test checks the directions of imports. It is a package of its own because it looks
// at directories that builds and browser tests change: `go test` runs it again each time.
package simulator_test

import (
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

const (
	module            = "kube-scheduler-simulator/"
	controllerManager = "k8s.io/kubernetes/cmd/kube-controller-manager/app"
	upstreamTest      = "simulator/controlplane/controllers/kubecontrollers/upstreamtest"
)

// arrows lists the imports that are allowed between our packages. A package that is not
// listed may import none. Tests may also import testPackages and the imports of their
// package.
var arrows = map[string][]string{
	"scheduler/result":                                   nil,
	"scheduler/internal/upstream":                        nil,
	"scheduler/internal/upstream/contract":               nil,
	"scheduler/flow":                                     {"scheduler/config", "scheduler/result", "scheduler/whatif"},
	"scheduler/guard":                                    nil,
	"scheduler/customresource":                           {"scheduler/watchfilter"},
	"scheduler/pluginfact":                               nil,
	"scheduler/podrequest":                               {"scheduler/result"},
	"scheduler/recorder":                                 {"scheduler/guard", "scheduler/result", "scheduler/pluginfact", "scheduler/internal/upstream"},
	"scheduler/recorder/comparison":                      {"scheduler/internal/upstream", "scheduler/podrequest", "scheduler/plugins/noderesourcetopology", "scheduler/recorder", "scheduler/result"},
	"scheduler/blockfile":                                nil,
	"scheduler/resultstore":                              {"scheduler/blockfile", "scheduler/result"},
	"scheduler/annotation":                               {"scheduler/result"},
	"scheduler/explain":                                  {"scheduler/result"},
	"scheduler/schedulertest":                            {"scheduler/pluginfact"},
	"scheduler/watchfilter":                              nil,
	"scheduler/yamlsource":                               nil,
	"scheduler/yamlsource/bombs":                         nil,
	"scheduler/celcost":                                  nil,
	"scheduler/templatecost":                             nil,
	"scheduler/config":                                   {"scheduler/internal/upstream", "scheduler/plugins/argument", "scheduler/yamlsource"},
	"scheduler/config/adopt":                             {"scheduler/config", "scheduler/yamlsource"},
	"scheduler/extender":                                 {"scheduler/guard", "scheduler/internal/upstream", "scheduler/result"},
	"scheduler/examples/extender":                        {"scheduler/examples/extender/reservation"},
	"scheduler/examples/extender/reservation":            nil,
	"scheduler/plugins":                                  {"scheduler/plugins/argument", "scheduler/plugins/capacityscheduling", "scheduler/plugins/cel", "scheduler/plugins/coscheduling", "scheduler/plugins/noderesourcetopology"},
	"scheduler/plugins/argument":                         {"scheduler/yamlsource"},
	"scheduler/plugins/capacityscheduling":               {"scheduler/customresource", "scheduler/pluginfact", "scheduler/plugins/capacityscheduling/v1alpha1", "scheduler/plugins/follow", "scheduler/result"},
	"scheduler/plugins/capacityscheduling/v1alpha1":      nil,
	"scheduler/plugins/directed":                         {"scheduler/plugins/noderesourcetopology/v1alpha2"},
	"scheduler/plugins/follow":                           nil,
	"scheduler/plugins/noderesourcetopology":             {"scheduler/customresource", "scheduler/plugins/argument", "scheduler/plugins/follow", "scheduler/plugins/noderesourcetopology/v1alpha2"},
	"scheduler/plugins/noderesourcetopology/v1alpha2":    nil,
	"scheduler/plugins/cel":                              {"scheduler/pluginfact", "scheduler/plugins/argument", "scheduler/celcost"},
	"scheduler/plugins/coscheduling":                     {"scheduler/customresource", "scheduler/pluginfact", "scheduler/plugins/argument", "scheduler/plugins/coscheduling/v1alpha1", "scheduler/result"},
	"scheduler/plugins/coscheduling/v1alpha1":            nil,
	"scheduler/examples/zonequota":                       {"scheduler/pluginfact", "scheduler/plugins/argument"},
	"scheduler":                                          {"scheduler/feed", "scheduler/guard", "scheduler/result", "scheduler/pluginfact", "scheduler/recorder", "scheduler/recorder/comparison", "scheduler/resultstore", "scheduler/annotation", "scheduler/config", "scheduler/extender", "scheduler/internal/upstream", "scheduler/customresource", "scheduler/sharedpods", "scheduler/tieseed"},
	"scheduler/feed":                                     nil,
	"scheduler/simulation":                               {"scheduler/guard", "scheduler/internal/upstream", "scheduler/memory", "scheduler/recorder", "scheduler/recorder/comparison", "scheduler/result", "scheduler/resultstore", "scheduler/standin", "scheduler/tieseed"},
	"scheduler/sharedpods":                               nil,
	"scheduler/standin":                                  {"scheduler/annotation"},
	"scheduler/tieseed":                                  {"scheduler/pluginfact", "scheduler/result"},
	"scheduler/memory":                                   nil,
	"scheduler/whatif":                                   {"scheduler/extender", "scheduler/explain", "scheduler/feed", "scheduler/guard", "scheduler/internal/upstream", "scheduler/memory", "scheduler/recorder", "scheduler/recorder/comparison", "scheduler/result", "scheduler/standin", "scheduler/whatif/newnode"},
	"scheduler/session":                                  {"scheduler/config", "scheduler/result", "scheduler/whatif", "scheduler/yamlsource"},
	"scheduler/shadow":                                   {"scheduler/config", "scheduler/feed", "scheduler/result", "scheduler/whatif"},
	"scheduler/supervisor":                               {"scheduler", "scheduler/config", "scheduler/recorder", "scheduler/result", "scheduler/sharedpods"},
	"simulator/objects":                                  {"scheduler/annotation", "scheduler/standin"},
	"simulator/hypothesis":                               {"scheduler/config", "scheduler/flow", "scheduler/result", "scheduler/session", "scheduler/whatif", "scheduler/whatif/*", "scheduler/yamlsource", "simulator/objects"},
	"simulator/definitions":                              {"simulator/objects"},
	"simulator/kueue/admission":                          {"simulator/kueue/api"},
	"simulator/kueue/api":                                nil,
	"simulator/kueue/configuration":                      {"simulator/kueue/admission", "scheduler/yamlsource"},
	"simulator/kubeconfig":                               nil,
	"simulator/lesson":                                   {"scheduler/config", "scheduler/result", "scheduler/whatif", "simulator/objects", "simulator/scenario", "scheduler/yamlsource"},
	"simulator/lesson/live":                              {"scheduler/result", "scheduler/whatif", "simulator/lesson", "simulator/scenario", "simulator/scenario/oncluster"},
	"simulator/kueue/control":                            {"scheduler/customresource", "simulator/kueue/admission", "simulator/kueue/api", "simulator/kueue/jobs", "simulator/kueue/suggest", "simulator/objects"},
	"simulator/kueue/conversion":                         nil,
	"simulator/kueue/intake":                             {"simulator/kueue/api", "simulator/kueue/conversion", "simulator/kueue/jobs"},
	"simulator/kueue/jobs":                               {"simulator/kueue/api"},
	"simulator/kueue/ledger":                             {"simulator/kueue/admission", "simulator/recordlog"},
	"simulator/kueue/suggest":                            {"simulator/kueue/admission", "simulator/kueue/api"},
	"simulator/kueue/visibility":                         {"simulator/kueue/admission"},
	"simulator/connections":                              nil,
	"simulator/controlplane":                             {"scheduler/sharedpods", "simulator/connections", "simulator/controlplane/controllers", "simulator/controlplane/internal/etcddata", "simulator/datadir", "simulator/objects", "simulator/outbound", "simulator/kueue/conversion", "simulator/kueue/intake"},
	"simulator/outbound":                                 nil,
	"simulator/controlplane/controllers":                 {"scheduler/customresource", "scheduler/plugins/capacityscheduling/v1alpha1", "scheduler/plugins/coscheduling/v1alpha1", "scheduler/sharedpods", "scheduler/standin", "simulator/controlplane/controllers/kubecontrollers", "simulator/objects"},
	"simulator/controlplane/controllers/kubecontrollers": nil,
	"simulator/controlplane/controllers/kubecontrollers/upstreamtest": nil,
	"simulator/controlplane/external":                                 {"simulator/datadir", "simulator/kubeconfig"},
	"simulator/controlplane/internal/etcddata":                        {"simulator/datadir"},
	"simulator/crash":                          nil,
	"simulator/datadir":                        nil,
	"simulator/admission":                      {"simulator/definitions", "simulator/objects"},
	"simulator/ask":                            {"scheduler/config", "scheduler/explain", "scheduler/result", "scheduler/session", "scheduler/whatif", "scheduler/whatif/capacity", "scheduler/whatif/fit", "simulator/hypothesis", "simulator/objects", "simulator/transfer/manifest"},
	"simulator/standalone":                     {"scheduler/config", "scheduler/whatif", "scheduler/whatif/capacity", "simulator/admission", "simulator/ask", "simulator/hypothesis", "simulator/mirror", "simulator/objects", "simulator/replay", "simulator/transfer/manifest", "simulator/virtualnode", "scheduler/standin"},
	"simulator/virtualnode":                    {"scheduler/customresource", "scheduler/plugins/noderesourcetopology/v1alpha2", "simulator/objects", "scheduler/standin", "scheduler/templatecost", "scheduler/yamlsource"},
	"simulator/openb":                          nil,
	"simulator/fanout":                         {"scheduler/annotation", "simulator/runner", "simulator/scenario"},
	"simulator/runner":                         {"scheduler/config", "scheduler/result", "scheduler/shadow", "simulator/datadir", "simulator/replay", "simulator/report", "simulator/scenario", "simulator/scenario/*"},
	"simulator/runs":                           {"scheduler/config", "simulator/runner", "simulator/scenario", "scheduler/yamlsource"},
	"simulator/sessions":                       {"scheduler/config", "scheduler/flow", "scheduler/result", "scheduler/session", "scheduler/whatif", "simulator/datadir", "simulator/recordlog"},
	"simulator/scenario":                       {"scheduler/config", "scheduler/explain", "scheduler/result", "scheduler/shadow", "scheduler/yamlsource", "simulator/objects", "simulator/openb", "scheduler/celcost", "scheduler/templatecost"},
	"simulator/scenario/inmemory":              {"scheduler/config", "scheduler/feed", "scheduler/flow", "scheduler/result", "scheduler/session", "scheduler/simulation", "scheduler/whatif", "simulator/admission", "simulator/scenario", "simulator/sessions", "simulator/virtualnode"},
	"simulator/scenario/oncluster":             {"scheduler/config", "scheduler/result", "scheduler/standin", "simulator/scenario"},
	"simulator/scenario/report":                {"simulator/scenario"},
	"simulator/recordlog":                      {"scheduler/blockfile"},
	"simulator/replay":                         {"scheduler", "scheduler/blockfile", "scheduler/result", "scheduler/watchfilter", "simulator/objects"},
	"simulator/replay/session":                 {"simulator/replay", "simulator/server"},
	"simulator/replay/capture":                 {"simulator/kubeconfig", "simulator/mirror", "simulator/redact", "simulator/replay"},
	"simulator/redact":                         {"scheduler/result", "simulator/objects"},
	"simulator/transfer":                       {"simulator/objects", "simulator/transfer/manifest", "scheduler/yamlsource"},
	"simulator/transfer/roundtrip":             nil,
	"simulator/transfer/manifest":              {"simulator/objects", "scheduler/yamlsource"},
	"simulator/mirror":                         {"simulator/kubeconfig", "simulator/objects", "simulator/redact"},
	"simulator/mirror/following":               {"simulator/datadir", "simulator/mirror", "simulator/redact", "simulator/server", "simulator/transfer", "simulator/transfer/manifest"},
	"simulator/report":                         {"scheduler/explain", "scheduler/result", "simulator/lesson", "simulator/redact", "simulator/scenario", "simulator/version"},
	"simulator/timeline":                       {"scheduler/blockfile", "scheduler/result", "simulator/datadir", "simulator/objects", "simulator/replay", "simulator/transfer", "simulator/transfer/manifest", "scheduler/yamlsource"},
	"simulator/version":                        nil,
	"simulator/heap":                           nil,
	"simulator/branch":                         {"simulator/datadir", "scheduler/yamlsource"},
	"simulator/branch/comparison":              {"scheduler/config"},
	"simulator/bench":                          {"scheduler", "scheduler/annotation", "scheduler/config", "scheduler/plugins", "scheduler/plugins/capacityscheduling/v1alpha1", "scheduler/plugins/coscheduling/v1alpha1", "scheduler/plugins/noderesourcetopology/v1alpha2", "scheduler/result", "scheduler/resultstore", "simulator/controlplane", "simulator/definitions", "simulator/openb", "simulator/timeline"},
	"simulator/server":                         {"scheduler/result", "scheduler/explain", "scheduler/config", "scheduler/yamlsource", "scheduler/shadow", "scheduler/whatif", "scheduler/whatif/*", "simulator/connections", "simulator/hypothesis", "simulator/objects", "simulator/redact", "simulator/replay", "simulator/transfer", "simulator/transfer/manifest", "simulator/server/watch", "simulator/definitions", "simulator/kueue/admission", "simulator/kueue/api", "simulator/kueue/configuration", "simulator/kueue/control", "simulator/kueue/ledger", "simulator/kueue/suggest", "simulator/lesson", "simulator/report", "simulator/runs", "simulator/scenario", "scheduler/flow", "scheduler/session", "simulator/sessions", "simulator/branch", "simulator/branch/comparison", "simulator/timeline"},
	"simulator/server/watch":                   {"scheduler/result", "simulator/objects"},
	"simulator/server/watch/watchtest":         nil,
	"simulator/transfer/manifest/manifesttest": {"simulator/transfer/manifest"},
	"simulator/app":                            {"scheduler", "scheduler/*", "simulator/controlplane", "simulator/controlplane/*", "simulator/crash", "simulator/datadir", "simulator/definitions", "simulator/virtualnode", "simulator/kubeconfig", "simulator/mirror", "simulator/mirror/following", "simulator/objects", "simulator/outbound", "simulator/redact", "simulator/replay", "simulator/replay/session", "simulator/server", "simulator/transfer", "simulator/transfer/manifest", "simulator/version", "web", "simulator/hypothesis", "simulator/kueue/*", "simulator/lesson", "simulator/lesson/live", "simulator/runs", "simulator/scenario", "simulator/scenario/inmemory", "simulator/scenario/oncluster", "simulator/sessions", "simulator/branch", "simulator/branch/comparison", "simulator/timeline"},
	"simulator/systemtest":                     nil,
	"simulator/command":                        {"scheduler/whatif", "scheduler/whatif/capacity", "simulator/app", "simulator/ask", "simulator/bench", "simulator/fanout", "simulator/heap", "simulator/hypothesis", "simulator/mirror", "simulator/mirror/following", "simulator/kubeconfig", "simulator/quiet", "simulator/replay", "simulator/replay/capture", "simulator/replay/session", "simulator/standalone", "simulator/version", "simulator/runner", "simulator/scenario", "simulator/scenario/inmemory", "simulator/datadir", "simulator/lesson", "scheduler/config", "web", "scheduler/yamlsource"},
	"simulator/kubectltest":                    nil,
	"simulator/clustertest":                    nil,
	"simulator/quiet":                          nil,
	"simulator/docs":                           nil,
	"simulator/examples/plugin":                {"simulator/command", "scheduler/examples/zonequota"},
	"simulator/cmd/simulator":                  {"simulator/command"},
	"simulator":                                nil,
	"web":                                      nil,
	"scheduler/whatif/capacity":                {"scheduler/explain", "scheduler/plugins/coscheduling/v1alpha1", "scheduler/whatif", "scheduler/whatif/newnode"},
	"scheduler/whatif/fit":                     {"scheduler/annotation", "scheduler/explain", "scheduler/podrequest", "scheduler/result", "scheduler/whatif", "scheduler/whatif/newnode"},
	"scheduler/whatif/livetest":                {"scheduler", "scheduler/config", "scheduler/result", "scheduler/schedulertest", "scheduler/whatif"},
	"scheduler/whatif/newnode":                 {"scheduler/explain", "scheduler/standin"},
	"scheduler/claims":                         nil,
}

// testPackages are the packages that all tests may import.
var testPackages = []string{"scheduler/schedulertest", "scheduler/yamlsource/bombs", "simulator/clustertest", "simulator/kubectltest", "simulator/quiet", "simulator/transfer/manifest/manifesttest"}

// testArrows lists further imports that are allowed in the tests of a package.
var testArrows = map[string][]string{
	"simulator/app":                   {"simulator/objects", "simulator/replay/capture"},
	"simulator/bench":                 {"simulator/scenario", "simulator/scenario/inmemory", "simulator/scenario/report"},
	"simulator/command":               {"scheduler/examples/zonequota"},
	"scheduler":                       {"scheduler/examples/extender/reservation", "scheduler/explain", "scheduler/simulation", "scheduler/whatif"},
	"scheduler/recorder/comparison":   {"scheduler/explain", "scheduler/plugins/noderesourcetopology/v1alpha2"},
	"scheduler/recorder":              {"scheduler/recorder/comparison", "scheduler/resultstore"},
	"scheduler/simulation":            {"scheduler/config"},
	"scheduler/whatif":                {"scheduler/config", "scheduler/feed", "scheduler/whatif/livetest"},
	"scheduler/plugins/directed":      {"scheduler/plugins"},
	"scheduler/plugins":               {"scheduler/examples/zonequota", "scheduler", "scheduler/pluginfact", "scheduler/annotation", "scheduler/config", "scheduler/recorder", "scheduler/result", "scheduler/explain", "scheduler/plugins/capacityscheduling/v1alpha1", "scheduler/plugins/coscheduling/v1alpha1", "scheduler/whatif", "scheduler/whatif/capacity", "scheduler/whatif/fit"},
	"simulator/redact":                {"scheduler/config"},
	"simulator/controlplane/external": {"simulator/controlplane"},
	"simulator/hypothesis":            {"simulator/controlplane"},
	"simulator/mirror":                {"simulator/controlplane", "simulator/virtualnode"},
	"simulator/virtualnode":           {"simulator/controlplane"},
	"simulator/transfer/roundtrip":    {"simulator/controlplane", "simulator/objects", "simulator/transfer", "simulator/transfer/manifest", "simulator/virtualnode"},
	"simulator/controlplane/controllers/kubecontrollers/upstreamtest": {"simulator/controlplane/controllers/kubecontrollers"},
	"simulator/fanout":            {"scheduler/config", "simulator/scenario/inmemory"},
	"simulator/lesson":            {"simulator/scenario/inmemory"},
	"simulator/scenario/inmemory": {"scheduler/plugins"},
	"simulator/runs":              {"simulator/scenario/inmemory"},
	"simulator/server":            {"simulator/server/watch/watchtest"},
	"simulator/server/watch":      {"simulator/server/watch/watchtest"},
	"simulator/systemtest":        {"simulator/branch", "simulator/branch/comparison", "simulator/objects"},
	"scheduler/whatif/capacity":   {"scheduler/config", "scheduler/whatif/livetest", "scheduler/whatif/newnode"},
	"scheduler/whatif/fit":        {"scheduler/config", "scheduler/whatif/livetest"},
	"scheduler/claims":            {"scheduler", "scheduler/*"},
}

func TestImportsFlowOneWay(t *testing.T) {
	root := ".."
	seen := map[string]bool{}
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() && (d.Name() == "node_modules" || d.Name() == "testdata" || (strings.HasPrefix(d.Name(), ".") && path != root)) {
			return filepath.SkipDir
		}
		if d.IsDir() && path != root {
			if _, err := os.Stat(filepath.Join(path, "go.mod")); err == nil {
				return filepath.SkipDir // a module of its own
			}
		}
		if filepath.Ext(path) != ".go" {
			return nil
		}
		dir, err := filepath.Rel(root, filepath.Dir(path))
		if err != nil {
			return err
		}
		from := filepath.ToSlash(dir)
		allowed, known := arrows[from]
		if !known {
			t.Errorf("%s is not in the table of arrows", from)
			return nil
		}
		seen[from] = true
		if strings.HasSuffix(path, "_test.go") {
			allowed = slices.Concat([]string{from}, testPackages, allowed, testArrows[from])
		}
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.ImportsOnly)
		if err != nil {
			return err
		}
		for _, spec := range file.Imports {
			imported, err := strconv.Unquote(spec.Path.Value)
			if err != nil {
				return err
			}
			if within(imported, controllerManager) && from != upstreamTest {
				t.Errorf("%s imports %s: only %s may, because it would add controllers and volume plugins that never run here", path, imported, upstreamTest)
			}
			to, ours := strings.CutPrefix(imported, module)
			if ours && !permits(allowed, to) {
				t.Errorf("%s imports %s", path, to)
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	for from := range arrows {
		if !seen[from] {
			t.Errorf("the table of arrows lists %s, which does not exist", from)
		}
	}
}

// within reports whether the package is root or below it.
func within(imported, root string) bool {
	return imported == root || strings.HasPrefix(imported, root+"/")
}

func permits(allowed []string, to string) bool {
	for _, pattern := range allowed {
		if pattern == to || (strings.HasSuffix(pattern, "/*") && strings.HasPrefix(to, strings.TrimSuffix(pattern, "*"))) {
			return true
		}
	}
	return false
}
