package app

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"kube-scheduler-simulator/simulator/past/capture"
	"kube-scheduler-simulator/simulator/past/playback"
	"kube-scheduler-simulator/simulator/past/replay"
	"kube-scheduler-simulator/simulator/testing/clustertest"
)

const (
	replayNodes = 60
	replayPods  = 120 / min(smaller, 2)
	// comparedPods adds a pod with a volume and a pod with a device.
	comparedPods = replayPods + 2
	// alike is the minimum number of equal decisions.
	alike = comparedPods * 98 / 100
)

// TestARecordingIsReplayed records a simulator in which pods are created, finish and are deleted, and
// plays the recording into others.
func TestARecordingIsReplayed(t *testing.T) {
	dir := t.TempDir()
	recording, redacted := filepath.Join(dir, "afternoon.rec"), filepath.Join(dir, "redacted.rec")
	source := startReplaySource(t)
	defer func() {
		if err := source.stop(); err != nil {
			t.Error(err)
		}
	}()
	recordAfternoon(t, source, recording, redacted)

	t.Run("a redacted recording has no names", func(t *testing.T) { wantNoNames(t, redacted) })
	t.Run("a seek restores the cluster", func(t *testing.T) { seekInto(t, source, recording) })
	t.Run("a refused recording does not change the cluster", func(t *testing.T) { refuseWhileBusy(t, source, recording) })
	t.Run("the same configuration and seed decide the same", func(t *testing.T) {
		t.Parallel()
		got := replayed(t, recording, 1, playback.Playback{})
		if c := got.Comparison.Counts; c.Compared != comparedPods || c.Matching < alike {
			t.Errorf("%+v: %s", c, differences(got))
		}
		// One of two disks and one of two devices were in use already.
		for _, d := range got.Comparison.Items {
			if (d.Pod.Name == "db" || d.Pod.Name == "gpu-1") && d.Outcome != replay.Matching {
				t.Errorf("%s: %s", d.Pod.Name, d.Why)
			}
		}
		if got.Replay.Failed != 0 || got.Replay.Applied != got.Replay.Changes {
			t.Errorf("%+v", got.Replay)
		}
	})
	if testing.Short() {
		return // Each of the others starts one or two more simulators. make test-all runs them.
	}
	t.Run("another seed decides differently, but the same each time", func(t *testing.T) {
		t.Parallel()
		first, second := replayed(t, recording, 2, playback.Playback{}), replayed(t, recording, 2, playback.Playback{})
		if diff := cmp.Diff(simulatedNodes(first), simulatedNodes(second)); diff != "" {
			t.Errorf("the second run (+) differs from the first (-):\n%s", diff)
		}
		if c := first.Comparison.Counts; c.Different == 0 {
			t.Errorf("%+v", c)
		}
	})
	// Each decision is made in the recorded state, so only the seed differs.
	t.Run("following the redacted recording only ties differ", func(t *testing.T) {
		t.Parallel()
		got := replayed(t, redacted, 2, playback.Playback{FollowRecording: true})
		if c := got.Comparison.Counts; c.Compared != comparedPods || c.Pending > 0 || c.Matching+c.Tied < alike {
			t.Errorf("%+v, %+v: %s", c, got.Replay, differences(got))
		}
	})
	t.Run("another configuration's differences are explained, and can be a failure", func(t *testing.T) {
		t.Parallel()
		got, err := tryReplay(t, recording, 1, mostAllocated, playback.Playback{FollowRecording: true, FailOnDifference: true})
		if !errors.Is(err, playback.ErrDifferent) {
			t.Errorf("the error is %v", err)
		}
		if c := got.Comparison.Counts; c.Different < replayPods/2 {
			t.Errorf("%+v", c)
		}
		byResources := 0
		for _, d := range got.Comparison.Items {
			if d.Outcome != replay.Different || d.Tie {
				continue
			}
			if d.RecordedNodeTotal == nil || d.SelectedNodeTotal == nil || *d.RecordedNodeTotal >= *d.SelectedNodeTotal || d.Most == nil {
				t.Errorf("%s: %+v", d.Pod.Name, d)
				continue
			}
			if want := fmt.Sprintf("%s with a total of %d; %s had %d. ", d.SimulatedNode+" was chosen", *d.SelectedNodeTotal, d.RecordedNode, *d.RecordedNodeTotal); !strings.HasPrefix(d.Why, want) {
				t.Errorf("%s: %q", d.Pod.Name, d.Why)
			}
			if d.Most.Plugin == "NodeResourcesFit" {
				byResources++
			}
		}
		if byResources < replayPods/2 {
			t.Errorf("NodeResourcesFit decided %d times", byResources)
		}
	})
}

