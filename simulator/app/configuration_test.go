package app

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/go-logr/logr/funcr"
	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"k8s.io/klog/v2"

	"kube-scheduler-simulator/scheduler/config"
	"kube-scheduler-simulator/scheduler/result"
	"kube-scheduler-simulator/simulator/testing/clustertest"
)

const (
	configurationPath = "/api/v1/schedulerconfiguration"
	revisionsPath     = configurationPath + "/revisions"
)

// header is the start of the documents of these tests.
const header = "apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\n"

// send makes a request and returns the answer. It may be called from any
// goroutine of the test.
func (s *running) send(t *testing.T, method, path, body string) (int, []byte) {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), method, s.url+path, strings.NewReader(body))
	if err != nil {
		t.Error(err)
		return 0, nil
	}
	resp, err := http.DefaultClient.Do(s.authorized(request))
	if err != nil {
		t.Error(err)
		return 0, nil
	}
	defer resp.Body.Close()
	answer, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Error(err)
	}
	return resp.StatusCode, answer
}

// applied sends a request that changes the configuration.
func (s *running) applied(t *testing.T, method, path, body string) config.Applied {
	t.Helper()
	code, answer := s.send(t, method, path, body)
	var applied config.Applied
	if code != http.StatusOK {
		t.Fatalf("%s %s: %d: %s", method, path, code, answer)
	}
	if err := json.Unmarshal(answer, &applied); err != nil {
		t.Fatalf("%s %s: %v: %s", method, path, err, answer)
	}
	return applied
}

// apply applies document to s until the end of the test.
func apply(t *testing.T, s *running, document string) config.Revision {
	t.Helper()
	applied := s.applied(t, http.MethodPut, configurationPath, document)
	t.Cleanup(func() {
		request, err := http.NewRequest(http.MethodDelete, s.url+configurationPath, nil)
		if err != nil {
			t.Fatal(err)
		}
		resp, err := http.DefaultClient.Do(request)
		if err != nil {
			t.Fatal(err)
		}
		defer resp.Body.Close()
		if resp.StatusCode != http.StatusOK {
			t.Errorf("restoring the default: %s", resp.Status)
		}
	})
	return applied.Revision
}

// document returns the document of s as its author wrote it.
func (s *running) document(t *testing.T) string {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, s.url+configurationPath, nil)
	if err != nil {
		t.Fatal(err)
	}
	request.Header.Set("Accept", "application/yaml")
	resp, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err != nil || resp.StatusCode != http.StatusOK {
		t.Fatalf("%s, %v: %s", resp.Status, err, body)
	}
	return string(body)
}

// revisions returns the revisions of s, newest first.
func (s *running) revisions(t *testing.T) []config.Revision {
	t.Helper()
	var list struct{ Items []config.Revision }
	s.get(t, revisionsPath, &list)
	return list.Items
}

func (s *running) revision(t *testing.T, number int) config.Revision {
	t.Helper()
	var r config.Revision
	s.get(t, fmt.Sprintf("%s/%d", revisionsPath, number), &r)
	return r
}

