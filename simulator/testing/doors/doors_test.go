package doors

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"net"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/modelcontextprotocol/go-sdk/mcp"
	"k8s.io/client-go/rest"

	"kube-scheduler-simulator/scheduler/config"
	"kube-scheduler-simulator/scheduler/plugins"
	"kube-scheduler-simulator/simulator/agents"
	"kube-scheduler-simulator/simulator/kubectl"
	"kube-scheduler-simulator/simulator/questions/ask"
	"kube-scheduler-simulator/simulator/questions/standalone"
	"kube-scheduler-simulator/simulator/questions/why"
	"kube-scheduler-simulator/simulator/server"
	"kube-scheduler-simulator/simulator/server/watch/watchtest"
)

// graded is a question with the truth beside it.
type graded struct {
	name string
	// state is in YAML. The question is about a pod of it, about a workload, or about the pod in file.
	state, pod, workload, file, node string
	truth                            truth
}

type truth struct {
	verdict why.Verdict
	// node is where the pod runs or goes; empty for nowhere, "?" if chance decides.
	node string
	// rejects has the nodes that each plugin rejects.
	rejects map[string][]string
	// waits are what the pod waits for.
	waits []why.WaitsFor
	// changes are texts of which each is in one of the offered changes.
	changes []string
	// says are in the sentence.
	says []string
}

// maxAgentAnswer is in bytes.
const maxAgentAnswer = 4096

// TestEveryDoorSaysTheTruth asks each question through every door. Every true reason must be in the answer, no other one
// may be, and the answers must be the same.
func TestEveryDoorSaysTheTruth(t *testing.T) {
	questions := append(slices.Clone(cases), randomCases(24)...)
	if len(questions) < 40 {
		t.Fatalf("there are %d questions", len(questions))
	}
	for _, g := range questions {
		t.Run(g.name, func(t *testing.T) {
			t.Parallel()
			cluster := open(t, g.state)
			direct := askDirectly(t, g, cluster)
			check(t, g.truth, direct)
			for door, through := range map[string]func(*testing.T, graded, *standalone.Cluster) *why.Answer{
				"kubectl-why": askKubectl, "HTTP": askHTTP,
			} {
				if diff := cmp.Diff(comparable(t, direct), comparable(t, through(t, g, cluster))); diff != "" {
					t.Errorf("through %s the answer differs (-package +door):\n%s", door, diff)
				}
			}
			checkAgent(t, g.truth, askAgent(t, g, cluster))
		})
	}
}

func open(t *testing.T, state string) *standalone.Cluster {
	t.Helper()
	file := filepath.Join(t.TempDir(), "state.yaml")
	if err := os.WriteFile(file, []byte(state), 0o600); err != nil {
		t.Fatal(err)
	}
	cluster, err := standalone.Open(t.Context(), standalone.Options{
		File: file, OutOfTree: plugins.Registry(), Version: "devel",
		Parse: func(document []byte) (*config.Configuration, error) { return kubectl.Parse(t.Context(), document) },
	})
	if err != nil {
		t.Fatal(err)
	}
	if notes, _ := cluster.Notes(); len(notes) > 0 {
		t.Fatal(notes)
	}
	return cluster
}

// question returns the arguments of the command line as a question.
func (g graded) question(t *testing.T) why.Question {
	t.Helper()
	var questions []why.Question
	var err error
	switch {
	case g.file != "":
		questions, err = kubectl.ReadFiles(t.Context(), []string{"-"}, "default", strings.NewReader(g.file))
	case g.workload != "":
		questions, err = ask.ParseNames([]string{g.workload}, "default")
	default:
		questions, err = ask.ParseNames([]string{g.pod}, "default")
	}
	if err != nil || len(questions) != 1 {
		t.Fatal(questions, err)
	}
	questions[0].Node = g.node
	return questions[0]
}

func askDirectly(t *testing.T, g graded, cluster *standalone.Cluster) *why.Answer {
	t.Helper()
	answer, err := cluster.Why(t.Context(), g.question(t))
	if err != nil {
		t.Fatal(err)
	}
	return answer
}

