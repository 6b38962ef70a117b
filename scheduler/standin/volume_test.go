package standin

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

const zoneLabel = corev1.LabelTopologyZone

func labelledNode(labels map[string]string) *corev1.Node {
	return &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "n", Labels: labels}}
}

func TestNodeAffinity(t *testing.T) {
	both := corev1.TopologySelectorTerm{MatchLabelExpressions: []corev1.TopologySelectorLabelRequirement{
		{Key: zoneLabel, Values: []string{"a", "b"}},
		{Key: "rack", Values: []string{"1", "2"}},
	}}
	tests := []struct {
		name       string
		topologies []corev1.TopologySelectorTerm
		node       *corev1.Node
		want       []map[string][]string
	}{
		{"anywhere", nil, labelledNode(nil), nil},
		{"an empty term", []corev1.TopologySelectorTerm{{}}, nil, nil},
		{"without a node, all allowed zones", zones("a", "b"), nil, []map[string][]string{{zoneLabel: {"a", "b"}}}},
		{"the node's part", zones("a", "b"), labelledNode(map[string]string{zoneLabel: "b"}), []map[string][]string{{zoneLabel: {"b"}}}},
		{
			"the first term that includes the node",
			append(zones("a"), both),
			labelledNode(map[string]string{zoneLabel: "b", "rack": "1"}),
			[]map[string][]string{{zoneLabel: {"b"}, "rack": {"1"}}},
		},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			var got []map[string][]string
			if affinity := nodeAffinity(test.topologies, test.node); affinity != nil {
				for _, term := range affinity.Required.NodeSelectorTerms {
					values := map[string][]string{}
					for _, expression := range term.MatchExpressions {
						values[expression.Key] = expression.Values
					}
					got = append(got, values)
				}
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("terms (-want +got):\n%s", diff)
			}
		})
	}
}

func zones(names ...string) []corev1.TopologySelectorTerm {
	return []corev1.TopologySelectorTerm{{MatchLabelExpressions: []corev1.TopologySelectorLabelRequirement{{Key: zoneLabel, Values: names}}}}
}
