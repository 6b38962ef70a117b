package fanout

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	batchv1 "k8s.io/api/batch/v1"
	v1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes/fake"
	clienttesting "k8s.io/client-go/testing"

	"kube-scheduler-simulator/scheduler/config"
	"kube-scheduler-simulator/simulator/command/runner"
	"kube-scheduler-simulator/simulator/scenarios/inmemory"
	"kube-scheduler-simulator/simulator/scenarios/scenario"
)

// weights is a sweep of 4 points with 2 seeds.
var weights = filepath.Join("..", "..", "examples", "scenarios", "weights.yaml")

func options(out *bytes.Buffer) runner.Options {
	return runner.Options{Engine: inmemory.Engine(nil), Parse: config.Parse, Workers: 2, Out: out, Now: time.Now}
}

func load(t *testing.T) *scenario.Sweep {
	t.Helper()
	l, err := runner.LoadSweep(t.Context(), weights, options(nil))
	if err != nil {
		t.Fatal(err)
	}
	return l
}

func TestRanges(t *testing.T) {
	for text, numbers := range map[string][]int{"": nil, "0": {0}, "0-3,5,7-8": {0, 1, 2, 3, 5, 7, 8}} {
		if got := writeRanges(numbers); got != text {
			t.Errorf("wrote %q, not %q", got, text)
		}
		if got, err := readRanges(text); err != nil || !slices.Equal(got, numbers) {
			t.Errorf("read %v, %v from %q", got, err, text)
		}
	}
	for _, text := range []string{"a", "3-1", "0-99999999999", "1-"} {
		if got, err := readRanges(text); err == nil {
			t.Errorf("read %d numbers from %q", len(got), text)
		}
	}
}

// noise does not compress.
func noise(size int) []byte {
	random := rand.New(rand.NewPCG(1, 2))
	data := make([]byte, size)
	for i := range data {
		data[i] = byte(random.Uint32())
	}
	return data
}

