package redact

import (
	"testing"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"kube-scheduler-simulator/simulator/cluster/objects"
)

// notCovered are the exported kinds that redacted exports leave out on purpose.
var notCovered = map[schema.GroupKind]string{
	{Group: "apiextensions.k8s.io", Kind: "CustomResourceDefinition"}: "the names in it tell which programs a cluster runs",
	{Group: "apps", Kind: "ControllerRevision"}:                       "it holds a whole pod template; redacted workloads keep their pods without it",
	{Group: "karpenter.kwok.sh", Kind: "KWOKNodeClass"}:               "a redacted NodePool names the default class, which need not exist",
	{Group: "karpenter.sh", Kind: "NodeClaim"}:                        "a node says the same of itself, but for the cloud's name of the machine",
	{Group: "autoscaling", Kind: "HorizontalPodAutoscaler"}:           "it follows metrics that do not come with the cluster",
}

// TestEveryExportedKindIsCovered: each exported kind has a rule, or is in notCovered.
func TestEveryExportedKindIsCovered(t *testing.T) {
	for _, k := range objects.Kinds(objects.Exported) {
		if _, dropped := notCovered[k.GroupKind()]; dropped == Covers(k.GroupKind()) {
			t.Errorf("%s is exported: it needs a rule here, or a reason in this test why it has none", k.GroupKind())
		}
	}
	for gk := range notCovered {
		if objects.KindOf(gk).Uses&objects.Exported == 0 {
			t.Errorf("%s is not exported any more", gk)
		}
	}
}

// TestOnlyKnownKindsAreCovered: a rule for a kind that the table does not know is
// a spelling mistake.
func TestOnlyKnownKindsAreCovered(t *testing.T) {
	known := map[schema.GroupKind]bool{groupKind("kubescheduler.config.k8s.io", "KubeSchedulerConfiguration"): true}
	for _, k := range objects.Kinds(0) {
		known[k.GroupKind()] = true
	}
	for gk := range kinds {
		if !known[gk] {
			t.Errorf("simulator/cluster/objects does not know %s", gk)
		}
	}
}
