package virtualnode

import (
	"bytes"
	"context"
	"runtime/pprof"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/informers"

	"kube-scheduler-simulator/simulator/cluster/objects"
	"kube-scheduler-simulator/simulator/testing/clustertest"
)

// endTimeout bounds how long goroutines of clients may outlive Stop.
const endTimeout = 10 * time.Second

func TestStopLeavesNothing(t *testing.T) {
	// A goroutine inherits the label of the goroutine that starts it.
	const label = "virtualnode-test"
	for name, shares := range map[string]bool{"own informers": false, "shared informers": true} {
		t.Run(name, func(t *testing.T) {
			var factory informers.SharedInformerFactory
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			if shares {
				factory = informers.NewSharedInformerFactory(shared.client, 0)
			}
			pprof.Do(ctx, pprof.Labels(label, t.Name()), func(context.Context) {
				nodes := New(Options{ClientConfig: shared.config, Informers: factory})
				if err := nodes.Start(t.Context()); err != nil {
					t.Error(err)
				}
				stopCtx, cancel := context.WithTimeout(context.Background(), clustertest.Timeout)
				defer cancel()
				if err := nodes.Stop(stopCtx); err != nil {
					t.Error(err)
				}
				if err := nodes.Stop(stopCtx); err != nil {
					t.Errorf("a second Stop: %v", err)
				}
			})
			var left string
			defer func() {
				if left != "" {
					t.Logf("goroutines left:\n%s", left)
				}
			}()
			clustertest.EventuallyWithin(t, endTimeout, "no goroutine is left", func(context.Context) (bool, error) {
				left = labelledGoroutines(t, label)
				return left == "", nil
			})
		})
	}
}

func labelledGoroutines(t *testing.T, label string) string {
	t.Helper()
	var profile bytes.Buffer
	if err := pprof.Lookup("goroutine").WriteTo(&profile, 1); err != nil {
		t.Fatal(err)
	}
	var left []string
	for stack := range strings.SplitSeq(profile.String(), "\n\n") {
		if strings.Contains(stack, label) {
			left = append(left, stack)
		}
	}
	return strings.Join(left, "\n\n")
}

func TestStartsOnce(t *testing.T) {
	stopped := New(Options{ClientConfig: shared.config})
	if err := stopped.Stop(t.Context()); err != nil {
		t.Error(err)
	}
	if err := stopped.Start(t.Context()); err == nil {
		t.Error("it started after Stop")
	}
}

// TestPodsTakeTimeToStart: a pod is ready no sooner than its annotation says.
func TestPodsTakeTimeToStart(t *testing.T) {
	ns := namespace(t, shared)
	pool(t, shared, ns, 1)
	pods := shared.client.CoreV1().Pods(ns)
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "slow", Annotations: map[string]string{objects.AnnotationStartupDuration: "1500ms"}}, Spec: podSpec(ns)}
	if _, err := pods.Create(t.Context(), pod, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	begun := time.Now()
	clustertest.Eventually(t, "it runs", func(ctx context.Context) (bool, error) {
		got, err := pods.Get(ctx, "slow", metav1.GetOptions{})
		return err == nil && got.Status.Phase == corev1.PodRunning, err
	})
	if took := time.Since(begun); took < time.Second {
		t.Errorf("it runs after %s", took)
	}
}

// Virtual nodes find a node and a pod that were created before they started.
func TestWhatIsThereAlready(t *testing.T) {
	c, err := startCluster(clusterOptions{})
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := c.stop(); err != nil {
			t.Error(err)
		}
	}()
	name := pool(t, c, "early", 1)[0]
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "early"}, Spec: podSpec("early")}
	pod.Spec.NodeName = name
	if _, err := c.client.CoreV1().Pods("default").Create(t.Context(), pod, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	nodes := New(Options{ClientConfig: c.config})
	if err := nodes.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := nodes.Stop(context.Background()); err != nil {
			t.Error(err)
		}
	}()
	clustertest.Eventually(t, "the pod runs", func(ctx context.Context) (bool, error) {
		got, err := c.client.CoreV1().Pods("default").Get(ctx, "early", metav1.GetOptions{})
		return err == nil && got.Status.Phase == corev1.PodRunning, err
	})
}