// A recording of selected namespaces may lack the Namespace objects.
func TestAReplayCreatesMissingNamespaces(t *testing.T) {
	clustertest.Slow(t)
	path := filepath.Join(t.TempDir(), "shop.rec")
	writeRecording(t, path,
		`{"kind":"Node","metadata":{"name":"n1"},"status":{"allocatable":{"cpu":"4","memory":"8Gi","pods":"110"}}}`,
		`{"kind":"Pod","metadata":{"namespace":"shop","name":"web"},"spec":{"schedulerName":"default-scheduler","containers":[{"name":"web","image":"registry.example/web:1"}]}}`,
		`{"kind":"Pod","metadata":{"namespace":"shop","name":"web"},"spec":{"schedulerName":"default-scheduler","nodeName":"n1","containers":[{"name":"web","image":"registry.example/web:1"}]}}`)
	got := replayed(t, path, 1, playback.Playback{})
	if c := got.Comparison.Counts; got.Replay.Failed != 0 || c.Compared != 1 || c.Matching != 1 {
		t.Errorf("%+v, %+v: %s", c, got.Replay, differences(got))
	}
}

// TestAReplayBringsDefinitions: a recorded pod group needs a definition that the simulator has.
func TestAReplayBringsDefinitions(t *testing.T) {
	clustertest.Slow(t)
	path := filepath.Join(t.TempDir(), "gang.rec")
	const bare, bound = `{"kind":"Pod","metadata":{"namespace":"default","name":"web","labels":{"scheduling.x-k8s.io/pod-group":"g"}},"spec":{"schedulerName":"default-scheduler",`, `"containers":[{"name":"web","image":"registry.example/web:1"}]}}`
	writeRecording(t, path,
		`{"kind":"Node","metadata":{"name":"n1"},"status":{"allocatable":{"cpu":"4","memory":"8Gi","pods":"110"}}}`,
		`{"apiVersion":"scheduling.x-k8s.io/v1alpha1","kind":"PodGroup","metadata":{"namespace":"default","name":"g"},"spec":{"minMember":1}}`,
		bare+bound, bare+`"nodeName":"n1",`+bound)
	got := replayed(t, path, 1, playback.Playback{})
	if c := got.Comparison.Counts; got.Replay.Failed != 0 || c.Compared != 1 || c.Matching != 1 {
		t.Errorf("%+v, %+v: %s", c, got.Replay, differences(got))
	}
}

// writeRecording writes a recording in which an object is created or changed every second. A version needs
// an apiVersion if several kinds have the same name.
func writeRecording(t *testing.T, path string, versions ...string) {
	t.Helper()
	file, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	at := time.Date(2026, 3, 3, 14, 0, 0, 0, time.UTC)
	w := replay.NewWriter(file, replay.Header{Start: at, Kinds: replay.RecordedKinds()})
	if err := w.Mark(at, replay.Begun, ""); err != nil {
		t.Fatal(err)
	}
	for _, version := range versions {
		at = at.Add(time.Second)
		object := &unstructured.Unstructured{}
		if err := json.Unmarshal([]byte(version), &object.Object); err != nil {
			t.Fatal(err)
		}
		kinds := replay.RecordedKinds()
		kind := kinds[slices.IndexFunc(kinds, func(k replay.Kind) bool {
			return k.Kind == object.GetKind() && (object.GetAPIVersion() == "" || k.APIVersion == object.GetAPIVersion())
		})]
		delete(object.Object, "kind")
		delete(object.Object, "apiVersion")
		if _, err := w.Set(at, kind, object.GetNamespace(), object.GetName(), object.Object); err != nil {
			t.Fatal(err)
		}
	}
	if err := errors.Join(w.Mark(at, replay.End, ""), w.Flush()); err != nil {
		t.Fatal(err)
	}
}

const mostAllocated = `apiVersion: kubescheduler.config.k8s.io/v1
kind: KubeSchedulerConfiguration
profiles:
- schedulerName: default-scheduler
  pluginConfig:
  - name: NodeResourcesFit
    args:
      scoringStrategy: {type: MostAllocated, resources: [{name: cpu, weight: 1}, {name: memory, weight: 1}]}
`

func written(t *testing.T, content string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "file.yaml")
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func replayOptions(recording string, seed int64, o playback.Playback) Options {
	options := DefaultOptions()
	options.Listen, options.NoVirtualNodes, options.Controllers = "127.0.0.1:0", true, playback.Controllers()
	options.TieSeed = &seed
	o.File, o.WaitForScheduler = recording, true
	options.Replay = &o
	return options
}

// replayed plays a recording to its end, with $SIMULATOR_BIN or in this process, and returns the report.
func replayed(t *testing.T, recording string, seed int64, o playback.Playback) (report replay.Report) {
	t.Helper()
	program := os.Getenv("SIMULATOR_BIN")
	if program == "" {
		report, err := tryReplay(t, recording, seed, "", o)
		if err != nil {
			t.Fatal(err)
		}
		return report
	}
	path := filepath.Join(t.TempDir(), "report.json")
	out, err := exec.CommandContext(t.Context(), program, "replay", recording, "--listen=127.0.0.1:0", fmt.Sprint("--tie-seed=", seed),
		fmt.Sprint("--follow-recording=", o.FollowRecording), "--exit", "--report="+path).CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return readReport(t, path)
}

