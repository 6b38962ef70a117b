package app

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/kubernetes"
	"k8s.io/utils/ptr"

	"kube-scheduler-simulator/simulator/replay"
)

const (
	replayNodes = 60
	replayPods  = 200
	// alike is how many decisions must come out alike. What the source's scheduler
	// had not seen yet when it decided, such as a pod that ended a moment before,
	// is not in a recording, and happens on a busy machine.
	alike = replayPods * 90 / 100
)

// TestARecordingIsReplayed records a simulator in which pods come, finish and go,
// and plays that into others.
func TestARecordingIsReplayed(t *testing.T) {
	recording := filepath.Join(t.TempDir(), "afternoon.rec")
	recordAfternoon(t, recording)

	t.Run("the same configuration and seed decide the same", func(t *testing.T) {
		got := replayed(t, recording, 1, "", ReplayOptions{})
		if c := got.Comparison.Counts; c.Compared != replayPods || c.Matching < alike {
			t.Errorf("%+v: %s", c, differences(got))
		}
		if got.Replay.Failed != 0 || got.Replay.Applied != got.Replay.Changes {
			t.Errorf("%+v", got.Replay)
		}
	})
	t.Run("another seed decides otherwise, and the same each time", func(t *testing.T) {
		first, second := replayed(t, recording, 2, "", ReplayOptions{}), replayed(t, recording, 2, "", ReplayOptions{})
		if diff := cmp.Diff(simulatedNodes(first), simulatedNodes(second)); diff != "" {
			t.Errorf("the second run (+) is not the first (-):\n%s", diff)
		}
		if c := first.Comparison.Counts; c.Different == 0 {
			t.Errorf("%+v", c)
		}
	})
	// Each decision is asked for in the recorded state, so that another seed is all
	// that is different.
	t.Run("following the recording only ties differ", func(t *testing.T) {
		got := replayed(t, recording, 2, "", ReplayOptions{FollowRecording: true})
		if c := got.Comparison.Counts; c.Compared != replayPods || c.Matching+c.Tied < alike {
			t.Errorf("%+v: %s", c, differences(got))
		}
	})
	t.Run("another configuration's differences are explained", func(t *testing.T) {
		got := replayed(t, recording, 1, mostAllocated, ReplayOptions{FollowRecording: true})
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
	t.Run("a difference can be a failure", func(t *testing.T) {
		options := replayOptions(recording, 1, ReplayOptions{Exit: true, FailOnDifference: true})
		options.SchedulerConfig = written(t, mostAllocated)
		if err := Run(t.Context(), options, io.Discard); !errors.Is(err, ErrDifferent) {
			t.Errorf("the error is %v", err)
		}
	})
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

func replayOptions(recording string, seed int64, o ReplayOptions) Options {
	options := DefaultOptions()
	options.Listen, options.NoVirtualNodes, options.Controllers = "127.0.0.1:0", true, ReplayControllers()
	options.TieSeed = &seed
	o.File, o.WaitForScheduler = recording, true
	options.Replay = &o
	return options
}

// replayed plays a recording to its end and returns the report.
func replayed(t *testing.T, recording string, seed int64, configuration string, o ReplayOptions) (report replay.Report) {
	t.Helper()
	o.Exit, o.Report = true, filepath.Join(t.TempDir(), "report.json")
	options := replayOptions(recording, seed, o)
	if configuration != "" {
		options.SchedulerConfig = written(t, configuration)
	}
	if err := Run(t.Context(), options, io.Discard); err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(o.Report)
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(data, &report); err != nil {
		t.Fatal(err)
	}
	return report
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

// recordAfternoon records a simulator while nodes and pods come, pods finish, and
// pods are deleted.
func recordAfternoon(t *testing.T, path string) {
	t.Helper()
	options := DefaultOptions()
	options.NoVirtualNodes, options.Controllers, options.TieSeed = true, ReplayControllers(), ptr.To(int64(1))
	source, err := startInProcess(options)
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := source.stop(); err != nil {
			t.Error(err)
		}
	}()
	addReplayNodes(t, source.client, 0, replayNodes/2) // half of them are there before

	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	messages := &messages{begun: make(chan struct{})}
	recorded := make(chan error, 1)
	go func() {
		recorded <- Record(ctx, RecordOptions{Kubeconfig: source.kubeconfig, Output: path}, messages)
	}()
	select {
	case <-messages.begun:
	case err := <-recorded:
		t.Fatal(err)
	}
	addReplayNodes(t, source.client, replayNodes/2, replayNodes)
	liveThrough(t, source.client)
	waitUntilRecorded(t, path, fmt.Sprintf("p%03d", replayPods-1))
	cancel()
	if err := <-recorded; err != nil {
		t.Fatal(err)
	}
	if text := messages.String(); strings.Count(text, "\n") != 2 || !strings.Contains(text, "recorded "+path) {
		t.Errorf("the recorder says\n%s", text)
	}
}

// messages are what a recorder says; begun is closed when the first lists are over.
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

func addReplayNodes(t *testing.T, client kubernetes.Interface, from, to int) {
	t.Helper()
	for i := from; i < to; i++ {
		room := v1.ResourceList{
			v1.ResourceCPU: resource.MustParse(fmt.Sprint(4 << (i % 3))), v1.ResourceMemory: resource.MustParse(fmt.Sprint(8<<(i%2), "Gi")), v1.ResourcePods: resource.MustParse("110"),
		}
		node := &v1.Node{
			ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprintf("n%02d", i), Labels: map[string]string{v1.LabelTopologyZone: fmt.Sprint("z", i%3)}},
			Status:     v1.NodeStatus{Capacity: room, Allocatable: room, Conditions: []v1.NodeCondition{{Type: v1.NodeReady, Status: v1.ConditionTrue}}},
		}
		if _, err := client.CoreV1().Nodes().Create(t.Context(), node, metav1.CreateOptions{}); err != nil {
			t.Fatal(err)
		}
	}
}

// liveThrough creates pods one after the other; every fifth finishes and every
// seventh goes, some pods later.
func liveThrough(t *testing.T, client kubernetes.Interface) {
	t.Helper()
	pods := client.CoreV1().Pods("default")
	name := func(i int) string { return fmt.Sprintf("p%03d", i) }
	for i := range replayPods {
		pod := &v1.Pod{
			ObjectMeta: metav1.ObjectMeta{Name: name(i), Labels: map[string]string{"app": fmt.Sprint("a", i%7)}},
			Spec: v1.PodSpec{Containers: []v1.Container{{Name: "main", Image: "registry.example/app:1", Resources: v1.ResourceRequirements{Requests: v1.ResourceList{
				v1.ResourceCPU: resource.MustParse(fmt.Sprint(100+100*(i%9), "m")), v1.ResourceMemory: resource.MustParse(fmt.Sprint(64<<(i%4), "Mi")),
			}}}}},
		}
		if _, err := pods.Create(t.Context(), pod, metav1.CreateOptions{}); err != nil {
			t.Fatal(err)
		}
		waitBound(t, client, name(i))
		if done := i - 20; done >= 0 && done%5 == 0 {
			if _, err := pods.Patch(t.Context(), name(done), types.MergePatchType, []byte(`{"status":{"phase":"Succeeded"}}`), metav1.PatchOptions{}, "status"); err != nil {
				t.Fatal(err)
			}
		}
		if gone := i - 30; gone >= 0 && gone%7 == 0 {
			if err := pods.Delete(t.Context(), name(gone), metav1.DeleteOptions{GracePeriodSeconds: ptr.To(int64(0))}); err != nil {
				t.Fatal(err)
			}
		}
	}
}

func waitBound(t *testing.T, client kubernetes.Interface, name string) {
	t.Helper()
	err := wait.PollUntilContextTimeout(t.Context(), 2*time.Millisecond, time.Minute, true, func(ctx context.Context) (bool, error) {
		pod, err := client.CoreV1().Pods("default").Get(ctx, name, metav1.GetOptions{})
		return err == nil && pod.Spec.NodeName != "", err
	})
	if err != nil {
		t.Fatalf("%s is not bound: %v", name, err)
	}
}

// waitUntilRecorded waits until the file has where a pod was bound.
func waitUntilRecorded(t *testing.T, path, pod string) {
	t.Helper()
	err := wait.PollUntilContextTimeout(t.Context(), 100*time.Millisecond, time.Minute, true, func(context.Context) (bool, error) {
		file, err := os.Open(path)
		if err != nil {
			return false, err
		}
		defer file.Close()
		recording, err := open(file)
		if err != nil {
			return false, err
		}
		reader := recording.Read()
		for {
			c, err := reader.Next()
			if errors.Is(err, io.EOF) {
				return false, nil
			}
			if err != nil {
				return false, err
			}
			if spec, ok := c.Object["spec"].(map[string]any); ok && c.Name == pod && spec["nodeName"] != nil {
				return true, nil
			}
		}
	})
	if err != nil {
		t.Fatalf("%s is not recorded: %v", pod, err)
	}
}
