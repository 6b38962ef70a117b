package deploy

import (
	"os"
	"testing"

	"github.com/google/go-cmp/cmp"
	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	"sigs.k8s.io/yaml"

	"kube-scheduler-simulator/simulator/cluster/storedform"
	"kube-scheduler-simulator/simulator/questions/why"
)

// TestTheRoleIsWhatTheProgramReads: kubectl why lists the kinds that a scheduler and the admission of pods read, and gets a workload that
// a question names, if it is of another kind. Its ClusterRole allows that and nothing else.
func TestTheRoleIsWhatTheProgramReads(t *testing.T) {
	want := map[string]map[string]bool{}
	allow := func(group, resource string, verbs ...string) {
		of := group + "/" + resource
		if want[of] == nil {
			want[of] = map[string]bool{}
		}
		for _, verb := range verbs {
			want[of][verb] = true
		}
	}
	for _, gvk := range storedform.Kinds() {
		plural, _ := meta.UnsafeGuessKindToResource(gvk)
		allow(plural.Group, plural.Resource, "list")
	}
	for _, gvk := range why.WorkloadKinds {
		if !storedform.Reads(gvk.GroupKind()) {
			plural, _ := meta.UnsafeGuessKindToResource(gvk)
			allow(plural.Group, plural.Resource, "get")
		}
	}
	text, err := os.ReadFile("kubectl-why/clusterrole.yaml")
	if err != nil {
		t.Fatal(err)
	}
	var role rbacv1.ClusterRole
	if err := yaml.UnmarshalStrict(text, &role); err != nil {
		t.Fatal(err)
	}
	got := map[string]map[string]bool{}
	for _, rule := range role.Rules {
		if len(rule.NonResourceURLs)+len(rule.ResourceNames) > 0 {
			t.Errorf("a rule about more than kinds: %v", rule)
		}
		for _, group := range rule.APIGroups {
			for _, resource := range rule.Resources {
				of := group + "/" + resource
				if got[of] != nil {
					t.Errorf("two rules name %s", of)
				}
				got[of] = map[string]bool{}
				for _, verb := range rule.Verbs {
					got[of][verb] = true
				}
			}
		}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("-the program +the role:\n%s", diff)
	}
}