func TestAMistakeDoesNotChangeTheScheduler(t *testing.T) {
	ns := namespace(t, shared)
	createNode(t, shared, "mistake", "64")
	running := apply(t, shared, header+"percentageOfNodesToScore: 77\n")
	document, before := shared.document(t), shared.revisions(t)
	for _, tc := range []struct {
		name, document string
		// want are the details' fields and lines, and part of their messages.
		want []detail
	}{
		{"no document", "", []detail{{Message: "empty"}}},
		{"only blanks and a comment", "\n# later\n", []detail{{Message: "empty"}}},
		{"another encoding", "\xff\xfea\x00:\x00", []detail{{Line: 1, Message: "UTF-8"}}},
		{"no YAML", header + "profiles: [\n", []detail{{Message: ""}}},
		{"another kind", "apiVersion: v1\nkind: Pod\n", []detail{{Field: "apiVersion", Line: 1}, {Field: "kind", Line: 2}}},
		{"two documents", header + "---\n" + header, []detail{{Message: "document"}}},
		{"unknown fields", header + "profils: []\nprofiles:\n- scheduler: x\n", []detail{
			{Field: "profils", Line: 3, Message: `unknown field`}, {Field: "profiles[0].scheduler", Line: 5, Message: "unknown field"},
		}},
		{"values of another type", header + "parallelism: many\npodMaxBackoffSeconds: soon\n", []detail{
			{Field: "parallelism", Line: 3}, {Field: "podMaxBackoffSeconds", Line: 4},
		}},
		{"values out of range", header + "parallelism: -3\npercentageOfNodesToScore: 101\npodInitialBackoffSeconds: 0\n", []detail{
			{Field: "parallelism", Line: 3}, {Field: "percentageOfNodesToScore", Line: 4}, {Field: "podInitialBackoffSeconds", Line: 5},
		}},
		{"an unknown plugin", header + "profiles:\n- plugins:\n    score:\n      enabled:\n      - name: NodeResourceFit\n", []detail{
			{Field: "profiles[0].plugins.score.enabled[0].name", Line: 7, Message: "NodeResourcesFit"},
		}},
		{"arguments out of range", header + "profiles:\n- pluginConfig:\n  - name: InterPodAffinity\n    args:\n      hardPodAffinityWeight: 101\n", []detail{
			{Field: "profiles[0].pluginConfig[0].args.hardPodAffinityWeight", Line: 7},
		}},
		{"the same profile twice", header + "profiles:\n- schedulerName: a\n- schedulerName: a\n", []detail{{Field: "profiles[1].schedulerName", Line: 5}}},
		{"JSON", `{"apiVersion": "kubescheduler.config.k8s.io/v1", "kind": "KubeSchedulerConfiguration",` + "\n" + `"parallelism": 0.5}`, []detail{{Field: "parallelism", Line: 2}}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			for _, query := range []string{"", "?dryRun=true"} {
				code, body := shared.send(t, http.MethodPut, configurationPath+query, tc.document)
				checkRefusal(t, code, body, tc.want)
			}
			if diff := cmp.Diff(before, shared.revisions(t), cmpopts.IgnoreFields(config.Revision{}, "PodsScheduled")); diff != "" {
				t.Error("the revisions changed:", diff)
			}
			if got := shared.document(t); got != document {
				t.Errorf("the document is %q", got)
			}
			name := strings.ToLower(strings.ReplaceAll(tc.name, " ", "-"))
			if _, cycle := create(t, shared, ns, pod(name, "mistake", "1"), result.Scheduled); cycle.Revision != running.Number {
				t.Errorf("a pod is scheduled under revision %d, want %d", cycle.Revision, running.Number)
			}
		})
	}
}

// detail is one mistake in an answer. In an expectation, an empty field matches no field, line 0
// matches any line, and the message is a substring.
type detail struct {
	Field   string
	Line    int
	Message string
}

func checkRefusal(t *testing.T, code int, body []byte, want []detail) {
	t.Helper()
	var answer struct {
		Message string
		Details []detail
	}
	if err := json.Unmarshal(body, &answer); err != nil || code != http.StatusUnprocessableEntity || answer.Message == "" {
		t.Fatalf("%d, %v: %s", code, err, body)
	}
	if len(answer.Details) != len(want) {
		t.Fatalf("want %d mistakes: %s", len(want), body)
	}
	for i, got := range answer.Details {
		if got.Field != want[i].Field || want[i].Line != 0 && got.Line != want[i].Line || !strings.Contains(got.Message, want[i].Message) {
			t.Errorf("mistake %d is %+v, want %+v", i, got, want[i])
		}
	}
}

func TestAConfigurationThatCannotBeBuiltIsRolledBack(t *testing.T) {
	ns := namespace(t, shared)
	createNode(t, shared, "unbuilt", "4")
	running := apply(t, shared, header+"percentageOfNodesToScore: 78\n")
	missing := filepath.Join(t.TempDir(), "none")
	code, body := shared.send(t, http.MethodPut, configurationPath, header+
		"extenders:\n- urlPrefix: https://127.0.0.1:1\n  filterVerb: filter\n  enableHTTPS: true\n  tlsConfig:\n    caFile: "+missing+"\n")
	checkRefusal(t, code, body, []detail{{Message: missing}})

	latest := shared.revisions(t)[0]
	if latest.State != config.RevisionRolledBack || !strings.Contains(latest.Error, missing) || latest.Number != running.Number+1 {
		t.Errorf("the latest revision is %+v", latest)
	}
	if r := shared.revision(t, running.Number); r.State != config.RevisionRunning {
		t.Errorf("the revision before is %s", r.State)
	}
	if _, cycle := create(t, shared, ns, pod("web", "unbuilt", "1"), result.Scheduled); cycle.Revision != running.Number {
		t.Errorf("a pod is scheduled under revision %d, want %d", cycle.Revision, running.Number)
	}
}

func TestADryRunChangesNothing(t *testing.T) {
	document, before := shared.document(t), shared.revisions(t)
	applied := shared.applied(t, http.MethodPut, configurationPath+"?dryRun=true", header+"parallelism: 3\nleaderElection: {leaderElect: true}\n")
	if applied.Revision.Number != 0 || !strings.Contains(applied.Revision.Summary, "parallelism") || len(applied.NoEffect) == 0 {
		t.Errorf("the answer is %+v", applied)
	}
	if diff := cmp.Diff(before, shared.revisions(t)); diff != "" {
		t.Error("the revisions changed:", diff)
	}
	if got := shared.document(t); got != document {
		t.Errorf("the document is %q", got)
	}
}

