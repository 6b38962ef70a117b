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
	upstreamTest      = "simulator/cluster/controlplane/controllers/kubecontrollers/upstreamtest"
	kueueModule       = "sigs.k8s.io/kueue"
	karpenterModule   = "sigs.k8s.io/karpenter"
	autoscaling       = "simulator/autoscaling"
	deschedulerModule = "sigs.k8s.io/descheduler"
	deschedulerOurs   = "simulator/cluster/descheduler"
)

// karpenterDefinitions have the definitions of its kinds.
var karpenterDefinitions = []string{karpenterModule + "/pkg/apis", karpenterModule + "/kwok/apis"}

// karpenterApart are packages of Karpenter that no package may import: the first takes over the process's logs, metrics and arguments, and
// the others choose at random and report requests as capacity.
var karpenterApart = []string{karpenterModule + "/pkg/operator", karpenterModule + "/kwok/cloudprovider"}

// kueuePackages are those of Kueue's module that we import: its types, names and conversions. What decides is ours.
var kueuePackages = []string{
	kueueModule + "/apis/kueue/v1beta1", kueueModule + "/apis/kueue/v1beta2", kueueModule + "/apis/visibility/v1beta2",
	kueueModule + "/apis/config/v1beta1", kueueModule + "/apis/config/v1beta2",
	kueueModule + "/pkg/constants", kueueModule + "/pkg/controller/constants", kueueModule + "/pkg/controller/jobs/pod/constants", kueueModule + "/pkg/util/tas",
}

