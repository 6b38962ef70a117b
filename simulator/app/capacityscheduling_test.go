package app

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"kube-scheduler-simulator/scheduler/explain"
	"kube-scheduler-simulator/scheduler/result"
	"kube-scheduler-simulator/simulator/testing/clustertest"
)

const capacityScheduling = header + `
profiles:
- plugins:
    multiPoint: {enabled: [{name: CapacityScheduling}]}
    postFilter: {enabled: [{name: CapacityScheduling}], disabled: [{name: "*"}]}
`

// TestCapacityScheduling needs a simulator of its own, because all quotas are added up.
func TestCapacityScheduling(t *testing.T) {
	clustertest.Slow(t)
	s := launch(t, DefaultOptions())
	s.applied(t, http.MethodPut, configurationPath, capacityScheduling)
	t.Run("a quota is borrowed and taken back", func(t *testing.T) { borrowedQuota(t, s) })
	t.Run("bad quotas are refused or explained", func(t *testing.T) { badQuotas(t, newKubectl(t, s)) })
	t.Run("quotas are exported and imported", func(t *testing.T) {
		k := newKubectl(t, s)
		k.apply(t, quotaOf("moved", "cpu: 3", "cpu: 7"))
		s.transferred(t, "ElasticQuota", "moved", "{.items[*].spec.max.cpu}", "7")
	})
}

// quotaOf is an ElasticQuota.
func quotaOf(name, min, max string) string {
	return fmt.Sprintf("{apiVersion: scheduling.x-k8s.io/v1alpha1, kind: ElasticQuota, metadata: {name: %s}, spec: {min: {%s}, max: {%s}}}\n", name, min, max)
}

// workers are pods that ask for 2 CPUs each on the nodes of a pool.
func workers(pool string, names ...string) string {
	var out []string
	for _, name := range names {
		out = append(out, fmt.Sprintf(`
apiVersion: v1
kind: Pod
metadata: {name: %s}
spec:
  nodeSelector: {pool: %s}
  terminationGracePeriodSeconds: 0
  containers: [{name: main, image: example.com/main, resources: {requests: {cpu: "2"}}}]
`, name, pool))
	}
	return strings.Join(out, "---")
}

// saysUntil waits until the headline of the latest decision of a pod begins like that.
func (k *kubectl) saysUntil(t *testing.T, pod, want string) *result.Cycle {
	t.Helper()
	var c *result.Cycle
	got := ""
	clustertest.Eventually(t, pod+": "+want, func(context.Context) (bool, error) {
		c = k.cycle(t, pod, result.Unschedulable)
		got = explain.Cycle(c).Sentence
		return strings.HasPrefix(got, want), nil
	})
	return c
}

// borrowedQuota: team a borrows what team b leaves, and gives it back.
func borrowedQuota(t *testing.T, s *running) {
	a, b := newKubectl(t, s), newKubectl(t, s)
	a.nodes(t, "a-1", "a-2")
	for _, k := range []*kubectl{a, b} {
		k.apply(t, quotaOf("team", "cpu: 4", "cpu: 6"))
	}
	a.apply(t, workers(a.namespace, "a-1", "a-2", "a-3"))
	a.prints(t, "Running Running Running", "{.items[*].status.phase}", "pods")
	a.shows(t, `
NAME USED MAX AGE
team {"cpu":"6"} {"cpu":6} …s`, "elasticquota")

	// Equal priorities in its own namespace: there are no victims.
	a.apply(t, workers(a.namespace, "a-4"))
	refused := a.saysUntil(t, "a-4", "a-4 was rejected before any node was checked: ")
	if sentence := explain.Cycle(refused).Sentence; !strings.Contains(sentence, "max") || !strings.Contains(sentence, "6") {
		t.Errorf("%q", sentence)
	}

	b.apply(t, workers(a.namespace, "b-1"))
	b.prints(t, "Running", "{.status.phase}", "pod", "b-1")
	b.apply(t, workers(a.namespace, "b-2"))
	took := b.cycle(t, "b-2", result.Unschedulable)
	if p := took.Preemption; p == nil || p.Evictions == nil || len(p.Candidates) == 0 || len(p.Candidates[0].Victims) != 1 || p.Candidates[0].Victims[0].Pod.Namespace != a.namespace {
		t.Errorf("the preemption of b-2: %+v", p)
	}
	b.prints(t, "Running Running", "{.items[*].status.phase}", "pods")
	clustertest.Eventually(t, "team a has what it is guaranteed", func(ctx context.Context) (bool, error) {
		pods, err := s.client.CoreV1().Pods(a.namespace).List(ctx, metav1.ListOptions{FieldSelector: "status.phase=Running"})
		return err == nil && len(pods.Items) == 2, err
	})
	for _, k := range []*kubectl{a, b} {
		k.shows(t, `
NAME USED MAX AGE
team {"cpu":"4"} {"cpu":6} …s`, "elasticquota")
	}

	// All mins are used, so a-4 waits although there is room. It waits no more when its quota goes.
	a.nodes(t, "a-3")
	waits := a.cycle(t, "a-4", result.Unschedulable)
	if waits.SelectedNode != "" {
		t.Errorf("a-4 has a place on %s", waits.SelectedNode)
	}
	a.do(t, "delete", "elasticquota", "team")
	a.prints(t, "Running", "{.status.phase}", "pod", "a-4")
	// Without that quota the sum of the mins is 4, which team b uses up.
	b.apply(t, workers(a.namespace, "b-3"))
	b.saysUntil(t, "b-3", "b-3 was rejected before any node was checked: ")
	b.do(t, "delete", "elasticquota", "team")
	b.do(t, "delete", "pod", "b-3")
	a.nodes(t, "a-4")
	b.apply(t, workers(a.namespace, "b-3"))
	b.prints(t, "Running", "{.status.phase}", "pod", "b-3")
}

func badQuotas(t *testing.T, k *kubectl) {
	k.nodes(t, "a-1")
	for spec, want := range map[string]string{
		"min: {cpu: x}":  "spec.min.cpu",
		"max: [cpu]":     "spec.max",
		"max: {cpu: {}}": "spec.max.cpu",
	} {
		manifest := fmt.Sprintf("{apiVersion: scheduling.x-k8s.io/v1alpha1, kind: ElasticQuota, metadata: {name: bad}, spec: {%s}}", spec)
		if err := k.refused(t, manifest); !strings.Contains(err, want) {
			t.Errorf("%s: %s", spec, err)
		}
	}
	// A min above the max is accepted, as in the plugin that this one is compatible with.
	k.apply(t, quotaOf("odd", "cpu: 6", "cpu: 1"))
	k.apply(t, workers(k.namespace, "p-1"))
	c := k.saysUntil(t, "p-1", "p-1 was rejected before any node was checked: ")
	if sentence := explain.Cycle(c).Sentence; !strings.Contains(sentence, "max") {
		t.Errorf("%q", sentence)
	}
	k.apply(t, quotaOf("odd", "cpu: -1", "cpu: 4"))
	k.saysUntil(t, "p-1", "p-1 was rejected before any node was checked: ")
	k.apply(t, quotaOf("odd", "cpu: 2", "cpu: 4"))
	k.prints(t, "Running", "{.status.phase}", "pod", "p-1")
}