func TestRevisionsAreNumberedReadAndAppliedAgain(t *testing.T) {
	ns := namespace(t, shared)
	createNode(t, shared, "revision", "16")
	const first = header + "# mine\npercentageOfNodesToScore: 60\n"
	one := apply(t, shared, first)
	_, cycle := create(t, shared, ns, pod("under-one", "revision", "1"), result.Scheduled)
	if cycle.Revision != one.Number {
		t.Errorf("the pod's revision is %d, want %d", cycle.Revision, one.Number)
	}
	second := `{"apiVersion":"kubescheduler.config.k8s.io/v1","kind":"KubeSchedulerConfiguration","percentageOfNodesToScore":70,"profiles":[{"schedulerName":"default-scheduler"},{"schedulerName":"other"}]}`
	two := shared.applied(t, http.MethodPost, configurationPath, second).Revision
	create(t, shared, ns, pod("under-two", "revision", "1"), result.Scheduled)
	create(t, shared, ns, pod("also-under-two", "revision", "2"), result.Scheduled)
	three := shared.applied(t, http.MethodPost, fmt.Sprintf("%s/%d", revisionsPath, one.Number), "").Revision
	_, cycle = create(t, shared, ns, pod("under-three", "revision", "1"), result.Scheduled)
	if cycle.Revision != three.Number {
		t.Errorf("the pod's revision is %d, want %d", cycle.Revision, three.Number)
	}

	if got := shared.document(t); got != first {
		t.Errorf("the document is %q, want that of revision %d", got, one.Number)
	}
	list := shared.revisions(t)[:3]
	want := []config.Revision{
		{Number: one.Number + 2, Source: config.OriginUser, State: config.RevisionRunning, Profiles: []string{"default-scheduler"}, PodsScheduled: 1},
		{Number: one.Number + 1, Source: config.OriginUser, State: config.RevisionReplaced, Profiles: []string{"default-scheduler", "other"}, PodsScheduled: 2},
		{Number: one.Number, Source: config.OriginUser, State: config.RevisionReplaced, Profiles: []string{"default-scheduler"}, PodsScheduled: 1},
	}
	if diff := cmp.Diff(want, list, cmpopts.IgnoreFields(config.Revision{}, "Time", "Summary")); diff != "" {
		t.Error(diff)
	}
	for _, r := range list {
		if r.Summary == "" || strings.Contains(r.Summary, "\n") || r.Time.IsZero() {
			t.Errorf("revision %d: time %v, summary %q", r.Number, r.Time, r.Summary)
		}
	}
	if got := shared.revision(t, two.Number).Document; got != second {
		t.Errorf("revision %d reads %q", two.Number, got)
	}
	for path, want := range map[string]int{"/999999": http.StatusNotFound, "/0": http.StatusBadRequest, "/x": http.StatusBadRequest} {
		for _, method := range []string{http.MethodGet, http.MethodPost} {
			if code, body := shared.send(t, method, revisionsPath+path, ""); code != want {
				t.Errorf("%s revision %s: %d, want %d: %s", method, path, code, want, body)
			}
		}
	}
}

// onlyBlue keeps pods off nodes without the label.
const onlyBlue = header + `# kept as it is written
profiles:
- schedulerName: default-scheduler
  pluginConfig:
  - name: NodeAffinity
    args:
      addedAffinity:
        requiredDuringSchedulingIgnoredDuringExecution:
          nodeSelectorTerms:
          - matchExpressions:
            - {key: team, operator: In, values: [blue]}
`