// arrows lists the imports that are allowed between our packages. A package that is not
// listed may import none. Tests may also import testPackages and the imports of their
// package.
var arrows = map[string][]string{
	"scheduler/result":                                           nil,
	"scheduler/internal/upstream":                                {"scheduler/internal/preemptioncriteria"},
	"scheduler/internal/preemptioncriteria":                      nil,
	"scheduler/internal/upstream/contract":                       nil,
	"scheduler/others/flow":                                      {"scheduler/config", "scheduler/result", "scheduler/whatif"},
	"scheduler/builtin":                                          nil,
	"scheduler/guard":                                            nil,
	"scheduler/customresource":                                   {"scheduler/watchfilter"},
	"scheduler/pluginfact":                                       nil,
	"scheduler/podrequest":                                       {"scheduler/result"},
	"scheduler/recorder":                                         {"scheduler/guard", "scheduler/result", "scheduler/pluginfact", "scheduler/internal/upstream"},
	"scheduler/recorder/comparison":                              {"scheduler/internal/upstream", "scheduler/podrequest", "scheduler/plugins/noderesourcetopology", "scheduler/recorder", "scheduler/result"},
	"scheduler/blockfile":                                        nil,
	"scheduler/resultstore":                                      {"scheduler/blockfile", "scheduler/result"},
	"scheduler/annotation":                                       {"scheduler/result"},
	"scheduler/explain":                                          {"scheduler/result"},
	"scheduler/schedulertest":                                    {"scheduler/memory", "scheduler/pluginfact"},
	"scheduler/watchfilter":                                      nil,
	"scheduler/yamlsource":                                       nil,
	"scheduler/yamlsource/bombs":                                 nil,
	"scheduler/celcost":                                          {"scheduler/patterncost"},
	"scheduler/patterncost":                                      nil,
	"scheduler/templatecost":                                     nil,
	"scheduler/config":                                           {"scheduler/internal/upstream", "scheduler/plugins/argument", "scheduler/yamlsource"},
	"scheduler/config/adopt":                                     {"scheduler/config", "scheduler/yamlsource"},
	"scheduler/extender":                                         {"scheduler/guard", "scheduler/internal/upstream", "scheduler/result"},
	"scheduler/examples/extender":                                {"scheduler/examples/extender/reservation"},
	"scheduler/examples/extender/reservation":                    nil,
	"scheduler/plugins":                                          {"scheduler/plugins/argument", "scheduler/plugins/capacityscheduling", "scheduler/plugins/cel", "scheduler/plugins/coscheduling", "scheduler/plugins/noderesourcetopology"},
	"scheduler/plugins/argument":                                 {"scheduler/yamlsource"},
	"scheduler/plugins/capacityscheduling":                       {"scheduler/customresource", "scheduler/pluginfact", "scheduler/plugins/capacityscheduling/v1alpha1", "scheduler/plugins/follow", "scheduler/result"},
	"scheduler/plugins/capacityscheduling/v1alpha1":              nil,
	"scheduler/plugins/directed":                                 {"scheduler/plugins/noderesourcetopology/v1alpha2"},
	"scheduler/plugins/follow":                                   nil,
	"scheduler/plugins/noderesourcetopology":                     {"scheduler/customresource", "scheduler/plugins/argument", "scheduler/plugins/follow", "scheduler/plugins/noderesourcetopology/v1alpha2"},
	"scheduler/plugins/noderesourcetopology/v1alpha2":            nil,
	"scheduler/plugins/cel":                                      {"scheduler/pluginfact", "scheduler/plugins/argument", "scheduler/celcost"},
	"scheduler/plugins/coscheduling":                             {"scheduler/customresource", "scheduler/pluginfact", "scheduler/plugins/argument", "scheduler/plugins/coscheduling/v1alpha1", "scheduler/result"},
	"scheduler/plugins/coscheduling/v1alpha1":                    nil,
	"scheduler/examples/zonequota":                               {"scheduler/pluginfact", "scheduler/plugins/argument"},
	"scheduler":                                                  {"scheduler/feed", "scheduler/guard", "scheduler/result", "scheduler/pluginfact", "scheduler/recorder", "scheduler/recorder/comparison", "scheduler/resultstore", "scheduler/annotation", "scheduler/config", "scheduler/extender", "scheduler/internal/upstream", "scheduler/customresource", "scheduler/sharedpods", "scheduler/tieseed"},
	"scheduler/feed":                                             nil,
	"scheduler/simulation":                                       {"scheduler/builtin", "scheduler/guard", "scheduler/internal/upstream", "scheduler/memory", "scheduler/recorder", "scheduler/recorder/comparison", "scheduler/result", "scheduler/resultstore", "scheduler/standin", "scheduler/tieseed", "scheduler/versions/proxy"},
	"scheduler/sharedpods":                                       nil,
	"scheduler/standin":                                          {"scheduler/annotation"},
	"scheduler/tieseed":                                          {"scheduler/pluginfact", "scheduler/result"},
	"scheduler/memory":                                           {"scheduler/builtin"},
	"scheduler/versions":                                         {"scheduler/versions/wire"},
	"scheduler/versions/proxy":                                   {"scheduler/config", "scheduler/versions", "scheduler/versions/wire"},
	"scheduler/versions/wire":                                    nil,
	"scheduler/versions/decide":                                  {"scheduler/internal/preemptioncriteria", "scheduler/memory", "scheduler/versions/wire"},
	"scheduler/versions/scheduler":                               {"scheduler/versions/decide"},
	"scheduler/whatif":                                           {"scheduler/builtin", "scheduler/explain", "scheduler/extender", "scheduler/feed", "scheduler/guard", "scheduler/internal/upstream", "scheduler/memory", "scheduler/recorder", "scheduler/recorder/comparison", "scheduler/result", "scheduler/standin", "scheduler/whatif/newnode", "scheduler/versions", "scheduler/versions/proxy"},
	"scheduler/others/session":                                   {"scheduler/config", "scheduler/result", "scheduler/whatif", "scheduler/yamlsource"},
	"scheduler/shadow":                                           {"scheduler/config", "scheduler/feed", "scheduler/result", "scheduler/whatif"},
	"scheduler/supervisor":                                       {"scheduler", "scheduler/config", "scheduler/recorder", "scheduler/result", "scheduler/sharedpods"},
	"simulator/cluster/objects":                                  {"scheduler/annotation", "scheduler/standin"},
	"simulator/questions/hypothesis":                             {"scheduler/builtin", "scheduler/feed", "simulator/cluster/objects", "scheduler/config", "scheduler/explain", "scheduler/memory", "scheduler/others/flow", "scheduler/others/session", "scheduler/result", "scheduler/whatif", "scheduler/whatif/*", "scheduler/yamlsource", "simulator/elsewhere/transfer/manifest", "scheduler/versions"},
	"simulator/cluster/definitions":                              {"simulator/cluster/objects"},
	"simulator/batch/kueue/admission":                            nil,
	"simulator/batch/kueue/configuration":                        {"simulator/batch/kueue/admission", "scheduler/yamlsource"},
	"simulator/host/kubeconfig":                                  nil,
	"simulator/lesson":                                           {"scheduler/config", "scheduler/result", "scheduler/whatif", "scheduler/yamlsource", "simulator/cluster/objects", "simulator/scenarios/decoder", "simulator/scenarios/scenario"},
	"simulator/lesson/live":                                      {"scheduler/result", "scheduler/whatif", "simulator/lesson", "simulator/scenarios/oncluster", "simulator/scenarios/scenario"},
	"simulator/batch/kueue/control":                              {"scheduler/customresource", "simulator/batch/kueue/admission", "simulator/batch/kueue/jobs", "simulator/batch/kueue/suggest", "simulator/cluster/objects"},
	"simulator/batch/kueue/conversion":                           nil,
	"simulator/batch/kueue/forward":                              {"simulator/batch/kueue/admission"},
	"simulator/batch/kueue/kueuetest":                            {"simulator/batch/kueue/admission"},
	"simulator/batch/kueue/intake":                               {"simulator/batch/kueue/conversion", "simulator/batch/kueue/jobs"},
	"simulator/batch/kueue/jobs":                                 nil,
	"simulator/batch/kueue/ledger":                               {"simulator/batch/kueue/admission", "simulator/host/recordlog"},
	"simulator/batch/kueue/suggest":                              {"simulator/batch/kueue/admission", "simulator/batch/kueue/forward"},
	"simulator/batch/kueue/visibility":                           {"simulator/batch/kueue/admission"},
	"simulator/autoscaling/instances":                            {"scheduler/yamlsource", "simulator/cluster/objects"},
	"simulator/autoscaling/live":                                 {"scheduler/customresource", "simulator/autoscaling/instances", "simulator/autoscaling/provider", "simulator/cluster/manager", "simulator/cluster/objects"},
	"simulator/autoscaling/provisioning":                         {"simulator/autoscaling/dryrun", "simulator/autoscaling/live", "simulator/cluster/objects"},
	"simulator/autoscaling/provider":                             {"simulator/autoscaling/instances", "simulator/cluster/objects"},
	"simulator/autoscaling/dryrun":                               {"simulator/autoscaling/instances", "simulator/autoscaling/provider"},
	"simulator/autoscaling/stepwise":                             {"simulator/autoscaling/dryrun", "simulator/autoscaling/instances", "simulator/autoscaling/provider"},
	"simulator/batch/operators":                                  {"simulator/cluster/definitions", "simulator/cluster/manager"},
	"simulator/cluster/manager":                                  nil,
	"simulator/host/connections":                                 nil,
	"simulator/cluster/controlplane":                             {"scheduler/sharedpods", "simulator/cluster/controlplane/controllers", "simulator/cluster/controlplane/internal/etcddata", "simulator/cluster/objects", "simulator/cluster/outbound", "simulator/host/connections", "simulator/host/datadir"},
	"simulator/cluster/outbound":                                 nil,
	"simulator/cluster/controlplane/controllers":                 {"scheduler/customresource", "scheduler/plugins/capacityscheduling/v1alpha1", "scheduler/plugins/coscheduling/v1alpha1", "scheduler/sharedpods", "scheduler/standin", "simulator/cluster/controlplane/controllers/kubecontrollers", "simulator/cluster/objects"},
	"simulator/cluster/controlplane/controllers/kubecontrollers": nil,
	"simulator/cluster/controlplane/controllers/kubecontrollers/upstreamtest": nil,
	"simulator/cluster/controlplane/external":                                 {"simulator/host/datadir", "simulator/host/kubeconfig"},
	"simulator/cluster/controlplane/internal/etcddata":                        {"simulator/host/datadir"},
	"simulator/host/crash":                                                    nil,
	"simulator/host/datadir":                                                  nil,
	"simulator/cluster/eviction":                                              nil,
	"simulator/cluster/storedform":                                            {"simulator/cluster/definitions", "simulator/cluster/objects"},
	"simulator/questions/ask":                                                 {"scheduler/config", "scheduler/explain", "scheduler/others/session", "scheduler/result", "scheduler/whatif", "scheduler/whatif/capacity", "scheduler/whatif/fit", "simulator/batch/kueue/admission", "simulator/batch/kueue/suggest", "simulator/cluster/objects", "simulator/elsewhere/transfer/manifest", "simulator/questions/autoscale", "simulator/questions/deschedule", "simulator/questions/drain", "simulator/questions/hypothesis", "simulator/questions/submit", "simulator/questions/upgrade", "simulator/questions/why", "simulator/scenarios/runs"},
	"simulator/agents":                                                        {"scheduler/config", "scheduler/explain", "scheduler/result", "scheduler/shadow", "scheduler/whatif", "scheduler/whatif/capacity", "scheduler/yamlsource", "simulator/batch/kueue/admission", "simulator/batch/kueue/suggest", "simulator/questions/ask", "simulator/questions/autoscale", "simulator/questions/deschedule", "simulator/questions/disruption", "simulator/questions/drain", "simulator/questions/hypothesis", "simulator/questions/submit", "simulator/questions/why", "simulator/scenarios/report", "simulator/scenarios/runs", "simulator/scenarios/scenario"},
	"simulator/questions/submit":                                              {"scheduler/explain", "scheduler/whatif", "simulator/batch/kueue/*", "simulator/cluster/objects", "simulator/questions/hypothesis", "simulator/questions/why"},
	"simulator/questions/upgrade":                                             {"scheduler/config", "scheduler/feed", "scheduler/versions", "scheduler/versions/wire", "simulator/cireport", "scheduler/versions/proxy"},
	"simulator/questions/autoscale":                                           {"scheduler/result", "scheduler/whatif", "simulator/autoscaling/dryrun", "simulator/autoscaling/instances", "simulator/autoscaling/provider", "simulator/questions/hypothesis", "simulator/questions/why"},
	"simulator/questions/disruption":                                          {"simulator/cluster/eviction", "simulator/cluster/objects", "scheduler/result", "scheduler/whatif", "simulator/questions/why"},
	"simulator/cluster/descheduler":                                           {"scheduler/yamlsource"},
	"simulator/questions/deschedule":                                          {"scheduler/config", "scheduler/whatif", "scheduler/yamlsource", "simulator/cluster/descheduler", "simulator/questions/disruption", "simulator/questions/hypothesis", "simulator/questions/why"},
	"simulator/questions/drain":                                               {"simulator/cluster/eviction", "simulator/cluster/objects", "scheduler/whatif", "simulator/questions/disruption", "simulator/questions/hypothesis", "simulator/questions/why"},
	"simulator/questions/why":                                                 {"scheduler/explain", "scheduler/result", "scheduler/whatif", "scheduler/whatif/*", "scheduler/yamlsource", "simulator/questions/hypothesis"},
	"simulator/questions/standalone":                                          {"scheduler/config", "scheduler/memory", "scheduler/result", "scheduler/standin", "scheduler/whatif", "scheduler/whatif/fit", "simulator/cluster/objects", "simulator/cluster/storedform", "simulator/cluster/virtualnode", "simulator/elsewhere/mirror", "simulator/elsewhere/transfer/manifest", "simulator/batch/kueue/admission", "simulator/past/replay", "simulator/questions/ask", "simulator/questions/autoscale", "simulator/questions/drain", "simulator/questions/hypothesis", "simulator/questions/submit", "simulator/questions/upgrade", "simulator/questions/why", "scheduler/versions/wire", "simulator/questions/deschedule", "simulator/questions/disruption"},
	"simulator/cluster/virtualnode":                                           {"scheduler/customresource", "scheduler/patterncost", "scheduler/plugins/noderesourcetopology/v1alpha2", "simulator/cluster/objects", "scheduler/standin", "scheduler/templatecost", "scheduler/yamlsource"},
	"simulator/scenarios/decoder":                                             {"scheduler/yamlsource"},
	"simulator/scenarios/perf":                                                {"scheduler/result", "scheduler/templatecost", "scheduler/yamlsource", "simulator/cluster/objects", "simulator/scenarios/decoder", "simulator/scenarios/scenario"},
	"simulator/scenarios/draft":                                               {"scheduler/builtin", "scheduler/config", "scheduler/result", "scheduler/simulation", "simulator/cluster/objects", "simulator/elsewhere/transfer", "simulator/past/timeline", "simulator/scenarios/inmemory", "simulator/scenarios/scenario"},
	"simulator/scenarios/openb":                                               nil,
	"simulator/command/fanout":                                                {"scheduler/annotation", "simulator/command/runner", "simulator/scenarios/scenario"},
	"simulator/command/runner":                                                {"scheduler/config", "scheduler/shadow", "simulator/host/datadir", "simulator/host/process", "simulator/htmlreport", "simulator/past/replay", "simulator/scenarios/perf", "simulator/scenarios/report", "simulator/scenarios/scenario"},
	"simulator/scenarios/runs":                                                {"scheduler/config", "scheduler/yamlsource", "simulator/host/process", "simulator/scenarios/scenario"},
	"simulator/batch/sessions":                                                {"scheduler/config", "scheduler/others/flow", "scheduler/result", "scheduler/others/session", "scheduler/whatif", "simulator/host/datadir", "simulator/host/recordlog"},
	"simulator/scenarios/scenario":                                            {"scheduler/builtin", "scheduler/celcost", "scheduler/config", "scheduler/explain", "scheduler/podrequest", "scheduler/result", "scheduler/shadow", "scheduler/yamlsource", "simulator/cluster/descheduler", "simulator/cluster/eviction", "simulator/cluster/objects", "simulator/scenarios/decoder", "simulator/scenarios/openb", "simulator/autoscaling/instances", "simulator/autoscaling/stepwise", "scheduler/versions"},
	"simulator/scenarios/inmemory":                                            {"scheduler/config", "scheduler/feed", "scheduler/others/flow", "scheduler/result", "scheduler/others/session", "scheduler/simulation", "scheduler/whatif", "simulator/cluster/storedform", "simulator/scenarios/scenario", "simulator/batch/sessions", "simulator/cluster/virtualnode", "simulator/autoscaling/stepwise", "scheduler/versions/proxy"},
	"simulator/scenarios/oncluster":                                           {"scheduler/config", "scheduler/result", "scheduler/standin", "simulator/scenarios/scenario"},
	"simulator/cireport":                                                      nil,
	"simulator/kubectl":                                                       {"scheduler/config", "scheduler/plugins", "scheduler/plugins/argument", "simulator/agents", "simulator/elsewhere/mirror", "simulator/host/process", "simulator/host/version", "simulator/questions/ask", "simulator/questions/autoscale", "simulator/questions/deschedule", "simulator/questions/drain", "simulator/questions/hypothesis", "simulator/questions/submit", "simulator/questions/report", "simulator/questions/standalone", "simulator/questions/why"},
	"simulator/cmd/kubectl-why":                                               {"simulator/kubectl"},
	"simulator/questions/report":                                              {"simulator/cireport", "simulator/questions/submit", "simulator/questions/why"},
	"simulator/scenarios/report":                                              {"simulator/autoscaling/stepwise", "simulator/cireport", "simulator/scenarios/scenario"},
	"simulator/host/recordlog":                                                {"scheduler/blockfile"},
	"simulator/past/placement":                                                {"scheduler/explain", "scheduler/result", "simulator/cluster/objects", "simulator/past/clusterdiff", "simulator/past/replay"},
	"simulator/past/replay":                                                   {"scheduler", "scheduler/blockfile", "scheduler/explain", "scheduler/result", "scheduler/watchfilter", "scheduler/yamlsource", "simulator/cluster/objects"},
	"simulator/past/playback":                                                 {"simulator/host/datadir", "simulator/host/operation", "simulator/past/replay"},
	"simulator/past/capture":                                                  {"simulator/host/kubeconfig", "simulator/elsewhere/mirror", "simulator/elsewhere/redact", "simulator/past/replay"},
	"simulator/elsewhere/redact":                                              {"scheduler/result", "simulator/cluster/objects"},
	"simulator/elsewhere/transfer":                                            {"simulator/cluster/objects", "simulator/elsewhere/transfer/manifest", "scheduler/yamlsource", "simulator/host/datadir"},
	"simulator/elsewhere/transfer/roundtrip":                                  nil,
	"simulator/elsewhere/transfer/manifest":                                   {"simulator/cluster/objects", "scheduler/yamlsource"},
	"simulator/elsewhere/mirror":                                              {"simulator/host/kubeconfig", "simulator/cluster/objects", "simulator/elsewhere/redact"},
	"simulator/elsewhere/mirror/following":                                    {"simulator/elsewhere/mirror", "simulator/elsewhere/redact", "simulator/elsewhere/transfer", "simulator/elsewhere/transfer/manifest", "simulator/host/datadir", "simulator/host/operation"},
	"simulator/htmlreport":                                                    {"scheduler/explain", "scheduler/result", "simulator/lesson", "simulator/elsewhere/redact", "simulator/scenarios/scenario", "simulator/host/process", "simulator/host/version"},
	"simulator/past/timeline":                                                 {"scheduler/blockfile", "scheduler/podrequest", "scheduler/result", "scheduler/yamlsource", "simulator/cluster/objects", "simulator/elsewhere/transfer", "simulator/elsewhere/transfer/manifest", "simulator/host/datadir", "simulator/past/replay"},
	"simulator/host/version":                                                  nil,
	"simulator/host/process":                                                  {"simulator/host/version"},
	"simulator/past/branch":                                                   {"scheduler/yamlsource", "simulator/host/datadir"},
	"simulator/past/clusterdiff":                                              {"scheduler/config", "simulator/past/branch"},
	"simulator/bench":                                                         {"scheduler", "scheduler/annotation", "scheduler/config", "scheduler/plugins", "scheduler/plugins/capacityscheduling/v1alpha1", "scheduler/plugins/coscheduling/v1alpha1", "scheduler/plugins/noderesourcetopology/v1alpha2", "scheduler/result", "scheduler/resultstore", "simulator/batch/kueue/admission", "simulator/batch/kueue/forward", "simulator/cluster/controlplane", "simulator/cluster/definitions", "simulator/scenarios/openb", "simulator/past/timeline"},
	"simulator/server":                                                        {"scheduler/config", "scheduler/explain", "scheduler/others/flow", "scheduler/others/session", "scheduler/result", "scheduler/shadow", "scheduler/whatif", "scheduler/whatif/*", "scheduler/yamlsource", "simulator/autoscaling/live", "simulator/batch/kueue/admission", "simulator/batch/kueue/configuration", "simulator/batch/kueue/control", "simulator/batch/kueue/ledger", "simulator/batch/kueue/suggest", "simulator/batch/sessions", "simulator/cluster/definitions", "simulator/elsewhere/mirror", "simulator/elsewhere/redact", "simulator/elsewhere/transfer", "simulator/elsewhere/transfer/manifest", "simulator/host/connections", "simulator/host/datadir", "simulator/host/operation", "simulator/host/process", "simulator/htmlreport", "simulator/lesson", "simulator/past/branch", "simulator/past/clusterdiff", "simulator/past/placement", "simulator/past/replay", "simulator/past/timeline", "simulator/questions/autoscale", "simulator/questions/drain", "simulator/questions/hypothesis", "simulator/questions/submit", "simulator/questions/why", "simulator/scenarios/draft", "simulator/scenarios/runs", "simulator/scenarios/scenario", "simulator/server/watch", "simulator/questions/upgrade", "scheduler/versions", "simulator/questions/deschedule"},
	"simulator/server/watch":                                                  {"scheduler/result", "simulator/cluster/objects"},
	"simulator/server/watch/watchtest":                                        {"scheduler/result"},
	"simulator/elsewhere/transfer/manifest/manifesttest":                      {"simulator/elsewhere/transfer/manifest"},
	"simulator/app":                                                           {"scheduler", "scheduler/*", "simulator/agents", "simulator/autoscaling/*", "simulator/batch/kueue/*", "simulator/batch/operators", "simulator/batch/sessions", "simulator/cluster/controlplane", "simulator/cluster/controlplane/*", "simulator/cluster/definitions", "simulator/cluster/objects", "simulator/cluster/outbound", "simulator/cluster/virtualnode", "simulator/elsewhere/mirror", "simulator/elsewhere/mirror/following", "simulator/elsewhere/redact", "simulator/elsewhere/transfer", "simulator/elsewhere/transfer/manifest", "simulator/host/crash", "simulator/host/datadir", "simulator/host/operation", "simulator/host/process", "simulator/host/version", "simulator/lesson", "simulator/lesson/live", "simulator/past/branch", "simulator/past/clusterdiff", "simulator/past/placement", "simulator/past/playback", "simulator/past/replay", "simulator/past/timeline", "simulator/questions/autoscale", "simulator/questions/drain", "simulator/questions/hypothesis", "simulator/questions/submit", "simulator/questions/upgrade", "simulator/questions/why", "simulator/scenarios/inmemory", "simulator/scenarios/oncluster", "simulator/scenarios/runs", "simulator/scenarios/scenario", "simulator/server", "web", "simulator/questions/standalone", "simulator/questions/deschedule"},
	"simulator/testing/systemtest":                                            nil,
	"simulator/command":                                                       {"scheduler/config", "scheduler/whatif", "scheduler/whatif/capacity", "scheduler/yamlsource", "simulator/agents", "simulator/app", "simulator/bench", "simulator/command/fanout", "simulator/command/runner", "simulator/elsewhere/mirror", "simulator/elsewhere/mirror/following", "simulator/host/datadir", "simulator/host/kubeconfig", "simulator/host/process", "simulator/host/quiet", "simulator/host/version", "simulator/lesson", "simulator/past/capture", "simulator/past/playback", "simulator/past/replay", "simulator/questions/ask", "simulator/questions/autoscale", "simulator/questions/drain", "simulator/questions/hypothesis", "simulator/questions/submit", "simulator/kubectl", "simulator/questions/standalone", "simulator/questions/upgrade", "simulator/questions/why", "scheduler/versions", "simulator/scenarios/inmemory", "simulator/scenarios/runs", "simulator/scenarios/scenario", "web", "simulator/questions/deschedule"},
	"simulator/questions/answertest":                                          {"scheduler/config", "simulator/questions/standalone"},
	"simulator/testing/doors":                                                 nil,
	"simulator/testing/kubectltest":                                           nil,
	"simulator/testing/clustertest":                                           nil,
	"simulator/host/quiet":                                                    nil,
	"simulator/deploy":                                                        nil,
	"simulator/deploy/krew":                                                   nil,
	"simulator/docs":                                                          nil,
	"simulator/examples/plugin":                                               {"simulator/command", "scheduler/examples/zonequota"},
	"simulator/cmd/simulator":                                                 {"simulator/command"},
	"simulator":                                                               nil,
	"web":                                                                     nil,
	"scheduler/whatif/capacity":                                               {"scheduler/explain", "scheduler/plugins/coscheduling/v1alpha1", "scheduler/whatif", "scheduler/whatif/newnode"},
	"scheduler/whatif/fit":                                                    {"scheduler/annotation", "scheduler/explain", "scheduler/podrequest", "scheduler/result", "scheduler/whatif", "scheduler/whatif/newnode"},
	"scheduler/whatif/livetest":                                               {"scheduler", "scheduler/config", "scheduler/result", "scheduler/schedulertest", "scheduler/whatif"},
	"scheduler/whatif/newnode":                                                {"scheduler/explain", "scheduler/standin"},
	"scheduler/claims":                                                        nil,
	"simulator/host/operation":                                                nil,
}

