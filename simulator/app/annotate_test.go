package app

import (
	"context"
	"fmt"
	"os"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes/fake"
	"k8s.io/klog/v2"
	testclock "k8s.io/utils/clock/testing"

	"kube-scheduler-simulator/scheduler/annotation"
	"kube-scheduler-simulator/scheduler/result"
	"kube-scheduler-simulator/scheduler/resultstore"
	"kube-scheduler-simulator/simulator/testing/clustertest"
)

func idleWriter() *annotation.Writer {
	return annotation.NewWriter(fake.NewClientset(), resultstore.New(resultstore.Options{}), 1000, testclock.NewFakeClock(time.Unix(0, 0)), nil)
}

// Annotations that wait when the simulator stops are in a kept data directory until it
// starts again.
func TestAnnotationsThatWaitAreKept(t *testing.T) {
	for _, tc := range []struct {
		name      string
		temporary bool
		want      []annotation.Attempt
	}{
		{"in a kept directory", false, []annotation.Attempt{{UID: "a", Attempt: 3}}},
		{"not in a temporary one", true, []annotation.Attempt{}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			s := &simulator{prepared: &prepared{dataDir: t.TempDir(), temporary: tc.temporary}}
			before, after := idleWriter(), idleWriter()
			before.Note(&result.Cycle{Summary: result.Summary{Pod: result.Pod{UID: "a"}, Attempt: 3}})
			if err := s.leaveAnnotations(before); err != nil {
				t.Fatal(err)
			}
			if err := s.resumeAnnotations(after); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tc.want, after.Left()); diff != "" {
				t.Error(diff)
			}
			if _, err := os.Stat(s.annotationsLeft()); !os.IsNotExist(err) {
				t.Errorf("the file is left: %v", err)
			}
		})
	}
}

// A damaged file loses annotations, which are only copies, but not the start.
func TestDamagedFileOfWaitingAnnotations(t *testing.T) {
	s := &simulator{prepared: &prepared{dataDir: t.TempDir()}, options: Options{Logger: klog.Logger{}}}
	if err := os.WriteFile(s.annotationsLeft(), []byte("["), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := s.resumeAnnotations(idleWriter()); err != nil {
		t.Error(err)
	}
}

// A simulator stops right after it has scheduled many pods. After a restart every pod has
// its annotations.
func TestARestartWritesTheAnnotationsThatWaited(t *testing.T) {
	clustertest.Slow(t)
	const pods = 150
	options := DefaultOptions()
	options.DataDir = t.TempDir()
	s, err := startInProcess(options)
	if err != nil {
		t.Fatal(err)
	}
	s.addNode(t, "n")
	for i := range pods {
		p := pod(fmt.Sprintf("p-%d", i), "reset", "1m")
		if _, err := s.client.CoreV1().Pods(metav1.NamespaceDefault).Create(t.Context(), p, metav1.CreateOptions{}); err != nil {
			t.Fatal(err)
		}
	}
	list := func(ctx context.Context, s *running) (bound, annotated int, err error) {
		pods, err := s.client.CoreV1().Pods(metav1.NamespaceDefault).List(ctx, metav1.ListOptions{})
		if err != nil {
			return 0, 0, err
		}
		for _, p := range pods.Items {
			if p.Spec.NodeName != "" {
				bound++
			}
			if p.Annotations[annotation.Prefix+"selected-node"] != "" {
				annotated++
			}
		}
		return bound, annotated, nil
	}
	clustertest.Eventually(t, "every pod is bound", func(ctx context.Context) (bool, error) {
		bound, _, err := list(ctx, s)
		return bound == pods, err
	})
	if err := s.stop(); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat((&simulator{prepared: &prepared{dataDir: options.DataDir}}).annotationsLeft()); err != nil {
		t.Fatalf("no annotations waited at the end, so this test shows nothing: %v", err)
	}

	s = launch(t, options)
	clustertest.Eventually(t, "every pod is annotated", func(ctx context.Context) (bool, error) {
		_, annotated, err := list(ctx, s)
		return annotated == pods, err
	})
}
