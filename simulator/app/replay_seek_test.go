package app

import (
	"context"
	"errors"
	"os"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"kube-scheduler-simulator/simulator/host/operation"
	"kube-scheduler-simulator/simulator/past/replay"
	"kube-scheduler-simulator/simulator/testing/clustertest"
)

// seekInto loads a recording into a simulator and seeks back and forth in it.
func seekInto(t *testing.T, s *running, path string) {
	t.Helper()
	changes, err := recordedChanges(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := s.load(t, path); err != nil {
		t.Fatal(err)
	}
	for _, i := range []int{len(changes) * 2 / 3, len(changes) / 3} {
		position, begin := changes[i].Time, time.Now()
		if _, err := s.simulator.replays.Do(replay.Control{Position: &position}); err != nil {
			t.Fatal(err)
		}
		clustertest.Eventually(t, "it is there", func(context.Context) (bool, error) {
			status, _ := s.simulator.replays.Status()
			return status.State == replay.Paused, nil
		})
		t.Logf("%d changes took %s", i, time.Since(begin).Round(time.Millisecond))
		list, err := s.client.CoreV1().Pods("").List(t.Context(), metav1.ListOptions{})
		if err != nil {
			t.Fatal(err)
		}
		// A pod that was pending at that time may be bound now.
		got, want := map[string]string{}, boundIn(changes, position)
		for _, p := range list.Items {
			if want[p.Name] != "" {
				got[p.Name] = p.Spec.NodeName
			}
		}
		if diff := cmp.Diff(want, got); diff != "" || len(list.Items) > len(want)+1 {
			t.Errorf("of %d pods (-recorded +simulated):\n%s", len(list.Items), diff)
		}
	}
}

// load sends a recording to the simulator.
func (s *running) load(t *testing.T, path string) error {
	t.Helper()
	file, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	_, err = s.simulator.replays.Load(t.Context(), "afternoon", file)
	return err
}

// boundIn returns the nodes of the pods that were bound and running at a time of a
// recording.
func boundIn(changes []replay.Change, at time.Time) map[string]string {
	nodes := map[string]string{}
	for _, c := range changes {
		if c.Kind.Kind != "Pod" || c.Time.After(at) {
			continue
		}
		delete(nodes, c.Name)
		phase, _, _ := unstructured.NestedString(c.Object, "status", "phase")
		if node := recordedNode(c); node != "" && phase != string(v1.PodSucceeded) {
			nodes[c.Name] = node
		}
	}
	return nodes
}

// refuseWhileBusy sends a recording while another operation acts on the cluster.
func refuseWhileBusy(t *testing.T, s *running, path string) {
	t.Helper()
	_, other, err := s.simulator.operations.Begin(t.Context(), operation.Import, "an import")
	if err != nil {
		t.Fatal(err)
	}
	defer other.End()
	var busy *operation.Busy
	if err := s.load(t, path); !errors.As(err, &busy) {
		t.Errorf("the error is %v", err)
	}
	if s.simulator.replays.Exclusive() {
		t.Error("the refused recording owns the cluster")
	}
}
