package app

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"kube-scheduler-simulator/scheduler"
	"kube-scheduler-simulator/scheduler/result"
	"kube-scheduler-simulator/simulator/lesson"
	"kube-scheduler-simulator/simulator/lesson/live"
	"kube-scheduler-simulator/simulator/scenarios/scenario"
	"kube-scheduler-simulator/simulator/testing/clustertest"
)

// liveSandbox is a simulator of its own for one rehearsal.
type liveSandbox struct {
	*live.Cluster
	stop func() error
}

var _ lesson.Sandbox = liveSandbox{}

func (s liveSandbox) Close() error { return s.stop() }

// TestLessonsOfAServer grades the checks of the lessons that need a whole simulator, for right and for wrong answers.
func TestLessonsOfAServer(t *testing.T) {
	clustertest.Slow(t) // starts a simulator for every check
	nothingWaits(t)
	all, err := lesson.BuiltIn()
	if err != nil {
		t.Fatal(err)
	}
	open := func(_ context.Context, l *lesson.Lesson) (lesson.Sandbox, error) {
		start, err := l.Start()
		if err != nil {
			return nil, err
		}
		options := DefaultOptions()
		options.Kueue, options.Karpenter, options.SessionScheduler = l.Kueue, l.Karpenter, l.Sessions
		options.TieSeed = new(int64(scenario.DefaultSeed))
		if l.Extender {
			options.ExampleExtender = lesson.ExtenderAddress
		}
		objects, err := json.Marshal(map[string]any{"apiVersion": "v1", "kind": "List", "items": start.Objects})
		if err != nil {
			return nil, err
		}
		options.Import = filepath.Join(t.TempDir(), "objects.json")
		if err := os.WriteFile(options.Import, objects, 0o600); err != nil {
			return nil, err
		}
		s, err := startInProcess(options)
		if err != nil {
			return nil, err
		}
		cluster, err := s.simulator.lessonCluster()
		if err != nil {
			return nil, err
		}
		return liveSandbox{cluster, s.stop}, cluster.Settle(t.Context())
	}
	for _, l := range all {
		if l.Engine != lesson.EngineServer {
			continue
		}
		t.Run(l.ID, func(t *testing.T) {
			if err := lesson.Rehearse(t.Context(), l, open); err != nil {
				t.Error(err)
			}
		})
	}
}

// nothingWaits empties the queues of the shared simulator. All schedulers of a process count the lengths of their queues together, so a pod that
// waits there would keep every other cluster from settling.
func nothingWaits(t *testing.T) {
	t.Helper()
	all, err := shared.client.CoreV1().Pods("").List(t.Context(), metav1.ListOptions{FieldSelector: "spec.nodeName="})
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range all.Items {
		if err := shared.client.CoreV1().Pods(p.Namespace).Delete(t.Context(), p.Name, *metav1.NewDeleteOptions(0)); err != nil && !apierrors.IsNotFound(err) {
			t.Fatal(err)
		}
	}
	clustertest.Eventually(t, "no pod is in the active or in the backoff queue", func(context.Context) (bool, error) {
		queues, err := scheduler.Queues()
		return err == nil && !slices.ContainsFunc(queues.Queues, func(q result.QueueState) bool {
			return (q.Queue == "active" || q.Queue == "backoff") && q.Pods > 0
		}), err
	})
}
