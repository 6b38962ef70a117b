package app

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"kube-scheduler-simulator/scheduler/config"
	"kube-scheduler-simulator/simulator/scenarios/inmemory"
	"kube-scheduler-simulator/simulator/scenarios/scenario"
	"kube-scheduler-simulator/simulator/testing/clustertest"
	"kube-scheduler-simulator/simulator/testing/kubectltest"
)

// landed counts the pods of each owner on each node. Names are a controller's, and drawn.
type landed map[string]int

func (p landed) add(pod *v1.Pod) {
	of := pod.Name
	if owner := metav1.GetControllerOfNoCopy(pod); owner != nil {
		of = owner.Name
	}
	p[of+" on "+pod.Spec.NodeName]++
}

// TestRecordedStepsReachTheSamePlacements: what a user did with kubectl and in the web application becomes a scenario, and a run of it in
// memory places the pods as the simulator has. So does a scenario that begins in the middle, and one that begins with the cluster as it is.
func TestRecordedStepsReachTheSamePlacements(t *testing.T) {
	s := launch(t, DefaultOptions())
	k := &kubectl{Kubectl: kubectltest.Kubectl{Kubeconfig: s.kubeconfig, Namespace: "default"}, simulator: s, namespace: "default"}
	node := func(name, cpu, memory string) string {
		return fmt.Sprintf("---\n{apiVersion: v1, kind: Node, metadata: {name: %s, labels: {kubernetes.io/hostname: %[1]s}}, status: {allocatable: {cpu: %q, memory: %s, pods: \"110\"}}}\n", name, cpu, memory)
	}
	pod := func(name string) string {
		return fmt.Sprintf("---\n{apiVersion: v1, kind: Pod, metadata: {name: %s}, spec: {containers: [{name: c, image: example.com/c, resources: {requests: {cpu: \"1\"}}}]}}\n", name)
	}
	// One plugin scores, and the nodes are so different that no two have the same total.
	score := func(strategy string) {
		s.applied(t, http.MethodPut, "/api/v1/schedulerconfiguration", fmt.Sprintf(`
apiVersion: kubescheduler.config.k8s.io/v1
kind: KubeSchedulerConfiguration
profiles:
- pluginConfig:
  - {name: NodeResourcesFit, args: {scoringStrategy: {type: %s, resources: [{name: cpu, weight: 1}]}}}
  plugins: {score: {disabled: [{name: "*"}], enabled: [{name: NodeResourcesFit, weight: 1}]}}
`, strategy))
	}
	score("MostAllocated")
	k.apply(t, node("large", "16", "64Gi")+node("small", "9", "16Gi"))
	k.apply(t, `
apiVersion: apps/v1
kind: Deployment
metadata: {name: web}
spec:
  replicas: 3
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec: {containers: [{name: web, image: example.com/web, resources: {requests: {cpu: "1"}}}]}
`)
	s.settles(t, 3)
	var line struct{ EndMoment uint64 }
	s.get(t, "/api/v1/timeline", &line)
	k.do(t, "scale", "deployment/web", "--replicas=5")
	s.settles(t, 5)
	k.do(t, "cordon", "small")
	k.apply(t, pod("alone"))
	s.settles(t, 6)
	// Their replacements can only go to the other node.
	pods, err := s.client.CoreV1().Pods("default").List(t.Context(), metav1.ListOptions{LabelSelector: "app=web", Limit: 2})
	if err != nil {
		t.Fatal(err)
	}
	k.do(t, "delete", "pod", "--grace-period=0", "--force", pods.Items[0].Name, pods.Items[1].Name)
	s.settles(t, 6)
	k.do(t, "uncordon", "small")
	k.apply(t, node("empty", "32", "256Gi"))
	score("LeastAllocated")
	k.do(t, "delete", "pod", "alone", "--grace-period=0", "--force")
	k.apply(t, pod("last"))
	want := s.settles(t, 6)

	for name, path := range map[string]string{
		"all steps": "/api/v1/timeline/scenario", "the later steps": fmt.Sprintf("/api/v1/timeline/scenario?from=%d", line.EndMoment),
		"the cluster": "/api/v1/export/scenario",
	} {
		t.Run(name, func(t *testing.T) {
			code, text := s.send(t, http.MethodGet, path, "")
			if code != http.StatusOK {
				t.Fatalf("%d: %s", code, text)
			}
			sc, err := scenario.Load(t.Context(), text, scenario.Options{File: "draft", Parse: config.Parse, Read: func(string) ([]byte, error) { return nil, errors.New("it names a file") }})
			if err != nil {
				t.Fatalf("%v\n%s", err, text)
			}
			got := landed{}
			result := scenario.Run(t.Context(), sc, sc.Matrix.Combinations()[0], scenario.RunOptions{Engine: inmemory.Engine(nil), Kept: func(c scenario.Cluster) {
				_, pods, err := c.State(context.Background())
				if err != nil {
					t.Error(err)
				}
				for _, p := range pods {
					got.add(p)
				}
				_ = c.Close()
			}})
			if result.Outcome != scenario.Passed {
				t.Fatalf("%s: %s\n%s", result.Outcome, result.Error, text)
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("placements (-simulator +run):\n%s\n%s", diff, text)
			}
			if strings.Contains(string(text), "terminationMessagePath") {
				t.Errorf("it has defaults:\n%s", text)
			}
		})
	}
}

// settles waits until that many pods have a node, and returns where they are.
func (s *running) settles(t *testing.T, pods int) landed {
	t.Helper()
	var now landed
	clustertest.Eventually(t, fmt.Sprintf("%d pods have nodes", pods), func(ctx context.Context) (bool, error) {
		list, err := s.client.CoreV1().Pods("default").List(ctx, metav1.ListOptions{})
		if err != nil {
			return false, err
		}
		now = landed{}
		placed := 0
		for i := range list.Items {
			p := &list.Items[i]
			if p.DeletionTimestamp == nil && p.Spec.NodeName != "" {
				now.add(p)
				placed++
			}
		}
		return placed == pods && len(list.Items) == pods, nil
	})
	return now
}