func readReport(t *testing.T, path string) (report replay.Report) {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(data, &report); err != nil {
		t.Fatal(err)
	}
	return report
}

// tryReplay plays a recording in this process and returns its error.
func tryReplay(t *testing.T, recording string, seed int64, configuration string, o playback.Playback) (replay.Report, error) {
	t.Helper()
	o.Exit, o.Report = true, filepath.Join(t.TempDir(), "report.json")
	options := replayOptions(recording, seed, o)
	if configuration != "" {
		options.SchedulerConfig = written(t, configuration)
	}
	failure := Run(t.Context(), options, io.Discard)
	if failure != nil && !errors.Is(failure, playback.ErrDifferent) {
		t.Fatal(failure)
	}
	return readReport(t, o.Report), failure
}

func simulatedNodes(r replay.Report) map[string]string {
	out := map[string]string{}
	for _, d := range r.Comparison.Items {
		out[d.Pod.Name] = d.SimulatedNode
	}
	return out
}

func differences(r replay.Report) string {
	var lines []string
	for _, d := range r.Comparison.Items {
		if d.Outcome != replay.Matching && !d.Tie {
			lines = append(lines, d.Pod.Name+": "+d.Why)
		}
	}
	return strings.Join(lines, "\n")
}

// recordAfternoon records a simulator while nodes and pods are created, and pods finish and are deleted,
// once with names and once redacted.
func recordAfternoon(t *testing.T, source *running, path, redacted string) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	recorded := make(chan error, 2)
	said := map[string]*messages{}
	for _, output := range []string{path, redacted} {
		m := &messages{begun: make(chan struct{})}
		said[output] = m
		go func() {
			recorded <- capture.Run(ctx, capture.Options{Kubeconfig: source.kubeconfig, Output: output, Redact: output == redacted}, m)
		}()
		select {
		case <-m.begun:
		case err := <-recorded:
			t.Fatal(err)
		}
	}
	source.addReplayNodes(t, replayNodes/2, replayNodes)
	source.run(t, withVolume("db", "data"))
	source.run(t, withDevice("gpu-1"))
	source.liveThrough(t)
	for output := range said {
		waitUntilRecorded(t, output, comparedPods+2)
	}
	cancel()
	for range said {
		if err := <-recorded; err != nil {
			t.Fatal(err)
		}
	}
	for output, m := range said {
		if text := m.String(); strings.Count(text, "\n") != 2 || !strings.Contains(text, "recorded "+output) {
			t.Errorf("the recorder logged\n%s", text)
		}
	}
}

// messages collects a recorder's messages; it closes begun when the initial lists
// are complete.
type messages struct {
	mu    sync.Mutex
	text  strings.Builder
	begun chan struct{}
}

func (m *messages) Write(p []byte) (int, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.text.Len() == 0 {
		close(m.begun)
	}
	return m.text.Write(p)
}

func (m *messages) String() string {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.text.String()
}

// recordedChanges reads the changes that a file contains so far.
func recordedChanges(path string) (changes []replay.Change, err error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil {
		return nil, err
	}
	recording, err := replay.Open(file, info.Size())
	if err != nil {
		return nil, err
	}
	for reader := recording.Read(); ; {
		c, err := reader.Next()
		if errors.Is(err, io.EOF) {
			return changes, nil
		}
		if err != nil {
			return nil, err
		}
		changes = append(changes, c)
	}
}

// recordedNode is a pod's node after a change; empty when it has none, and for other kinds.
func recordedNode(c replay.Change) string {
	if c.Kind.Kind != "Pod" {
		return ""
	}
	node, _, _ := unstructured.NestedString(c.Object, "spec", "nodeName")
	return node
}

// waitUntilRecorded waits until the file holds the bindings of that many pods.
func waitUntilRecorded(t *testing.T, path string, pods int) {
	t.Helper()
	clustertest.Eventually(t, path+" has all pods", func(context.Context) (bool, error) {
		changes, err := recordedChanges(path)
		bound := map[string]bool{}
		for _, c := range changes {
			if recordedNode(c) != "" {
				bound[c.Name] = true
			}
		}
		return len(bound) == pods, err
	})
}

// wantNoNames reads a redacted recording.
func wantNoNames(t *testing.T, path string) {
	t.Helper()
	changes, err := recordedChanges(path)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range changes {
		data, err := json.Marshal(c)
		if err != nil {
			t.Fatal(err)
		}
		for _, word := range []string{"registry.example", "gpu.example", "keeper", "disk-", `"db"`, `"gpu`, `"n0`, `"p0`, `"z0`} {
			if strings.Contains(string(data), word) {
				t.Fatalf("there is %s in %s", word, data)
			}
		}
	}
}
