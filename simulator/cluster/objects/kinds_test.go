package objects

import (
	"testing"

	"k8s.io/apimachinery/pkg/runtime/schema"
)

func TestTheTableAgreesWithItself(t *testing.T) {
	seen := map[schema.GroupKind]bool{}
	for _, k := range kinds {
		if seen[k.GroupKind()] {
			t.Errorf("%s is in the table twice", k.GroupKind())
		}
		seen[k.GroupKind()] = true
		if k.Refused != "" && (k.Uses != 0 || k.Rank != 0 || k.Namespaced) {
			t.Errorf("%s is refused, and has more than the reason", k.GroupKind())
		}
		if k.Uses&Copied != 0 && k.Uses&Exported == 0 {
			t.Errorf("%s is copied from other clusters and not exported", k.GroupKind())
		}
		if k.Uses&Followed != 0 && k.Uses&Copied == 0 {
			t.Errorf("%s is followed and not copied", k.GroupKind())
		}
		if named := k.Uses&(Recorded|Custom) != 0; named != (k.Version != "") || named != (k.Resource != "") {
			t.Errorf("%s must have a version and a resource if it is recorded or custom, and only then", k.GroupKind())
		}
	}
}

func TestKindsComeByRank(t *testing.T) {
	before, found := Rank(0), Kinds(Exported)
	for _, k := range found {
		if k.Rank < before {
			t.Errorf("%s comes too late", k.GroupKind())
		}
		before = k.Rank
	}
	if len(found) == 0 || found[0].Kind != "CustomResourceDefinition" {
		t.Errorf("exports begin with %v", found)
	}
}

func TestAKindThatIsNotInTheTable(t *testing.T) {
	k := KindOf(schema.GroupKind{Group: "example.com", Kind: "Training"})
	if k.Rank != RankOther || k.Uses != 0 || k.Refused != "" {
		t.Errorf("it is %+v", k)
	}
}

func TestIsResult(t *testing.T) {
	for name, want := range map[string]bool{
		Prefix + "filter-result": true, Prefix + "result-history": true, AnnotationSelectedNode: true,
		AnnotationOwner: false, AnnotationFailure: false, "example.com/filter-result": false,
	} {
		if got := IsResult(name); got != want {
			t.Errorf("%s: %v", name, got)
		}
	}
}