// TestBundle: files of more than a ConfigMap travel in several, and every run is in one share.
func TestBundle(t *testing.T) {
	l := load(t)
	l.Files["../a trace.csv"] = noise(2 << 20)
	chunks, err := newBundle(l, []int{0, 1, 2, 5, 7}, 2).pack()
	if err != nil || len(chunks) != 3 {
		t.Fatalf("%d chunks, %v", len(chunks), err)
	}
	dir := t.TempDir()
	for i, chunk := range chunks {
		if len(chunk) > 1<<20 {
			t.Errorf("a chunk has %d bytes", len(chunk))
		}
		if err := os.WriteFile(filepath.Join(dir, chunkName(i)), chunk, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	b, err := unpack(dir)
	if err != nil {
		t.Fatal(err)
	}
	if !maps.EqualFunc(l.Files, b.files, bytes.Equal) {
		t.Error("the files differ")
	}
	again, err := scenario.LoadSweep(t.Context(), b.text, scenario.Options{File: b.File, Read: b.read, Parse: config.Parse}, b.Seeds)
	if err != nil || again.Runs() != l.Runs() {
		t.Errorf("%v", err)
	}
	var all []int
	for i := range 2 {
		share, err := b.share(i)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, share...)
	}
	if slices.Sort(all); !slices.Equal(all, []int{0, 1, 2, 5, 7}) {
		t.Errorf("the shares have the runs %v", all)
	}
	if _, err := b.share(2); err == nil {
		t.Error("there is a third share")
	}
	if _, err := b.read("none"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("error %v", err)
	}
}

// TestTooLargeAFile: files that do not travel are refused by name.
func TestTooLargeAFile(t *testing.T) {
	l := load(t)
	l.Files["trace.csv"] = noise(maxChunks*chunkBytes + 1)
	if _, err := newBundle(l, []int{0}, 1).pack(); err == nil || !strings.Contains(err.Error(), "the largest is trace.csv with 17 MiB") {
		t.Errorf("error %v", err)
	}
}

func TestJob(t *testing.T) {
	l := load(t)
	l.Name = "Größe, Web: peak!"
	name := jobName(l)
	if want := "sweep-gr-e-web-peak-" + l.Digest[:10]; name != want {
		t.Errorf("the name is %s", name)
	}
	if l.Name = "日本"; !strings.HasPrefix(jobName(l), "sweep-"+l.Digest[:4]) {
		t.Errorf("the name is %s", jobName(l))
	}
	job := newJob(name, l.Digest, 8, 3, 2, Options{Image: "i", Parallelism: 5, Retries: 1})
	if *job.Spec.Completions != 3 || *job.Spec.Parallelism != 3 || len(job.Spec.Template.Spec.Volumes[0].Projected.Sources) != 4 {
		t.Errorf("%+v", job.Spec)
	}
}

const theJob = "j"

func shareOf(client *fake.Clientset, uid types.UID, index int) *results {
	return &results{configMaps: client.CoreV1().ConfigMaps("ns"), job: owner{theJob, uid}, index: index}
}

func outcome(point int, seed int64) scenario.RunOutcome {
	return scenario.RunOutcome{Point: point, Seed: seed, Outcome: scenario.Passed, Held: 3, Of: 3}
}

// stored returns all outcomes in the cluster by run, with how often each is there.
func stored(t *testing.T, client *fake.Clientset) map[runID]int {
	t.Helper()
	list, err := client.CoreV1().ConfigMaps("ns").List(t.Context(), metav1.ListOptions{})
	if err != nil {
		t.Fatal(err)
	}
	out := map[runID]int{}
	for _, c := range list.Items {
		outcomes, err := decodeOutcomes(&c)
		if err != nil {
			t.Fatal(err)
		}
		if len(c.BinaryData[resultsKey]) > 1<<20 || c.Annotations[annotationRuns] != strconv.Itoa(len(outcomes)) {
			t.Errorf("%s: %d bytes, %v", c.Name, len(c.BinaryData[resultsKey]), c.Annotations)
		}
		for _, o := range outcomes {
			out[idOf(o)]++
		}
	}
	return out
}

// TestResults: outcomes are kept once, whatever another pod of the share has kept in between or before.
func TestResults(t *testing.T) {
	client := fake.NewClientset()
	ctx := t.Context()
	a, b := shareOf(client, "1", 0), shareOf(client, "1", 0)
	must(t, a.load(ctx), a.save(ctx, nil), a.save(ctx, []scenario.RunOutcome{outcome(0, 1)}))
	must(t, b.load(ctx))
	if !b.kept[runID{0, 1}] || len(b.kept) != 1 {
		t.Errorf("the second pod finds %v", b.kept)
	}
	conflictOnce(client, "configmaps")
	must(t, b.save(ctx, []scenario.RunOutcome{outcome(0, 1), outcome(1, 1)}))
	// The first pod was killed after it wrote, and writes the same again, with more.
	must(t, a.load(ctx), a.save(ctx, []scenario.RunOutcome{outcome(0, 1), outcome(1, 1), outcome(2, 1)}))
	if diff := cmp.Diff(map[runID]int{{0, 1}: 1, {1, 1}: 1, {2, 1}: 1}, stored(t, client), cmp.AllowUnexported(runID{})); diff != "" {
		t.Error(diff)
	}
	// A Job of the same name was removed, and the garbage collector has not been here yet.
	c := shareOf(client, "2", 0)
	must(t, c.load(ctx), c.save(ctx, []scenario.RunOutcome{outcome(5, 1)}))
	if diff := cmp.Diff(map[runID]int{{5, 1}: 1}, stored(t, client), cmp.AllowUnexported(runID{})); diff != "" {
		t.Error(diff)
	}
}

// TestLargeResults: outcomes of more than a ConfigMap are kept in several, and one outcome that fits none is refused by name.
func TestLargeResults(t *testing.T) {
	client := fake.NewClientset()
	r := shareOf(client, "1", 3)
	must(t, r.load(t.Context()), r.save(t.Context(), nil))
	want := map[runID]int{}
	for i := range 3 {
		var some []scenario.RunOutcome
		for j := range 4 {
			o := outcome(4*i+j, 1)
			o.Error = fmt.Sprintf("%x", noise(100<<10)) + strconv.Itoa(i*4+j)
			some, want[idOf(o)] = append(some, o), 1
		}
		must(t, r.save(t.Context(), some))
	}
	if diff := cmp.Diff(want, stored(t, client), cmp.AllowUnexported(runID{})); diff != "" || r.parts < 2 {
		t.Errorf("%d parts\n%s", r.parts, diff)
	}
	huge := outcome(99, 1)
	huge.Error = fmt.Sprintf("%x", noise(1<<20))
	if err := r.save(t.Context(), []scenario.RunOutcome{huge}); err == nil || !strings.Contains(err.Error(), "the outcome of point 99, seed 1 takes") {
		t.Errorf("error %v", err)
	}
}

func must(t *testing.T, errs ...error) {
	t.Helper()
	if err := errors.Join(errs...); err != nil {
		t.Fatal(err)
	}
}

// conflictOnce refuses the next update, as after a write of another client.
func conflictOnce(client *fake.Clientset, resource string) {
	refused := false
	client.PrependReactor("update", resource, func(clienttesting.Action) (bool, runtime.Object, error) {
		if refused {
			return false, nil, nil
		}
		refused = true
		return true, nil, apierrors.NewConflict(v1.Resource(resource), "c", errors.New("changed"))
	})
}

// TestSharesMakeTheSweep: the shares of a sweep have the same results as the sweep on one machine, byte for byte, and runs that a pod has
// kept before its end are not run again.
func TestSharesMakeTheSweep(t *testing.T) {
	local := swept(t, func(o runner.SweepOptions) error { return runner.Sweep(t.Context(), weights, o) })
	client := fake.NewClientset()
	shared := swept(t, func(o runner.SweepOptions) error {
		l := load(t)
		for index := range 3 {
			b := newBundle(l, mustState(t, l, o).Missing(l), 3)
			numbers, err := b.share(index)
			must(t, err)
			// The first attempt of each share is interrupted after its first run.
			ctx, cancel := context.WithCancel(t.Context())
			first := options(&bytes.Buffer{})
			first.Workers, first.Engine = 1, interrupting(first.Engine, cancel)
			if err := doShare(ctx, l, numbers, shareOf(client, "1", index), first); !errors.Is(err, context.Canceled) {
				t.Errorf("error %v", err)
			}
			before := len(stored(t, client))
			runs := 0
			second := options(&bytes.Buffer{})
			engine := second.Engine
			second.Workers, second.Engine = 1, func(ctx context.Context, o scenario.ClusterOptions) (scenario.Cluster, error) {
				runs++
				return engine(ctx, o)
			}
			must(t, doShare(t.Context(), l, numbers, shareOf(client, "1", index), second))
			if runs != len(numbers)-1 {
				t.Errorf("share %d does %d of %d runs after an interruption, with %d outcomes before", index, runs, len(numbers), before)
			}
		}
		state := mustState(t, l, o)
		defer state.Close()
		list, err := client.CoreV1().ConfigMaps("ns").List(t.Context(), metav1.ListOptions{})
		must(t, err)
		for _, c := range list.Items {
			outcomes, err := decodeOutcomes(&c)
			must(t, err)
			for _, o := range outcomes {
				must(t, state.Add(o), state.Add(o))
			}
		}
		return runner.Report(l, state, o)
	})
	if diff := cmp.Diff(local, shared); diff != "" {
		t.Error(diff)
	}
}

// interrupting cancels when the second run begins.
func interrupting(engine scenario.Engine, cancel context.CancelFunc) scenario.Engine {
	runs := 0
	return func(ctx context.Context, o scenario.ClusterOptions) (scenario.Cluster, error) {
		if runs++; runs == 2 {
			cancel()
		}
		return engine(ctx, o)
	}
}

func mustState(t *testing.T, l *scenario.Sweep, o runner.SweepOptions) *runner.State {
	t.Helper()
	state, err := runner.OpenState(l, weights, o)
	must(t, err)
	return state
}

// swept returns the table and the file of a sweep.
func swept(t *testing.T, sweep func(runner.SweepOptions) error) [2]string {
	t.Helper()
	dir := t.TempDir()
	var out bytes.Buffer
	o := runner.SweepOptions{Options: options(&out), State: filepath.Join(dir, "runs"), File: filepath.Join(dir, "out.json")}
	must(t, sweep(o))
	data, err := os.ReadFile(o.File)
	must(t, err)
	return [2]string{out.String(), string(data)}
}

func TestWhyNotRunning(t *testing.T) {
	pod := func(status v1.PodStatus) v1.Pod {
		return v1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "p"}, Status: status}
	}
	waiting := func(reason string) v1.Pod {
		return pod(v1.PodStatus{Phase: v1.PodPending, ContainerStatuses: []v1.ContainerStatus{{Image: "i", State: v1.ContainerState{Waiting: &v1.ContainerStateWaiting{Reason: reason, Message: "no such image"}}}}})
	}
	for _, test := range []struct {
		name  string
		pods  []v1.Pod
		why   string
		final bool
	}{
		{"none", nil, "", false},
		{"being pulled", []v1.Pod{waiting("ContainerCreating")}, "", false},
		{"no image", []v1.Pod{waiting("ImagePullBackOff")}, "the container of the pod p with the image i waits with ImagePullBackOff: no such image", true},
		{"no node", []v1.Pod{pod(v1.PodStatus{Phase: v1.PodPending, Conditions: []v1.PodCondition{{Type: v1.PodScheduled, Status: v1.ConditionFalse, Message: "0/3 nodes are available"}}})}, "the pod p has no node: 0/3 nodes are available", false},
	} {
		if why, final := whyNotRunning(test.pods); why != test.why || final != test.final {
			t.Errorf("%s: %q, %t", test.name, why, final)
		}
	}
}

