package app

import (
	"context"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"kube-scheduler-simulator/scheduler/annotation"
	"kube-scheduler-simulator/scheduler/examples/extender/reservation"
	"kube-scheduler-simulator/scheduler/result"
	"kube-scheduler-simulator/simulator/host/process"
	"kube-scheduler-simulator/simulator/testing/clustertest"
)

// TestAnExtenderIsCalledAndRecorded: the example extender rejects one node over HTTP,
// prefers another, and binds the pod.
func TestAnExtenderIsCalledAndRecorded(t *testing.T) {
	ns := namespace(t, shared)
	extender := httptest.NewServer((&reservation.Extender{Client: shared.client}).Handler())
	t.Cleanup(extender.Close)
	reserved := shared.node(t, "extended", 4, map[string]string{reservation.ReservedForLabel: "others"}, nil)
	preferred := shared.node(t, "extended", 4, map[string]string{reservation.PreferenceLabel: "9"}, nil)
	shared.node(t, "extended", 8, nil, nil)
	apply(t, shared, header+"extenders:\n- urlPrefix: "+extender.URL+"\n  filterVerb: filter\n  prioritizeVerb: prioritize\n  bindVerb: bind\n  weight: 10\n")

	created, cycle := create(t, shared, ns, pod("web", "extended", "1"), result.Scheduled)
	if cycle.SelectedNode != preferred {
		t.Errorf("scheduled on %s, want %s", cycle.SelectedNode, preferred)
	}
	var calls []string
	for _, call := range cycle.Extenders {
		calls = append(calls, string(call.Verb)+" "+call.Status)
	}
	if diff := cmp.Diff([]string{"filter Success", "prioritize Success", "bind Success"}, calls); diff != "" {
		t.Error("calls (-want +got):", diff)
	}
	if cycle.Extenders[0].Rejected == nil || !strings.Contains(cycle.Extenders[0].Response, reserved) {
		t.Errorf("the filter call is %+v", cycle.Extenders[0])
	}
	if len(cycle.Score.Extenders) != 1 || cycle.Score.Extenders[0].Weight != 100 {
		t.Errorf("the extender's scores are %+v", cycle.Score.Extenders)
	}
	clustertest.Eventually(t, "annotations", func(ctx context.Context) (bool, error) {
		got, err := shared.client.CoreV1().Pods(ns).Get(ctx, created.Name, metav1.GetOptions{})
		return err == nil && strings.Contains(got.Annotations[annotation.Prefix+"extender-prioritize-result"], extender.URL), err
	})
}

// TestExpressionsDecide: CELFilter rejects a node with the author's message, and CELScore chooses
// among the others.
func TestExpressionsDecide(t *testing.T) {
	ns := namespace(t, shared)
	slow := shared.node(t, "expressed", 4, map[string]string{"disk": "hdd"}, nil)
	shared.node(t, "expressed", 8, map[string]string{"disk": "ssd"}, nil)
	best := shared.node(t, "expressed", 4, map[string]string{"disk": "ssd", "rank": "1"}, nil)
	apply(t, shared, header+`
profiles:
- plugins: {multiPoint: {enabled: [{name: CELFilter}, {name: CELScore, weight: 50}]}}
  pluginConfig:
  - name: CELFilter
    args: {expression: "node.metadata.labels['disk'] == 'ssd' || !('disk' in node.metadata.labels)", message: "node(s) have a slow disk"}
  - name: CELScore
    args: {expression: "'rank' in node.metadata.labels ? 100 : 0"}
`)
	_, cycle := create(t, shared, ns, pod("web", "expressed", "1"), result.Scheduled)
	if cycle.SelectedNode != best {
		t.Errorf("scheduled on %s, want %s", cycle.SelectedNode, best)
	}
	for i, node := range cycle.Filter.Nodes.All() {
		if v := cycle.Filter.Verdict(i); node == slow && (v.Plugin != "CELFilter" || v.Reasons[0] != "node(s) have a slow disk") {
			t.Errorf("the slow node's verdict is %+v", v)
		}
	}

	code, body := shared.send(t, "PUT", configurationPath, header+`
profiles:
- plugins: {multiPoint: {enabled: [{name: CELScore}]}}
  pluginConfig:
  - name: CELScore
    args:
      expression: node.metadata.lables.size()
`)
	checkRefusal(t, code, body, []detail{{Field: "profiles[0].pluginConfig[0].args.expression", Line: 9, Message: "undefined field 'lables'"}})
}

func TestFeatureGatesAreListed(t *testing.T) {
	var gates struct{ Items []process.Gate }
	shared.get(t, "/api/v1/featuregates", &gates)
	for _, gate := range gates.Items {
		if gate.Name == "GenericWorkload" {
			if gate.Stage != "ALPHA" && gate.Stage != "BETA" || gate.Enabled != gate.Default {
				t.Errorf("%+v", gate)
			}
			return
		}
	}
	t.Errorf("GenericWorkload is not among %d gates", len(gates.Items))
}