func askKubectl(t *testing.T, g graded, _ *standalone.Cluster) *why.Answer {
	t.Helper()
	dir := t.TempDir()
	state := filepath.Join(dir, "state.yaml")
	if err := os.WriteFile(state, []byte(g.state), 0o600); err != nil {
		t.Fatal(err)
	}
	args := []string{"--state", state, "--kubeconfig", filepath.Join(dir, "none"), "-o", "json"}
	switch {
	case g.file != "":
		args = append(args, "-f", "-")
	case g.workload != "":
		args = append(args, g.workload)
	default:
		args = append(args, g.pod)
	}
	if g.node != "" {
		args = append(args, "--node", g.node)
	}
	var out, errs bytes.Buffer
	command := kubectl.New(strings.NewReader(g.file), &out, &errs)
	command.SetArgs(args)
	err := command.ExecuteContext(t.Context())
	code := kubectl.Yes
	if e, ok := errors.AsType[*kubectl.ExitError](err); ok {
		code, err = e.Code, e.Err
	}
	want := map[why.Verdict]int{why.Runs: 0, why.Fits: 0, why.Waits: 1, why.DoesNotFit: 1, why.Unknown: 2}[g.truth.verdict]
	if err != nil || code != want {
		t.Errorf("the exit code is %d, not %d: %v %s", code, want, err, &errs)
	}
	answer := &why.Answer{}
	if err := json.Unmarshal(out.Bytes(), answer); err != nil {
		t.Fatalf("%v: %s", err, &out)
	}
	return answer
}

// settings and records are parts of a server that these questions do not need.
type settings struct{ server.Configuration }

func askHTTP(t *testing.T, g graded, cluster *standalone.Cluster) *why.Answer {
	t.Helper()
	s := server.New(server.Options{})
	backend := server.Backend{ClientConfig: &rest.Config{Host: "127.0.0.1:1"}, Results: &watchtest.Results{}, Configuration: settings{}, Hypotheses: cluster}
	if err := s.SetBackend(backend); err != nil {
		t.Fatal(err)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	var serving sync.WaitGroup
	serving.Go(func() { _ = s.Serve(l) })
	t.Cleanup(func() {
		_ = s.Shutdown(context.WithoutCancel(t.Context()))
		serving.Wait()
	})
	client, err := ask.NewClient("http://"+l.Addr().String(), "")
	if err != nil {
		t.Fatal(err)
	}
	answer, err := client.Why(t.Context(), g.question(t))
	if err != nil {
		t.Fatal(err)
	}
	return answer
}

func askAgent(t *testing.T, g graded, cluster *standalone.Cluster) string {
	t.Helper()
	s := agents.New(agents.Options{Open: func(context.Context) (agents.Cluster, error) { return cluster, nil }, Missing: "not here", Version: "devel"})
	web := httptest.NewServer(s.Handler())
	t.Cleanup(web.Close)
	client := mcp.NewClient(&mcp.Implementation{Name: "test", Version: "1"}, nil)
	session, err := client.Connect(t.Context(), &mcp.StreamableClientTransport{Endpoint: web.URL}, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = session.Close() })
	tool, arguments := "explain_pod", map[string]any{}
	switch {
	case g.file != "":
		arguments["manifest"] = g.file
	case g.workload != "":
		arguments["workload"] = g.workload
	default:
		arguments["pod"] = g.pod
	}
	if g.node != "" {
		tool, arguments["node"] = "why_not_node", g.node
	}
	result, err := session.CallTool(t.Context(), &mcp.CallToolParams{Name: tool, Arguments: arguments})
	if err != nil {
		t.Fatal(err)
	}
	var text strings.Builder
	for _, c := range result.Content {
		if part, ok := c.(*mcp.TextContent); ok {
			text.WriteString(part.Text)
		}
	}
	if result.IsError {
		t.Fatal(text.String())
	}
	return text.String()
}