func TestWhyFailed(t *testing.T) {
	ended := func(name string, at int64, s v1.ContainerStateTerminated) v1.Pod {
		s.FinishedAt = metav1.Unix(at, 0)
		return v1.Pod{ObjectMeta: metav1.ObjectMeta{Name: name}, Status: v1.PodStatus{Phase: v1.PodFailed, ContainerStatuses: []v1.ContainerStatus{{State: v1.ContainerState{Terminated: &s}}}}}
	}
	wrong := ended("a", 2, v1.ContainerStateTerminated{ExitCode: 2, Message: "x\nsimulator: configmaps is forbidden\n"})
	full := ended("b", 1, v1.ContainerStateTerminated{ExitCode: 137, Reason: "OOMKilled"})
	for want, pods := range map[string][]v1.Pod{
		"": nil,
		"the pod a ended with exit code 2: simulator: configmaps is forbidden":                     {wrong, full},
		"the pod b ended with exit code 137, because it took more memory than --requests gives it": {full},
		"the pod c failed: The node was low on resource: memory":                                   {{ObjectMeta: metav1.ObjectMeta{Name: "c"}, Status: v1.PodStatus{Phase: v1.PodFailed, Message: "The node was low on resource: memory"}}},
	} {
		if got := whyFailed(pods); got != want {
			t.Errorf("%q, not %q", got, want)
		}
	}
}

