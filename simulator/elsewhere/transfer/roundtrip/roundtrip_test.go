package roundtrip

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"kube-scheduler-simulator/simulator/elsewhere/transfer"
	"kube-scheduler-simulator/simulator/elsewhere/transfer/manifest"
	"kube-scheduler-simulator/simulator/elsewhere/transfer/manifest/manifesttest"
	"kube-scheduler-simulator/simulator/testing/clustertest"
)

// fill creates a workload of each kind, and binds all pods.
func fill(t *testing.T, c *cluster) {
	t.Helper()
	manifests, err := os.ReadFile("../testdata/cluster.yaml")
	if err != nil {
		t.Fatal(err)
	}
	importText(t, c, string(manifests), transfer.ImportOptions{})
	n, seen := 0, ""
	t.Cleanup(func() {
		if t.Failed() {
			t.Log(seen)
		}
	})
	clustertest.Eventually(t, "all pods run", func(ctx context.Context) (bool, error) {
		pods, err := podsOf(ctx, c, "shop")
		if err != nil {
			return false, err
		}
		running := 0
		for _, pod := range pods {
			if pod.Spec.NodeName == "" {
				bind(ctx, c, pod, fmt.Sprintf("node-%d", n%2))
				n++
			}
			if pod.Status.Phase != corev1.PodPending {
				running++
			}
		}
		// Deployment 3, StatefulSet 2, DaemonSet 2, Jobs 2+2, and one without an owner.
		if len(pods) == 12 && running == 12 {
			return true, nil
		}
		seen = fmt.Sprintf("%d of %d run: %v", running, len(pods), sorted(slices.Collect(maps.Keys(pods))))
		return false, nil
	})
	clustertest.Eventually(t, "the quick job has finished", func(ctx context.Context) (bool, error) {
		job, err := c.client.BatchV1().Jobs("shop").Get(ctx, "quick", metav1.GetOptions{})
		return err == nil && job.Status.CompletionTime != nil, err
	})
	clustertest.Eventually(t, "the claims are bound", func(ctx context.Context) (bool, error) {
		claims, err := c.client.CoreV1().PersistentVolumeClaims("shop").List(ctx, metav1.ListOptions{})
		if err != nil {
			return false, err
		}
		for _, claim := range claims.Items {
			if claim.Status.Phase != corev1.ClaimBound {
				return false, nil
			}
		}
		return len(claims.Items) == 3, nil
	})
}

func bind(ctx context.Context, c *cluster, pod *corev1.Pod, node string) {
	if affinity := pod.Spec.Affinity; affinity != nil && affinity.NodeAffinity != nil {
		// A DaemonSet's pods name their node.
		node = affinity.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution.NodeSelectorTerms[0].MatchFields[0].Values[0]
	}
	// The pods show whether binding worked.
	_ = c.client.CoreV1().Pods(pod.Namespace).Bind(ctx, &corev1.Binding{
		ObjectMeta: metav1.ObjectMeta{Name: pod.Name, Namespace: pod.Namespace},
		Target:     corev1.ObjectReference{Kind: "Node", Name: node},
	}, metav1.CreateOptions{})
}

// placement lists each pod with its node, phase and owner.
func placement(t *testing.T, c *cluster) []string {
	t.Helper()
	pods, err := podsOf(t.Context(), c, "shop")
	if err != nil {
		t.Fatal(err)
	}
	var lines []string
	for name, pod := range pods {
		owner := "none"
		if ref := metav1.GetControllerOf(pod); ref != nil {
			owner = ref.Kind + " " + ref.Name
		}
		lines = append(lines, fmt.Sprintf("%s on %s, %s, of %s", name, pod.Spec.NodeName, pod.Status.Phase, owner))
	}
	return sorted(lines)
}

var timestamps = regexp.MustCompile(`"?\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ"?`)

// TestRoundTrip: controllers adopt the objects of an export that was imported into another cluster,
// and an export from there is the same.
func TestRoundTrip(t *testing.T) {
	fill(t, shared)
	want, wantFile := placement(t, shared), kindsIn(t, export(t, shared, transfer.ExportOptions{Format: transfer.YAML}))

	for _, format := range []transfer.Format{transfer.YAML, transfer.JSON} {
		t.Run(string(format), func(t *testing.T) {
			other := another(t)
			importText(t, other, export(t, shared, transfer.ExportOptions{Format: format}), transfer.ImportOptions{})
			adopted(t, other)
			if diff := cmp.Diff(want, placement(t, other)); diff != "" {
				t.Error("pods:", diff)
			}
			got := kindsIn(t, export(t, other, transfer.ExportOptions{Format: transfer.YAML}))
			if diff := cmp.Diff(wantFile, got); diff != "" {
				t.Error("export:", diff)
			}
		})
	}
}

// kindsIn returns the objects of a file, without times.
func kindsIn(t *testing.T, text string) map[string][]string {
	t.Helper()
	found := map[string][]string{}
	err := manifest.Read(t.Context(), manifest.NewSource(manifesttest.Part("export", text)), manifest.Content{Object: func(o *manifest.Object) error {
		var indented bytes.Buffer
		if err := json.Indent(&indented, o.JSON, "", " "); err != nil {
			return err
		}
		name := fmt.Sprintf("%s %s/%s", o.GVK, o.Namespace, o.Name)
		found[name] = strings.Split(timestamps.ReplaceAllString(indented.String(), "TIME"), "\n")
		return nil
	}})
	if err != nil {
		t.Fatal(err)
	}
	return found
}

// adopted waits until every controller has observed its object and has the pods that it wants.
func adopted(t *testing.T, c *cluster) {
	t.Helper()
	clustertest.Eventually(t, "the workloads have what they want", func(ctx context.Context) (bool, error) {
		apps := c.client.AppsV1()
		deployment, err := apps.Deployments("shop").Get(ctx, "web", metav1.GetOptions{})
		if err != nil {
			return false, err
		}
		stateful, err := apps.StatefulSets("shop").Get(ctx, "db", metav1.GetOptions{})
		if err != nil {
			return false, err
		}
		daemon, err := apps.DaemonSets("shop").Get(ctx, "agent", metav1.GetOptions{})
		if err != nil {
			return false, err
		}
		job, err := c.client.BatchV1().Jobs("shop").Get(ctx, "long", metav1.GetOptions{})
		if err != nil {
			return false, err
		}
		return deployment.Status.ReadyReplicas == 3 && deployment.Status.ObservedGeneration == deployment.Generation &&
			stateful.Status.ReadyReplicas == 2 && stateful.Status.UpdatedReplicas == 2 &&
			daemon.Status.NumberReady == 2 && daemon.Status.UpdatedNumberScheduled == 2 &&
			job.Status.Active == 2, nil
	})
}