// groups are the folders of simulator, from the bottom up: a package imports those of its own group and of the groups before it.
var groups = []string{"host", "cluster", "batch", "autoscaling", "elsewhere", "past", "scenarios", "questions", "agents", "kubectl", "lesson", "htmlreport", "server", "app", "bench", "command", "examples", "cmd"}

// groupOf returns the place of a package's group, or -1 if it is in none.
func groupOf(dir string) int {
	below, _ := strings.CutPrefix(dir, "simulator/")
	group, _, _ := strings.Cut(below, "/")
	return slices.Index(groups, group)
}

func TestGroupsImportDownwards(t *testing.T) {
	for from, all := range arrows {
		for _, to := range all {
			if groupOf(to) > groupOf(from) {
				t.Errorf("%s may not import %s, whose group is above", from, to)
			}
		}
	}
}

// testPackages are the packages that all tests may import.
var testPackages = []string{"scheduler/schedulertest", "scheduler/yamlsource/bombs", "simulator/batch/kueue/kueuetest", "simulator/testing/clustertest", "simulator/testing/kubectltest", "simulator/host/quiet", "simulator/elsewhere/transfer/manifest/manifesttest"}

// testArrows lists further imports that are allowed in the tests of a package.
var testArrows = map[string][]string{
	"simulator/app":                          {"simulator/cluster/objects", "simulator/past/capture"},
	"simulator/bench":                        {"simulator/scenarios/scenario", "simulator/scenarios/inmemory", "simulator/scenarios/report"},
	"simulator/command":                      {"scheduler/examples/zonequota"},
	"simulator/command/runner":               {"simulator/scenarios/inmemory"},
	"scheduler":                              {"scheduler/examples/extender/reservation", "scheduler/explain", "scheduler/simulation", "scheduler/versions", "scheduler/versions/*", "scheduler/whatif"},
	"scheduler/recorder/comparison":          {"scheduler/explain", "scheduler/plugins/noderesourcetopology/v1alpha2"},
	"scheduler/recorder":                     {"scheduler/recorder/comparison", "scheduler/resultstore"},
	"scheduler/simulation":                   {"scheduler/config"},
	"scheduler/versions":                     {"scheduler/versions/decide"},
	"scheduler/whatif":                       {"scheduler/config", "scheduler/feed", "scheduler/shadow", "scheduler/whatif/*"},
	"scheduler/plugins/directed":             {"scheduler/plugins"},
	"scheduler/plugins":                      {"scheduler/examples/zonequota", "scheduler", "scheduler/pluginfact", "scheduler/annotation", "scheduler/config", "scheduler/recorder", "scheduler/result", "scheduler/explain", "scheduler/plugins/capacityscheduling/v1alpha1", "scheduler/plugins/coscheduling/v1alpha1", "scheduler/whatif", "scheduler/whatif/capacity", "scheduler/whatif/fit"},
	"simulator/elsewhere/redact":             {"scheduler/config"},
	"simulator/cluster/controlplane":         {"simulator/cluster/controlplane/external"},
	"simulator/questions/hypothesis":         {"simulator/cluster/controlplane"},
	"simulator/deploy":                       {"simulator/cluster/storedform", "simulator/questions/why"},
	"simulator/questions/submit":             {"simulator/questions/answertest"},
	"simulator/questions/autoscale":          {"simulator/questions/answertest"},
	"simulator/questions/deschedule":         {"simulator/questions/answertest", "simulator/questions/standalone", "simulator/scenarios/inmemory", "simulator/scenarios/scenario", "scheduler/config"},
	"simulator/questions/drain":              {"simulator/questions/answertest", "simulator/questions/standalone", "simulator/scenarios/inmemory", "simulator/scenarios/scenario", "scheduler/config"},
	"simulator/questions/upgrade":            {"scheduler/versions/decide", "simulator/scenarios/openb"},
	"simulator/questions/report":             {"simulator/questions/hypothesis", "scheduler/whatif/fit"},
	"simulator/elsewhere/mirror":             {"simulator/cluster/controlplane", "simulator/cluster/virtualnode"},
	"simulator/agents":                       {"scheduler/whatif/fit"},
	"simulator/cluster/virtualnode":          {"simulator/cluster/controlplane"},
	"simulator/elsewhere/transfer/roundtrip": {"simulator/cluster/controlplane", "simulator/cluster/objects", "simulator/elsewhere/transfer", "simulator/elsewhere/transfer/manifest", "simulator/cluster/virtualnode"},
	"simulator/cluster/controlplane/controllers/kubecontrollers/upstreamtest": {"simulator/cluster/controlplane/controllers/kubecontrollers"},
	"simulator/command/fanout":     {"scheduler/config", "simulator/scenarios/inmemory"},
	"simulator/lesson":             {"simulator/scenarios/inmemory"},
	"simulator/scenarios/inmemory": {"scheduler/plugins"},
	"simulator/scenarios/runs":     {"simulator/scenarios/inmemory"},
	"simulator/scenarios/perf":     {"scheduler/config"},
	"simulator/server":             {"simulator/autoscaling/dryrun", "simulator/autoscaling/instances", "simulator/autoscaling/provider", "simulator/autoscaling/stepwise", "simulator/server/watch/watchtest", "scheduler/versions/wire", "simulator/questions/disruption"},
	"simulator/server/watch":       {"simulator/server/watch/watchtest"},
	"simulator/testing/doors":      {"simulator/questions/answertest", "scheduler/config", "scheduler/explain", "scheduler/plugins", "simulator/agents", "simulator/questions/ask", "simulator/questions/hypothesis", "simulator/kubectl", "simulator/questions/standalone", "simulator/questions/why", "simulator/server", "simulator/server/watch/watchtest"},
	"simulator/testing/systemtest": {"simulator/past/branch", "simulator/past/clusterdiff", "simulator/cluster/objects"},
	"scheduler/whatif/capacity":    {"scheduler/config", "scheduler/whatif/livetest", "scheduler/whatif/newnode"},
	"scheduler/whatif/fit":         {"scheduler/config", "scheduler/whatif/livetest"},
	"scheduler/claims":             {"scheduler", "scheduler/*"},
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
			if within(imported, kueueModule) && (within(from, "scheduler") || !slices.Contains(kueuePackages, imported)) {
				t.Errorf("%s imports %s: scheduler knows nothing of Kueue, and the others only its types, names and conversions", path, imported)
			}
			if within(imported, deschedulerModule) && from != deschedulerOurs {
				t.Errorf("%s imports %s: only %s knows the descheduler", path, imported, deschedulerOurs)
			}
			if within(imported, karpenterModule) && (!within(from, autoscaling) && !slices.Contains(karpenterDefinitions, imported) || slices.Contains(karpenterApart, imported)) {
				t.Errorf("%s imports %s: only %s knows Karpenter, and none of it %v", path, imported, autoscaling, karpenterApart)
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