// TestShareRefusesWhatIsNotItsOwn: outside of a pod of a Job the share says so, and does not ask to be tried again.
func TestShareRefusesWhatIsNotItsOwn(t *testing.T) {
	dir := t.TempDir()
	if err := Share(t.Context(), dir, func(string) string { return "" }, options(nil)); !errors.As(err, new(*HopelessError)) {
		t.Errorf("error %v", err)
	}
	chunks, err := newBundle(load(t), []int{0}, 1).pack()
	must(t, err, os.WriteFile(filepath.Join(dir, chunkName(0)), chunks[0], 0o600))
	if err := Share(t.Context(), dir, func(string) string { return "" }, options(nil)); !errors.As(err, new(*HopelessError)) || !strings.Contains(err.Error(), envIndex) {
		t.Errorf("error %v", err)
	}
}

func TestIsFinished(t *testing.T) {
	job := &batchv1.Job{Status: batchv1.JobStatus{Conditions: []batchv1.JobCondition{{Type: batchv1.JobSuccessCriteriaMet, Status: v1.ConditionTrue}, {Type: batchv1.JobComplete, Status: v1.ConditionFalse}}}}
	if isFinished(job) != nil {
		t.Error("it is finished")
	}
	job.Status.Conditions[1].Status = v1.ConditionTrue
	if c := isFinished(job); c == nil || c.Type != batchv1.JobComplete {
		t.Errorf("%v", c)
	}
}
