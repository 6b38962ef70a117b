package app

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"kube-scheduler-simulator/scheduler/config"
	"kube-scheduler-simulator/scheduler/result"
	"kube-scheduler-simulator/simulator/host/datadir"
	"kube-scheduler-simulator/simulator/server"
	"kube-scheduler-simulator/simulator/testing/clustertest"
)

// startApart starts a simulator that belongs to the test.
func startApart(t *testing.T, options Options) *running {
	t.Helper()
	s := launch(t, options)
	return s
}

// put sends a PUT and returns the answer.
func (s *running) put(t *testing.T, path, body string) (int, []byte) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPut, s.url+path, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	resp, err := http.DefaultClient.Do(s.authorized(req))
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	answer, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return resp.StatusCode, answer
}

func (s *running) reset(t *testing.T) server.Reset {
	t.Helper()
	code, answer := s.put(t, "/api/v1/reset", "")
	var done server.Reset
	if err := json.Unmarshal(answer, &done); code != http.StatusOK || err != nil {
		t.Fatalf("PUT /api/v1/reset: %d %s", code, answer)
	}
	return done
}

// roomyNode is a node with room for every pod of these tests.
func roomyNode(name string) *v1.Node {
	has := v1.ResourceList{v1.ResourceCPU: resource.MustParse("1000"), v1.ResourceMemory: resource.MustParse("1000Gi"), v1.ResourcePods: resource.MustParse("10000")}
	return &v1.Node{ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{"pool": "reset"}}, Status: v1.NodeStatus{Capacity: has, Allocatable: has}}
}

