package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/util/wait"
)

// asProgram makes this test binary run main.
const asProgram = "SIMULATOR_EXAMPLE_PROGRAM"

func TestMain(m *testing.M) {
	if os.Getenv(asProgram) != "" {
		main()
		return
	}
	os.Exit(m.Run())
}

const configuration = `
apiVersion: kubescheduler.config.k8s.io/v1
kind: KubeSchedulerConfiguration
profiles:
- schedulerName: default-scheduler
  plugins: {multiPoint: {enabled: [{name: ZoneQuota}]}}
  pluginConfig:
  - name: ZoneQuota
    args:
      maxPerZone: 1
`

// TestYourOwnPlugin: a configuration enables the plugin and passes arguments to it. The plugin affects
// the decision and is recorded like Kubernetes' plugins.
func TestYourOwnPlugin(t *testing.T) {
	s := start(t)
	s.do(t, http.MethodPut, "/api/v1/schedulerconfiguration", configuration, http.StatusOK)
	for _, zone := range []string{"a", "b"} {
		s.do(t, http.MethodPost, "/kubernetes/api/v1/nodes", fmt.Sprintf(`{"apiVersion":"v1","kind":"Node",
			"metadata":{"name":"node-%s","labels":{"topology.kubernetes.io/zone":%q}},
			"status":{"allocatable":{"cpu":"4","memory":"8Gi","pods":"10"}}}`, zone, zone), http.StatusCreated)
	}
	for _, name := range []string{"one", "two", "three"} {
		s.do(t, http.MethodPost, "/kubernetes/api/v1/namespaces/default/pods", fmt.Sprintf(`{"apiVersion":"v1","kind":"Pod",
			"metadata":{"name":%q,"labels":{"app":"web"}},"spec":{"containers":[{"name":"c","image":"pause"}]}}`, name), http.StatusCreated)
		s.outcome(t, name, map[bool]string{true: "unschedulable", false: "scheduled"}[name == "three"])
	}

	var page struct {
		Items []struct{ Pod struct{ UID string } }
	}
	s.get(t, "/api/v1/results?name=three&limit=1", &page)
	var cycle struct {
		Message string
		Filter  struct {
			Reasons []struct{ Plugin string }
		}
		Facts []struct{ Plugin, Key, Value string }
	}
	s.get(t, "/api/v1/results/"+page.Items[0].Pod.UID+"/1", &cycle)
	for _, r := range cycle.Filter.Reasons {
		if r.Plugin != "ZoneQuota" {
			t.Errorf("%s rejected a node", r.Plugin)
		}
	}
	if len(cycle.Filter.Reasons) != 2 || !strings.Contains(cycle.Message, "already has 1 pods of this application") {
		t.Errorf("%d nodes were rejected: %s", len(cycle.Filter.Reasons), cycle.Message)
	}
	want := []struct{ Plugin, Key, Value string }{{"ZoneQuota", "zone a", "1 of 1 pods"}, {"ZoneQuota", "zone b", "1 of 1 pods"}}
	if diff := cmp.Diff(want, cycle.Facts); diff != "" {
		t.Errorf("facts (-want +got):\n%s", diff)
	}
}

// TestArgumentsThatThePluginRefuses: they do not change the configuration, and the
// answer gives their position.
func TestArgumentsThatThePluginRefuses(t *testing.T) {
	s := start(t)
	answer := s.do(t, http.MethodPut, "/api/v1/schedulerconfiguration", strings.Replace(configuration, "maxPerZone: 1", "maxPerZone: 0", 1), http.StatusUnprocessableEntity)
	type detail struct {
		Field   string
		Line    int
		Message string
	}
	var got struct{ Details []detail }
	if err := json.Unmarshal(answer, &got); err != nil {
		t.Fatal(err)
	}
	if len(got.Details) != 1 || got.Details[0].Field != "profiles[0].pluginConfig[0].args" || got.Details[0].Line != 9 ||
		!strings.Contains(got.Details[0].Message, "maxPerZone: must be at least 1") {
		t.Errorf("details are %+v", got.Details)
	}
	var current struct{ Profiles []any }
	s.get(t, "/api/v1/schedulerconfiguration", &current)
	if len(current.Profiles) != 1 {
		t.Errorf("the configuration is %+v", current)
	}
}

// TestTheDocumentationShowsThisProgram compares the documentation with main.go.
func TestTheDocumentationShowsThisProgram(t *testing.T) {
	source, err := os.ReadFile("main.go")
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile("../../../scheduler/plugins/README.md")
	if err != nil {
		t.Fatal(err)
	}
	if _, code, _ := strings.Cut(string(source), "\npackage main"); !strings.Contains(string(text), "package main"+code) {
		t.Error("the page shows a different program")
	}
}

// program is the running example.
type program struct{ url string }

func start(t *testing.T) *program {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	cmd := exec.CommandContext(ctx, os.Args[0], "--listen", "127.0.0.1:0")
	cmd.Env = append(os.Environ(), asProgram+"=1")
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
	cmd.WaitDelay = 30 * time.Second
	var log bytes.Buffer
	cmd.Stderr = &log
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		cancel()
		_ = cmd.Wait() // the test interrupts the program
		if code := cmd.ProcessState.ExitCode(); code != 0 {
			t.Errorf("exit code %d: %s", code, log.String())
		}
	})
	line, err := bufio.NewReader(out).ReadString('\n')
	url, ready := strings.CutPrefix(strings.Split(line, " kubeconfig ")[0], "ready: ")
	if err != nil || !ready {
		t.Fatalf("the ready line is %q: %v: %s", line, err, log.String())
	}
	return &program{url: url}
}

func (s *program) do(t *testing.T, method, path, body string, code int) []byte {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), method, s.url+path, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Content-Type", "application/json")
	response, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	data, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatal(err)
	}
	if response.StatusCode != code {
		t.Fatalf("%s %s: %s: %s", method, path, response.Status, data)
	}
	return data
}

func (s *program) get(t *testing.T, path string, into any) {
	t.Helper()
	if err := json.Unmarshal(s.do(t, http.MethodGet, path, "", http.StatusOK), into); err != nil {
		t.Fatal(err)
	}
}

// outcome waits until the pod's latest attempt has that outcome.
func (s *program) outcome(t *testing.T, name, want string) {
	t.Helper()
	var page struct{ Items []struct{ Outcome string } }
	err := wait.PollUntilContextTimeout(t.Context(), 20*time.Millisecond, time.Minute, true, func(context.Context) (bool, error) {
		s.get(t, "/api/v1/results?limit=1&name="+name, &page)
		return len(page.Items) > 0 && page.Items[0].Outcome == want, nil
	})
	if err != nil {
		t.Fatalf("pod %s is not %s: %v", name, want, page.Items)
	}
}