// comparable leaves out what differs from call to call: the time, and the name of the cluster.
func comparable(t *testing.T, a *why.Answer) any {
	t.Helper()
	data, err := json.Marshal(a)
	if err != nil {
		t.Fatal(err)
	}
	var out map[string]any
	if err := json.Unmarshal(data, &out); err != nil {
		t.Fatal(err)
	}
	judged := out["judged"].(map[string]any)
	for _, varies := range []string{"at", "seconds", "readSeconds"} {
		delete(judged, varies)
	}
	delete(judged, "version")
	return out
}

func check(t *testing.T, want truth, a *why.Answer) {
	t.Helper()
	got := map[string][]string{}
	for _, r := range a.Reasons {
		nodes := slices.Clone(r.Nodes)
		got[r.Plugin] = append(got[r.Plugin], nodes...)
		slices.Sort(got[r.Plugin])
		if r.Text == "" || r.Count < len(r.Nodes) {
			t.Errorf("the reason %+v lacks a text or a count", r)
		}
	}
	for plugin, nodes := range want.rejects {
		nodes = slices.Sorted(slices.Values(nodes))
		if !slices.Equal(got[plugin], nodes) {
			t.Errorf("%s rejects %v, and the answer says %v", plugin, nodes, got[plugin])
		}
	}
	for plugin, nodes := range got {
		if _, holds := want.rejects[plugin]; !holds {
			t.Errorf("the answer says that %s rejects %v, which is false", plugin, nodes)
		}
	}
	if a.Verdict != want.verdict || a.SelectedNode != want.node && want.node != "?" {
		t.Errorf("the answer is %s on %q, want %s on %q: %s", a.Verdict, a.SelectedNode, want.verdict, want.node, a.Sentence)
	}
	var waits []why.WaitsFor
	for _, w := range a.Waits {
		waits = append(waits, w.For)
	}
	if !slices.Equal(waits, want.waits) {
		t.Errorf("it waits for %v, want %v", waits, want.waits)
	}
	for _, text := range want.changes {
		if !slices.ContainsFunc(a.Changes, func(c suggestion) bool { return strings.Contains(c.Text, text) }) {
			t.Errorf("no change says %q: %s", text, textsOf(a.Changes))
		}
	}
	for _, text := range want.says {
		if !strings.Contains(a.Sentence, text) {
			t.Errorf("the sentence %q lacks %q", a.Sentence, text)
		}
	}
}

func textsOf(all []suggestion) string {
	var out []string
	for _, s := range all {
		out = append(out, s.Text)
	}
	return strings.Join(out, " / ")
}

// filterPlugins are those whose names an agent's answer may hold.
var filterPlugins = []string{
	"NodeUnschedulable", "NodeName", "TaintToleration", "NodeAffinity", "NodePorts", "NodeResourcesFit", "VolumeRestrictions", "NodeVolumeLimits", "VolumeBinding",
	"VolumeZone", "PodTopologySpread", "InterPodAffinity", "DynamicResources",
}

func checkAgent(t *testing.T, want truth, text string) {
	t.Helper()
	if len(text) > maxAgentAnswer {
		t.Errorf("the agent gets %d bytes", len(text))
	}
	for _, plugin := range filterPlugins {
		_, is := want.rejects[plugin]
		if said := strings.Contains(rejectionsIn(text), plugin); said != is {
			t.Errorf("the agent reads of %s: %t, and it is %t:\n%s", plugin, said, is, text)
		}
	}
	if want.node != "" && want.node != "?" && !strings.Contains(text, want.node) {
		t.Errorf("the agent does not read of %s:\n%s", want.node, text)
	}
}

// rejectionsIn returns the lines about rejections. Other lines name plugins that score.
func rejectionsIn(text string) string {
	var out []string
	for line := range strings.Lines(text) {
		if strings.Contains(line, "reject") {
			out = append(out, line)
		}
	}
	return strings.Join(out, "")
}

// randomCases are clusters of nodes with obstacles that the test puts there itself, so that it knows every reason.
func randomCases(n int) []graded {
	var out []graded
	for seed := range n {
		out = append(out, randomCase(uint64(seed)))
	}
	return out
}