func (s *running) addNode(t *testing.T, name string) {
	t.Helper()
	if _, err := s.client.CoreV1().Nodes().Create(t.Context(), roomyNode(name), metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
}

const otherConfiguration = "apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\nprofiles:\n- schedulerName: default-scheduler\n- schedulerName: other\n"

func TestResetRestoresEverything(t *testing.T) {
	options := DefaultOptions()
	options.DataDir = t.TempDir()
	s := startApart(t, options)
	if code, answer := s.put(t, "/api/v1/schedulerconfiguration", otherConfiguration); code != http.StatusOK {
		t.Fatalf("%d %s", code, answer)
	}
	s.addNode(t, "n")
	created, _ := create(t, s, "default", pod("web", "reset", "1"), result.Scheduled)

	if done := s.reset(t); done.Deleted < 2 || done.DurationSeconds <= 0 {
		t.Errorf("the reset answers %+v", done)
	}

	var page result.Page
	s.get(t, "/api/v1/results", &page)
	if len(page.Items) != 0 {
		t.Errorf("results are left: %+v", page.Items)
	}
	var revisions struct{ Items []config.Revision }
	s.get(t, "/api/v1/schedulerconfiguration/revisions", &revisions)
	if len(revisions.Items) != 1 || revisions.Items[0].Number != 3 || revisions.Items[0].Source != config.OriginDefault {
		t.Errorf("revisions: %+v", revisions.Items)
	}
	var status server.Status
	s.get(t, "/api/v1/status", &status)
	if !status.Ready || status.Operation != nil {
		t.Errorf("status: %+v", status)
	}
	if files, err := filepath.Glob(filepath.Join(options.DataDir, "results", "*")); err != nil || len(files) != 0 {
		t.Errorf("files of results: %v, %v", files, err)
	}
	if _, err := os.Stat(filepath.Join(options.DataDir, resetMark)); !os.IsNotExist(err) {
		t.Errorf("the mark is left: %v", err)
	}

	// A new pod of the same name has its own attempts.
	s.addNode(t, "m")
	again, cycle := create(t, s, "default", pod("web", "reset", "1"), result.Scheduled)
	if again.UID == created.UID || cycle.SelectedNode != "m" || cycle.Revision != 3 {
		t.Errorf("scheduled on %s under revision %d", cycle.SelectedNode, cycle.Revision)
	}
}

// The reset runs while clients and controllers create pods and the scheduler binds them.
func TestConcurrentSchedulingAndReset(t *testing.T) {
	clustertest.Slow(t)
	s := startApart(t, DefaultOptions())
	for i := range 20 {
		s.addNode(t, fmt.Sprintf("n%d", i))
	}
	for i := range 5 {
		if _, err := s.client.AppsV1().Deployments("default").Create(t.Context(), deploymentOf(fmt.Sprintf("d%d", i), 100), metav1.CreateOptions{}); err != nil {
			t.Fatal(err)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	var creating sync.WaitGroup
	for w := range 4 {
		creating.Go(func() {
			// The reset refuses the write with a conflict, and the loop ends.
			for i := 0; ; i++ {
				if _, err := s.client.CoreV1().Pods("default").Create(ctx, pod(fmt.Sprintf("p%d-%d", w, i), "reset", "100m"), metav1.CreateOptions{}); err != nil {
					return
				}
			}
		})
	}
	clustertest.Eventually(t, "pods are scheduled", func(context.Context) (bool, error) {
		var page result.Page
		s.get(t, "/api/v1/results?limit=200&outcome=scheduled", &page)
		return len(page.Items) >= 100, nil
	})

	s.reset(t)
	cancel()
	creating.Wait()
	s.reset(t) // deletes the objects that were created between the refusal and the end

	s.addNode(t, "after")
	next, cycle := create(t, s, "default", pod("next", "reset", "1"), result.Scheduled)
	if cycle.SelectedNode != "after" || cycle.Nodes.Total != 1 {
		t.Errorf("%s is scheduled on %s, of %d nodes", next.Name, cycle.SelectedNode, cycle.Nodes.Total)
	}
	pods, err := s.client.CoreV1().Pods("").List(t.Context(), metav1.ListOptions{})
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, p := range pods.Items {
		names = append(names, p.Name)
	}
	if diff := cmp.Diff([]string{"next"}, names); diff != "" {
		t.Errorf("pods (-want +got):\n%s", diff)
	}
	var page result.Page
	s.get(t, "/api/v1/results?limit=200", &page)
	for _, summary := range page.Items {
		if summary.Pod.UID != next.UID {
			t.Errorf("a result of %s is left", summary.Pod.Name)
		}
	}
}

func deploymentOf(name string, replicas int32) *appsv1.Deployment {
	labels := map[string]string{"app": name}
	return &appsv1.Deployment{
		ObjectMeta: metav1.ObjectMeta{Name: name},
		Spec: appsv1.DeploymentSpec{
			Replicas: ptr.To(replicas), Selector: &metav1.LabelSelector{MatchLabels: labels},
			Template: v1.PodTemplateSpec{ObjectMeta: metav1.ObjectMeta{Labels: labels}, Spec: pod("", "reset", "100m").Spec},
		},
	}
}

func TestConcurrentResetsTakeTurns(t *testing.T) {
	clustertest.Slow(t)
	s := startApart(t, DefaultOptions())
	codes := make(chan int, 8)
	var asking sync.WaitGroup
	for range cap(codes) {
		asking.Go(func() {
			code, _ := s.put(t, "/api/v1/reset", "")
			codes <- code
		})
	}
	asking.Wait()
	close(codes)
	counts := map[int]int{}
	for code := range codes {
		counts[code]++
	}
	if counts[http.StatusOK] < 1 || counts[http.StatusOK]+counts[http.StatusConflict] != cap(codes) {
		t.Errorf("answers by code: %v", counts)
	}
}

// markedSimulator has a data directory, and nothing else.
func markedSimulator(t *testing.T) *simulator {
	t.Helper()
	return &simulator{prepared: &prepared{dataDir: t.TempDir()}}
}

func TestTheMarkOfAReset(t *testing.T) {
	for _, tc := range []struct {
		name, mark string
		want       resetExtent
		refused    bool
	}{
		{name: "everything", mark: "everything", want: everything},
		{name: "the cluster", mark: "cluster", want: cluster},
		// Earlier versions left it when the disk was full.
		{name: "a reset that could not begin", mark: ""},
		{name: "half a mark", mark: "every", refused: true},
		{name: "a newer version's", mark: "results", refused: true},
	} {
		t.Run(tc.name, func(t *testing.T) {
			s := markedSimulator(t)
			writeFile(t, s.resetMark(), tc.mark)
			got, exists, err := s.readResetMark()
			if !exists {
				t.Error("it is not seen")
			}
			if damage, refused := errors.AsType[*datadir.Damage](err); got != tc.want || refused != tc.refused || refused && damage.Path != s.resetMark() {
				t.Errorf("it is %q, %v", got, err)
			}
			if _, err := os.Lstat(s.resetMark()); tc.refused && err != nil {
				t.Errorf("a mark that cannot be read is gone: %v", err)
			}
		})
	}
	s := markedSimulator(t)
	if got, exists, err := s.readResetMark(); got != "" || exists || err != nil {
		t.Errorf("without a mark: %q, %v, %v", got, exists, err)
	}
}

// What is made after a reset that has failed must be there after the next start.
func TestAResetThatFailsLeavesNoMark(t *testing.T) {
	for _, tc := range []struct {
		name                     string
		failed, stopping, leaves bool
	}{
		{"done", false, false, false},
		{"failed", true, false, false},
		{"interrupted by a stop", true, true, true},
		{"done during a stop", false, true, false},
	} {
		t.Run(tc.name, func(t *testing.T) {
			s := markedSimulator(t)
			if err := s.markReset(everything); err != nil {
				t.Fatal(err)
			}
			if tc.stopping {
				if err := s.operations.Close(t.Context()); err != nil {
					t.Fatal(err)
				}
			}
			if err := s.unmarkReset(tc.failed); err != nil {
				t.Fatal(err)
			}
			if _, err := os.Lstat(s.resetMark()); (err == nil) != tc.leaves {
				t.Errorf("the mark: %v", err)
			}
		})
	}
}

func TestAMarkThatCannotBeWritten(t *testing.T) {
	s := markedSimulator(t)
	// In its place is something that cannot be replaced.
	if err := os.MkdirAll(filepath.Join(s.resetMark(), "x"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := s.markReset(everything); err == nil {
		t.Error("no error")
	}
	files, err := filepath.Glob(filepath.Join(s.prepared.dataDir, "*"))
	if err != nil || len(files) != 1 {
		t.Errorf("left are %v, %v", files, err)
	}
}

// The program was killed during a reset: the mark exists, and so do all objects.
func TestAnInterruptedResetIsFinishedAtTheNextStart(t *testing.T) {
	clustertest.Slow(t)
	options := DefaultOptions()
	options.DataDir = t.TempDir()
	s, err := startInProcess(options)
	if err != nil {
		t.Fatal(err)
	}
	s.put(t, "/api/v1/schedulerconfiguration", otherConfiguration)
	s.addNode(t, "n")
	create(t, s, "default", pod("web", "reset", "1"), result.Scheduled)
	if err := s.stop(); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(options.DataDir, resetMark), []byte(everything), 0o600); err != nil {
		t.Fatal(err)
	}

	s = startApart(t, options)
	nodes, err := s.client.CoreV1().Nodes().List(t.Context(), metav1.ListOptions{})
	if err != nil || len(nodes.Items) != 0 {
		t.Errorf("%d nodes, %v", len(nodes.Items), err)
	}
	var page result.Page
	s.get(t, "/api/v1/results", &page)
	var revisions struct{ Items []config.Revision }
	s.get(t, "/api/v1/schedulerconfiguration/revisions", &revisions)
	if len(page.Items) != 0 || len(revisions.Items) != 1 {
		t.Errorf("%d results, revisions %+v", len(page.Items), revisions.Items)
	}
	if _, err := os.Stat(filepath.Join(options.DataDir, resetMark)); !os.IsNotExist(err) {
		t.Errorf("the mark is left: %v", err)
	}
}