func TestAConfigurationSurvivesARestart(t *testing.T) {
	clustertest.Slow(t)
	var log lines
	options := DefaultOptions()
	options.DataDir, options.Logger = t.TempDir(), log.logger()
	s := launch(t, options)
	nodes := team(t, s, "restart", "blue", "4", "red", "64")
	r := s.applied(t, http.MethodPut, configurationPath, onlyBlue).Revision
	ns := namespace(t, s)
	if _, cycle := create(t, s, ns, pod("before", "restart", "1"), result.Scheduled); cycle.SelectedNode != nodes["blue"] {
		t.Errorf("scheduled on %q, want the blue one", cycle.SelectedNode)
	}
	if err := s.stop(); err != nil {
		t.Fatal(err)
	}

	s = launch(t, options)
	if got := s.document(t); got != onlyBlue {
		t.Errorf("the document is %q", got)
	}
	_, cycle := create(t, s, ns, pod("after", "restart", "1"), result.Scheduled)
	if cycle.SelectedNode != nodes["blue"] || cycle.Revision != r.Number {
		t.Errorf("scheduled on %q under revision %d, want the blue one and %d", cycle.SelectedNode, cycle.Revision, r.Number)
	}
	if got := s.revision(t, r.Number); got.PodsScheduled != 2 || !got.Time.Equal(r.Time) || got.State != config.RevisionRunning {
		t.Errorf("the revision is %+v", got)
	}
	if err := s.stop(); err != nil {
		t.Fatal(err)
	}

	// The file of the flag takes precedence and becomes a new revision.
	options.SchedulerConfig = filepath.Join(t.TempDir(), "scheduler.yaml")
	writeFile(t, options.SchedulerConfig, header+"percentageOfNodesToScore: 33\n")
	s = launch(t, options)
	got := s.revisions(t)
	if len(got) != 3 || got[0].Number != r.Number+1 || got[0].Source != config.OriginFile || got[1].State != config.RevisionReplaced {
		t.Errorf("the revisions are %+v", got)
	}
	_, cycle = create(t, s, ns, pod("by-file", "restart", "1"), result.Scheduled)
	if cycle.SelectedNode != nodes["red"] || cycle.Revision != r.Number+1 {
		t.Errorf("scheduled on %q under revision %d, want the red one and %d", cycle.SelectedNode, cycle.Revision, r.Number+1)
	}
	if log.String() != "" {
		t.Errorf("want nothing in the log, got: %s", &log)
	}
}

// A plugin of the saved configuration may be gone in another program.
func TestASavedConfigurationThatNoLongerWorksGivesWay(t *testing.T) {
	clustertest.Slow(t)
	options := DefaultOptions()
	options.DataDir = t.TempDir()
	s := launch(t, options)
	r := s.applied(t, http.MethodPut, configurationPath, onlyBlue).Revision
	nodes := team(t, s, "gone", "red", "4")
	if err := s.stop(); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(options.DataDir, "scheduler-configuration", fmt.Sprintf("%06d.json", r.Number))
	kept, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	writeFile(t, file, string(bytes.ReplaceAll(kept, []byte("NodeAffinity"), []byte("NodeGone"))))
	if _, err := startInProcess(options); err == nil || !strings.Contains(err.Error(), file+": has ") {
		t.Errorf("the file has changed since the stop, and the start says %v", err)
	}
	if err := os.Remove(filepath.Join(options.DataDir, "inventory.json")); err != nil {
		t.Fatal(err)
	}

	var log lines
	options.Logger = log.logger()
	s = launch(t, options)
	_, cycle := create(t, s, namespace(t, s), pod("after", "gone", "1"), result.Scheduled)
	if cycle.SelectedNode != nodes["red"] || cycle.Revision != r.Number+1 {
		t.Errorf("scheduled on %q under revision %d", cycle.SelectedNode, cycle.Revision)
	}
	states := map[int]config.RevisionState{}
	for _, r := range s.revisions(t) {
		states[r.Number] = r.State
	}
	want := map[int]config.RevisionState{r.Number - 1: config.RevisionReplaced, r.Number: config.RevisionRolledBack, r.Number + 1: config.RevisionRunning}
	if diff := cmp.Diff(want, states); diff != "" {
		t.Error(diff)
	}
	if !strings.Contains(log.String(), "configuration") {
		t.Errorf("the log does not report it: %q", &log)
	}
}

func TestAKilledSimulatorKeepsItsConfiguration(t *testing.T) {
	clustertest.Slow(t)
	dataDir := t.TempDir()
	s, cmd := startProgram(t, dataDir, "")
	applied := s.applied(t, http.MethodPut, configurationPath, onlyBlue).Revision
	if err := cmd.Process.Signal(syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait()

	s, cmd = startProgram(t, dataDir, "")
	defer func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	}()
	if got := s.document(t); got != onlyBlue {
		t.Errorf("the document is %q", got)
	}
	if got := s.revisions(t)[0]; got.Number != applied.Number || got.State != config.RevisionRunning {
		t.Errorf("the latest revision is %+v", got)
	}
}

func writeFile(t *testing.T, name, content string) {
	t.Helper()
	if err := os.WriteFile(name, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
}

// lines collects log lines.
type lines struct {
	mu  sync.Mutex
	all strings.Builder
}

func (l *lines) logger() klog.Logger {
	return funcr.New(func(prefix, args string) {
		l.mu.Lock()
		defer l.mu.Unlock()
		l.all.WriteString(prefix + args + "\n")
	}, funcr.Options{})
}

func (l *lines) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.all.String()
}
